# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Orders of rows by their scores, query by query.

In: the score of each row, and where each query begins: query q has the rows `indptr[q]:indptr[q + 1]`.
Out: the rows at the positions `ptr[q]:ptr[q + 1]`, or their grades, best score first, and where ties end. A tie block
is a run of positions with equal scores: `tie_end[i]` is where the block ends that starts at position i. `tie_end is
None` says that no query has ties. A query without ties has only the first entry, `NO_TIES`.
Why: rows of a long query are sorted only if they may be among the best. For each row of a short query, and for rows
with a label where there are few, the rows above it are counted. This module does not validate or allocate, and knows no
metric. What may take a second counts its `steps`, and looks now and then whether to go on.
"""
from libc.float cimport DBL_MAX, FLT_MAX
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcmp, memcpy, memset

from sklearn_rank._engine.kernels.common cimport NO_TIES, count_steps, fetch_ahead, longest_of
from sklearn_rank._engine.kernels.grades cimport find_labeled
from sklearn_rank._engine.kernels.lanes cimport (
    COUNT_ABOVE, LANE, NO_COUNTS, SUM_OF, TWO, count_beside, two_counts, two_numbers,
)
from sklearn_rank._engine.kernels.sorting cimport (
    COUNTED_MEMORY, MOST_COUNTED, count_all, merge_sort, part_alike, sort, work_of, work_t,
)

cdef extern from "<math.h>" nogil:
    bint islessgreater(double x, double y)

cdef double ALIKE = 1 + 1e-12   # what a row adds must be more than this times what another adds, to count as more

cdef enum:
    SELECTION_LANES = 16        # lanes that rows are dealt out to, or a multiple of that
    MOST_LABELED = 12          # rows with a label that are put in their places without a sort
    MOST_LABELED_ABOVE = 3     # the same, where not all rows would be sorted
    LEAST_UNLABELED = 16       # rows of such a query

ctypedef fused score_t:
    float
    double

# Queries whose rows are put in order, and what is written of it; see `rank_queries`.
cdef struct ranking_t:
    const int64_t* indptr
    int64_t* ptr                # OUT
    int64_t n, depth, ties
    double bar                  # what a score must reach
    const double* label         # NULL without labels, like what follows
    const uint8_t* grade
    uint8_t* out                # OUT, the grades at the positions
    int64_t* order              # OUT
    int64_t* tie_end            # OUT, NULL until a tie is seen that the policy does not break
    int64_t* ends               # what it is then
    bint only_grades            # are read


cpdef bint rank_queries(
    const double[::1] score, const float[::1] narrow_score, const double[::1] label, const uint8_t[::1] grade,
    const int64_t[::1] indptr, int64_t depth, int64_t ties, bint keep_unretrieved, int64_t longest,
    int64_t[::1] order, int64_t[::1] tie_end, int64_t[::1] ptr, uint8_t[::1] out_grade,  # OUT
    double[::1] memory, bint only_grades=False,
) except -1:
    """Write the rows of each query, best score first, down to `depth`; return whether scores are tied.

    Under the average policy a list goes on to the end of the tie block that holds rank `depth`. Rows that were not
    retrieved (-inf), if kept, are one tie block under every policy. `tie_end` is written where a tie block starts, a
    single item being one, and only if a query has ties. `order` may be None. Scores are `narrow_score` if `score` is
    None. Labels are read under the policies worst and best alone, and not if there are grades, which rows and positions
    have. `memory` is as long as `memory_for` says.

    If `only_grades` are read, and each row has a rank, ties of rows of grade 0 with each other may not be written.
    """
    cdef work_t work = work_of(&memory[0], longest)
    cdef ranking_t job
    if indptr[indptr.shape[0] - 1] == 0:  # without a row `ptr` has no target
        ptr[:] = 0
        return False
    job.indptr, job.ptr, job.n, job.depth, job.ties = &indptr[0], &ptr[0], indptr.shape[0] - 1, depth, ties
    job.bar = -INFINITY if keep_unretrieved else -DBL_MAX
    job.label = job.grade = job.out = job.order = job.tie_end = NULL
    job.ends, job.only_grades = &tie_end[0], only_grades
    if order is not None:
        job.order = &order[0]
    if label is not None:
        job.label = &label[0]
    if grade is not None:
        job.grade, job.out = &grade[0], &out_grade[0]
    with nogil:
        ptr[0] = 0
        if score is not None:
            _rank_all(&score[0], &job, &work)
        else:
            _rank_all(&narrow_score[0], &job, &work)
    return job.tie_end != NULL


cdef int _rank_all(const score_t* score, ranking_t* job, work_t* work) except -1 nogil:
    """Rank one query after the other, in the way that is the fastest for each."""
    cdef int64_t q = 0, i, n, start, offset, steps = 0
    cdef bint is_low, by_label = job.ties == WORST or job.ties == BEST
    while q < job.n:
        if job.indptr[q + 1] - job.indptr[q] <= MOST_COUNTED:
            q = _rank_by_counting(score, job, q)
            if q == job.n:
                break
        if _rank_labeled(score, job, q):
            q += 1
            continue
        start, offset = job.indptr[q], job.ptr[q]
        n = job.indptr[q + 1] - start
        fetch_ahead(score + start, n * sizeof(score_t))
        is_low = n > 0 and job.bar == -INFINITY and score[start] == -INFINITY  # read once: other threads may write
        # Equal scores are in order as they stand.
        if (is_low or not by_label) and _is_one_block(score + start, n, job.bar):
            if is_low or job.ties == AVERAGE:
                _begin_ties(job, q)
                job.tie_end[offset] = offset + n
            else:
                n = min(job.depth, n)
                if job.tie_end != NULL:
                    job.tie_end[offset] = NO_TIES
            for i in range(n if job.order != NULL else 0):
                job.order[offset + i] = start + i
            if job.grade != NULL:
                memcpy(job.out + offset, job.grade + start, n)
        else:
            n = _rank_query(score, job.label, job.grade, start, n, job.depth, job.ties, job.bar, work, &steps)
            if job.ties == AVERAGE and _are_any_equal(work.key, n):
                _begin_ties(job, q)
                _mark_ties(work.key, n, offset, job.tie_end)
            elif job.ties != AVERAGE and n > 1 and work.key[n - 2] == -INFINITY:
                _begin_ties(job, q)
                _mark_unretrieved(work.key, n, offset, job.tie_end)
            elif job.tie_end != NULL and n > 0:
                job.tie_end[offset] = NO_TIES
            for i in range(n if job.order != NULL else 0):
                job.order[offset + i] = start + work.place[i]
            if job.grade != NULL:
                for i in range(n):
                    job.out[offset + i] = job.grade[start + work.place[i]]
        job.ptr[q + 1] = offset + n
        q += 1
    return 0


cdef int64_t _rank_query(
    const score_t* score, const double* label, const uint8_t* grade, int64_t start, int64_t n, int64_t depth,
    int64_t ties, double bar, work_t* work, int64_t* steps,
) except -1 nogil:
    """Put the rows of one query that reach the bar in order, into keys and places of `work`, and return how many.

    Scores, and labels or grades, of all queries are given. Places are those in the query.
    """
    cdef int64_t i, n_chosen, n_kept
    score += start
    depth = min(depth, n)
    n_chosen = _choose(score, n, depth, bar, work.chosen, work.item, work.key)
    sort(work.chosen, n_chosen, work.key, work.place, work, steps)
    if n_chosen < n:
        for i in range(n_chosen):
            work.place[i] = work.item[work.place[i]]
    n_kept = min(depth, n_chosen)
    while n_kept < n_chosen and work.key[n_kept] == work.key[n_kept - 1]:
        if ties == STABLE and work.key[n_kept] > -INFINITY:
            break
        n_kept += 1
    if ties == AVERAGE or ties == STABLE:
        return n_kept
    _order_ties(label, grade, start, ties == BEST, n_kept, work, steps)
    return n_kept if n_kept > 0 and work.key[n_kept - 1] == -INFINITY else min(n_kept, depth)


cdef int _order_ties(
    const double* label, const uint8_t* grade, int64_t start, bint best_first, int64_t n, work_t* work, int64_t* steps,
) except -1 nogil:
    """Inside each tie block of scores, sort by grade if there are grades, else by label; NaN is the lowest label."""
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
        if end - begin > 1 and work.key[begin] > -INFINITY:
            for i in range(begin, end):
                y = grade[work.place[i]] if grade != NULL else label[work.place[i]]
                key[i - begin] = sign * (y if y == y else -INFINITY)
            # What is behind the block's own labels serves the merge.
            merge_sort(key, work.place + begin, end - begin, key + (end - begin), work.spare, steps)
        begin = end
    return 0


cdef bint _are_equal(const score_t* score, int64_t n) noexcept nogil:
    """Whether all scores are equal: most often each has the bytes of the one before it, else zeros have both signs."""
    cdef int64_t i = 1
    if n > 1 and score[0] == score[n - 1] and memcmp(score, score + 1, (n - 1) * sizeof(score_t)) == 0:
        return True
    while i < n and score[i] == score[0]:
        i += 1
    return i >= n


cdef bint _is_one_block(const score_t* score, int64_t n, double bar) noexcept nogil:
    """Whether a query of several rows is one tie block, which reaches the bar."""
    return n > 1 and score[0] >= bar and _are_equal(score, n)


# --- the best rows -------------------------------------------------------------------------------------------------


cdef int64_t _choose(
    const score_t* score, int64_t n, int64_t depth, double bar, double* key, int64_t* item, double* best,
) noexcept nogil:
    """Copy keys of at least `bar`, as far as they may be among the best `depth`, and where each stands; count them."""
    cdef int64_t i, n_chosen = 0, n_lanes = SELECTION_LANES * (1 + depth // SELECTION_LANES)
    cdef double value
    cdef score_t least
    if 2 * n_lanes <= n:
        bar = max(bar, _reached_by(score, n, depth, n_lanes, best))
    elif _copy_finite(score, n, key):
        return n
    if score_t is float and bar > -INFINITY:
        bar = max(bar, -FLT_MAX)    # as a float, so that no score is widened to be compared
    least = <score_t> bar
    for i in range(n):
        item[n_chosen] = i
        n_chosen += score[i] >= least
    for i in range(n_chosen):
        value = score[item[i]]
        key[i] = value if value > bar else bar  # where another thread has written less, or NaN, which has no order
    return n_chosen


cdef inline bint _copy_finite(const score_t* score, int64_t n, double* key) noexcept nogil:
    """Copy scores; whether all are finite, and so reach any bar: x - x of others is NaN."""
    cdef double[4] sums
    cdef int64_t i, k, n_in_lanes = n - n % 4
    for k in range(4):
        sums[k] = 0.0
    for i in range(0, n_in_lanes, 4):
        for k in range(4):
            key[i + k] = score[i + k]
            sums[k] += key[i + k] - key[i + k]
    for i in range(n_in_lanes, n):
        key[i] = score[i]
        sums[0] += key[i] - key[i]
    return sums[0] + sums[1] + sums[2] + sums[3] == 0.0


cdef double _reached_by(
    const score_t* score, int64_t n, int64_t depth, int64_t n_lanes, double* best,
) noexcept nogil:
    """A score that at least `depth` rows reach: deal rows out to lanes, and take what `depth` of their best reach.

    Sixteen lanes stay in registers. NaN is below all: no lane starts with it.
    """
    cdef score_t[SELECTION_LANES] top
    cdef int64_t k, row, lane = 0
    while lane < n_lanes:
        for k in range(SELECTION_LANES):
            top[k] = -INFINITY
        row = lane
        while row + SELECTION_LANES <= n:
            for k in range(SELECTION_LANES):
                top[k] = score[row + k] if score[row + k] > top[k] else top[k]
            row += n_lanes
        for k in range(SELECTION_LANES):
            best[lane + k] = top[k]
        lane += SELECTION_LANES
    return _reached_by_best(best, n_lanes, depth)


cdef double _reached_by_best(double* x, int64_t n, int64_t depth) noexcept nogil:
    """A number that at least `depth` of x reach, and not many more; x changes its order.

    The higher one of each pair goes to the first half. What is asked of more than this half, all of it must reach, and
    for the others the second half is halved in turn.
    """
    cdef int64_t i, n_high
    cdef double low, high, bar = INFINITY
    while depth < n:
        n_high = n - n // 2
        for i in range(n // 2):
            high = max(x[i], x[n_high + i])
            low = min(x[i], x[n_high + i])
            x[i] = high
            x[n_high + i] = low
        if depth <= n_high:
            n = n_high
        else:
            for i in range(n_high):
                bar = min(bar, x[i])
            x += n_high
            n -= n_high
            depth -= n_high
    for i in range(n):
        bar = min(bar, x[i])
    return bar


# --- where ties end ------------------------------------------------------------------------------------------------


cdef void _mark_ties(const double* key, int64_t n, int64_t offset, int64_t* tie_end) noexcept nogil:
    """Write where the tie blocks of a query end."""
    cdef int64_t i, differs, start = offset
    for i in range(1, n):
        tie_end[start] = offset + i  # of a block that goes on, written again
        differs = islessgreater(key[i], key[i - 1])
        start = offset + i if differs else start  # without a branch: no processor could foresee it
    tie_end[start] = offset + n


cdef void _mark_unretrieved(const double* key, int64_t n, int64_t offset, int64_t* tie_end) noexcept nogil:
    """Write that the rows that were not retrieved, the last ones of a query, are its only tie block."""
    cdef int64_t i = 0
    while key[i] > -INFINITY:
        tie_end[offset + i] = offset + i + 1
        i += 1
    tie_end[offset + i] = offset + n


cdef inline bint _are_any_equal(const double* key, int64_t n) noexcept nogil:
    """Whether any of sorted keys are equal, which are not all above the next one; the first of many tied ones tell."""
    cdef two_counts above
    cdef int64_t i = 0, stop, n_pairs
    while i + 2 < n:
        above = NO_COUNTS()
        stop = i + 2 * min((n - 1 - i) // 2, <int64_t> SELECTION_LANES)
        n_pairs = stop - i
        while i < stop:
            above = COUNT_ABOVE(above, TWO(key[i], key[i + 1]), TWO(key[i + 1], key[i + 2]))
            i += 2
        if LANE(above, 0) + LANE(above, 1) < n_pairs:
            return True
    return i + 1 < n and key[i] == key[i + 1]


cdef inline void _begin_ties(ranking_t* job, int64_t n_queries) noexcept nogil:
    """Write that these queries have no ties; this is left out until the first query has some."""
    cdef int64_t q
    if job.tie_end == NULL:
        job.tie_end = job.ends
        for q in range(n_queries):
            if job.ptr[q] < job.ptr[q + 1]:
                job.tie_end[job.ptr[q]] = NO_TIES


# --- queries of few rows: the place of a row is the number of those above it ----------------------------------------


cdef int64_t _rank_by_counting(const score_t* score, ranking_t* job, int64_t q) noexcept nogil:
    """Write rows and grades of queries of 1 to 40 rows from `q` on, highest score first.

    Return the first query that it cannot rank: an empty or longer query, a score below the bar, ties that labels
    break or that may be of rows that were not retrieved, or all scores equal.
    """
    cdef int64_t n
    cdef bint two
    while q < job.n:
        n = job.indptr[q + 1] - job.indptr[q]
        two = False
        if q + 1 < job.n and job.indptr[q + 2] - job.indptr[q + 1] == n:
            if n == 1:
                two = _rank_two(score, job, q, 1)
            elif n == 2:
                two = _rank_two(score, job, q, 2)
            elif n == 3:
                two = _rank_two(score, job, q, 3)
            elif n == 4:
                two = _rank_two(score, job, q, 4)
            elif n == 5:
                two = _rank_two(score, job, q, 5)
            elif n == 6:
                two = _rank_two(score, job, q, 6)
            elif n == 7:
                two = _rank_two(score, job, q, 7)
        if not two and not (0 < n <= MOST_COUNTED and (_rank_labeled(score, job, q) or _rank_one(score, job, q, n))):
            break
        q += 1 + two
    return q


cdef inline bint _rank_two(const score_t* score, ranking_t* job, int64_t q, int64_t n) noexcept nogil:
    """Rank two queries of n rows each, one in each lane; return False if scores are tied or too low.

    The numbers of rows above each row of a query add up to the number of pairs, unless two are equal, or NaN. Scores
    are read once, so that no two rows get one place even if another thread writes scores.
    """
    cdef int64_t start = job.indptr[q], n_kept = min(job.depth, n), offset = job.ptr[q]
    cdef int64_t i, j, n_pairs = n * (n - 1) // 2
    cdef two_numbers[8] x
    cdef two_numbers bars = TWO(job.bar, job.bar)
    cdef two_counts[8] place
    cdef two_counts total = NO_COUNTS(), n_low = NO_COUNTS()
    score += start
    fetch_ahead(score, 2 * n * sizeof(score_t))
    for i in range(n):
        x[i] = TWO(score[i], score[n + i])
        n_low = COUNT_ABOVE(n_low, bars, x[i])
    for i in range(n):
        place[i] = NO_COUNTS()
        for j in range(n):
            place[i] = COUNT_ABOVE(place[i], x[j], x[i])
        total = SUM_OF(total, place[i])
    if LANE(total, 0) != n_pairs or LANE(total, 1) != n_pairs or LANE(n_low, 0) + LANE(n_low, 1) > 0:
        return False
    if job.order != NULL:
        for i in range(n):
            job.order[offset + LANE(place[i], 0)] = start + i
        for i in range(n):
            job.order[offset + n_kept + LANE(place[i], 1)] = start + n + i
    if job.grade != NULL:
        for i in range(n):
            job.out[offset + LANE(place[i], 0)] = job.grade[start + i]
        for i in range(n):
            job.out[offset + n_kept + LANE(place[i], 1)] = job.grade[start + n + i]
    if job.tie_end != NULL:
        job.tie_end[offset] = job.tie_end[offset + n_kept] = NO_TIES
    job.ptr[q + 1] = offset + n_kept
    job.ptr[q + 2] = offset + 2 * n_kept
    return True


cdef inline bint _rank_one(const score_t* score, ranking_t* job, int64_t q, int64_t n) noexcept nogil:
    """Rank one query of 1 to 40 rows, which may be tied; return False if it cannot.

    It cannot if all scores are equal, one is below the bar, labels break ties, or only some ties are broken.
    """
    cdef double[COUNTED_MEMORY] x
    cdef int64_t[COUNTED_MEMORY] place
    cdef int64_t i, n_kept = min(job.depth, n), n_before, start = job.indptr[q], offset = job.ptr[q]
    if score[start] == score[start + n - 1] and _is_one_block(score + start, n, job.bar):
        return False
    fetch_ahead(score + start, n * sizeof(score_t))
    for i in range(n):
        x[i] = score[start + i]     # read once: other threads may write
    n_before = count_all(x, n, job.bar, place)
    if n_before == n * (n - 1) // 2:
        if job.tie_end != NULL:
            job.tie_end[offset] = NO_TIES
    elif n_before < 0 or job.ties == WORST or job.ties == BEST or (job.ties == STABLE and job.bar == -INFINITY):
        return False
    else:
        n_kept = _place_ties(job, q, n, place)
    if job.order != NULL:
        for i in range(n):
            job.order[offset + place[i]] = start + i
    if job.grade != NULL:
        for i in range(n):
            job.out[offset + place[i]] = job.grade[start + i]
    job.ptr[q + 1] = offset + n_kept
    return True


cdef int64_t _place_ties(ranking_t* job, int64_t q, int64_t n, int64_t* place) noexcept nogil:
    """Change numbers of rows above each to places, equal rows having one after the other; return how many count.

    Equal rows have the same number above them, which is where their block starts.
    """
    cdef int64_t[MOST_COUNTED] n_alike
    cdef int64_t start, stop = 0, offset = job.ptr[q], depth = min(job.depth, n)
    cdef bint tied = False
    part_alike(n, place, n_alike)
    if job.ties == STABLE:
        return depth
    while stop < depth:
        tied |= n_alike[stop] > 1
        stop += n_alike[stop]
    if tied:
        _begin_ties(job, q)
        start = 0
        while start < stop:
            job.tie_end[offset + start] = offset + start + n_alike[start]
            start += n_alike[start]
    elif job.tie_end != NULL:
        job.tie_end[offset] = NO_TIES
    return stop


cdef inline bint _rank_labeled(const score_t* score, ranking_t* job, int64_t q) noexcept nogil:
    """Rank one query if only grades are needed and few rows have a label; return False if not, or if these are tied.

    Rows of grade 0 need no order. The position of each other row is the number of rows with a higher score. Ties
    between rows of grade 0 are not written.
    """
    cdef int64_t start = job.indptr[q], n = job.indptr[q + 1] - start, offset = job.ptr[q]
    cdef int64_t[MOST_LABELED] row, place
    cdef int64_t i, m, most
    if not job.only_grades or n < LEAST_UNLABELED or score[start] == score[start + n - 1]:  # mostly all are equal
        return False
    most = min(n // 5, <int64_t> (MOST_LABELED_ABOVE if job.depth < n else MOST_LABELED))
    m = find_labeled(job.grade + start, n, most, row)
    if m < 0:
        return False
    for i in range(m):
        if not count_beside(score + start, n, score[start + row[i]], &place[i]):
            return False
    n = min(job.depth, n)
    memset(job.out + offset, 0, n)
    for i in range(m):
        if place[i] < n:
            job.out[offset + place[i]] = job.grade[start + row[i]]
    if job.tie_end != NULL:
        job.tie_end[offset] = NO_TIES  # between rows with a label
    job.ptr[q + 1] = offset + n
    return True


# --- other orders ------------------------------------------------------------------------------------------------


def rank_labels(
    const double[::1] label, const int64_t[::1] indptr, int64_t depth, int64_t longest,
    double[::1] out, int64_t[::1] ptr,  # OUT
    double[::1] memory,
):
    """Write the labels of each query, highest first, down to `depth`."""
    cdef int64_t q, i, n, steps = 0
    cdef work_t work = work_of(&memory[0], longest)
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
    int64_t[::1] order, int64_t[::1] ptr,  # OUT
    double[::1] worth, double[::1] bound, int64_t[:, ::1] kind,
):
    """Write the rows of each query down to `depth`, at each rank the one that adds most, the first among equals.

    A row adds the worth of the subtopics it is relevant to: 1 each, and `keep` times as much after each row that was
    relevant to it. Rows that are relevant to the same subtopics must be adjacent: they are of one kind, which is looked
    at once for all of them. Rows without a relevant subtopic are the last of their query. What a kind adds never rises,
    so what it added when last looked at is a `bound`. `kind` is memory for the next row of each and the end of its
    rows.
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


# --- what is known of an order

cpdef void number(const int64_t[::1] ptr, number_t[::1] rank) noexcept:
    """Write 1, 2, ... along the positions of each query."""
    cdef int64_t q, i
    with nogil:
        for q in range(ptr.shape[0] - 1):
            for i in range(ptr[q], ptr[q + 1]):
                rank[i] = <number_t> (i - ptr[q] + 1)


def longest(const int64_t[::1] indptr):
    """Return the length of the longest query; 0 without one."""
    cdef int64_t most
    with nogil:
        most = longest_of(&indptr[0], indptr.shape[0] - 1)
    return most


cdef void tie_queries(const int64_t[::1] indptr, int64_t[::1] ptr, int64_t[::1] tie_end) noexcept:
    """Write where queries start, and that each of several rows is one tie block."""
    cdef int64_t q
    with nogil:
        for q in range(indptr.shape[0] - 1):
            ptr[q] = indptr[q]
            if indptr[q] < indptr[q + 1]:
                tie_end[indptr[q]] = indptr[q + 1] if indptr[q] + 1 < indptr[q + 1] else NO_TIES
        ptr[indptr.shape[0] - 1] = indptr[indptr.shape[0] - 1]


def spread_tie_ends(const int64_t[::1] ptr, const int64_t[::1] tie_end, int64_t[::1] out):
    """Write where the tie block around each position ends, from where those end that start at a position."""
    cdef int64_t q, i, stop
    cdef const int64_t* all_ends = pointer_of(tie_end)
    cdef const int64_t* ends
    with nogil:
        for q in range(ptr.shape[0] - 1):
            i = ptr[q]
            ends = ties_of(all_ends, i, ptr[q + 1])
            while i < ptr[q + 1]:
                stop = ends[i] if ends != NULL else i + 1
                while i < stop:
                    out[i] = stop
                    i += 1


cdef void take_first(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int64_t depth, uint8_t[::1] out, int64_t[::1] ptr
) noexcept:
    """Write the grades of the first rows of each query, down to `depth`, and where its list starts."""
    cdef int64_t q, n
    with nogil:
        ptr[0] = 0
        for q in range(indptr.shape[0] - 1):
            n = min(indptr[q + 1] - indptr[q], depth)
            if n > 0:
                memcpy(&out[ptr[q]], &grade[indptr[q]], n)
            ptr[q + 1] = ptr[q] + n
