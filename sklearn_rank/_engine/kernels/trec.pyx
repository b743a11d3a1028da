# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Read files of TREC, and join the rows of a run with rows of judgments.

In: lines of fields between blanks as bytes; scores, labels, and which row matches which.
Out: ids and numbers of rows, and where reading stopped; or labels and scores of all rows of both sides by query.
A file is read once, byte by byte, without an object for a field. Numbers are read as C does in its own locale, and
those with few digits by one division or product of exact numbers, which rounds once.
"""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, NAN, rint
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

cdef extern from *:
    """
    /* strtod of the C locale: in others a comma may stand for the point. */
    #include <locale.h>
    #include <stdlib.h>
    #if defined(_WIN32)
        static _locale_t sklearn_rank_c_locale;
        #define MAKE_C_LOCALE() (sklearn_rank_c_locale = _create_locale(LC_ALL, "C"))
        #define strtod_l _strtod_l
    #else
        #if defined(__APPLE__) || defined(__FreeBSD__)
            #include <xlocale.h>
        #endif
        static locale_t sklearn_rank_c_locale;
        #define MAKE_C_LOCALE() (sklearn_rank_c_locale = newlocale(LC_ALL_MASK, "C", (locale_t) 0))
    #endif
    #define STRTOD(text, stopped) strtod_l((text), (stopped), sklearn_rank_c_locale)
    """
    void* MAKE_C_LOCALE()
    double STRTOD(const char*, char**) nogil

if MAKE_C_LOCALE() == NULL:
    raise MemoryError("There is no memory for the C locale.")

cdef double[23] TEN_TO = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
                          1e17, 1e18, 1e19, 1e20, 1e21, 1e22]  # the powers of ten that a double holds exactly
cdef uint64_t EXACT = 1 << 53   # whole numbers up to here are doubles


def read_fields(
    const uint8_t[::1] text, int64_t n_fields, int64_t document_field, int64_t value_field,
    uint8_t[::1] query, int64_t[::1] query_end, int64_t[::1] run_start,
    uint8_t[::1] document, int64_t[::1] document_end, double[::1] value, int64_t[::1] line, double[::1] rank,
):
    """Split lines, each with its newline, into fields; return where it stopped, and how many rows and runs there are.

    The first of `n_fields`, counted from 0, is the OUT query, `document_field` the OUT document, and `value_field` the
    OUT value, which stays as it came in where there is no such field; each text is written up to its end. Consecutive
    rows of one query make a run, which begins at OUT `run_start` and has its query once. OUT `line` is the number of
    each row's line, from 0; lines without a field are skipped. It stops at a line that is not so. There must be space
    for one row more than there can be. Where there is OUT `rank`, the fourth field is one: NaN if it is no number, and
    a line whose rank has a fraction stops it.
    """
    cdef int64_t offset = 0, i = 0, start, length, field, n = 0, n_runs = 0, n_query = 0, n_document = 0, last = 0
    cdef int64_t n_lines = 0
    cdef bint good = True
    with nogil:
        while offset < text.shape[0]:
            field = 0
            while True:
                while _is_blank(text[i]):
                    i += 1
                if text[i] == 10:
                    break
                start = i
                while text[i] != 10 and not _is_blank(text[i]):
                    i += 1
                length = i - start
                if field == 0:
                    if n_runs == 0 or n_query - last != length or memcmp(&query[last], &text[start], length) != 0:
                        last = n_query
                        memcpy(&query[n_query], &text[start], length)
                        n_query += length
                        query_end[n_runs] = n_query
                        run_start[n_runs] = n
                        n_runs += 1
                elif field == document_field:
                    memcpy(&document[n_document], &text[start], length)
                    n_document += length
                    document_end[n] = n_document
                elif field == value_field and not _read_number(&text[start], &text[i], &value[n]):
                    good = False
                elif field == 3 and rank is not None:
                    if not _read_number(&text[start], &text[i], &rank[n]):
                        rank[n] = NAN
                    elif rank[n] != rint(rank[n]):
                        good = False
                field += 1
            if field == 0:
                pass
            elif field == n_fields and good:
                line[n] = n_lines
                n += 1
            else:
                break
            i += 1
            offset = i
            n_lines += 1
    return offset, n, n_runs


cdef inline bint _is_blank(uint8_t c) noexcept nogil:
    return c == 32 or c == 9 or (11 <= c <= 13)


cdef inline bint _is_digit(uint8_t c) noexcept nogil:
    return 48 <= c <= 57


cdef bint _read_number(const uint8_t* cursor, const uint8_t* end, double* out) noexcept nogil:
    """Read a finite decimal number that takes up all of the text; whether there is one."""
    cdef uint64_t digits = 0
    cdef int64_t exponent = 0, e = 0, n_digits = 0
    cdef bint minus = cursor[0] == 45, after_point = False, e_minus = False, cut = False
    cdef const uint8_t* start = cursor
    cdef char* stopped = NULL
    if cursor[0] == 45 or cursor[0] == 43:
        cursor += 1
    while cursor < end and (_is_digit(cursor[0]) or (cursor[0] == 46 and not after_point)):
        if cursor[0] == 46:
            after_point = True
        else:
            n_digits += 1
            if digits < EXACT:
                digits = 10 * digits + (cursor[0] - 48)
                exponent -= after_point
            else:
                cut = True
        cursor += 1
    if n_digits == 0:
        return False
    if cursor < end and (cursor[0] == 69 or cursor[0] == 101):
        cursor += 1
        if cursor < end and (cursor[0] == 45 or cursor[0] == 43):
            e_minus = cursor[0] == 45
            cursor += 1
        if cursor == end:
            return False
        while cursor < end and _is_digit(cursor[0]):
            if e < 10000:
                e = 10 * e + (cursor[0] - 48)
            cursor += 1
        exponent += -e if e_minus else e
    if cursor < end:
        return False
    if not cut and digits <= EXACT and -22 <= exponent <= 22:  # one operation on exact numbers, so rounded once
        out[0] = <double> digits / TEN_TO[-exponent] if exponent < 0 else <double> digits * TEN_TO[exponent]
        if minus:
            out[0] = -out[0]
        return True
    out[0] = STRTOD(<const char*> start, &stopped)
    return <const uint8_t*> stopped == end and -DBL_MAX <= out[0] <= DBL_MAX


def join_rows(
    const double[::1] score, const int64_t[::1] match, const int64_t[::1] indptr, const int64_t[::1] order,
    const double[::1] label, const int64_t[::1] judged_indptr, const int64_t[::1] judged_order,
    const uint8_t[::1] keep, uint8_t[::1] retrieved,
    double[::1] out_label, double[::1] out_score, int64_t[::1] out_row,
):
    """Write OUT rows of a run, query by query, each followed by the judged rows without a match; return how many.

    IN `match` is the judged row of each row, or -1; `retrieved` comes in as zeros, one for each judged row. Rows of the
    run are numbered from 0, and judged rows go on from there. Queries not to `keep` are skipped.
    """
    cdef int64_t q, i, row, n = 0
    with nogil:
        for q in range(indptr.shape[0] - 1):
            if not keep[q]:
                continue
            for i in range(indptr[q], indptr[q + 1]):
                row = order[i] if order is not None else i
                out_score[n] = score[row]
                out_row[n] = row
                out_label[n] = NAN
                if match[row] >= 0:
                    out_label[n] = label[match[row]]
                    retrieved[match[row]] = 1
                n += 1
            for i in range(judged_indptr[q], judged_indptr[q + 1]):
                row = judged_order[i] if judged_order is not None else i
                if not retrieved[row]:
                    out_score[n] = -INFINITY
                    out_row[n] = score.shape[0] + row
                    out_label[n] = label[row]
                    n += 1
    return n
