# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Labels that are kept as bytes: their best order, counts, and functions of them.

In: the grade of each row, and where each query begins. Out: grades in falling order, counts, and numbers that stand for
grades. Whole labels from 0 to 31 are grades: they are counted where others are sorted, eight or sixteen at a time.
"""
from libc.math cimport exp2, expm1, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_rank._engine.kernels.common cimport BYTES_OF_1, FEW, LOW_BYTES_FIRST, N_GRADES, OF_WORD

cdef double LOG_2 = log(2.0)

cdef enum:
    AT_ONCE = 1 << 30           # rows that are counted in 32 bits, of four lanes or one, before the counts are added
    FEW_LAST = 3                # grades that are not 0 of the last 8; lists in which more are mostly have many




cdef uint64_t[LOW_GRADES] ONE_OF
for low_grade in range(LOW_GRADES):
    ONE_OF[low_grade] = 1 << (8 * low_grade)


cdef uint64_t[FEW + 1] FIRST_ONES    # as many of the lowest bytes are 1
for n_ones in range(FEW + 1):
    FIRST_ONES[n_ones] = 0x0101010101010101 & ((1 << (8 * n_ones)) - 1)


cpdef void rank_grades(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int64_t depth, int64_t highest, uint8_t[::1] out,
    int64_t[::1] ptr,
) noexcept:
    """Write the grades of each query, highest first, down to `depth`: by counting them. None is above `highest`."""
    cdef int64_t q = 0, n, n_rows = out.shape[0], n_queries = indptr.shape[0] - 1
    cdef int64_t last_word = n_rows - FEW if LOW_BYTES_FIRST and highest < LOW_GRADES else -1
    cdef const uint8_t* grades = &grade[0] if grade.shape[0] > 0 else NULL
    cdef uint8_t* best = &out[0] if n_rows > 0 else NULL
    with nogil:
        ptr[0] = 0
        while q < n_queries:
            q = _rank_few_low_grades(grades, &indptr[0], n_queries, last_word, depth, highest, best, &ptr[0], q)
            if q == n_queries:
                break
            n = indptr[q + 1] - indptr[q]
            if n <= FEW:
                _sort_few_grades(grades + indptr[q], n, best + ptr[q])
            elif n <= 2 * FEW and indptr[q] + FEW <= last_word:
                if highest <= 4:
                    _sort_two_words(grades + indptr[q], n, 4, best + ptr[q])
                else:
                    _sort_two_words(grades + indptr[q], n, LOW_GRADES - 1, best + ptr[q])
            elif depth <= 2 * FEW and ptr[q] + FEW <= last_word:
                _find_best_grades(grades + indptr[q], n, depth, highest, best + ptr[q])
            else:
                _sort_grades(grades + indptr[q], n, depth, highest, best + ptr[q])
            ptr[q + 1] = ptr[q] + min(depth, n)
            q += 1


cdef int64_t _rank_few_low_grades(
    const uint8_t* grade, const int64_t* indptr, int64_t n_queries, int64_t last_word, int64_t depth, int64_t highest,
    uint8_t* out, int64_t* ptr, int64_t q,
) noexcept nogil:
    """Sort the grades of queries of up to 8 rows, from q on, and return the first that is longer.

    A loop over the grades takes twice the instructions of as many lines as the compiler knows to be enough.
    """
    if highest <= 1:
        return _rank_words(grade, indptr, n_queries, last_word, depth, 1, out, ptr, q)
    if highest <= 4:
        return _rank_words(grade, indptr, n_queries, last_word, depth, 4, out, ptr, q)
    return _rank_words(grade, indptr, n_queries, last_word, depth, LOW_GRADES - 1, out, ptr, q)


cdef inline int64_t _rank_words(
    const uint8_t* grade, const int64_t* indptr, int64_t n_queries, int64_t last_word, int64_t depth, int64_t highest,
    uint8_t* out, int64_t* ptr, int64_t q,
) noexcept nogil:
    """Each of the grades 1, 2, ... adds 1 to as many first bytes as there are that reach it.

    All 8 bytes are written; the next query overwrites those after the last grade.
    """
    cdef int64_t g, n, at = ptr[q]
    cdef uint64_t word, best, ones = BYTES_OF_1
    while q < n_queries and indptr[q + 1] - indptr[q] <= FEW and indptr[q] <= last_word:
        n = indptr[q + 1] - indptr[q]
        memcpy(&word, grade + indptr[q], FEW)
        best = 0
        for g in range(1, highest + 1):
            best += FIRST_ONES[count_in_word(word, FIRST_ONES[n], g, ones)]
        memcpy(out + at, &best, FEW)
        at += min(depth, n)
        q += 1
        ptr[q] = at
    return q


cdef inline void _sort_two_words(const uint8_t* grade, int64_t n, int64_t highest, uint8_t* out) noexcept nogil:
    """The same of 9 to 16 grades: three quarters of the time of a sort that counts them."""
    cdef int64_t g, n_reach
    cdef uint64_t first, second, best = 0, others = 0, ones = BYTES_OF_1
    memcpy(&first, grade, FEW)
    memcpy(&second, grade + FEW, FEW)
    for g in range(1, highest + 1):
        n_reach = count_in_word(first, ones, g, ones) + count_in_word(second, FIRST_ONES[n - FEW], g, ones)
        best += FIRST_ONES[min(n_reach, <int64_t> FEW)]
        others += FIRST_ONES[max(n_reach - FEW, <int64_t> 0)]
    memcpy(out, &best, FEW)
    memcpy(out + FEW, &others, FEW)


cdef inline void _sort_few_grades(const uint8_t* grade, int64_t n, uint8_t* out) noexcept nogil:
    """Sort up to 8 grades: each pair counts for the lower one, which is one place further down."""
    cdef int64_t[FEW] place
    cdef int64_t i, j, before
    for i in range(n):
        place[i] = 0
        for j in range(i):
            before = grade[j] >= grade[i]
            place[i] += before
            place[j] += 1 - before
    for i in range(n):
        out[place[i]] = grade[i]


cdef void _find_best_grades(
    const uint8_t* grade, int64_t n, int64_t depth, int64_t highest, uint8_t* out
) noexcept nogil:
    """Write the best low grades of a query, down to 16 at most, in two words, as `_rank_words` writes one.

    As soon as so many reach a grade, the four below it are not counted. Both words are written: less than two
    thirds of the time of a sort that is cut.
    """
    cdef int64_t i, n_reach = 0, g = 0
    cdef uint64_t counts = 0
    cdef uint64_t[2] words = [0, 0]
    if n < MANY:
        for i in range(n):
            counts += ONE_OF[grade[i]]
        for i in range(highest, 0, -1):
            n_reach += (counts >> (8 * i)) & 255
            _add_to_first(n_reach, words)
    elif highest <= AT_A_TIME:
        _add_four_grades(grade, n, AT_A_TIME, 0, words)  # which the compiler knows
    else:
        g = LOW_GRADES
        while g > 0 and n_reach < depth:
            n_reach = _add_four_grades(grade, n, g, n_reach, words)
            g -= AT_A_TIME
    words[0] += g * BYTES_OF_1
    words[1] += g * BYTES_OF_1
    memcpy(out, words, 2 * FEW)


cdef inline int64_t _add_four_grades(
    const uint8_t* grade, int64_t n, int64_t highest, int64_t n_reach, uint64_t* words
) noexcept nogil:
    """Add 1 to as many first bytes of two words as reach each of four grades; so many reach the one above them."""
    cdef int64_t k
    cdef uint8_t[AT_A_TIME] those
    cdef int64_t[AT_A_TIME] n_of
    for k in range(AT_A_TIME):
        those[k] = <uint8_t> (highest - k)
    count_in_four(grade, n, those, those, n_of)
    for k in range(AT_A_TIME):
        n_reach += n_of[k]
        _add_to_first(n_reach, words)
    return n_reach


cdef inline void _add_to_first(int64_t n, uint64_t* words) noexcept nogil:
    """Add 1 to the first n bytes of two words."""
    words[0] += FIRST_ONES[min(n, <int64_t> FEW)]
    words[1] += FIRST_ONES[min(max(n - FEW, <int64_t> 0), <int64_t> FEW)]


cdef void _sort_grades(const uint8_t* grade, int64_t n, int64_t depth, int64_t highest, uint8_t* out) noexcept nogil:
    """Counting sort, cut at `depth`."""
    cdef int64_t[N_GRADES] count
    cdef int64_t n_equal, start = 0, n_left = min(depth, n), g = highest
    memset(count, 0, sizeof(count))
    if highest < LOW_GRADES and n >= MANY:
        _count_each_grade(grade, n, highest, count)
    elif highest < LOW_GRADES:
        _count_low_grades(grade, n, count)
    else:
        while start < n:
            _count_grades(grade + start, min(n - start, <int64_t> AT_ONCE), count)
            start += AT_ONCE
    while n_left > 0:
        n_equal = min(count[g], n_left)
        memset(out, <int> g, n_equal)
        out += n_equal
        n_left -= n_equal
        g -= 1


cdef void _count_each_grade(const uint8_t* grade, int64_t n, int64_t highest, int64_t* count) noexcept nogil:
    """Count four grades together."""
    cdef int64_t g, k
    cdef uint8_t[AT_A_TIME] those
    count[0] = n
    for g in range(1, highest + 1, 4):
        for k in range(AT_A_TIME):
            those[k] = <uint8_t> (g + k)
        count_in_four(grade, n, those, those, count + g)
        for k in range(AT_A_TIME):
            count[0] -= count[g + k]


cdef void _count_low_grades(const uint8_t* grade, int64_t n, int64_t* count) noexcept nogil:
    """Count up to `MANY` grades of at most 7, a byte for each in one word."""
    cdef int64_t i, g
    cdef uint64_t counts = 0
    for i in range(n):
        counts += ONE_OF[grade[i]]
    for g in range(LOW_GRADES):
        count[g] = (counts >> (8 * g)) & 255


cdef void _count_grades(const uint8_t* grade, int64_t n, int64_t* count) noexcept nogil:
    """Count grades. Neighbours are counted apart: equal ones would wait for each other's count."""
    cdef int32_t[4][N_GRADES] apart
    cdef int64_t i, g, n_in_lanes = n - n % 4
    memset(apart, 0, sizeof(apart))
    for i in range(0, n_in_lanes, 4):
        apart[0][grade[i]] += 1
        apart[1][grade[i + 1]] += 1
        apart[2][grade[i + 2]] += 1
        apart[3][grade[i + 3]] += 1
    for i in range(n_in_lanes, n):
        apart[0][grade[i]] += 1
    for g in range(N_GRADES):
        count[g] += apart[0][g] + apart[1][g] + apart[2][g] + apart[3][g]


cpdef void count_grades_at_least(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int32_t least, double[:, :] out
) noexcept:
    """Count the rows of each query whose grade is at least `least`."""
    cdef int64_t q, n, total, n_rows = grade.shape[0]
    cdef const uint8_t* grades = &grade[0] if n_rows > 0 else NULL
    cdef uint8_t wanted = <uint8_t> min(max(least, 0), N_GRADES)  # which none has
    with nogil:
        for q in range(indptr.shape[0] - 1):
            n = indptr[q + 1] - indptr[q]
            if wanted == 0:
                total = n
            elif LOW_BYTES_FIRST and n <= FEW and indptr[q] + FEW <= n_rows:
                total = _count_few(grades + indptr[q], n, wanted)
            else:
                total = count_between(grades + indptr[q], n, wanted, N_GRADES)
            out[q, 0] = total


cdef inline int64_t _count_few(const uint8_t* grade, int64_t n, uint8_t wanted) noexcept nogil:
    """Count the grades of at least `wanted` among the first n of 8."""
    cdef uint64_t word
    memcpy(&word, grade, FEW)
    return count_in_word(word, FIRST_ONES[n], wanted, BYTES_OF_1)


def find_grades(const uint8_t[::1] grade, int64_t highest):
    """Return bits: 1 << g for each grade g that occurs. No grade is above `highest`; all of them seen, it stops."""
    cdef int64_t i = 0, stop, n = grade.shape[0]
    cdef int64_t found = 0
    with nogil:
        while i < n and found != (<int64_t> 2 << highest) - 1:
            stop = min(n, i + 64)
            while i < stop:
                found |= <int64_t> 1 << grade[i]
                i += 1
    return found


cpdef void look_up(const double[::1] table, const uint8_t[::1] grade, double[::1] out) noexcept:
    """Write what a table has for each grade."""
    cdef int64_t i
    with nogil:
        for i in range(grade.shape[0]):
            out[i] = table[grade[i]]


cdef void find_ranges(numbers_t* numbers) noexcept:
    cdef int64_t g, n = 0
    memset(numbers.low, 255, LOW_GRADES)
    memset(numbers.high, 255, LOW_GRADES)
    memset(numbers.each, 0, sizeof(numbers.each))
    for g in range(N_GRADES):
        if numbers.of[g] == 0:
            continue
        if g == 0 or numbers.of[g] != numbers.of[g - 1]:
            n += 1
            if n <= LOW_GRADES:
                numbers.low[n - 1] = <uint8_t> g
                numbers.each[n - 1] = numbers.of[g]
        if n <= LOW_GRADES:
            numbers.high[n - 1] = <uint8_t> g
    numbers.n_ranges = n


cdef int64_t find_few_labels(const uint8_t* grade, int64_t n, int64_t most, int64_t* row) noexcept nogil:
    """Write which grades are not 0, and count them; -1 if they are more than `most`, or seem to be by the last 8."""
    cdef int64_t i, j, n_labels, n_found = 0
    cdef uint8_t low = 1, high = N_GRADES
    cdef uint64_t word
    memcpy(&word, grade + n - OF_WORD, OF_WORD)
    if count_in_word(word, BYTES_OF_1, 1, BYTES_OF_1) > FEW_LAST:
        return -1
    count_in_one(grade, n, &low, &high, &n_labels)
    if n_labels > most:
        return -1
    i = 0
    while n_found < n_labels:
        memcpy(&word, grade + min(i, n - OF_WORD), OF_WORD)
        if word != 0:
            for j in range(i, min(i + OF_WORD, n)):
                row[n_found] = j
                n_found += grade[j] > 0
                if n_found == n_labels:
                    break
        i += OF_WORD
    return n_labels


# --- labels that are numbers

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
