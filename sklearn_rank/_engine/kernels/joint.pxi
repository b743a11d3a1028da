# Joint sums down ranked queries: a value of each item times the sum of another down to it, in expectation over tied
# items; `rank.pyx` includes it.

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
    cdef items_t of_x = _items(x, x_grade), of_y = _items(y, y_grade)
    cdef bint exact = of_x.whole and of_y.whole and most is None
    cdef numbers_t packed
    cdef bint are_packed = exact and of_x.grade != NULL and of_y.grade != NULL and _pack(x, y, &packed)
    cdef const int64_t* all_ends = _pointer(tie_end)
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
            ends = _ties_of(all_ends, first, first + n)
            if most is not None:
                limit = most[q]
            if ends == NULL and of_y.grade != NULL and (of_x.grade != NULL or of_x.step == 0):
                _joint_of_grades(&of_x, &of_y, first, n, limit, &out[first])
                continue
            if ends != NULL and n <= N_PLAIN and are_packed:
                _joint_of_packed(&packed, of_x.grade + first, ends + first, first, n, &out[first])
                continue
            xs = _values_from(&of_x, first, n, x_room)
            ys = _values_from(&of_y, first, n, y_room)
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


cdef inline const double* _values_from(const items_t* items, int64_t first, int64_t n, double* room) noexcept nogil:
    """Values of some items, those of grades looked up: into room that stays in the cache, where an array would not."""
    cdef int64_t i
    if items.grade == NULL:
        return items.value + items.step * first
    for i in range(n):
        room[i] = items.value[items.grade[first + i]]
    return room


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
            stop = _end_of_turn(tie_end, first + i, first + n) - first
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


cdef inline int64_t _end_of_turn(const int64_t* tie_end, int64_t start, int64_t stop) noexcept nogil:
    """End of up to four items from `start` on, which is not tied, of which none is.

    So they are taken together wherever a list ends, and whatever is tied below.
    """
    cdef int64_t i = start + 1
    stop = min(stop, start + TOGETHER)
    while i < stop and (tie_end == NULL or tie_end[i] == i + 1):
        i += 1
    return i


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
