# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Codes of bits: how many bits two of them share, and the order of such small whole numbers."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t

cdef extern from *:
    """
    #if defined(__GNUC__)
        #define COUNT_BITS(x) ((uint64_t) __builtin_popcountll(x))
    #else
    static uint64_t COUNT_BITS(uint64_t x) {
        x -= (x >> 1) & 0x5555555555555555u;
        x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
        return ((((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56;
    }
    #endif
    /* A wheel for x86-64 may not count on popcnt: with GCC there are two versions, and the loader takes one. */
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
        #define WITH_POPCNT_OR_WITHOUT __attribute__((target_clones("popcnt", "default")))
    #else
        #define WITH_POPCNT_OR_WITHOUT
    #endif
    WITH_POPCNT_OR_WITHOUT
    void sklearn_rank_equal_bits_8(const uint64_t* codes, uint64_t query, int64_t n, int first, uint8_t* out) {
        query = ~query;
        if (first)
            for (int64_t i = 0; i < n; i++) out[i] = (uint8_t) COUNT_BITS(query ^ codes[i]);
        else
            for (int64_t i = 0; i < n; i++) out[i] += (uint8_t) COUNT_BITS(query ^ codes[i]);
    }
    WITH_POPCNT_OR_WITHOUT
    void sklearn_rank_equal_bits_16(const uint64_t* codes, uint64_t query, int64_t n, int first, uint16_t* out) {
        query = ~query;
        if (first)
            for (int64_t i = 0; i < n; i++) out[i] = (uint16_t) COUNT_BITS(query ^ codes[i]);
        else
            for (int64_t i = 0; i < n; i++) out[i] += (uint16_t) COUNT_BITS(query ^ codes[i]);
    }
    """
    void sklearn_rank_equal_bits_8(const uint64_t*, uint64_t, int64_t, int, uint8_t*) nogil
    void sklearn_rank_equal_bits_16(const uint64_t*, uint64_t, int64_t, int, uint16_t*) nogil

ctypedef fused count_t:
    uint8_t
    uint16_t

ctypedef fused grade_t:
    uint8_t
    double


def equal_bits(const uint64_t[:, ::1] queries, const uint64_t[:, ::1] codes, int64_t start, count_t[:, ::1] out):
    """Count the bits that queries share with the codes from `start` on; both are 64-bit words, shape (n_words, n)."""
    cdef int64_t q, w
    with nogil:
        for q in range(out.shape[0]):
            for w in range(codes.shape[0]):
                if count_t is uint8_t:
                    sklearn_rank_equal_bits_8(&codes[w, start], queries[w, q], out.shape[1], w == 0, &out[q, 0])
                else:
                    sklearn_rank_equal_bits_16(&codes[w, start], queries[w, q], out.shape[1], w == 0, &out[q, 0])


def count_grades(const count_t[:, :] near, const uint8_t[:, :] grade, int64_t[:, :, ::1] count):
    """Count the items of each row by their distance, one less the width of `count` less `near`, and their grade."""
    cdef int64_t q, i, top = count.shape[1] - 1, width = count.shape[2], n = near.shape[1], v
    cdef int64_t* of_row
    with nogil:
        for q in range(near.shape[0]):
            of_row = &count[q, 0, 0]
            for v in range((top + 1) * width):
                of_row[v] = 0
            for i in range(n):
                of_row[(top - near[q, i]) * width + grade[q, i]] += 1


def sort_counts(
    const count_t[:, :] near, const grade_t[:, :] label, int64_t[:, ::1] end, grade_t[::1] sorted_label,
):
    """Write the labels of each row, nearest first; equal ones keep their order.

    `end` says where the items end whose `near` is its width less 1, less 2, ..., counting on from row to row.
    """
    cdef int64_t q, i, v, n, top = end.shape[1] - 1, at = 0
    with nogil:
        for q in range(near.shape[0]):
            for v in range(top + 1):
                end[q, v] = 0
            for i in range(near.shape[1]):
                end[q, top - near[q, i]] += 1
            for v in range(top + 1):
                n = end[q, v]
                end[q, v] = at
                at += n
            for i in range(near.shape[1]):
                v = top - near[q, i]
                sorted_label[end[q, v]] = label[q, i]
                end[q, v] += 1
