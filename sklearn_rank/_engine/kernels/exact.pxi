# Long sums and products, with what was rounded away: a part of `rank.pyx`, which includes it.

cdef double SPLIT = 2.0**27 + 1  # times a double, leads to its upper half

cdef enum:
    N_PLAIN = 1024              # numbers whose sum or product is rounded as it is: it is off by 2e-13 at most


cdef struct pair_t:             # value + lost: a sum or product, and what was rounded away
    double value
    double lost


cdef inline void _add(pair_t* above, double x) noexcept nogil:
    """Add, and keep what is rounded away, unless the sum is not finite."""
    cdef double total = above.value + x, of_x = total - above.value
    cdef double lost = (above.value - (total - of_x)) + (x - of_x)
    above.value = total
    if lost == lost:
        above.lost += lost


cdef inline void _go_on(pair_t* survive, double p) noexcept nogil:
    """Multiply by 1 - p, and keep what both operations round away."""
    cdef double x = 1.0 - p
    survive.lost = survive.lost * x + survive.value * ((1.0 - x) - p)
    survive.lost += _multiply(&survive.value, x)


cdef inline double _multiply(double* value, double x) noexcept nogil:
    """Multiply a value by x, and return what is rounded away: halves of both have exact products (Dekker)."""
    cdef double a = value[0], product = a * x, high_a = SPLIT * a, high_x = SPLIT * x
    high_a -= high_a - a
    high_x -= high_x - x
    value[0] = product
    return ((high_a * high_x - product) + high_a * (x - high_x) + (a - high_a) * high_x) + (a - high_a) * (x - high_x)
