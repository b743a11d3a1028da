# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Sorting of the keys of one query, without their rows and labels.

In: keys, and memory for as many.
Out: the keys, highest first, and where each stood; equal keys keep their order.
Why: the keys above each of a few are counted, two at a time. More are dealt out to buckets over their range, which
leaves little to insert. Where keys are far from evenly spread a merge sort takes over, so that no scores are slow.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_rank._engine.kernels.common cimport BYTES_OF_1, LOW_BYTES_FIRST, count_steps
from sklearn_rank._engine.kernels.lanes cimport (
    COUNT_ABOVE, COUNT_BELOW, LANE, NO_COUNTS, SUM_OF, TWO, find_range, two_counts, two_numbers,
)

cdef enum:
    COUNTED_PAIRS = 8           # pairs of keys whose counts stay in registers
    MERGED_RUN = 16             # keys of runs that are merged first
    MOVES_PER_KEY = 8           # moves per key that insertion is given before merging takes over
    MOST_IN_BYTES = 255         # keys whose counts fit into a byte each, so that there are eight buckets a key
    MOST_KEYS = 1 << 30         # keys that can be counted, with twice as many buckets, in 32 bits

ctypedef fused count_t:
    uint8_t
    uint32_t

cdef int64_t TOO_LOW = -MOST_COUNTED * MOST_COUNTED  # less than a sum can make up for


def memory_for(int64_t longest):
    """Numbers of 8 bytes that a query of as many rows is sorted in."""
    return 8 * longest + 4


cdef work_t work_of(double* memory, int64_t longest) noexcept nogil:
    cdef work_t work
    work.key = memory
    work.chosen = work.key + longest
    work.spare_key = work.chosen + longest
    work.item = <int64_t*> (work.spare_key + longest)
    work.spare = work.item + longest
    work.place = work.spare + longest
    work.bucket = <int32_t*> (work.place + longest)
    work.count = <uint32_t*> (work.place + longest + (longest + 1) // 2)
    return work


cdef int sort(
    const double* key, int64_t n,
    double* sorted_key, int64_t* sorted_item,  # OUT
    work_t* work, int64_t* steps,
) except -1 nogil:
    """Write keys, highest first, and where each stood; equal keys keep their order."""
    cdef int64_t i, n_buckets = 8 * n if n <= MOST_IN_BYTES else 2 * n
    cdef double low, high, scale
    if n <= MOST_COUNTED:
        _sort_by_counting(key, n, sorted_key, sorted_item)
        return 0
    find_range(key, n, &low, &high)
    scale = (n_buckets - 1) / (high - low)  # 0 or infinite where keys cannot be divided
    if 0 < scale < INFINITY and n < MOST_KEYS and not _fall(key, n):
        for i in range(n):
            work.bucket[i] = <int32_t> ((high - key[i]) * scale)
        memset(work.count, 0, 8 * n)
        if n <= MOST_IN_BYTES:
            _deal_out(key, n, sorted_key, sorted_item, work.bucket, <uint8_t*> work.count, n_buckets)
        else:
            _deal_out(key, n, sorted_key, sorted_item, work.bucket, <uint32_t*> work.count, n_buckets)
    else:
        for i in range(n):
            sorted_key[i] = key[i]
            sorted_item[i] = i
    count_steps(steps, 24 * n)
    if _insertion_sort(sorted_key, sorted_item, n, MOVES_PER_KEY * n) > MOVES_PER_KEY * n:
        merge_sort(sorted_key, sorted_item, n, work.spare_key, work.spare, steps)
    return 0


cdef inline bint _fall(const double* key, int64_t n) noexcept nogil:
    """Whether no key is above the one before, as in a run that is read from a file."""
    cdef int64_t i = 1
    while i < n and key[i] <= key[i - 1]:
        i += 1
    return i >= n


cdef inline void _deal_out(
    const double* key, int64_t n,
    double* sorted_key, int64_t* sorted_item,  # OUT
    const int32_t* bucket, count_t* count, int64_t n_buckets,
) noexcept nogil:
    """Counting sort by bucket. Counts, which are 0 first, become where buckets begin.

    A product with ones adds up the eight counts of a word, where its lowest byte is the first.
    """
    cdef int64_t i, place
    cdef uint64_t word, sums, n_before = 0
    for i in range(n):
        count[bucket[i]] += 1
    if count_t is uint8_t and LOW_BYTES_FIRST:
        for i in range(n_buckets // 8):
            memcpy(&word, count + 8 * i, 8)
            sums = word * BYTES_OF_1
            word = sums - word + n_before * BYTES_OF_1
            memcpy(count + 8 * i, &word, 8)
            n_before += sums >> 56
    else:
        for i in range(n_buckets):
            word = count[i]
            count[i] = <count_t> n_before
            n_before += word
    for i in range(n):
        place = count[bucket[i]]
        count[bucket[i]] = <count_t> (place + 1)
        sorted_key[place] = key[i]
        sorted_item[place] = i


cdef int64_t _insertion_sort(double* key, int64_t* item, int64_t n, int64_t patience) noexcept nogil:
    """Sort by key, highest first; equal keys keep their order. Return the moves; given up after `patience` of them."""
    cdef int64_t i, j, moved, n_moves = 0
    cdef double s
    for i in range(1, n):
        s = key[i]
        if key[i - 1] >= s:
            continue
        moved = item[i]
        j = i
        while j > 0 and key[j - 1] < s:
            key[j] = key[j - 1]
            item[j] = item[j - 1]
            j -= 1
        key[j] = s
        item[j] = moved
        n_moves += i - j
        if n_moves > patience:
            break
    return n_moves


cdef int64_t merge_sort(
    double* key, int64_t* item, int64_t n, double* spare_key, int64_t* spare, int64_t* steps,
) except -1 nogil:
    """Sort by key, highest first; equal keys keep their order. O(n log n) whatever the keys.

    Return the number of pairs that stood in the wrong order.
    """
    cdef int64_t begin, middle, end, left, right, wrong, chosen, i, width = MERGED_RUN, n_wrong = 0
    begin = 0
    while begin < n:
        n_wrong += _insertion_sort(key + begin, item + begin, min(MERGED_RUN, n - begin), MERGED_RUN * MERGED_RUN)
        begin += MERGED_RUN
    while width < n:
        count_steps(steps, 4 * n)
        begin = 0
        while begin + width < n:
            middle = begin + width
            end = min(middle + width, n)
            if key[middle - 1] < key[middle]:
                for i in range(begin, middle):
                    spare_key[i - begin] = key[i]
                    spare[i - begin] = item[i]
                left = 0
                right = middle
                i = begin
                while left < width and right < end:  # without a branch on the keys: no processor could foresee it
                    wrong = key[right] > spare_key[left]
                    chosen = spare[left] ^ ((spare[left] ^ item[right]) & -wrong)
                    key[i] = key[right] if wrong else spare_key[left]
                    item[i] = chosen
                    n_wrong += (width - left) & -wrong
                    right += wrong
                    left += 1 - wrong
                    i += 1
                while left < width:
                    key[i] = spare_key[left]
                    item[i] = spare[left]
                    left += 1
                    i += 1
            begin += 2 * width
        width *= 2
    return n_wrong


cdef void _sort_by_counting(const double* key, int64_t n, double* sorted_key, int64_t* sorted_item) noexcept nogil:
    """The way of `sort` with up to 40 keys."""
    cdef double[COUNTED_MEMORY] x
    cdef int64_t[COUNTED_MEMORY] place
    cdef int64_t[MOST_COUNTED] n_alike
    cdef int64_t i
    memcpy(x, key, n * sizeof(double))
    if count_all(x, n, -INFINITY, place) != n * (n - 1) // 2:
        part_alike(n, place, n_alike)
    for i in range(n):
        sorted_key[place[i]] = key[i]
        sorted_item[place[i]] = i


cdef int64_t count_all(
    double* x, int64_t n, double bar,
    int64_t* place,  # OUT
) noexcept nogil:
    """Write how many rows are above each, and return their sum; it is negative if a row is below the bar, or NaN.

    Both arrays have `COUNTED_MEMORY` entries. With a number of pairs that the compiler knows, their counts stay in
    registers.
    """
    cdef int64_t i, first = 0, n_before = 0
    for i in range(n, COUNTED_MEMORY):
        x[i] = INFINITY             # above all keys
    while first < n:
        if n - first <= COUNTED_PAIRS:
            n_before += _count_above(x, n, x + first, COUNTED_PAIRS // 2, bar, place + first)
        else:
            n_before += _count_above(x, n, x + first, COUNTED_PAIRS, bar, place + first)
        first += 2 * COUNTED_PAIRS
    return n_before


cdef inline int64_t _count_above(
    const double* x, int64_t n, const double* target, int64_t n_pairs, double bar, int64_t* place
) noexcept nogil:
    """Write how many rows are above each of some pairs, which are compared with one row after the other."""
    cdef two_numbers[COUNTED_PAIRS] pair
    cdef two_counts[COUNTED_PAIRS] above
    cdef two_counts total = NO_COUNTS(), n_low = NO_COUNTS()
    cdef two_numbers row, bars = TWO(bar, bar)
    cdef int64_t i, j
    for i in range(n_pairs):
        pair[i] = TWO(target[2 * i], target[2 * i + 1])
        n_low = COUNT_BELOW(n_low, pair[i], bars)
        above[i] = NO_COUNTS()
    for j in range(n):
        row = TWO(x[j], x[j])
        for i in range(n_pairs):
            above[i] = COUNT_ABOVE(above[i], row, pair[i])
    for i in range(n_pairs):
        total = SUM_OF(total, above[i])
        place[2 * i] = LANE(above[i], 0)
        place[2 * i + 1] = LANE(above[i], 1)
    return TOO_LOW if LANE(n_low, 0) + LANE(n_low, 1) else LANE(total, 0) + LANE(total, 1)


cdef void part_alike(int64_t n, int64_t* place, int64_t* n_alike) noexcept nogil:
    """Change numbers of rows above each to places, and write to the first place of equal rows how many they are."""
    cdef int64_t i
    memset(n_alike, 0, n * sizeof(int64_t))
    for i in range(n):
        n_alike[place[i]] += 1
        place[i] += n_alike[place[i]] - 1
