# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True, auto_pickle=False
"""Orders, and primitives bound to the arrays that they read and write.

In: arrays, given once when a `Step` is made. Out: the array of each step, whenever it is called, and ratios of them.
`Lists` is what kernels know of an order. `ScoreOrder` and `BestOrder` rank one block of rows after the other into the
same arrays. A kernel takes longer to look at an array than to work on ten rows, so each array is looked at once.
"""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t, uint8_t

from sklearn_rank._engine.kernels.agreement cimport centered_ranks, centered_ranks_of_ties, pairs
from sklearn_rank._engine.kernels.cascade cimport cascade, cascade_upwards
from sklearn_rank._engine.kernels.common cimport bits_of
from sklearn_rank._engine.kernels.grades cimport count_grades_at_least, look_up, rank_grades
from sklearn_rank._engine.kernels.order cimport AVERAGE, STABLE, number, rank_queries, take_first, tie_queries
from sklearn_rank._engine.kernels.sums cimport cumsum, joint, means_of_grades, means_of_items

cdef enum:
    DIVIDED_TOGETHER = 512      # queries whose columns are all divided before the next ones

cdef double MIN_DENOMINATOR = 1e-292    # least denominator that has all its digits

cpdef enum:
    KERNEL_CUMSUM = 0
    KERNEL_JOINT = 1
    KERNEL_MEANS = 2
    KERNEL_CASCADE = 3
    KERNEL_CASCADE_UPWARDS = 4
    KERNEL_PAIRS = 5
    KERNEL_CENTERED_RANKS = 6
    KERNEL_LOOK_UP = 7
    KERNEL_RANKS = 8
    KERNEL_SPREAD = 9
    KERNEL_AT_RANKS = 10
    KERNEL_COUNT = 11


cdef class Lists:
    """The lists of an order: where they begin, where ties end, and the grade at each position."""
    cdef const int64_t[::1] ptr, tie_end
    cdef const uint8_t[::1] grade
    cdef readonly int64_t depth
    # The rows that are ranked, where an order ranks blocks of them.
    cdef const uint8_t[::1] row_grade
    cdef const int64_t[::1] indptr

    def __init__(self, ptr, tie_end, grade, depth):
        self.ptr, self.tie_end, self.grade, self.depth = ptr, tie_end, grade, depth

    @property
    def n_queries(self):
        """Number of lists."""
        return self.ptr.shape[0] - 1

    @property
    def n_positions(self):
        """Number of positions of all of them."""
        return self.ptr[self.ptr.shape[0] - 1]


cdef class ScoreOrder(Lists):
    """Rows of one block after the other by falling score, ranked into arrays with room for the largest block."""
    cdef int64_t[::1] all_ptr, all_ends     # OUT
    cdef uint8_t[::1] all_grades            # OUT
    cdef double[::1] work
    cdef int64_t ties, longest
    cdef bint only_grades   # no step reads ties of rows of grade 0 with each other

    def __init__(self, depth, ties, longest, grade, tie_end, ptr, work):
        self.depth, self.ties, self.longest, self.work = depth, ties, longest, work
        self.all_grades, self.all_ends, self.all_ptr, self.only_grades = grade, tie_end, ptr, True

    def read_all_ties(self):
        """Write all ties from now on, because a step reads them."""
        self.only_grades = False

    cdef int rank(
        self, const double[::1] score, const float[::1] narrow_score, const uint8_t[::1] grade,
        const int64_t[::1] indptr, bint is_constant,
    ) except -1:
        """Rank the rows of a block; those whose scores are all equal are in order as they stand."""
        cdef int64_t n_queries = indptr.shape[0] - 1
        cdef int64_t[::1] ptr = self.all_ptr[:n_queries + 1]
        self.row_grade, self.indptr, self.ptr, self.tie_end = grade, indptr, ptr, None
        if is_constant and self.ties == AVERAGE:
            tie_queries(indptr, ptr, self.all_ends)
            self.grade, self.tie_end = grade, self.all_ends
            return 0
        if is_constant and self.ties == STABLE:
            take_first(grade, indptr, self.depth, self.all_grades, ptr)
        elif rank_queries(
            score, narrow_score, None, grade, indptr, self.depth, self.ties, False, self.longest, None,
            self.all_ends, ptr, self.all_grades, self.work, self.only_grades,
        ):
            self.tie_end = self.all_ends
        self.grade = self.all_grades[:ptr[n_queries]]
        return 0

    cdef void forget(self) noexcept:
        """Let go of the rows."""
        self.row_grade = self.indptr = self.grade = None


cdef class BestOrder(Lists):
    """The best order of each block, found by counting grades of at most `highest`."""
    cdef ScoreOrder order
    cdef uint8_t[::1] all_grades            # OUT
    cdef int64_t[::1] all_ptr               # OUT
    cdef int64_t highest

    def __init__(self, order, highest, grade, ptr):
        self.order, self.highest, self.all_grades, self.all_ptr = order, highest, grade, ptr
        self.depth = self.order.depth

    def __call__(self):
        cdef const uint8_t[::1] grade = self.order.row_grade
        cdef const int64_t[::1] indptr = self.order.indptr
        cdef int64_t n_queries = indptr.shape[0] - 1
        cdef int64_t[::1] ptr = self.all_ptr[:n_queries + 1]
        rank_grades(grade, indptr, self.depth, self.highest, self.all_grades[:grade.shape[0]], ptr)
        self.ptr, self.grade = ptr, self.all_grades[:ptr[n_queries]]
        return True


cdef class Step:
    """A primitive, the lists that it is of, and its operands: see `primitives.py`.

    Values `by_grade` are one for each grade; a single value is for all items. A call returns False where a cascade is
    given numbers that are not probabilities.
    """
    cdef int64_t kernel, least
    cdef Lists lists, other
    cdef const double[::1] x, y, by_rank
    cdef bint x_by_grade, y_by_grade, over_rank
    cdef const int64_t[::1] cutoffs
    cdef const double[:, :] of_query
    cdef double[:, ::1] work
    cdef int64_t[:, ::1] work_places
    cdef double[::1] positions              # OUT, a number for each position
    cdef double[:, :] queries               # OUT, numbers of each query

    def __init__(self, kernel, lists, *, x=None, x_by_grade=False, y=None, y_by_grade=False, by_rank=None,
                 over_rank=False, cutoffs=None, of_query=None, least=0, other=None, work=None, work_places=None,
                 out=None):
        self.kernel, self.lists, self.other, self.least = kernel, lists, other, least
        self.x, self.x_by_grade, self.y, self.y_by_grade = x, x_by_grade, y, y_by_grade
        self.by_rank, self.over_rank, self.cutoffs, self.of_query = by_rank, over_rank, cutoffs, of_query
        self.work, self.work_places = work, work_places
        if out.ndim == 1:
            self.positions = out
        else:
            self.queries = out

    def __call__(self):
        cdef Lists lists = self.lists
        cdef const uint8_t[::1] x_grade = lists.grade if self.x_by_grade else None
        cdef const uint8_t[::1] y_grade = lists.grade if self.y_by_grade else None
        cdef int64_t kernel = self.kernel
        if kernel == KERNEL_CUMSUM:
            cumsum(
                self.x, x_grade, self.y, self.by_rank, self.over_rank, lists.ptr, self.cutoffs, lists.tie_end,
                self.queries,
            )
        elif kernel == KERNEL_JOINT:
            joint(
                self.x, x_grade, self.y, y_grade, self.of_query[:, 0] if self.of_query is not None else None, lists.ptr,
                lists.tie_end, self.work, self.positions,
            )
        elif kernel == KERNEL_MEANS and self.x_by_grade and self.y_by_grade:
            means_of_grades(lists.grade, self.x, self.y, lists.ptr, self.cutoffs, lists.tie_end, self.queries)
        elif kernel == KERNEL_MEANS:
            means_of_items(self.x, self.y, lists.ptr, self.cutoffs, lists.tie_end, self.queries)
        elif kernel == KERNEL_CASCADE:
            return cascade(self.x, x_grade, lists.ptr, lists.tie_end, lists.depth, self.work, self.positions)
        elif kernel == KERNEL_CASCADE_UPWARDS:
            return cascade_upwards(self.x, x_grade, lists.ptr, lists.tie_end, self.work, self.positions)
        elif kernel == KERNEL_PAIRS:
            pairs(self.x, lists.ptr, lists.tie_end, self.queries, self.work[0], self.work[1], self.work_places[0],
                  self.work_places[1])
        elif kernel == KERNEL_CENTERED_RANKS and self.x is None:
            centered_ranks_of_ties(lists.ptr, lists.tie_end, self.positions)
        elif kernel == KERNEL_CENTERED_RANKS:
            centered_ranks(self.x, lists.ptr, self.positions, self.work[0], self.work[1], self.work_places[0],
                           self.work_places[1])
        elif kernel == KERNEL_LOOK_UP:
            look_up(self.x, lists.grade, self.positions)
        elif kernel == KERNEL_RANKS:
            number(lists.ptr, self.positions)
        elif kernel == KERNEL_SPREAD:
            _spread(self.of_query, lists.ptr, self.positions)
        elif kernel == KERNEL_AT_RANKS:
            _take_at_ranks(self.x, self.other.ptr, lists.ptr, self.positions)
        else:
            count_grades_at_least(lists.row_grade, lists.indptr, self.least, self.queries)
        return True


cdef void _spread(const double[:, :] of_query, const int64_t[::1] ptr, double[::1] out) noexcept:
    """Write a number of each query at each of its positions."""
    cdef int64_t q, i
    with nogil:
        for q in range(ptr.shape[0] - 1):
            for i in range(ptr[q], ptr[q + 1]):
                out[i] = of_query[q, 0]


cdef void _take_at_ranks(
    const double[::1] x, const int64_t[::1] ptr_of_x, const int64_t[::1] ptr, double[::1] out
) noexcept:
    """Write the number that another order has at the rank of each position; below its end its last one, or 0."""
    cdef int64_t q, i, n
    with nogil:
        for q in range(ptr.shape[0] - 1):
            n = ptr_of_x[q + 1] - ptr_of_x[q]
            for i in range(ptr[q + 1] - ptr[q]):
                out[ptr[q] + i] = x[ptr_of_x[q] + min(i, n - 1)] if n > 0 else 0.0


cdef class Ratio:
    """Quotient of two tables of numbers of queries, or `otherwise` where it is undefined."""
    cdef const double[:, :] numerator, denominator, needed
    cdef double otherwise

    def __init__(self, numerator, denominator, needed, otherwise):
        self.numerator, self.denominator, self.needed, self.otherwise = numerator, denominator, needed, otherwise

    cdef bint write(self, double[:, :] out, uint8_t[:, :] undefined) noexcept:
        return divide(self.numerator, self.denominator, self.needed, self.otherwise, out, undefined)


cdef class Program:
    """All that is done with a block of rows: they are ranked, steps are taken, and quotients are written to `outs`.

    Each quotient has two arrays there, for values and for whether they are undefined. A call returns False where a step
    or a quotient finds something wrong, and lets go of the rows.
    """
    cdef list orders, steps, ratios

    def __init__(self, orders, steps, ratios):
        self.orders, self.steps, self.ratios = orders, steps, ratios

    def __call__(self, grade, score, const int64_t[::1] indptr, bint is_constant, outs):
        cdef const uint8_t[::1] grades = grade
        cdef const double[::1] wide = None
        cdef const float[::1] narrow = None
        cdef ScoreOrder order
        cdef Ratio ratio
        if len(outs) != len(self.ratios):
            raise ValueError("each quotient needs two arrays")
        if score.itemsize == sizeof(double):
            wide = score
        else:
            narrow = score
        try:
            for order in self.orders:
                order.rank(wide, narrow, grades, indptr, is_constant)
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

    It is undefined where the denominator, or the `needed` number of the query, is 0: `undefined` is True there and not
    written elsewhere. Numerator and denominator broadcast; columns of `out` are contiguous. Return whether all other
    numbers are finite and no denominator is below `MIN_DENOMINATOR`.
    """
    cdef int64_t c, first = 0, n, i, n_undefined = 0, n_queries = out.shape[0], n_step = 0, d_step = 0, needed_step = 0
    cdef bint valid = True, in_range, any_zero, known
    cdef double once
    cdef const double* x
    cdef const double* y
    cdef const double* z = NULL
    cdef double* column
    cdef int32_t[DIVIDED_TOGETHER] place
    if numerator.shape[0] > 1:
        n_step = numerator.strides[0] // <int64_t> sizeof(double)
    if denominator.shape[0] > 1:
        d_step = denominator.strides[0] // <int64_t> sizeof(double)
    if needed is not None:
        needed_step = needed.strides[0] // <int64_t> sizeof(double)
    with nogil:
        while first < n_queries:
            n = min(n_queries - first, <int64_t> DIVIDED_TOGETHER)
            known = False
            if needed is not None:
                z = &needed[0, 0] + needed_step * first
            for c in range(out.shape[1]):
                x = &numerator[0, c if numerator.shape[1] > 1 else 0] + n_step * first
                y = &denominator[0, c if denominator.shape[1] > 1 else 0] + d_step * first
                column = &out[first, c]
                once = y[0]  # never written to, which the compiler can see
                if n_step == d_step == 1:  # which it has to know, to take two queries at once
                    in_range = _divide_all(x, 1, y, 1, n, column, &any_zero)
                elif n_step == 1 and d_step == 0 and once == 1.0:
                    in_range = _copy_all(x, n, column)
                    any_zero = False
                elif n_step == 1 and d_step == 0:
                    in_range = _divide_all(x, 1, &once, 0, n, column, &any_zero)
                else:
                    in_range = _divide_all(x, n_step, y, d_step, n, column, &any_zero)
                if z != NULL or any_zero:
                    if not known:
                        n_undefined = _find_undefined(y, d_step, z, needed_step, n, place)
                        known = denominator.shape[1] == 1
                    for i in range(n_undefined):
                        column[place[i]] = otherwise
                        undefined[first + place[i], c] = True
                    in_range = in_range or _are_others_in_range(x, n_step, y, d_step, n, place, n_undefined)
                valid &= in_range
            first += n
    return valid


cdef inline bint _divide_all(
    const double* x, int64_t x_step, const double* y, int64_t y_step, int64_t n, double* out, bint* any_zero
) noexcept nogil:
    """Ratios, whether a denominator is 0, and whether all numbers of the others are in range.

    Bits of numbers that are not negative rise with them, so differences from the bits of the bounds have the sign bit
    where one is out of range, and so has 0 less 1. Compilers vectorize this, but not a comparison.
    """
    cdef int64_t q, a, b, wrong = 0, zero = 0, infinite = bits_of(INFINITY), least = bits_of(MIN_DENOMINATOR)
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
            valid &= (fabs(x[x_step * q]) <= DBL_MAX) & (MIN_DENOMINATOR <= fabs(y[y_step * q])) & (
                fabs(y[y_step * q]) <= DBL_MAX
            )
    return valid
