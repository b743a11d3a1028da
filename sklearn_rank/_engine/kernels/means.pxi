# Sums of means down to each relevant item, as MAP and WAP are, of labels kept as bytes; `rank.pyx` includes it.

cdef enum:
    CHUNK = 128                 # positions whose sums are kept on the stack

cdef struct mean_t:
    double total, before        # the sum so far, and the values above the block, with it where there are no ties
    int64_t block_start, block_stop
    double level, slope         # expectation of relevant * values down to it: at the start of the block, and its rise


def means_of_grades(
    const uint8_t[::1] grade, const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr,
    const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, ::1] out,
):
    """Sum the mean value down to each relevant item, down to each cutoff; both are looked up by grade.

    Tied items count in expectation, as in `joint`. Values are whole numbers, so that their sums are exact. It takes a
    third of the time of `relevant`, `joint` and `cumsum`, as no array is made, and only relevant items are divided for.
    """
    cdef int64_t q, c, i, stop
    cdef mean_t run
    with nogil:
        for q in range(ptr.shape[0] - 1):
            run.total = run.before = 0.0
            i = run.block_stop = ptr[q]
            for c in range(cutoffs.shape[0]):
                stop = ptr[q + 1]
                if cutoffs[c] < stop - ptr[q]:
                    stop = ptr[q] + cutoffs[c]
                if tie_end is None:
                    while i < stop:
                        i = _add_untied(&grade[0], &relevant[0], &value[0], ptr[q], i, min(stop, i + CHUNK), &run)
                else:
                    while i < stop:
                        if i == run.block_stop:
                            _start_ties(&grade[0], &relevant[0], &value[0], i, tie_end[i], &run)
                        run.total += (run.level + run.slope * (i - run.block_start)) / (i - ptr[q] + 1)
                        i += 1
                out[q, c] = run.total


cdef inline int64_t _add_untied(
    const uint8_t* grade, const double* relevant, const double* value, int64_t first, int64_t start, int64_t stop,
    mean_t* run,
) noexcept nogil:
    """Add the means of the relevant items from `start` up to `stop`; these are found first, without a branch."""
    cdef double[CHUNK] sum_down_to
    cdef int64_t[CHUNK] rank
    cdef int64_t i, n = 0
    for i in range(start, stop):
        run.before += value[grade[i]]
        sum_down_to[n] = run.before
        rank[n] = i - first + 1
        n += relevant[grade[i]] != 0.0
    for i in range(n):
        run.total += sum_down_to[i] / rank[i]
    return stop


cdef inline void _start_ties(
    const uint8_t* grade, const double* relevant, const double* value, int64_t start, int64_t stop, mean_t* run,
) noexcept nogil:
    cdef double sum_x = 0.0, sum_y = 0.0, sum_xy = 0.0, m = stop - start
    cdef int64_t i
    for i in range(start, stop):
        sum_x += relevant[grade[i]]
        sum_y += value[grade[i]]
        sum_xy += relevant[grade[i]] * value[grade[i]]
    run.block_start = start
    run.block_stop = stop
    run.level = (sum_x * run.before + sum_xy) / m if sum_x != 0.0 else 0.0
    run.slope = (sum_x * sum_y - sum_xy) / (m * (m - 1)) if m > 1 and sum_x != 0.0 else 0.0
    run.before += sum_y


def means_of_counts(
    const int64_t[:, :, ::1] count, const double[::1] relevant, const double[::1] value, const int64_t[::1] cutoffs,
    double[:, ::1] out,
):
    """The same in expectation over tied items, of which `count` says how many each block has of each grade.

    At offset j of a block the expectation is (level + slope * j) / rank, as in `joint`; what is summed in which order
    is the same too. Values are whole numbers, so that their sums are exact.
    """
    cdef int64_t q, b, g, n, m, offset, done, c, n_cutoffs = cutoffs.shape[0]
    cdef double total, before, n_relevant, sum_y, sum_xy, level, slope
    with nogil:
        for q in range(count.shape[0]):
            total = before = 0.0
            done = c = 0
            for b in range(count.shape[1]):
                m = 0
                n_relevant = sum_y = sum_xy = 0.0
                for g in range(count.shape[2]):
                    n = count[q, b, g]
                    m += n
                    n_relevant += relevant[g] * n
                    sum_y += value[g] * n
                    sum_xy += relevant[g] * value[g] * n
                level = (n_relevant * before + sum_xy) / max(m, 1)
                slope = (n_relevant * sum_y - sum_xy) / max(m * (m - 1), 1)
                before += sum_y
                offset = 0
                while offset < m and c < n_cutoffs:
                    n = min(m - offset, cutoffs[c] - done)
                    if n_relevant > 0:
                        total = _add_means(total, level, slope, offset, done, n)
                    offset += n
                    done += n
                    if done == cutoffs[c]:
                        out[q, c] = total
                        c += 1
            while c < n_cutoffs:
                out[q, c] = total
                c += 1


cdef double _add_means(
    double total, double level, double slope, int64_t offset, int64_t done, int64_t n,
) noexcept nogil:
    """Add (level + slope * offset) / rank of n positions in turn.

    A few quotients are made before they are added: with steps that are doubles already the compiler takes two at once.
    """
    cdef double[64] step, mean
    cdef double first, rank
    cdef int64_t i, start = 0, m
    for i in range(64):
        step[i] = i
    while start < n:
        m = min(64, n - start)
        first = offset + start
        rank = done + start + 1
        for i in range(m):
            mean[i] = (level + slope * (first + step[i])) / (rank + step[i])
        for i in range(m):
            total += mean[i]
        start += m
    return total
