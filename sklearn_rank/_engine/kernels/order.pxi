# Selection and sorting of one query: the part of `rank.pyx`, which includes it, that knows nothing of rows and labels.
#
# Loops without a branch inside are written so that compilers use vectors: the highest number, say, is kept for several
# lanes at once, as the order of the numbers makes no difference to it.

cdef enum:
    LANES = 16                  # lanes that rows are dealt out to, or a multiple of that
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

# Room to sort the longest query in.
cdef struct room_t:
    double* key                 # once; the sorted ones
    double* chosen              # once; those to be sorted
    double* spare_key           # once; of keys that are merged, or sorted part by part
    int64_t* item               # once
    int64_t* spare              # once; the same of items
    int64_t* place              # once; of rows in the query, in their order
    int32_t* bucket             # once
    uint64_t* count             # once; of counts of fewer bytes, several stand in each


def room_for(int64_t longest):
    """Numbers of 8 bytes that make room for a query of as many rows."""
    return 8 * longest + 4


cdef room_t _divide(double* room, int64_t longest) noexcept nogil:
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


cdef bint _are_equal(const score_t* score, int64_t n) noexcept nogil:
    """Whether all scores are equal: most often each has the bytes of the one before it, else zeros have both signs."""
    cdef int64_t i = 1
    if n > 1 and score[0] == score[n - 1] and memcmp(score, score + 1, (n - 1) * sizeof(score_t)) == 0:
        return True
    while i < n and score[i] == score[0]:
        i += 1
    return i >= n


cdef bint _is_one_block(const score_t* score, int64_t n, double bar) noexcept nogil:
    """Whether a query of several rows is one tie block, which reaches the bar."""
    return n > 1 and score[0] >= bar and _are_equal(score, n)


cdef int64_t _take_in_order(
    const score_t* score, int64_t n, int64_t depth, double bar, const room_t* work,
) noexcept nogil:
    """Take the best `depth` rows, and those tied with the last, of scores that fall or rise all the way; count them.

    Scores fall in a run, and rise where they are negated distances, say. Return 0 for others, as the first 5 mostly
    tell, and where a score is below the bar. Among scores that rise none are tied.
    """
    cdef int64_t i = 0, k, n_taken = depth
    cdef bint rises = False, falls = False
    while i + 4 < n and not (rises and falls):
        for k in range(4):
            rises |= not score[i + k] >= score[i + k + 1]   # NaN, which another thread may write, does both
            falls |= not score[i + k] < score[i + k + 1]
        i += 4
    while i + 1 < n and not (rises and falls):
        rises |= not score[i] >= score[i + 1]
        falls |= not score[i] < score[i + 1]
        i += 1
    if (rises and falls) or score[0] < bar or score[n - 1] < bar:
        return 0
    while n_taken < n and score[n_taken] == score[n_taken - 1]:
        n_taken += 1
    for i in range(n_taken):
        work.place[i] = n - 1 - i if rises else i
        work.key[i] = score[work.place[i]]
    return n_taken


cdef int64_t _choose(
    const score_t* score, int64_t n, int64_t depth, double bar, double* key, int64_t* item, double* best,
) noexcept nogil:
    """Copy keys of at least `bar`, as far as they may be among the best `depth`, and where each stands; count them."""
    cdef int64_t i, n_chosen = 0, n_lanes = LANES * (1 + depth // LANES)
    cdef double value
    cdef score_t least
    if 2 * n_lanes <= n:
        bar = max(bar, _reached_by(score, n, depth, n_lanes, best))
    elif _copy(score, n, key):
        return n
    if score_t is float and bar > -INFINITY:
        bar = max(bar, -FLT_MAX)    # as a float, so that no score is widened to be compared
    least = <score_t> bar
    for i in range(n):
        item[n_chosen] = i
        n_chosen += score[i] >= least
    for i in range(n_chosen):
        value = score[item[i]]
        key[i] = value if value > bar else bar  # where another thread has written less, or NaN, which has no order
    return n_chosen


cdef inline bint _copy(const score_t* score, int64_t n, double* key) noexcept nogil:
    """Copy scores; whether all are finite, and so reach any bar: x - x of others is NaN."""
    cdef double[4] sums
    cdef int64_t i, k, n_in_lanes = n - n % 4
    for k in range(4):
        sums[k] = 0.0
    for i in range(0, n_in_lanes, 4):
        for k in range(4):
            key[i + k] = score[i + k]
            sums[k] += key[i + k] - key[i + k]
    for i in range(n_in_lanes, n):
        key[i] = score[i]
        sums[0] += key[i] - key[i]
    return sums[0] + sums[1] + sums[2] + sums[3] == 0.0


cdef double _reached_by(
    const score_t* score, int64_t n, int64_t depth, int64_t n_lanes, double* best,
) noexcept nogil:
    """A score that at least `depth` rows reach: deal rows out to lanes, and take what `depth` of their best reach.

    NaN is below all: no lane starts with it.
    """
    cdef int64_t lane, row = 0
    if n_lanes == LANES:
        _best_of_lanes(score, n, best)
    else:
        for lane in range(n_lanes):
            best[lane] = -INFINITY
        while row + n_lanes <= n:
            for lane in range(n_lanes):
                best[lane] = score[row + lane] if score[row + lane] > best[lane] else best[lane]
            row += n_lanes
    return _reached_by_best(best, n_lanes, depth)


cdef double _reached_by_best(double* x, int64_t n, int64_t depth) noexcept nogil:
    """A number that at least `depth` of x reach, and not many more; x changes its order.

    Of each pair the higher one goes to the first half. What is asked of more than this half, all of it must reach, and
    for the others the second half is halved in turn.
    """
    cdef int64_t i, n_high
    cdef double low, high, bar = INFINITY
    while depth < n:
        n_high = n - n // 2
        for i in range(n // 2):
            high = max(x[i], x[n_high + i])
            low = min(x[i], x[n_high + i])
            x[i] = high
            x[n_high + i] = low
        if depth <= n_high:
            n = n_high
        else:
            for i in range(n_high):
                bar = min(bar, x[i])
            x += n_high
            n -= n_high
            depth -= n_high
    for i in range(n):
        bar = min(bar, x[i])
    return bar


cdef void _best_of_lanes(const score_t* score, int64_t n, double* best) noexcept nogil:
    """Best of each of `LANES` lanes, which stay in registers."""
    cdef score_t[LANES] top
    cdef int64_t row = 0, lane
    for lane in range(LANES):
        top[lane] = -INFINITY
    while row + LANES <= n:
        for lane in range(LANES):
            top[lane] = score[row + lane] if score[row + lane] > top[lane] else top[lane]
        row += LANES
    for lane in range(LANES):
        best[lane] = top[lane]


cdef inline int _sort(
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
    _sort(key, n, spare_key, place, work, steps)
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
        _sort_few(key, n, sorted_key, sorted_item)
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
        _merge_sort(sorted_key, sorted_item, n, work.spare_key, work.spare, steps)
    return 0


cdef inline bint _find_buckets(const double* key, int64_t n, int64_t n_buckets, int32_t* bucket) noexcept nogil:
    """Write the bucket of each key, that of the highest being 0; return False for keys that cannot be divided.

    These are all equal, of an infinite range or one too narrow, or too many to count in 32 bits.
    """
    cdef int64_t i
    cdef double low, high, scale, crowded
    _find_range(key, n, &low, &high)
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


cdef int64_t _merge_sort(
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
