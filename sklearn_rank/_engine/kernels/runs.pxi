# Runs of rows with equal ids; `grouping.pyx` and `checks.pyx` include it.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <string.h>
    /* Whether bytes, a multiple of 16, differ from as many that begin `shift` before. Written by hand, as the compiler
       takes words of 8 bytes one by one: 0.9 of the time of checks. */
    #if defined(__GNUC__)
        typedef uint64_t words_2 __attribute__((vector_size(16)));
        static inline int differ(const char* x, int64_t n_bytes, int64_t shift) {
            words_2 differing = {0}, here, before;
            for (int64_t i = 0; i < n_bytes; i += 16) {
                memcpy(&here, x + i, 16);
                memcpy(&before, x + i - shift, 16);
                differing |= here ^ before;
            }
            return (differing[0] | differing[1]) != 0;
        }
    #else
        #define differ(x, n_bytes, shift) (memcmp((x), (x) - (shift), (n_bytes)) != 0)
    #endif
    """
    bint differ(const char* x, int64_t n_bytes, int64_t shift) nogil

cdef enum:
    NEAR = 1024                 # rows whose ids the first cache holds

ctypedef fused word_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef int64_t _find_starts(
    const word_t* x, word_t sign, int64_t begin, int64_t end, int64_t n_rows, int64_t* out, word_t* head, bint* falls
) noexcept nogil:
    """Write the rows from `begin` on whose id is not that of the row before, and their ids; return how many.

    The first row is one, and the end of the last row is written too. No ids are written if `head` is NULL. `falls` is
    whether an id is below the one before; those below 0 have the bit `sign`. Rows are taken in pieces, so that the ids
    of those that are found are near: 0.6 of the time of short queries.
    """
    cdef int64_t i, first, stop, n = 0, row = begin
    cdef bint falling = False
    if begin == 0 and n_rows > 0:
        out[0] = 0
        n = row = 1
        if head != NULL:
            head[0] = x[0]
    while row < end:
        stop = min(row + NEAR, end)
        first = n
        n = _find_runs(x, row, stop, out, n)
        for i in range(first, n):
            falling |= (x[out[i]] ^ sign) < (x[out[i] - 1] ^ sign)
        if head != NULL:
            for i in range(first, n):
                head[i] = x[out[i]]
        row = stop
    if end == n_rows:
        out[n] = end
        n += 1
    falls[0] = falling
    return n


cdef inline int64_t _find_runs(const word_t* x, int64_t row, int64_t end, int64_t* out, int64_t n) noexcept nogil:
    """Write the rows from `row` on whose id is not that of the row before after `n` others; return how many there are.

    Of 16 rows at a time it is first asked whether any differs, as vectors do; in most they are of one query.

    Where queries are so short that two begin among 16 rows, the next 16 are not asked: of five rows each, 0.8 of the
    instructions.
    """
    cdef int64_t i, n_before
    cdef bint short = False
    while row < end:
        fetch_ahead(x + row, 16 * sizeof(word_t))
        if short or row + 16 > end or differ(<const char*> (x + row), 16 * sizeof(word_t), sizeof(word_t)):
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
