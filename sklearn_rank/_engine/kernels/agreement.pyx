# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""How an order agrees with that by label: pairs, ranks less their mean, and how much of the best order is above.

In: labels or grades at the positions of lists with ties. Out: counts of pairs of each query, or a number for each
position. Labels that are grades need no sort.
"""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from sklearn_rank._engine.kernels.common cimport N_GRADES, count_steps
from sklearn_rank._engine.kernels.order cimport pointer_of, ties_of
from sklearn_rank._engine.kernels.sorting cimport merge_sort

cdef int64_t[N_GRADES][N_GRADES] IS_BELOW  # whether the second grade is below the first
for one_grade in range(N_GRADES):
    for other_grade in range(N_GRADES):
        IS_BELOW[one_grade][other_grade] = other_grade < one_grade


cpdef int pairs(
    const double[::1] label, const int64_t[::1] ptr, const int64_t[::1] tie_end, double[:, :] out,
    double[::1] key, double[::1] spare_key, int64_t[::1] item, int64_t[::1] spare,
) except -1:
    """Count the pairs of each query: in the right order, the wrong one, tied in score alone, in label alone."""
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


cpdef int centred_ranks(
    const double[::1] x, const int64_t[::1] ptr, double[::1] out,
    double[::1] key, double[::1] spare_key, int64_t[::1] item, int64_t[::1] spare,
) except -1:
    """Rank the items of each query by x, highest first, equal ones alike, less the mean rank of the query."""
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


cpdef void pairs_of_grades(
    const uint8_t[::1] grade, const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t highest, double[:, ::1] out
) noexcept:
    """The pairs of `pairs`, of labels that are grades of at most `highest`.

    Of each grade it is kept how many items so far have a higher one: a ninth of the time of 100 rows, a sixth if tied.
    """
    cdef int64_t q, i, j, g, m, n, stop, start, right, equal_scores, equal_labels, equal_both
    cdef int64_t[N_GRADES + 4] n_above  # counted four at a time
    cdef int64_t[N_GRADES] of_block
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    memset(of_block, 0, sizeof(of_block))
    with nogil:
        for q in range(ptr.shape[0] - 1):
            start, n = ptr[q], ptr[q + 1] - ptr[q]
            ends = ties_of(all_ends, start, start + n)
            memset(n_above, 0, (highest + 4) * sizeof(int64_t))
            right = equal_scores = equal_labels = equal_both = 0
            i = start
            while i < start + n:
                stop = ends[i] if ends != NULL else i + 1
                if stop == i + 1:
                    right += n_above[grade[i]]
                    _count_below(grade[i], highest, n_above)
                    i = stop
                    continue
                m = stop - i
                equal_scores += m * (m - 1) // 2
                for j in range(i, stop):
                    right += n_above[grade[j]]
                    equal_both += of_block[grade[j]]
                    of_block[grade[j]] += 1
                for j in range(i, stop):
                    of_block[grade[j]] = 0
                    _count_below(grade[j], highest, n_above)
                i = stop
            m = n
            for g in range(highest + 1):  # as many have it as are not above it, and above the next one
                equal_labels += (m - n_above[g]) * (m - n_above[g] - 1) // 2
                m = n_above[g]
            out[0, q] = right
            out[1, q] = n * (n - 1) // 2 - right - equal_scores - equal_labels + equal_both
            out[2, q] = equal_scores - equal_both
            out[3, q] = equal_labels - equal_both


cdef inline void _count_below(uint8_t grade, int64_t highest, int64_t* n_above) noexcept nogil:
    """One more above each grade below: four at a time, without a branch that nobody could foresee."""
    cdef int64_t g
    cdef const int64_t* is_below = IS_BELOW[grade]
    for g in range(0, highest, 4):
        n_above[g] += is_below[g]
        n_above[g + 1] += is_below[g + 1]
        n_above[g + 2] += is_below[g + 2]
        n_above[g + 3] += is_below[g + 3]


cpdef void centred_ranks_of_grades(
    const uint8_t[::1] grade, const int64_t[::1] ptr, int64_t highest, double[::1] out
) noexcept:
    """The ranks of `centred_ranks`, by labels that are grades of at most `highest`."""
    cdef int64_t q, i, g, begin
    cdef int64_t[N_GRADES] count
    cdef double[N_GRADES] rank
    with nogil:
        for q in range(ptr.shape[0] - 1):
            memset(count, 0, (highest + 1) * sizeof(int64_t))
            for i in range(ptr[q], ptr[q + 1]):
                count[grade[i]] += 1
            begin = ptr[q] - ptr[q + 1]  # twice the number above, less all
            for g in range(highest, -1, -1):
                rank[g] = (begin + count[g]) / 2.0
                begin += 2 * count[g]
            for i in range(ptr[q], ptr[q + 1]):
                out[i] = rank[grade[i]]


cpdef void centred_ranks_of_ties(const int64_t[::1] ptr, const int64_t[::1] tie_end, double[::1] out) noexcept:
    """The ranks of `centred_ranks` by what the items are in the order of, ties being all that are equal."""
    cdef int64_t q, i, stop, twice
    cdef double rank
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    with nogil:
        for q in range(ptr.shape[0] - 1):
            i = ptr[q]
            twice = ptr[q] + ptr[q + 1]
            ends = ties_of(all_ends, ptr[q], ptr[q + 1])
            if ends == NULL:
                for i in range(ptr[q], ptr[q + 1]):
                    out[i] = (2 * i + 1 - twice) / 2.0
                continue
            while i < ptr[q + 1]:
                stop = ends[i]
                rank = (i + stop - twice) / 2.0
                while i < stop:
                    out[i] = rank
                    i += 1


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
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    cdef const double* bests = &best[0] if best.shape[0] > 0 else NULL
    with nogil:
        for q in range(ptr.shape[0] - 1):
            ends = ties_of(all_ends, ptr[q], ptr[q + 1])
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
