# Sums down ranked queries, long sums and products with what was rounded away, and what cascades share with them.

from libc.stdint cimport int64_t, uint8_t

from sklearn_rank._engine.kernels.grades cimport numbers_t

cdef enum:
    N_PLAIN = 1024              # numbers whose sum or product is rounded as it is: it is off by 2e-13 at most
    N_FIRST = 16                # ranks of the first sum, a multiple of the number of others
    TOGETHER = 4                # items of a list without ties that a joint sum or a cascade takes at once
    FEW_LABELS = 12             # grades other than 0 of a list of which these alone are summed

cdef struct pair_t:             # value + lost: a sum or product, and what was rounded away
    double value
    double lost


cdef struct items_t:
    const double* value         # of each item; with `grade`, of each grade
    const uint8_t* grade        # NULL if values are not looked up
    int64_t step                # 0 if one value is that of all
    bint whole                  # whether values of grades are whole, and so are all sums of them
    numbers_t number            # these values


# Queries down which sums are written, each so many bytes from the one of the query, or the cutoff, before it.
cdef struct lists_t:
    const int64_t* ptr
    int64_t n
    const int64_t* tie_end      # NULL if nothing is tied
    const int64_t* cutoffs
    int64_t n_cutoffs
    char* out
    int64_t of_query, of_cutoff
    double* product             # of the weight of each of the first ranks with the value of each grade; may be NULL
    bint may_be_few             # whether grade 0 adds nothing at any rank, so that few others can be summed alone


cpdef void cumsum(
    const double[::1] value, const uint8_t[::1] grade, const double[::1] weight, const double[::1] discount,
    bint per_rank, const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
) noexcept
cpdef void joint(
    const double[::1] x, const uint8_t[::1] x_grade, const double[::1] y, const uint8_t[::1] y_grade,
    const double[:] most, const int64_t[::1] ptr, const int64_t[::1] tie_end, double[:, ::1] room, double[::1] out,
) noexcept
cpdef void means_of_items(
    const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr, const int64_t[::1] cutoffs,
    const int64_t[::1] tie_end, double[:, :] out,
) noexcept
cpdef void means_of_grades(
    const uint8_t[::1] grade, const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr,
    const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
) noexcept
cdef void means_of_two(
    const uint8_t[::1] grade, const double[::1] relevant, const double[::1] value, const double[::1] other,
    const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
    double[:, :] out_of_other,
) noexcept
cdef lists_t lists_of(const int64_t[::1] ptr, const int64_t[::1] cutoffs, double[:, :] out) noexcept
cdef items_t items_of(const double[::1] value, const uint8_t[::1] grade) noexcept
cdef int64_t sum_untied(
    const items_t* items, const double* weight, int64_t w, const double* by_rank, bint per_rank, lists_t* lists,
    int64_t q,
) noexcept nogil
cdef int64_t find_few(const uint8_t* grade, int64_t n, int64_t* place) noexcept nogil
cdef void sum_few_terms(
    const int64_t* place, const double* term, int64_t n, const lists_t* lists, char* at,
) noexcept nogil
cdef int64_t down_to_cutoff(int64_t cutoff, const int64_t* place, int64_t n) noexcept nogil


cdef inline void add(pair_t* above, double x) noexcept nogil:
    """Add, and keep what is rounded away, unless the sum is not finite."""
    cdef double total = above.value + x, of_x = total - above.value
    cdef double lost = (above.value - (total - of_x)) + (x - of_x)
    above.value = total
    if lost == lost:
        above.lost += lost


cdef inline void go_on(pair_t* survive, double p) noexcept nogil:
    """Multiply by 1 - p, and keep what both operations round away."""
    cdef double x = 1.0 - p
    survive.lost = survive.lost * x + survive.value * ((1.0 - x) - p)
    survive.lost += multiply(&survive.value, x)


cdef inline double multiply(double* value, double x) noexcept nogil:
    """Multiply a value by x, and return what is rounded away: halves of both have exact products (Dekker).

    2**27 + 1 times a double leads to its upper half."""
    cdef double a = value[0], product = a * x, high_a = 134217729.0 * a, high_x = 134217729.0 * x
    high_a -= high_a - a
    high_x -= high_x - x
    value[0] = product
    return ((high_a * high_x - product) + high_a * (x - high_x) + (a - high_a) * high_x) + (a - high_a) * (x - high_x)


cdef inline const double* values_from(const items_t* items, int64_t first, int64_t n, double* room) noexcept nogil:
    """Values of some items, those of grades looked up: into room that stays in the cache, where an array would not."""
    cdef int64_t i
    if items.grade == NULL:
        return items.value + items.step * first
    for i in range(n):
        room[i] = items.value[items.grade[first + i]]
    return room


cdef inline int64_t end_of_turn(const int64_t* tie_end, int64_t start, int64_t stop) noexcept nogil:
    """End of up to four items from `start` on, which is not tied, of which none is.

    So they are taken together wherever a list ends, and whatever is tied below.
    """
    cdef int64_t i = start + 1
    stop = min(stop, start + TOGETHER)
    while i < stop and (tie_end == NULL or tie_end[i] == i + 1):
        i += 1
    return i
