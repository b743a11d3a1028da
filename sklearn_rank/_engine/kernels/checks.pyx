# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Checks of labels and scores that read each array once, and labels as bytes where these hold them.

Loops are over chunks that stay in the cache, and no row waits for the one before, so that compilers use vectors.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef enum:
    CHUNK = 512
    LANES = 4    # also the step of the loops over them

cdef double WHOLE = 2.0**52    # added to a whole number from 0 on, it leaves the number in the last bits
cdef uint64_t BITS_OF_WHOLE = 0x4330000000000000

cdef union word_t:
    double value
    uint64_t bits


def read_rows(const double[::1] label, const double[::1] score, uint8_t[::1] grade):
    """Return lowest and highest label, whether one is NaN and all are grades, and as numbers of scores: -inf, and bad.

    Grades are whole numbers from 0 to 31, and written to `grade` if it is not None; -0.0 is 0. Range is that of labels
    but NaN, inf and -inf if there are no others. Bad scores are NaN and +inf. What is counted is 0 or more.
    """
    cdef double lowest = INFINITY, highest = -INFINITY
    cdef bint has_nan = False, are_grades = grade is not None
    cdef int64_t n_unretrieved = 0, n_bad = 0, chunk, i, n
    with nogil:
        for chunk in range((label.shape[0] + CHUNK - 1) // CHUNK):
            i = chunk * CHUNK
            n = min(label.shape[0] - i, <int64_t> CHUNK)
            if are_grades:
                are_grades = _write_grades(&label[i], n, &grade[i])
            if are_grades:
                _add_bytes(&grade[i], n, &lowest, &highest)
            else:
                _add_range(&label[i], n, &lowest, &highest, &has_nan)
        for chunk in range((score.shape[0] + CHUNK - 1) // CHUNK):
            i = chunk * CHUNK
            n = min(score.shape[0] - i, <int64_t> CHUNK)
            if not _are_finite(&score[i], n):
                _count_odd(&score[i], n, &n_unretrieved, &n_bad)
    return lowest, highest, has_nan, are_grades, n_unretrieved > 0, n_bad > 0


cdef bint _write_grades(const double* x, int64_t n, uint8_t* out) noexcept nogil:
    """Write numbers as bytes; return whether all are whole numbers from 0 to 31.

    Adding 2**52 and looking at the bits is 3 times as fast as converting to int and back, which few vectors can do.
    """
    cdef uint64_t wrong = 0
    cdef int64_t i
    cdef word_t given, moved, back
    for i in range(n):
        given.value = x[i]
        moved.value = given.value + WHOLE
        back.value = moved.value - WHOLE
        wrong |= ((given.bits ^ back.bits) << 1) | ((moved.bits ^ BITS_OF_WHOLE) >> 5)  # a sign may differ: -0.0
        out[i] = <uint8_t> moved.bits
    return wrong == 0


cdef void _add_bytes(const uint8_t* x, int64_t n, double* lowest, double* highest) noexcept nogil:
    cdef uint8_t low = 255, high = 0
    cdef int64_t i
    for i in range(n):
        low = min(low, x[i])
        high = max(high, x[i])
    lowest[0] = min(lowest[0], <double> low)
    highest[0] = max(highest[0], <double> high)


cdef void _add_range(const double* x, int64_t n, double* lowest, double* highest, bint* has_nan) noexcept nogil:
    """Widen a range to numbers that are not NaN, in lanes, as the order of numbers makes no difference."""
    cdef double[LANES] low, high
    cdef int64_t[LANES] nan
    cdef double value
    cdef int64_t i, k, n_in_lanes = n - n % LANES
    for k in range(LANES):
        low[k], high[k], nan[k] = lowest[0], highest[0], 0
    for i in range(0, n_in_lanes, 4):
        for k in range(LANES):
            value = x[i + k]
            low[k] = value if value < low[k] else low[k]
            high[k] = value if value > high[k] else high[k]
            nan[k] |= -(<int64_t> (value != value))
    for i in range(n_in_lanes, n):
        value = x[i]
        low[0] = value if value < low[0] else low[0]
        high[0] = value if value > high[0] else high[0]
        nan[0] |= value != value
    for k in range(LANES):
        lowest[0] = min(lowest[0], low[k])
        highest[0] = max(highest[0], high[k])
        has_nan[0] |= nan[k] != 0


cdef bint _are_finite(const double* x, int64_t n) noexcept nogil:
    """Whether no number is NaN or infinite: x - x of such a one is NaN, and of others 0."""
    cdef double[LANES] sums
    cdef int64_t i, k, n_in_lanes = n - n % LANES
    for k in range(LANES):
        sums[k] = 0.0
    for i in range(0, n_in_lanes, 4):
        for k in range(LANES):
            sums[k] += x[i + k] - x[i + k]
    for i in range(n_in_lanes, n):
        sums[0] += x[i] - x[i]
    return sums[0] + sums[1] + sums[2] + sums[3] == 0.0


cdef void _count_odd(const double* x, int64_t n, int64_t* n_unretrieved, int64_t* n_bad) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        n_unretrieved[0] += x[i] == -INFINITY
        n_bad[0] += not x[i] < INFINITY
