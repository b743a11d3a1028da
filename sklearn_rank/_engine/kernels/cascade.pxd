# The cascade: a user goes down a list and stops at an item with some probability.

from libc.stdint cimport int64_t, uint8_t

cpdef bint cascade(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[:, ::1] memory, double[::1] out,
) except -1
cpdef bint cascade_upwards(
    const double[::1] p, const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end,
    double[:, ::1] memory, double[::1] out,
) except -1
