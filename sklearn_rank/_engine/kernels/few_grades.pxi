# Lists without ties in which few grades are not 0, as of recommenders; `rank.pyx` includes it.
#
# Where grade 0 adds nothing and stops nobody, the other items are all that counts. Their terms are added as in
# `_sum_lists`, and shares of users who go on are multiplied as in `_cascade_plainly`, so that all bits are the same. Of
# lists of 100 with one that is not 0, sums take 0.4 to 0.8 of the time, and cascades with their sums 0.3 to 0.65.

cdef inline int64_t _find_few(const uint8_t* grade, int64_t n, int64_t* place) noexcept nogil:
    """Write which grades of a list are not 0, at most `FEW_LABELS`, and count them; -1 if they are, or seem, more."""
    if n > N_PLAIN or not _seem_few(grade, n):
        return -1
    return _find_few_labels(grade, n, FEW_LABELS, place)


cdef inline bint _seem_few(const uint8_t* grade, int64_t n) noexcept nogil:
    """Whether eight grades a quarter down a list are 0: they hardly are where many are not, least in the best order."""
    cdef uint64_t word
    if n < LEAST_ROWS:
        return False
    memcpy(&word, grade + n // 4, OF_WORD)
    return word == 0


cdef inline int64_t _end_of_many(const items_t* items, const lists_t* lists, int64_t q) noexcept nogil:
    """The next list that seems to have few, or the end."""
    q += 1
    while q < lists.n and not _seem_few(items.grade + lists.ptr[q], lists.ptr[q + 1] - lists.ptr[q]):
        q += 1
    return q


cdef bint _are_finite_weights(const double* weight, int64_t n) noexcept:
    """Whether no weight makes anything else of 0."""
    cdef int64_t i
    cdef bint finite = True
    for i in range(n):
        finite &= fabs(weight[i]) <= DBL_MAX
    return finite


cdef bint _sum_few_grades(const items_t* items, const double* by_rank, const lists_t* lists, int64_t q) noexcept nogil:
    """Sums down one list, weighted by rank; return whether it has few."""
    cdef int64_t i, n, first = lists.ptr[q]
    cdef int64_t[FEW_LABELS] place
    cdef double[FEW_LABELS] term
    n = _find_few(items.grade + first, lists.ptr[q + 1] - first, place)
    if n < 0:
        return False
    n = _down_to(lists.cutoffs[lists.n_cutoffs - 1], place, n)
    for i in range(n):
        term[i] = items.value[items.grade[first + place[i]]] * by_rank[place[i]]
    _sum_few_terms(place, term, n, lists, lists.out + q * lists.of_query)
    return True


cdef bint _sum_few_of_cascade(
    const cascade_t* of, int64_t first, int64_t n, const stop_sum_t* sums, int64_t n_sums,
) noexcept nogil:
    """Sums of the probabilities to stop in one list; return whether it is not tied and has few."""
    cdef int64_t i, k, n_down
    cdef int64_t[FEW_LABELS] place
    cdef double[FEW_LABELS] stop, term
    cdef double p, survive = 1.0, within = 1.0
    if _ties_of(of.tie_end, first, first + n) != NULL:
        return False
    n = _find_few(of.items.grade + first, n, place)
    if n < 0:
        return False
    for i in range(n):
        if i > 0 and place[i] // TOGETHER != place[i - 1] // TOGETHER:
            survive *= within
            within = 1.0
        p = of.items.value[of.items.grade[first + place[i]]]
        stop[i] = survive * within * p
        within *= 1.0 - p
    for k in range(n_sums):
        n_down = _down_to(sums[k].lists.cutoffs[sums[k].lists.n_cutoffs - 1], place, n)
        for i in range(n_down):
            term[i] = stop[i] * sums[k].by_rank[place[i]] if sums[k].by_rank != NULL else stop[i]
            if sums[k].per_rank:
                term[i] /= place[i] + 1.0
        _sum_few_terms(place, term, n_down, &sums[k].lists, sums[k].lists.out)
    return True


cdef inline int64_t _down_to(int64_t cutoff, const int64_t* place, int64_t n) noexcept nogil:
    """How many places are above a cutoff, below which there need be no weight."""
    while n > 0 and place[n - 1] >= cutoff:
        n -= 1
    return n


cdef inline void _sum_few_terms(
    const int64_t* place, const double* term, int64_t n, const lists_t* lists, char* at,
) noexcept nogil:
    """Sums down to each cutoff of terms at these places."""
    cdef int64_t c, i = 0
    cdef double total = 0.0
    cdef double[N_SUMS] sums
    memset(sums, 0, sizeof(sums))
    for c in range(lists.n_cutoffs):
        while i < n and place[i] < lists.cutoffs[c]:
            if place[i] < N_FIRST:
                total += term[i]
            else:
                sums[place[i] & (N_SUMS - 1)] += term[i]
            i += 1
        (<double*> at)[0] = total + _joined(sums)
        at += lists.of_cutoff
