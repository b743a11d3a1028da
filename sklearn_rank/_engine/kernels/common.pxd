# What kernels of several modules call: memory asked for ahead, a look at whether to go on, the longest query, bits and
# bytes of words, and the sizes that all of them know.
#
# Small functions are inline, so that they stay in the loops of the modules that cimport them. The others are in
# `common.pyx`.

from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy

cdef extern from *:
    """
    enum { LINE = 64, AHEAD = 2048 };    /* bytes of a line of the cache, and of half a page */
    #if defined(__GNUC__)
        #define PREFETCH(address) __builtin_prefetch((const void *) (address))
        #define PREFETCH_TO_WRITE(address) __builtin_prefetch((address), 1)
    #else
        #define PREFETCH(address) ((void) (address))
        #define PREFETCH_TO_WRITE(address) ((void) (address))
    #endif
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        #define LOW_BYTES_FIRST 0
    #else
        #define LOW_BYTES_FIRST 1
    #endif
    #define BYTES_OF_1 0x0101010101010101ULL
    """
    void PREFETCH(uintptr_t address) nogil
    void PREFETCH_TO_WRITE(const void* address) nogil
    int LINE, AHEAD
    bint LOW_BYTES_FIRST
    uint64_t BYTES_OF_1

cdef enum:
    NO_TIES = 0                 # what stands at the first position of a query without ties
    N_GRADES = 32               # whole labels from 0 that are kept as bytes
    OF_WORD = 8                 # bytes


cdef inline void fetch_ahead(const void* start, int64_t n_bytes) noexcept nogil:
    """Ask for as many bytes, half a page after `start`. They are not read, so they may lie beyond the end.

    Processors foresee what a loop reads next within a page, and wait at the start of each new one.
    """
    cdef uintptr_t line = <uintptr_t> start + AHEAD, end = line + n_bytes
    while line < end:
        PREFETCH(line)
        line += LINE


cdef inline int64_t bits_of(double x) noexcept nogil:
    """The bits of a number; for positive numbers the bits rise with the number."""
    cdef int64_t bits
    memcpy(&bits, &x, sizeof(bits))
    return bits


cdef int count_steps(int64_t* steps, int64_t n) except -1 nogil
cdef int64_t longest_of(const int64_t* indptr, int64_t n) noexcept nogil
