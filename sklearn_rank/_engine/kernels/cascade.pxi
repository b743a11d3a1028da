# The cascade: a user goes down a list and stops at an item with some probability; `rank.pyx` includes it.

cdef double HALF = 0.5 + 1e-9   # how far from 1/2 a probability may be, up to rounding


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


cdef enum:
    MOST_STOP_SUMS = 4          # sums of one cascade


# One of the sums that are taken of the probabilities to stop.
cdef struct stop_sum_t:
    const double* by_rank       # NULL if it has no weights
    bint per_rank
    lists_t lists


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
    cdef const int64_t* all_ends = _pointer(tie_end)
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
            ends = _ties_of(all_ends, first, first + n)
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


cdef bint _sum_cascade(
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
                        _sum_untied(&ones, stops, 1, sums[k].by_rank, sums[k].per_rank, &of_list[k].lists, 0)
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
            total += stops[i] / RANK[i] if sum.per_rank else stops[i]
            i += 1
        (<double*> at)[0] = total
        at += sum.lists.of_cutoff


cdef cascade_t _cascade_of(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] room, few_stops_t* few,
) noexcept:
    cdef cascade_t of
    of.items, of.tie_end, of.depth = _items(p, grade), _pointer(tie_end), depth
    of.known, of.valid, of.few, of.looked_up, of.work, of.steps = False, True, NULL, NULL, &room[0, 0], 0
    if of.items.grade != NULL:
        of.known, of.looked_up = _are_probabilities(&p[0], N_GRADES), &room[1, 0]
        if of.tie_end != NULL and of.known and ptr[ptr.shape[0] - 1] >= WORTH_A_TABLE:
            of.few = few
            _forget_stops(few)
    return of


cdef inline int64_t _cascade_of_list(cascade_t* of, int64_t first, int64_t n, double* out) except -1 nogil:
    """Write probabilities of one list down to where anyone may stop, and return where that is."""
    cdef const int64_t* ends = _ties_of(of.tie_end, first, first + n)
    if of.items.grade == NULL:
        of.valid &= _are_probabilities(of.items.value + of.items.step * first, n)
    elif not of.known:
        of.valid &= _are_probabilities(_values_from(&of.items, first, n, of.looked_up), n)
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
            stop = _end_of_turn(tie_end, first + i, first + (plain if i < plain else n)) - first
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
        _go_on(&within, p[i])
    _go_through(survive, &within)


cdef inline void _go_through(pair_t* survive, const pair_t* through) noexcept nogil:
    """Multiply by a product, both with what they round away."""
    survive.lost = survive.lost * through.value + survive.value * through.lost
    survive.lost += _multiply(&survive.value, through.value)


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


cdef bint _are_probabilities(const double* p, int64_t m) noexcept nogil:
    """Whether all are from 0 to 1, up to rounding. NaN, as bits, is further from 1/2 than any number."""
    cdef int64_t t, wrong = 0
    for t in range(m):
        wrong |= _bits(HALF) - _bits(fabs(p[t] - 0.5))  # a difference below 0 has the sign bit, as in `_divide_all`
    return wrong >= 0
