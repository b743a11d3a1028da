# Labels kept as bytes: their best order, counts, and functions of them; `rank.pyx` includes it.

cdef enum:
    LOW_GRADES = 8              # grades that are counted in one word
    SIDE = 16                   # short queries that are sorted side by side, a byte each of a vector

cdef uint64_t[LOW_GRADES] ONE_OF
for low_grade in range(LOW_GRADES):
    ONE_OF[low_grade] = 1 << (8 * low_grade)


def rank_grades(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int64_t depth, int64_t highest, uint8_t[::1] out,
    int64_t[::1] ptr,
):
    """Write the grades of each query, highest first, down to `depth`: by counting them. None is above `highest`."""
    cdef int64_t q = 0, n, n_lanes, n_queries = indptr.shape[0] - 1
    cdef const uint8_t* grades = &grade[0] if grade.shape[0] > 0 else NULL
    cdef uint8_t* best = &out[0] if out.shape[0] > 0 else NULL
    with nogil:
        ptr[0] = 0
        while q < n_queries:
            n_lanes = 0
            while n_lanes < SIDE and q + n_lanes < n_queries and indptr[q + n_lanes + 1] - indptr[q + n_lanes] <= FEW:
                n_lanes += 1
            if n_lanes > 0:
                _sort_side_by_side(grades, &indptr[q], n_lanes, depth, best, &ptr[q])
                q += n_lanes
            else:
                n = indptr[q + 1] - indptr[q]
                _sort_grades(grades + indptr[q], n, depth, highest, best + ptr[q])
                ptr[q + 1] = ptr[q] + min(depth, n)
                q += 1


cdef void _sort_side_by_side(
    const uint8_t* grade, const int64_t* indptr, int64_t n_lanes, int64_t depth, uint8_t* out, int64_t* ptr
) noexcept nogil:
    """Sort up to 8 grades of each of some queries, a query a lane, by a network: what it compares depends on none.

    A vector has a byte of each of 16 queries, and no branch is there to guess.
    """
    cdef uint8_t[FEW][SIDE] x
    cdef int64_t lane, i, n
    memset(x, 0, sizeof(x))  # the lowest grade, which ends up last
    for lane in range(n_lanes):
        for i in range(indptr[lane + 1] - indptr[lane]):
            x[i][lane] = grade[indptr[lane] + i]
    _swap(x[0], x[2])
    _swap(x[1], x[3])
    _swap(x[4], x[6])
    _swap(x[5], x[7])
    _swap(x[0], x[4])
    _swap(x[1], x[5])
    _swap(x[2], x[6])
    _swap(x[3], x[7])
    _swap(x[0], x[1])
    _swap(x[2], x[3])
    _swap(x[4], x[5])
    _swap(x[6], x[7])
    _swap(x[2], x[4])
    _swap(x[3], x[5])
    _swap(x[1], x[4])
    _swap(x[3], x[6])
    _swap(x[1], x[2])
    _swap(x[3], x[4])
    _swap(x[5], x[6])
    for lane in range(n_lanes):
        n = min(depth, indptr[lane + 1] - indptr[lane])
        for i in range(n):
            out[ptr[lane] + i] = x[i][lane]
        ptr[lane + 1] = ptr[lane] + n


cdef inline void _swap(uint8_t* a, uint8_t* b) noexcept nogil:
    """Put the higher of two numbers first, in each lane."""
    cdef uint8_t high
    cdef int lane
    for lane in range(SIDE):
        high = a[lane] if a[lane] > b[lane] else b[lane]
        b[lane] = b[lane] if a[lane] > b[lane] else a[lane]
        a[lane] = high


cdef void _sort_grades(const uint8_t* grade, int64_t n, int64_t depth, int64_t highest, uint8_t* out) noexcept nogil:
    """Counting sort, cut at `depth`."""
    cdef int64_t[N_GRADES] count
    cdef int64_t n_equal, start = 0, n_left = min(depth, n), g = highest
    memset(count, 0, sizeof(count))
    if highest < LOW_GRADES:
        _count_low_grades(grade, n, count)
    else:
        while start < n:
            _count_grades(grade + start, min(n - start, <int64_t> AT_ONCE), count)
            start += AT_ONCE
    while n_left > 0:
        n_equal = min(count[g], n_left)
        memset(out, <int> g, n_equal)
        out += n_equal
        n_left -= n_equal
        g -= 1


cdef void _count_low_grades(const uint8_t* grade, int64_t n, int64_t* count) noexcept nogil:
    """Count grades up to 7, a byte for each in one word, which takes half of the time of counts in memory."""
    cdef int64_t i = 0, g, stop
    cdef uint64_t counts
    while i < n:
        stop = min(n, i + 255)  # as many as a byte holds
        counts = 0
        while i < stop:
            counts += ONE_OF[grade[i]]
            i += 1
        for g in range(LOW_GRADES):
            count[g] += (counts >> (8 * g)) & 255


cdef void _count_grades(const uint8_t* grade, int64_t n, int64_t* count) noexcept nogil:
    """Count grades. Neighbours are counted apart: equal ones would wait for each other's count."""
    cdef int32_t[4][N_GRADES] apart
    cdef int64_t i, g, n_in_lanes = n - n % 4
    memset(apart, 0, sizeof(apart))
    for i in range(0, n_in_lanes, 4):
        apart[0][grade[i]] += 1
        apart[1][grade[i + 1]] += 1
        apart[2][grade[i + 2]] += 1
        apart[3][grade[i + 3]] += 1
    for i in range(n_in_lanes, n):
        apart[0][grade[i]] += 1
    for g in range(N_GRADES):
        count[g] += apart[0][g] + apart[1][g] + apart[2][g] + apart[3][g]


def count_grades_at_least(const uint8_t[::1] grade, const int64_t[::1] indptr, int32_t least, double[:, ::1] out):
    """Count the rows of each query whose grade is at least `least`."""
    cdef int64_t q, row, start, stop, total
    cdef int32_t n
    with nogil:
        for q in range(indptr.shape[0] - 1):
            total, start = 0, indptr[q]
            if indptr[q + 1] - start <= FEW:  # where vectors take longer to set up than to use
                while start < indptr[q + 1]:
                    total += grade[start] >= least
                    start += 1
            while start < indptr[q + 1]:
                n, stop = 0, min(indptr[q + 1], start + AT_ONCE)
                for row in range(start, stop):
                    n += grade[row] >= least
                total += n
                start = stop
            out[q, 0] = total


def find_grades(const uint8_t[::1] grade, int64_t highest):
    """Return bits: 1 << g for each grade g that occurs. No grade is above `highest`; all of them seen, it stops."""
    cdef int64_t i = 0, stop, n = grade.shape[0]
    cdef int64_t found = 0
    with nogil:
        while i < n and found != (<int64_t> 2 << highest) - 1:
            stop = min(n, i + 64)
            while i < stop:
                found |= <int64_t> 1 << grade[i]
                i += 1
    return found


def look_up(const double[::1] table, const uint8_t[::1] grade, double[::1] out):
    """Write what a table has for each grade."""
    cdef int64_t i
    with nogil:
        for i in range(grade.shape[0]):
            out[i] = table[grade[i]]
