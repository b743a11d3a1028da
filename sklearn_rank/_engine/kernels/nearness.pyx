# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Order of long rows of numbers, each of which fits the cache only as one word per item."""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

cdef enum:
    DIGIT = 11                  # bits that items are dealt out by at a time: as many piles as the first cache has lines
    PILES = 1 << DIGIT
    PLACE = 31                  # bits for the place of an item
    FEW = 1 << 17               # items for which two digits tell most apart, else three

cdef int64_t PATIENCE = 16      # moves per item that insertion is given before the row is given up


ctypedef fused label_t:
    uint8_t
    double


def sort_labels(
    const double[:, :] near, const label_t[:, :] label, label_t[:, ::1] out, uint8_t[::1] is_sorted,
    uint8_t[::1] is_tied, int64_t[::1] order, uint64_t[:, ::1] word, int64_t[:, ::1] count,
):
    """Write the labels of each row by `near`, highest first; equal ones keep their order, and the row `is_tied`.

    Numbers become whole ones, evenly over their range, and are dealt out by their digits, the place in the lower half
    of the word: a third of the bytes, and of the time, of a sort of doubles with their places. Insertion then tells
    apart what is equal in all digits. A row whose numbers are far from evenly spread is given up: it is not
    `is_sorted`. `order` is room for the places of a row, `word` for two words each, `count` for the piles of three
    digits.
    """
    cdef int64_t q, i, n = near.shape[1]
    cdef uint64_t* words
    cdef int64_t* place = &order[0]
    cdef const label_t* labels
    cdef label_t* sorted_labels
    with nogil:
        for q in range(near.shape[0]):
            words = _deal(&near[q, 0], n, &word[0, 0], &word[1, 0], &count[0, 0])
            is_tied[q] = False
            is_sorted[q] = _tell_apart(&near[q, 0], n, words, place, &is_tied[q])
            if is_sorted[q]:
                labels, sorted_labels = &label[q, 0], &out[q, 0]
                for i in range(n):
                    sorted_labels[i] = labels[place[i]]


cdef uint64_t* _deal(const double* x, int64_t n, uint64_t* word, uint64_t* spare, int64_t* count) noexcept nogil:
    """Words that rise as x falls, the place of each item in the lowest bits; return where they are."""
    cdef int64_t i, d, n_digits = 2 if n <= FEW else 3, at, pile
    cdef double high = -INFINITY, low = INFINITY, scale
    cdef uint64_t w
    for i in range(n):
        high = max(high, x[i])
        low = min(low, x[i])
    scale = ((<int64_t> 1 << DIGIT * n_digits) - 1) / (high - low)
    if not 0 < scale < INFINITY:  # all are equal, or their range has no number
        scale = 0.0
    memset(count, 0, n_digits * PILES * sizeof(int64_t))
    for i in range(n):
        w = <uint64_t> <int64_t> ((high - x[i]) * scale) if scale > 0 else 0
        word[i] = w << PLACE | <uint64_t> i
        for d in range(n_digits):
            count[d * PILES + (w >> DIGIT * d & PILES - 1)] += 1
    for d in range(n_digits):
        at = 0
        for pile in range(PILES):
            i = count[pile]
            count[pile] = at
            at += i
        for i in range(n):
            w = word[i]
            pile = w >> PLACE + DIGIT * d & PILES - 1
            spare[count[pile]] = w
            count[pile] += 1
        word, spare = spare, word
        count += PILES
    return word


cdef bint _tell_apart(
    const double* x, int64_t n, const uint64_t* word, int64_t* order, uint8_t* is_tied,
) noexcept nogil:
    """Write the places of the items, and sort those of equal words by x; False after too many moves."""
    cdef int64_t i, j, place, moves = 0
    cdef uint64_t value, last = <uint64_t> -1, mask = (<uint64_t> 1 << PLACE) - 1
    for i in range(n):
        place = word[i] & mask
        value = word[i] >> PLACE
        j = i
        if value == last:
            while j > 0 and x[order[j - 1]] < x[place]:
                order[j] = order[j - 1]
                j -= 1
            if j > 0 and x[order[j - 1]] == x[place]:
                is_tied[0] = True
        order[j] = place
        last = value
        moves += i - j
        if moves > PATIENCE * n:
            return False
    return True
