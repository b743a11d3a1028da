# Whether scores are finite; `checks.pyx` includes it after `avx2.pxi`.
#
# x - x of a number that is NaN or infinite is NaN, and of others 0.0, of which no bit is set.

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #define ARE_FINITE(NUMBER, BITS)                                                                              \
        BITS set = 0, bits;                                                                                       \
        for (int64_t i = 0; i < n; i++) {                                                                         \
            const NUMBER nothing = x[i] - x[i];                                                                   \
            memcpy(&bits, &nothing, sizeof(bits));                                                                \
            set |= bits;                                                                                          \
        }                                                                                                         \
        return set == 0;
    static int are_finite(const double* x, int64_t n) { ARE_FINITE(double, uint64_t) }
    static int narrow_are_finite(const float* x, int64_t n) { ARE_FINITE(float, uint32_t) }
    #if defined(WITH_AVX2)
        WITH_AVX2 static int are_finite_by_4(const double* x, int64_t n) { ARE_FINITE(double, uint64_t) }
        WITH_AVX2 static int narrow_are_finite_by_8(const float* x, int64_t n) { ARE_FINITE(float, uint32_t) }

        /* Bits that NaN has left, and bits in which a score seen so far is not the first. */
        typedef struct { __m256i odd, other; } scores_t;

        /* Look at 64 bytes of scores. */
        IN_AVX2 void look_at_line(const char* x, const int is_narrow, __m256i first, scores_t* seen) {
            for (int j = 0; j < 64; j += 32) {
                const __m256i bits = vector_at(x + j);
                seen->other |= bits ^ first;
                seen->odd |= is_narrow ? (__m256i) ((__m256) bits - (__m256) bits)
                                       : (__m256i) ((__m256d) bits - (__m256d) bits);
            }
        }
    #else
        #define are_finite_by_4 are_finite
        #define narrow_are_finite_by_8 narrow_are_finite
    #endif
    """
    bint are_finite(const double* x, int64_t n) nogil
    bint are_finite_by_4(const double* x, int64_t n) nogil
    bint narrow_are_finite(const float* x, int64_t n) nogil
    bint narrow_are_finite_by_8(const float* x, int64_t n) nogil


cdef inline bint _are_finite(const score_t* x, int64_t n) noexcept nogil:
    """Whether no score is NaN or infinite."""
    if score_t is double:
        return are_finite_by_4(x, n) if HAS_AVX2 else are_finite(x, n)
    else:
        return narrow_are_finite_by_8(x, n) if HAS_AVX2 else narrow_are_finite(x, n)
