# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Labels that are kept as bytes: their best order, counts, and numbers that stand for them.

In: the grade of each row, and where each query begins. Whole labels from 0 to 31 are grades.
Out: grades in falling order, and counts or numbers.
Why: an order of grades is known by how many rows have each, and eight or sixteen bytes are compared in one step.
"""
from libc.math cimport exp2, expm1, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from sklearn_rank._engine.kernels.common cimport BYTES_OF_1, LOW_BYTES_FIRST, N_GRADES, OF_WORD

cdef double LOG_2 = log(2.0)

cdef enum:
    MOST_OF_LAST = 3            # labels among the last 8 rows of a query; where there are more, many rows have one

cdef uint64_t[LOW_GRADES] ONE_OF        # 1 in the byte of each grade
cdef uint64_t[OF_WORD + 1] FIRST_ONES   # 1 in as many of the lowest bytes


cdef void _fill_tables() noexcept:
    cdef int64_t i
    for i in range(OF_WORD):
        ONE_OF[i] = <uint64_t> 1 << (8 * i)
    FIRST_ONES[0] = 0
    for i in range(OF_WORD):
        FIRST_ONES[i + 1] = FIRST_ONES[i] + ONE_OF[i]


_fill_tables()


# --- the best order ----------------------------------------------------------------------------------------------


cpdef void rank_grades(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int64_t depth, int64_t highest,
    uint8_t[::1] out, int64_t[::1] ptr,  # OUT
) noexcept:
    """Write the grades of each query, highest first, down to `depth`. None is above `highest`."""
    cdef int64_t q, n, n_kept, n_rows = out.shape[0], offset = 0
    cdef bint low = LOW_BYTES_FIRST and highest < LOW_GRADES
    cdef const uint8_t* grades = &grade[0] if n_rows > 0 else NULL
    cdef uint8_t* best = &out[0] if n_rows > 0 else NULL
    with nogil:
        ptr[0] = 0
        for q in range(indptr.shape[0] - 1):
            n = indptr[q + 1] - indptr[q]
            n_kept = min(depth, n)
            if low and n <= OF_WORD and indptr[q] + OF_WORD <= n_rows:
                _write_word(grades + indptr[q], n, highest, best + offset)
            elif low and n_kept <= 2 * OF_WORD and offset + 2 * OF_WORD <= n_rows:
                _write_words(grades + indptr[q], n, n_kept, highest, best + offset)
            else:
                _sort_grades(grades + indptr[q], n, n_kept, highest, best + offset)
            offset += n_kept
            ptr[q + 1] = offset


cdef inline void _write_word(
    const uint8_t* grade, int64_t n, int64_t highest,
    uint8_t* out,  # OUT
) noexcept nogil:
    """Write the grades of up to 8 rows, none above 7: each grade adds 1 to as many first bytes as reach it.

    All 8 bytes are written; the next query overwrites those behind the last grade.
    """
    cdef int64_t g
    cdef uint64_t word, best = 0
    memcpy(&word, grade, OF_WORD)
    for g in range(1, highest + 1):
        best += FIRST_ONES[count_in_word(word, FIRST_ONES[n], g, BYTES_OF_1)]
    memcpy(out, &best, OF_WORD)


cdef inline void _write_words(
    const uint8_t* grade, int64_t n, int64_t n_kept, int64_t highest,
    uint8_t* out,  # OUT
) noexcept nogil:
    """Write the best grades of a query, up to 16, in two words, in the way of `_write_word`.

    As soon as all that are kept reach a grade, the four below it are not counted.
    """
    cdef int64_t i, n_reach = 0, g = 0
    cdef uint64_t counts = 0
    cdef uint64_t[2] words = [0, 0]
    if n < LEAST_BY_RANGE:
        for i in range(n):
            counts += ONE_OF[grade[i]]
        for i in range(highest, 0, -1):
            n_reach += (counts >> (8 * i)) & 255
            _add_to_first(n_reach, words)
    elif highest <= COUNTED_TOGETHER:
        _add_four_grades(grade, n, COUNTED_TOGETHER, 0, words)  # which the compiler knows
    else:
        g = LOW_GRADES
        while g > 0 and n_reach < n_kept:
            n_reach = _add_four_grades(grade, n, g, n_reach, words)
            g -= COUNTED_TOGETHER
    words[0] += g * BYTES_OF_1
    words[1] += g * BYTES_OF_1
    memcpy(out, words, 2 * OF_WORD)


cdef inline int64_t _add_four_grades(
    const uint8_t* grade, int64_t n, int64_t highest, int64_t n_reach, uint64_t* words
) noexcept nogil:
    """Add 1 to as many first bytes of two words as reach each of four grades; so many reach the one above them."""
    cdef int64_t k
    cdef uint8_t[COUNTED_TOGETHER] chosen
    cdef int64_t[COUNTED_TOGETHER] n_of
    for k in range(COUNTED_TOGETHER):
        chosen[k] = <uint8_t> (highest - k)
    count_in_four(grade, n, chosen, chosen, n_of)
    for k in range(COUNTED_TOGETHER):
        n_reach += n_of[k]
        _add_to_first(n_reach, words)
    return n_reach


cdef inline void _add_to_first(int64_t n, uint64_t* words) noexcept nogil:
    """Add 1 to the first n bytes of two words."""
    words[0] += FIRST_ONES[min(n, <int64_t> OF_WORD)]
    words[1] += FIRST_ONES[min(max(n - OF_WORD, <int64_t> 0), <int64_t> OF_WORD)]


cdef void _sort_grades(
    const uint8_t* grade, int64_t n, int64_t n_kept, int64_t highest,
    uint8_t* out,  # OUT
) noexcept nogil:
    """Counting sort, cut where no more are kept."""
    cdef int64_t[N_GRADES] count
    cdef int64_t n_equal, g = highest
    if highest < LOW_GRADES and n >= LEAST_BY_RANGE:
        _count_each_grade(grade, n, highest, count)
    else:
        _count_grades(grade, n, count)
    while n_kept > 0:
        n_equal = min(count[g], n_kept)
        memset(out, <int> g, n_equal)
        out += n_equal
        n_kept -= n_equal
        g -= 1


cdef void _count_each_grade(const uint8_t* grade, int64_t n, int64_t highest, int64_t* count) noexcept nogil:
    """Count four grades together."""
    cdef int64_t g, k
    cdef uint8_t[COUNTED_TOGETHER] chosen
    count[0] = n
    for g in range(1, highest + 1, 4):
        for k in range(COUNTED_TOGETHER):
            chosen[k] = <uint8_t> (g + k)
        count_in_four(grade, n, chosen, chosen, count + g)
        for k in range(COUNTED_TOGETHER):
            count[0] -= count[g + k]


cdef void _count_grades(
    const uint8_t* grade, int64_t n,
    int64_t* count,  # OUT
) noexcept nogil:
    """Count grades. Neighbors are counted apart: equal ones would wait for each other's count."""
    cdef int64_t[4][N_GRADES] apart
    cdef int64_t i, g
    memset(apart, 0, sizeof(apart))
    for i in range(n):
        apart[i % 4][grade[i]] += 1
    for g in range(N_GRADES):
        count[g] = apart[0][g] + apart[1][g] + apart[2][g] + apart[3][g]


# --- counts, and numbers that stand for grades -------------------------------------------------------------------


cpdef void count_grades_at_least(
    const uint8_t[::1] grade, const int64_t[::1] indptr, int32_t least,
    double[:, :] out,  # OUT
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
            elif LOW_BYTES_FIRST and n <= OF_WORD and indptr[q] + OF_WORD <= n_rows:
                total = _count_among(grades + indptr[q], n, wanted)
            else:
                total = count_between(grades + indptr[q], n, wanted, N_GRADES)
            out[q, 0] = total


cdef inline int64_t _count_among(const uint8_t* grade, int64_t n, uint8_t wanted) noexcept nogil:
    """Count the grades of at least `wanted` among the first n of 8."""
    cdef uint64_t word
    memcpy(&word, grade, OF_WORD)
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


cpdef void look_up(
    const double[::1] table, const uint8_t[::1] grade,
    double[::1] out,  # OUT
) noexcept:
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
        if numbers.by_grade[g] == 0:
            continue
        if g == 0 or numbers.by_grade[g] != numbers.by_grade[g - 1]:
            n += 1
            if n <= LOW_GRADES:
                numbers.low[n - 1] = <uint8_t> g
                numbers.each[n - 1] = numbers.by_grade[g]
        if n <= LOW_GRADES:
            numbers.high[n - 1] = <uint8_t> g
    numbers.n_ranges = n


cdef int64_t find_labeled(const uint8_t* grade, int64_t n, int64_t most, int64_t* row) noexcept nogil:
    """Write which grades are not 0, and count them; -1 if they are more than `most`, or seem to be by the last 8."""
    cdef int64_t i, j, n_labels, n_found = 0
    cdef uint8_t low = 1, high = N_GRADES
    cdef uint64_t word
    memcpy(&word, grade + n - OF_WORD, OF_WORD)
    if count_in_word(word, BYTES_OF_1, 1, BYTES_OF_1) > MOST_OF_LAST:
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


# --- labels that are any numbers ---------------------------------------------------------------------------------


def exp2_minus_1(
    const double[::1] x,
    double[::1] out,  # OUT
):
    """Write 2**x - 1, near 0 without a difference that would lose digits. Whole numbers are shifted."""
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


def count_at_least(
    const double[::1] x, const int64_t[::1] indptr, double threshold,
    double[:, ::1] out,  # OUT
):
    """Count the rows of each query whose value is at least `threshold`."""
    cdef int64_t q, row, n
    with nogil:
        for q in range(indptr.shape[0] - 1):
            n = 0
            for row in range(indptr[q], indptr[q + 1]):
                n += x[row] >= threshold
            out[q, 0] = n
