# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Read rows: the range of labels and scores and what is odd in them, labels as bytes, and where queries begin.

In: labels, scores and ids of as many rows, each an array of numbers of 4 or 8 bytes without gaps.
Out: facts about some of the rows, their labels as bytes, the rows that begin a query, and the ids of these.
A chunk of each array is read in turn, because memory sends several streams sooner than one after the other, and all is
asked of a chunk while the cache holds it. In loops no row waits for the one before, so that compilers use vectors.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from sklearn_rank._engine.kernels.common cimport fetch_ahead
from sklearn_rank._engine.kernels.grouping cimport find_runs

cdef enum:
    CHUNK = 64          # rows whose ids, labels and scores are read in turn
    LANES = 4           # results that a loop has side by side, so that it uses vectors
    GRADE_BITS = 5      # of labels that are kept as bytes: 0 to 31

cdef double ALL_WHOLE = 2.0**52     # from here on float64 has only whole numbers
cdef uint64_t BITS_OF_IT = 0x4330000000000000

ctypedef fused source_t:
    int32_t
    int64_t
    float

cdef union bits_t:
    double value
    uint64_t bits

cdef struct summary_t:
    double low      # of those that are finite
    double high
    bint has_nan
    bint has_minus_inf
    bint has_inf
    bint are_whole  # all that are finite


def read_rows(label, score, ids, int64_t begin, int64_t end, grade, starts, heads):
    """Read the rows from `begin` up to `end` of IN `label`, `score` and `ids`. Each of the three may be None.

    Returned are facts about labels and scores, each lowest and highest finite number, whether there is NaN, -inf and
    +inf, and whether all finite ones are whole; whether all labels are grades, whole numbers from 0 to 31; and how many
    entries of `starts` were written. An empty range is inf and -inf. None is returned for arrays of other types or
    with gaps, and for ids that are not whole numbers, or fall.

    Written are OUT `grade`, labels as bytes if all are grades; OUT `starts`, the rows whose id differs from the row
    before, with the end of the last row; and OUT `heads`, their ids. `grade` has an entry for each row of the arrays,
    `heads` for each row that is read, and `starts` one more. Labels that have no `grade` may have two dimensions.
    """
    cdef Py_buffer[6] x     # label, score, ids, grade, starts, heads
    cdef int64_t row = begin, stop, n, n_starts = 0, n_labels = 1
    cdef summary_t labels = summary_t(INFINITY, -INFINITY, False, False, False, True), scores = labels
    cdef bint are_grades = grade is not None, is_known = True
    cdef int n_read = 0
    try:
        for array in (label, score, ids, grade, starts, heads):
            x[n_read].buf = NULL
            if array is not None:
                PyObject_GetBuffer(array, &x[n_read], PyBUF_FORMAT | PyBUF_ND | (PyBUF_WRITABLE if n_read > 2 else 0))
            n_read += 1
        if label is not None and x[0].ndim == 2:
            n_labels = x[0].shape[1]
        with nogil:
            while is_known and row < end:
                stop = min(row + CHUNK, end)
                if x[2].buf != NULL:
                    n = _read_ids(&x[2], row, stop, <int64_t*> x[4].buf + n_starts, <char*> x[5].buf, n_starts)
                    n_starts += n
                    is_known = n >= 0
                if is_known and x[0].buf != NULL:
                    is_known = _read_labels(
                        &x[0], begin * n_labels, row * n_labels, stop * n_labels, <uint8_t*> x[3].buf, &are_grades,
                        &labels,
                    )
                if is_known and x[1].buf != NULL:
                    is_known = _read_scores(&x[1], row, stop, &scores)
                row = stop
            if is_known and are_grades and x[0].buf != NULL:
                _add_grades(<uint8_t*> x[3].buf + begin * n_labels, (end - begin) * n_labels, &labels)
    except (ValueError, BufferError):    # an array with gaps, or of a type that has no buffer
        return None
    finally:
        while n_read > 0:
            n_read -= 1
            if x[n_read].buf != NULL:
                PyBuffer_Release(&x[n_read])
    if not is_known:
        return None
    return _as_tuple(&labels), _as_tuple(&scores), are_grades, n_starts


cdef tuple _as_tuple(const summary_t* x):
    return x.low + 0.0, x.high + 0.0, x.has_nan, x.has_minus_inf, x.has_inf, x.are_whole


cdef int64_t _read_ids(
    const Py_buffer* x, int64_t begin, int64_t end, int64_t* starts, char* heads, int64_t n_starts
) noexcept nogil:
    """Find where queries begin; return how many entries were written, or -1 for ids that fall or are not whole."""
    cdef char kind = x.format[0]    # no letter of a number if they are not as the machine has them
    cdef bint is_signed = kind in b"ilq", falls = False
    if not (is_signed or kind in b"ILQ") or x.itemsize < 4:
        return -1
    cdef uint64_t sign = <uint64_t> is_signed << (8 * x.itemsize - 1)
    cdef int64_t n = find_runs(
        x.buf, x.itemsize, sign, begin, end, x.shape[0], starts, heads + n_starts * x.itemsize, &falls
    )
    return -1 if falls else n


cdef bint _read_labels(
    const Py_buffer* x, int64_t first, int64_t begin, int64_t end, uint8_t* grade, bint* are_grades, summary_t* labels
) noexcept nogil:
    """Add labels to the facts about those before, chunk by chunk as a row may have several; return False if it cannot.

    As long as all from the `first` on are grades they are written as bytes instead, whose range is found at the end.
    """
    cdef double[CHUNK] copy
    cdef const double* label
    cdef int64_t n, row = begin
    while row < end:
        n = min(end - row, <int64_t> CHUNK)
        label = _as_doubles(x, row, n, copy)
        if label == NULL:
            return False
        if are_grades[0] and not _write_grades(label, n, grade + row):
            are_grades[0] = False
            _add_grades(grade + first, row - first, labels)
        if not are_grades[0]:
            _add(label, n, labels)
        row += n
    return True


cdef bint _read_scores(const Py_buffer* x, int64_t begin, int64_t end, summary_t* scores) noexcept nogil:
    """Add a chunk of scores to the facts about those before; return False if they are no floats."""
    cdef double[CHUNK] copy
    if x.format[0] not in b"df":
        return False
    _add(_as_doubles(x, begin, end - begin, copy), end - begin, scores)
    return True


cdef const double* _as_doubles(const Py_buffer* x, int64_t begin, int64_t n, double* copy) noexcept nogil:
    """A chunk of numbers as float64: themselves, or a copy of another type; NULL for types that are not read."""
    cdef char kind = x.format[0]
    cdef const void* chunk = <const char*> x.buf + begin * x.itemsize
    fetch_ahead(chunk, n * x.itemsize)
    if kind == b"d":
        return <const double*> chunk
    if kind == b"f":
        _copy_as_double(<const float*> chunk, n, copy)
    elif kind in b"lq" and x.itemsize == 8:
        _copy_as_double(<const int64_t*> chunk, n, copy)
    elif kind in b"il" and x.itemsize == 4:
        _copy_as_double(<const int32_t*> chunk, n, copy)
    else:
        return NULL
    return copy


cdef void _copy_as_double(const source_t* x, int64_t n, double* copy) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        copy[i] = <double> x[i]


# Each of these asks a chunk at once, in loops that vectors can do. A chunk with another answer than the usual one
# is looked at number by number.

cdef bint _write_grades(const double* x, int64_t n, uint8_t* out) noexcept nogil:
    """Write labels as OUT bytes; return False if one is no whole number from 0 to 31.

    Adding 2**52 leaves a whole number in the last bits, and taking it away leaves the number as it was.
    """
    cdef uint64_t changed = 0, above = 0
    cdef int64_t i
    cdef bits_t given, moved, back
    for i in range(n):
        given.value = x[i]
        moved.value = given.value + ALL_WHOLE
        back.value = moved.value - ALL_WHOLE
        changed |= given.bits ^ back.bits
        above |= moved.bits ^ BITS_OF_IT
        out[i] = <uint8_t> moved.bits
    return changed << 1 == 0 and above >> GRADE_BITS == 0   # a sign may differ: -0.0


cdef void _add_grades(const uint8_t* x, int64_t n, summary_t* summary) noexcept nogil:
    """Add labels that were written as bytes to the summary."""
    cdef uint8_t low = 255, high = 0
    cdef int64_t i
    if n == 0:
        return
    for i in range(n):
        low, high = min(low, x[i]), max(high, x[i])
    summary.low, summary.high = min(summary.low, <double> low), max(summary.high, <double> high)


cdef void _add(const double* x, int64_t n, summary_t* summary) noexcept nogil:
    """Add numbers to the summary.

    Most chunks lie within the range so far: their distances from its ends have no sign. And x - x has a bit set only if
    x is NaN or infinite. A chunk within a range of one number has that number alone.
    """
    cdef uint64_t outside = 0, odd = 0
    cdef double low = summary.low, high = summary.high
    cdef bits_t above, below, zero
    cdef int64_t i
    for i in range(n):
        above.value, below.value, zero.value = x[i] - low, high - x[i], x[i] - x[i]
        outside |= above.bits | below.bits
        odd |= zero.bits
    if low != high or outside >> 63 != 0 or odd != 0:
        summary.are_whole = summary.are_whole and _all_whole(x, n)
    if odd == 0:
        if outside >> 63 != 0:
            _widen(x, n, summary)
        return
    for i in range(n):
        if x[i] - x[i] == 0:
            _widen(x + i, 1, summary)
        elif x[i] != x[i]:
            summary.has_nan = True
        else:
            summary.has_minus_inf |= x[i] < 0
            summary.has_inf |= x[i] > 0


cdef void _widen(const double* x, int64_t n, summary_t* summary) noexcept nogil:
    """Widen the range to finite numbers, in lanes, because their order makes no difference."""
    cdef double[LANES] low, high
    cdef int64_t i, k, n_in_lanes = n - n % LANES
    for k in range(LANES):
        low[k], high[k] = summary.low, summary.high
    for i in range(0, n_in_lanes, 4):
        for k in range(LANES):
            low[k], high[k] = min(low[k], x[i + k]), max(high[k], x[i + k])
    for i in range(n_in_lanes, n):
        low[0], high[0] = min(low[0], x[i]), max(high[0], x[i])
    for k in range(LANES):
        summary.low, summary.high = min(summary.low, low[k]), max(summary.high, high[k])


cdef bint _all_whole(const double* x, int64_t n) noexcept nogil:
    """Whether all finite numbers are whole: adding and taking away 2**52 rounds those that are below it."""
    cdef uint64_t changed = 0
    cdef bits_t size, back
    cdef int64_t i
    for i in range(n):
        size.value = fabs(x[i])
        back.value = (size.value + ALL_WHOLE) - ALL_WHOLE
        changed |= size.bits ^ back.bits
    if changed != 0:
        for i in range(n):
            if fabs(x[i]) < ALL_WHOLE and (fabs(x[i]) + ALL_WHOLE) - ALL_WHOLE != fabs(x[i]):
                return False
    return True
