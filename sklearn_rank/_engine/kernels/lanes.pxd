# Two numbers at a time: each processor of 64 bits can compare them.
#
# Compilers make such vectors of plain loops, but hardly of those that compare. Lists of up to 40 rows are put in order
# by these, and sorted keys are looked at for ties, or keys for their range.

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #if defined(__GNUC__)
        typedef double two_numbers __attribute__((vector_size(16)));
        typedef long long two_counts __attribute__((vector_size(16)));
        #define TWO(a, b) ((two_numbers) {(a), (b)})
        #define NO_COUNTS() ((two_counts) {0, 0})
        #define COUNT_ABOVE(n, a, b) ((n) - ((a) > (b)))
        #define COUNT_BELOW(n, a, b) ((n) - ~((a) >= (b)))
        #define SUM_OF(n, m) ((n) + (m))
        #define LANE(n, k) ((n)[k])
        #define NUMBER(x, k) ((x)[k])
    #else
        typedef struct { double lane[2]; } two_numbers;
        typedef struct { long long lane[2]; } two_counts;
        static inline two_numbers TWO(double a, double b) { two_numbers x = {{a, b}}; return x; }
        static inline two_counts NO_COUNTS(void) { two_counts n = {{0, 0}}; return n; }
        static inline two_counts COUNT_ABOVE(two_counts n, two_numbers a, two_numbers b) {
            n.lane[0] += a.lane[0] > b.lane[0];
            n.lane[1] += a.lane[1] > b.lane[1];
            return n;
        }
        static inline two_counts COUNT_BELOW(two_counts n, two_numbers a, two_numbers b) {
            n.lane[0] += !(a.lane[0] >= b.lane[0]);
            n.lane[1] += !(a.lane[1] >= b.lane[1]);
            return n;
        }
        static inline two_counts SUM_OF(two_counts n, two_counts m) {
            n.lane[0] += m.lane[0];
            n.lane[1] += m.lane[1];
            return n;
        }
        #define LANE(n, k) ((n).lane[k])
        #define NUMBER(x, k) ((x).lane[k])
    #endif
    #if defined(__SSE2__)
        #include <emmintrin.h>
        #define LOWER(a, b) ((two_numbers) _mm_min_pd((__m128d) (a), (__m128d) (b)))
        #define HIGHER(a, b) ((two_numbers) _mm_max_pd((__m128d) (a), (__m128d) (b)))
    #else
        #define CHOSEN(a, b, IS, k) (NUMBER(a, k) IS NUMBER(b, k) ? NUMBER(a, k) : NUMBER(b, k))
        #define LOWER(a, b) TWO(CHOSEN(a, b, <, 0), CHOSEN(a, b, <, 1))
        #define HIGHER(a, b) TWO(CHOSEN(a, b, >, 0), CHOSEN(a, b, >, 1))
    #endif
    """
    ctypedef struct two_numbers:
        pass
    ctypedef struct two_counts:
        pass
    two_numbers TWO(double a, double b) nogil
    two_counts NO_COUNTS() nogil
    two_counts COUNT_ABOVE(two_counts n, two_numbers a, two_numbers b) nogil  # one more where a is above b
    two_counts COUNT_BELOW(two_counts n, two_numbers a, two_numbers b) nogil  # where a does not reach b, or is NaN
    two_counts SUM_OF(two_counts n, two_counts m) nogil
    int64_t LANE(two_counts n, int k) nogil
    two_numbers LOWER(two_numbers a, two_numbers b) nogil   # of each pair, or b if one is NaN
    two_numbers HIGHER(two_numbers a, two_numbers b) nogil
    double NUMBER(two_numbers x, int k) nogil


ctypedef fused single_t:
    float
    double


cdef inline void find_range(const double* key, int64_t n, double* low, double* high) noexcept nogil:
    cdef two_numbers chunk, next_chunk, least, most, least_of_others, most_of_others
    cdef int64_t i
    least = least_of_others = TWO(INFINITY, INFINITY)
    most = most_of_others = TWO(-INFINITY, -INFINITY)
    for i in range(0, n - n % 4, 4):
        chunk = TWO(key[i], key[i + 1])
        next_chunk = TWO(key[i + 2], key[i + 3])
        least = LOWER(chunk, least)
        most = HIGHER(chunk, most)
        least_of_others = LOWER(next_chunk, least_of_others)
        most_of_others = HIGHER(next_chunk, most_of_others)
    least = LOWER(least, least_of_others)
    most = HIGHER(most, most_of_others)
    low[0] = min(NUMBER(least, 0), NUMBER(least, 1))
    high[0] = max(NUMBER(most, 0), NUMBER(most, 1))
    for i in range(n - n % 4, n):
        low[0] = min(low[0], key[i])
        high[0] = max(high[0], key[i])


cdef inline bint count_beside(const single_t* number, int64_t n, double x, int64_t* n_above) noexcept nogil:
    """Count the numbers above x, which is one of them; False if another one equals it."""
    cdef two_counts above = NO_COUNTS(), below = NO_COUNTS(), others_above = NO_COUNTS(), others_below = NO_COUNTS()
    cdef two_numbers xs = TWO(x, x), chunk
    cdef int64_t i, n_below
    for i in range(0, n - n % 4, 4):
        chunk = TWO(number[i], number[i + 1])
        above = COUNT_ABOVE(above, chunk, xs)
        below = COUNT_ABOVE(below, xs, chunk)
        chunk = TWO(number[i + 2], number[i + 3])
        others_above = COUNT_ABOVE(others_above, chunk, xs)
        others_below = COUNT_ABOVE(others_below, xs, chunk)
    above, below = SUM_OF(above, others_above), SUM_OF(below, others_below)
    n_above[0], n_below = LANE(above, 0) + LANE(above, 1), LANE(below, 0) + LANE(below, 1)
    for i in range(n - n % 4, n):
        n_above[0] += number[i] > x
        n_below += number[i] < x
    return n_above[0] + n_below == n - 1
