# Lists in which few grades are not 0, as of recommenders; `rank.pyx` includes it.
#
# Rows of grade 0 need no order: each of the others stands below the rows whose scores are above its own. One in a
# hundred rows is put in its place in a sixth of the time of a sort.

cdef enum:
    FEW_LABELS = 12             # grades that are put in their places in less time than all rows are
    FEW_BEST = 3                # the same, than the best rows are found and put in order
    FEW_LAST = 3                # of the last 8; lists in which more are not 0 mostly have many
    LEAST_ROWS = 16             # of such a list


cdef inline bint _place_few_labels(const score_t* score, few_t* few, int64_t q) noexcept nogil:
    """Rank one query, if grades alone are asked for, and few are not 0; return whether that was done.

    It is not if one of these rows is tied. Ties of the others are not written.
    """
    cdef int64_t start = few.indptr[q], n = few.indptr[q + 1] - start, at = few.ptr[q]
    cdef int64_t[FEW_LABELS] row, place
    cdef int64_t i, m
    if not few.only_grades or n < LEAST_ROWS or score[start] == score[start + n - 1]:   # mostly all are equal
        return False
    m = _find_few_labels(few.grade + start, n, min(n // 5, <int64_t> (FEW_BEST if few.depth < n else FEW_LABELS)), row)
    if m < 0:
        return False
    for i in range(m):
        if not _count_beside(score + start, n, score[start + row[i]], &place[i]):
            return False
    n = min(few.depth, n)
    memset(few.out + at, 0, n)
    for i in range(m):
        if place[i] < n:
            few.out[at + place[i]] = few.grade[start + row[i]]
    if few.tie_end != NULL:
        few.tie_end[at] = NO_TIES
    few.ptr[q + 1] = at + n
    return True


cdef inline int64_t _find_few_labels(const uint8_t* grade, int64_t n, int64_t most, int64_t* row) noexcept nogil:
    """Write which grades are not 0, and count them; -1 if they are more than `most`, or seem to be by the last 8."""
    cdef int64_t i, j, n_labels, n_found = 0
    cdef uint8_t low = 1, high = N_GRADES
    cdef uint64_t word
    memcpy(&word, grade + n - OF_WORD, OF_WORD)
    if _count_in_word(word, BYTES_OF_1, 1, BYTES_OF_1) > FEW_LAST:
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
