# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""The cascade: a user goes down a list and stops at an item with some probability, else goes on.

In: the probability to stop at each position, or at each grade, and lists with ties. Out: the probability that each
position is the last one seen, in expectation over tied items, or sums of these.
A block of tied items is in random order: a sum over all orders that never subtracts.
"""
from libc.math cimport INFINITY, ceil, exp, fabs, log, log1p
from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from sklearn_rank._engine.kernels.common cimport FEW, N_GRADES, bits_of, count_steps
from sklearn_rank._engine.kernels.lanes cimport EITHER, NUMBER, TWO, two_numbers
from sklearn_rank._engine.kernels.order cimport pointer_of, ties_of
from sklearn_rank._engine.kernels.sums cimport (
    FEW_LABELS, N_FIRST, N_PLAIN, TOGETHER, add, down_to_cutoff, end_of_turn, find_few, go_on, items_of, items_t, multiply,
    pair_t, sum_few_terms, sum_untied, values_from,
)

cdef double NEGLIGIBLE = 1e-18  # a probability of survival below this changes no double that it is added to
cdef double LOG_NEGLIGIBLE = log(NEGLIGIBLE)

cdef enum:
    TERMS = 64                  # of a series that has less than 50 which matter

cdef double HALF = 0.5 + 1e-9   # how far from 1/2 a probability may be, up to rounding

cdef enum:
    N_VALUES = 16               # distinct probabilities of a tie block that are counted

cdef double[TERMS] LOG          # of 0, 1, ...
for number_of_log in range(TERMS):
    LOG[number_of_log] = log(number_of_log)

cdef enum:
    MOST_TABLED = 3             # tied items that the table has an entry for, in any order
    N_TABLED = 8                # grades of these, from 0
    N_ENTRIES = N_TABLED + N_TABLED * N_TABLED + N_TABLED * N_TABLED * N_TABLED
    SHARES = MOST_TABLED + 1    # numbers of an entry
    N_KEPT = 256                # entries for more items, those that were needed last
    BITS_OF_COUNT = 4           # of the key of these, for each grade
    WORTH_A_TABLE = 4096        # positions from which on there are tables

cdef int64_t[SHARES] FIRST_ENTRY = [0, 0, N_TABLED, N_TABLED + N_TABLED * N_TABLED]  # of so many items
cdef uint64_t SPREAD = 0x9E3779B97F4A7C15   # odd: its product spreads a key over the upper bits


# By the grades of a block, shares of users who stop at each of its positions, and at the end of those who go on.
cdef struct few_stops_t:
    double[SHARES * N_ENTRIES] of           # of up to three items; the end is -1 until the entry is needed
    double[(FEW + 1) * N_KEPT] of_more      # of up to eight
    uint64_t[N_KEPT] key                    # how many of these have each grade, or 0


# Operands of a cascade, and whether all that were read so far are probabilities.
cdef struct cascade_t:
    items_t items
    const int64_t* tie_end      # NULL if nothing is tied
    int64_t depth
    bint known, valid           # known: those of all grades are
    few_stops_t* few            # NULL if there is no table
    double* looked_up
    double* work
    int64_t steps


cpdef bint cascade(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] room, double[::1] out,
) except -1:
    """Probability to stop at each position, if a user stops at an item with probability p, else goes on.

    With `grade` p is that of each grade, which is looked up. Positions past `depth` may be left at 0 inside a tie
    block: nobody reads them. `room` has a row for the longest list and one more, and another with `grade`. Return
    whether all of p are probabilities.
    """
    cdef int64_t q, n, reached
    cdef few_stops_t few
    cdef cascade_t of = _cascade_of(p, grade, ptr, tie_end, depth, room, &few)
    with nogil:
        for q in range(ptr.shape[0] - 1):
            n = ptr[q + 1] - ptr[q]
            if n > 0:
                reached = _cascade_of_list(&of, ptr[q], n, &out[ptr[q]])
                memset(&out[ptr[q]] + reached, 0, (n - reached) * sizeof(double))
    return of.valid


cpdef bint cascade_upwards(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end,
    double[:, ::1] room, double[::1] out,
) except -1:
    """The same for a user who goes up from the end of each list, which is turned round; lists are whole.

    `room` has five rows for the longest list and one more.
    """
    cdef int64_t q, i, stop, first, n, reached
    cdef few_stops_t few
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    cdef double* turned = &room[2, 0]
    cdef uint8_t* turned_grade = <uint8_t*> turned
    cdef int64_t* turned_end = <int64_t*> &room[3, 0]
    cdef double* stops = &room[4, 0]
    cdef cascade_t of = _cascade_of(p, grade, ptr, tie_end, INT64_MAX, room, &few)
    if grade is not None:
        of.items.grade = turned_grade
    else:
        of.items.value = turned
    with nogil:
        for q in range(ptr.shape[0] - 1):
            first, n = ptr[q], ptr[q + 1] - ptr[q]
            if n == 0:
                continue
            ends = ties_of(all_ends, first, first + n)
            of.tie_end = turned_end if ends != NULL else NULL
            i = 0
            while ends != NULL and i < n:
                stop = ends[first + i] - first
                turned_end[n - stop] = n - i
                i = stop
            if of.items.grade != NULL:
                for i in range(n):
                    turned_grade[i] = grade[first + n - 1 - i]
            else:
                for i in range(n):
                    turned[i] = p[first + n - 1 - i]
            reached = _cascade_of_list(&of, 0, n, stops)
            for i in range(reached):
                out[first + n - 1 - i] = stops[i]
            memset(&out[first], 0, (n - reached) * sizeof(double))
    return of.valid


cdef bint sum_cascade(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] room, double* stops, const stop_sum_t* sums, int64_t n_sums,
) except -1:
    """Sum these probabilities times a weight by rank, down to the last position of each list at which anyone may stop.

    They are kept for one list at a time, in `stops`.
    """
    cdef int64_t q, k, n
    cdef double one = 1.0
    cdef few_stops_t few
    cdef cascade_t of = _cascade_of(p, grade, ptr, tie_end, depth, room, &few)
    cdef items_t ones
    cdef int64_t[2] bounds
    cdef bint may_be_few
    cdef stop_sum_t[MOST_STOP_SUMS] of_list
    may_be_few = of.known and of.items.value[0] == 0.0
    ones.value, ones.grade, ones.step = &one, NULL, 0
    bounds[0] = 0
    with nogil:
        for k in range(n_sums):
            of_list[k] = sums[k]
            of_list[k].lists.ptr, of_list[k].lists.n = bounds, 1
        for q in range(ptr.shape[0] - 1):
            n = ptr[q + 1] - ptr[q]
            if not may_be_few or not _sum_few_of_cascade(&of, ptr[q], n, of_list, n_sums):
                bounds[1] = _cascade_of_list(&of, ptr[q], n, stops) if n > 0 else 0
                for k in range(n_sums):
                    if bounds[1] <= N_FIRST:
                        _sum_few_stops(stops, bounds[1], &of_list[k])
                    else:
                        sum_untied(&ones, stops, 1, sums[k].by_rank, sums[k].per_rank, &of_list[k].lists, 0)
            for k in range(n_sums):
                of_list[k].lists.out += sums[k].lists.of_query
    return of.valid


cdef inline void _sum_few_stops(const double* stops, int64_t n, const stop_sum_t* sum) noexcept nogil:
    """Sums of one list in which no one comes below rank 16, as `_sum_lists` takes them."""
    cdef int64_t c, i
    cdef double total = 0.0
    cdef double[N_FIRST] term
    cdef char* at = sum.lists.out
    n = min(n, sum.lists.cutoffs[sum.lists.n_cutoffs - 1])  # there need be no weight below
    if sum.by_rank != NULL:
        for i in range(n):
            term[i] = stops[i] * sum.by_rank[i]
        stops = term
    i = 0
    for c in range(sum.lists.n_cutoffs):
        while i < min(n, sum.lists.cutoffs[c]):
            total += stops[i] / (i + 1.0) if sum.per_rank else stops[i]
            i += 1
        (<double*> at)[0] = total
        at += sum.lists.of_cutoff


cdef cascade_t _cascade_of(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] room, few_stops_t* few,
) noexcept:
    cdef cascade_t of
    of.items, of.tie_end, of.depth = items_of(p, grade), pointer_of(tie_end), depth
    of.known, of.valid, of.few, of.looked_up, of.work, of.steps = False, True, NULL, NULL, &room[0, 0], 0
    if of.items.grade != NULL:
        of.known, of.looked_up = are_probabilities(&p[0], N_GRADES), &room[1, 0]
        if of.tie_end != NULL and of.known and ptr[ptr.shape[0] - 1] >= WORTH_A_TABLE:
            of.few = few
            _forget_stops(few)
    return of


cdef inline int64_t _cascade_of_list(cascade_t* of, int64_t first, int64_t n, double* out) except -1 nogil:
    """Write probabilities of one list down to where anyone may stop, and return where that is."""
    cdef const int64_t* ends = ties_of(of.tie_end, first, first + n)
    if of.items.grade == NULL:
        of.valid &= are_probabilities(of.items.value + of.items.step * first, n)
    elif not of.known:
        of.valid &= are_probabilities(values_from(&of.items, first, n, of.looked_up), n)
    if ends == NULL and n <= N_PLAIN:
        return _cascade_plainly(&of.items, first, n, out)
    if not of.valid:  # which is said in the end
        return 0
    return _cascade_list(of, ends, first, n, out)


cdef int64_t _cascade_list(
    cascade_t* of, const int64_t* tie_end, int64_t first, int64_t n, double* out
) except -1 nogil:
    """A list that is long or has ties, whose first position has this number; return down to where anyone may stop.

    Where hardly anyone is left, rounding changes nothing: lists of 5,000 rows take 0.4 of the time.
    """
    cdef int64_t i = 0, stop, n_known = 0, plain = min(n, N_PLAIN)
    cdef const items_t* items = &of.items
    cdef const double* p = of.looked_up
    cdef pair_t survive
    if items.grade == NULL:
        p = items.value + items.step * first
    survive.value, survive.lost = 1.0, 0.0
    while i < n and survive.value != 0.0:
        if of.few != NULL and tie_end != NULL and i < plain:
            i = _cascade_few_of_grades(items, tie_end + first, first, i, plain, of.few, &survive.value, out)
            if i == n or survive.value == 0.0:
                break
        stop = tie_end[first + i] - first if tie_end != NULL else i + 1
        if stop == i + 1:
            stop = end_of_turn(tie_end, first + i, first + (plain if i < plain else n)) - first
        n_known = _look_up_to(items, first, max(n_known, i), stop, of.looked_up)
        if tie_end != NULL and tie_end[first + i] - first > i + 1:
            _cascade_block(p + i, stop - i, of.depth - i, stop <= plain, &survive, of.work, out + i, &of.steps)
        elif i < plain:
            survive.value *= _cascade_turn(p + i, stop - i, survive.value, out + i)
        elif survive.value < NEGLIGIBLE:
            survive.value *= _cascade_turn(p + i, stop - i, survive.value, out + i)
            survive.lost = 0.0
        else:
            _cascade_exactly(p + i, stop - i, &survive, out + i)
        i = stop
    while i > 0 and out[i - 1] == 0.0:
        i -= 1
    return i


cdef inline int64_t _look_up_to(
    const items_t* items, int64_t first, int64_t n_known, int64_t stop, double* looked_up
) noexcept nogil:
    """Look up values of grades as far as they are needed, as many a list is left before its end; return how far."""
    cdef int64_t i
    if items.grade != NULL:
        for i in range(n_known, stop):
            looked_up[i] = items.value[items.grade[first + i]]
    return stop


cdef inline void _cascade_exactly(const double* p, int64_t n, pair_t* survive, double* out) noexcept nogil:
    """As `_cascade_turn`, with what each product rounds away: only the last one waits for the items before."""
    cdef int64_t i
    cdef pair_t within
    cdef double before = survive.value + survive.lost
    within.value, within.lost = 1.0, 0.0
    for i in range(n):
        out[i] = before * (within.value + within.lost) * p[i]
        go_on(&within, p[i])
    _go_through(survive, &within)


cdef inline void _go_through(pair_t* survive, const pair_t* through) noexcept nogil:
    """Multiply by a product, both with what they round away."""
    survive.lost = survive.lost * through.value + survive.value * through.lost
    survive.lost += multiply(&survive.value, through.value)


cdef int64_t _cascade_plainly(const items_t* items, int64_t first, int64_t n, double* out) noexcept nogil:
    """Few items, none of them tied, four at a time, as in `_joint_plainly`; return how many are taken.

    These go down to one that stops everyone, or to the end.
    """
    cdef int64_t i = 0, k, n_turn
    cdef double survive = 1.0
    cdef double[TOGETHER] looked_up
    cdef const double* p = looked_up
    while i < n and survive != 0.0:
        n_turn = min(<int64_t> TOGETHER, n - i)
        if items.grade == NULL:
            p = items.value + items.step * first + i
        else:
            for k in range(n_turn):
                looked_up[k] = items.value[items.grade[first + i + k]]
        if n_turn == TOGETHER:  # which the compiler writes out
            survive *= _cascade_turn(p, TOGETHER, survive, out + i)
        else:
            _cascade_turn(p, n_turn, survive, out + i)
        i += n_turn
    return i


cdef inline double _cascade_turn(const double* p, int64_t n, double survive, double* out) noexcept nogil:
    cdef int64_t i
    cdef double within = 1.0
    for i in range(n):
        out[i] = survive * within * p[i]
        within *= 1.0 - p[i]
    return within


cdef bint are_probabilities(const double* p, int64_t m) noexcept nogil:
    """Whether all are from 0 to 1, up to rounding. NaN, as bits, is further from 1/2 than any number."""
    cdef int64_t t, wrong = 0
    for t in range(m):
        wrong |= bits_of(HALF) - bits_of(fabs(p[t] - 0.5))  # a difference below 0 has the sign bit, as in `_divide_all`
    return wrong >= 0


cdef bint _sum_few_of_cascade(
    const cascade_t* of, int64_t first, int64_t n, const stop_sum_t* sums, int64_t n_sums,
) noexcept nogil:
    """Sums of the probabilities to stop in one list; return whether it is not tied and has few."""
    cdef int64_t i, k, n_down
    cdef int64_t[FEW_LABELS] place
    cdef double[FEW_LABELS] stop, term
    cdef double p, survive = 1.0, within = 1.0
    if ties_of(of.tie_end, first, first + n) != NULL:
        return False
    n = find_few(of.items.grade + first, n, place)
    if n < 0:
        return False
    for i in range(n):
        if i > 0 and place[i] // TOGETHER != place[i - 1] // TOGETHER:
            survive *= within
            within = 1.0
        p = of.items.value[of.items.grade[first + place[i]]]
        stop[i] = survive * within * p
        within *= 1.0 - p
    for k in range(n_sums):
        n_down = down_to_cutoff(sums[k].lists.cutoffs[sums[k].lists.n_cutoffs - 1], place, n)
        for i in range(n_down):
            term[i] = stop[i] * sums[k].by_rank[place[i]] if sums[k].by_rank != NULL else stop[i]
            if sums[k].per_rank:
                term[i] /= place[i] + 1.0
        sum_few_terms(place, term, n_down, &sums[k].lists, sums[k].lists.out)
    return True


# --- stops among tied items in random order, in expectation over the orders

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
                go_on(&through, stops.p[t])
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


# --- few tied items, and tables of them by grade

cdef void _forget_stops(few_stops_t* few) noexcept nogil:
    """Begin without an entry."""
    cdef int64_t i
    for i in range(N_ENTRIES):
        few.of[SHARES * i + MOST_TABLED] = -1.0
    memset(few.key, 0, sizeof(few.key))


cdef int64_t _cascade_few_of_grades(
    const items_t* items, const int64_t* tie_end, int64_t first, int64_t i, int64_t stop, few_stops_t* few,
    double* survive, double* out,
) noexcept nogil:
    """Go on from position `i` of a list up to `stop`, or to what tables do not have; return where that is.

    What happens in a block is looked up, and little waits for a branch that nobody could foresee: shares of the next
    block are written over those that a block has not. Items that are not tied are taken in turns of up to four, and a
    turn that ends elsewhere is given back, so that all numbers have the bits that they have without a table.
    """
    cdef int64_t j, end, key, n_turn = 0, start = i
    cdef int64_t last = stop - 1    # whose block does not end below it
    cdef double before = survive[0], within = 1.0, here
    cdef two_numbers both
    cdef bint done
    cdef const double* entry
    while i + FEW <= stop and before != 0.0:
        end = tie_end[i] - first
        if end - i <= MOST_TABLED:
            key = _key_of(items.grade + first + i, end - i)
            if key < 0:
                break
            entry = few.of + SHARES * key
            if entry[MOST_TABLED] < 0.0:
                _fill_stops(items, first + i, end - i, few.of + SHARES * key, MOST_TABLED)
            here = before * within
            for j in range(SHARES):
                out[i + j] = here * entry[j]
            within *= entry[MOST_TABLED]
        else:
            if end - i > FEW:
                break
            entry = _entry_of_more(items, first + i, end - i, few)
            if entry == NULL:
                break
            for j in range(FEW):
                out[i + j] = before * entry[j]
            within = entry[FEW]
        n_turn += 1
        done = (end > i + 1) | (n_turn == TOGETHER) | (tie_end[min(end, last)] - first != end + 1)
        both = EITHER(done, TWO(before * within, 1.0), TWO(before, within))
        before, within = NUMBER(both, 0), NUMBER(both, 1)
        n_turn &= done - 1
        start = end if done else start
        i = end
    survive[0] = before
    return start


cdef inline const double* _entry_of_more(
    const items_t* items, int64_t i, int64_t n, few_stops_t* few
) noexcept nogil:
    """Entry for four to eight items; NULL if there is none. They need not be in one order to have one entry."""
    cdef int64_t k, highest = 0, place
    cdef uint64_t key = 0
    for k in range(i, i + n):
        highest |= items.grade[k]
        key += <uint64_t> 1 << (BITS_OF_COUNT * (items.grade[k] & (N_TABLED - 1)))
    if highest >= N_TABLED:
        return NULL
    place = (key * SPREAD) >> 56
    if few.key[place] != key:
        few.key[place] = key
        _fill_stops(items, i, n, few.of_more + (FEW + 1) * place, FEW)
    return few.of_more + (FEW + 1) * place


cdef inline int64_t _key_of(const uint8_t* grade, int64_t n) noexcept nogil:
    """Number of the entry for the first `n` of four grades; -1 if there is none."""
    cdef int64_t first, second, third
    if n > MOST_TABLED:
        return -1
    first, second, third = grade[0], grade[1] & -(n > 1), grade[2] & -(n > 2)
    if (first | second | third) >= N_TABLED:
        return -1
    return FIRST_ENTRY[n] + first + N_TABLED * (second + N_TABLED * third)


cdef void _fill_stops(const items_t* items, int64_t i, int64_t n, double* entry, int64_t most) noexcept nogil:
    """Write the entry for some items, of those who all come to them: shares of up to `most` positions, and the end."""
    cdef int64_t k
    cdef double[FEW] p
    cdef pair_t survive
    survive.value, survive.lost = 1.0, 0.0
    for k in range(n):
        p[k] = items.value[items.grade[i + k]]
    for k in range(most):
        entry[k] = 0.0
    if n == 1:
        survive.value = _cascade_turn(p, 1, 1.0, entry)
    else:
        _cascade_few(p, n, &survive, True, entry)
    entry[most] = survive.value


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
