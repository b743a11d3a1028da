# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Codes of bits: how many bits two of them share, and the order of such small whole numbers."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

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
    /* A wheel for x86-64 may count on neither: with GCC there are two versions, and the loader takes one. */
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
        #define WITH_AVX2_OR_WITHOUT __attribute__((target_clones("avx2", "default")))
    #else
        #define WITH_AVX2_OR_WITHOUT
    #endif
    /* The compiler unrolls the inner loop where it knows the number of words: half the time for 256 bits. */
    #define COUNT_WORDS(N)                                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                                          \
            uint64_t unequal = 0;                                                                                  \
            for (int64_t w = 0; w < N; w++) unequal += COUNT_BITS(query[w] ^ codes[i * N + w]);                    \
            out[i] = 64 * N - unequal;                                                                             \
        }
    #define COUNT_EQUAL_BITS                                                                                       \
        if (n_words == 1) COUNT_WORDS(1)                                                                           \
        else if (n_words == 2) COUNT_WORDS(2)                                                                      \
        else if (n_words == 4) COUNT_WORDS(4)                                                                      \
        else if (n_words == 8) COUNT_WORDS(8)                                                                      \
        else COUNT_WORDS(n_words)
    WITH_AVX2_OR_WITHOUT
    void sklearn_rank_equal_bits_8(
        const uint64_t* codes, int64_t n_words, const uint64_t* query, int64_t n, uint8_t* out
    ) { COUNT_EQUAL_BITS }
    WITH_AVX2_OR_WITHOUT
    void sklearn_rank_equal_bits_16(
        const uint64_t* codes, int64_t n_words, const uint64_t* query, int64_t n, uint16_t* out
    ) { COUNT_EQUAL_BITS }
    WITH_AVX2_OR_WITHOUT
    int64_t sklearn_rank_most_equal_bits(
        const uint64_t* codes, int64_t n_words, const uint64_t* query, int64_t n, uint16_t* out
    ) {
        uint16_t most = 0;
        COUNT_EQUAL_BITS
        for (int64_t i = 0; i < n; i++) most = out[i] > most ? out[i] : most;
        return most;
    }
    """
    void sklearn_rank_equal_bits_8(const uint64_t*, int64_t, const uint64_t*, int64_t, uint8_t*) nogil
    void sklearn_rank_equal_bits_16(const uint64_t*, int64_t, const uint64_t*, int64_t, uint16_t*) nogil
    int64_t sklearn_rank_most_equal_bits(
        const uint64_t*, int64_t, const uint64_t*, int64_t, uint16_t*) nogil

ctypedef fused count_t:
    uint8_t
    uint16_t

ctypedef fused grade_t:
    uint8_t
    double

cdef enum:
    PART = 256       # items whose counts are made, and looked through, at a time
    CELLS = 1 << 10  # pairs of a distance and a grade, few enough to keep counts of them four times
    TILE = 1 << 15   # words that all queries are compared with before the next: they stay in the cache


def equal_bits(const uint64_t[:, ::1] queries, const uint64_t[:, ::1] codes, int64_t start, count_t[:, ::1] out):
    """Count the bits that queries share with the codes from `start` on.

    Both are 64-bit words, shape (n, n_words).
    """
    cdef int64_t q, n_words = codes.shape[1], n = out.shape[1]
    with nogil:
        for q in range(out.shape[0]):
            if count_t is uint8_t:
                sklearn_rank_equal_bits_8(&codes[start, 0], n_words, &queries[q, 0], n, &out[q, 0])
            else:
                sklearn_rank_equal_bits_16(&codes[start, 0], n_words, &queries[q, 0], n, &out[q, 0])


def select_codes(
    const uint64_t[:, ::1] queries, const uint64_t[:, ::1] codes, int64_t start, int64_t stop, int64_t depth,
    int64_t[:, ::1] count, int64_t[::1] bar, int64_t[::1] n_above,
    int64_t[::1] query, int64_t[::1] item, uint16_t[::1] near,
):
    """Write the codes from `start` to `stop` that may be among the `depth` nearest of a query; return how many.

    Those of each query share at least `bar` bits with it: the bar rises while `depth` of those written reach more. For
    that `count` has their number by shared bits, and `n_above` that of those who reach the bar.
    """
    cdef int64_t q, i, j, n, v, end, kept = 0, n_words = codes.shape[1]
    cdef int64_t tile = max(TILE // n_words, PART)
    cdef uint16_t[PART] part
    with nogil:
        while start < stop:
            end = min(start + tile, stop)
            for q in range(queries.shape[0]):
                i = start - PART
                while i + PART < end:
                    i += PART
                    n = min(PART, end - i)
                    if bar[q] > sklearn_rank_most_equal_bits(&codes[i, 0], n_words, &queries[q, 0], n, part):
                        continue
                    for j in range(n):
                        v = part[j]
                        if v < bar[q]:
                            continue
                        query[kept] = q
                        item[kept] = i + j
                        near[kept] = v
                        kept += 1
                        count[q, v] += 1
                        n_above[q] += 1
                        while n_above[q] - count[q, bar[q]] >= depth:
                            n_above[q] -= count[q, bar[q]]
                            bar[q] += 1
            start = end
    return kept


def count_grades(const count_t[:, :] near, const uint8_t[:, :] grade, int64_t[:, :, ::1] count):
    """Count the items of each row by their distance, one less the width of `count` less `near`, and their grade."""
    cdef int64_t q, i, v, top = count.shape[1] - 1, width = count.shape[2], n = near.shape[1]
    cdef int64_t* of_row
    cdef const count_t* bits
    cdef const uint8_t* grades
    with nogil:
        for q in range(near.shape[0]):
            of_row, bits, grades = &count[q, 0, 0], &near[q, 0], &grade[q, 0]
            for v in range((top + 1) * width):
                of_row[v] = 0
            if (top + 1) * width <= CELLS:
                _count_apart(bits, grades, n, top, width, of_row)
            else:
                for i in range(n):
                    of_row[(top - bits[i]) * width + grades[i]] += 1


cdef void _count_apart(
    const count_t* bits, const uint8_t* grade, int64_t n, int64_t top, int64_t width, int64_t* count
) noexcept nogil:
    """Add to counts. Neighbours are counted apart, as equal ones would wait for each other's count: half the time."""
    cdef int32_t[4][CELLS] apart
    cdef uint16_t[PART] cell
    cdef int32_t first = <int32_t> top, step = <int32_t> width
    cdef int64_t i, v, m, start = 0
    for i in range(4):
        memset(apart[i], 0, (top + 1) * width * sizeof(int32_t))
    while start < n:
        m = min(<int64_t> PART, n - start)
        for i in range(m):
            cell[i] = <uint16_t> ((first - bits[start + i]) * step + grade[start + i])
        for i in range(0, m - m % 4, 4):
            apart[0][cell[i]] += 1
            apart[1][cell[i + 1]] += 1
            apart[2][cell[i + 2]] += 1
            apart[3][cell[i + 3]] += 1
        for i in range(m - m % 4, m):
            apart[0][cell[i]] += 1
        start += m
    for v in range((top + 1) * width):
        count[v] += <int64_t> apart[0][v] + apart[1][v] + apart[2][v] + apart[3][v]


def sort_counts(const count_t[:, :] near, const grade_t[:, :] label, int64_t[:, ::1] begin, grade_t[::1] sorted_label):
    """Write the labels of each row but those that are 0, nearest first; equal ones keep their order.

    `begin` says where the items begin whose `near` is its width less 1, less 2, ..., counting on from row to row.
    """
    cdef int64_t q, i, v, top = begin.shape[1] - 1
    cdef int64_t* place
    cdef const count_t* bits
    cdef const grade_t* labels
    with nogil:
        for q in range(near.shape[0]):
            place, bits, labels = &begin[q, 0], &near[q, 0], &label[q, 0]
            for i in range(near.shape[1]):
                v = top - bits[i]
                if labels[i] != 0:  # few are relevant: half the time of writing all
                    sorted_label[place[v]] = labels[i]
                place[v] += 1
