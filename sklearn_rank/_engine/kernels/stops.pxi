# Stops among tied items in random order, in expectation over the orders; `rank.pyx` includes it.

cdef enum:
    N_VALUES = 16               # distinct probabilities of a tie block that are counted

cdef double[TERMS] LOG          # of 0, 1, ...
for number_of_log in range(TERMS):
    LOG[number_of_log] = log(number_of_log)


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
    if m <= FEW:
        _cascade_few(p, m, survive, plain, out)
        return 0
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
    _go_past(survive, &stops, plain)
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
                for i in range(_times(&stops, t)):
                    n_items += 1
                    count_steps(steps, min(n_items, top))
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
