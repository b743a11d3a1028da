# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Codes of bits: how many bits two of them share, and the order of such small whole numbers."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

cdef extern from *:
    """
    #if defined(__SSE2__)
        #include <emmintrin.h>
    #endif
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
    /* The compiler unrolls the inner loop where it knows the number of words, half the time for 256 bits, and the outer
       one where it is told to, 0.7 of the time for 64. */
    #if defined(__GNUC__) && !defined(__clang__)
        #define UNROLLED _Pragma("GCC unroll 8")
    #else
        #define UNROLLED
    #endif
    #define COUNT_WORDS(N)                                                                                         \
        UNROLLED                                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                                          \
            uint64_t equal = 0;                                                                                    \
            for (int64_t w = 0; w < N; w++) equal += COUNT_BITS(~query[w] ^ codes[i * N + w]);                     \
            out[i] = equal;                                                                                        \
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
    /* A bit for each of 64 bytes that are equal to one byte. */
    static inline uint64_t equal_bytes(const uint8_t* x, uint8_t one) {
        uint64_t equal = 0;
    #if defined(__SSE2__)
        for (int j = 0; j < 64; j += 16) {
            const __m128i those = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i*) (x + j)), _mm_set1_epi8((char) one));
            equal |= (uint64_t) (uint32_t) _mm_movemask_epi8(those) << j;
        }
    #else
        for (int j = 0; j < 64; j++) equal |= (uint64_t) (x[j] == one) << j;
    #endif
        return equal;
    }
    enum { FEW_LABELS = 12 };    /* of 64 items, up to which each is compared with all 64, and others are counted */
    /* Note labels as `sort_counts` does, of 64 items at a time, from `start`. It ends before 64 that have more labels,
       or before the last items, fewer than 64, and returns where. */
    WITH_AVX2_OR_WITHOUT
    int64_t sklearn_rank_note_few(
        const uint8_t* near, const uint8_t* label, int64_t start, int64_t n, int64_t* count, int64_t* item,
        int64_t* place, int64_t* n_noted
    ) {
        int64_t i = start, noted = *n_noted;
        for (; i + 64 <= n; i += 64) {
            uint64_t labelled = ~equal_bytes(label + i, 0);
            if (COUNT_BITS(labelled) > FEW_LABELS) break;
            for (; labelled != 0; labelled &= labelled - 1) {
                const uint64_t before = (labelled & (0 - labelled)) - 1;
                const uint8_t its = near[i + COUNT_BITS(before)];
                item[noted] = i + COUNT_BITS(before);
                place[noted++] = count[its] + COUNT_BITS(equal_bytes(near + i, its) & before);
            }
            for (int64_t j = i; j < i + 64; j++) count[near[j]]++;
        }
        *n_noted = noted;
        return i;
    }
    """
    int64_t sklearn_rank_note_few(
        const uint8_t*, const uint8_t*, int64_t, int64_t, int64_t*, int64_t*, int64_t*, int64_t*) nogil
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


def sort_counts(
    const count_t[:, :] near, const grade_t[:, :] label, int64_t[::1] begin, int64_t[::1] item, int64_t[::1] place,
    grade_t[:, ::1] out,
):
    """Write the labels of each row but those that are 0, nearest first; equal ones keep their order.

    Items are read once: each that has a label is noted, with the number of those before it that are as near. So it has
    its place when all are counted: two thirds of the time of counting first where one in ten has a label. `begin` is
    room for the numbers by `near`, `item` and `place` for as many as there are items.
    """
    cdef int64_t q, i, v, m, stop, before, n_noted, n = near.shape[1]
    cdef const count_t* bits
    cdef const grade_t* labels
    cdef int64_t* count = &begin[0]
    cdef int64_t* items = &item[0]
    cdef int64_t* places = &place[0]
    with nogil:
        for q in range(near.shape[0]):
            bits, labels, i, n_noted = &near[q, 0], &label[q, 0], 0, 0
            memset(count, 0, begin.shape[0] * sizeof(int64_t))
            while i < n:
                if count_t is uint8_t and grade_t is uint8_t:
                    i = sklearn_rank_note_few(bits, labels, i, n, count, items, places, &n_noted)
                stop = min(i + PART, n)
                while i < stop:
                    v = bits[i]
                    m = count[v]
                    count[v] = m + 1
                    items[n_noted] = i  # in any case: nothing to guess
                    places[n_noted] = m
                    n_noted += labels[i] != 0
                    i += 1
            before = 0
            for v in range(begin.shape[0] - 1, -1, -1):
                m = count[v]
                count[v] = before
                before += m
            for i in range(n_noted):
                out[q, count[bits[items[i]]] + places[i]] = labels[items[i]]
