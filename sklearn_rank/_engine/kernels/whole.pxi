# Labels that are small whole numbers, written as bytes; `checks.pyx` includes it after `avx2.pxi`.
#
# Adding 2**52 to a float64 leaves a whole number in the last bits, and taking it away again leaves the number as it
# was: 3 times as fast as converting to int and back, which few vectors can do. A processor with AVX2 takes 32 labels in
# less than half of the time of the plain loop beside it: the compiler finds no short way from 8 bytes to one.

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #define WHOLE 0x1p52
    #define BITS_OF_WHOLE 0x4330000000000000
    #define NARROW_WHOLE 0x1p23f
    #define BITS_OF_NARROW_WHOLE 0x4b000000
    enum { FLOAT64, FLOAT32, INT64, INT32 };    /* of labels */
    #define WIDTH_OF(type) ((type) == FLOAT64 || (type) == INT64 ? 8 : 4)
    #if defined(WITH_AVX2)
        /* Bits in which a label seen so far differs without its fraction, and bits of all as whole numbers. */
        typedef struct { __m256i changed, set; } labels_t;

        /* Whole numbers of 4 bytes: 0, 1, 4, 5; 2, 3, 6 and 7. */
        IN_AVX2 __m256i whole_8(const char* x, const int type, labels_t* seen) {
            __m256i half[2];
            for (int j = 0; 32 * j < 8 * WIDTH_OF(type); j++) {
                const __m256i given = vector_at(x + 32 * j);
                half[j] = given;
                if (type == FLOAT64) {
                    const __m256d whole = _mm256_set1_pd(WHOLE), moved = (__m256d) given + whole;
                    seen->changed |= given ^ (__m256i) (moved - whole);
                    half[j] = (__m256i) moved ^ _mm256_set1_epi64x(BITS_OF_WHOLE);
                } else if (type == FLOAT32) {
                    const __m256 whole = _mm256_set1_ps(NARROW_WHOLE), moved = (__m256) given + whole;
                    seen->changed |= given ^ (__m256i) (moved - whole);
                    half[j] = (__m256i) moved ^ _mm256_set1_epi32(BITS_OF_NARROW_WHOLE);
                }
                seen->set |= half[j];
            }
            return WIDTH_OF(type) == 8 ? (__m256i) _mm256_shuffle_ps((__m256) half[0], (__m256) half[1], 0x88)
                                       : _mm256_permute4x64_epi64(half[0], 0xd8);
        }
        /* Bytes of 32 labels, those of the two halves taking turns by twos. */
        IN_AVX2 __m256i whole_32(const char* x, const int type, labels_t* seen) {
            __m256i eight[4];
            for (int k = 0; k < 4; k++) eight[k] = whole_8(x + 8 * WIDTH_OF(type) * k, type, seen);
            return _mm256_packus_epi16(_mm256_packs_epi32(eight[0], eight[1]), _mm256_packs_epi32(eight[2], eight[3]));
        }
        IN_AVX2 __m256i any_whole_32(const char* x, int type, labels_t* seen) {
            return type == FLOAT64 ? whole_32(x, FLOAT64, seen) : type == INT64 ? whole_32(x, INT64, seen)
                 : type == INT32   ? whole_32(x, INT32, seen)   : whole_32(x, FLOAT32, seen);
        }
        IN_AVX2 void write_32(__m256i bytes, uint8_t* out) {
            const __m128i first = _mm256_castsi256_si128(bytes), other = _mm256_extracti128_si256(bytes, 1);
            _mm_storeu_si128((__m128i*) out, _mm_unpacklo_epi16(first, other));
            _mm_storeu_si128((__m128i*) (out + 16), _mm_unpackhi_epi16(first, other));
        }
        /* Whether all labels are whole numbers from 0 to 31. A sign may differ: -0.0. */
        IN_AVX2 int are_small(const labels_t* seen, int type) {
            const __m256i signs = WIDTH_OF(type) == 8 ? _mm256_set1_epi64x(INT64_MIN) : _mm256_set1_epi32(INT32_MIN);
            const __m256i small = WIDTH_OF(type) == 8 ? _mm256_set1_epi64x(31) : _mm256_set1_epi32(31);
            const __m256i wrong = _mm256_andnot_si256(signs, seen->changed) | _mm256_andnot_si256(small, seen->set);
            return _mm256_testz_si256(wrong, wrong);
        }
        IN_AVX2 uint8_t least_of(__m256i bytes) {
            __m128i low = _mm_min_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
            low = _mm_min_epu8(low, _mm_srli_epi16(low, 8));    /* of two neighbours, beside 0 */
            return (uint8_t) _mm_cvtsi128_si32(_mm_minpos_epu16(low));
        }
        IN_AVX2 void write_range(__m256i lowest, __m256i highest, uint8_t* range) {
            range[0] = least_of(lowest);
            range[1] = 255 - least_of(~highest);
        }
        /* Write the first of n labels, 32 at a time, and the lowest and highest; return how many there are, or -1 if
           one is not a whole number from 0 to 31. */
        WITH_AVX2
        static int64_t write_by_32(const char* x, int type, int64_t n, uint8_t* out, uint8_t* range) {
            __m256i lowest = _mm256_set1_epi8(-1), highest = _mm256_setzero_si256();
            labels_t seen = {highest, highest};
            int64_t i = 0;
            for (; i + 32 <= n; i += 32) {
                const __m256i bytes = any_whole_32(x + i * WIDTH_OF(type), type, &seen);
                write_32(bytes, out + i);
                lowest = _mm256_min_epu8(lowest, bytes);
                highest = _mm256_max_epu8(highest, bytes);
            }
            write_range(lowest, highest, range);
            return are_small(&seen, type) ? i : -1;
        }
    #else
        static int64_t write_by_32(const char* x, int type, int64_t n, uint8_t* out, uint8_t* range) { return 0; }
    #endif
    """
    const double WHOLE
    const uint64_t BITS_OF_WHOLE
    int FLOAT64, FLOAT32, INT64, INT32
    int64_t write_by_32(const char* x, int type, int64_t n, uint8_t* out, uint8_t* range) nogil

cdef union bits_t:
    double value
    uint64_t bits


cdef bint _write_grades(const double* x, int64_t n, uint8_t* out) noexcept nogil:
    """Write numbers as bytes; return whether all are whole numbers from 0 to 31."""
    cdef uint64_t changed = 0, above = 0
    cdef int64_t i
    cdef bits_t given, moved, back
    for i in range(n):
        given.value = x[i]
        moved.value = given.value + WHOLE
        back.value = moved.value - WHOLE
        changed |= given.bits ^ back.bits
        above |= moved.bits ^ BITS_OF_WHOLE
        out[i] = <uint8_t> moved.bits
    return changed << 1 == 0 and above >> 5 == 0  # a sign may differ: -0.0
