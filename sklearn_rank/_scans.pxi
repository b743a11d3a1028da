# Scans down ranked queries, in expectation over tied items: the other half of `_kernels.pyx`, which includes it.
#
# Every array is flat over positions; query q owns `ptr[q]:ptr[q+1]`.

def cumsum(
    const double[::1] value, const double[::1] weight, const int64_t[::1] ptr, const int64_t[::1] cutoffs,
    const int64_t[::1] tie_end, double[:, ::1] out,
):
    """Sum value * weight of each query down to each cutoff (ascending); tied items share their mean value.

    A `value` or `weight` of length 1 is that of all.
    """
    cdef int64_t q, c, i, j, stop, block_stop, v = value.shape[0] > 1, w = weight.shape[0] > 1
    cdef double total, mean = 0.0
    cdef bint tied = tie_end is not None
    with nogil:
        for q in range(ptr.shape[0] - 1):
            total = 0.0
            i = ptr[q]
            block_stop = i
            for c in range(cutoffs.shape[0]):
                stop = ptr[q + 1]
                if cutoffs[c] < stop - ptr[q]:
                    stop = ptr[q] + cutoffs[c]
                if tied:
                    while i < stop:
                        if i == block_stop:
                            block_stop = tie_end[i]
                            mean = 0.0
                            for j in range(i, block_stop):
                                mean += value[v * j]
                            mean /= block_stop - i
                        total += mean * weight[w * i]
                        i += 1
                else:
                    while i < stop:
                        total += value[v * i] * weight[w * i]
                        i += 1
                out[q, c] = total


def joint(
    const double[::1] x, const double[::1] y, const double[:] most, const int64_t[::1] ptr,
    const int64_t[::1] tie_end, double[::1] out,
):
    """Expected x_i * min(y_1 + ... + y_i, most) at each position, over all orders of tied items.

    With `most`, a whole number for each query, x and y are 0 or 1, and never both 1.
    """
    cdef int64_t q, i, j, stop
    cdef double before, m, sum_x, sum_y, sum_xy, level, slope, limit = INFINITY
    cdef bint tied = tie_end is not None
    with nogil:
        for q in range(ptr.shape[0] - 1):
            before = 0.0
            if most is not None:
                limit = most[q]
            i = ptr[q]
            while i < ptr[q + 1]:
                stop = tie_end[i] if tied else i + 1
                if stop == i + 1:
                    before += y[i]
                    out[i] = x[i] * min(before, limit)
                    i = stop
                    continue
                sum_x = sum_y = sum_xy = 0.0
                for j in range(i, stop):
                    sum_x += x[j]
                    sum_y += y[j]
                    sum_xy += x[j] * y[j]
                m = stop - i
                if sum_x > 0 and before + sum_y > limit:
                    _joint_block(stop - i, sum_x / m, sum_y, before, limit, &out[i])
                    before += sum_y
                    i = stop
                    continue
                level = (sum_x * before + sum_xy) / m
                slope = (sum_x * sum_y - sum_xy) / (m * (m - 1))
                for j in range(i, stop):
                    out[j] = level + slope * (j - i)
                before += sum_y
                i = stop


cdef void _joint_block(
    int64_t m, double x, double n_y, double before, double limit, double* out,
) noexcept nogil:
    """One block of m tied items, a share x of them x and n_y others y, in which the sum of y may reach its limit.

    Of the y in the block, C stand above a given x at offset i; C is hypergeometric among the m - 1 others. Going on to
    the next offset adds one to min(C, room) if a y comes next and fewer than `room` have come: n_y / (m - 1) times
    the probability that of i of the other m - 2 items fewer than `room` are y, out of n_y - 1.
    """
    cdef int64_t i, others = m - 2
    cdef double room = limit - before, top = room - 1, y = n_y - 1
    cdef double counted = min(before, limit), fewer = 1.0, log_top = 0.0  # log of P(exactly room - 1)
    for i in range(m):
        out[i] = x * counted
        if room <= 0:
            continue
        counted += n_y / (m - 1) * fewer
        if i < top:
            log_top += log((y - i) / (others - i))
        elif i < others and i - top <= others - y:
            fewer -= exp(log_top) * (y - top) / (others - i)
            log_top += log((i + 1) / (i + 1 - top) * (others - y - (i - top)) / (others - i))


def cascade(
    const double[::1] p, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t depth,
    double[::1] work, double[::1] out,
):
    """Probability to stop at each position, if a user stops at an item with probability p, else goes on.

    Positions past `depth` may be left at 0 inside a tie block: nobody reads them. `work` has room for three tie blocks
    and three more.
    """
    cdef int64_t q, i, stop, steps = 0
    cdef double survive
    cdef bint tied = tie_end is not None
    with nogil:
        for q in range(ptr.shape[0] - 1):
            survive = 1.0
            i = ptr[q]
            while i < ptr[q + 1]:
                stop = tie_end[i] if tied else i + 1
                if stop == i + 1:
                    out[i] = survive * p[i]
                    survive *= 1.0 - p[i]
                else:
                    survive = _cascade_block(&p[i], stop - i, ptr[q] + depth - i, survive, &work[0], &out[i], &steps)
                i = stop


cdef double _cascade_block(
    const double* p, int64_t m, int64_t depth, double survive, double* work, double* out, int64_t* steps,
) except -1 nogil:
    """One block of m tied items: S_j = e_j(1 - p) / C(m, j) survives its first j positions on average.

    Down to `depth` positions are wanted, and fewer matter: S_j <= mean(1 - p)^j (Maclaurin's inequality).
    """
    cdef int64_t t, j, top, n_groups, n_items = 0
    cdef double x, mean = 0.0, through = 1.0, last = m
    cdef double[GROUPS] go_on
    cdef int64_t[GROUPS] count
    cdef double* s = work
    cdef double* mixed = work + (m + 1)
    for t in range(m):
        x = 1.0 - p[t]
        mean += x / m
        through *= x
    for j in range(m):
        out[j] = 0.0
    if survive == 0.0:
        return 0.0
    if 0.0 < mean < 1.0:
        last = min(last, ceil(log(NEGLIGIBLE) / log(mean)))
    top = max(min(depth, <int64_t> last), 1)
    s[0] = 1.0
    n_groups = _group_stops(p, m, go_on, count) if m > FEW else 0
    for t in range(n_groups):
        _mix(s, n_items, go_on[t], count[t], top, work + 2 * (m + 1), mixed, steps)
        s, mixed = mixed, s
        n_items += count[t]
    if n_groups == 0:
        for j in range(1, top + 1):
            s[j] = 0.0
        for t in range(1, m + 1):
            _count_steps(steps, min(t, top))
            x = 1.0 - p[t - 1]
            for j in range(min(t, top), 0, -1):
                s[j] = ((t - j) * s[j] + j * x * s[j - 1]) / t
    for j in range(top):
        out[j] = survive * (s[j] - s[j + 1])
    return survive * through


cdef int64_t _group_stops(const double* p, int64_t m, double* go_on, int64_t* count) noexcept nogil:
    """Find the distinct values of 1 - p, lowest first, and how often each occurs; 0 if there are too many."""
    cdef int64_t t, g, n = 0
    cdef double x
    for t in range(m):
        x = 1.0 - p[t]
        g = 0
        while g < n and go_on[g] != x:
            g += 1
        if g == n:
            if n == GROUPS:
                return 0
            while g > 0 and go_on[g - 1] > x:
                go_on[g] = go_on[g - 1]
                count[g] = count[g - 1]
                g -= 1
            go_on[g] = x
            count[g] = 0
            n += 1
        count[g] += 1
    return n


cdef int _mix(
    const double* s, int64_t a, double x, int64_t b, int64_t top, double* share, double* mixed, int64_t* steps,
) except -1 nogil:
    """Survival of the first j of a + b items in random order, from that of the first i of the a, s_i, and x of each b.

    `share[i]` is the probability that i of the first j are of the a, times x for each of the others. It has one peak
    over i, so what lies beyond a negligible value on either side of it is left out.
    """
    cdef int64_t i, j, low = 0, high = 0, n = min(top, a + b)
    cdef double left, others, survive
    share[0] = mixed[0] = 1.0
    for j in range(1, n + 1):
        _count_steps(steps, high - low + 1)
        left = a + b - j + 1  # items, each as likely to be the next
        if high < min(a, top):
            high += 1
            share[high] = 0.0
        survive = 0.0
        for i in range(high, low, -1):
            others = x * (b - (j - 1 - i))
            share[i] = (share[i] * others + share[i - 1] * (a - i + 1)) / left
            survive += share[i] * s[i]
        share[low] *= x * ((b - (j - 1 - low)) / left)
        survive += share[low] * s[low]
        mixed[j] = survive
        if survive < NEGLIGIBLE:
            break
        while high > low and share[high] < LOST:
            high -= 1
        while low < high and share[low] < LOST:
            low += 1
    for i in range(j + 1, n + 1):
        mixed[i] = 0.0
    return 0


def overlap(
    const double[::1] label, const double[::1] best, const int64_t[::1] ptr, const int64_t[::1] best_ptr,
    const int64_t[::1] tie_end, int64_t[:, ::1] count, double[::1] out,
):
    """Expected number of items down to each position that the best order has down to it too.

    `best` holds the labels of all judged items, highest first; orders of tied items, and of equal labels in the best
    order, are independent and equally likely. `count` is room to count labels in, by where they begin in `best`.
    """
    cdef int64_t q, i, j, b, d, stop, start, end, n_best, steps = 0
    cdef double above, equal, block_above, block_equal, share
    cdef bint tied = tie_end is not None
    with nogil:
        for q in range(ptr.shape[0] - 1):
            n_best = best_ptr[q + 1] - best_ptr[q]
            for j in range(n_best):
                count[0, j] = count[1, j] = 0
            above = equal = 0.0  # items above the tie block here whose label is above that of `best` here, or equal
            start = end = 0
            i = ptr[q]
            while i < ptr[q + 1]:
                stop = tie_end[i] if tied else i + 1
                block_above = block_equal = 0.0  # the same for items of the block
                for j in range(i, stop):
                    _count_steps(&steps, 64)  # a search, twice
                    b = _begins(&best[best_ptr[q]], n_best, label[j])
                    count[1, b] += 1
                    block_above += b < start
                    block_equal += b == start and end > start
                for j in range(i, stop):
                    d = j - ptr[q]
                    if d == end:  # `best` goes on to its next label
                        above += equal
                        block_above += block_equal
                        start = end
                        while end < n_best and best[best_ptr[q] + end] == best[best_ptr[q] + start]:
                            end += 1
                        equal = count[0, start]
                        block_equal = count[1, start]
                    share = <double> (d - start + 1) / (end - start)
                    out[j] = above + share * equal
                    out[j] += (j - i + 1) * (block_above + share * block_equal) / (stop - i)
                for j in range(i, stop):
                    b = _begins(&best[best_ptr[q]], n_best, label[j])
                    count[0, b] += 1
                    count[1, b] -= 1
                above += block_above
                equal += block_equal
                i = stop


cdef int64_t _begins(const double* best, int64_t n, double label) noexcept nogil:
    """First place of a label in a falling sequence that holds it."""
    cdef int64_t low = 0, high = n, middle
    while low < high:
        middle = (low + high) // 2
        if best[middle] > label:
            low = middle + 1
        else:
            high = middle
    return low
