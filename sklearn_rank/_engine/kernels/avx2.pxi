# Whether the processor has vectors of 32 bytes; kernels include it before the loops that are written for these.
#
# A wheel for x86-64 may not count on them. A function `WITH_AVX2` is called where `HAS_AVX2` is true, and calls those
# that are `IN_AVX2`; beside it is a plain loop, for all others, with the same results.

cdef extern from *:
    """
    #if defined(__GNUC__) && defined(__x86_64__)
        #include <immintrin.h>
        #define WITH_AVX2 __attribute__((target("avx2,bmi,popcnt")))
        #define IN_AVX2 WITH_AVX2 __attribute__((always_inline)) static inline
        static int has_avx2(void) {
            __builtin_cpu_init();
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
        }
        IN_AVX2 __m256i vector_at(const void* x) { return _mm256_loadu_si256((const __m256i*) x); }
    #else
        static int has_avx2(void) { return 0; }
    #endif
    """
    bint has_avx2()

cdef bint HAS_AVX2 = has_avx2()
