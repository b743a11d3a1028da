# Memory that is asked for before it is read or written; all kernels of long arrays include it.
#
# Processors foresee what a loop reads next, but not beyond a page, and wait at the start of each: to look at labels,
# scores and ids takes half the time where the next page is asked for.

from libc.stdint cimport int64_t, uintptr_t

cdef extern from *:
    """
    enum { LINE = 64, AHEAD = 4096 };    /* bytes that come at once, and of a page */
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


cdef inline void _fetch_ahead(const void* start, int64_t n_bytes) noexcept nogil:
    """Ask for as many bytes, a page after `start`. Nothing is read, so they may lie beyond the end."""
    cdef int64_t i
    for i in range((n_bytes + LINE - 1) // LINE):
        PREFETCH(<uintptr_t> start + AHEAD + LINE * i)


cdef inline void _fetch_many_ahead(const void* start, int64_t n_bytes) noexcept nogil:
    """The same of hundreds of bytes, four lines at a time: half of the instructions."""
    cdef uintptr_t line = <uintptr_t> start + AHEAD, end = line + n_bytes
    while line < end:
        PREFETCH(line)
        PREFETCH(line + LINE)
        PREFETCH(line + 2 * LINE)
        PREFETCH(line + 3 * LINE)
        line += 4 * LINE
