# Sums of whole numbers without weights, which are exact, as of how many items are relevant; `rank.pyx` includes it.

cdef bint _sum_unweighted(const items_t* items, const lists_t* lists, int64_t q) noexcept nogil:
    """Sums down one list, of whole tie blocks and of a share of the one that a cutoff falls into.

    Return whether the values are whole numbers; nothing is written if they are not. Grades are counted, many at a time:
    0.6 of the time of a sum of each, and 0.4 of lists with ties.
    """
    cdef int64_t c, stop, end, first = lists.ptr[q], n = lists.ptr[q + 1] - first, i = first, done = first
    cdef const int64_t* ends = _ties_of(lists.tie_end, first, first + n)
    cdef double above = 0.0, share
    cdef char* at = lists.out + q * lists.of_query
    if not items.whole and not _are_items_whole(items, first, n):
        return False
    for c in range(lists.n_cutoffs):
        stop = first + min(lists.cutoffs[c], n)
        if ends == NULL or stop == first + n:
            i = stop
        share = 0.0
        while i < stop:
            end = ends[i]
            if end > stop:
                share = _sum_of(items, i, end) / (end - i) * (stop - i)
                break
            i = end
        above += _sum_of(items, done, i)
        done = i
        (<double*> at)[0] = above + share
        at += lists.of_cutoff
    return True


cdef bint _are_items_whole(const items_t* items, int64_t first, int64_t n) noexcept nogil:
    """Whether values of some items are whole numbers, and so small that their sum is exact."""
    cdef int64_t i
    cdef double x, most = 0.0
    cdef bint whole = True
    for i in range(first, first + n):
        x = _value_at(items, i)
        most = max(most, fabs(x))
        whole &= x == floor(x)
    return whole and most * n <= MOST_WHOLE  # NaN is not
