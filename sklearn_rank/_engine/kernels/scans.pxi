# Scans down ranked queries, in expectation over tied items: the other half of `rank.pyx`, which includes it.
#
# Every array is flat over positions; query q owns `ptr[q]:ptr[q+1]`.

cdef enum:
    N_VALUES = 16               # distinct probabilities of a tie block that are counted

cdef double HALF = 0.5 + 1e-9   # how far from 1/2 a probability may be, up to rounding
cdef double[TERMS] LOG          # of 0, 1, ...
for number_of_log in range(TERMS):
    LOG[number_of_log] = log(number_of_log)


cpdef bint cascade(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] room, double[::1] out,
) except -1:
    """Probability to stop at each position, if a user stops at an item with probability p, else goes on.

    With `grade` p is that of each grade, which is looked up. Positions past `depth` may be left at 0 inside a tie
    block: nobody reads them. `room` has a row for the longest list and one more, and another with `grade`. Return
    whether all of p are probabilities.
    """
    cdef int64_t q, first, n, steps = 0
    cdef bint valid = True, known = grade is not None and _are_probabilities(&p[0], N_GRADES)
    cdef items_t items = _items(p, grade)
    cdef const int64_t* all_ends = _pointer(tie_end)
    cdef const int64_t* ends
    cdef const double* of_list
    cdef double* looked_up = NULL
    if grade is not None:
        looked_up = &room[1, 0]
    with nogil:
        for q in range(ptr.shape[0] - 1):
            first = ptr[q]
            n = ptr[q + 1] - first
            if n == 0:
                continue
            ends = _ties_of(all_ends, first, first + n)
            of_list = _values_from(&items, first, n, looked_up)
            valid &= known or _are_probabilities(of_list, n)
            if ends == NULL and n <= N_PLAIN:
                _cascade_plainly(of_list, n, &out[first])
            elif valid:
                _cascade_list(of_list, ends, first, n, depth, &room[0, 0], &out[first], &steps)
    return valid


cdef int _cascade_list(
    const double* p, const int64_t* tie_end, int64_t first, int64_t n, int64_t depth, double* work, double* out,
    int64_t* steps,
) except -1 nogil:
    """A list that is long or has ties, whose first position has this number; up to an item that stops everyone.

    Where hardly anyone is left, rounding changes nothing: lists of 5,000 rows take 0.4 of the time.
    """
    cdef int64_t i = 0, stop, plain = min(n, N_PLAIN)
    cdef pair_t survive
    survive.value, survive.lost = 1.0, 0.0
    while i < n and survive.value != 0.0:
        stop = tie_end[first + i] - first if tie_end != NULL else i + 1
        if stop == i + 1 and i < plain:
            stop = _end_of_turn(tie_end, first + i, first + plain) - first
            survive.value *= _cascade_turn(p + i, stop - i, survive.value, out + i)
        elif stop == i + 1:
            stop = _end_of_turn(tie_end, first + i, first + n) - first
            if survive.value < NEGLIGIBLE:
                survive.value *= _cascade_turn(p + i, stop - i, survive.value, out + i)
                survive.lost = 0.0
            else:
                _cascade_exactly(p + i, stop - i, &survive, out + i)
        else:
            _cascade_block(p + i, stop - i, depth - i, stop <= plain, &survive, work, out + i, steps)
        i = stop
    if i < n:
        memset(&out[i], 0, (n - i) * sizeof(double))
    return 0


cdef inline void _cascade_exactly(const double* p, int64_t n, pair_t* survive, double* out) noexcept nogil:
    """As `_cascade_turn`, with what each product rounds away: only the last one waits for the items before."""
    cdef int64_t i
    cdef pair_t within
    cdef double before = survive.value + survive.lost
    within.value, within.lost = 1.0, 0.0
    for i in range(n):
        out[i] = before * (within.value + within.lost) * p[i]
        _go_on(&within, p[i])
    _go_through(survive, &within)


cdef inline void _go_through(pair_t* survive, const pair_t* through) noexcept nogil:
    """Multiply by a product, both with what they round away."""
    survive.lost = survive.lost * through.value + survive.value * through.lost
    survive.lost += _multiply(&survive.value, through.value)


cdef void _cascade_plainly(const double* p, int64_t n, double* out) noexcept nogil:
    """Few items, none of them tied, four at a time, as in `_joint_plainly`; up to one that stops everyone."""
    cdef int64_t i = 0
    cdef double survive = 1.0
    while i + TOGETHER <= n and survive != 0.0:
        survive *= _cascade_turn(p + i, TOGETHER, survive, out + i)
        i += TOGETHER
    if survive == 0.0:
        memset(out + i, 0, (n - i) * sizeof(double))
    else:
        _cascade_turn(p + i, n - i, survive, out + i)


cdef inline double _cascade_turn(const double* p, int64_t n, double survive, double* out) noexcept nogil:
    cdef int64_t i
    cdef double within = 1.0
    for i in range(n):
        out[i] = survive * within * p[i]
        within *= 1.0 - p[i]
    return within


cdef bint _are_probabilities(const double* p, int64_t m) noexcept nogil:
    """Whether all are from 0 to 1, up to rounding. NaN, as bits, is further from 1/2 than any number."""
    cdef int64_t t, wrong = 0
    for t in range(m):
        wrong |= _bits(HALF) - _bits(fabs(p[t] - 0.5))  # a difference below 0 has the sign bit, as in `_divide_all`
    return wrong >= 0


cdef struct stops_t:            # probabilities of tied items to be the last one seen
    const double* p
    const int64_t* count        # items that have each of them; NULL if each is that of one item
    int64_t n


cdef int _cascade_block(
    const double* p, int64_t m, int64_t depth, bint plain, pair_t* survive, double* s, double* out, int64_t* steps,
) except -1 nogil:
    """One block of m tied items in random order: s_j survives the first j of them, out_j stops at the next.

    Both are sums of what is not negative, so that nothing cancels. Down to `depth` positions are wanted, and no more
    than `top` matter: s_j <= mean(1 - p)^j (Maclaurin's inequality). What is done does not depend on `depth`.
    """
    cdef int64_t t, i, j, likely, top = m, n_items = 0, n_certain = 0, n_never = 0
    cdef double before = survive.value + survive.lost, mean = 0.0, least = -1.0
    cdef double[N_VALUES] value
    cdef int64_t[N_VALUES] count
    cdef stops_t stops
    for t in range(m):
        out[t] = 0.0
        mean += p[t]
        n_certain += p[t] == 1.0
        n_never += p[t] == 0.0
    mean /= m
    _count_steps(steps, m)
    if n_certain + n_never == m:
        if n_certain > 0:
            survive.value = survive.lost = 0.0
            _stop_at_certain(m, n_certain, min(max(depth, <int64_t> 1), n_never + 1), before, out)
        return 0
    if m <= FEW:
        _cascade_few(p, m, survive, plain, out)
        return 0
    stops = _distinct_of(p, m, s, value, count)
    _go_past(survive, &stops, plain)
    if before == 0.0:
        return 0
    if mean >= 1.0:
        top = 1
    else:
        top = max(<int64_t> min(<double> m, ceil(LOG_NEGLIGIBLE / log1p(-mean))), 1)
        least = _divide_stops(&stops, m, top)
        _count_steps(steps, 8 * stops.n)
    s[0] = 1.0
    if least >= 0.0:
        n_items = _start_block(&stops, least, top, min(depth, top), s, out)
    top = max(min(depth, top), 1)
    for likely in range(2):  # 0 and 1 are so added in one order
        for t in range(stops.n):
            if stops.p[t] > least and (stops.p[t] > 0.5) == likely:
                for i in range(_times(&stops, t)):
                    n_items += 1
                    _count_steps(steps, min(n_items, top))
                    _add_item(stops.p[t], n_items, top, s, out)
    for j in range(top):
        out[j] *= before
    return 0


cdef stops_t _distinct_of(const double* p, int64_t m, double* room, double* value, int64_t* count) noexcept nogil:
    """Distinct probabilities, rising, and how many items have each: grades have few. As they are if there are many.

    If they are counted, the order of the items decides no digit, and what follows takes half of the time.
    """
    cdef int64_t i, t, n_left = m, n_others
    cdef double x, y
    cdef const double* left = p
    cdef stops_t stops
    stops.p, stops.count, stops.n = value, count, 0
    while n_left > 0:
        if stops.n == N_VALUES:
            stops.p, stops.count, stops.n = p, NULL, m
            break
        x = left[0]
        n_others = 0
        for t in range(n_left):  # without a branch, which nobody could foresee
            y = left[t]
            room[n_others] = y
            n_others += y != x
        i = stops.n
        while i > 0 and value[i - 1] > x:
            value[i], count[i] = value[i - 1], count[i - 1]
            i -= 1
        value[i], count[i] = x, n_left - n_others
        stops.n += 1
        n_left = n_others
        left = room
    return stops


cdef void _cascade_few(const double* p, int64_t m, pair_t* survive, bint plain, double* out) noexcept nogil:
    """A block of few tied items; for a number that the compiler knows it writes out the loops: 0.7 of the time."""
    cdef double before = survive.value + survive.lost
    cdef double[FEW] rising
    cdef stops_t stops
    if m == 2:
        _stop_among(p, 2, before, rising, out)
    elif m == 3:
        _stop_among(p, 3, before, rising, out)
    elif m == 4:
        _stop_among(p, 4, before, rising, out)
    elif m == 5:
        _stop_among(p, 5, before, rising, out)
    else:
        _stop_among(p, m, before, rising, out)
    stops.p, stops.count, stops.n = rising, NULL, m
    _go_past(survive, &stops, plain)


cdef inline void _stop_among(const double* p, int64_t m, double before, double* rising, double* out) noexcept nogil:
    """Stops among m items in random order. Their p are taken rising, so that the order they came in decides no digit.

    Of any j items e_j is the sum of the products of their 1 - p, and stop_j the same with the p of one more item: both
    grow by an item at a time, and nothing is subtracted. At j stop a share stop_j / (m * binomial(m - 1, j)).
    """
    cdef int64_t t, j
    cdef double low, x, ways = m
    cdef double[FEW + 1] e, stop  # of each number of items
    for t in range(m):
        rising[t] = p[t]
    for t in range(m - 1):
        for j in range(m - 1 - t):
            low = min(rising[j], rising[j + 1])
            rising[j + 1] = max(rising[j], rising[j + 1])
            rising[j] = low
    for j in range(m + 1):
        e[j] = stop[j] = 0.0
    e[0] = 1.0
    for t in range(m):
        x = 1.0 - rising[t]
        for j in range(t + 1, 0, -1):
            stop[j] += x * stop[j - 1] + rising[t] * e[j]
            e[j] += x * e[j - 1]
        stop[0] += rising[t]
    for j in range(m):
        out[j] = before * (stop[j] / ways)
        ways = ways * (m - 1 - j) / (j + 1)


cdef inline int64_t _times(const stops_t* stops, int64_t t) noexcept nogil:
    """Number of items that have a probability."""
    return 1 if stops.count == NULL else stops.count[t]


cdef void _stop_at_certain(int64_t m, int64_t n_certain, int64_t top, double survive, double* out) noexcept nogil:
    """Of m tied items some stop everyone and others no one, as where relevant ones do: a product down the block."""
    cdef int64_t j = 0
    cdef double least = NEGLIGIBLE * survive
    while j < top and survive > least:
        out[j] = survive * n_certain / (m - j)
        survive *= <double> (m - n_certain - j) / (m - j)
        j += 1


cdef void _go_past(pair_t* survive, const stops_t* stops, bint plain) noexcept nogil:
    """Multiply by 1 - p of each item: by one product of them all."""
    cdef int64_t t, i
    cdef pair_t through
    through.value, through.lost = 1.0, 0.0
    for t in range(stops.n):
        for i in range(_times(stops, t)):
            if plain:
                through.value *= 1.0 - stops.p[t]
            else:
                _go_on(&through, stops.p[t])
    if plain:
        survive.value *= through.value
    else:
        _go_through(survive, &through)


cdef void _add_item(double p, int64_t n, int64_t top, double* s, double* out) noexcept nogil:
    """One more item, the n-th, at a random place among the others.

    At j it stops those who survived j others; before j it takes its share of them; after it nobody met it.
    """
    cdef int64_t j
    cdef double x = 1.0 - p, share = 1.0 / n, before, after
    if n < top:
        s[n] = x * s[n - 1]
    for j in range(min(n, top) - 1, 0, -1):
        before = x * (j * share)
        after = (n - j) * share
        out[j] = (after - share) * out[j] + before * out[j - 1] + share * p * s[j]
        s[j] = after * s[j] + before * s[j - 1]
    out[0] = (1.0 - share) * out[0] + share * p


cdef double _mean_up_to(const stops_t* stops, double most, int64_t* n_items) noexcept nogil:
    """Mean of the probabilities up to `most`, and how many items have one. What is rounded away is summed as well."""
    cdef int64_t t
    cdef double x
    cdef pair_t total
    total.value = total.lost = 0.0
    n_items[0] = 0
    for t in range(stops.n):
        if stops.p[t] <= most:
            x = stops.p[t]
            if stops.count != NULL:
                total.lost += _multiply(&x, stops.count[t])
            _add(&total, x)
            n_items[0] += _times(stops, t)
    return (total.value + total.lost) / max(n_items[0], 1)


cdef double _spread_up_to(const stops_t* stops, double most, double mean, double scale) noexcept nogil:
    """Sum of ((mean - p) * scale)^2 of the items with a probability up to `most`."""
    cdef int64_t t
    cdef double total = 0.0, d
    for t in range(stops.n):
        if stops.p[t] <= most:
            d = (mean - stops.p[t]) * scale
            total += _times(stops, t) * (d * d)
    return total


cdef int64_t _n_terms(double spread, double least) noexcept nogil:
    """Terms of the series that matter: e_r is at most (e * spread / r)^(r / 2)."""
    cdef int64_t r = 1
    cdef double log_spread = log(spread), log_least = log(least)
    while r < TERMS - 1 and 0.5 * (r + 1) * (1.0 + log_spread - LOG[r + 1]) > log_least:
        r += 1
    return r


cdef double _divide_stops(const stops_t* stops, int64_t m, int64_t top) noexcept nogil:
    """Largest probability of the items to be taken together so that least is to be done; -1.0 if none are to be.

    With few enough, or large enough ones left out, the series of the others converges at once: they may spread by
    2 at most. So less than some 2,000 need be left out, whatever they are.
    """
    cdef int64_t n, cost, least_cost = m
    cdef double most = 1.0 + 1e-9, found = -1.0, mean, reach, spread
    while True:
        mean = _mean_up_to(stops, most, &n)
        if n <= FEW:
            return found
        if mean <= 0.5:
            reach = min(top, n)
            spread = _spread_up_to(stops, most, mean, reach / n / (1.0 - mean))
            if spread <= 2.0:
                cost = m - n + _n_terms(spread, NEGLIGIBLE * min(1.0, mean * reach))
                if cost >= least_cost:
                    return found
                least_cost = cost
                found = most
                if cost * top <= 16 * m:  # a search for less takes longer
                    return found
        most = 0.5 if most > 1.0 else most / 2


cdef int64_t _start_block(
    const stops_t* stops, double most, int64_t top, int64_t depth, double* s, double* out,
) noexcept nogil:
    """Survival of, and stops at, the n items of a block whose p is at most `most`; return n.

    With c the mean of 1 - p and d = (1 - p) / c - 1, s_j = c^j * sum of (j)_r / (n)_r * e_r(d), where e_1 = 0, and
    out_j is mean(p) * s_j less c^(j + 1) times the sum of (r + 1) / (n - r) * (j)_r / (n)_r * e_(r + 1)(d). Here d is
    scaled by `share`, so that (j)_r / (n)_r is at most 1. What is left out is below 1e-17 of the chance to stop at all.
    """
    cdef int64_t n, t, r, i, j, k, n_terms
    cdef double mean = _mean_up_to(stops, most, &n), c = 1.0 - mean, log_c = log1p(-mean), reach = min(top, n)
    cdef double share = reach / n, spread = _spread_up_to(stops, most, mean, share / c), d, x
    cdef double[TERMS] power, e, step, of_more
    cdef double[TOGETHER] f, falling, survive, more
    n_terms = _n_terms(spread, NEGLIGIBLE * min(1.0, mean * reach))
    memset(power, 0, sizeof(power))
    if n_terms > 1:
        for t in range(stops.n):
            if stops.p[t] <= most:
                d = (mean - stops.p[t]) * (share / c)
                x = d * _times(stops, t)
                for r in range(2, n_terms + 1):
                    x *= d
                    power[r] += x
    e[0] = 1.0
    for r in range(1, n_terms + 1):  # Newton's identities
        e[r] = 0.0
        for i in range(2, r + 1):
            e[r] += (power[i] if i % 2 else -power[i]) * e[r - i] / r
    for r in range(n_terms + 1):
        step[r] = 1.0 / ((n - r) * share) if r < n else 0.0
        of_more[r] = (r + 1) * step[r] * e[r + 1] if r < n_terms else 0.0
    depth = min(depth, n + 1)
    j = 0
    while j < depth:  # four at a time, none of which waits for another
        for k in range(TOGETHER):
            survive[k] = more[k] = 0.0
            f[k] = 1.0
            falling[k] = j + k
        for r in range(min(n_terms, j + TOGETHER - 1) + 1):
            for k in range(TOGETHER):
                survive[k] += f[k] * e[r]
                more[k] += f[k] * of_more[r]
                f[k] *= falling[k] * step[r]  # 0 from r = j + k on
                falling[k] -= 1.0
        x = exp(j * log_c)
        for k in range(min(<int64_t> TOGETHER, depth - j)):
            s[j + k] = x * survive[k]
            if j + k < n:
                out[j + k] = x * (mean * survive[k] - c * more[k])
            x *= c
        j += TOGETHER
    return n


def overlap(
    const double[::1] label, const double[::1] best, const int64_t[::1] ptr, const int64_t[::1] best_ptr,
    const int64_t[::1] tie_end, int64_t[:, ::1] count, double[::1] out,
):
    """Expected number of items down to each position that the best order has down to it too.

    `best` holds the labels of all judged items, highest first; orders of tied items, and of equal labels in the best
    order, are independent and equally likely. `count` is room to count labels in, by where they begin in `best`.
    """
    cdef int64_t q, i, j, b, d, stop, start, end, n_best, steps = 0
    cdef double above, equal, block_above, block_equal, share
    cdef const int64_t* all_ends = _pointer(tie_end)
    cdef const int64_t* ends
    cdef const double* bests = &best[0] if best.shape[0] > 0 else NULL
    with nogil:
        for q in range(ptr.shape[0] - 1):
            ends = _ties_of(all_ends, ptr[q], ptr[q + 1])
            n_best = best_ptr[q + 1] - best_ptr[q]
            for j in range(n_best):
                count[0, j] = count[1, j] = 0
            above = equal = 0.0  # items above the tie block here whose label is above that of `best` here, or equal
            start = end = 0
            i = ptr[q]
            while i < ptr[q + 1]:
                stop = ends[i] if ends != NULL else i + 1
                block_above = block_equal = 0.0  # the same for items of the block
                for j in range(i, stop):
                    _count_steps(&steps, 64)  # a search, twice
                    b = _begins(bests + best_ptr[q], n_best, label[j])
                    count[1, b] += 1
                    block_above += b < start
                    block_equal += b == start and end > start
                for j in range(i, stop):
                    d = j - ptr[q]
                    if d == end:  # `best` goes on to its next label
                        above += equal
                        block_above += block_equal
                        start = end
                        while end < n_best and best[best_ptr[q] + end] == best[best_ptr[q] + start]:
                            end += 1
                        equal = count[0, start]
                        block_equal = count[1, start]
                    share = <double> (d - start + 1) / (end - start)
                    out[j] = above + share * equal
                    out[j] += (j - i + 1) * (block_above + share * block_equal) / (stop - i)
                for j in range(i, stop):
                    b = _begins(bests + best_ptr[q], n_best, label[j])
                    count[0, b] += 1
                    count[1, b] -= 1
                above += block_above
                equal += block_equal
                i = stop


cdef int64_t _begins(const double* best, int64_t n, double label) noexcept nogil:
    """First place of a label in a falling sequence that holds it, else a place in it all the same."""
    cdef int64_t low = 0, high = n - 1, middle
    while low < high:
        middle = (low + high) // 2
        if best[middle] > label:
            low = middle + 1
        else:
            high = middle
    return low
