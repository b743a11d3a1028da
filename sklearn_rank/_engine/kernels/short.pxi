# Queries of 1 to 40 rows, which are put in order in registers, without keys: the shortest in a quarter of the time
# of the steps that longer ones take, 40 rows in nine tenths. `rank.pyx` includes it.
#
# Vectors have room for two doubles. Of queries with as many rows, up to 7, two are put in order at once: half the time
# of one after the other. Of a longer one, or one with ties, two rows are compared with one at once.

cdef enum:
    SHORT = 40                  # rows that are few enough to count those above each
    PAIRS = 8                   # pairs of rows whose counts stay in registers

cdef int64_t TOO_LOW = -SHORT * SHORT   # less than a sum can make up for

# Queries whose rows are put in order, and what is written of it; see `rank_queries`.
cdef struct few_t:
    const int64_t* indptr
    int64_t* ptr
    int64_t n, depth, ties
    double bar
    const uint8_t* grade        # NULL, as what follows, if not asked for
    uint8_t* out
    int64_t* order
    int64_t* tie_end            # NULL as long as nothing is tied, under the average policy
    int64_t* tie_room           # what it is then
    bint only_grades            # are asked for


cdef int64_t _rank_few(const score_t* score, few_t* few, int64_t q) noexcept nogil:
    """Write rows and grades of queries of 1 to 40 rows from `q` on, highest score first.

    Return the first query that is longer, or has one that is too low, or two equal ones that labels put in order, or
    only equal ones, which need no order.
    """
    cdef int64_t n, begin
    while q < few.n:
        begin = q
        n = few.indptr[q + 1] - few.indptr[q]
        if n == 1:
            q = _rank_alike(score, few, q, 1)
        elif n == 2:
            q = _rank_alike(score, few, q, 2)
        elif n == 3:
            q = _rank_alike(score, few, q, 3)
        elif n == 4:
            q = _rank_alike(score, few, q, 4)
        elif n == 5:
            q = _rank_alike(score, few, q, 5)
        elif n == 6:
            q = _rank_alike(score, few, q, 6)
        elif n == 7:
            q = _rank_alike(score, few, q, 7)
        if q == begin and not (1 < n <= SHORT and (_place_few_labels(score, few, q) or _rank_some(score, few, q, n))):
            break
        q += q == begin
    return q


cdef inline int64_t _rank_alike(const score_t* score, const few_t* few, int64_t q, int64_t n) noexcept nogil:
    """The same, of queries of n rows."""
    cdef const int64_t* indptr = few.indptr
    cdef int64_t start, n_done, n_kept = min(few.depth, n), at = few.ptr[q]
    cdef int64_t* order = NULL
    cdef const uint8_t* grade = NULL
    cdef uint8_t* out = NULL
    while q < few.n and indptr[q + 1] - indptr[q] == n:
        start = indptr[q]
        fetch_ahead(score + start, 2 * n * sizeof(score_t))
        if few.order != NULL:
            order = few.order + at
        if few.grade != NULL:
            grade = few.grade + start
            out = few.out + at
        n_done = 0
        if 1 < n and q + 1 < few.n and indptr[q + 2] - indptr[q + 1] == n:
            n_done = 2 * _place_two(score + start, grade, n, n_kept, few.bar, start, order, out)
        if n_done == 0:
            n_done = _place_all(score + start, grade, n, few.bar, start, order, out)
        if n_done == 0:
            break
        while n_done > 0:
            if few.tie_end != NULL:
                few.tie_end[at] = NO_TIES
            at += n_kept
            q += 1
            few.ptr[q] = at
            n_done -= 1
    return q


cdef inline bint _place_two(
    const score_t* score, const uint8_t* grade, int64_t n, int64_t n_kept, double bar, int64_t start, int64_t* order,
    uint8_t* out,
) noexcept nogil:
    """As `_place_all`, of two queries, one a lane: the place of a row is the number of those above it.

    These add up to the number of pairs, unless two are equal, or NaN. Scores are read once, so that no two rows get one
    place even if another thread writes scores.
    """
    cdef two_numbers[8] x
    cdef two_numbers bars = TWO(bar, bar)
    cdef two_counts[8] place
    cdef two_counts total = NO_COUNTS(), n_low = NO_COUNTS()
    cdef int64_t i, j, n_pairs = n * (n - 1) // 2
    for i in range(n):
        x[i] = TWO(score[i], score[n + i])
        n_low = COUNT_ABOVE(n_low, bars, x[i])
    for i in range(n):
        place[i] = NO_COUNTS()
        for j in range(n):
            place[i] = COUNT_ABOVE(place[i], x[j], x[i])
        total = SUM_OF(total, place[i])
    if LANE(total, 0) != n_pairs or LANE(total, 1) != n_pairs or LANE(n_low, 0) + LANE(n_low, 1) > 0:
        return False
    if order != NULL:
        for i in range(n):
            order[LANE(place[i], 0)] = start + i
        for i in range(n):
            order[n_kept + LANE(place[i], 1)] = start + n + i
    if grade != NULL:
        for i in range(n):
            out[LANE(place[i], 0)] = grade[i]
        for i in range(n):
            out[n_kept + LANE(place[i], 1)] = grade[n + i]
    return True


cdef inline bint _place_all(
    const score_t* score, const uint8_t* grade, int64_t n, double bar, int64_t start, int64_t* order, uint8_t* out,
) noexcept nogil:
    """Each pair counts for the higher one. Return False if two are equal, or NaN, or one is too low.

    Should another thread write scores meanwhile, two rows may want one place: no place is left as it was.
    """
    cdef int64_t[8] place
    cdef int64_t i, j, before
    cdef bint differ = True
    cdef score_t lowest = score[0]
    for i in range(n):
        place[i] = n - 1 - i  # as if all after it were lower
    for i in range(1, n):
        lowest = score[i] if score[i] < lowest else lowest
        for j in range(i):
            before = isgreater(score[j], score[i])
            differ &= islessgreater(score[j], score[i])
            place[i] += before
            place[j] -= before
    if not (differ and lowest >= bar):
        return False
    if order != NULL:
        for i in range(n):
            order[i] = start
        for i in range(n):
            order[place[i]] = start + i
    if grade != NULL:
        for i in range(n):
            out[i] = 0
        for i in range(n):
            out[place[i]] = grade[i]
    return True


cdef inline bint _rank_some(const score_t* score, few_t* few, int64_t q, int64_t n) noexcept nogil:
    """The same of one query of 2 to 40 rows, which may be tied, but not all in one block; return whether it is done."""
    cdef double[SHORT + 4] x
    cdef int64_t[SHORT + 4] place
    cdef int64_t i, n_kept = min(few.depth, n), n_before, start = few.indptr[q], at = few.ptr[q]
    if score[start] == score[start + n - 1] and _is_one_block(score + start, n, few.bar):
        return False
    fetch_ahead(score + start, n * sizeof(score_t))
    for i in range(n):
        x[i] = score[start + i]     # read once, as other threads may write
    n_before = _count_all(x, n, few.bar, place)
    if n_before == n * (n - 1) // 2:
        if few.tie_end != NULL:
            few.tie_end[at] = NO_TIES
    elif n_before < 0 or few.ties == WORST or few.ties == BEST:
        return False
    else:
        n_kept = _place_ties(few, q, n, place)
    if few.order != NULL:
        for i in range(n):
            few.order[at + place[i]] = start + i
    if few.grade != NULL:
        for i in range(n):
            few.out[at + place[i]] = few.grade[start + i]
    few.ptr[q + 1] = at + n_kept
    return True


cdef void _sort_few(const double* key, int64_t n, double* sorted_key, int64_t* sorted_item) noexcept nogil:
    """Write up to 40 keys, highest first, and where each stood; equal keys keep their order."""
    cdef double[SHORT + 4] x
    cdef int64_t[SHORT + 4] place
    cdef int64_t[SHORT] n_alike
    cdef int64_t i
    memcpy(x, key, n * sizeof(double))
    if _count_all(x, n, -INFINITY, place) != n * (n - 1) // 2:
        _part_alike(n, place, n_alike)
    for i in range(n):
        sorted_key[place[i]] = key[i]
        sorted_item[place[i]] = i


cdef inline int64_t _count_all(double* x, int64_t n, double bar, int64_t* place) noexcept nogil:
    """Write how many rows are above each, and return their sum; it is negative if a row is below the bar, or NaN.

    Both arrays have room for 4 more. With a number of pairs that the compiler knows, their counts stay in registers.
    """
    cdef int64_t i, first = 0, n_left, n_before = 0
    for i in range(n, n + 4):
        x[i] = INFINITY             # which nothing is above
    while n - first > 2 * PAIRS:
        n_before += _count_above(x, n, x + first, PAIRS, bar, place + first)
        first += 2 * PAIRS
    n_left = n - first
    if n_left <= 4:
        return n_before + _count_above(x, n, x + first, 2, bar, place + first)
    if n_left <= 6:
        return n_before + _count_above(x, n, x + first, 3, bar, place + first)
    if n_left <= 8:
        return n_before + _count_above(x, n, x + first, 4, bar, place + first)
    if n_left <= 10:
        return n_before + _count_above(x, n, x + first, 5, bar, place + first)
    if n_left <= 12:
        return n_before + _count_above(x, n, x + first, 6, bar, place + first)
    if n_left <= 14:
        return n_before + _count_above(x, n, x + first, 7, bar, place + first)
    return n_before + _count_above(x, n, x + first, 8, bar, place + first)


cdef inline int64_t _count_above(
    const double* x, int64_t n, const double* those, int64_t n_pairs, double bar, int64_t* place
) noexcept nogil:
    """The same of some pairs of rows, each of which is compared with one row after the other."""
    cdef two_numbers[PAIRS] pair
    cdef two_counts[PAIRS] above
    cdef two_counts total = NO_COUNTS(), n_low = NO_COUNTS()
    cdef two_numbers one, bars = TWO(bar, bar)
    cdef int64_t i, j
    for i in range(n_pairs):
        pair[i] = TWO(those[2 * i], those[2 * i + 1])
        n_low = COUNT_BELOW(n_low, pair[i], bars)
        above[i] = NO_COUNTS()
    for j in range(n):
        one = TWO(x[j], x[j])
        for i in range(n_pairs):
            above[i] = COUNT_ABOVE(above[i], one, pair[i])
    for i in range(n_pairs):
        total = SUM_OF(total, above[i])
        place[2 * i] = LANE(above[i], 0)
        place[2 * i + 1] = LANE(above[i], 1)
    return TOO_LOW if LANE(n_low, 0) + LANE(n_low, 1) else LANE(total, 0) + LANE(total, 1)


cdef int64_t _place_ties(few_t* few, int64_t q, int64_t n, int64_t* place) noexcept nogil:
    """Change numbers of rows above each to places, those of equal rows one after the other, and return how many count.

    Equal rows have the same number above them, which is where their block starts.
    """
    cdef int64_t[SHORT] n_alike
    cdef int64_t start, stop = 0, at = few.ptr[q], depth = min(few.depth, n)
    cdef bint tied = False
    _part_alike(n, place, n_alike)
    if few.ties == STABLE:
        return depth
    while stop < depth:
        tied |= n_alike[stop] > 1
        stop += n_alike[stop]
    if tied:
        _tie(few, q)
        start = 0
        while start < stop:
            few.tie_end[at + start] = at + start + n_alike[start]
            start += n_alike[start]
    elif few.tie_end != NULL:
        few.tie_end[at] = NO_TIES
    return stop


cdef inline void _part_alike(int64_t n, int64_t* place, int64_t* n_alike) noexcept nogil:
    """Change numbers of rows above each to places, and write to the first place of equal rows how many they are."""
    cdef int64_t i
    memset(n_alike, 0, n * sizeof(int64_t))
    for i in range(n):
        n_alike[place[i]] += 1
        place[i] += n_alike[place[i]] - 1
