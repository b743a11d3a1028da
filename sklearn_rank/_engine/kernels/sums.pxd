# Sums down ranked lists, and what cascades share with them: values that are looked up, and what additions round away.

from libc.stdint cimport int64_t, uint8_t

from sklearn_rank._engine.kernels.grades cimport numbers_t

cdef enum:
    PIECE = 1024                # numbers whose sum or product is rounded as it is: it is off by 2e-13 at most


cdef struct pair_t:             # value + lost: a sum or product, and what was rounded away
    double value
    double lost


# Values of the positions of all lists.
cdef struct items_t:
    const double* value         # of each position; with `grade`, of each grade
    const uint8_t* grade        # NULL if values are not looked up
    int64_t step                # 0 if all have one value
    bint whole                  # whether values of grades are whole, and so are all sums of them
    numbers_t number            # these values


cpdef void cumsum(
    const double[::1] value, const uint8_t[::1] grade, const double[::1] weight, const double[::1] discount,
    bint per_rank, const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
) noexcept
cpdef void joint(
    const double[::1] x, const uint8_t[::1] x_grade, const double[::1] y, const uint8_t[::1] y_grade,
    const double[:] most, const int64_t[::1] ptr, const int64_t[::1] tie_end, double[:, ::1] memory, double[::1] out,
) noexcept
cpdef void means_of_items(
    const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr, const int64_t[::1] cutoffs,
    const int64_t[::1] tie_end, double[:, :] out,
) noexcept
cpdef void means_of_grades(
    const uint8_t[::1] grade, const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr,
    const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
) noexcept
cdef items_t items_of(const double[::1] value, const uint8_t[::1] grade) noexcept


cdef inline void add(pair_t* above, double x) noexcept nogil:
    """Add, and keep what is rounded away, unless the sum is not finite."""
    cdef double total = above.value + x, of_x = total - above.value
    cdef double lost = (above.value - (total - of_x)) + (x - of_x)
    above.value = total
    if lost == lost:
        above.lost += lost


cdef inline double multiply(double* value, double x) noexcept nogil:
    """Multiply a value by x, and return what is rounded away: halves of both have exact products (Dekker).

    2**27 + 1 times a double leads to its upper half.
    """
    cdef double a = value[0], product = a * x, high_a = 134217729.0 * a, high_x = 134217729.0 * x
    high_a -= high_a - a
    high_x -= high_x - x
    value[0] = product
    return ((high_a * high_x - product) + high_a * (x - high_x) + (a - high_a) * high_x) + (a - high_a) * (x - high_x)


cdef inline const double* values_from(const items_t* items, int64_t first, int64_t n, double* memory) noexcept nogil:
    """Values of some items; values of grades are looked up, into `memory`."""
    cdef int64_t i
    if items.grade == NULL:
        return items.value + items.step * first
    for i in range(n):
        memory[i] = items.value[items.grade[first + i]]
    return memory
