# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Checks of labels and scores that read each array once, and labels as bytes where these hold them.

Loops are over chunks that stay in the cache, and no row waits for the one before, so that compilers use vectors.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from sklearn_rank._engine.kernels.common cimport fetch_ahead, longest_of

include "runs.pxi"
include "whole.pxi"

cdef enum:
    CHUNK = 128     # rows of which ids, labels and scores are read in turn
    LANES = 4       # also the step of the loops over them

ctypedef fused label_t:
    int32_t
    int64_t
    float
    double

ctypedef fused score_t:
    float
    double

include "finite.pxi"


cdef struct facts_t:
    double lowest
    double highest
    bint has_nan
    bint are_grades
    int64_t n_unretrieved
    int64_t n_bad
    const void* first   # the first score
    bint is_constant    # whether all scores have its bits


def read_rows(label, score, uint8_t[::1] grade):
    """Return lowest and highest label, whether one is NaN and all are grades, and as numbers of scores: -inf, and bad.

    Grades are whole numbers from 0 to 31, and written to `grade` if it is not None; -0.0 is 0. Range is that of labels
    but NaN, inf and -inf if there are no others. Bad scores are NaN and +inf. What is counted is 0 or more.

    Labels are int32, int64, float32 or float64, and scores float32 or float64, without gaps: read as they are, they
    need no copy of 8 bytes a row.
    """
    cdef Py_buffer y, s
    cdef facts_t facts
    cdef uint8_t nothing = 0
    cdef uint8_t* grades = NULL
    cdef bint is_known = True
    cdef int64_t row = 0, n_labels, n_scores
    if grade is not None:
        grades = &grade[0] if grade.shape[0] > 0 else &nothing
    PyObject_GetBuffer(label, &y, PyBUF_FORMAT | PyBUF_ND)
    try:
        PyObject_GetBuffer(score, &s, PyBUF_FORMAT | PyBUF_ND)
    except BaseException:
        PyBuffer_Release(&y)
        raise
    with nogil:
        _start(&facts, grades != NULL)
        n_labels, n_scores = y.len // y.itemsize, s.len // s.itemsize
        while is_known and (row == 0 or row < max(n_labels, n_scores)):
            is_known = _read_any_labels(
                &y, row, min(row + CHUNK, n_labels), NULL if grades == NULL else grades + row, &facts
            )
            is_known = is_known and _read_any_scores(&s, row, min(row + CHUNK, n_scores), &facts)
            row += CHUNK
    PyBuffer_Release(&y)
    PyBuffer_Release(&s)
    if not is_known:
        raise TypeError("labels or scores of another type")
    return _facts(&facts)


def read_scores(score):
    """Return whether one of the scores, as `read_rows` takes them, is -inf, and whether one is NaN or +inf."""
    cdef Py_buffer s
    cdef facts_t facts
    cdef bint is_known
    PyObject_GetBuffer(score, &s, PyBUF_FORMAT | PyBUF_ND)
    with nogil:
        _start(&facts, False)
        is_known = _read_any_scores(&s, 0, s.len // s.itemsize, &facts)
    PyBuffer_Release(&s)
    if not is_known:
        raise TypeError("scores of another type")
    return facts.n_unretrieved > 0, facts.n_bad > 0


cdef tuple _facts(const facts_t* facts):
    return facts.lowest, facts.highest, facts.has_nan, facts.are_grades, facts.n_unretrieved > 0, facts.n_bad > 0


cdef void _start(facts_t* facts, bint are_grades) noexcept nogil:
    """Facts about no rows."""
    facts.lowest, facts.highest, facts.has_nan, facts.are_grades = INFINITY, -INFINITY, False, are_grades
    facts.n_unretrieved, facts.n_bad = 0, 0
    facts.first, facts.is_constant = NULL, True


cdef bint _read_any_labels(
    const Py_buffer* label, int64_t begin, int64_t end, uint8_t* grade, facts_t* facts
) noexcept nogil:
    """Read the labels from `begin` on; return False if they are of another type. Grades are written, if asked for."""
    cdef char kind = _kind(label)
    if kind == b"d":
        _read_labels(<const double*> label.buf + begin, end - begin, grade, facts)
    elif kind == b"f":
        _read_labels(<const float*> label.buf + begin, end - begin, grade, facts)
    elif label.itemsize == 8 and kind in b"lq":
        _read_labels(<const int64_t*> label.buf + begin, end - begin, grade, facts)
    elif label.itemsize == 4 and kind in b"il":
        _read_labels(<const int32_t*> label.buf + begin, end - begin, grade, facts)
    else:
        return False
    return True


cdef bint _read_any_scores(const Py_buffer* score, int64_t begin, int64_t end, facts_t* facts) noexcept nogil:
    """Read the scores from `begin` on; return False if they are of another type."""
    cdef char kind = _kind(score)
    if kind == b"d":
        _read_scores(<const double*> score.buf + begin, end - begin, facts)
    elif kind == b"f":
        _read_scores(<const float*> score.buf + begin, end - begin, facts)
    else:
        return False
    return True


cdef char _kind(const Py_buffer* x) noexcept nogil:
    """Letter of a type in the order of the machine, which "=" says of memory that is not aligned."""
    return x.format[1] if x.format[0] == b"=" else x.format[0]


cdef void _read_labels(const label_t* x, int64_t n_labels, uint8_t* grade, facts_t* facts) noexcept nogil:
    """Read labels as float64; other types are widened chunk by chunk, and those of whole numbers only if need be."""
    cdef double[CHUNK] room
    cdef int64_t chunk, i, n
    for chunk in range((n_labels + CHUNK - 1) // CHUNK):
        i = chunk * CHUNK
        n = min(n_labels - i, <int64_t> CHUNK)
        fetch_ahead(x + i, n * sizeof(label_t))
        if facts.are_grades:
            facts.are_grades = _write_labels(x + i, n, grade + i, room, facts)
        if not facts.are_grades:
            _add_range(_widen(x + i, n, room), n, &facts.lowest, &facts.highest, &facts.has_nan)


cdef inline bint _write_labels(
    const label_t* x, int64_t n, uint8_t* out, double* room, facts_t* facts
) noexcept nogil:
    """Write labels as bytes, and widen a range to them; return whether all are whole numbers from 0 to 31."""
    cdef bint are_grades
    if label_t is int32_t or label_t is int64_t:
        are_grades = _write_whole(x, n, out)
    else:
        are_grades = _write_grades(_widen(x, n, room), n, out)
    if are_grades:
        _add_bytes(out, n, &facts.lowest, &facts.highest)
    return are_grades


cdef inline const double* _widen(const label_t* x, int64_t n, double* room) noexcept nogil:
    """Numbers as float64, in the room if they are of another type."""
    cdef int64_t i
    if label_t is double:
        return x
    else:
        for i in range(n):
            room[i] = <double> x[i]
        return room


cdef void _read_scores(const score_t* x, int64_t n_scores, facts_t* facts) noexcept nogil:
    cdef int64_t chunk, i, n
    for chunk in range((n_scores + CHUNK - 1) // CHUNK):
        i = chunk * CHUNK
        n = min(n_scores - i, <int64_t> CHUNK)
        fetch_ahead(x + i, n * sizeof(score_t))
        if facts.is_constant and _goes_on(x + i, n, facts):
            continue
        if not _are_finite(x + i, n):
            _count_odd(x + i, n, &facts.n_unretrieved, &facts.n_bad)


cdef inline bint _goes_on(const score_t* x, int64_t n, facts_t* facts) noexcept nogil:
    """Whether all scores are still those before, which were looked at."""
    cdef bint is_first = facts.first == NULL
    if is_first:
        facts.first = x
    facts.is_constant = memcmp(x, facts.first, sizeof(score_t)) == 0
    facts.is_constant = facts.is_constant and memcmp(x, x + 1, (n - 1) * sizeof(score_t)) == 0
    return facts.is_constant and not is_first


def read_plain(
    label, score, ids, int64_t begin, int64_t end, uint8_t[::1] grade, int64_t[::1] starts, heads,
):
    """Read the rows from `begin` up to `end`: labels and scores as `read_rows` does, and ids that rise.

    Returned are what `read_rows` returns, the number of rows whose id is not that of the row before, the most rows from
    one of them to the next, and whether all scores are the same. Those rows are written to `starts`, with the end of
    the last row, and their ids to `heads`, which is of their type, unless it is None. None is returned for arrays that
    are not three plain columns of as many numbers, and for ids that are not whole, or fall.

    A few rows of one array are read, then those of the next, as memory sends three arrays in turn sooner than one after
    the other.
    """
    cdef Py_buffer[4] given
    cdef int64_t n_rows = grade.shape[0], row = begin, stop, n_found, n_starts = 0, most = 0
    cdef facts_t facts
    cdef bint is_known = False
    cdef int n = 0
    try:
        for x in (label, score, ids) if heads is None else (label, score, ids, heads):
            PyObject_GetBuffer(x, &given[n], PyBUF_FORMAT | PyBUF_STRIDES)
            n += 1
            if n < 4 and not _is_plain(&given[n - 1], n_rows):
                return None
        with nogil:
            _start(&facts, True)
            is_known = True
            while is_known and row < end:
                stop = min(row + CHUNK, end)
                n_found = _find_queries(&given[2], row, stop, &starts[n_starts], NULL)
                n_starts += n_found
                is_known = n_found >= 0
                is_known = is_known and _read_any_labels(&given[0], row, stop, &grade[row], &facts)
                is_known = is_known and _read_any_scores(&given[1], row, stop, &facts)
                row = stop
            if is_known:
                most = longest_of(&starts[0], n_starts - 1)
                if n == 4:
                    _write_heads(&given[2], &starts[0], n_starts - (end == n_rows), given[3].buf)
    except (ValueError, BufferError):    # a type that has no buffer
        return None
    finally:
        while n > 0:
            n -= 1
            PyBuffer_Release(&given[n])
    return (_facts(&facts), n_starts, most, facts.is_constant) if is_known else None


cdef void _write_heads(const Py_buffer* ids, const int64_t* starts, int64_t n, void* heads) noexcept nogil:
    """Write the ids of the rows that queries start with."""
    cdef int64_t i
    if ids.itemsize == 8:
        for i in range(n):
            (<int64_t*> heads)[i] = (<const int64_t*> ids.buf)[starts[i]]
    else:
        for i in range(n):
            (<int32_t*> heads)[i] = (<const int32_t*> ids.buf)[starts[i]]


cdef bint _is_plain(const Py_buffer* x, int64_t n_rows) noexcept nogil:
    """Whether a buffer is one column of numbers without gaps, in the order of the machine."""
    if x.ndim != 1 or x.shape[0] != n_rows or (x.strides[0] != x.itemsize and n_rows > 1):
        return False
    return x.format[0] != 0 and x.format[1] == 0


cdef int64_t _find_queries(
    const Py_buffer* ids, int64_t begin, int64_t end, int64_t* starts, void* heads
) noexcept nogil:
    """Number of rows whose id is not that of the row before; -1 for ids that fall or are not whole."""
    cdef int64_t n_rows = ids.shape[0], n = -1
    cdef bint is_signed = ids.format[0] in b"ilq", is_whole = is_signed or ids.format[0] in b"ILQ", falls = False
    if is_whole and ids.itemsize == 8:
        n = _find_starts(
            <const uint64_t*> ids.buf, <uint64_t> is_signed << 63, begin, end, n_rows, starts, <uint64_t*> heads, &falls
        )
    elif is_whole and ids.itemsize == 4:
        n = _find_starts(
            <const uint32_t*> ids.buf, <uint32_t> is_signed << 31, begin, end, n_rows, starts, <uint32_t*> heads, &falls
        )
    return -1 if falls else n


cdef bint _write_whole(const label_t* x, int64_t n, uint8_t* out) noexcept nogil:
    """Write whole numbers as bytes; return whether all are from 0 to 31."""
    cdef uint64_t wrong = 0
    cdef int64_t i
    for i in range(n):
        wrong |= <uint64_t> x[i] >> 5
        out[i] = <uint8_t> x[i]
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


cdef void _count_odd(const score_t* x, int64_t n, int64_t* n_unretrieved, int64_t* n_bad) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        n_unretrieved[0] += x[i] == -INFINITY
        n_bad[0] += not x[i] < INFINITY
