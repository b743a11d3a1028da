# Whether scores are finite; `checks.pyx` includes it.
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
    """
    bint are_finite(const double* x, int64_t n) nogil
    bint narrow_are_finite(const float* x, int64_t n) nogil


cdef inline bint _are_finite(const score_t* x, int64_t n) noexcept nogil:
    """Whether no score is NaN or infinite."""
    if score_t is double:
        return are_finite(x, n)
    else:
        return narrow_are_finite(x, n)
