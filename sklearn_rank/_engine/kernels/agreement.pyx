# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""How an order agrees with that by label: pairs, ranks less their mean, and what the best order has too.

In: labels, or other numbers, at the positions of lists whose tie blocks end at `tie_end`.
Out: counts of pairs of each list, or a number for each position.
Why: pairs in the wrong order are the moves of a merge sort, so that no pair is looked at, and whatever is ranked needs
that one sort.
"""
from libc.stdint cimport int64_t

from sklearn_rank._engine.kernels.common cimport count_steps
from sklearn_rank._engine.kernels.order cimport pointer_of, ties_of
from sklearn_rank._engine.kernels.sorting cimport merge_sort


cpdef int pairs(
    const double[::1] label, const int64_t[::1] ptr, const int64_t[::1] tie_end,
    double[:, :] out,  # OUT
    double[::1] key, double[::1] spare_key, int64_t[::1] item, int64_t[::1] spare,
) except -1:
    """Count the pairs of each list: in the right order, the wrong one, tied in score alone, in label alone.

    The last four are memory to sort the longest list in.
    """
    cdef int64_t q, i, m, n, wrong, equal_scores, equal_labels, equal_both, steps = 0
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    with nogil:
        for q in range(ptr.shape[0] - 1):
            n = ptr[q + 1] - ptr[q]
            ends = ties_of(all_ends, ptr[q], ptr[q + 1])
            equal_scores = equal_both = 0
            for i in range(n):
                key[i] = label[ptr[q] + i]
            i = 0
            while i < n:
                m = ends[ptr[q] + i] - ptr[q] - i if ends != NULL else 1
                merge_sort(&key[i], &item[0], m, &spare_key[0], &spare[0], &steps)
                equal_scores += m * (m - 1) // 2
                equal_both += _equal_pairs(&key[i], m)
                i += m
            wrong = merge_sort(&key[0], &item[0], n, &spare_key[0], &spare[0], &steps)
            equal_labels = _equal_pairs(&key[0], n)
            out[q, 0] = n * (n - 1) // 2 - wrong - equal_scores - equal_labels + equal_both
            out[q, 1] = wrong
            out[q, 2] = equal_scores - equal_both
            out[q, 3] = equal_labels - equal_both


cdef int64_t _equal_pairs(const double* x, int64_t n) noexcept nogil:
    """Count the pairs of equal values in sorted order."""
    cdef int64_t i, run = 0, n_equal = 0
    for i in range(1, n):
        run = run + 1 if x[i] == x[i - 1] else 0
        n_equal += run
    return n_equal


cpdef int centered_ranks(
    const double[::1] x, const int64_t[::1] ptr,
    double[::1] out,  # OUT
    double[::1] key, double[::1] spare_key, int64_t[::1] item, int64_t[::1] spare,
) except -1:
    """Rank the items of each list by x, highest first, equal ones alike, less the mean rank of the list."""
    cdef int64_t q, i, j, begin, n, steps = 0
    with nogil:
        for q in range(ptr.shape[0] - 1):
            n = ptr[q + 1] - ptr[q]
            for i in range(n):
                key[i] = x[ptr[q] + i]
                item[i] = i
            merge_sort(&key[0], &item[0], n, &spare_key[0], &spare[0], &steps)
            i = 0
            while i < n:
                begin = i
                i += 1
                while i < n and key[i] == key[begin]:
                    i += 1
                for j in range(begin, i):
                    out[ptr[q] + item[j]] = (begin + i - n) / 2.0


cpdef void centered_ranks_of_ties(
    const int64_t[::1] ptr, const int64_t[::1] tie_end,
    double[::1] out,  # OUT
) noexcept:
    """The ranks of `centered_ranks` by what the items are in the order of, ties being all that are equal."""
    cdef int64_t q, i, stop, twice
    cdef double rank
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    with nogil:
        for q in range(ptr.shape[0] - 1):
            i = ptr[q]
            twice = ptr[q] + ptr[q + 1]
            ends = ties_of(all_ends, ptr[q], ptr[q + 1])
            while i < ptr[q + 1]:
                stop = ends[i] if ends != NULL else i + 1
                rank = (i + stop - twice) / 2.0
                while i < stop:
                    out[i] = rank
                    i += 1


def overlap(
    const double[::1] label, const double[::1] best, const int64_t[::1] ptr, const int64_t[::1] best_ptr,
    const int64_t[::1] tie_end, int64_t[:, ::1] count,
    double[::1] out,  # OUT
):
    """Expected number of items down to each position that the best order has down to it too.

    `best` holds the labels of all judged items, highest first; orders of tied items, and of equal labels in the best
    order, are independent and equally likely. `count` is memory to count labels in, by where they begin in `best`.
    """
    cdef int64_t q, i, j, b, d, stop, start, end, n_best, steps = 0
    cdef double above, equal, block_above, block_equal, share
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    cdef const double* bests = &best[0] if best.shape[0] > 0 else NULL
    with nogil:
        for q in range(ptr.shape[0] - 1):
            ends = ties_of(all_ends, ptr[q], ptr[q + 1])
            n_best = best_ptr[q + 1] - best_ptr[q]
            for j in range(n_best):
                count[0, j] = count[1, j] = 0
            above = equal = 0.0  # items above the tie block here with a label above `best` here, or equal
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
