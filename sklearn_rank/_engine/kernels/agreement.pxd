# How an order agrees with that by label.

from libc.stdint cimport int64_t, uint8_t

cpdef void pairs_of_grades(
    const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t highest, double[:, ::1] out
) noexcept
cpdef void centred_ranks_of_grades(
    const uint8_t[::1] grade, const int64_t[::1] ptr, int64_t highest, double[::1] out
) noexcept
cpdef void centred_ranks_of_ties(const int64_t[::1] ptr, const int64_t[::1] tie_end, double[::1] out) noexcept
