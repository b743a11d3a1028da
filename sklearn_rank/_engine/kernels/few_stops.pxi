# Cascades down few tied items, and tables of them by grade; `rank.pyx` includes it.

cdef enum:
    MOST_TABLED = 3             # tied items that the table has an entry for, in any order
    N_TABLED = 8                # grades of these, from 0
    N_ENTRIES = N_TABLED + N_TABLED * N_TABLED + N_TABLED * N_TABLED * N_TABLED
    SHARES = MOST_TABLED + 1    # numbers of an entry
    N_KEPT = 256                # entries for more items, those that were needed last
    BITS_OF_COUNT = 4           # of the key of these, for each grade
    WORTH_A_TABLE = 4096        # positions from which on there are tables

cdef int64_t[SHARES] FIRST_ENTRY = [0, 0, N_TABLED, N_TABLED + N_TABLED * N_TABLED]  # of so many items
cdef uint64_t SPREAD = 0x9E3779B97F4A7C15   # odd: its product spreads a key over the upper bits


# By the grades of a block, shares of users who stop at each of its positions, and at the end of those who go on.
cdef struct few_stops_t:
    double[SHARES * N_ENTRIES] of           # of up to three items; the end is -1 until the entry is needed
    double[(FEW + 1) * N_KEPT] of_more      # of up to eight
    uint64_t[N_KEPT] key                    # how many of these have each grade, or 0


cdef void _forget_stops(few_stops_t* few) noexcept nogil:
    """Begin without an entry."""
    cdef int64_t i
    for i in range(N_ENTRIES):
        few.of[SHARES * i + MOST_TABLED] = -1.0
    memset(few.key, 0, sizeof(few.key))


cdef int64_t _cascade_few_of_grades(
    const items_t* items, const int64_t* tie_end, int64_t first, int64_t i, int64_t stop, few_stops_t* few,
    double* survive, double* out,
) noexcept nogil:
    """Go on from position `i` of a list up to `stop`, or to what tables do not have; return where that is.

    What happens in a block is looked up, and little waits for a branch that nobody could foresee: shares of the next
    block are written over those that a block has not. Items that are not tied are taken in turns of up to four, and a
    turn that ends elsewhere is given back, so that all numbers have the bits that they have without a table.
    """
    cdef int64_t j, end, key, n_turn = 0, start = i
    cdef int64_t last = stop - 1    # whose block does not end below it
    cdef double before = survive[0], within = 1.0, here
    cdef two_numbers both
    cdef bint done
    cdef const double* entry
    while i + FEW <= stop and before != 0.0:
        end = tie_end[i] - first
        if end - i <= MOST_TABLED:
            key = _key_of(items.grade + first + i, end - i)
            if key < 0:
                break
            entry = few.of + SHARES * key
            if entry[MOST_TABLED] < 0.0:
                _fill_stops(items, first + i, end - i, few.of + SHARES * key, MOST_TABLED)
            here = before * within
            for j in range(SHARES):
                out[i + j] = here * entry[j]
            within *= entry[MOST_TABLED]
        else:
            if end - i > FEW:
                break
            entry = _entry_of_more(items, first + i, end - i, few)
            if entry == NULL:
                break
            for j in range(FEW):
                out[i + j] = before * entry[j]
            within = entry[FEW]
        n_turn += 1
        done = (end > i + 1) | (n_turn == TOGETHER) | (tie_end[min(end, last)] - first != end + 1)
        both = EITHER(done, TWO(before * within, 1.0), TWO(before, within))
        before, within = NUMBER(both, 0), NUMBER(both, 1)
        n_turn &= done - 1
        start = end if done else start
        i = end
    survive[0] = before
    return start


cdef inline const double* _entry_of_more(
    const items_t* items, int64_t i, int64_t n, few_stops_t* few
) noexcept nogil:
    """Entry for four to eight items; NULL if there is none. They need not be in one order to have one entry."""
    cdef int64_t k, highest = 0, place
    cdef uint64_t key = 0
    for k in range(i, i + n):
        highest |= items.grade[k]
        key += <uint64_t> 1 << (BITS_OF_COUNT * (items.grade[k] & (N_TABLED - 1)))
    if highest >= N_TABLED:
        return NULL
    place = (key * SPREAD) >> 56
    if few.key[place] != key:
        few.key[place] = key
        _fill_stops(items, i, n, few.of_more + (FEW + 1) * place, FEW)
    return few.of_more + (FEW + 1) * place


cdef inline int64_t _key_of(const uint8_t* grade, int64_t n) noexcept nogil:
    """Number of the entry for the first `n` of four grades; -1 if there is none."""
    cdef int64_t first, second, third
    if n > MOST_TABLED:
        return -1
    first, second, third = grade[0], grade[1] & -(n > 1), grade[2] & -(n > 2)
    if (first | second | third) >= N_TABLED:
        return -1
    return FIRST_ENTRY[n] + first + N_TABLED * (second + N_TABLED * third)


cdef void _fill_stops(const items_t* items, int64_t i, int64_t n, double* entry, int64_t most) noexcept nogil:
    """Write the entry for some items, of those who all come to them: shares of up to `most` positions, and the end."""
    cdef int64_t k
    cdef double[FEW] p
    cdef pair_t survive
    survive.value, survive.lost = 1.0, 0.0
    for k in range(n):
        p[k] = items.value[items.grade[i + k]]
    for k in range(most):
        entry[k] = 0.0
    if n == 1:
        survive.value = _cascade_turn(p, 1, 1.0, entry)
    else:
        _cascade_few(p, n, &survive, True, entry)
    entry[most] = survive.value


cdef void _cascade_few(const double* p, int64_t m, pair_t* survive, bint plain, double* out) noexcept nogil:
    """A block of few tied items; for a number that the compiler knows it writes out the loops: 0.7 of the time."""
    cdef double before = survive.value + survive.lost
    cdef double[FEW] rising
    cdef stops_t stops
    if m == 2:
        _stop_among(p, 2, before, rising, out)
    elif m == 3:
        _stop_among(p, 3, before, rising, out)
    elif m == 4:
        _stop_among(p, 4, before, rising, out)
    elif m == 5:
        _stop_among(p, 5, before, rising, out)
    else:
        _stop_among(p, m, before, rising, out)
    stops.p, stops.count, stops.n = rising, NULL, m
    _go_past(survive, &stops, plain)


cdef inline void _stop_among(const double* p, int64_t m, double before, double* rising, double* out) noexcept nogil:
    """Stops among m items in random order. Their p are taken rising, so that the order they came in decides no digit.

    Of any j items e_j is the sum of the products of their 1 - p, and stop_j the same with the p of one more item: both
    grow by an item at a time, and nothing is subtracted. At j stop a share stop_j / (m * binomial(m - 1, j)).
    """
    cdef int64_t t, j
    cdef double low, x, ways = m
    cdef double[FEW + 1] e, stop  # of each number of items
    for t in range(m):
        rising[t] = p[t]
    for t in range(m - 1):
        for j in range(m - 1 - t):
            low = min(rising[j], rising[j + 1])
            rising[j + 1] = max(rising[j], rising[j + 1])
            rising[j] = low
    for j in range(m + 1):
        e[j] = stop[j] = 0.0
    e[0] = 1.0
    for t in range(m):
        x = 1.0 - rising[t]
        for j in range(t + 1, 0, -1):
            stop[j] += x * stop[j - 1] + rising[t] * e[j]
            e[j] += x * e[j - 1]
        stop[0] += rising[t]
    for j in range(m):
        out[j] = before * (stop[j] / ways)
        ways = ways * (m - 1 - j) / (j + 1)
