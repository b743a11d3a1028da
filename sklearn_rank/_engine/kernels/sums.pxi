# Sums down ranked queries, in expectation over tied items; `rank.pyx` includes it.
#
# An addition waits for the one before it in its sum, which takes longer than the rest of a term. So the ranks after the
# first `N_FIRST` are dealt out to `N_SUMS` sums in turn, whatever the cutoffs and ties: half the time of lists of 120.

cdef enum:
    N_FIRST = 16                # ranks of the first sum, a multiple of the number of others
    N_SUMS = 4
    TOGETHER = 4                # items of a list without ties that a joint sum or a cascade takes at once

cdef double[N_PLAIN] RANK       # 1, 2, ... as vectors load them, which cannot make them of whole numbers
for number_of_rank in range(N_PLAIN):
    RANK[number_of_rank] = number_of_rank + 1.0

cdef struct items_t:
    const double* value         # of each item; with `grade`, of each grade
    const uint8_t* grade        # NULL if values are not looked up
    int64_t step                # 0 if one value is that of all
    bint whole                  # whether values of grades are whole, and so are all sums of them
    numbers_t number            # these values


# Queries down which sums are written, each so many bytes from the one of the query, or the cutoff, before it.
cdef struct lists_t:
    const int64_t* ptr
    int64_t n
    const int64_t* tie_end      # NULL if nothing is tied
    const int64_t* cutoffs
    int64_t n_cutoffs
    char* out
    int64_t of_query, of_cutoff
    double* product             # of the weight of each of the first ranks with the value of each grade; may be NULL
    bint may_be_few             # whether grade 0 adds nothing at any rank, so that few others can be summed alone


cpdef void cumsum(
    const double[::1] value, const uint8_t[::1] grade, const double[::1] weight, const double[::1] discount,
    bint per_rank, const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
) noexcept:
    """Sum value * weight of each query down to each cutoff (ascending); tied items share their mean value.

    With `grade` the value of an item is that of its grade, so that no array of them is made. A `value` or `weight` of
    length 1 is that of all. The weight of a position is multiplied by the `discount` of its rank, if there is one, and
    divided by the rank, if it counts `per_rank`: so no array of ranks is made. Long lists are summed in pieces of
    N_PLAIN, as a small term is lost in a large sum, and equal terms are rounded the same way.
    """
    cdef int64_t i, n_ranks = min(<int64_t> N_FIRST, cutoffs[cutoffs.shape[0] - 1])
    cdef const double* by_rank = NULL
    cdef items_t items = _items(value, grade)
    if discount is not None and discount.shape[0] > 0:
        by_rank = <const double*> &discount[0]
        n_ranks = min(n_ranks, discount.shape[0])   # no list is longer
    cdef double one = 1.0
    cdef const double* weights = &weight[0] if weight.shape[0] > 0 else <const double*> &one
    cdef lists_t lists
    cdef double[N_FIRST * N_GRADES] product
    if ptr.shape[0] == 1:
        return
    lists = _lists(ptr, cutoffs, out)
    lists.tie_end = _pointer(tie_end)
    if items.grade != NULL and weight.shape[0] == 1 and weights[0] == 1.0 and not per_rank:
        if by_rank != NULL and items.value[0] == 0.0:
            lists.may_be_few = _are_finite_weights(by_rank, discount.shape[0])
        if lists.n > N_GRADES:
            lists.product = product
            for i in range(n_ranks * N_GRADES):
                product[i] = items.value[i % N_GRADES] * (by_rank[i // N_GRADES] if by_rank != NULL else 1.0)
    with nogil:
        _sum_all(&items, weights, weight.shape[0] > 1, by_rank, per_rank, &lists)


cdef lists_t _lists(const int64_t[::1] ptr, const int64_t[::1] cutoffs, double[:, :] out) noexcept:
    cdef lists_t lists
    lists.ptr, lists.n, lists.cutoffs, lists.n_cutoffs = &ptr[0], ptr.shape[0] - 1, &cutoffs[0], cutoffs.shape[0]
    lists.out, lists.of_query, lists.of_cutoff = <char*> &out[0, 0], out.strides[0], out.strides[1]
    lists.tie_end, lists.product, lists.may_be_few = NULL, NULL, False
    return lists


cdef void _sum_all(
    const items_t* items, const double* weight, int64_t w, const double* by_rank, bint per_rank, lists_t* lists,
) noexcept nogil:
    """As `cumsum`, of operands that were looked at."""
    cdef int64_t q = 0
    cdef lists_t run = lists[0]  # up to the next list that may have few grades
    cdef bint unweighted = w == 0 and by_rank == NULL and not per_rank and weight[0] == 1.0
    if items.grade == NULL and items.step == 0:  # where all have one value, that is the mean of tied ones
        lists.tie_end = run.tie_end = NULL
    if lists.may_be_few:
        run.n = 0
    while q < lists.n:
        if lists.product != NULL:
            q = _sum_few(items, by_rank, lists, q)
            if q == lists.n:
                break
        if lists.may_be_few and not _is_tied(lists, q) and _sum_few_grades(items, by_rank, lists, q):
            q += 1
            continue
        if unweighted and (items.whole or _is_tied(lists, q)) and _sum_unweighted(items, lists, q):
            q += 1
            continue
        if not _is_tied(lists, q):
            if run.n <= q:
                run.n = _end_of_many(items, lists, q)
            q = _sum_untied(items, weight, w, by_rank, per_rank, &run, q)
            continue
        if lists.ptr[q + 1] - lists.ptr[q] <= N_PLAIN:
            _sum_tied(items, weight, w, by_rank, per_rank, lists, q)
        else:
            _sum_query(items, weight, w, by_rank, per_rank, lists, q)
        q += 1


cdef void _sum_tied(
    const items_t* items, const double* weight, int64_t w, const double* by_rank, bint per_rank, const lists_t* lists,
    int64_t q,
) noexcept nogil:
    """Sums down one short list with ties: those of a list in which each item has the mean value of its block.

    Differences of sums down the list say what a block has, where they are exact, and means are written eight at a time,
    those of the next block over the last of them: 0.4 of the time, as no branch depends on what is tied.
    """
    cdef int64_t first = lists.ptr[q], n = lists.ptr[q + 1] - first
    cdef double[N_PLAIN + FEW] mean
    cdef int64_t[2] bounds = [0, n]
    cdef items_t means
    cdef lists_t list_of_means = lists[0]
    means.value, means.grade, means.step = mean, NULL, 1
    list_of_means.ptr, list_of_means.n, list_of_means.tie_end, list_of_means.product = bounds, 1, NULL, NULL
    list_of_means.may_be_few = False
    list_of_means.out += q * lists.of_query
    _find_means(items, lists.tie_end + first, first, n, min(n, lists.cutoffs[lists.n_cutoffs - 1]), mean)
    _sum_untied(&means, weight + w * first, w, by_rank, per_rank, &list_of_means, 0)


cdef inline void _find_means(
    const items_t* items, const int64_t* tie_end, int64_t first, int64_t n, int64_t depth, double* mean,
) noexcept nogil:
    """Write the mean of the tie block around each of the first `depth` positions of a short list with ties.

    `mean` has room for 8 more, or for the block that goes on below.
    """
    cdef int64_t i = 0, j, stop
    cdef double total
    cdef int64_t[N_PLAIN + 1] above
    cdef bint summed
    summed = items.whole and tie_end[0] - first < depth  # else the first block is all that counts
    if summed:
        above[0] = 0
        for i in range(n):
            above[i + 1] = above[i] + items.number.of[items.grade[first + i]]
        i = 0
    while i < depth:
        stop = tie_end[i] - first
        total = <double> (above[stop] - above[i]) if summed else _sum_of(items, first + i, first + stop)
        total /= stop - i
        for j in range(FEW):
            mean[i + j] = total
        for j in range(i + FEW, min(stop, depth)):
            mean[j] = total
        i = stop


cdef void _sum_query(
    const items_t* items, const double* weight, int64_t w, const double* by_rank, bint per_rank, const lists_t* lists,
    int64_t q,
) noexcept nogil:
    """Sums down one list, which may be long and have ties."""
    cdef int64_t c, stop, end, piece_stop, first = lists.ptr[q], n = lists.ptr[q + 1] - first
    cdef int64_t i = first, block_stop = first
    cdef double total = 0.0, term, mean = 0.0
    cdef double[N_SUMS] sums
    cdef pair_t above
    cdef const int64_t* ends = _ties_of(lists.tie_end, first, first + n)
    above.value = above.lost = 0.0
    memset(sums, 0, sizeof(sums))
    piece_stop = first + N_PLAIN
    for c in range(lists.n_cutoffs):
        while True:
            stop = min(first + min(lists.cutoffs[c], n), piece_stop)
            while i < stop:
                if i == block_stop:
                    block_stop = ends[i] if ends != NULL else i + 1
                    mean = _value_at(items, i)
                    if block_stop > i + 1:
                        mean = _sum_of(items, i, block_stop) / (block_stop - i)
                end = min(stop, block_stop)
                while i < end:
                    term = mean * _weight_at(weight[w * i], by_rank, per_rank, i - first)
                    if i - first < N_FIRST:
                        total += term
                    else:
                        sums[(i - first) & (N_SUMS - 1)] += term
                    i += 1
            if i < piece_stop:
                break
            _add(&above, total + _joined(sums))
            total = 0.0
            memset(sums, 0, sizeof(sums))
            piece_stop += N_PLAIN
        (<double*> (lists.out + q * lists.of_query + c * lists.of_cutoff))[0] = (
            above.value + (above.lost + (total + _joined(sums)))
        )


cdef int64_t _sum_untied(
    const items_t* items, const double* weight, int64_t w, const double* by_rank, bint per_rank, lists_t* lists,
    int64_t q,
) noexcept nogil:
    """As `cumsum`, up to a query with ties; return its number.

    What most formulas ask for is told to the compiler, which leaves out the rest: a half of the instructions.
    """
    cdef const double* x = items.value
    cdef const uint8_t* grade = items.grade
    cdef int64_t v = items.step
    cdef bint one = grade == NULL and v == 0, alike = False
    if w == 0:
        alike = weight[0] == 1.0
    if grade != NULL and alike and by_rank != NULL and not per_rank:
        return _sum_lists(x, 0, grade, True, weight, 0, False, by_rank, True, False, True, lists, q)
    if grade == NULL and v == 1 and alike and by_rank == NULL and not per_rank:
        return _sum_lists(x, 1, NULL, False, weight, 0, False, NULL, False, False, True, lists, q)
    if grade == NULL and v == 1 and alike and not per_rank:
        return _sum_lists(x, 1, NULL, False, weight, 0, False, by_rank, True, False, True, lists, q)
    if grade == NULL and v == 1 and w == 1 and by_rank == NULL and not per_rank:
        return _sum_lists(x, 1, NULL, False, weight, 1, True, NULL, False, False, True, lists, q)
    if one and w == 1 and by_rank == NULL and not per_rank:
        return _sum_lists(x, 0, NULL, False, weight, 1, True, NULL, False, False, True, lists, q)
    if one and w == 1 and by_rank == NULL:
        return _sum_lists(x, 0, NULL, False, weight, 1, True, NULL, False, True, True, lists, q)
    if one and w == 1 and not per_rank:
        return _sum_lists(x, 0, NULL, False, weight, 1, True, by_rank, True, False, True, lists, q)
    return _sum_lists(x, v, grade, grade != NULL, weight, w, True, by_rank, by_rank != NULL, per_rank, False, lists, q)


cdef inline int64_t _sum_lists(
    const double* x, int64_t v, const uint8_t* grade, bint by_grade, const double* weight, int64_t w, bint weighted,
    const double* by_rank, bint ranked, bint per_rank, bint known, lists_t* lists, int64_t q,
) noexcept nogil:
    """Sums of lists; which operands there are is mostly `known` where this is inlined."""
    cdef int64_t c, i, k, n, first, length, done
    cdef int64_t shortest = 1 + N_FIRST if by_grade and lists.product != NULL else 0
    cdef double total, once = x[0]
    cdef double[N_SUMS] sums
    cdef pair_t above
    cdef char* at
    cdef double* out
    cdef const double* values = x
    cdef const double* weights = weight
    cdef const double* discounts
    cdef const uint8_t* grades = grade
    while q < lists.n and shortest <= lists.ptr[q + 1] - lists.ptr[q] and not _is_tied(lists, q):
        length = lists.ptr[q + 1] - lists.ptr[q]
        if by_grade:
            grades = grade + lists.ptr[q]
        else:
            values = x + v * lists.ptr[q]
        if weighted:
            weights = weight + w * lists.ptr[q]
        discounts = by_rank
        above.value = above.lost = total = 0.0
        for k in range(N_SUMS):
            sums[k] = 0.0
        i = done = 0
        at = lists.out + q * lists.of_query
        for c in range(lists.n_cutoffs):
            out = <double*> at
            at += lists.of_cutoff
            while True:
                n = min(min(lists.cutoffs[c], length) - done, N_PLAIN)
                first = min(n, N_FIRST) if done == 0 else 0
                while i < first:
                    total += _term(
                        values, once, v, grades, by_grade, weights, w, weighted, discounts, ranked, per_rank, done, i,
                    )
                    i += 1
                while known and i < n and i & (N_SUMS - 1) != 0:
                    sums[i & (N_SUMS - 1)] += _term(
                        values, once, v, grades, by_grade, weights, w, weighted, discounts, ranked, per_rank, done, i,
                    )
                    i += 1
                while known and i + N_SUMS <= n:
                    for k in range(N_SUMS):
                        sums[k] += _term(
                            values, once, v, grades, by_grade, weights, w, weighted, discounts, ranked, per_rank, done,
                            i + k,
                        )
                    i += N_SUMS
                while i < n:
                    sums[i & (N_SUMS - 1)] += _term(
                        values, once, v, grades, by_grade, weights, w, weighted, discounts, ranked, per_rank, done, i,
                    )
                    i += 1
                if i < N_PLAIN:
                    break
                _add(&above, total + _joined(sums))
                total = 0.0
                for k in range(N_SUMS):
                    sums[k] = 0.0
                i = 0
                done += N_PLAIN
                if by_grade:
                    grades += N_PLAIN
                else:
                    values += v * N_PLAIN
                weights += w * N_PLAIN
                discounts += N_PLAIN
            out[0] = above.value + (above.lost + (total + _joined(sums)))
        q += 1
    return q


cdef int64_t _sum_few(const items_t* items, const double* by_rank, lists_t* lists, int64_t q) noexcept nogil:
    """Sums of up to 16 items, from `q` on; return the first list that has more, down to the deepest cutoff.

    What an item adds is looked up, of a known number of items in two instructions each.
    """
    cdef int64_t n, length, first, depth = lists.cutoffs[lists.n_cutoffs - 1]
    cdef bint tied
    while q < lists.n:
        first = lists.ptr[q]
        length = lists.ptr[q + 1] - first
        n = min(length, depth)
        _fetch_ties(lists.tie_end, lists.ptr, q, lists.n)
        tied = _is_tied(lists, q)
        if n > N_FIRST or (tied and length > N_PLAIN):
            break
        if tied and by_rank == NULL and _sum_unweighted(items, lists, q):
            q += 1
        elif tied and lists.tie_end[first] >= first + n:
            _sum_one_block(items, by_rank, lists, q, first, n)
            q += 1
        elif tied or lists.n_cutoffs > 1:
            _sum_few_items(items, by_rank, lists, q, first, length, n, tied)
            q += 1
        elif n == 2:
            q = _sum_alike(items.grade, lists, q, length, 2)
        elif n == 3:
            q = _sum_alike(items.grade, lists, q, length, 3)
        elif n == 4:
            q = _sum_alike(items.grade, lists, q, length, 4)
        elif n == 5:
            q = _sum_alike(items.grade, lists, q, length, 5)
        elif n == 6:
            q = _sum_alike(items.grade, lists, q, length, 6)
        elif n == 7:
            q = _sum_alike(items.grade, lists, q, length, 7)
        elif n == 8:
            q = _sum_alike(items.grade, lists, q, length, 8)
        elif n == 10:
            q = _sum_alike(items.grade, lists, q, length, 10)
        else:
            q = _sum_alike(items.grade, lists, q, length, n)
    return q


cdef inline int64_t _sum_alike(
    const uint8_t* grade, const lists_t* lists, int64_t q, int64_t length, int64_t n
) noexcept nogil:
    """Sums of lists of one length without ties, from `q` on, down to the only cutoff, where each has `n` items."""
    cdef int64_t i, start = lists.ptr[q], stop = start + length
    cdef const int64_t* tie_end = lists.tie_end
    cdef const double* product = lists.product
    cdef double total
    while True:
        total = 0.0
        for i in range(n):
            total += product[i * N_GRADES + grade[start + i]]
        (<double*> (lists.out + q * lists.of_query))[0] = total
        q += 1
        start = stop
        stop += length
        if q == lists.n or lists.ptr[q + 1] != stop or _ties_of(tie_end, start, stop) != NULL:
            return q


cdef inline void _sum_one_block(
    const items_t* items, const double* by_rank, const lists_t* lists, int64_t q, int64_t first, int64_t n,
) noexcept nogil:
    """Sums of one list whose first tie block holds all `n` items down to the deepest cutoff."""
    cdef int64_t c, i = 0, stop = lists.tie_end[first]
    cdef double total = 0.0, mean
    cdef char* at = lists.out + q * lists.of_query
    mean = _sum_of(items, first, stop) / (stop - first)
    for c in range(lists.n_cutoffs):
        while i < min(n, lists.cutoffs[c]):
            total += mean * (by_rank[i] if by_rank != NULL else 1.0)
            i += 1
        (<double*> at)[0] = total
        at += lists.of_cutoff


cdef void _sum_few_items(
    const items_t* items, const double* by_rank, const lists_t* lists, int64_t q, int64_t first, int64_t length,
    int64_t n, bint tied,
) noexcept nogil:
    """Sums of one list that is tied, or has several cutoffs, of which the deepest has `n` items."""
    cdef int64_t c, i = 0
    cdef double total = 0.0
    cdef double[N_FIRST + FEW] mean
    cdef char* at = lists.out + q * lists.of_query
    if tied:
        _find_means(items, lists.tie_end + first, first, length, n, mean)
        if by_rank != NULL:
            for i in range(n):
                mean[i] *= by_rank[i]
            i = 0
    for c in range(lists.n_cutoffs):
        while i < min(n, lists.cutoffs[c]):
            total += mean[i] if tied else lists.product[i * N_GRADES + items.grade[first + i]]
            i += 1
        (<double*> at)[0] = total
        at += lists.of_cutoff


cdef inline double _term(
    const double* x, double once, int64_t v, const uint8_t* grade, bint by_grade, const double* weight, int64_t w,
    bint weighted, const double* by_rank, bint ranked, bint per_rank, double done, int64_t i,
) noexcept nogil:
    """Value times weight; `once` is the value of all, read beforehand so that the compiler takes two at once."""
    cdef double factor = weight[w * i] if weighted else 1.0
    if ranked:
        factor *= by_rank[i]
    if per_rank:
        factor /= done + RANK[i]
    if by_grade:
        return x[grade[i]] * factor
    return (once if v == 0 else x[v * i]) * factor


cdef inline double _joined(const double* sums) noexcept nogil:
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


cdef inline bint _is_tied(const lists_t* lists, int64_t q) noexcept nogil:
    return _ties_of(lists.tie_end, lists.ptr[q], lists.ptr[q + 1]) != NULL


cdef items_t _items(const double[::1] value, const uint8_t[::1] grade) noexcept:
    """The items, whose values are looked up if there are grades."""
    cdef items_t items
    items.value = &value[0] if value.shape[0] > 0 else <const double*> RANK  # which nobody adds
    items.grade = NULL
    items.step = value.shape[0] > 1
    items.whole = False
    if grade is not None and grade.shape[0] > 0:
        items.grade = &grade[0]
        items.whole = _are_whole(items.value, grade.shape[0], &items.number)
    return items


cdef bint _are_whole(const double* value, int64_t n, numbers_t* number) noexcept:
    """Whether values of grades are whole, and so small that n of them have an exact sum; write them to `number`."""
    cdef int64_t g
    for g in range(N_GRADES):
        if not fabs(value[g]) * n <= MOST_WHOLE:  # NaN is not
            return False
        number.of[g] = <int64_t> value[g]
        if number.of[g] != value[g]:
            return False
    _find_ranges(number)
    return True


cdef inline double _value_at(const items_t* items, int64_t i) noexcept nogil:
    return items.value[items.grade[i]] if items.grade != NULL else items.value[items.step * i]


cdef inline double _sum_of(const items_t* items, int64_t start, int64_t stop) noexcept nogil:
    """Sum of some values; whole numbers are counted by grade."""
    cdef int64_t i, j
    cdef double total
    cdef pair_t above
    if items.whole:
        return _sum_numbers(items.grade + start, stop - start, &items.number)
    above.value = above.lost = 0.0
    i = start
    while i < stop:
        total = _value_at(items, i)
        for j in range(i + 1, min(i + N_PLAIN, stop)):
            total += _value_at(items, j)
        _add(&above, total)
        i += N_PLAIN
    return above.value + above.lost


cdef inline double _weight_at(double weight, const double* discount, bint per_rank, int64_t before) noexcept nogil:
    """Weight of a position with so many before it."""
    if discount != NULL:
        weight *= discount[before]
    return weight / (before + 1) if per_rank else weight
