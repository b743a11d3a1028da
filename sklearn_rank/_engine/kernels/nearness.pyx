# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Order of long rows of numbers, each of which fits the cache only as one word per item, and the highest of a row."""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

include "fetch.pxi"
include "pairs.pxi"

cdef enum:
    DIGIT = 11                  # bits that items are dealt out by at a time
    PILES = 1 << DIGIT
    DIGITS = 3                  # most of them
    PLACE = 31                  # bits for the place of an item
    FEW = 1 << 17               # items for which two digits tell most apart, else three
    SPARSE = 8                  # items for each one with a label, if only these are sorted
    OF_BUCKET = 8               # items of a bucket, on average
    STEPS = 8                   # comparisons per item that take no longer than a sort
    SOON = 16                   # items after which the memory that was asked for has come
    AT_ONCE = 16                # items of which most often none is among the nearest

cdef int64_t PATIENCE = 16      # moves per item that insertion is given before the row is given up


ctypedef fused label_t:
    uint8_t
    double

ctypedef fused near_t:
    float
    double

# Room to sort all items of a row in.
cdef struct room_t:
    uint64_t* word              # of each item
    uint64_t* spare             # the same
    int64_t* place              # of items, in their order
    int64_t* labelled           # those that have a label
    int32_t* count              # of items by pile, or by bucket

# The same room, where only those that have a label are to be sorted.
cdef struct labelled_t:
    const int64_t* labelled
    double* key                 # of all items, bucket by bucket
    int32_t* bucket             # of all items
    int64_t* stands             # where each of those that have a label does
    int32_t* end                # of each bucket


def room_for(int64_t n):
    """Numbers of 8 bytes that make room for a row of n items."""
    return 4 * n + max(DIGITS * PILES, n // OF_BUCKET + 1)


cdef room_t _divide(uint64_t* room, int64_t n) noexcept nogil:
    cdef room_t work
    work.word = room
    work.spare = room + n
    work.place = <int64_t*> work.spare + n
    work.labelled = work.place + n
    work.count = <int32_t*> (work.labelled + n)
    return work


cdef labelled_t _room_of_labelled(const room_t* room) noexcept nogil:
    cdef labelled_t rows
    rows.labelled = room.labelled
    rows.key = <double*> room.word
    rows.bucket = <int32_t*> room.spare
    rows.stands = room.place
    rows.end = room.count
    return rows


def sort_labels(
    const double[:, :] near, const label_t[:, :] label, label_t[:, ::1] out, uint8_t[::1] is_sorted,
    uint8_t[::1] is_tied, uint64_t[::1] room,
):
    """Write the labels of each row by `near`, highest first; equal ones keep their order, and the row `is_tied`.

    Ties among labels of 0 alone make no difference, and may not be seen. A row whose numbers are far from evenly spread
    is given up: it is not `is_sorted`. `room` is that of `room_for`.
    """
    cdef int64_t q, i, m, n = near.shape[1]
    cdef const uint64_t* words
    cdef const label_t* labels
    cdef label_t* sorted_labels
    cdef room_t work = _divide(&room[0], n)
    cdef labelled_t rows = _room_of_labelled(&work)
    with nogil:
        for q in range(near.shape[0]):
            labels, sorted_labels = &label[q, 0], &out[q, 0]
            is_tied[q], is_sorted[q] = False, True
            m = 0
            for i in range(n):
                work.labelled[m] = i
                m += labels[i] != 0
            if SPARSE * m <= n and (m == 0 or _find_where_they_stand(&near[q, 0], n, m, &rows)):
                memset(sorted_labels, 0, n * sizeof(label_t))
                for i in range(m):
                    sorted_labels[rows.stands[i]] = labels[rows.labelled[i]]
                continue
            words = _deal(&near[q, 0], n, work.word, work.spare, work.count)
            is_sorted[q] = _tell_apart(&near[q, 0], n, words, work.place, &is_tied[q])
            if is_sorted[q]:
                for i in range(n):
                    sorted_labels[i] = labels[work.place[i]]


cdef bint _find_where_they_stand(const double* x, int64_t n, int64_t m, const labelled_t* rows) noexcept nogil:
    """Find where m of the items stand when x falls; False if one of them is tied, or it would take long.

    The others are not sorted: each of the m is compared with the items of its bucket. That takes 0.85 of the
    time of a sort of all where one in ten has a label, and 0.65 where one in a hundred has.
    """
    cdef int64_t i, j, start, stop, n_above, n_steps = 0, n_buckets = n // OF_BUCKET + 1
    cdef int32_t at = 0, size
    cdef double low, high, scale
    _find_range(x, n, &low, &high)
    scale = (n_buckets - 1) / (high - low)
    if not 0 < scale < INFINITY:
        return False
    memset(rows.end, 0, n_buckets * sizeof(int32_t))
    for i in range(n):
        rows.bucket[i] = <int32_t> ((high - x[i]) * scale)
    for i in range(n):
        rows.end[rows.bucket[i]] += 1
    for i in range(n_buckets):
        size = rows.end[i]
        rows.end[i] = at
        at += size
    for i in range(n):
        at = rows.end[rows.bucket[i]]
        rows.end[rows.bucket[i]] = at + 1
        rows.key[at] = x[i]
    for j in range(m):
        i = rows.bucket[rows.labelled[j]]
        rows.stands[j] = rows.end[i - 1] if i > 0 else 0  # or further down, as there may be higher ones
        n_steps += rows.end[i] - rows.stands[j]
    if n_steps > STEPS * n:
        return False
    for j in range(m):
        if j + SOON < m:
            PREFETCH(<uintptr_t> (rows.key + rows.stands[j + SOON]))
        i = rows.labelled[j]
        start, stop = rows.stands[j], rows.end[rows.bucket[i]]
        if not _count_beside(rows.key + start, stop - start, x[i], &n_above):
            return False
        rows.stands[j] += n_above
    return True


cdef uint64_t* _deal(const double* x, int64_t n, uint64_t* word, uint64_t* spare, int32_t* count) noexcept nogil:
    """Words that rise as x falls, the place of each item in the lowest bits; return where they are.

    Numbers become whole ones, evenly over their range, and are dealt out by their digits, the place in the lower half
    of the word: a third of the bytes, and of the time, of a sort of doubles with their places.
    """
    cdef int64_t i, d, pile, n_digits = 2 if n <= FEW else DIGITS
    cdef int32_t at, place
    cdef double high, low, scale
    cdef uint64_t w
    _find_range(x, n, &low, &high)
    scale = ((<int64_t> 1 << DIGIT * n_digits) - 1) / (high - low)
    if not 0 < scale < INFINITY:  # all are equal, or their range has no number
        scale = 0.0
    memset(count, 0, n_digits * PILES * sizeof(int32_t))
    for i in range(n):
        w = <uint64_t> <int64_t> ((high - x[i]) * scale) if scale > 0 else 0
        word[i] = w << PLACE | <uint64_t> i
        for d in range(n_digits):
            count[d * PILES + (w >> DIGIT * d & PILES - 1)] += 1
    for d in range(n_digits):
        at = 0
        for pile in range(PILES):
            place = count[pile]
            count[pile] = at
            at += place
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
    """Write the places of the items, and sort those of equal words by x: by insertion; False after too many moves."""
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
