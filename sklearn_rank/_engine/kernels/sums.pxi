# Sums down ranked queries, in expectation over tied items; `rank.pyx` includes it.

cdef struct items_t:
    const double* value         # of each item; with `grade`, of each grade
    const uint8_t* grade        # NULL if values are not looked up
    int64_t step                # 0 if one value is that of all
    bint whole                  # whether values of grades are whole, and so are all sums of them
    numbers_t number            # these values


def cumsum(
    const double[::1] value, const uint8_t[::1] grade, const double[::1] weight, const double[::1] discount,
    bint per_rank, const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
):
    """Sum value * weight of each query down to each cutoff (ascending); tied items share their mean value.

    With `grade` the value of an item is that of its grade, so that no array of them is made. A `value` or `weight` of
    length 1 is that of all. The weight of a position is multiplied by the `discount` of its rank, if there is one, and
    divided by the rank, if it counts `per_rank`: so no array of ranks is made. Long lists are summed in pieces of
    N_PLAIN, as a small term is lost in a large sum, and equal terms are rounded the same way.
    """
    cdef int64_t c, i, first, last, stop, block_stop, piece_stop, w = weight.shape[0] > 1
    cdef int64_t q = 0, n_queries = ptr.shape[0] - 1, n_cutoffs = cutoffs.shape[0]
    cdef const double* by_rank = NULL
    cdef double total, mean = 0.0
    cdef pair_t above
    cdef bint tied = tie_end is not None, plain
    cdef items_t items = _items(value, grade)
    cdef const double* values = items.value
    cdef const uint8_t* grades = items.grade
    if discount is not None and discount.shape[0] > 0:
        by_rank = <const double*> &discount[0]
    plain = grades != NULL and by_rank != NULL and not w and weight[0] == 1.0 and not per_rank and not tied
    with nogil:
        while q < n_queries:
            if plain:  # as nDCG asks for
                q = _sum_plainly(
                    values, grades, by_rank, &ptr[0], q, n_queries, &cutoffs[0], n_cutoffs, <char*> &out[0, 0],
                    out.strides[0], out.strides[1],
                )
                if q == n_queries:
                    break
            above.value = above.lost = total = 0.0
            i = block_stop = first = ptr[q]
            piece_stop = first + N_PLAIN
            for c in range(n_cutoffs):
                last = first + min(cutoffs[c], ptr[q + 1] - first)
                while True:
                    stop = min(last, piece_stop)
                    if tied:
                        while i < stop:
                            if i == block_stop:
                                block_stop = tie_end[i]
                                mean = _value_at(&items, i)
                                if block_stop > i + 1:
                                    mean = _sum_of(&items, i, block_stop) / (block_stop - i)
                            while i < min(stop, block_stop):
                                total += mean * _weight_at(weight[w * i], by_rank, per_rank, i - first)
                                i += 1
                    else:
                        while i < stop:
                            total += _value_at(&items, i) * _weight_at(weight[w * i], by_rank, per_rank, i - first)
                            i += 1
                    if i < piece_stop:
                        break
                    _add(&above, total)
                    total = 0.0
                    piece_stop += N_PLAIN
                out[q, c] = above.value + (above.lost + total)
            q += 1


cdef int64_t _sum_plainly(
    const double* value, const uint8_t* grade, const double* by_rank, const int64_t* ptr, int64_t q, int64_t n_queries,
    const int64_t* cutoffs, int64_t n_cutoffs, char* out, int64_t of_query, int64_t of_cutoff,
) noexcept nogil:
    """Sum what grades are worth, each times what is for its rank, up to a query that is long; return its number.

    Sums of queries and of cutoffs are so many bytes apart.
    """
    cdef int64_t c, i, n
    cdef double total
    while q < n_queries and ptr[q + 1] - ptr[q] <= N_PLAIN:
        total = 0.0
        i = 0
        for c in range(n_cutoffs):
            n = min(cutoffs[c], ptr[q + 1] - ptr[q])
            while i < n:
                total += value[grade[ptr[q] + i]] * by_rank[i]
                i += 1
            (<double*> (out + q * of_query + c * of_cutoff))[0] = total
        q += 1
    return q


cdef items_t _items(const double[::1] value, const uint8_t[::1] grade) noexcept:
    """The items, whose values are looked up if there are grades."""
    cdef items_t items
    items.value = &value[0] if value.shape[0] > 0 else NULL
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


def joint(
    const double[::1] x, const double[::1] y, const double[:] most, const int64_t[::1] ptr,
    const int64_t[::1] tie_end, double[::1] out,
):
    """Expected x_i * min(y_1 + ... + y_i, most) at each position, over all orders of tied items.

    An `x` or `y` of length 1 is that of all. With `most`, a whole number for each query, x and y are 0 or 1, and never
    both 1.
    """
    cdef int64_t q, i, j, stop, u = x.shape[0] > 1, v = y.shape[0] > 1
    cdef double before, m, sum_x, sum_y, sum_xy, level, slope, limit = INFINITY
    cdef bint tied = tie_end is not None
    with nogil:
        for q in range(ptr.shape[0] - 1):
            before = 0.0
            if most is not None:
                limit = most[q]
            i = ptr[q]
            while not tied and i < ptr[q + 1]:
                before += y[v * i]
                out[i] = x[u * i] * min(before, limit)
                i += 1
            while i < ptr[q + 1]:
                stop = tie_end[i]
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
                    _joint_block(stop - i, sum_x / m, sum_y, before, limit, &out[i])
                    before += sum_y
                    i = stop
                    continue
                level = (sum_x * before + sum_xy) / m
                slope = (sum_x * sum_y - sum_xy) / (m * (m - 1))
                for j in range(i, stop):
                    out[j] = level + slope * (j - i)
                before += sum_y
                i = stop


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
