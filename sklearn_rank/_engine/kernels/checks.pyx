# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Checks of labels and scores that read each array once, and labels as bytes where these hold them.

Loops are over chunks that stay in the cache, and no row waits for the one before, so that compilers use vectors.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
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

cdef struct facts_t:
    double lowest
    double highest
    bint has_nan
    bint are_grades
    int64_t n_unretrieved
    int64_t n_bad


def read_rows(const double[::1] label, const double[::1] score, uint8_t[::1] grade):
    """Return lowest and highest label, whether one is NaN and all are grades, and as numbers of scores: -inf, and bad.

    Grades are whole numbers from 0 to 31, and written to `grade` if it is not None; -0.0 is 0. Range is that of labels
    but NaN, inf and -inf if there are no others. Bad scores are NaN and +inf. What is counted is 0 or more.
    """
    cdef facts_t facts
    with nogil:
        _read(
            &label[0], label.shape[0], &score[0], score.shape[0], &grade[0] if grade is not None else NULL, &facts
        )
    return facts.lowest, facts.highest, facts.has_nan, facts.are_grades, facts.n_unretrieved > 0, facts.n_bad > 0


cdef void _read(
    const double* label, int64_t n_labels, const double* score, int64_t n_scores, uint8_t* grade, facts_t* facts
) noexcept nogil:
    cdef int64_t chunk, i, n
    facts.lowest, facts.highest, facts.has_nan = INFINITY, -INFINITY, False
    facts.are_grades, facts.n_unretrieved, facts.n_bad = grade != NULL, 0, 0
    for chunk in range((n_labels + CHUNK - 1) // CHUNK):
        i = chunk * CHUNK
        n = min(n_labels - i, <int64_t> CHUNK)
        if facts.are_grades:
            facts.are_grades = _write_grades(label + i, n, grade + i)
        if facts.are_grades:
            _add_bytes(grade + i, n, &facts.lowest, &facts.highest)
        else:
            _add_range(label + i, n, &facts.lowest, &facts.highest, &facts.has_nan)
    for chunk in range((n_scores + CHUNK - 1) // CHUNK):
        i = chunk * CHUNK
        n = min(n_scores - i, <int64_t> CHUNK)
        if not _are_finite(score + i, n):
            _count_odd(score + i, n, &facts.n_unretrieved, &facts.n_bad)


def read_few(label, score, ids, uint8_t[::1] grade, int64_t[::1] starts):
    """What there is to know of float64 labels and scores, and int64 ids that never fall; None for all else.

    Returned are lowest and highest label, whether all are grades and a score is -inf, and the number of queries, whose
    starts are written, and the end. None is also for what is refused, and for NaN: others read that.
    """
    cdef Py_buffer[3] given
    cdef int64_t n_rows = grade.shape[0], n_queries = 0
    cdef facts_t facts
    cdef int n = 0
    try:
        for x in (label, score, ids):
            PyObject_GetBuffer(x, &given[n], PyBUF_FORMAT | PyBUF_STRIDES)
            n += 1
            if not _is_plain(&given[n - 1], n_rows, b"d" if n < 3 else b"l"):
                return None
        n_queries = _find_rising(<const int64_t*> given[2].buf, n_rows, &starts[0])
        _read(<const double*> given[0].buf, n_rows, <const double*> given[1].buf, n_rows, &grade[0], &facts)
    except (ValueError, BufferError):    # a type that has no buffer
        return None
    finally:
        while n > 0:
            n -= 1
            PyBuffer_Release(&given[n])
    if n_queries == 0 or facts.has_nan or facts.n_bad or facts.lowest == -INFINITY or facts.highest == INFINITY:
        return None
    return facts.lowest, facts.highest, facts.are_grades, facts.n_unretrieved > 0, n_queries


cdef bint _is_plain(Py_buffer* x, int64_t n_rows, char kind) noexcept nogil:
    """Whether a buffer is one column of numbers without gaps, 8 bytes wide in the order of the machine."""
    if x.ndim != 1 or x.shape[0] != n_rows or x.itemsize != 8 or (x.strides[0] != 8 and n_rows > 1):
        return False
    return x.format[1] == 0 and (x.format[0] == kind or (kind == b"l" and x.format[0] == b"q"))


cdef int64_t _find_rising(const int64_t* ids, int64_t n_rows, int64_t* starts) noexcept nogil:
    """Write where runs of ids start, and the end; return how many, or 0 if ids fall."""
    cdef int64_t i, n = 1
    starts[0] = 0
    for i in range(1, n_rows):
        if ids[i] < ids[i - 1]:
            return 0
        starts[n] = i
        n += ids[i] > ids[i - 1]
    starts[n] = n_rows
    return n


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
