# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Sums down ranked lists, in expectation over tied items: of values, of products of two, and of means.

In: values of positions, or of grades that are looked up, and lists whose tie blocks end at `tie_end`.
Out: sums of each list down to each cutoff (ascending), or a number for each position, written to the last argument.
Why: an addition waits for the one before it in its sum, so ranks below the first 16 take turns in four sums, whatever
the cutoffs and ties: equal terms are rounded the same way wherever they come from.
"""
from libc.math cimport INFINITY, exp, fabs, floor, log
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from sklearn_rank._engine.kernels.common cimport N_GRADES, bits_of
from sklearn_rank._engine.kernels.grades cimport find_ranges, numbers_t, sum_numbers
from sklearn_rank._engine.kernels.order cimport pointer_of, ties_of

cdef enum:
    FIRST_RANKS = 16            # ranks that are one sum, a multiple of the number of others
    SUM_LANES = 4               # sums that the ranks below take turns in
    MEANS_TOGETHER = 8          # means of tied items that are written together
    MOST_DIVIDED = 8            # items of a list that are divided for whether they are relevant or not
    PACK = 1 << 21              # what the second of three numbers that are packed in one is multiplied by
    MOST_PACKED = 1 << 16       # items whose sums of up to 31 are below that

cdef double MOST_WHOLE = 2.0**53        # doubles hold each whole number up to this one
cdef double[PIECE] RANK                 # 1, 2, ... as vectors load them, which cannot make them of whole numbers
for number_of_rank in range(PIECE):
    RANK[number_of_rank] = number_of_rank + 1.0


# Queries down which sums are written, each so many bytes from the one of the query, or the cutoff, before it.
cdef struct lists_t:
    const int64_t* ptr
    int64_t n
    const int64_t* tie_end      # NULL without ties
    const int64_t* cutoffs
    int64_t n_cutoffs
    char* out
    int64_t of_query, of_cutoff


# What values are multiplied by.
cdef struct weights_t:
    const double* of_item
    int64_t step                # 0 if all have one weight
    const double* by_rank       # NULL if there is none
    bint per_rank               # divided by the rank
    bint alike                  # whether the weights of items are all 1


# A list, and where a piece of it begins and ends.
cdef struct piece_t:
    const int64_t* ends         # of tie blocks, NULL without ties
    int64_t first, length       # the first position of the list, and how many it has
    int64_t done, last          # positions above the piece, and down to the last that counts
    int64_t block_stop          # of the tie block that was looked at last
    double mean                 # of its items


# The sum of a list so far: of the pieces above, and of the terms of this one.
cdef struct sum_t:
    pair_t above
    double first
    double[SUM_LANES] lanes


cdef lists_t _lists(
    const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out
) noexcept:
    cdef lists_t lists
    lists.ptr, lists.n, lists.cutoffs, lists.n_cutoffs = &ptr[0], ptr.shape[0] - 1, &cutoffs[0], cutoffs.shape[0]
    lists.out, lists.of_query, lists.of_cutoff = <char*> &out[0, 0], out.strides[0], out.strides[1]
    lists.tie_end = pointer_of(tie_end)
    return lists


cdef inline double* _place(const lists_t* lists, int64_t q, int64_t c) noexcept nogil:
    """Where the sum of a list down to a cutoff is written."""
    return <double*> (lists.out + q * lists.of_query + c * lists.of_cutoff)


# --- values ------------------------------------------------------------------------------------------------------


cdef items_t items_of(const double[::1] value, const uint8_t[::1] grade) noexcept:
    """Values of positions, which are looked up if there are grades."""
    cdef items_t items
    items.value = &value[0] if value.shape[0] > 0 else <const double*> RANK  # which is not read
    items.grade = NULL
    items.step = value.shape[0] > 1
    items.whole = False
    if grade is not None and grade.shape[0] > 0:
        items.grade = &grade[0]
        items.whole = _set_whole(items.value, grade.shape[0], &items.number)
    return items


cdef bint _set_whole(const double* value, int64_t n, numbers_t* number) noexcept:
    """Whether values of grades are whole, and so small that n of them have an exact sum; write them to `number`."""
    cdef int64_t g
    for g in range(N_GRADES):
        if not fabs(value[g]) * n <= MOST_WHOLE:  # NaN is not
            return False
        number.by_grade[g] = <int64_t> value[g]
        if number.by_grade[g] != value[g]:
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
        for j in range(i + 1, min(i + PIECE, stop)):
            total += _value_at(items, j)
        add(&above, total)
        i += PIECE
    return above.value + above.lost


# --- sums --------------------------------------------------------------------------------------------------------


cpdef void cumsum(
    const double[::1] value, const uint8_t[::1] grade, const double[::1] weight, const double[::1] discount,
    bint per_rank, const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end,
    double[:, :] out,  # OUT
) noexcept:
    """Sum value * weight of each list down to each cutoff; tied items share their mean value.

    With `grade` values are looked up, so that no array of them is made. A `value` or `weight` of length 1 holds for all
    items. The weight of a position is multiplied by the `discount` of its rank, if there is one, and
    divided by the rank, if it counts `per_rank`. Long lists are summed in pieces: a small term is lost in a large sum.
    """
    cdef int64_t q, i, n, n_products = 0
    cdef double one = 1.0
    cdef items_t items = items_of(value, grade)
    cdef weights_t weights
    cdef lists_t lists
    cdef double[FIRST_RANKS * N_GRADES] product
    cdef const int64_t* ends
    cdef bint unweighted
    if ptr.shape[0] == 1:
        return
    lists = _lists(ptr, cutoffs, tie_end, out)
    weights.of_item = &weight[0] if weight.shape[0] > 0 else &one
    weights.step, weights.by_rank, weights.per_rank = weight.shape[0] > 1, NULL, per_rank
    weights.alike = weights.step == 0 and weights.of_item[0] == 1.0
    if discount is not None and discount.shape[0] > 0:
        weights.by_rank = &discount[0]
    unweighted = weights.alike and weights.by_rank == NULL and not per_rank
    if items.grade == NULL and items.step == 0:  # where all have one value, it is the mean of tied ones
        lists.tie_end = NULL
    if items.grade != NULL and weights.alike and not per_rank and lists.n > N_GRADES:
        n_products = min(<int64_t> FIRST_RANKS, cutoffs[cutoffs.shape[0] - 1])
        for i in range(N_GRADES * (n_products if discount is None else min(n_products, discount.shape[0]))):
            product[i] = items.value[i % N_GRADES] * (discount[i // N_GRADES] if weights.by_rank != NULL else 1.0)
    with nogil:
        for q in range(lists.n):
            n = min(ptr[q + 1] - ptr[q], lists.cutoffs[lists.n_cutoffs - 1])
            ends = ties_of(lists.tie_end, ptr[q], ptr[q + 1])
            if n <= n_products and ends == NULL:
                _sum_products(items.grade + ptr[q], product, n, &lists, q)
            elif not (unweighted and (items.whole or ends != NULL) and _sum_blocks(&items, ends, &lists, q)):
                _sum_list(&items, &weights, ends, &lists, q)


cdef inline void _sum_products(
    const uint8_t* grade, const double* product, int64_t n, const lists_t* lists, int64_t q
) noexcept nogil:
    """Sums of a list of up to 16 items without ties: what each of them adds is looked up by rank and grade."""
    cdef int64_t c, stop, i = 0
    cdef double total = 0.0
    for c in range(lists.n_cutoffs):
        stop = min(n, lists.cutoffs[c])
        while i < stop:
            total += product[i * N_GRADES + grade[i]]
            i += 1
        _place(lists, q, c)[0] = total


cdef bint _sum_blocks(const items_t* items, const int64_t* ends, const lists_t* lists, int64_t q) noexcept nogil:
    """Sums of whole numbers without weights: of tie blocks, and of a share of the one that a cutoff falls into.

    They are exact. Return whether the values are whole numbers; they are written only if so.
    """
    cdef int64_t c, stop, end, first = lists.ptr[q], n = lists.ptr[q + 1] - first, i = first, done = first
    cdef double above = 0.0, share
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
        _place(lists, q, c)[0] = above + share
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


cdef void _sum_list(
    const items_t* items, const weights_t* weights, const int64_t* ends, const lists_t* lists, int64_t q
) noexcept nogil:
    """Sums of any list, piece by piece: the terms of a piece are written, then added."""
    cdef int64_t c, stop, i = 0
    cdef double[PIECE + MEANS_TOGETHER] term
    cdef sum_t sums
    cdef piece_t piece
    piece.ends, piece.block_stop = ends, 0
    piece.first, piece.done, piece.length = lists.ptr[q], 0, lists.ptr[q + 1] - lists.ptr[q]
    piece.last = min(piece.length, lists.cutoffs[lists.n_cutoffs - 1])
    if items.grade == NULL and items.step == 0 and items.value[0] == 1.0 and weights.by_rank == NULL and weights.step:
        piece.last = _end_of_numbers(weights.of_item + piece.first, piece.last)
    memset(&sums, 0, sizeof(sums))
    _write_terms(items, weights, &piece, term)
    for c in range(lists.n_cutoffs):
        stop = min(lists.cutoffs[c], piece.last)
        while stop - piece.done >= PIECE:
            _add_terms(term, i, PIECE, piece.done == 0, &sums)
            add(&sums.above, _total(&sums))
            sums.first = sums.lanes[0] = sums.lanes[1] = sums.lanes[2] = sums.lanes[3] = 0.0
            piece.done += PIECE
            i = 0
            _write_terms(items, weights, &piece, term)
        _add_terms(term, i, stop - piece.done, piece.done == 0, &sums)
        i = stop - piece.done
        _place(lists, q, c)[0] = sums.above.value + (sums.above.lost + _total(&sums))


cdef inline int64_t _end_of_numbers(const double* x, int64_t n) noexcept nogil:
    """Index after the last nonzero, or up to 7 more: a cascade is 0 once everyone has stopped."""
    cdef int64_t k, bits = 0
    while n >= 8:
        for k in range(8):
            bits |= bits_of(x[n - 1 - k])
        if bits != 0:
            break
        n -= 8
    return n


cdef void _write_terms(
    const items_t* items, const weights_t* weights, piece_t* piece,
    double* term,  # OUT
) noexcept nogil:
    """Write value * weight of each position of a piece.

    The branches are loop-invariant, so compilers unswitch the loop.
    """
    cdef int64_t i, start = piece.first + piece.done, n = min(piece.last - piece.done, <int64_t> PIECE)
    cdef const double* weight = weights.of_item + weights.step * start
    cdef const double* by_rank = weights.by_rank + piece.done if weights.by_rank != NULL else NULL
    cdef const uint8_t* grade = items.grade + start if items.grade != NULL else NULL
    cdef const double* value = items.value if grade != NULL else items.value + items.step * start
    cdef int64_t v = items.step, w = weights.step
    cdef bint tied = piece.ends != NULL, per_rank = weights.per_rank
    cdef double above = piece.done, factor
    if tied:
        _write_means(items, piece, n, term)
    for i in range(n):
        factor = weight[w * i]
        if by_rank != NULL:
            factor *= by_rank[i]
        if per_rank:
            factor /= above + RANK[i]
        if tied:
            term[i] *= factor
        elif grade != NULL:
            term[i] = value[grade[i]] * factor
        else:
            term[i] = value[v * i] * factor


cdef void _write_means(
    const items_t* items, piece_t* piece, int64_t n,
    double* mean,  # OUT
) noexcept nogil:
    """Write the mean of the tie block around each of the n positions of a piece.

    Differences of sums down a short list say what a block has, where they are exact, and means are written eight at a
    time. The next block overwrites the last of them, so that no branch depends on what is tied.
    """
    cdef int64_t i = piece.done, j, stop, end = piece.done + n
    cdef const int64_t* ends = piece.ends + piece.first
    cdef int64_t[PIECE + 1] above
    cdef bint summed
    # Where one block is all that counts, its sum alone is needed.
    summed = items.whole and piece.length <= PIECE and ends[0] - piece.first < n
    if summed:
        above[0] = 0
        for j in range(piece.length):
            above[j + 1] = above[j] + items.number.by_grade[items.grade[piece.first + j]]
    while i < end:
        if i >= piece.block_stop:
            stop = ends[i] - piece.first
            piece.mean = (
                <double> (above[stop] - above[i]) if summed else _sum_of(items, piece.first + i, piece.first + stop)
            )
            piece.mean /= stop - i
            piece.block_stop = stop
        stop = min(piece.block_stop, end)
        for j in range(MEANS_TOGETHER):
            mean[i - piece.done + j] = piece.mean
        for j in range(i - piece.done + MEANS_TOGETHER, stop - piece.done):
            mean[j] = piece.mean
        i = stop


cdef inline void _add_terms(const double* term, int64_t i, int64_t stop, bint at_top, sum_t* sums) noexcept nogil:
    """Add terms from i on."""
    cdef int64_t k
    while at_top and i < min(stop, <int64_t> FIRST_RANKS):
        sums.first += term[i]
        i += 1
    while i < stop and i & (SUM_LANES - 1) != 0:
        sums.lanes[i & (SUM_LANES - 1)] += term[i]
        i += 1
    while i + SUM_LANES <= stop:
        for k in range(SUM_LANES):
            sums.lanes[k] += term[i + k]
        i += SUM_LANES
    while i < stop:
        sums.lanes[i & (SUM_LANES - 1)] += term[i]
        i += 1


cdef inline double _total(const sum_t* sums) noexcept nogil:
    return sums.first + ((sums.lanes[0] + sums.lanes[1]) + (sums.lanes[2] + sums.lanes[3]))


# --- joint sums --------------------------------------------------------------------------------------------------


cpdef void joint(
    const double[::1] x, const uint8_t[::1] x_grade, const double[::1] y, const uint8_t[::1] y_grade,
    const double[:] most, const int64_t[::1] ptr, const int64_t[::1] tie_end, double[:, ::1] memory,
    double[::1] out,  # OUT
) noexcept:
    """Expected x_i * min(y_1 + ... + y_i, most) at each position, over all orders of tied items.

    With `x_grade` or `y_grade` values are looked up, and `memory` has two rows for the longest list. An `x` or `y` of
    length 1 holds for all items. With `most`, a whole number for each query, x and y are 0 or 1, and never both 1.
    """
    cdef int64_t q, first, n
    cdef double limit = INFINITY
    cdef items_t of_x = items_of(x, x_grade), of_y = items_of(y, y_grade)
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    cdef const double* xs
    cdef const double* ys
    cdef double* x_memory = NULL
    cdef double* y_memory = NULL
    if x_grade is not None or y_grade is not None:
        x_memory, y_memory = &memory[0, 0], &memory[1, 0]
    with nogil:
        for q in range(ptr.shape[0] - 1):
            first = ptr[q]
            n = ptr[q + 1] - first
            if n > 0:
                if most is not None:
                    limit = most[q]
                xs, ys = values_from(&of_x, first, n, x_memory), values_from(&of_y, first, n, y_memory)
                ends = ties_of(all_ends, first, first + n)
                _joint_of_list(xs, of_x.step, ys, of_y.step, ends, first, n, limit, &out[first])


cdef void _joint_of_list(
    const double* x, int64_t u, const double* y, int64_t v, const int64_t* tie_end, int64_t first, int64_t n,
    double limit, double* out,
) noexcept nogil:
    """A list whose first position has this number, block by block."""
    cdef int64_t i = 0, j, stop
    cdef double before = 0.0, m, sum_x, sum_y, sum_xy, level, slope
    while i < n:
        stop = tie_end[first + i] - first if tie_end != NULL else i + 1
        if stop == i + 1:
            before += y[v * i]
            out[i] = x[u * i] * min(before, limit)
            i = stop
            continue
        sum_x = sum_y = sum_xy = 0.0
        for j in range(i, stop):
            sum_x += x[u * j]
            sum_y += y[v * j]
            sum_xy += x[u * j] * y[v * j]
        m = stop - i
        if sum_x > 0 and before + sum_y > limit:
            _joint_of_block(stop - i, sum_x / m, sum_y, before, limit, out + i)
        else:
            level = (sum_x * before + sum_xy) / m
            slope = (sum_x * sum_y - sum_xy) / (m * (m - 1))
            for j in range(i, stop):
                out[j] = level + slope * (j - i)
        before += sum_y
        i = stop


cdef void _joint_of_block(
    int64_t m, double x, double n_y, double before, double limit, double* out,
) noexcept nogil:
    """One block of m tied items, a share x of them x and n_y others y. Inside the block the sum of y may reach its
    limit.

    C of the y in the block stand above a given x at offset i; C is hypergeometric among the m - 1 others. Going on to
    the next offset adds one to min(C, left) if a y comes next and fewer than `left` have come: n_y / (m - 1) times the
    probability that i of the other m - 2 items hold fewer than `left` of the other n_y - 1 y.
    """
    cdef int64_t i, n_others = m - 2
    cdef double left = limit - before, top = left - 1, y = n_y - 1
    cdef double counted = min(before, limit), fewer = 1.0, log_top = 0.0  # log of P(exactly left - 1)
    for i in range(m):
        out[i] = x * counted
        if left <= 0:
            continue
        counted += n_y / (m - 1) * fewer
        if i < top:
            log_top += log((y - i) / (n_others - i))
        elif i < n_others and i - top <= n_others - y:
            fewer -= exp(log_top) * (y - top) / (n_others - i)
            log_top += log((i + 1) / (i + 1 - top) * (n_others - y - (i - top)) / (n_others - i))


# --- sums of means down to each relevant item, such as MAP -------------------------------------------------------


# Which items are relevant, and what their means are of.
cdef struct means_t:
    const double* relevant      # of each position; NULL if they are looked up
    const double* value
    const uint8_t* grade
    int32_t[N_GRADES] relevant_of, value_of     # each grade
    numbers_t packed            # both, and their product, 21 bits apart


# The sum of a list so far.
cdef struct mean_t:
    int64_t position            # the next one
    double total, before        # the sum, and the values above the next position


cpdef void means_of_items(
    const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr, const int64_t[::1] cutoffs,
    const int64_t[::1] tie_end,
    double[:, :] out,  # OUT
) noexcept:
    """Sum the mean value down to each relevant item, down to each cutoff, of any labels; `relevant` is 0 or 1.

    Tied items count in expectation.
    """
    cdef means_t means
    if relevant.shape[0] > 0:
        means.relevant, means.value, means.grade = &relevant[0], &value[0], NULL
        _sum_means(&means, _lists(ptr, cutoffs, tie_end, out))
    else:
        out[:] = 0.0


cpdef void means_of_grades(
    const uint8_t[::1] grade, const double[::1] relevant, const double[::1] value, const int64_t[::1] ptr,
    const int64_t[::1] cutoffs, const int64_t[::1] tie_end,
    double[:, :] out,  # OUT
) noexcept:
    """The same, where both are looked up by grade. Values are whole numbers up to 31, so that their sums are exact."""
    cdef int64_t g
    cdef means_t means
    if grade.shape[0] == 0:
        out[:] = 0.0
        return
    means.relevant, means.grade = NULL, &grade[0]
    for g in range(N_GRADES):
        means.relevant_of[g] = <int32_t> relevant[g]
        means.value_of[g] = <int32_t> value[g]
        means.packed.by_grade[g] = (
            means.relevant_of[g]
            + <int64_t> PACK * (means.value_of[g] + <int64_t> PACK * (means.relevant_of[g] * means.value_of[g]))
        )
    find_ranges(&means.packed)
    _sum_means(&means, _lists(ptr, cutoffs, tie_end, out))


cdef void _sum_means(const means_t* means, lists_t lists) noexcept:
    cdef int64_t q, c, first, n
    cdef const int64_t* ends
    cdef mean_t run
    with nogil:
        for q in range(lists.n):
            first = lists.ptr[q]
            n = lists.ptr[q + 1] - first
            ends = ties_of(lists.tie_end, first, first + n)
            run.total = run.before = 0.0
            run.position = first
            if ends == NULL and means.grade != NULL:
                for c in range(lists.n_cutoffs):
                    _add_relevant(means, first, first + min(lists.cutoffs[c], n), &run)
                    _place(&lists, q, c)[0] = run.total
            else:
                _sum_means_of_blocks(means, ends, first, n, &lists, q)


cdef inline void _add_relevant(const means_t* means, int64_t first, int64_t stop, mean_t* run) noexcept nogil:
    """Add what the positions of a list without ties up to `stop` add: relevant ones are found first, without a branch.

    Numbers in between are of 32 bits, because the compiler makes doubles of these, and divides, two in one step.
    """
    cdef int32_t[PIECE] sum_down_to, rank
    cdef double[PIECE] mean
    cdef int64_t i, n, end
    cdef int32_t down_to
    cdef double above
    while run.position < stop and stop - first <= MOST_DIVIDED:
        run.before += means.value_of[means.grade[run.position]]
        run.total += means.relevant_of[means.grade[run.position]] * (run.before / (run.position - first + 1))
        run.position += 1
    while run.position < stop:
        end = min(stop, run.position + PIECE)
        above = run.position - first + 1
        down_to = 0
        n = 0
        for i in range(end - run.position):
            down_to += means.value_of[means.grade[run.position + i]]
            sum_down_to[n] = down_to
            rank[n] = <int32_t> i
            n += means.relevant_of[means.grade[run.position + i]]
        for i in range(n):
            mean[i] = (run.before + sum_down_to[i]) / (above + rank[i])
        for i in range(n):
            run.total += mean[i]
        run.before += down_to
        run.position = end


cdef inline void _sum_means_of_blocks(
    const means_t* means, const int64_t* ends, int64_t first, int64_t n, const lists_t* lists, int64_t q
) noexcept nogil:
    """Sums of one list, block by block: what relevant items above it expect rises evenly from `level`."""
    cdef int64_t c, i = first, j, stop, block_stop = first
    cdef double total = 0.0, before = 0.0, level = 0.0, slope = 0.0, down = 0.0, m
    cdef double sum_x = 0.0, sum_y = 0.0, sum_xy = 0.0
    for c in range(lists.n_cutoffs):
        stop = first + min(lists.cutoffs[c], n)
        while i < stop:
            if i == block_stop:
                block_stop = ends[i] if ends != NULL else i + 1
                before += sum_y
                _sum_block(means, i, block_stop, &sum_x, &sum_y, &sum_xy)
                m = block_stop - i
                level = (sum_x * before + sum_xy) / m
                slope = (sum_x * sum_y - sum_xy) / max(m * (m - 1), 1.0)    # 0 of one item
                down = 0.0
            for j in range(i, min(stop, block_stop)):
                total += (level + slope * down) / (j - first + 1)
                down += 1.0
            i = min(stop, block_stop)
        _place(lists, q, c)[0] = total


cdef inline void _sum_block(
    const means_t* means, int64_t start, int64_t stop, double* sum_x, double* sum_y, double* sum_xy
) noexcept nogil:
    """Sums of relevance, of values and of their products over a tie block."""
    cdef int64_t i = start, end, packed, n_x = 0, n_y = 0, n_xy = 0
    if means.grade == NULL:
        sum_x[0] = sum_y[0] = sum_xy[0] = 0.0
        for i in range(start, stop):
            sum_x[0] += means.relevant[i]
            sum_y[0] += means.value[i]
            sum_xy[0] += means.relevant[i] * means.value[i]
        return
    while i < stop:
        end = min(stop, i + MOST_PACKED)
        packed = sum_numbers(means.grade + i, end - i, &means.packed)
        n_x += packed & (PACK - 1)
        n_y += (packed >> 21) & (PACK - 1)
        n_xy += packed >> 42
        i = end
    sum_x[0], sum_y[0], sum_xy[0] = n_x, n_y, n_xy
