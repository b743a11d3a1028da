# Lengths of queries; kernels include it after `fetch.pxi`.

from libc.stdint cimport int64_t


cdef int64_t longest_of(const int64_t* indptr, int64_t n) noexcept nogil:
    """Length of the longest of `n` queries; 0 without one. Those of four are looked at at once, as vectors do."""
    cdef int64_t[4] most = [0, 0, 0, 0]
    cdef int64_t q = 0, k
    while q + 4 <= n:
        _fetch_ahead(indptr + q, 4 * sizeof(int64_t))
        for k in range(4):
            most[k] = max(most[k], indptr[q + k + 1] - indptr[q + k])
        q += 4
    while q < n:
        most[0] = max(most[0], indptr[q + 1] - indptr[q])
        q += 1
    return max(max(most[0], most[1]), max(most[2], most[3]))
