# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The cascade: a user goes down a list and stops at an item with some probability, else goes on.

In: the probability to stop at each position, or at each grade, and lists whose tie blocks end at `tie_end`.
Out: the probability that each position is the last one seen, in expectation over the orders of tied items, and whether
all that was read are probabilities.
Why: an alternating sum over the items of a block would cancel, so both what stops and what goes on are sums of what is
not negative; and where hardly anyone is left, rounding has no effect, so that most long lists end early.
"""
from libc.math cimport ceil, exp, fabs, log, log1p
from libc.stdint cimport INT64_MAX, int64_t, uint8_t
from libc.string cimport memset

from sklearn_rank._engine.kernels.common cimport N_GRADES, bits_of, count_steps
from sklearn_rank._engine.kernels.order cimport pointer_of, ties_of
from sklearn_rank._engine.kernels.sums cimport PIECE, add, items_of, items_t, multiply, pair_t, values_from

cdef double NEGLIGIBLE = 1e-18  # a probability of survival below this changes no double that it is added to
cdef double LOG_NEGLIGIBLE = log(NEGLIGIBLE)
cdef double HALF = 0.5 + 1e-9   # how far from 1/2 a probability may be, up to rounding

cdef enum:
    MOST_TERMS = 64             # terms of a series that has less than 50 which matter
    MOST_VALUES = 16            # distinct probabilities of a tie block that are counted
    TURN = 4                    # positions that are computed together, a part of `PIECE`
    ITEM_BY_ITEM = 8            # items of a tie block that are added one after the other, without a series

cdef double[MOST_TERMS] LOG     # of 0, 1, ...
cdef double[ITEM_BY_ITEM + 1][ITEM_BY_ITEM] N_WAYS  # to choose one of so many items, and so many of the others


cdef void _fill_logarithms() noexcept:
    cdef int64_t m, j
    for m in range(MOST_TERMS):
        LOG[m] = log(m)
    for m in range(1, ITEM_BY_ITEM + 1):
        N_WAYS[m][0] = m
        for j in range(1, m):
            N_WAYS[m][j] = N_WAYS[m][j - 1] * (m - j) / j


_fill_logarithms()


# Operands of a cascade, and whether all that were read so far are probabilities.
cdef struct cascade_t:
    items_t items
    const int64_t* tie_end      # NULL without ties
    int64_t depth
    bint known                  # whether all of the values of grades are probabilities
    bint valid                  # whether all that were read are
    double* looked_up
    double* work
    int64_t steps


cpdef bint cascade(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] memory,
    double[::1] out,  # OUT
) except -1:
    """Probability to stop at each position, if a user stops at an item with probability p, else goes on.

    With `grade` p is looked up. Positions past `depth` may be left at 0 inside a tie block: they are not read. `memory`
    has a row of one more than the longest list, and another with `grade`. Return whether all of p are probabilities.
    """
    cdef int64_t q, n, reached
    cdef cascade_t job = _cascade_of(p, grade, tie_end, depth, memory)
    with nogil:
        for q in range(ptr.shape[0] - 1):
            n = ptr[q + 1] - ptr[q]
            if n > 0:
                reached = _cascade_of_list(&job, ptr[q], n, &out[ptr[q]])
                memset(&out[ptr[q]] + reached, 0, (n - reached) * sizeof(double))
    return job.valid


cpdef bint cascade_upwards(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end,
    double[:, ::1] memory,
    double[::1] out,  # OUT
) except -1:
    """The same for a user who goes up from the end of each list, which is turned round; lists are not cut.

    `memory` has five rows of one more than the longest list.
    """
    cdef int64_t q, i, stop, first, n, reached
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    cdef double* turned = &memory[2, 0]
    cdef uint8_t* turned_grade = <uint8_t*> turned
    cdef int64_t* turned_end = <int64_t*> &memory[3, 0]
    cdef double* stops = &memory[4, 0]
    cdef cascade_t job = _cascade_of(p, grade, tie_end, INT64_MAX, memory)
    if grade is not None:
        job.items.grade = turned_grade
    else:
        job.items.value = turned
    with nogil:
        for q in range(ptr.shape[0] - 1):
            first, n = ptr[q], ptr[q + 1] - ptr[q]
            if n == 0:
                continue
            ends = ties_of(all_ends, first, first + n)
            job.tie_end = turned_end if ends != NULL else NULL
            i = 0
            while ends != NULL and i < n:
                stop = ends[first + i] - first
                turned_end[n - stop] = n - i
                i = stop
            if job.items.grade != NULL:
                for i in range(n):
                    turned_grade[i] = grade[first + n - 1 - i]
            else:
                for i in range(n):
                    turned[i] = p[first + n - 1 - i]
            reached = _cascade_of_list(&job, 0, n, stops)
            for i in range(reached):
                out[first + n - 1 - i] = stops[i]
            memset(&out[first], 0, (n - reached) * sizeof(double))
    return job.valid


cdef cascade_t _cascade_of(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] tie_end, int64_t depth, double[:, ::1] memory
) noexcept:
    cdef cascade_t job
    job.items, job.tie_end, job.depth = items_of(p, grade), pointer_of(tie_end), depth
    job.known, job.valid, job.work, job.looked_up, job.steps = False, True, &memory[0, 0], NULL, 0
    if job.items.grade != NULL:
        job.known, job.looked_up = _are_probabilities(&p[0], N_GRADES), &memory[1, 0]
    return job


cdef int64_t _cascade_of_list(
    cascade_t* job, int64_t first, int64_t n,
    double* out,  # OUT
) except -1 nogil:
    """Write probabilities of one list down to where anyone may stop, and return where that is."""
    cdef int64_t i = 0, j, stop, rough = min(n, <int64_t> PIECE)
    cdef const int64_t* tie_end = ties_of(job.tie_end, first, first + n)
    cdef const uint8_t* grade = job.items.grade
    cdef const double* p = job.items.value
    cdef const double* block
    cdef double once, within = 1.0, left = 1.0, lost = 0.0
    cdef pair_t survive
    if grade != NULL:
        grade += first
    else:
        p += job.items.step * first
    if not job.known:
        job.valid &= _are_probabilities(values_from(&job.items, first, n, job.looked_up), n)
    if not job.valid:  # which is said in the end
        return 0
    while i < n and left != 0.0:
        # Only each fourth product waits for those before.
        if i % TURN == 0:
            left *= within
            within = 1.0
        if tie_end == NULL and i + TURN <= rough:
            for j in range(i, i + TURN):
                once = p[grade[j]] if grade != NULL else p[j]
                out[j] = left * within * once
                within *= 1.0 - once
            i += TURN
            continue
        stop = tie_end[first + i] - first if tie_end != NULL else i + 1
        if stop == i + 1 and i < rough:
            once = p[grade[i]] if grade != NULL else p[i]
            out[i] = left * within * once
            within *= 1.0 - once
            i = stop
            continue
        survive.value, survive.lost = left * within, lost
        within = 1.0
        if stop == i + 1:
            once = p[grade[i]] if grade != NULL else p[i]
            out[i] = (survive.value + survive.lost) * once
            _go_on(&survive, once)
        elif stop - i <= ITEM_BY_ITEM:
            _stop_at_few(
                p if grade != NULL else p + i, grade + i if grade != NULL else NULL, stop - i, &survive, stop <= rough,
                out + i,
            )
        else:
            block = values_from(&job.items, first + i, stop - i, job.looked_up)
            _stop_in_block(block, stop - i, job.depth - i, stop <= rough, &survive, job.work, out + i, &job.steps)
        left, lost = survive.value, survive.lost
        i = stop
    return i


cdef inline void _go_on(pair_t* survive, double p) noexcept nogil:
    """Multiply by 1 - p, and keep what both operations round away, as long as anyone is left."""
    cdef double x = 1.0 - p
    if survive.value < NEGLIGIBLE:
        survive.value *= x
        survive.lost = 0.0
    else:
        survive.lost = survive.lost * x + survive.value * ((1.0 - x) - p)
        survive.lost += multiply(&survive.value, x)


cdef inline void _go_through(pair_t* survive, const pair_t* through) noexcept nogil:
    """Multiply by a product, both with what they round away."""
    survive.lost = survive.lost * through.value + survive.value * through.lost
    survive.lost += multiply(&survive.value, through.value)


cdef bint _are_probabilities(const double* p, int64_t m) noexcept nogil:
    """Whether all are from 0 to 1, up to rounding. The bits of NaN are further from 1/2 than any number."""
    cdef int64_t t, wrong = 0
    for t in range(m):
        wrong |= bits_of(HALF) - bits_of(fabs(p[t] - 0.5))  # a difference below 0 has the sign bit
    return wrong >= 0


# --- stops among tied items in random order, in expectation over the orders ---------------------------------------


cdef struct stops_t:            # probabilities of tied items to be the last one seen
    const double* p
    const int64_t* count        # items that have each of them; NULL if one item has each
    int64_t n


cdef int _stop_in_block(
    const double* p, int64_t m, int64_t depth, bint rough, pair_t* survive, double* s, double* out, int64_t* steps,
) except -1 nogil:
    """One block of m tied items in random order: s_j survives the first j of them, out_j stops at the next.

    Both are sums of what is not negative, so they do not cancel. Down to `depth` positions are wanted, and no more
    than `top` matter: s_j <= mean(1 - p)^j (Maclaurin's inequality). What is done does not depend on `depth`.
    """
    cdef int64_t t, j, likely, top = m, n_items = 0, n_certain = 0, n_never = 0
    cdef double before = survive.value + survive.lost, mean = 0.0, least = -1.0
    cdef double[MOST_VALUES] value
    cdef int64_t[MOST_VALUES] count
    cdef stops_t stops
    for t in range(m):
        out[t] = 0.0
        mean += p[t]
        n_certain += p[t] == 1.0
        n_never += p[t] == 0.0
    mean /= m
    count_steps(steps, m)
    if n_certain + n_never == m:
        if n_certain > 0:
            survive.value = survive.lost = 0.0
            _stop_at_certain(m, n_certain, min(max(depth, <int64_t> 1), n_never + 1), before, out)
        return 0
    stops = _distinct_of(p, m, s, value, count)
    _go_past(survive, &stops, rough)
    if before == 0.0:
        return 0
    if mean >= 1.0:
        top = 1
    else:
        top = max(<int64_t> min(<double> m, ceil(LOG_NEGLIGIBLE / log1p(-mean))), 1)
        least = _divide_stops(&stops, m, top)
        count_steps(steps, 8 * stops.n)
    s[0] = 1.0
    if least >= 0.0:
        n_items = _start_block(&stops, least, top, min(depth, top), s, out)
    top = max(min(depth, top), 1)
    for likely in range(2):  # 0 and 1 are so added in one order
        for t in range(stops.n):
            if stops.p[t] > least and (stops.p[t] > 0.5) == likely:
                for _ in range(_times(&stops, t)):
                    n_items += 1
                    count_steps(steps, min(n_items, top))
                    _add_item(stops.p[t], n_items, top, s, out)
    for j in range(top):
        out[j] *= before
    return 0


cdef stops_t _distinct_of(const double* p, int64_t m, double* memory, double* value, int64_t* count) noexcept nogil:
    """Distinct probabilities, rising, and how many items have each: grades have few. As they are if there are many.

    If they are counted, the order of the items decides no digit.
    """
    cdef int64_t i, t, n_left = m, n_others
    cdef double x, y
    cdef const double* left = p
    cdef stops_t stops
    stops.p, stops.count, stops.n = value, count, 0
    while n_left > 0:
        if stops.n == MOST_VALUES:
            stops.p, stops.count, stops.n = p, NULL, m
            break
        x = left[0]
        n_others = 0
        for t in range(n_left):  # without a branch: no processor could foresee it
            y = left[t]
            memory[n_others] = y
            n_others += y != x
        i = stops.n
        while i > 0 and value[i - 1] > x:
            value[i], count[i] = value[i - 1], count[i - 1]
            i -= 1
        value[i], count[i] = x, n_left - n_others
        stops.n += 1
        n_left = n_others
        left = memory
    return stops


cdef inline int64_t _times(const stops_t* stops, int64_t t) noexcept nogil:
    """Number of items that have a probability."""
    return 1 if stops.count == NULL else stops.count[t]


cdef void _stop_at_certain(int64_t m, int64_t n_certain, int64_t top, double survive, double* out) noexcept nogil:
    """Stops among m tied items if each stops everyone or lets everyone pass: a product down the block."""
    cdef int64_t j = 0
    cdef double least = NEGLIGIBLE * survive
    while j < top and survive > least:
        out[j] = survive * n_certain / (m - j)
        survive *= <double> (m - n_certain - j) / (m - j)
        j += 1


cdef void _go_past(pair_t* survive, const stops_t* stops, bint rough) noexcept nogil:
    """Multiply by 1 - p of each item: by one product of them all."""
    cdef int64_t t
    cdef pair_t through
    through.value, through.lost = 1.0, 0.0
    for t in range(stops.n):
        for _ in range(_times(stops, t)):
            if rough:
                through.value *= 1.0 - stops.p[t]
            else:
                _go_on(&through, stops.p[t])
    if rough:
        survive.value *= through.value
    else:
        _go_through(survive, &through)


cdef void _add_item(double p, int64_t n, int64_t top, double* s, double* out) noexcept nogil:
    """One more item, the n-th, at a random place among the others.

    At j it stops those who survived j others; before j it takes its share of them; after it no user has met it.
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
                total.lost += multiply(&x, stops.count[t])
            add(&total, x)
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
    while r < MOST_TERMS - 1 and 0.5 * (r + 1) * (1.0 + log_spread - LOG[r + 1]) > log_least:
        r += 1
    return r


cdef double _divide_stops(const stops_t* stops, int64_t m, int64_t top) noexcept nogil:
    """Largest probability of the items to be taken together so that least is to be done; -1.0 if none are to be.

    With few enough, or large enough ones left out, the series of the others converges at once: they may spread by
    2 at most. So less than some 2,000 need be left out, whatever they are.
    """
    cdef int64_t n, cost, least_cost = m
    cdef double most = 1.0 + 1e-9, chosen = -1.0, mean, reach, spread
    while True:
        mean = _mean_up_to(stops, most, &n)
        if n <= ITEM_BY_ITEM:
            return chosen
        if mean <= 0.5:
            reach = min(top, n)
            spread = _spread_up_to(stops, most, mean, reach / n / (1.0 - mean))
            if spread <= 2.0:
                cost = m - n + _n_terms(spread, NEGLIGIBLE * min(1.0, mean * reach))
                if cost >= least_cost:
                    return chosen
                least_cost = cost
                chosen = most
                if cost * top <= 16 * m:  # a search for less takes longer
                    return chosen
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
    cdef double[MOST_TERMS] power, e, step, of_more
    cdef double[TURN] f, falling, survive, more
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
    while j < depth:  # four at a time, so that none waits for another
        for k in range(TURN):
            survive[k] = more[k] = 0.0
            f[k] = 1.0
            falling[k] = j + k
        for r in range(min(n_terms, j + TURN - 1) + 1):
            for k in range(TURN):
                survive[k] += f[k] * e[r]
                more[k] += f[k] * of_more[r]
                f[k] *= falling[k] * step[r]  # 0 from r = j + k on
                falling[k] -= 1.0
        x = exp(j * log_c)
        for k in range(min(<int64_t> TURN, depth - j)):
            s[j + k] = x * survive[k]
            if j + k < n:
                out[j + k] = x * (mean * survive[k] - c * more[k])
            x *= c
        j += TURN
    return n


cdef void _stop_at_few(
    const double* p, const uint8_t* grade, int64_t m, pair_t* survive, bint rough, double* out
) noexcept nogil:
    """One block of 2 to 8 items; of a number that the compiler knows it writes out the loops."""
    if m == 2:
        _stop_among(p, grade, 2, survive, rough, out)
    elif m == 3:
        _stop_among(p, grade, 3, survive, rough, out)
    elif m == 4:
        _stop_among(p, grade, 4, survive, rough, out)
    elif m == 5:
        _stop_among(p, grade, 5, survive, rough, out)
    else:
        _stop_among(p, grade, m, survive, rough, out)


cdef inline void _stop_among(
    const double* p, const uint8_t* grade, int64_t m, pair_t* survive, bint rough, double* out
) noexcept nogil:
    """Stops among m items in random order. Their p are taken rising, so that the order they came in decides no digit.

    e_j is the sum over any j items of the products of their 1 - p, and stop_j the same with the p of one more item:
    both grow by an item at a time, without subtraction. At j stop a share stop_j / (m * binomial(m - 1, j)).
    """
    cdef int64_t t, j
    cdef double low, x, before = survive.value + survive.lost
    cdef double[ITEM_BY_ITEM] rising
    cdef double[ITEM_BY_ITEM + 1] e, stop  # of each number of items
    cdef stops_t stops
    for t in range(m):
        rising[t] = p[grade[t]] if grade != NULL else p[t]
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
        out[j] = before * (stop[j] / N_WAYS[m][j])
    if rough:
        survive.value *= e[m]
    else:
        stops.p, stops.count, stops.n = rising, NULL, m
        _go_past(survive, &stops, rough)
