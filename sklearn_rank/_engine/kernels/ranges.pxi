# How many bytes lie in ranges, 16 of them at a time; `rank.pyx` includes it.
#
# The last bytes, fewer than 16, are read with those before them, of which 255 is made, which is in no range. Compilers
# make vectors of a plain loop too, but take the last bytes one by one: nDCG@10 has the best order of lists of 1 to 240
# grades in 0.8 of the time.

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__GNUC__)
        #if defined(__SSE2__)
            #include <emmintrin.h>
        #endif
        typedef uint8_t bytes_16 __attribute__((vector_size(16)));
        typedef int64_t sums_2 __attribute__((vector_size(16)));
        enum { MOST_VECTORS = 254 };    /* of which each byte counts one, and the last bytes */
        static const uint8_t SEEN[32] = {
            255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
        };

        static inline bytes_16 bytes_at(const uint8_t* x) {
            bytes_16 bytes;
            memcpy(&bytes, x, 16);
            return bytes;
        }
        static inline int64_t sum_of_bytes(bytes_16 x) {
        #if defined(__SSE2__)
            sums_2 sums = (sums_2) _mm_sad_epu8((__m128i) x, _mm_setzero_si128());
            return sums[0] + sums[1];
        #else
            int64_t sum = 0;
            for (int k = 0; k < 16; k++) sum += x[k];
            return sum;
        #endif
        }
        #define IS_IN(k, BYTES) ((bytes_16) ((BYTES) - from[k]) <= width[k])
        #define IS_FIRST(k, BYTES) ((BYTES) == from[k])    /* of ranges of one number: half of the instructions */
        #define COUNT_16(IS, BYTES) for (int k = 0; k < N_RANGES; k++) found[k] -= (bytes_16) IS(k, BYTES)
        /* Counts of at least 16 bytes. */
        #define COUNT_BYTES(N_RANGES_, IS)                                                                        \
            enum { N_RANGES = N_RANGES_ };                                                                        \
            const bytes_16 none = {0};                                                                            \
            bytes_16 from[N_RANGES], width[N_RANGES], found[N_RANGES];                                            \
            (void) width;                                                                                         \
            for (int k = 0; k < N_RANGES; k++) {                                                                  \
                from[k] = none + low[k];                                                                          \
                width[k] = none + (uint8_t) (high[k] - low[k]);                                                   \
                count[k] = 0;                                                                                     \
            }                                                                                                     \
            for (int64_t i = 0; i < n;) {                                                                         \
                const int64_t n_vectors = (n - i) / 16 < MOST_VECTORS ? (n - i) / 16 : MOST_VECTORS;              \
                const int64_t stop = i + 16 * n_vectors;                                                          \
                for (int k = 0; k < N_RANGES; k++) found[k] = none;                                               \
                for (; i < stop; i += 16) COUNT_16(IS, bytes_at(x + i));                                          \
                if (n - i < 16 && i < n) {                                                                        \
                    COUNT_16(IS, bytes_at(x + n - 16) | bytes_at(SEEN + (n - i)));                                \
                    i = n;                                                                                        \
                }                                                                                                 \
                for (int k = 0; k < N_RANGES; k++) count[k] += sum_of_bytes(found[k]);                            \
            }
    #else
        #define COUNT_BYTES(N_RANGES, IS)                                                                         \
            for (int k = 0; k < N_RANGES; k++) {                                                                  \
                count[k] = 0;                                                                                     \
                for (int64_t i = 0; i < n; i++) count[k] += (uint8_t) (x[i] - low[k]) <= (uint8_t) (high[k] - low[k]); \
            }
    #endif
    static void count_in_four(const uint8_t* x, int64_t n, const uint8_t* low, const uint8_t* high, int64_t* count) {
        if (memcmp(low, high, 4) == 0) {
            COUNT_BYTES(4, IS_FIRST)
        } else {
            COUNT_BYTES(4, IS_IN)
        }
    }
    static void count_in_one(const uint8_t* x, int64_t n, const uint8_t* low, const uint8_t* high, int64_t* count) {
        COUNT_BYTES(1, IS_IN)
    }
    """
    # Counts of at least 16 bytes from `low` to `high`, which are not 255, of four such ranges and of one.
    void count_in_four(const uint8_t* x, int64_t n, const uint8_t* low, const uint8_t* high, int64_t* count) nogil
    void count_in_one(const uint8_t* x, int64_t n, const uint8_t* low, const uint8_t* high, int64_t* count) nogil
