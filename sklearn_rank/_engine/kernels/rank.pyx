# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Order of queries and scans down it: plain loops over typed memoryviews, without the GIL.

Every array is flat. Query q owns rows `indptr[q]:indptr[q+1]` of the data and, once ranked, positions
`ptr[q]:ptr[q+1]`. A tie block is a run of positions with equal scores; `tie_end[i]` is where the block of
position i ends, and `tie_end is None` says that the order is taken as it stands.

Outputs are passed in; nothing here validates, allocates or knows a metric. What may take a second counts its `steps`,
and looks now and then whether to go on.
"""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, ceil, exp, exp2, expm1, fabs, log, log1p
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

include "steps.pxi"

cdef int64_t LANES = 6          # least number of lanes that rows are dealt out to
cdef int64_t PATIENCE = 16      # moves per item that insertion is given before merging takes over
cdef int64_t RUN = 16           # keys that are few enough to compare them all; runs made by insertion before merging
cdef double ALIKE = 1 + 1e-12   # what a row adds must be more than this times what another adds, to count as more
cdef double NEGLIGIBLE = 1e-18  # a probability of survival below this changes no double that it is added to
cdef double LOG_NEGLIGIBLE = log(NEGLIGIBLE)
cdef double LOG_2 = log(2.0)

cdef enum:
    FEW = 8                     # labels not worth counting by grade, and tied items not worth taking together
    TERMS = 64                  # of a series that has less than 50 which matter

# The tie policies as the kernels know them.
cpdef enum:
    AVERAGE = 0
    STABLE = 1
    WORST = 2
    BEST = 3


# --- order ------------------------------------------------------------------------------------------------

def rank_queries(
    const double[::1] score, const double[::1] label, const int64_t[::1] indptr, int64_t depth,
    int64_t ties, bint keep_unretrieved,
    int64_t[::1] order, int64_t[::1] tie_end, int64_t[::1] ptr,
    double[::1] key, double[::1] spare_key, int64_t[::1] spare, int64_t[::1] count,
):
    """Write the rows of each query, best score first, down to `depth`; return whether scores are tied.

    Under the average policy a list goes on to the end of the tie block that holds rank `depth`. The other arrays
    are room to work in, for the longest query: `key` and `spare` once, `spare_key` and `count` twice (and one).
    """
    cdef int64_t q, n_kept, at = 0, steps = 0
    cdef bint tied = False
    with nogil:
        ptr[0] = 0
        for q in range(indptr.shape[0] - 1):
            n_kept = _rank_query(
                &score[0], &label[0], indptr[q], indptr[q + 1], depth, ties, keep_unretrieved,
                &order[0] + at, &key[0], &spare_key[0], &spare[0], &count[0], &steps,
            )
            if ties == AVERAGE and _mark_ties(&key[0], n_kept, at, &tie_end[0] + at):
                tied = True
            at += n_kept
            ptr[q + 1] = at
    return tied


cdef int64_t _rank_query(
    const double* score, const double* label, int64_t start, int64_t stop, int64_t depth,
    int64_t ties, bint keep_unretrieved,
    int64_t* order, double* key, double* spare_key, int64_t* spare, int64_t* count, int64_t* steps,
) except -1 nogil:
    cdef int64_t row, n_kept, n = stop - start
    cdef double bar = -INFINITY if keep_unretrieved else -DBL_MAX  # what a row must reach
    depth = min(depth, n)
    if 2 * max(depth, LANES) <= n:
        bar = max(bar, _reached_by(score + start, n, max(depth, LANES), spare_key))
    n = 0
    for row in range(start, stop):
        spare_key[n] = score[row]
        spare[n] = row
        n += score[row] >= bar
    _sort(spare_key, spare, n, key, order, count, steps)
    n_kept = min(depth, n)
    while ties != STABLE and n_kept < n and key[n_kept] == key[n_kept - 1]:
        n_kept += 1
    if ties == AVERAGE or ties == STABLE:
        return n_kept
    _order_ties_by_label(label, -1.0 if ties == WORST else 1.0, n_kept, order, key, spare_key, spare, steps)
    return min(n_kept, depth)


cdef double _reached_by(const double* score, int64_t n, int64_t n_lanes, double* best) noexcept nogil:
    """A score that at least `n_lanes` rows reach: deal rows out to lanes, take the best of the worst lane."""
    cdef int64_t lane, row = n_lanes
    cdef double bar = INFINITY
    for lane in range(n_lanes):
        best[lane] = score[lane]
    while row + n_lanes <= n:
        for lane in range(n_lanes):
            best[lane] = max(best[lane], score[row + lane])
        row += n_lanes
    for lane in range(n_lanes):
        bar = min(bar, best[lane])
    return bar


cdef int _sort(
    double* key, int64_t* item, int64_t n, double* sorted_key, int64_t* sorted_item, int64_t* count, int64_t* steps,
) except -1 nogil:
    """Sort by key, highest first: twice as many buckets as keys, evenly over their range, then insertion.

    Where that takes long (keys far from evenly spread), merging takes over. Equal keys keep their order.
    """
    cdef int64_t i, b
    cdef double scale, high = -INFINITY, low = INFINITY
    if n <= RUN:
        _sort_few(key, item, n, sorted_key, sorted_item, count)
        return 0
    count[0] = 0
    for i in range(n):
        high = max(high, key[i])
        low = min(low, key[i])
        count[2 * i + 1] = count[2 * i + 2] = 0
    _count_steps(steps, 8 * n)
    scale = (2 * n - 1) / (high - low)
    if 0 < scale < INFINITY:
        for i in range(n):
            count[<int64_t> ((high - key[i]) * scale) + 1] += 1
        for b in range(2 * n):
            count[b + 1] += count[b]
        _count_steps(steps, 8 * n)
        for i in range(n):
            b = <int64_t> ((high - key[i]) * scale)
            sorted_key[count[b]] = key[i]
            sorted_item[count[b]] = item[i]
            count[b] += 1
    else:  # all equal, an infinite range, or one too narrow to divide
        for i in range(n):
            sorted_key[i] = key[i]
            sorted_item[i] = item[i]
    _count_steps(steps, 8 * n)
    if _insertion_sort(sorted_key, sorted_item, n, PATIENCE * n) > PATIENCE * n:
        _merge_sort(sorted_key, sorted_item, n, key, item, steps)
    return 0


cdef void _sort_few(
    const double* key, const int64_t* item, int64_t n, double* sorted_key, int64_t* sorted_item, int64_t* place,
) noexcept nogil:
    """Sort by key, highest first, without a branch: count how many belong before each. Equal keys keep their order."""
    cdef int64_t i, j, before
    for i in range(n):
        place[i] = 0
        for j in range(i):
            before = key[j] >= key[i]
            place[i] += before
            place[j] += 1 - before
    for i in range(n):
        sorted_key[place[i]] = key[i]
        sorted_item[place[i]] = item[i]


cdef int64_t _insertion_sort(double* key, int64_t* item, int64_t n, int64_t patience) noexcept nogil:
    """Sort by key, highest first; equal keys keep their order. Return the moves; given up after `patience` of them."""
    cdef int64_t i, j, moved, n_moves = 0
    cdef double s
    for i in range(1, n):
        s = key[i]
        if key[i - 1] >= s:
            continue
        moved = item[i]
        j = i
        while j > 0 and key[j - 1] < s:
            key[j] = key[j - 1]
            item[j] = item[j - 1]
            j -= 1
        key[j] = s
        item[j] = moved
        n_moves += i - j
        if n_moves > patience:
            break
    return n_moves


cdef int64_t _merge_sort(
    double* key, int64_t* item, int64_t n, double* spare_key, int64_t* spare, int64_t* steps,
) except -1 nogil:
    """Sort by key, highest first; equal keys keep their order. O(n log n) whatever the keys.

    Return the number of pairs that stood in the wrong order.
    """
    cdef int64_t begin, middle, end, left, right, i, width = RUN, n_wrong = 0
    begin = 0
    while begin < n:
        n_wrong += _insertion_sort(key + begin, item + begin, min(RUN, n - begin), RUN * RUN)
        begin += RUN
    while width < n:
        _count_steps(steps, 4 * n)
        begin = 0
        while begin + width < n:
            middle = begin + width
            end = min(middle + width, n)
            if key[middle - 1] < key[middle]:
                for i in range(begin, middle):
                    spare_key[i - begin] = key[i]
                    spare[i - begin] = item[i]
                left = 0
                right = middle
                i = begin
                while left < width:
                    if right < end and key[right] > spare_key[left]:
                        key[i] = key[right]
                        item[i] = item[right]
                        right += 1
                        n_wrong += width - left
                    else:
                        key[i] = spare_key[left]
                        item[i] = spare[left]
                        left += 1
                    i += 1
            begin += 2 * width
        width *= 2
    return n_wrong


cdef int _order_ties_by_label(
    const double* label, double sign, int64_t n, int64_t* order, const double* key,
    double* spare_key, int64_t* spare, int64_t* steps,
) except -1 nogil:
    """Inside each tie block, sort by sign * label, highest first; no label (NaN) is the lowest."""
    cdef int64_t i, begin = 0, end
    cdef double y
    while begin < n:
        end = begin + 1
        while end < n and key[end] == key[begin]:
            end += 1
        if end - begin > 1:
            for i in range(begin, end):
                y = label[order[i]]
                spare_key[i - begin] = sign * (y if y == y else -INFINITY)
            # The room after the block's own labels serves the merge.
            _merge_sort(spare_key, order + begin, end - begin, spare_key + (end - begin), spare, steps)
        begin = end
    return 0


cdef bint _mark_ties(const double* key, int64_t n, int64_t offset, int64_t* tie_end) noexcept nogil:
    cdef int64_t i, end = offset + n
    cdef bint tied = False
    for i in range(n - 1, -1, -1):
        tie_end[i] = end
        if i == 0 or key[i - 1] > key[i]:
            end = offset + i
        else:
            tied = True
    return tied


def number(const int64_t[::1] ptr, int64_t[::1] rank):
    """Write 1, 2, ... along the positions of each query."""
    cdef int64_t q, i
    with nogil:
        for q in range(ptr.shape[0] - 1):
            for i in range(ptr[q], ptr[q + 1]):
                rank[i] = i - ptr[q] + 1


def rank_labels(
    const double[::1] label, const int64_t[::1] indptr, int64_t depth, double[::1] out, int64_t[::1] ptr,
    double[::1] spare_key, int64_t[::1] order, int64_t[::1] spare, int64_t[::1] count,
):
    """Write the labels of each query, highest first, down to `depth`: by counting grades 0 to 31, else sorted."""
    cdef int64_t q, at = 0, steps = 0
    with nogil:
        ptr[0] = 0
        for q in range(indptr.shape[0] - 1):
            if not _count_grades(&label[0], indptr[q], indptr[q + 1], depth, &out[0] + at):
                _rank_query(
                    &label[0], &label[0], indptr[q], indptr[q + 1], depth, STABLE, True,
                    &order[0], &out[0] + at, &spare_key[0], &spare[0], &count[0], &steps,
                )
            at += min(depth, indptr[q + 1] - indptr[q])
            ptr[q + 1] = at


cdef bint _count_grades(
    const double* label, int64_t start, int64_t stop, int64_t depth, double* out
) noexcept nogil:
    """Counting sort of the labels, cut at `depth`; False if one of them is no grade, or they are too few."""
    cdef int64_t[32] count
    cdef int64_t row, grade, i, below
    if stop - start <= FEW:
        return False
    memset(count, 0, sizeof(count))
    for row in range(start, stop):
        if not 0 <= label[row] <= 31:
            return False
        grade = <int64_t> label[row]
        if grade != label[row]:
            return False
        count[grade] += 1
    grade = 31
    below = count[31]  # the first place whose label is below the grade
    for i in range(min(depth, stop - start)):
        while below <= i:
            grade -= 1
            below += count[grade]
        out[i] = grade
    return True


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
            _count_steps(&steps, (indptr[q + 1] - indptr[q]) * worth.shape[0])
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
                _count_steps(&steps, n_kinds)
                best = -1
                most = -1.0
                for g in range(n_kinds):
                    if bound[g] > most * ALIKE:
                        _count_steps(&steps, worth.shape[0])
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


# --- pairs ------------------------------------------------------------------------------------------------

def pairs(
    const double[::1] label, const int64_t[::1] ptr, const int64_t[::1] tie_end, double[:, ::1] out,
    double[::1] key, double[::1] spare_key, int64_t[::1] item, int64_t[::1] spare,
):
    """Count the pairs of each query: in the right order, the wrong one, tied in score alone, in label alone."""
    cdef int64_t q, i, m, n, wrong, equal_scores, equal_labels, equal_both, steps = 0
    with nogil:
        for q in range(ptr.shape[0] - 1):
            n = ptr[q + 1] - ptr[q]
            equal_scores = equal_both = 0
            for i in range(n):
                key[i] = label[ptr[q] + i]
            i = 0
            while i < n:
                m = tie_end[ptr[q] + i] - ptr[q] - i if tie_end is not None else 1
                _merge_sort(&key[i], &item[0], m, &spare_key[0], &spare[0], &steps)
                equal_scores += m * (m - 1) // 2
                equal_both += _equal_pairs(&key[i], m)
                i += m
            wrong = _merge_sort(&key[0], &item[0], n, &spare_key[0], &spare[0], &steps)
            equal_labels = _equal_pairs(&key[0], n)
            out[0, q] = n * (n - 1) // 2 - wrong - equal_scores - equal_labels + equal_both
            out[1, q] = wrong
            out[2, q] = equal_scores - equal_both
            out[3, q] = equal_labels - equal_both


cdef int64_t _equal_pairs(const double* x, int64_t n) noexcept nogil:
    """Count the pairs of equal values in sorted order."""
    cdef int64_t i, run = 0, n_equal = 0
    for i in range(1, n):
        run = run + 1 if x[i] == x[i - 1] else 0
        n_equal += run
    return n_equal


def centred_ranks(
    const double[::1] x, const int64_t[::1] ptr, double[::1] out,
    double[::1] key, double[::1] spare_key, int64_t[::1] item, int64_t[::1] spare,
):
    """Rank the items of each query by x, highest first, equal ones alike, less the mean rank of the query."""
    cdef int64_t q, i, j, begin, n, steps = 0
    with nogil:
        for q in range(ptr.shape[0] - 1):
            n = ptr[q + 1] - ptr[q]
            for i in range(n):
                key[i] = x[ptr[q] + i]
                item[i] = i
            _merge_sort(&key[0], &item[0], n, &spare_key[0], &spare[0], &steps)
            i = 0
            while i < n:
                begin = i
                while i < n and key[i] == key[begin]:
                    i += 1
                for j in range(begin, i):
                    out[ptr[q] + item[j]] = (begin + i - n) / 2.0


# --- scans ------------------------------------------------------------------------------------------------

include "scans.pxi"
include "curves.pxi"
