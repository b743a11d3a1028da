# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True, auto_pickle=False
"""Kernels and the arrays that they read and write, looked at once, and the quotients in which a plan ends.

In: the operands of a kernel, and the order whose lists it reads. Out: a call that writes its results for the lists that
the order has now. To look at its arrays takes a kernel ten times as long as to work on ten rows, and Python, which one
thread at a time can run, longer than to work on a hundred. Each class has the operands of the kernel that it calls, but
for what the order has. Values `by_grade` are those of each grade, which are looked up.
"""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t

from sklearn_rank._engine.kernels.agreement cimport centred_ranks_of_grades, centred_ranks_of_ties, pairs_of_grades
from sklearn_rank._engine.kernels.cascade cimport MOST_STOP_SUMS, cascade, cascade_upwards, stop_sum_t, sum_cascade
from sklearn_rank._engine.kernels.common cimport bits_of
from sklearn_rank._engine.kernels.grades cimport count_grades_at_least, look_up, rank_grades
from sklearn_rank._engine.kernels.order cimport AVERAGE, STABLE, number, rank_queries, take_first, tie_queries
from sklearn_rank._engine.kernels.sums cimport cumsum, joint, lists_of, means_of_grades, means_of_items, means_of_two

cdef enum:
    TAKEN_AT_ONCE = 512         # queries of which all columns are divided before the next ones

cdef double LEAST = 1e-292      # least denominator that has all its digits


cdef class BoundLists:
    """The lists of an order: where they begin, where ties end, and the grade at each position."""
    cdef int64_t[::1] ptr
    cdef const int64_t[::1] tie_end
    cdef const uint8_t[::1] grade
    cdef int64_t depth

    @property
    def n_queries(self):
        """Number of lists."""
        return self.ptr.shape[0] - 1

    @property
    def n_positions(self):
        """Number of positions of all of them."""
        return self.ptr[self.ptr.shape[0] - 1]


cdef class BoundScores(BoundLists):
    """Lists by falling score."""
    cdef int64_t[::1] ends
    cdef double[::1] room
    cdef int64_t ties, longest
    cdef bint only_grades       # ties of rows of grade 0 with each other need not be written

    cdef int rank(
        self, const double[::1] score, const float[::1] narrow_score, const double[::1] label,
        const uint8_t[::1] row_grade, const int64_t[::1] indptr, int64_t[::1] order, uint8_t[::1] grade,
    ) except -1:
        """Rank rows as `rank_queries` does."""
        cdef bint tied = rank_queries(
            score, narrow_score, label, row_grade, indptr, self.depth, self.ties, False, self.longest, order,
            self.ends, self.ptr, grade, self.room, self.only_grades,
        )
        self.tie_end = None
        if tied:
            self.tie_end = self.ends
        return 0


cdef class BoundRanking(BoundScores):
    """Rows of the same labels, ranked by one score after the other into arrays that stay."""
    cdef const double[::1] label
    cdef const int64_t[::1] indptr
    cdef int64_t[::1] order

    def __init__(self, label, indptr, depth, ties, longest, order, tie_end, ptr, room):
        self.label, self.indptr, self.depth, self.ties, self.longest = label, indptr, depth, ties, longest
        self.order, self.ends, self.ptr, self.room, self.only_grades = order, tie_end, ptr, room, False

    def __call__(self, const double[::1] score):
        self.rank(score, None, self.label, None, self.indptr, self.order, None)


cdef class BoundBlock(BoundScores):
    """Rows of one block after the other, ranked into arrays with room for the largest."""
    cdef const uint8_t[::1] row_grade
    cdef const int64_t[::1] indptr
    cdef int64_t[::1] all_ptr
    cdef uint8_t[::1] all_grades

    def __init__(self, depth, ties, longest, grade, tie_end, ptr, room):
        self.depth, self.ties, self.longest = depth, ties, longest
        self.all_grades, self.ends, self.all_ptr, self.room, self.only_grades = grade, tie_end, ptr, room, True

    def read_all_ties(self):
        """Write all ties from now on, as someone reads them."""
        self.only_grades = False

    cdef int take(
        self, const double[::1] score, const float[::1] narrow_score, const uint8_t[::1] grade,
        const int64_t[::1] indptr, bint is_constant,
    ) except -1:
        """Rank the rows of a block."""
        self.row_grade, self.indptr, self.ptr = grade, indptr, self.all_ptr[:indptr.shape[0]]
        if is_constant and self.ties == AVERAGE:
            tie_queries(indptr, self.ptr, self.ends)
            self.grade, self.tie_end = grade, self.ends    # in order as they stand
            return 0
        if is_constant and self.ties == STABLE:            # and so are these; no score is read again
            take_first(grade, indptr, self.depth, self.all_grades, self.ptr)
            self.grade, self.tie_end = self.all_grades[:self.ptr[indptr.shape[0] - 1]], None
            return 0
        self.rank(score, narrow_score, None, grade, indptr, None, self.all_grades)
        self.grade = self.all_grades[:self.ptr[indptr.shape[0] - 1]]
        return 0

    cdef void forget(self) noexcept:
        """Let go of the rows."""
        self.row_grade = self.indptr = self.grade = None


cdef class BoundBest(BoundLists):
    """The best order of each block."""
    cdef BoundBlock block
    cdef uint8_t[::1] all_grades
    cdef int64_t[::1] all_ptr
    cdef int64_t highest

    def __init__(self, block, highest, grade, ptr):
        self.block, self.highest, self.all_grades, self.all_ptr = block, highest, grade, ptr
        self.depth, self.tie_end = self.block.depth, None

    def __call__(self):
        cdef const uint8_t[::1] grade = self.block.row_grade
        cdef const int64_t[::1] indptr = self.block.indptr
        self.ptr = self.all_ptr[:indptr.shape[0]]
        rank_grades(grade, indptr, self.depth, self.highest, self.all_grades[:grade.shape[0]], self.ptr)
        self.grade = self.all_grades[:self.ptr[indptr.shape[0] - 1]]


cdef class BoundRows:
    """Values of rows, in the order of a ranking."""
    cdef BoundRanking ranking
    cdef const double[::1] of_rows
    cdef double[::1] out

    def __init__(self, ranking, of_rows, out):
        self.ranking, self.of_rows, self.out = ranking, of_rows, out

    def __call__(self):
        cdef const int64_t[::1] ptr = self.ranking.ptr
        cdef int64_t i
        for i in range(ptr[ptr.shape[0] - 1]):
            self.out[i] = self.of_rows[self.ranking.order[i]]


cdef class BoundGrades:
    """A function of the grade at each position."""
    cdef BoundLists order
    cdef const double[::1] table
    cdef double[::1] out

    def __init__(self, order, table, out):
        self.order, self.table, self.out = order, table, out

    def __call__(self):
        look_up(self.table, self.order.grade, self.out)


cdef class BoundRanks:
    """The rank at each position."""
    cdef BoundLists order
    cdef double[::1] out

    def __init__(self, order, out):
        self.order, self.out = order, out

    def __call__(self):
        number(self.order.ptr, self.out)


cdef class BoundBeside:
    """Numbers of the positions of another order, at those of the same rank; below it the last one."""
    cdef BoundLists order, other
    cdef const double[::1] x
    cdef double[::1] out

    def __init__(self, order, other, x, out):
        self.order, self.other, self.x, self.out = order, other, x, out

    def __call__(self):
        cdef const int64_t[::1] ptr = self.order.ptr, others = self.other.ptr
        cdef int64_t q, i, n
        with nogil:
            for q in range(ptr.shape[0] - 1):
                n = others[q + 1] - others[q]
                for i in range(ptr[q + 1] - ptr[q]):
                    self.out[ptr[q] + i] = self.x[others[q] + min(i, n - 1)]


cdef class BoundSpread:
    """A number of each query, at each of its positions."""
    cdef BoundLists order
    cdef const double[:, :] x
    cdef double[::1] out

    def __init__(self, order, x, out):
        self.order, self.x, self.out = order, x, out

    def __call__(self):
        cdef const int64_t[::1] ptr = self.order.ptr
        cdef int64_t q, i
        with nogil:
            for q in range(ptr.shape[0] - 1):
                for i in range(ptr[q], ptr[q + 1]):
                    self.out[i] = self.x[q, 0]


cdef class BoundCount:
    """Rows of each query of a block whose grade is at least `least`."""
    cdef BoundBlock block
    cdef int32_t least
    cdef double[:, ::1] out

    def __init__(self, block, least, out):
        self.block, self.least, self.out = block, least, out

    def __call__(self):
        count_grades_at_least(self.block.row_grade, self.block.indptr, self.least, self.out)


cdef class BoundSum:
    cdef BoundLists order
    cdef const double[::1] value, weight, discount
    cdef bint by_grade, per_rank
    cdef const int64_t[::1] cutoffs
    cdef double[:, :] out

    def __init__(self, order, value, by_grade, weight, discount, per_rank, cutoffs, out):
        self.order, self.value, self.by_grade, self.weight, self.discount = order, value, by_grade, weight, discount
        self.per_rank, self.cutoffs, self.out = per_rank, cutoffs, out

    def __call__(self):
        cumsum(
            self.value, self.order.grade if self.by_grade else None, self.weight, self.discount, self.per_rank,
            self.order.ptr, self.cutoffs, self.order.tie_end, self.out,
        )


cdef class BoundJoint:
    cdef BoundLists order
    cdef const double[::1] x, y
    cdef bint x_by_grade, y_by_grade
    cdef const double[:] most
    cdef double[:, ::1] room
    cdef double[::1] out

    def __init__(self, order, x, x_by_grade, y, y_by_grade, most, room, out):
        self.order, self.x, self.x_by_grade, self.y, self.y_by_grade = order, x, x_by_grade, y, y_by_grade
        self.most, self.room, self.out = most, room, out

    def __call__(self):
        cdef const uint8_t[::1] grade = self.order.grade
        joint(
            self.x, grade if self.x_by_grade else None, self.y, grade if self.y_by_grade else None, self.most,
            self.order.ptr, self.order.tie_end, self.room, self.out,
        )


cdef class BoundMeans:
    """Sums of means, and those of another value beside them if one is added."""
    cdef BoundLists order
    cdef const double[::1] relevant, value, other
    cdef bint by_grade
    cdef readonly bint has_other
    cdef const int64_t[::1] cutoffs
    cdef double[:, :] out, out_of_other

    def __init__(self, order, relevant, value, by_grade, cutoffs, out):
        self.order, self.relevant, self.value, self.by_grade = order, relevant, value, by_grade
        self.cutoffs, self.out, self.has_other = cutoffs, out, False

    def add(self, other, out):
        """Sum the means of another value by grade too, from now on."""
        if self.has_other or not self.by_grade:
            raise ValueError("there is no room for another value")
        self.other, self.out_of_other, self.has_other = other, out, True

    def __call__(self):
        cdef BoundLists of = self.order
        if self.has_other:
            means_of_two(
                of.grade, self.relevant, self.value, self.other, of.ptr, self.cutoffs, of.tie_end, self.out,
                self.out_of_other,
            )
        elif self.by_grade:
            means_of_grades(of.grade, self.relevant, self.value, of.ptr, self.cutoffs, of.tie_end, self.out)
        else:
            means_of_items(self.relevant, self.value, of.ptr, self.cutoffs, of.tie_end, self.out)


cdef class BoundCascade:
    cdef BoundLists order
    cdef const double[::1] p
    cdef bint by_grade
    cdef double[:, ::1] room
    cdef double[::1] out

    def __init__(self, order, p, by_grade, room, out):
        self.order, self.p, self.by_grade, self.room, self.out = order, p, by_grade, room, out

    def __call__(self):
        cdef BoundLists of = self.order
        return cascade(
            self.p, of.grade if self.by_grade else None, of.ptr, of.tie_end, of.depth, self.room, self.out,
        )


cdef class BoundCascadeUpwards(BoundCascade):
    def __call__(self):
        cdef BoundLists of = self.order
        return cascade_upwards(
            self.p, of.grade if self.by_grade else None, of.ptr, of.tie_end, self.room, self.out,
        )


cdef class BoundStops:
    """Sums of the probability to stop at each position, times a weight by rank, of one cascade."""
    cdef BoundLists order
    cdef const double[::1] p
    cdef bint by_grade
    cdef double[:, ::1] room
    cdef double[::1] stops
    cdef stop_sum_t[MOST_STOP_SUMS] sums
    cdef readonly int64_t n_left    # sums that may be added
    cdef list kept                  # arrays that the sums point to

    def __init__(self, order, p, by_grade, room, stops):
        self.order, self.p, self.by_grade, self.room, self.stops = order, p, by_grade, room, stops
        self.n_left, self.kept = MOST_STOP_SUMS, []

    def add(self, const double[::1] discount, bint per_rank, const int64_t[::1] cutoffs, double[:, :] out):
        """Write one more sum from now on, of finite weights."""
        cdef stop_sum_t* of = &self.sums[MOST_STOP_SUMS - self.n_left]
        if self.n_left == 0:
            raise ValueError("there is no room for another sum")
        of.by_rank, of.per_rank, of.lists = NULL, per_rank, lists_of(cutoffs, cutoffs, out)  # no lists are known yet
        if discount is not None:
            of.by_rank = &discount[0]
        self.kept.append((discount, cutoffs, out))
        self.n_left -= 1

    def __call__(self):
        cdef BoundLists of = self.order
        return sum_cascade(
            self.p, of.grade if self.by_grade else None, of.ptr, of.tie_end, of.depth, self.room, &self.stops[0],
            self.sums, MOST_STOP_SUMS - self.n_left,
        )


cdef class BoundPairs:
    """Pairs of each list, labels being the grades."""
    cdef BoundLists order
    cdef int64_t highest
    cdef double[:, ::1] out

    def __init__(self, order, highest, out):
        self.order, self.highest, self.out = order, highest, out

    def __call__(self):
        pairs_of_grades(self.order.grade, self.order.ptr, self.order.tie_end, self.highest, self.out)


cdef class BoundCentredRanks:
    """Centred ranks by grade, none above `highest`, or by what the lists are in the order of."""
    cdef BoundLists order
    cdef bint by_grade
    cdef int64_t highest
    cdef double[::1] out

    def __init__(self, order, by_grade, highest, out):
        self.order, self.by_grade, self.highest, self.out = order, by_grade, highest, out

    def __call__(self):
        if self.by_grade:
            centred_ranks_of_grades(self.order.grade, self.order.ptr, self.highest, self.out)
        else:
            centred_ranks_of_ties(self.order.ptr, self.order.tie_end, self.out)


cdef class BoundRatio:
    """Ratios, written to arrays that stay, or to others."""
    cdef const double[:, :] numerator, denominator, needed
    cdef double otherwise
    cdef double[:, :] out
    cdef uint8_t[:, :] undefined

    def __init__(self, numerator, denominator, needed, otherwise, out, undefined):
        self.numerator, self.denominator, self.needed, self.otherwise = numerator, denominator, needed, otherwise
        self.out, self.undefined = out, undefined

    def __call__(self):
        return self.write(self.out, self.undefined)

    cdef bint write(self, double[:, :] out, uint8_t[:, :] undefined) noexcept:
        return divide(self.numerator, self.denominator, self.needed, self.otherwise, out, undefined)


cdef class BoundPlan:
    """All that is done with a block of rows: they are ranked, then steps are taken, and quotients written to `outs`.

    Each has two arrays, for values and whether they are undefined. A call returns False where a step or a quotient says
    that something is wrong, and lets go of the rows.
    """
    cdef list orders, steps, ratios

    def __init__(self, orders, steps, ratios):
        self.orders, self.steps, self.ratios = orders, steps, ratios

    def __call__(self, grade, score, const int64_t[::1] indptr, bint is_constant, outs):
        cdef const uint8_t[::1] grades = grade
        cdef const double[::1] wide = None
        cdef const float[::1] narrow = None
        cdef BoundBlock order
        cdef BoundRatio ratio
        if len(outs) != len(self.ratios):
            raise ValueError("each quotient needs two arrays")
        if score.itemsize == sizeof(double):
            wide = score
        else:
            narrow = score
        try:
            for order in self.orders:
                order.take(wide, narrow, grades, indptr, is_constant)
            for step in self.steps:
                if step() is False:
                    return False
            for ratio, (out, undefined) in zip(self.ratios, outs):
                if not ratio.write(out, undefined):
                    return False
        finally:
            for order in self.orders:
                order.forget()
        return True


cpdef bint divide(
    const double[:, :] numerator, const double[:, :] denominator, const double[:, :] needed, double otherwise,
    double[:, :] out, uint8_t[:, :] undefined,
) noexcept:
    """Write the ratio of each query (row) and cutoff, or `otherwise` where it is undefined; one pass for all checks.

    It is undefined where the denominator, or what is `needed` of a query, is 0: such places are marked in `undefined`,
    which is written to nowhere else. A row or a column that stands alone counts for all, and columns of `out` are
    contiguous. Return whether all numbers of the others are finite and no denominator is too small for its digits.
    """
    cdef int64_t c, first = 0, n, i, n_undefined = 0, n_queries = out.shape[0], n_step = 0, d_step = 0, needed_step = 0
    cdef bint valid = True, in_range, any_zero, known
    cdef double once
    cdef const double* x
    cdef const double* y
    cdef const double* z = NULL
    cdef double* to
    cdef int32_t[TAKEN_AT_ONCE] place
    if n_queries == 0:
        return True
    if numerator.shape[0] > 1:
        n_step = numerator.strides[0] // <int64_t> sizeof(double)
    if denominator.shape[0] > 1:
        d_step = denominator.strides[0] // <int64_t> sizeof(double)
    if needed is not None:
        needed_step = needed.strides[0] // <int64_t> sizeof(double)
    with nogil:
        while first < n_queries:
            n = min(n_queries - first, <int64_t> TAKEN_AT_ONCE)
            known = False
            if needed is not None:
                z = &needed[0, 0] + needed_step * first
            for c in range(out.shape[1]):
                x = &numerator[0, c if numerator.shape[1] > 1 else 0] + n_step * first
                y = &denominator[0, c if denominator.shape[1] > 1 else 0] + d_step * first
                to = &out[first, c]
                once = y[0]  # which nothing is written to, as the compiler can see
                if n_step == d_step == 1:  # which it has to know, to take two queries at once
                    in_range = _divide_all(x, 1, y, 1, n, to, &any_zero)
                elif n_step == 1 and d_step == 0 and once == 1.0:
                    in_range = _copy_all(x, n, to)
                    any_zero = False
                elif n_step == 1 and d_step == 0:
                    in_range = _divide_all(x, 1, &once, 0, n, to, &any_zero)
                else:
                    in_range = _divide_all(x, n_step, y, d_step, n, to, &any_zero)
                if z != NULL or any_zero:
                    if not known:
                        n_undefined = _find_undefined(y, d_step, z, needed_step, n, place)
                        known = denominator.shape[1] == 1
                    for i in range(n_undefined):
                        to[place[i]] = otherwise
                        undefined[first + place[i], c] = True
                    in_range = in_range or _are_others_in_range(x, n_step, y, d_step, n, place, n_undefined)
                valid &= in_range
            first += n
    return valid


cdef inline bint _divide_all(
    const double* x, int64_t x_step, const double* y, int64_t y_step, int64_t n, double* out, bint* any_zero
) noexcept nogil:
    """Ratios, whether a denominator is 0, and whether all numbers of the others are in range.

    Bits of numbers that are not negative rise with them, so differences from those of the bounds have the sign bit
    where one is out of range, and so has 0 less 1. Compilers vectorize this, and no comparison: half the time.
    """
    cdef int64_t q, a, b, wrong = 0, zero = 0, infinite = bits_of(INFINITY), least = bits_of(LEAST)
    for q in range(n):
        out[q] = x[x_step * q] / y[y_step * q]
        a = bits_of(fabs(x[x_step * q]))
        b = bits_of(fabs(y[y_step * q]))
        zero |= b - 1
        wrong |= ((infinite - 1 - a) | (infinite - 1 - b) | (b - least)) & ~(b - 1)
    any_zero[0] = zero < 0
    return wrong >= 0


cdef inline bint _copy_all(const double* x, int64_t n, double* out) noexcept nogil:
    """The same where each denominator is 1."""
    cdef int64_t q, wrong = 0, infinite = bits_of(INFINITY)
    for q in range(n):
        out[q] = x[q]
        wrong |= infinite - 1 - bits_of(fabs(x[q]))
    return wrong >= 0


cdef inline int64_t _find_undefined(
    const double* y, int64_t y_step, const double* needed, int64_t needed_step, int64_t n, int32_t* place,
) noexcept nogil:
    """Write places where a ratio is undefined, and return how many there are: without a branch for each place."""
    cdef int64_t q, n_found = 0
    cdef bint zero
    for q in range(n):
        place[n_found] = q
        zero = y[y_step * q] == 0.0
        if needed != NULL:
            zero |= needed[needed_step * q] == 0.0
        n_found += zero
    return n_found


cdef bint _are_others_in_range(
    const double* x, int64_t x_step, const double* y, int64_t y_step, int64_t n, const int32_t* place,
    int64_t n_undefined,
) noexcept nogil:
    """Whether all numbers are in range but those at places where the ratio is undefined."""
    cdef int64_t q, i = 0
    cdef bint valid = True
    for q in range(n):
        if i < n_undefined and place[i] == q:
            i += 1
        else:
            valid &= (fabs(x[x_step * q]) <= DBL_MAX) & (LEAST <= fabs(y[y_step * q])) & (
                fabs(y[y_step * q]) <= DBL_MAX
            )
    return valid
