# Float64 that are small whole numbers, written as bytes; `checks.pyx` includes it.
#
# Adding 2**52 leaves a whole number in the last bits, and taking it away again leaves the number as it was: 3 times as
# fast as converting to int and back, which few vectors can do. A processor with AVX2 takes 32 of them in less than half
# of the time of the plain loop beside it: the compiler finds no short way from 8 bytes to one.

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #define WHOLE 0x1p52
    #define BITS_OF_WHOLE 0x4330000000000000
    #if defined(__GNUC__) && defined(__x86_64__)
        #include <immintrin.h>
        static int has_avx2(void) {
            __builtin_cpu_init();
            return __builtin_cpu_supports("avx2") != 0;
        }
        /* Write the first of n numbers, 32 at a time; return how many, or -1 if one is not whole from 0 to 31. */
        __attribute__((target("avx2")))
        static int64_t write_by_32(const double* x, int64_t n, uint8_t* out) {
            const __m256d whole = _mm256_set1_pd(WHOLE), bits = _mm256_castsi256_pd(_mm256_set1_epi64x(BITS_OF_WHOLE));
            __m256d changed = _mm256_setzero_pd(), above = _mm256_setzero_pd();
            uint64_t are_changed[4], are_above[4];
            int64_t i = 0;
            for (; i + 32 <= n; i += 32) {
                __m256i low[4];    /* the low halves of 8 numbers each: 0, 1, 4, 5; 2, 3, 6, 7 */
                for (int k = 0; k < 4; k++) {
                    __m256d pair[2];
                    for (int j = 0; j < 2; j++) {
                        const __m256d given = _mm256_loadu_pd(x + i + 8 * k + 4 * j);
                        pair[j] = _mm256_add_pd(given, whole);
                        changed = _mm256_or_pd(changed, _mm256_xor_pd(given, _mm256_sub_pd(pair[j], whole)));
                        above = _mm256_or_pd(above, _mm256_xor_pd(pair[j], bits));
                    }
                    low[k] = _mm256_castps_si256(
                        _mm256_shuffle_ps(_mm256_castpd_ps(pair[0]), _mm256_castpd_ps(pair[1]), 0x88));
                }
                const __m256i bytes = _mm256_packus_epi16(
                    _mm256_packs_epi32(low[0], low[1]), _mm256_packs_epi32(low[2], low[3]));
                const __m128i first = _mm256_castsi256_si128(bytes), other = _mm256_extracti128_si256(bytes, 1);
                _mm_storeu_si128((__m128i*) (out + i), _mm_unpacklo_epi16(first, other));
                _mm_storeu_si128((__m128i*) (out + i + 16), _mm_unpackhi_epi16(first, other));
            }
            memcpy(are_changed, &changed, 32);
            memcpy(are_above, &above, 32);
            for (int k = 0; k < 4; k++)
                if (are_changed[k] << 1 || are_above[k] >> 5) return -1;    /* a sign may differ: -0.0 */
            return i;
        }
    #else
        static int has_avx2(void) { return 0; }
        static int64_t write_by_32(const double* x, int64_t n, uint8_t* out) { return 0; }
    #endif
    """
    bint has_avx2()
    int64_t write_by_32(const double* x, int64_t n, uint8_t* out) nogil
    double WHOLE
    uint64_t BITS_OF_WHOLE

cdef bint HAS_AVX2 = has_avx2()

cdef union bits_t:
    double value
    uint64_t bits


cdef bint _write_grades(const double* x, int64_t n, uint8_t* out) noexcept nogil:
    """Write numbers as bytes; return whether all are whole numbers from 0 to 31."""
    cdef uint64_t changed = 0, above = 0
    cdef int64_t i, start = 0
    cdef bits_t given, moved, back
    if HAS_AVX2:
        start = write_by_32(x, n, out)
        if start < 0:
            return False
    for i in range(start, n):
        given.value = x[i]
        moved.value = given.value + WHOLE
        back.value = moved.value - WHOLE
        changed |= given.bits ^ back.bits
        above |= moved.bits ^ BITS_OF_WHOLE
        out[i] = <uint8_t> moved.bits
    return changed << 1 == 0 and above >> 5 == 0  # a sign may differ: -0.0
