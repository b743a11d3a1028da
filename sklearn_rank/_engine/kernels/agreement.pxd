# How an order agrees with that by label.

from libc.stdint cimport int64_t

cpdef void centered_ranks_of_ties(const int64_t[::1] ptr, const int64_t[::1] tie_end, double[::1] out) noexcept
cpdef int pairs(
    const double[::1] label, const int64_t[::1] ptr, const int64_t[::1] tie_end, double[:, :] out,
    double[::1] key, double[::1] spare_key, int64_t[::1] item, int64_t[::1] spare,
) except -1
cpdef int centered_ranks(
    const double[::1] x, const int64_t[::1] ptr, double[::1] out,
    double[::1] key, double[::1] spare_key, int64_t[::1] item, int64_t[::1] spare,
) except -1
