# What kernels of other modules call: where runs of equal ids begin.

from libc.stdint cimport int64_t, uint64_t

cdef int64_t find_runs(
    const void* ids, int64_t width, uint64_t sign, int64_t begin, int64_t end, int64_t n_rows,
    int64_t* starts, void* heads, bint* falls,
) noexcept nogil
