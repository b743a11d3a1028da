# Queries of 1 to 7 rows, which are put in order in registers, without keys: a quarter of the time of the steps that
# longer ones take. `rank.pyx` includes it.
#
# Of queries with as many rows, two are put in order at once, as vectors have room for two doubles: half the time of one
# after the other.

cdef extern from *:
    """
    #if defined(__GNUC__)
        typedef double two_numbers __attribute__((vector_size(16)));
        typedef long long two_counts __attribute__((vector_size(16)));
        #define TWO(a, b) ((two_numbers) {(a), (b)})
        #define NO_COUNTS() ((two_counts) {0, 0})
        #define COUNT_ABOVE(n, a, b) ((n) - ((a) > (b)))
        #define SUM_OF(n, m) ((n) + (m))
        #define LANE(n, k) ((n)[k])
    #else
        typedef struct { double lane[2]; } two_numbers;
        typedef struct { long long lane[2]; } two_counts;
        static inline two_numbers TWO(double a, double b) { two_numbers x = {{a, b}}; return x; }
        static inline two_counts NO_COUNTS(void) { two_counts n = {{0, 0}}; return n; }
        static inline two_counts COUNT_ABOVE(two_counts n, two_numbers a, two_numbers b) {
            n.lane[0] += a.lane[0] > b.lane[0];
            n.lane[1] += a.lane[1] > b.lane[1];
            return n;
        }
        static inline two_counts SUM_OF(two_counts n, two_counts m) {
            n.lane[0] += m.lane[0];
            n.lane[1] += m.lane[1];
            return n;
        }
        #define LANE(n, k) ((n).lane[k])
    #endif
    """
    ctypedef struct two_numbers:
        pass
    ctypedef struct two_counts:
        pass
    two_numbers TWO(double a, double b) nogil
    two_counts NO_COUNTS() nogil
    two_counts COUNT_ABOVE(two_counts n, two_numbers a, two_numbers b) nogil  # one more where a is above b
    two_counts SUM_OF(two_counts n, two_counts m) nogil
    int64_t LANE(two_counts n, int k) nogil


# Queries whose rows are put in order, and what is written of it; see `rank_queries`.
cdef struct few_t:
    const int64_t* indptr
    int64_t* ptr
    int64_t n, depth
    double bar
    const uint8_t* grade        # NULL, as what follows, if not asked for
    uint8_t* out
    int64_t* order
    int64_t* tie_end            # NULL as long as nothing is tied


cdef int64_t _rank_few(const score_t* score, const few_t* few, int64_t q) noexcept nogil:
    """Write rows and grades of queries of 1 to 7 rows from `q` on, highest score first.

    Return the first query that is longer, or has two that are equal or one that is too low.
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
        if q == begin:
            break
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
        _fetch_ahead(score + start, 2 * n * sizeof(score_t))
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
        place[i] = NO_COUNTS()
        for j in range(i):
            place[i] = COUNT_ABOVE(place[i], x[j], x[i])
            place[j] = COUNT_ABOVE(place[j], x[i], x[j])
    for i in range(n):
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
