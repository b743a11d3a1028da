# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True, auto_pickle=False
"""Order of queries and scans down it: plain loops over typed memoryviews, without the GIL.

Every array is flat. Query q owns rows `indptr[q]:indptr[q+1]` of the data and, once ranked, positions
`ptr[q]:ptr[q+1]`. A tie block is a run of positions with equal scores; `tie_end[i]` is where the block ends that
starts at position i, and `tie_end is None` says that the order is taken as it stands. Of a query without ties only the
first entry is written: `NO_TIES`, so that it takes the steps that it takes alone.

Outputs are passed in; nothing here validates, allocates or knows a metric. What may take a second counts its `steps`,
and looks now and then whether to go on.
"""
from libc.float cimport DBL_MAX, FLT_MAX
from libc.math cimport INFINITY, ceil, exp, exp2, expm1, fabs, floor, log, log1p
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

cdef extern from "<math.h>" nogil:
    bint isgreater(double x, double y)
    bint islessgreater(double x, double y)

from libc.stdint cimport uintptr_t

from sklearn_rank._engine.kernels.common cimport PREFETCH, count_steps, fetch_ahead, longest_of

cdef double ALIKE = 1 + 1e-12   # what a row adds must be more than this times what another adds, to count as more
cdef double NEGLIGIBLE = 1e-18  # a probability of survival below this changes no double that it is added to
cdef double LOG_NEGLIGIBLE = log(NEGLIGIBLE)
cdef double LOG_2 = log(2.0)
cdef double MOST_WHOLE = 2.0**53  # doubles hold each whole number up to it

cdef enum:
    NO_TIES = 0
    FEW = 8                     # labels not worth counting by grade, and tied items not worth taking together
    N_GRADES = 32               # whole labels from 0 that are kept as bytes
    AT_ONCE = 1 << 30           # rows that are counted in 32 bits, of four lanes or one, before the counts are added
    TERMS = 64                  # of a series that has less than 50 which matter

ctypedef fused score_t:
    float
    double

# The tie policies as the kernels know them.
cpdef enum:
    AVERAGE = 0
    STABLE = 1
    WORST = 2
    BEST = 3

ctypedef fused number_t:
    int64_t
    double

include "pairs.pxi"
include "places.pxi"
include "ranges.pxi"
include "order.pxi"
include "short.pxi"
include "ties.pxi"
include "few_labels.pxi"


def view_of(const number_t[::1] x):
    """View of an array to read, which kernels take in its place: they need 0.2 microseconds to look at an array."""
    return x


def table_of(const double[:, :] x):
    """The same of a table."""
    return x


# --- order ------------------------------------------------------------------------------------------------

cpdef bint rank_queries(
    const double[::1] score, const float[::1] narrow_score, const double[::1] label, const uint8_t[::1] grade,
    const int64_t[::1] indptr, int64_t depth, int64_t ties, bint keep_unretrieved, int64_t longest,
    int64_t[::1] order, int64_t[::1] tie_end, int64_t[::1] ptr, uint8_t[::1] out_grade, double[::1] room,
    bint only_grades=False,
) except -1:
    """Write the rows of each query, best score first, down to `depth`; return whether scores are tied.

    Under the average policy a list goes on to the end of the tie block that holds rank `depth`. `tie_end` is written
    where a tie block starts, a single item being one; nothing is if no query has ties. `order` may be None. Scores are
    `narrow_score` if `score` is None. Labels are read under the policies worst and best alone, and not if there are
    grades, which are those of the rows and of the positions. `room` is that of `room_for`.

    If `only_grades` are read, and each row has a rank, ties of rows of grade 0 with each other may not be written.
    """
    cdef const double* wide = NULL
    cdef const float* narrow = NULL
    cdef const double* labels = NULL
    cdef const uint8_t* grades = NULL
    cdef uint8_t* out = NULL
    cdef int64_t q = 0, i, start, n, at, steps = 0
    cdef bint equal, by_label = ties == WORST or ties == BEST
    cdef double bar = -INFINITY if keep_unretrieved else -DBL_MAX  # what a row must reach
    cdef room_t work = _divide(&room[0], longest)
    cdef few_t few
    cdef int64_t* rows = NULL
    cdef int64_t step = 0
    if indptr[indptr.shape[0] - 1] == 0:  # without a row there is nothing to point to
        ptr[:] = 0
        return False
    if order is not None:
        rows = &order[0]
        step = 1
    if score is None:
        narrow = &narrow_score[0]
    else:
        wide = &score[0]
    if label is not None:
        labels = &label[0]
    if grade is not None:
        grades = &grade[0]
        out = &out_grade[0]
    with nogil:
        ptr[0] = 0
        few.indptr, few.ptr, few.n, few.depth, few.bar = &indptr[0], &ptr[0], indptr.shape[0] - 1, depth, bar
        few.grade, few.out, few.order, few.ties = grades, out, rows, ties
        few.tie_end, few.tie_room, few.only_grades = NULL, &tie_end[0], only_grades
        while q < few.n:
            if indptr[q + 1] - indptr[q] <= SHORT:
                q = _rank_few(wide, &few, q) if wide != NULL else _rank_few(narrow, &few, q)
                if q == few.n:
                    break
            if _place_few_labels(wide, &few, q) if wide != NULL else _place_few_labels(narrow, &few, q):
                q += 1
                continue
            start, at = indptr[q], ptr[q]
            n = indptr[q + 1] - start
            if wide != NULL:
                fetch_ahead(wide + start, n * sizeof(double))
                equal = not by_label and _is_one_block(wide + start, n, bar)
            else:
                fetch_ahead(narrow + start, n * sizeof(float))
                equal = not by_label and _is_one_block(narrow + start, n, bar)
            if equal:  # and so sorted already
                if ties == AVERAGE:
                    _tie(&few, q)
                    tie_end[at] = at + n
                else:
                    n = min(depth, n)
                for i in range(step * n):
                    rows[at + i] = start + i
                if grades != NULL:
                    memcpy(out + at, grades + start, n)
            else:
                if wide != NULL:
                    n = _rank_query(wide, labels, grades, start, n, depth, ties, bar, &work, &steps)
                else:
                    n = _rank_query(narrow, labels, grades, start, n, depth, ties, bar, &work, &steps)
                if ties == AVERAGE and _are_any_equal(work.key, n):
                    _tie(&few, q)
                    _mark_ties(work.key, n, at, &tie_end[0])
                elif few.tie_end != NULL and n > 0:
                    tie_end[at] = NO_TIES
                for i in range(step * n):
                    rows[at + i] = start + work.place[i]
                if grades != NULL:
                    _place_grades(grades + start, work.place, n, out + at)
            ptr[q + 1] = at + n
            q += 1
    return few.tie_end != NULL


cdef inline void _place_grades(const uint8_t* grade, const int64_t* place, int64_t n, uint8_t* out) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        out[i] = grade[place[i]]


cdef int64_t _rank_query(
    const score_t* score, const double* label, const uint8_t* grade, int64_t start, int64_t n, int64_t depth,
    int64_t ties, double bar, room_t* work, int64_t* steps,
) except -1 nogil:
    """Put the rows of one query that reach the bar in order, into keys and places of `work`, and return how many.

    Scores, and labels or grades, of all queries are given. Places are those in the query.
    """
    cdef int64_t i, n_chosen, n_kept
    score += start
    depth = min(depth, n)
    if _are_equal(score, n):  # a sort, skipped, would take most of the time of constant scores
        n_chosen = n if n and score[0] >= bar else 0
        for i in range(n_chosen):
            work.key[i] = score[0]
            work.place[i] = i
    else:
        n_chosen = _take_in_order(score, n, depth, bar, work) if n > FEW else 0
        if n_chosen == 0:
            n_chosen = _choose(score, n, depth, bar, work.chosen, work.item, work.key)
            _sort(work.chosen, n_chosen, work.key, work.place, work, steps)
            if n_chosen < n:
                for i in range(n_chosen):
                    work.place[i] = work.item[work.place[i]]
    n_kept = min(depth, n_chosen)
    while ties != STABLE and n_kept < n_chosen and work.key[n_kept] == work.key[n_kept - 1]:
        n_kept += 1
    if ties == AVERAGE or ties == STABLE:
        return n_kept
    _order_ties(label, grade, start, ties == BEST, n_kept, work, steps)
    return min(n_kept, depth)


cdef int _order_ties(
    const double* label, const uint8_t* grade, int64_t start, bint best_first, int64_t n, room_t* work, int64_t* steps,
) except -1 nogil:
    """Inside each tie block, sort by grade if there are grades, else by label; no label (NaN) is the lowest.

    One block of 120 rows with grades takes a sixth of the time.
    """
    cdef int64_t i, begin = 0, end, sign = 1 if best_first else -1
    cdef double y
    cdef double* key = work.chosen
    if grade != NULL:
        grade += start
    else:
        label += start
    while begin < n:
        end = begin + 1
        while end < n and work.key[end] == work.key[begin]:
            end += 1
        if grade != NULL and end - begin > FEW:
            _count_into_order(grade, best_first, work.place + begin, end - begin, work.spare)
        elif grade != NULL:
            _insert_into_order(grade, sign, work.place + begin, end - begin)
        elif end - begin > 1:
            for i in range(begin, end):
                y = label[work.place[i]]
                key[i - begin] = sign * (y if y == y else -INFINITY)
            # The room after the block's own labels serves the merge.
            _merge_sort(key, work.place + begin, end - begin, key + (end - begin), work.spare, steps)
        begin = end
    return 0


cdef inline void _insert_into_order(const uint8_t* grade, int64_t sign, int64_t* place, int64_t n) noexcept nogil:
    """Few places by sign * grade, highest first."""
    cdef int64_t i, j, here
    for i in range(1, n):
        here, j = place[i], i
        while j > 0 and sign * grade[place[j - 1]] < sign * grade[here]:
            place[j] = place[j - 1]
            j -= 1
        place[j] = here


cdef void _count_into_order(
    const uint8_t* grade, bint best_first, int64_t* place, int64_t n, int64_t* spare
) noexcept nogil:
    """Many places by grade, highest or lowest first."""
    cdef int64_t i, g, before = 0, count
    cdef int64_t[N_GRADES] start
    memset(start, 0, sizeof(start))
    for i in range(n):
        start[grade[place[i]]] += 1
    for i in range(N_GRADES - 1, -1, -1):
        g = i if best_first else N_GRADES - 1 - i
        count = start[g]
        start[g] = before
        before += count
    for i in range(n):
        g = grade[place[i]]
        spare[start[g]] = place[i]
        start[g] += 1
    memcpy(place, spare, n * sizeof(int64_t))


cpdef void number(const int64_t[::1] ptr, number_t[::1] rank) noexcept:
    """Write 1, 2, ... along the positions of each query."""
    cdef int64_t q, i
    with nogil:
        for q in range(ptr.shape[0] - 1):
            for i in range(ptr[q], ptr[q + 1]):
                rank[i] = <number_t> (i - ptr[q] + 1)


def rank_labels(
    const double[::1] label, const int64_t[::1] indptr, int64_t depth, int64_t longest, double[::1] out,
    int64_t[::1] ptr, double[::1] room,
):
    """Write the labels of each query, highest first, down to `depth`."""
    cdef int64_t q, i, n, steps = 0
    cdef room_t work = _divide(&room[0], longest)
    if label.shape[0] == 0:
        ptr[:] = 0
        return
    with nogil:
        ptr[0] = 0
        for q in range(indptr.shape[0] - 1):
            n = _rank_query(
                &label[0], NULL, NULL, indptr[q], indptr[q + 1] - indptr[q], depth, STABLE, -INFINITY, &work, &steps,
            )
            for i in range(n):
                out[ptr[q] + i] = work.key[i]
            ptr[q + 1] = ptr[q] + n


def rank_greedily(
    const double[:, ::1] relevant, const int64_t[::1] indptr, int64_t depth, double keep,
    int64_t[::1] order, int64_t[::1] ptr, double[::1] worth, double[::1] bound, int64_t[:, ::1] kind,
):
    """Write the rows of each query down to `depth`, at each rank the one that adds most, the first among equals.

    A row adds the worth of the subtopics it is relevant to: 1 each, and `keep` times as much after each row that was
    relevant to it. Rows that are relevant to the same subtopics must be adjacent: they are of one kind, which is looked
    at once for all of them, and those relevant to nothing the last of their query. What a kind adds never rises, so
    what it added when last looked at is a `bound`. `kind` is room for the next row of each and the end of its rows.
    """
    cdef int64_t q, i, t, g, row, best, n_kinds, n, steps = 0
    cdef double most
    with nogil:
        ptr[0] = 0
        for q in range(indptr.shape[0] - 1):
            n = min(depth, indptr[q + 1] - indptr[q])
            count_steps(&steps, (indptr[q + 1] - indptr[q]) * worth.shape[0])
            for t in range(worth.shape[0]):
                worth[t] = 1.0
            n_kinds = 0
            for row in range(indptr[q], indptr[q + 1]):
                if row == indptr[q] or not _alike(relevant, row - 1, row):
                    kind[0, n_kinds] = row
                    bound[n_kinds] = _worth_of(relevant, row, worth)
                    n_kinds += 1
                kind[1, n_kinds - 1] = row + 1
            for i in range(n):
                count_steps(&steps, n_kinds)
                best = -1
                most = -1.0
                for g in range(n_kinds):
                    if bound[g] > most * ALIKE:
                        count_steps(&steps, worth.shape[0])
                        bound[g] = _worth_of(relevant, kind[0, g], worth)
                        if bound[g] > most * ALIKE:
                            most = bound[g]
                            best = g
                row = kind[0, best]
                order[ptr[q] + i] = row
                for t in range(worth.shape[0]):
                    if relevant[row, t] > 0:
                        worth[t] *= keep
                kind[0, best] += 1
                if kind[0, best] == kind[1, best]:
                    bound[best] = -INFINITY
            ptr[q + 1] = ptr[q] + n


cdef bint _alike(const double[:, ::1] relevant, int64_t a, int64_t b) noexcept nogil:
    cdef int64_t t
    for t in range(relevant.shape[1]):
        if relevant[a, t] != relevant[b, t]:
            return False
    return True


cdef double _worth_of(const double[:, ::1] relevant, int64_t row, const double[::1] worth) noexcept nogil:
    cdef int64_t t
    cdef double total = 0.0
    for t in range(worth.shape[0]):
        total += relevant[row, t] * worth[t]
    return total


def exp2_minus_1(const double[::1] x, double[::1] out):
    """Write 2**x - 1, of which near 0 only the difference is computed.

    Whole numbers, as grades are, are shifted: the same digits in a tenth of the time of exp2.
    """
    cdef int64_t i, whole
    with nogil:
        for i in range(x.shape[0]):
            whole = <int64_t> x[i] if 0.0 <= x[i] < 63.0 else -1
            if whole >= 0 and whole == x[i]:
                out[i] = <double> ((<int64_t> 1 << whole) - 1)
            elif -1.0 < x[i] < 1.0:
                out[i] = expm1(x[i] * LOG_2)
            else:
                out[i] = exp2(x[i]) - 1.0


def count_at_least(const double[::1] x, const int64_t[::1] indptr, double threshold, double[:, ::1] out):
    """Count the rows of each query whose value is at least `threshold`."""
    cdef int64_t q, row, n
    with nogil:
        for q in range(indptr.shape[0] - 1):
            n = 0
            for row in range(indptr[q], indptr[q + 1]):
                n += x[row] >= threshold
            out[q, 0] = n


def longest(const int64_t[::1] indptr):
    """Return the length of the longest query; 0 without one."""
    cdef int64_t most
    with nogil:
        most = longest_of(&indptr[0], indptr.shape[0] - 1)
    return most


# --- scans ------------------------------------------------------------------------------------------------

include "grades.pxi"
include "exact.pxi"
include "sums.pxi"
include "means.pxi"
include "unweighted.pxi"
include "joint.pxi"
include "stops.pxi"
include "few_stops.pxi"
include "cascade.pxi"
include "few_grades.pxi"
include "overlap.pxi"
include "agreement.pxi"
include "curves.pxi"
include "bound.pxi"
