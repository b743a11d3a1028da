# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Order of long rows of numbers, each of which fits the cache only as one word per item, and the highest of a row."""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

cdef enum:
    DIGIT = 11                  # bits that items are dealt out by at a time: as many piles as the first cache has lines
    PILES = 1 << DIGIT
    PLACE = 31                  # bits for the place of an item
    FEW = 1 << 17               # items for which two digits tell most apart, else three
    AT_ONCE = 16                # items of which most often none is among the nearest

cdef int64_t PATIENCE = 16      # moves per item that insertion is given before the row is given up


ctypedef fused label_t:
    uint8_t
    double

ctypedef fused near_t:
    float
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


def from_products(near_t[:, ::1] near, const near_t[::1] of_item, const near_t[::1] of_query):
    """Replace each product by twice itself, less the number of its column, less that of its row: in one pass."""
    cdef int64_t q, i, n = near.shape[1]
    cdef near_t* x
    with nogil:
        for q in range(near.shape[0]):
            x = &near[q, 0]
            for i in range(n):
                x[i] = (2 * x[i] - of_item[i]) - of_query[q]


def widen_lanes(const near_t[:, ::1] near, near_t[:, ::1] best):
    """Deal the items of each row out to lanes, and raise the `best` of these; return whether all are finite."""
    cdef int64_t q, i, k, n_dealt, wrong = 0, n = near.shape[1], n_lanes = best.shape[1], infinite = _bits(INFINITY)
    cdef const near_t* x
    cdef near_t* top
    with nogil:
        for q in range(near.shape[0]):
            top = &best[q, 0]
            i = 0
            while i < n:
                x = &near[q, i]
                n_dealt = min(n_lanes, n - i)
                for k in range(n_dealt):
                    top[k] = x[k] if x[k] > top[k] else top[k]
                    wrong |= infinite - 1 - _bits(fabs(<double> x[k]))  # below 0 if it is not: compilers vectorize this
                i += n_dealt
    return wrong >= 0


cdef inline int64_t _bits(double x) noexcept nogil:
    cdef int64_t bits
    memcpy(&bits, &x, sizeof(bits))
    return bits


def select_near(
    const near_t[:, ::1] near, const near_t[::1] bar, int64_t start, int64_t[::1] query, int64_t[::1] item,
    near_t[::1] out,
):
    """Write query, item and nearness of what reaches the bar of its row, the first item being `start`; count them."""
    cdef int64_t q, i, j, stop, reached, n_found = 0, n = near.shape[1]
    cdef const near_t* x
    with nogil:
        for q in range(near.shape[0]):
            x = &near[q, 0]
            i = 0
            while i < n:
                stop = min(n, i + AT_ONCE)
                reached = stop < i + AT_ONCE
                if not reached:
                    for j in range(AT_ONCE):
                        reached |= x[i + j] >= bar[q]
                if reached:
                    for j in range(i, stop):
                        if x[j] >= bar[q]:
                            query[n_found], item[n_found], out[n_found] = q, start + j, x[j]
                            n_found += 1
                i = stop
    return n_found
