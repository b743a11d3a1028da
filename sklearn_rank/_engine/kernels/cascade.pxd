# The cascade: a user goes down a list and stops at an item with some probability.

from libc.stdint cimport int64_t, uint8_t

from sklearn_rank._engine.kernels.sums cimport lists_t

cdef enum:
    MOST_STOP_SUMS = 4          # sums of one cascade


# One of the sums that are taken of the probabilities to stop.
cdef struct stop_sum_t:
    const double* by_rank       # NULL if it has no weights
    bint per_rank
    lists_t lists


cpdef bint cascade(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] room, double[::1] out,
) except -1
cpdef bint cascade_upwards(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end,
    double[:, ::1] room, double[::1] out,
) except -1
cdef bint sum_cascade(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] room, double* stops, const stop_sum_t* sums, int64_t n_sums,
) except -1
