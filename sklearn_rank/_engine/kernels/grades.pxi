# Labels kept as bytes: their best order, counts, and functions of them; `rank.pyx` includes it.

cdef enum:
    LOW_GRADES = 8              # grades that are counted in one word

cdef uint64_t[LOW_GRADES] ONE_OF
for low_grade in range(LOW_GRADES):
    ONE_OF[low_grade] = 1 << (8 * low_grade)


def rank_grades(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int64_t depth, int64_t highest, uint8_t[::1] out,
    int64_t[::1] ptr,
):
    """Write the grades of each query, highest first, down to `depth`: by counting them. None is above `highest`."""
    cdef int64_t q, n
    cdef const uint8_t* grades = &grade[0] if grade.shape[0] > 0 else NULL
    cdef uint8_t* best = &out[0] if out.shape[0] > 0 else NULL
    with nogil:
        ptr[0] = 0
        for q in range(indptr.shape[0] - 1):
            n = indptr[q + 1] - indptr[q]
            if n <= FEW:
                _sort_few_grades(grades + indptr[q], n, depth, best + ptr[q])
            else:
                _sort_grades(grades + indptr[q], n, depth, highest, best + ptr[q])
            ptr[q + 1] = ptr[q] + min(depth, n)


cdef void _sort_few_grades(const uint8_t* grade, int64_t n, int64_t depth, uint8_t* out) noexcept nogil:
    """Sort up to 8 grades in registers, by a network: what is compared does not depend on them, so no branch does."""
    cdef int32_t[FEW] x
    cdef int64_t i
    for i in range(FEW):
        x[i] = grade[i] if i < n else 0  # the lowest grade, which ends up last
    _swap(&x[0], &x[2])
    _swap(&x[1], &x[3])
    _swap(&x[4], &x[6])
    _swap(&x[5], &x[7])
    _swap(&x[0], &x[4])
    _swap(&x[1], &x[5])
    _swap(&x[2], &x[6])
    _swap(&x[3], &x[7])
    _swap(&x[0], &x[1])
    _swap(&x[2], &x[3])
    _swap(&x[4], &x[5])
    _swap(&x[6], &x[7])
    _swap(&x[2], &x[4])
    _swap(&x[3], &x[5])
    _swap(&x[1], &x[4])
    _swap(&x[3], &x[6])
    _swap(&x[1], &x[2])
    _swap(&x[3], &x[4])
    _swap(&x[5], &x[6])
    for i in range(min(depth, n)):
        out[i] = <uint8_t> x[i]


cdef inline void _swap(int32_t* a, int32_t* b) noexcept nogil:
    """Put the higher of two numbers first."""
    cdef int32_t high = a[0] if a[0] > b[0] else b[0]
    b[0] = b[0] if a[0] > b[0] else a[0]
    a[0] = high


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
