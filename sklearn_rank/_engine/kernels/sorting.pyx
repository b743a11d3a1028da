# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Sorting of the keys of one query, which know nothing of rows and labels.

In: keys, and room for as many. Out: the keys, highest first, and where each stood; equal keys keep their order.
Up to 40 keys are counted, others dealt out to buckets. Loops without a branch inside are written so that compilers use
vectors: the highest number, say, is kept for several lanes at once, as the order of the numbers makes no difference to
it.
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_rank._engine.kernels.common cimport LOW_BYTES_FIRST, count_steps
from sklearn_rank._engine.kernels.lanes cimport (
    COUNT_ABOVE, COUNT_BELOW, LANE, NO_COUNTS, SUM_OF, TWO, find_range, two_counts, two_numbers,
)

cdef enum:
    PAIRS = 8                   # pairs of rows whose counts stay in registers
    RUN = 16                    # keys of runs that are merged first
    PATIENCE = 8                # moves per item that insertion is given before merging takes over
    MOST_KEYS = 1 << 30         # that can be counted, with twice as many buckets, in 32 bits
    MANY_KEYS = 1 << 16         # that are dealt out to parts first; fewer can be counted in 16 bits
    PART = 1 << 12              # keys of a part, on average
    MOST_PARTS = 1 << 8         # so that the first cache holds a line of each
    SOME = 32                   # keys that are enough to ask whether many are near one
    N_TAKEN = 8                 # keys that tell

cdef double NEAREST = 2.0**-40  # part of a range, around what is crowded, that is not divided by its logarithm

cdef union bits_t:              # whose order is that of numbers from 0 on
    double value
    int64_t whole

ctypedef fused count_t:
    uint8_t
    uint16_t
    uint32_t
cdef int64_t TOO_LOW = -SHORT * SHORT   # less than a sum can make up for


def room_for(int64_t longest):
    """Numbers of 8 bytes that make room for a query of as many rows."""
    return 8 * longest + 4


cdef room_t divide_room(double* room, int64_t longest) noexcept nogil:
    cdef room_t work
    work.key = room
    work.chosen = work.key + longest
    work.spare_key = work.chosen + longest
    work.item = <int64_t*> (work.spare_key + longest)
    work.spare = work.item + longest
    work.place = work.spare + longest
    work.bucket = <int32_t*> (work.place + longest)
    work.count = <uint64_t*> (work.place + longest + (longest + 1) // 2)
    return work


cdef int sort(
    double* key, int64_t n, double* sorted_key, int64_t* sorted_item, room_t* work, int64_t* steps,
) except -1 nogil:
    """Write keys, highest first, and where each stood; equal keys keep their order. `key` may be overwritten."""
    if n > SHORT and _sort_beside_ties(key, n, sorted_key, sorted_item, work, steps):
        return 0
    if n < MANY_KEYS or not _sort_in_parts(key, n, sorted_key, sorted_item, work, steps):
        _sort_part(key, n, sorted_key, sorted_item, work, steps)
    return 0


cdef int _sort_beside_ties(
    double* key, int64_t n, double* sorted_key, int64_t* sorted_item, room_t* work, int64_t* steps,
) except -1 nogil:
    """The same of keys half of which are equal, as where few documents match: those above and below them are sorted.

    Return False where it was not done, as there are fewer. Equal keys would be of one bucket, and each would wait for
    the count of the one before: two thirds of the time where nine of ten are equal.
    """
    cdef int64_t i, n_above = 0, n_equal = 0, n_below = 0
    cdef int64_t* equal = <int64_t*> work.count     # as long as the counts, which are not needed yet
    cdef double common
    if not _are_some_equal(key, n, &common):
        return False
    for i in range(n):
        if key[i] == common:
            equal[n_equal] = i
            n_equal += 1
        elif key[i] > common:
            sorted_key[n_above], sorted_item[n_above] = key[i], i
            n_above += 1
        else:
            work.spare_key[n_below], work.spare[n_below] = key[i], i
            n_below += 1
    if 2 * n_equal < n:
        return False
    for i in range(n_equal):
        sorted_key[n_above + i] = key[equal[i]]  # of zeros both signs are equal
        sorted_item[n_above + i] = equal[i]
    memcpy(sorted_key + n - n_below, work.spare_key, n_below * sizeof(double))
    memcpy(sorted_item + n - n_below, work.spare, n_below * sizeof(int64_t))
    _sort_in_place(sorted_key, sorted_item, n_above, key, work, steps)
    _sort_in_place(sorted_key + n - n_below, sorted_item + n - n_below, n_below, key, work, steps)
    return True


cdef int _sort_in_place(
    double* key, int64_t* item, int64_t n, double* spare_key, room_t* work, int64_t* steps,
) except -1 nogil:
    """Sort keys and what stands beside them, at most half as many as there is room for."""
    cdef int64_t i
    cdef int64_t* place = <int64_t*> work.count + n     # counts of as many keys take the first half of the room
    sort(key, n, spare_key, place, work, steps)
    for i in range(n):
        work.spare[i] = item[place[i]]
    memcpy(key, spare_key, n * sizeof(double))
    memcpy(item, work.spare, n * sizeof(int64_t))
    return 0


cdef inline bint _are_some_equal(const double* key, int64_t n, double* common) noexcept nogil:
    """Whether half of some keys, taken all over, are equal, and to what: the median of three of them."""
    cdef int64_t i, n_equal = 0, step = n // N_TAKEN
    cdef double a = key[0], b = key[n // 2], c = key[n - 1]
    common[0] = max(min(a, b), min(max(a, b), c))
    for i in range(N_TAKEN):
        n_equal += key[i * step] == common[0]
    return n_equal >= N_TAKEN // 2


cdef int _sort_in_parts(
    double* key, int64_t n, double* sorted_key, int64_t* sorted_item, room_t* work, int64_t* steps,
) except -1 nogil:
    """The same of many keys, in parts that the second cache holds: 0.65 to 0.85 of the time.

    Return False where it was not done, as keys cannot be divided, or most of them would be of one part.
    """
    cdef int64_t i, m, part, start = 0, n_parts = min(n // PART, <int64_t> MOST_PARTS)
    cdef uint32_t[MOST_PARTS] end
    cdef int64_t* item = <int64_t*> work.count + n // 2     # of a part, whose counts need the first half at most
    cdef room_t inner = work[0]
    if not _find_buckets(key, n, n_parts, work.bucket):
        return False
    memset(&end[0], 0, sizeof(end))
    _deal_out(key, n, work.spare_key, work.spare, work.bucket, &end[0], n_parts)
    for part in range(n_parts):
        if end[part] - start > n // 2:
            return False
        start = end[part]
    start = 0
    for part in range(n_parts):
        m = end[part] - start
        inner.spare_key, inner.spare = sorted_key + start, sorted_item + start
        _sort_part(work.spare_key + start, m, key, item, &inner, steps)
        memcpy(sorted_key + start, key, m * sizeof(double))
        for i in range(m):
            sorted_item[start + i] = work.spare[start + item[i]]
        start += m
    return True


cdef int _sort_part(
    const double* key, int64_t n, double* sorted_key, int64_t* sorted_item, room_t* work, int64_t* steps,
) except -1 nogil:
    """The same of any keys, by buckets over their range, and insertion in and between them.

    Counts of keys by bucket take 8 bytes a key: of few keys there are 8 buckets a key, which leave little to insert.
    Where insertion takes long (keys far from evenly spread), merging takes over.
    """
    cdef int64_t i, n_buckets = 2 * n
    if n <= SHORT:
        sort_few(key, n, sorted_key, sorted_item)
        return 0
    if LOW_BYTES_FIRST and n < MANY_KEYS:
        n_buckets = 8 * n if n < 1 << 8 else 4 * n
    if _find_buckets(key, n, n_buckets, work.bucket):
        memset(work.count, 0, 8 * n)
        if n_buckets == 8 * n:
            _deal_out(key, n, sorted_key, sorted_item, work.bucket, <uint8_t*> work.count, n_buckets)
        elif n_buckets == 4 * n:
            _deal_out(key, n, sorted_key, sorted_item, work.bucket, <uint16_t*> work.count, n_buckets)
        else:
            _deal_out(key, n, sorted_key, sorted_item, work.bucket, <uint32_t*> work.count, n_buckets)
    else:
        for i in range(n):
            sorted_key[i] = key[i]
            sorted_item[i] = i
    count_steps(steps, 24 * n)
    if _insertion_sort(sorted_key, sorted_item, n, PATIENCE * n) > PATIENCE * n:
        merge_sort(sorted_key, sorted_item, n, work.spare_key, work.spare, steps)
    return 0


cdef inline bint _find_buckets(const double* key, int64_t n, int64_t n_buckets, int32_t* bucket) noexcept nogil:
    """Write the bucket of each key, that of the highest being 0; return False for keys that cannot be divided.

    These are all equal, of an infinite range or one too narrow, or too many to count in 32 bits.
    """
    cdef int64_t i
    cdef double low, high, scale, crowded
    find_range(key, n, &low, &high)
    scale = (n_buckets - 1) / (high - low)
    if not (0 < scale < INFINITY and n < MOST_KEYS):
        return False
    if n >= SOME and _is_crowded(key, n, low, high, &crowded):
        _divide_by_logarithm(key, n, low, high, crowded, n_buckets, bucket)
    else:
        for i in range(n):
            bucket[i] = <int32_t> ((high - key[i]) * scale)
    return True


cdef void _divide_by_logarithm(
    const double* key, int64_t n, double low, double high, double crowded, int64_t n_buckets, int32_t* bucket,
) noexcept nogil:
    """The same where many keys are near one number, as probabilities are near 0: by the logarithm of the distance.

    The bits of a positive number are its logarithm, nearly. Lists of probabilities are sorted in half of the time.
    """
    cdef int64_t i, least, most, distance, shift = 0, n_above = n_buckets // 2, n_of_side = n_above
    cdef double once = (high - low) * NEAREST
    cdef bits_t bits
    if crowded == low or crowded == high:
        n_of_side = n_buckets - 1
        n_above = n_of_side if crowded == low else 0
    bits.value = once
    least = bits.whole
    bits.value = (high - low) + once
    most = bits.whole
    while (most - least) >> shift >= n_of_side:
        shift += 1
    for i in range(n):
        bits.value = fabs(key[i] - crowded) + once
        distance = (bits.whole - least) >> shift
        bucket[i] = <int32_t> (n_above + (-1 - distance if key[i] > crowded else distance))


cdef inline bint _is_crowded(const double* key, int64_t n, double low, double high, double* at) noexcept nogil:
    """Whether half of some keys, taken all over, are near the lowest, the highest or one between, and not equal."""
    cdef int64_t i, n_low = 0, n_high = 0, n_middle = 0, step = n // N_TAKEN
    cdef double near = (high - low) / 64, below = low + near, above = high - near, a = key[0], b = key[n // 2]
    cdef double middle = max(min(a, b), min(max(a, b), key[n - 1]))
    for i in range(N_TAKEN):
        n_low += low < key[i * step] < below
        n_high += above < key[i * step] < high
        n_middle += 0.0 < fabs(key[i * step] - middle) < near
    at[0] = low if n_low >= N_TAKEN // 2 else high if n_high >= N_TAKEN // 2 else middle
    return max(max(n_low, n_high), n_middle) >= N_TAKEN // 2


cdef void _deal_out(
    const double* key, int64_t n, double* sorted_key, int64_t* sorted_item, const int32_t* bucket, count_t* count,
    int64_t n_buckets,
) noexcept nogil:
    """Counting sort by bucket. Counts are 0 first; in the end they are where buckets end."""
    cdef int64_t i, place
    for i in range(n):
        count[bucket[i]] += 1
    _add_up(count, n_buckets)
    for i in range(n):
        place = count[bucket[i]]
        count[bucket[i]] = <count_t> (place + 1)
        sorted_key[place] = key[i]
        sorted_item[place] = i


cdef inline void _add_up(count_t* count, int64_t n_counts) noexcept nogil:
    """Replace each count by the sum of those before it.

    A product with ones adds up all counts of a word, where its lowest byte is the first: half the instructions.
    """
    cdef int64_t i, per_word = 8 // sizeof(count_t)
    cdef uint64_t word, sums, n_before = 0
    cdef uint64_t ones = 0x0101010101010101 if count_t is uint8_t else 0x0001000100010001
    if count_t is uint32_t:
        for i in range(n_counts):
            word = count[i]
            count[i] = <count_t> n_before
            n_before += word
    else:
        for i in range(n_counts // per_word):
            memcpy(&word, count + i * per_word, 8)
            sums = word * ones
            word = sums - word + n_before * ones
            memcpy(count + i * per_word, &word, 8)
            n_before += sums >> (64 - 8 * sizeof(count_t))


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
    cdef int64_t begin, middle, end, left, right, wrong, chosen, i, width = RUN, n_wrong = 0
    begin = 0
    while begin < n:
        n_wrong += _insertion_sort(key + begin, item + begin, min(RUN, n - begin), RUN * RUN)
        begin += RUN
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
                while left < width and right < end:  # without a branch that nobody could foresee
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


cdef int64_t count_all(double* x, int64_t n, double bar, int64_t* place) noexcept nogil:
    """Write how many rows are above each, and return their sum; it is negative if a row is below the bar, or NaN.

    Both arrays have room for 4 more. With a number of pairs that the compiler knows, their counts stay in registers.
    """
    cdef int64_t i, first = 0, n_left, n_before = 0
    for i in range(n, n + 4):
        x[i] = INFINITY             # which nothing is above
    while n - first > 2 * PAIRS:
        n_before += _count_above(x, n, x + first, PAIRS, bar, place + first)
        first += 2 * PAIRS
    n_left = n - first
    if n_left <= 4:
        return n_before + _count_above(x, n, x + first, 2, bar, place + first)
    if n_left <= 6:
        return n_before + _count_above(x, n, x + first, 3, bar, place + first)
    if n_left <= 8:
        return n_before + _count_above(x, n, x + first, 4, bar, place + first)
    if n_left <= 10:
        return n_before + _count_above(x, n, x + first, 5, bar, place + first)
    if n_left <= 12:
        return n_before + _count_above(x, n, x + first, 6, bar, place + first)
    if n_left <= 14:
        return n_before + _count_above(x, n, x + first, 7, bar, place + first)
    return n_before + _count_above(x, n, x + first, 8, bar, place + first)


cdef inline int64_t _count_above(
    const double* x, int64_t n, const double* those, int64_t n_pairs, double bar, int64_t* place
) noexcept nogil:
    """The same of some pairs of rows, each of which is compared with one row after the other."""
    cdef two_numbers[PAIRS] pair
    cdef two_counts[PAIRS] above
    cdef two_counts total = NO_COUNTS(), n_low = NO_COUNTS()
    cdef two_numbers one, bars = TWO(bar, bar)
    cdef int64_t i, j
    for i in range(n_pairs):
        pair[i] = TWO(those[2 * i], those[2 * i + 1])
        n_low = COUNT_BELOW(n_low, pair[i], bars)
        above[i] = NO_COUNTS()
    for j in range(n):
        one = TWO(x[j], x[j])
        for i in range(n_pairs):
            above[i] = COUNT_ABOVE(above[i], one, pair[i])
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


cdef void sort_few(const double* key, int64_t n, double* sorted_key, int64_t* sorted_item) noexcept nogil:
    """Write up to 40 keys, highest first, and where each stood; equal keys keep their order."""
    cdef double[SHORT + 4] x
    cdef int64_t[SHORT + 4] place
    cdef int64_t[SHORT] n_alike
    cdef int64_t i
    memcpy(x, key, n * sizeof(double))
    if count_all(x, n, -INFINITY, place) != n * (n - 1) // 2:
        part_alike(n, place, n_alike)
    for i in range(n):
        sorted_key[place[i]] = key[i]
        sorted_item[place[i]] = i
