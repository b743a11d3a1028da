# How much of the best order is above each position, in expectation over tied items; `rank.pyx` includes it.

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
    cdef const int64_t* all_ends = _pointer(tie_end)
    cdef const int64_t* ends
    cdef const double* bests = &best[0] if best.shape[0] > 0 else NULL
    with nogil:
        for q in range(ptr.shape[0] - 1):
            ends = _ties_of(all_ends, ptr[q], ptr[q + 1])
            n_best = best_ptr[q + 1] - best_ptr[q]
            for j in range(n_best):
                count[0, j] = count[1, j] = 0
            above = equal = 0.0  # items above the tie block here whose label is above that of `best` here, or equal
            start = end = 0
            i = ptr[q]
            while i < ptr[q + 1]:
                stop = ends[i] if ends != NULL else i + 1
                block_above = block_equal = 0.0  # the same for items of the block
                for j in range(i, stop):
                    count_steps(&steps, 64)  # a search, twice
                    b = _begins(bests + best_ptr[q], n_best, label[j])
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
                    b = _begins(bests + best_ptr[q], n_best, label[j])
                    count[0, b] += 1
                    count[1, b] -= 1
                above += block_above
                equal += block_equal
                i = stop


cdef int64_t _begins(const double* best, int64_t n, double label) noexcept nogil:
    """First place of a label in a falling sequence that holds it, else a place in it all the same."""
    cdef int64_t low = 0, high = n - 1, middle
    while low < high:
        middle = (low + high) // 2
        if best[middle] > label:
            low = middle + 1
        else:
            high = middle
    return low
