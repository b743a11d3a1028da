# Sums of means down to each relevant item, as MAP and WAP are; `rank.pyx` includes it.

include "reciprocals.pxi"

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
        _add(&HARMONIC[i], once)
        lost = _multiply(&once, i)
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
    cdef const int64_t* all_ends = _pointer(tie_end)
    cdef const int64_t* ends
    cdef mean_t run
    run.level = run.slope = run.above_ties = run.tie_start = 0
    with nogil:
        for q in range(ptr.shape[0] - 1):
            ends = _ties_of(all_ends, ptr[q], ptr[q + 1])
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
    lists, run = _lists(ptr, cutoffs, out), _mean_of(relevant, value)
    lists.tie_end = _pointer(tie_end)
    with nogil:
        _sum_all_means(&grade[0] if grade.shape[0] > 0 else NULL, &relevant[0], &run, 1, &lists)


cdef void _means_of_two(
    const uint8_t[::1] grade, const double[::1] relevant, const double[::1] value, const double[::1] other,
    const int64_t[::1] ptr, const int64_t[::1] cutoffs, const int64_t[::1] tie_end, double[:, :] out,
    double[:, :] out_of_other,
) noexcept:
    """The same of two values beside each other, as neither sum waits for the other: 1.1 to 1.6 times that of one."""
    cdef lists_t[MOST_MEANS] lists
    cdef mean_t[MOST_MEANS] runs
    if ptr.shape[0] == 1:
        return
    lists[0], lists[1] = _lists(ptr, cutoffs, out), _lists(ptr, cutoffs, out_of_other)
    runs[0], runs[1] = _mean_of(relevant, value), _mean_of(relevant, other)
    lists[0].tie_end = lists[1].tie_end = _pointer(tie_end)
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
    _find_ranges(&run.packed)
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
        _fetch_ties(lists.tie_end, lists.ptr, q, lists.n)
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
    cdef const int64_t* ends = _ties_of(lists.tie_end, first, first + n)
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
        packed = _sum_numbers(grade + start, end - start, &run.packed)
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
