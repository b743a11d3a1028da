# Sums of means of lists in which relevant items alone add something, as MAP is; `means.pxi` includes it.
#
# A mean is a whole number over the rank, and processors divide slowly. So 1 over the rank is looked up, in two halves.
# The product with the upper half is exact. The sum of both products is rounded once, and before that it
# is off by 2**-78 of itself at most. No such quotient is as near to the middle of two doubles, only 2**-62 of itself,
# so the sum has the bits of the quotient. MAP of `mslr` takes 0.7 of the time once lists are in order.

cdef enum:
    MOST_RANKS = 255           # rows of a list, so that a byte says which place is meant, or that there is none

cdef struct halves_t:
    double high, low            # they add up to a number; the upper one has 26 digits

cdef halves_t[MOST_RANKS] ONE_OVER_RANK    # at each place, from 0 on


cdef void _list_reciprocals() noexcept:
    cdef int64_t i
    cdef double once, high
    for i in range(MOST_RANKS):
        once = 1.0 / (i + 1)
        high = SPLIT * once
        high -= high - once
        ONE_OVER_RANK[i].high = high
        ONE_OVER_RANK[i].low = (1.0 - (i + 1) * high) / (i + 1)


_list_reciprocals()


cdef inline bint _has_reciprocals(const lists_t* lists, int64_t q) noexcept nogil:
    """Whether a list has 8 to 255 items down to the deepest cutoff."""
    return OF_WORD <= min(lists.ptr[q + 1] - lists.ptr[q], lists.cutoffs[lists.n_cutoffs - 1]) <= MOST_RANKS


cdef inline void _sum_quotients(
    const uint8_t* grade, const mean_t* runs, int64_t n_runs, const lists_t* lists, int64_t q
) noexcept nogil:
    """Sums of such a list without ties, in which relevant items alone have values."""
    cdef uint8_t[MOST_RANKS + 1 + OF_WORD] place
    cdef int64_t c, k, stop, i = 0, n = min(lists.ptr[q + 1] - lists.ptr[q], lists.cutoffs[lists.n_cutoffs - 1])
    cdef double[MOST_MEANS] down_to, total
    cdef const halves_t* once
    for k in range(n_runs):
        down_to[k] = total[k] = 0.0
    place[_find_at_least(grade, n, runs[0].least, place)] = MOST_RANKS
    for c in range(lists.n_cutoffs):
        stop = min(lists.cutoffs[c], <int64_t> MOST_RANKS)
        while place[i] < stop:
            once = &ONE_OVER_RANK[place[i]]
            for k in range(n_runs):
                down_to[k] += runs[k].of_grade[grade[place[i]]]
                total[k] += down_to[k] * once.high + down_to[k] * once.low
            i += 1
        for k in range(n_runs):
            _put(&lists[k], q, c, total[k])
