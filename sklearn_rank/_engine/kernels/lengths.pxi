# Lengths of queries; kernels include it after `avx2.pxi` and `fetch.pxi`.

from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <stdint.h>
    #define LONGEST                                                                                               \
        int64_t most = 0;                                                                                         \
        for (int64_t q = 0; q < n; q++) {                                                                         \
            const int64_t length = indptr[q + 1] - indptr[q];                                                     \
            most = length > most ? length : most;                                                                 \
        }                                                                                                         \
        return most;
    static int64_t longest_in_turn(const int64_t* indptr, int64_t n) { LONGEST }
    #if defined(WITH_AVX2)
        WITH_AVX2 static int64_t longest_by_4(const int64_t* indptr, int64_t n) { LONGEST }
    #else
        #define longest_by_4 longest_in_turn
    #endif
    """
    int64_t longest_in_turn(const int64_t* indptr, int64_t n) nogil
    int64_t longest_by_4(const int64_t* indptr, int64_t n) nogil

cdef enum:
    A_PIECE = 256       # queries whose starts are asked for together


cdef int64_t longest_of(const int64_t* indptr, int64_t n) noexcept nogil:
    """Length of the longest of `n` queries; 0 without one."""
    cdef int64_t q = 0, most = 0
    while q < n:
        _fetch_many_ahead(indptr + q, A_PIECE * sizeof(int64_t))
        if HAS_AVX2:
            most = max(most, longest_by_4(indptr + q, min(<int64_t> A_PIECE, n - q)))
        else:
            most = max(most, longest_in_turn(indptr + q, min(<int64_t> A_PIECE, n - q)))
        q += A_PIECE
    return most
