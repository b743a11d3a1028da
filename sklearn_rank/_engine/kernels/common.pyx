# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""What kernels of several modules call.

In: counts of steps, or where queries begin. Out: no result, or the length of the longest query. It is a module of its
own because a `.pxd`, whose inline functions others cimport, cannot import from Python.
"""
from libc.stdint cimport int64_t

from sklearn_rank._utils.threads import check_interrupt

cdef int64_t MOST_STEPS = 1 << 24   # steps between two looks at whether to go on: some hundredths of a second


cdef int count_steps(int64_t* steps, int64_t n) except -1 nogil:
    """Add `n` steps of a loop; after many of them raise if the user interrupts, or if another thread has failed."""
    steps[0] += n
    if steps[0] > MOST_STEPS:
        steps[0] = 0
        with gil:
            check_interrupt()
    return 0


cdef int64_t longest_of(const int64_t* indptr, int64_t n) noexcept nogil:
    """Length of the longest of `n` queries; 0 without one."""
    cdef int64_t q, most = 0
    for q in range(n):
        most = max(most, indptr[q + 1] - indptr[q])
    return most
