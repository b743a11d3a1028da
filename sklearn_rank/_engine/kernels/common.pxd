# What kernels of several modules call: memory asked for ahead, a look at whether to go on, and the longest query.
#
# Small functions are inline, so that they stay in the loops of the modules that cimport them. The others are compiled in
# `common.pyx`.

from libc.stdint cimport int64_t, uintptr_t

cdef extern from *:
    """
    enum { LINE = 64, AHEAD = 4096 };    /* bytes of a line of the cache, and of a page */
    #if defined(__GNUC__)
        #define PREFETCH(address) __builtin_prefetch((const void *) (address))
        #define PREFETCH_TO_WRITE(address) __builtin_prefetch((address), 1)
    #else
        #define PREFETCH(address) ((void) (address))
        #define PREFETCH_TO_WRITE(address) ((void) (address))
    #endif
    """
    void PREFETCH(uintptr_t address) nogil
    void PREFETCH_TO_WRITE(const void* address) nogil
    int LINE, AHEAD


cdef inline void fetch_ahead(const void* start, int64_t n_bytes) noexcept nogil:
    """Ask for as many bytes, a page after `start`. Nothing is read, so they may lie beyond the end.

    Processors foresee what a loop reads next within a page, and wait at the start of each new one.
    """
    cdef uintptr_t line = <uintptr_t> start + AHEAD, end = line + n_bytes
    while line < end:
        PREFETCH(line)
        line += LINE


cdef int count_steps(int64_t* steps, int64_t n) except -1 nogil
cdef int64_t longest_of(const int64_t* indptr, int64_t n) noexcept nogil
