# Kernels and the arrays that they read and write, looked at once; `rank.pyx` includes it.
#
# To look at its arrays takes a kernel ten times as long as to work on ten rows. Each class has the operands of the
# kernel that it calls, but for what the ranking has.

cdef class BoundRanking:
    """Rows of the same labels, ranked by one score after the other into arrays that stay."""
    cdef const double[::1] label
    cdef const int64_t[::1] indptr, tie_end
    cdef int64_t[::1] order, ends, ptr
    cdef double[::1] room
    cdef int64_t depth, ties, longest

    def __init__(self, label, indptr, depth, ties, longest, order, tie_end, ptr, room):
        self.label, self.indptr, self.depth, self.ties, self.longest = label, indptr, depth, ties, longest
        self.order, self.ends, self.ptr, self.room = order, tie_end, ptr, room

    def __call__(self, const double[::1] score):
        cdef bint tied = rank_queries(
            score, None, self.label, None, self.indptr, self.depth, self.ties, False, self.longest,
            self.order, self.ends, self.ptr, None, self.room,
        )
        self.tie_end = None
        if tied:
            self.tie_end = self.ends


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


cdef class BoundSum:
    cdef BoundRanking ranking
    cdef const double[::1] value, weight, discount
    cdef bint per_rank
    cdef const int64_t[::1] cutoffs
    cdef double[:, :] out

    def __init__(self, ranking, value, weight, discount, per_rank, cutoffs, out):
        self.ranking, self.value, self.weight, self.discount = ranking, value, weight, discount
        self.per_rank, self.cutoffs, self.out = per_rank, cutoffs, out

    def __call__(self):
        cdef items_t items = _items(self.value, None)
        cdef lists_t lists = _lists(self.ranking.ptr, self.cutoffs, self.out)
        cdef const double* by_rank = NULL
        if self.discount is not None:
            by_rank = &self.discount[0]
        lists.tie_end = _pointer(self.ranking.tie_end)
        _sum_all(&items, &self.weight[0], self.weight.shape[0] > 1, by_rank, self.per_rank, &lists)


cdef class BoundJoint:
    cdef BoundRanking ranking
    cdef const double[::1] x, y
    cdef const double[:] most
    cdef double[::1] out

    def __init__(self, ranking, x, y, most, out):
        self.ranking, self.x, self.y, self.most, self.out = ranking, x, y, most, out

    def __call__(self):
        joint(self.x, self.y, self.most, self.ranking.ptr, self.ranking.tie_end, self.out)


cdef class BoundMeans:
    cdef BoundRanking ranking
    cdef const double[::1] relevant, value
    cdef const int64_t[::1] cutoffs
    cdef double[:, :] out

    def __init__(self, ranking, relevant, value, cutoffs, out):
        self.ranking, self.relevant, self.value, self.cutoffs, self.out = ranking, relevant, value, cutoffs, out

    def __call__(self):
        means_of_items(self.relevant, self.value, self.ranking.ptr, self.cutoffs, self.ranking.tie_end, self.out)


cdef class BoundCascade:
    cdef BoundRanking ranking
    cdef const double[::1] p
    cdef double[::1] work, out

    def __init__(self, ranking, p, work, out):
        self.ranking, self.p, self.work, self.out = ranking, p, work, out

    def __call__(self):
        cdef BoundRanking of = self.ranking
        return cascade(self.p, of.ptr, of.tie_end, of.depth, self.work, self.out)


cdef class BoundRatio:
    cdef const double[:, :] numerator, denominator, needed
    cdef double otherwise
    cdef double[:, :] out
    cdef uint8_t[:, :] undefined

    def __init__(self, numerator, denominator, needed, otherwise, out, undefined):
        self.numerator, self.denominator, self.needed, self.otherwise = numerator, denominator, needed, otherwise
        self.out, self.undefined = out, undefined

    def __call__(self):
        return divide(self.numerator, self.denominator, self.needed, self.otherwise, self.out, self.undefined)
