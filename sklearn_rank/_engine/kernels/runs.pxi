# Runs of rows with equal ids; `grouping.pyx` and `checks.pyx` include it after `avx2.pxi` and `fetch.pxi`.

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
    #if defined(WITH_AVX2)
        /* Write which of 16 ids, of 8 or of 4 bytes, are not the one before, as rows from `row` on; return how many
           there are. `falls` is set if one is below the one before. Four are written in any case, as there mostly are
           no more: nothing to guess. */
        IN_AVX2 int64_t find_in_16(
            const char* x, const int width, const int is_signed, int64_t row, int64_t* out, int* falls
        ) {
            const __m256i signs = width == 8 ? _mm256_set1_epi64x(INT64_MIN) : _mm256_set1_epi32(INT32_MIN);
            __m256i falling = _mm256_setzero_si256();
            uint64_t equal = 0;
            for (int i = 0; i < 16 * width; i += LINE) PREFETCH(x + AHEAD + i);
            for (int i = 0; i < 16; i += 32 / width) {
                const __m256i here = vector_at(x + i * width), before = vector_at(x + (i - 1) * width);
                equal |= width == 8 ? (uint64_t) _mm256_movemask_pd((__m256d) _mm256_cmpeq_epi64(here, before)) << i
                                    : (uint64_t) _mm256_movemask_ps((__m256) _mm256_cmpeq_epi32(here, before)) << i;
            }
            if (equal == 0xffff) return 0;
            for (int i = 0; i < 16 * width; i += 32) {
                const __m256i flip = is_signed ? _mm256_setzero_si256() : signs;
                const __m256i here = vector_at(x + i) ^ flip, before = vector_at(x + i - width) ^ flip;
                falling |= width == 8 ? _mm256_cmpgt_epi64(before, here) : _mm256_cmpgt_epi32(before, here);
            }
            *falls |= !_mm256_testz_si256(falling, falling);
            uint64_t found = ~equal & 0xffff;
            const int64_t n = __builtin_popcountll(found);
            for (int64_t k = 0; k < 4; k++, found &= found - 1) out[k] = row + (int64_t) _tzcnt_u64(found);
            for (int64_t k = 4; k < n; k++, found &= found - 1) out[k] = row + (int64_t) _tzcnt_u64(found);
            return n;
        }
        IN_AVX2 int64_t find_in_any_16(
            const char* x, int width, int is_signed, int64_t row, int64_t* out, int* falls
        ) {
            if (width == 8)
                return is_signed ? find_in_16(x, 8, 1, row, out, falls) : find_in_16(x, 8, 0, row, out, falls);
            return is_signed ? find_in_16(x, 4, 1, row, out, falls) : find_in_16(x, 4, 0, row, out, falls);
        }
        /* The same of rows from `row` up to `end`, 16 at a time. */
        WITH_AVX2
        static int64_t find_by_16(
            const char* x, int width, int is_signed, int64_t row, int64_t end, int64_t* out, int* falls
        ) {
            int64_t n = 0;
            for (; row + 16 <= end; row += 16)
                n += find_in_any_16(x + row * width, width, is_signed, row, out + n, falls);
            return n;
        }
    #else
        static int64_t find_by_16(
            const char* x, int width, int is_signed, int64_t row, int64_t end, int64_t* out, int* falls
        ) { return 0; }
    #endif
    """
    bint differ(const char* x, int64_t n_bytes, int64_t shift) nogil
    int64_t find_by_16(
        const char* x, int width, bint is_signed, int64_t row, int64_t end, int64_t* out, bint* falls) nogil

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
    cdef int64_t i, first, last, stop, n = 0, row = begin
    cdef bint falling = False
    if begin == 0 and n_rows > 0:
        out[0] = 0
        n = row = 1
        if head != NULL:
            head[0] = x[0]
    while row < end:
        stop = min(row + NEAR, end)
        first = n
        if HAS_AVX2 and sizeof(word_t) >= 4:
            n += find_by_16(<const char*> x, sizeof(word_t), sign != 0, row, stop, out + n, &falling)
            row += (stop - row) // 16 * 16
        last = n
        n = _find_runs(x, row, stop, out, n)
        for i in range(last, n):
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
        _fetch_ahead(x + row, 16 * sizeof(word_t))
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
