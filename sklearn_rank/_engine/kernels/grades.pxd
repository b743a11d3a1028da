# Labels kept as bytes: what is read many at a time.
#
# Bytes are counted 16 at a time. The last ones, fewer than 16, are read with bytes before them, which become 255 and so
# are in no range. Compilers make vectors of a plain loop too, but take the last bytes one by one.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from sklearn_rank._engine.kernels.common cimport N_GRADES

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
        enum { MOST_VECTORS = 254 };    /* before bytes that count overflow, less one for the last bytes */
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
        #define IS_FIRST(k, BYTES) ((BYTES) == from[k])    /* for ranges of one number */
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
    static inline void count_in_four(
        const uint8_t* x, int64_t n, const uint8_t* low, const uint8_t* high, int64_t* count
    ) {
        if (memcmp(low, high, 4) == 0) {
            COUNT_BYTES(4, IS_FIRST)
        } else {
            COUNT_BYTES(4, IS_IN)
        }
    }
    static inline void count_in_one(
        const uint8_t* x, int64_t n, const uint8_t* low, const uint8_t* high, int64_t* count
    ) {
        COUNT_BYTES(1, IS_IN)
    }
    """
    # Counts of at least 16 bytes from `low` to `high`, which are not 255, of four such ranges and of one.
    void count_in_four(const uint8_t* x, int64_t n, const uint8_t* low, const uint8_t* high, int64_t* count) nogil
    void count_in_one(const uint8_t* x, int64_t n, const uint8_t* low, const uint8_t* high, int64_t* count) nogil


cdef enum:
    LOW_GRADES = 8              # grades that are counted in one word
    LEAST_BYTES = 16            # grades that are enough to count those in a range
    COUNTED_TOGETHER = 4        # grades, or ranges of them, that are counted together
    LEAST_BY_RANGE = 32         # labels that are enough to count each grade by itself

# Whole numbers that stand for grades.
cdef struct numbers_t:
    int64_t[N_GRADES] by_grade
    int64_t n_ranges                # of grades with one number that is not 0; those beyond `LOW_GRADES` are not listed
    uint8_t[LOW_GRADES] low, high   # grades where such a range starts and ends; 255, which is none, of others
    int64_t[LOW_GRADES] each        # the number; 0 of others


cpdef void rank_grades(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int64_t depth, int64_t highest, uint8_t[::1] out,
    int64_t[::1] ptr,
) noexcept
cpdef void count_grades_at_least(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int32_t least, double[:, :] out
) noexcept
cpdef void look_up(const double[::1] table, const uint8_t[::1] grade, double[::1] out) noexcept
cdef void find_ranges(numbers_t* numbers) noexcept
cdef int64_t find_labeled(const uint8_t* grade, int64_t n, int64_t most, int64_t* row) noexcept nogil


cdef inline int64_t count_between(const uint8_t* grade, int64_t n, uint8_t low, uint8_t high) noexcept nogil:
    """Count the grades from `low` to `high`."""
    cdef int64_t i, total = 0
    if n >= LEAST_BYTES:
        count_in_one(grade, n, &low, &high, &total)
        return total
    for i in range(n):
        total += low <= grade[i] <= high
    return total


cdef inline int64_t count_in_word(uint64_t grades, uint64_t first_ones, uint64_t wanted, uint64_t ones) noexcept nogil:
    """Count the first bytes of a word that are at least `wanted`: they reach 128 when 128 - wanted is added.

    A product with `ones` adds up the bytes of a word.
    """
    grades += (128 - wanted) * ones
    return (((grades >> 7) & first_ones) * ones) >> 56


cdef inline int64_t sum_numbers(const uint8_t* grade, int64_t n, const numbers_t* numbers) noexcept nogil:
    """Sum what grades stand for, range by range in a long list."""
    cdef int64_t i, k, total = 0
    cdef int64_t[COUNTED_TOGETHER] count
    if n < LEAST_BY_RANGE or numbers.n_ranges > LOW_GRADES:
        for i in range(n):
            total += numbers.by_grade[grade[i]]
    elif numbers.n_ranges == 1:
        total = numbers.each[0] * count_between(grade, n, numbers.low[0], numbers.high[0])
    else:
        for i in range(0, numbers.n_ranges, 4):
            count_in_four(grade, n, numbers.low + i, numbers.high + i, count)
            for k in range(COUNTED_TOGETHER):
                total += numbers.each[i + k] * count[k]
    return total
