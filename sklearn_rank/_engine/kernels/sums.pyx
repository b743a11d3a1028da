# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Sums down ranked queries, in expectation over tied items: of values, of joint values, and of means.

In: values of positions, or of grades that are looked up, and lists with ties. Out: sums of each query down to each
cutoff, or a number for each position. An addition waits for the one before it in its sum, which takes longer than the
rest of a term. So the ranks after the first `N_FIRST` are dealt out to `N_SUMS` sums in turn, whatever the cutoffs and
ties: half the time of lists of 120.
"""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, exp, fabs, floor, log, log1p
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_rank._engine.kernels.common cimport BYTES_OF_1, FEW, LOW_BYTES_FIRST, N_GRADES, OF_WORD
from sklearn_rank._engine.kernels.grades cimport find_few_labels, find_ranges, sum_numbers
from sklearn_rank._engine.kernels.order cimport fetch_ties, pointer_of, ties_of

cdef double MOST_WHOLE = 2.0**53  # doubles hold each whole number up to it

cdef enum:
    N_SUMS = 4

cdef double[N_PLAIN] RANK       # 1, 2, ... as vectors load them, which cannot make them of whole numbers
for number_of_rank in range(N_PLAIN):
    RANK[number_of_rank] = number_of_rank + 1.0

cdef enum:
    MOST_MEANS = 2              # values whose means are summed together
    CHUNK = 128                # positions whose sums are kept on the stack
    PACKED = 1 << 16            # items whose sums fit in 21 bits
    TURN = 16                   # quotients that are made before they are added
    N_HARMONIC = 1 << 10        # ranks whose harmonic numbers are kept
    N_SUMS_OF_FEW = FEW * N_GRADES  # sums of a few grades, and 0

cdef int64_t LOW = 1 << 21
cdef double MOST_CANCELLED = 16.0       # times a sum that the numbers it is the difference of may be
cdef double[TURN] STEP                  # 0, 1, ...
cdef pair_t[N_HARMONIC + 1] HARMONIC    # 0, 1, 1 + 1 / 2, ...
cdef double[N_SUMS_OF_FEW][FEW] MEAN    # of so many items, from their sum on

cdef enum:
    MOST_RANKS = 255           # rows of a list, so that a byte says which place is meant, or that there is none

cdef enum:
    LEAST_ROWS = 16             # of a list of which few grades are looked for


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
    cdef items_t items = items_of(value, grade)
    if discount is not None and discount.shape[0] > 0:
        by_rank = <const double*> &discount[0]
        n_ranks = min(n_ranks, discount.shape[0])   # no list is longer
    cdef double one = 1.0
    cdef const double* weights = &weight[0] if weight.shape[0] > 0 else <const double*> &one
    cdef lists_t lists
    cdef double[N_FIRST * N_GRADES] product
    if ptr.shape[0] == 1:
        return
    lists = lists_of(ptr, cutoffs, out)
    lists.tie_end = pointer_of(tie_end)
    if items.grade != NULL and weight.shape[0] == 1 and weights[0] == 1.0 and not per_rank:
        if by_rank != NULL and items.value[0] == 0.0:
            lists.may_be_few = _are_finite_weights(by_rank, discount.shape[0])
        if lists.n > N_GRADES:
            lists.product = product
            for i in range(n_ranks * N_GRADES):
                product[i] = items.value[i % N_GRADES] * (by_rank[i // N_GRADES] if by_rank != NULL else 1.0)
    with nogil:
        _sum_all(&items, weights, weight.shape[0] > 1, by_rank, per_rank, &lists)


cdef lists_t lists_of(const int64_t[::1] ptr, const int64_t[::1] cutoffs, double[:, :] out) noexcept:
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
            q = sum_untied(items, weight, w, by_rank, per_rank, &run, q)
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
    sum_untied(&means, weight + w * first, w, by_rank, per_rank, &list_of_means, 0)


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
    cdef const int64_t* ends = ties_of(lists.tie_end, first, first + n)
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
            add(&above, total + _joined(sums))
            total = 0.0
            memset(sums, 0, sizeof(sums))
            piece_stop += N_PLAIN
        (<double*> (lists.out + q * lists.of_query + c * lists.of_cutoff))[0] = (
            above.value + (above.lost + (total + _joined(sums)))
        )


cdef int64_t sum_untied(
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
                add(&above, total + _joined(sums))
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
        fetch_ties(lists.tie_end, lists.ptr, q, lists.n)
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
        if q == lists.n or lists.ptr[q + 1] != stop or ties_of(tie_end, start, stop) != NULL:
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
    return ties_of(lists.tie_end, lists.ptr[q], lists.ptr[q + 1]) != NULL


cdef items_t items_of(const double[::1] value, const uint8_t[::1] grade) noexcept:
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
    find_ranges(number)
    return True


cdef inline double _value_at(const items_t* items, int64_t i) noexcept nogil:
    return items.value[items.grade[i]] if items.grade != NULL else items.value[items.step * i]


cdef inline double _sum_of(const items_t* items, int64_t start, int64_t stop) noexcept nogil:
    """Sum of some values; whole numbers are counted by grade."""
    cdef int64_t i, j
    cdef double total
    cdef pair_t above
    if items.whole:
        return sum_numbers(items.grade + start, stop - start, &items.number)
    above.value = above.lost = 0.0
    i = start
    while i < stop:
        total = _value_at(items, i)
        for j in range(i + 1, min(i + N_PLAIN, stop)):
            total += _value_at(items, j)
        add(&above, total)
        i += N_PLAIN
    return above.value + above.lost


cdef inline double _weight_at(double weight, const double* discount, bint per_rank, int64_t before) noexcept nogil:
    """Weight of a position with so many before it."""
    if discount != NULL:
        weight *= discount[before]
    return weight / (before + 1) if per_rank else weight


# --- sums of whole numbers without weights, which are exact, as of how many items are relevant

cdef bint _sum_unweighted(const items_t* items, const lists_t* lists, int64_t q) noexcept nogil:
    """Sums down one list, of whole tie blocks and of a share of the one that a cutoff falls into.

    Return whether the values are whole numbers; nothing is written if they are not. Grades are counted, many at a time:
    0.6 of the time of a sum of each, and 0.4 of lists with ties.
    """
    cdef int64_t c, stop, end, first = lists.ptr[q], n = lists.ptr[q + 1] - first, i = first, done = first
    cdef const int64_t* ends = ties_of(lists.tie_end, first, first + n)
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


# --- lists without ties in which few grades are not 0, as of recommenders

cdef int64_t find_few(const uint8_t* grade, int64_t n, int64_t* place) noexcept nogil:
    """Write which grades of a list are not 0, at most `FEW_LABELS`, and count them; -1 if they are, or seem, more."""
    if n > N_PLAIN or not _seem_few(grade, n):
        return -1
    return find_few_labels(grade, n, FEW_LABELS, place)


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
    n = find_few(items.grade + first, lists.ptr[q + 1] - first, place)
    if n < 0:
        return False
    n = down_to_cutoff(lists.cutoffs[lists.n_cutoffs - 1], place, n)
    for i in range(n):
        term[i] = items.value[items.grade[first + place[i]]] * by_rank[place[i]]
    sum_few_terms(place, term, n, lists, lists.out + q * lists.of_query)
    return True


cdef int64_t down_to_cutoff(int64_t cutoff, const int64_t* place, int64_t n) noexcept nogil:
    """How many places are above a cutoff, below which there need be no weight."""
    while n > 0 and place[n - 1] >= cutoff:
        n -= 1
    return n


cdef void sum_few_terms(
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


# --- joint sums: a value of each item times the sum of another down to it

cpdef void joint(
    const double[::1] x, const uint8_t[::1] x_grade, const double[::1] y, const uint8_t[::1] y_grade,
    const double[:] most, const int64_t[::1] ptr, const int64_t[::1] tie_end, double[:, ::1] room, double[::1] out,
) noexcept:
    """Expected x_i * min(y_1 + ... + y_i, most) at each position, over all orders of tied items.

    With `x_grade` or `y_grade` values are looked up, as in `cumsum`; `room` then has two rows for the longest list. An
    `x` or `y` of length 1 is that of all. With `most`, a whole number for each query, x and y are 0 or 1, and never
    both 1.
    """
    cdef int64_t q, first, n
    cdef double limit = INFINITY
    cdef items_t of_x = items_of(x, x_grade), of_y = items_of(y, y_grade)
    cdef bint exact = of_x.whole and of_y.whole and most is None
    cdef numbers_t packed
    cdef bint are_packed = exact and of_x.grade != NULL and of_y.grade != NULL and _pack(x, y, &packed)
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    cdef const double* xs
    cdef const double* ys
    cdef double* x_room = NULL
    cdef double* y_room = NULL
    if x_grade is not None or y_grade is not None:
        x_room, y_room = &room[0, 0], &room[1, 0]
    if _most_of(x) * _most_of(y) * N_PLAIN > MOST_WHOLE:
        exact = False
    with nogil:
        for q in range(ptr.shape[0] - 1):
            first = ptr[q]
            n = ptr[q + 1] - first
            if n == 0:
                continue
            ends = ties_of(all_ends, first, first + n)
            if most is not None:
                limit = most[q]
            if ends == NULL and of_y.grade != NULL and (of_x.grade != NULL or of_x.step == 0):
                _joint_of_grades(&of_x, &of_y, first, n, limit, &out[first])
                continue
            if ends != NULL and n <= N_PLAIN and are_packed:
                _joint_of_packed(&packed, of_x.grade + first, ends + first, first, n, &out[first])
                continue
            xs = values_from(&of_x, first, n, x_room)
            ys = values_from(&of_y, first, n, y_room)
            if ends == NULL:
                _joint_plainly(xs, of_x.step, ys, of_y.step, n, limit, &out[first])
            elif exact and n <= N_PLAIN:
                _joint_of_whole(xs, ys, ends + first, first, n, &out[first])
            else:
                _joint_with_ties(xs, of_x.step, ys, of_y.step, ends, first, n, limit, &out[first])


cdef double _most_of(const double[::1] x) noexcept:
    """Largest number, without its sign."""
    cdef int64_t i
    cdef double most = 0.0
    for i in range(x.shape[0]):
        most = max(most, fabs(x[i]))
    return most


cdef void _joint_with_ties(
    const double* x, int64_t u, const double* y, int64_t v, const int64_t* tie_end, int64_t first, int64_t n,
    double limit, double* out,
) noexcept nogil:
    """A list with ties, whose first position has this number."""
    cdef int64_t i = 0, j, stop
    cdef double before = 0.0, m, sum_x, sum_y, sum_xy, level, slope
    while i < n:
        stop = tie_end[first + i] - first
        if stop == i + 1:
            stop = end_of_turn(tie_end, first + i, first + n) - first
            before += _joint_turn(x + u * i, u, y + v * i, v, stop - i, before, limit, out + i)
            i = stop
            continue
        sum_x = sum_y = sum_xy = 0.0
        for j in range(i, stop):
            sum_x += x[u * j]
            sum_y += y[v * j]
            sum_xy += x[u * j] * y[v * j]
        m = stop - i
        if sum_x > 0 and before + sum_y > limit:
            _joint_block(stop - i, sum_x / m, sum_y, before, limit, out + i)
        else:
            level = (sum_x * before + sum_xy) / m
            slope = (sum_x * sum_y - sum_xy) / (m * (m - 1))
            for j in range(i, stop):
                out[j] = level + slope * (j - i)
        before += sum_y
        i = stop


cdef bint _pack(const double[::1] x, const double[::1] y, numbers_t* packed) noexcept:
    """Pack x, y and x * y of each grade in one number; return whether those of a short list can be summed in it."""
    cdef int64_t g
    for g in range(N_GRADES):
        if not (0 <= x[g] and 0 <= y[g] and x[g] * N_PLAIN < LOW and y[g] * N_PLAIN < LOW):
            return False
        if x[g] * y[g] * N_PLAIN >= LOW:
            return False
        packed.of[g] = <int64_t> x[g] + <int64_t> y[g] * LOW + <int64_t> (x[g] * y[g]) * LOW * LOW
    return True


cdef void _joint_of_packed(
    const numbers_t* packed, const uint8_t* grade, const int64_t* tie_end, int64_t first, int64_t n, double* out,
) noexcept nogil:
    """As `_joint_of_whole`, of sums of whole numbers that no addition of doubles waits for."""
    cdef int64_t i = 0, j, stop
    cdef double level, slope
    cdef int64_t[N_PLAIN + 1] above
    cdef double[N_PLAIN + FEW] found
    above[0] = 0
    for i in range(n):
        above[i + 1] = above[i] + packed.of[grade[i]]
    i = 0
    while i < n:
        stop = tie_end[i] - first
        _find_line(above[i], above[stop], stop - i, &level, &slope)
        for j in range(FEW):
            found[i + j] = level + slope * STEP[j]
        for j in range(i + FEW, stop):
            found[j] = level + slope * (j - i)
        i = stop
    memcpy(out, found, n * sizeof(double))


cdef void _joint_of_whole(
    const double* x, const double* y, const int64_t* tie_end, int64_t first, int64_t n, double* out,
) noexcept nogil:
    """A short list with ties, of values whose sums are exact: as in `_sum_tied`."""
    cdef int64_t i = 0, j, stop
    cdef double m, sum_x, sum_y, sum_xy, level, slope
    cdef double[N_PLAIN + 1] x_above, y_above, xy_above
    cdef double[N_PLAIN + FEW] found
    x_above[0] = y_above[0] = xy_above[0] = 0.0
    for i in range(n):
        x_above[i + 1] = x_above[i] + x[i]
        y_above[i + 1] = y_above[i] + y[i]
        xy_above[i + 1] = xy_above[i] + x[i] * y[i]
    i = 0
    while i < n:
        stop = tie_end[i] - first
        m = stop - i
        sum_x = x_above[stop] - x_above[i]
        sum_y = y_above[stop] - y_above[i]
        sum_xy = xy_above[stop] - xy_above[i]
        level = (sum_x * y_above[i] + sum_xy) / m
        slope = (sum_x * sum_y - sum_xy) / max(m * (m - 1), 1.0)
        for j in range(FEW):
            found[i + j] = level + slope * j
        for j in range(i + FEW, stop):
            found[j] = level + slope * (j - i)
        i = stop
    memcpy(out, found, n * sizeof(double))


cdef void _joint_plainly(
    const double* x, int64_t u, const double* y, int64_t v, int64_t n, double limit, double* out,
) noexcept nogil:
    """A list without ties. The sum of four items is added at once, so that only each fourth addition waits."""
    cdef int64_t i = 0
    cdef double before = 0.0
    while i + TOGETHER <= n:
        if u == v == 1:
            before += _joint_turn(x + i, 1, y + i, 1, TOGETHER, before, limit, out + i)
        else:
            before += _joint_turn(x + u * i, u, y + v * i, v, TOGETHER, before, limit, out + i)
        i += TOGETHER
    _joint_turn(x + u * i, u, y + v * i, v, n - i, before, limit, out + i)


cdef void _joint_of_grades(
    const items_t* x, const items_t* y, int64_t first, int64_t n, double limit, double* out,
) noexcept nogil:
    """The same of values y that are looked up, and values x too, or one x for all.

    They are looked up where they are needed: half of the time of lists of them before.
    """
    cdef int64_t i = 0
    cdef double before = 0.0
    while i + TOGETHER <= n:
        if x.grade != NULL:
            before += _joint_turn_of_grades(x, True, y, first + i, TOGETHER, before, limit, out + i)
        else:
            before += _joint_turn_of_grades(x, False, y, first + i, TOGETHER, before, limit, out + i)
        i += TOGETHER
    _joint_turn_of_grades(x, x.grade != NULL, y, first + i, n - i, before, limit, out + i)


cdef inline double _joint_turn_of_grades(
    const items_t* x, bint x_by_grade, const items_t* y, int64_t at, int64_t n, double before, double limit,
    double* out,
) noexcept nogil:
    cdef int64_t i
    cdef double[TOGETHER] xs, ys
    for i in range(n):
        xs[i] = x.value[x.grade[at + i]] if x_by_grade else x.value[0]
        ys[i] = y.value[y.grade[at + i]]
    return _joint_turn(xs, 1, ys, 1, n, before, limit, out)


cdef inline double _joint_turn(
    const double* x, int64_t u, const double* y, int64_t v, int64_t n, double before, double limit, double* out,
) noexcept nogil:
    cdef int64_t i
    cdef double within = 0.0
    for i in range(n):
        within += y[v * i]
        out[i] = x[u * i] * min(before + within, limit)
    return within


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


# --- sums of means down to each relevant item, as MAP and WAP are

cdef struct mean_t:
    int32_t[N_GRADES] relevant, value   # by grade
    const double* of_grade              # the value
    numbers_t packed                    # both, and their product, 21 bits apart
    int64_t least                       # that of `_least_relevant`
    bint of_ones                        # whether relevant items have the value 1, as in MAP
    int64_t first, at               # first position of the query, and the next one
    int64_t tie_start, tie_stop     # of the tie block that the next position is in
    double total, before            # the sum so far, and the values above the next position or below its block
    double above_ties               # the sum above the block
    double level, slope             # expectation of relevant * values down to it: where the block starts, and its rise


cdef void _fill_tables() noexcept:
    cdef int64_t i
    cdef double once, lost
    HARMONIC[0].value = HARMONIC[0].lost = 0.0
    for i in range(TURN):
        STEP[i] = i
    for i in range(N_SUMS_OF_FEW * FEW):
        MEAN[i // FEW][i % FEW] = <double> (i // FEW) / (i % FEW + 1)
    for i in range(1, N_HARMONIC + 1):
        HARMONIC[i] = HARMONIC[i - 1]
        once = 1.0 / i
        add(&HARMONIC[i], once)
        lost = multiply(&once, i)
        HARMONIC[i].lost += ((1.0 - once) - lost) / i


_fill_tables()


cpdef void means_of_items(
    const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr, const int64_t[::1] cutoffs,
    const int64_t[::1] tie_end, double[:, :] out,
) noexcept:
    """Sum the mean value down to each relevant item, down to each cutoff, of any labels; `relevant` is 0 or 1.

    Tied items count in expectation, as in `joint`.
    """
    cdef int64_t q, c, i, stop
    cdef double sum_x, sum_y, sum_xy
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    cdef mean_t run
    run.level = run.slope = run.above_ties = run.tie_start = 0
    with nogil:
        for q in range(ptr.shape[0] - 1):
            ends = ties_of(all_ends, ptr[q], ptr[q + 1])
            run.total = run.before = 0.0
            run.first = run.at = run.tie_stop = ptr[q]
            for c in range(cutoffs.shape[0]):
                stop = ptr[q] + min(cutoffs[c], ptr[q + 1] - ptr[q])
                while run.at < stop:
                    i = run.at
                    if i < run.tie_stop:
                        _add_tied(min(stop, run.tie_stop), &run)
                    elif ends != NULL and ends[i] > i + 1:
                        sum_x = sum_y = sum_xy = 0.0
                        for i in range(run.at, ends[run.at]):
                            sum_x += relevant[i]
                            sum_y += value[i]
                            sum_xy += relevant[i] * value[i]
                        _enter_block(ends[run.at], sum_x, sum_y, sum_xy, &run)
                    else:
                        run.before += value[i]
                        run.total += relevant[i] * run.before / (i - ptr[q] + 1)
                        run.at += 1
                out[q, c] = run.total


cpdef void means_of_grades(
    const uint8_t[::1] grade, const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr,
    const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
) noexcept:
    """The same, where both are looked up by grade. Values are whole numbers up to 31, so that their sums are exact.

    It takes a third of the time, as no array is made, and only relevant items are divided for.
    """
    cdef lists_t lists
    cdef mean_t run
    if ptr.shape[0] == 1:
        return
    lists, run = lists_of(ptr, cutoffs, out), _mean_of(relevant, value)
    lists.tie_end = pointer_of(tie_end)
    with nogil:
        _sum_all_means(&grade[0] if grade.shape[0] > 0 else NULL, &relevant[0], &run, 1, &lists)


cdef void means_of_two(
    const uint8_t[::1] grade, const double[::1] relevant, const double[::1] value, const double[::1] other,
    const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
    double[:, :] out_of_other,
) noexcept:
    """The same of two values beside each other, as neither sum waits for the other: 1.1 to 1.6 times that of one."""
    cdef lists_t[MOST_MEANS] lists
    cdef mean_t[MOST_MEANS] runs
    if ptr.shape[0] == 1:
        return
    lists[0], lists[1] = lists_of(ptr, cutoffs, out), lists_of(ptr, cutoffs, out_of_other)
    runs[0], runs[1] = _mean_of(relevant, value), _mean_of(relevant, other)
    lists[0].tie_end = lists[1].tie_end = pointer_of(tie_end)
    with nogil:
        _sum_all_means(&grade[0] if grade.shape[0] > 0 else NULL, &relevant[0], runs, 2, lists)


cdef mean_t _mean_of(const double[::1] relevant, const double[::1] value) noexcept:
    cdef int64_t g
    cdef mean_t run
    run.level = run.slope = run.above_ties = run.tie_start = 0
    run.of_grade = &value[0]
    for g in range(N_GRADES):
        run.relevant[g] = <int32_t> relevant[g]
        run.value[g] = <int32_t> value[g]
        run.packed.of[g] = run.relevant[g] + run.value[g] * LOW + run.relevant[g] * run.value[g] * LOW * LOW
    find_ranges(&run.packed)
    run.least, run.of_ones = _least_relevant(&run), True
    for g in range(run.least, N_GRADES):
        run.of_ones = run.of_ones and run.value[g] == 1
    return run


cdef inline void _sum_all_means(
    const uint8_t* grade, const double* relevant, mean_t* runs, int64_t n_runs, const lists_t* lists,
) noexcept nogil:
    """Sums of one or two values; of how many the compiler knows."""
    cdef int64_t q, k, first, n
    cdef bint relevant_alone = runs[0].least > 0 and runs[n_runs - 1].least > 0  # have values
    for q in range(lists.n):
        fetch_ties(lists.tie_end, lists.ptr, q, lists.n)
        first = lists.ptr[q]
        n = lists.ptr[q + 1] - first
        if _is_tied(lists, q):
            if n <= N_PLAIN and _sum_means_of_ties(grade + first, lists.tie_end + first, n, runs, n_runs, lists, q):
                continue
        elif n <= FEW:
            _look_up_means(grade + first, relevant, n, runs, n_runs, lists, q)
            continue
        elif relevant_alone and _has_reciprocals(lists, q):
            _sum_quotients(grade + first, runs, n_runs, lists, q)
            continue
        for k in range(n_runs):
            _sum_means(grade, &lists[k], q, &runs[k])


cdef void _sum_means(const uint8_t* grade, const lists_t* lists, int64_t q, mean_t* run) noexcept nogil:
    """Sums of one list, which may be long and have ties."""
    cdef int64_t c, first = lists.ptr[q], n = lists.ptr[q + 1] - first
    cdef const int64_t* ends = ties_of(lists.tie_end, first, first + n)
    cdef char* out = lists.out + q * lists.of_query
    run.total = run.before = 0.0
    run.first = run.at = run.tie_stop = first
    for c in range(lists.n_cutoffs):
        _add_means_down_to(grade, ends, first + min(lists.cutoffs[c], n), run)
        (<double*> out)[0] = run.total
        out += lists.of_cutoff


cdef void _add_means_down_to(const uint8_t* grade, const int64_t* tie_end, int64_t stop, mean_t* run) noexcept nogil:
    """Add what the positions up to `stop` add, block by block."""
    while run.at < stop:
        if run.at < run.tie_stop:
            _add_tied(min(stop, run.tie_stop), run)
        elif tie_end != NULL and tie_end[run.at] > run.at + 1:
            _start_ties(grade, tie_end[run.at], run)
        elif stop - run.at <= FEW:
            _add_few(grade, tie_end, stop, run)
        else:
            _add_untied(grade, tie_end, min(stop, run.at + CHUNK), run)


cdef int64_t _least_relevant(const mean_t* run) noexcept nogil:
    """Grade from which on items are relevant, where others have no value; 0 if there is none.

    It is 0 too where words do not have the low bytes first.
    """
    cdef int64_t g, least = 0
    while least < N_GRADES and run.relevant[least] == 0 and run.value[least] == 0:
        least += 1
    for g in range(least, N_GRADES):
        if not (LOW_BYTES_FIRST and run.relevant[g] == 1):
            return 0
    return least


cdef inline bint _sum_means_of_ties(
    const uint8_t* grade, const int64_t* tie_end, int64_t n, const mean_t* runs, int64_t n_runs, const lists_t* lists,
    int64_t q,
) noexcept nogil:
    """Sums of a short list; return False for one with a tie block of more than `TURN` items.

    Differences of sums down the list say what a block has, and means are written eight at a time, those of the next
    block over the last of them: half of the time, as no branch depends on what is tied.
    """
    cdef int64_t c, i, j, k, stop, first = lists.ptr[q]
    cdef double m, level, slope
    cdef int64_t[(N_PLAIN + 1) * MOST_MEANS] above
    cdef double[(N_PLAIN + TURN) * MOST_MEANS] mean
    cdef double[MOST_MEANS] total
    if tie_end[0] - first > TURN:  # mostly all are tied
        return False
    for k in range(n_runs):
        above[k] = 0
        total[k] = 0.0
    for i in range(n):
        for k in range(n_runs):
            above[n_runs * (i + 1) + k] = above[n_runs * i + k] + runs[k].packed.of[grade[i]]
    i = 0
    while i < n:
        stop = tie_end[i] - first
        if stop - i > TURN:
            return False
        m = stop - i
        for k in range(n_runs):
            _find_line(above[n_runs * i + k], above[n_runs * stop + k], m, &level, &slope)
            for j in range(FEW):
                mean[(N_PLAIN + TURN) * k + i + j] = level + slope * STEP[j]
            if stop - i > FEW:
                for j in range(FEW, TURN):
                    mean[(N_PLAIN + TURN) * k + i + j] = level + slope * STEP[j]
        i = stop
    for k in range(n_runs):
        for i in range(n):
            mean[(N_PLAIN + TURN) * k + i] /= RANK[i]
    i = 0
    for c in range(lists.n_cutoffs):
        while i < min(lists.cutoffs[c], n):
            for k in range(n_runs):
                total[k] += mean[(N_PLAIN + TURN) * k + i]
            i += 1
        for k in range(n_runs):
            _put(&lists[k], q, c, total[k])
    return True


cdef inline void _find_line(int64_t above, int64_t down_to, double m, double* level, double* slope) noexcept nogil:
    """Expectation of x times the sum of y down to it, in a block of m tied items: at its start, and its rise.

    Sums of x, y and x * y, packed, are those above the block and those down to its end.
    """
    cdef int64_t within = down_to - above
    cdef double sum_x = within & (LOW - 1), sum_y = (within >> 21) & (LOW - 1), sum_xy = within >> 42
    level[0] = (sum_x * ((above >> 21) & (LOW - 1)) + sum_xy) / m
    slope[0] = (sum_x * sum_y - sum_xy) / max(m * (m - 1), 1)


cdef inline void _put(const lists_t* lists, int64_t q, int64_t c, double x) noexcept nogil:
    """Write the sum of a list down to a cutoff."""
    (<double*> (lists.out + q * lists.of_query + c * lists.of_cutoff))[0] = x


cdef inline void _look_up_means(
    const uint8_t* grade, const double* relevant, int64_t n, const mean_t* runs, int64_t n_runs, const lists_t* lists,
    int64_t q,
) noexcept nogil:
    """Sums of a short list without ties, whose means are looked up, as divisions take most of the time."""
    cdef int64_t c, k, stop, i = 0
    cdef int64_t[MOST_MEANS] down_to
    cdef double[MOST_MEANS] total
    for k in range(n_runs):
        down_to[k] = 0
        total[k] = 0.0
    for c in range(lists.n_cutoffs):
        stop = min(lists.cutoffs[c], n)
        while i < stop:
            for k in range(n_runs):
                down_to[k] += runs[k].value[grade[i]]
                total[k] += relevant[grade[i]] * MEAN[down_to[k]][i]
            i += 1
        for k in range(n_runs):
            _put(&lists[k], q, c, total[k])


cdef inline void _add_few(const uint8_t* grade, const int64_t* tie_end, int64_t stop, mean_t* run) noexcept nogil:
    """Add the means of the relevant items up to `stop`, or to a tie block. Others are divided for too.

    Few divisions take less time than a loop whose number of turns the processor cannot foretell.
    """
    cdef int64_t i = run.at
    while i < stop and (tie_end == NULL or tie_end[i] == i + 1):
        run.before += run.value[grade[i]]
        run.total += run.relevant[grade[i]] * (run.before / (i - run.first + 1))
        i += 1
    run.at = i


cdef inline void _add_untied(const uint8_t* grade, const int64_t* tie_end, int64_t stop, mean_t* run) noexcept nogil:
    """Add the means of the relevant items up to `stop`, or to a tie block; these are found first, without a branch.

    What is counted in between is small, as the compiler makes doubles of 32 bits, and divides, two at once.
    """
    cdef int32_t[CHUNK] sum_down_to, rank
    cdef double[CHUNK + OF_WORD] mean
    cdef int64_t i, n = 0, start = run.at
    cdef int32_t down_to = 0
    cdef double before = run.before, above = start - run.first + 1, total = run.total
    if tie_end != NULL:
        i = start
        while i < stop and tie_end[i] == i + 1:
            i += 1
        stop = i
    if run.least > 0 and run.of_ones and stop - start >= OF_WORD:
        n = _find_means_of_ones(grade + start, stop - start, run.least, before, above, mean)
        down_to = <int32_t> n
    else:
        for i in range(stop - start):
            down_to += run.value[grade[start + i]]
            sum_down_to[n] = down_to
            rank[n] = <int32_t> i
            n += run.relevant[grade[start + i]]
        for i in range(n):
            mean[i] = (before + sum_down_to[i]) / (above + rank[i])
    for i in range(n):
        total += mean[i]
    run.total = total
    run.before = before + down_to
    run.at = stop


cdef int64_t _find_means_of_ones(
    const uint8_t* grade, int64_t n, uint64_t least, double before, double above, double* mean
) noexcept nogil:
    """Write the means down to items of at least such a grade, each of which adds 1, and count them.

    They are made four at a time, so up to three too much.
    """
    cdef uint8_t[CHUNK + OF_WORD] place
    cdef int32_t[4] rank
    cdef int64_t i, k, n_found = _find_at_least(grade, n, least, place)
    for i in range(0, n_found, 4):
        for k in range(4):
            rank[k] = place[i + k]
        for k in range(4):
            mean[i + k] = (before + (i + STEP[k + 1])) / (above + rank[k])
    return n_found


cdef inline void _start_ties(const uint8_t* grade, int64_t stop, mean_t* run) noexcept nogil:
    """Sum over a tie block: of three numbers of each item, packed in one, in a third of the time."""
    cdef int64_t start = run.at, end, packed, sum_x = 0, sum_y = 0, sum_xy = 0
    cdef double m = stop - start
    while start < stop:
        end = min(stop, start + PACKED)
        packed = sum_numbers(grade + start, end - start, &run.packed)
        sum_x += packed & (LOW - 1)
        sum_y += (packed >> 21) & (LOW - 1)
        sum_xy += packed >> 42
        start = end
    _enter_block(stop, sum_x, sum_y, sum_xy, run)


cdef inline void _enter_block(int64_t stop, double sum_x, double sum_y, double sum_xy, mean_t* run) noexcept nogil:
    """Enter a tie block, of whose items the relevant ones, the values and their products have these sums."""
    cdef double m = stop - run.at
    run.tie_start = run.at
    run.tie_stop = stop
    run.above_ties = run.total
    run.level = run.slope = 0.0
    if sum_x > 0:
        run.level = (sum_x * run.before + sum_xy) / m
        run.slope = (sum_x * sum_y - sum_xy) / max(m * (m - 1), 1)  # 0 of one item
    run.before += sum_y


cdef inline void _add_tied(int64_t stop, mean_t* run) noexcept nogil:
    """Add the means of tied items up to `stop`, of which none adds anything if no one is relevant.

    All of them from the start of the block on, so that the sum is the same whatever stops were before.
    """
    if run.level != 0.0 or run.slope != 0.0:
        run.total = _add_means(run.above_ties, run.level, run.slope, run.tie_start - run.first, stop - run.tie_start)
    run.at = stop


def means_of_counts(
    const int64_t[:, :, ::1] count, const double[::1] relevant, const double[::1] value, const int64_t[::1] cutoffs,
    double[:, ::1] out,
):
    """The same in expectation over tied items, of which `count` says how many each block has of each grade."""
    cdef int64_t q, b, g, n, m, c, n_cutoffs = cutoffs.shape[0]
    cdef double sum_x, sum_y, sum_xy
    cdef mean_t run
    run.first = 0
    with nogil:
        for q in range(count.shape[0]):
            run.total = run.before = 0.0
            run.at = c = 0
            for b in range(count.shape[1]):
                m = 0
                sum_x = sum_y = sum_xy = 0.0
                for g in range(count.shape[2]):
                    n = count[q, b, g]
                    m += n
                    sum_x += relevant[g] * n
                    sum_y += value[g] * n
                    sum_xy += relevant[g] * value[g] * n
                _enter_block(run.at + m, sum_x, sum_y, sum_xy, &run)
                while c < n_cutoffs and cutoffs[c] < run.tie_stop:
                    _add_tied(cutoffs[c], &run)
                    out[q, c] = run.total
                    c += 1
                _add_tied(run.tie_stop, &run)
            while c < n_cutoffs:
                out[q, c] = run.total
                c += 1


cdef double _add_means(double total, double level, double slope, int64_t done, int64_t n) noexcept nogil:
    """Add (level + slope * j) / (done + 1 + j) for j from 0 to n - 1.

    With a = done + 1 that is slope * n + (level - slope * a) * (1 / a + 1 / (a + 1) + ...), which takes as long for
    many positions as for a few: half of the time of lists by Hamming distance. It is taken unless most of it cancels
    out, as where the first relevant items stand far down.
    """
    cdef double whole, sum_of_all
    if n > TURN:
        whole = slope * n
        sum_of_all = whole + (level - slope * (done + 1)) * _harmonic(done, n)
        if whole <= MOST_CANCELLED * sum_of_all:
            return total + sum_of_all
    return _add_each_mean(total, level, slope, done, n)


cdef double _add_each_mean(double total, double level, double slope, int64_t done, int64_t n) noexcept nogil:
    """The same, one by one.

    A few quotients are made before they are added: with steps that are doubles already the compiler takes two at once.
    So few that the next ones are made while the sum, which has to wait for each addition, takes these.
    """
    cdef double[TURN] mean
    cdef double first, rank
    cdef int64_t i, start = 0
    while start + TURN <= n:
        first = start
        rank = done + start + 1
        for i in range(TURN):
            mean[i] = (level + slope * (first + STEP[i])) / (rank + STEP[i])
        for i in range(TURN):
            total += mean[i]
        start += TURN
    for i in range(start, n):
        total += (level + slope * i) / (done + i + 1)
    return total


cdef double _harmonic(int64_t above, int64_t n) noexcept nogil:
    """1 / (above + 1) + ... + 1 / (above + n), to the last bits: from a table, and beyond it by the digamma series."""
    cdef int64_t stop = above + n, listed = min(stop, <int64_t> N_HARMONIC)
    cdef double total = 0.0
    if above < listed:
        total = (HARMONIC[listed].value - HARMONIC[above].value) + (HARMONIC[listed].lost - HARMONIC[above].lost)
        above = listed
    if above < stop:
        total += log1p((stop - above) / (above + 0.5)) + (_beside_log(stop) - _beside_log(above))
    return total


cdef double _beside_log(double n) noexcept nogil:
    """1 + 1 / 2 + ... + 1 / n, less log(n + 1 / 2) and Euler's constant, for n of at least `N_HARMONIC`."""
    cdef double square = (n + 0.5) * (n + 0.5)
    return (1.0 / 24 - 7.0 / 960 / square) / square


# --- means of lists in which relevant items alone add something: 1 over the rank is looked up, in two halves

cdef uint64_t BITS_OF_BYTES = 0x0102040810204080    # times 8 bytes of 0 or 1 makes them the bits of the highest byte
cdef int64_t[1 << OF_WORD] N_BITS                   # that are 1 in each byte
cdef uint8_t[1 << OF_WORD][OF_WORD] PLACES          # of these


cdef void _list_places() noexcept:
    cdef int64_t byte, bit
    memset(N_BITS, 0, sizeof(N_BITS))
    memset(PLACES, 0, sizeof(PLACES))
    for byte in range(1 << OF_WORD):
        for bit in range(OF_WORD):
            if byte >> bit & 1:
                PLACES[byte][N_BITS[byte]] = <uint8_t> bit
                N_BITS[byte] += 1


_list_places()


cdef inline int64_t _find_at_least(const uint8_t* x, int64_t n, uint64_t least, uint8_t* place) noexcept nogil:
    """Write the places of the bytes of at least `least`, which is not 0, and count them; no byte is above 127.

    There are 8 to 256 bytes. The last ones are read with those before them, which are shifted out; up to 8 places are
    written too much. It is for processors that have the low bytes first.
    """
    cdef int64_t i, start, bits, n_found = 0
    cdef uint64_t word, places
    for i in range(0, n, 8):
        start = min(i, n - OF_WORD)
        memcpy(&word, x + start, OF_WORD)
        word >>= 8 * (i - start)
        word = ((word + (128 - least) * BYTES_OF_1) >> 7) & BYTES_OF_1
        bits = (word * BITS_OF_BYTES) >> 56
        memcpy(&places, PLACES[bits], OF_WORD)
        places += i * BYTES_OF_1
        memcpy(place + n_found, &places, OF_WORD)
        n_found += N_BITS[bits]
    return n_found



cdef struct halves_t:
    double high, low            # they add up to a number; the upper one has 26 digits

cdef halves_t[MOST_RANKS] ONE_OVER_RANK    # at each place, from 0 on


cdef void _list_reciprocals() noexcept:
    cdef int64_t i
    cdef double once, high
    for i in range(MOST_RANKS):
        once = 1.0 / (i + 1)
        high = 134217729.0 * once
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
