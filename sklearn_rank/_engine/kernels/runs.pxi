# Runs of rows with equal ids; `grouping.pyx` and `checks.pyx` include it after `fetch.pxi`.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef fused word_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef inline int64_t _find_runs(const word_t* x, int64_t row, int64_t end, int64_t* out, int64_t n) noexcept nogil:
    """Write the rows from `row` on whose id is not that of the row before after `n` others; return how many there are.

    Of 16 rows at a time it is first asked whether any differs, as vectors do; in most they are of one query.

    Where queries are so short that two begin among 16 rows, the next 16 are not asked: of five rows each, 0.8 of the
    instructions.
    """
    cdef word_t differ
    cdef int64_t i, n_before
    cdef bint short = False
    while row < end:
        _fetch_ahead(x + row, 16 * sizeof(word_t))
        differ = 1
        if not short and row + 16 <= end:
            differ = 0
            for i in range(row, row + 16):
                differ |= x[i] ^ x[i - 1]
        if differ:
            n_before = n
            if row + 16 <= end:
                for i in range(16):
                    out[n] = row + i    # in any case: nothing to guess
                    n += x[row + i] != x[row + i - 1]
            else:
                for i in range(row, end):
                    out[n] = i
                    n += x[i] != x[i - 1]
            short = n > n_before + 1
        row += 16
    return n
