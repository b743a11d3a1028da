# Steps of loops that may take seconds: many of them, and it is asked whether to go on. Included, as a .pxd can import
# nothing of Python.

from libc.stdint cimport int64_t

from sklearn_rank._utils.threads import heed

cdef int64_t STEPS = 1 << 24    # steps between two looks at whether to go on: some hundredths of a second


cdef inline int _count_steps(int64_t* steps, int64_t n) except -1 nogil:
    """Add `n` steps; after many of them raise if the user interrupts, or if another thread has failed."""
    steps[0] += n
    if steps[0] > STEPS:
        steps[0] = 0
        with gil:
            heed()
    return 0
