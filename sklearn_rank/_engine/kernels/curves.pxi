# From the curves of formulas to values of queries; `rank.pyx` includes it.

cdef enum:
    TAKEN_AT_ONCE = 512         # queries of which all columns are divided before the next ones

cdef double LEAST = 1e-292      # least denominator that has all its digits


cpdef bint divide(
    const double[:, :] numerator, const double[:, :] denominator, const double[:, :] needed, double otherwise,
    double[:, :] out, uint8_t[:, :] undefined,
) noexcept:
    """Write the ratio of each query (row) and cutoff, or `otherwise` where it is undefined; one pass for all checks.

    It is undefined where the denominator, or what is `needed` of a query, is 0: such places are marked in `undefined`,
    which is written to nowhere else. A row or a column that stands alone counts for all, and columns of `out` are
    contiguous. Return whether all numbers of the others are finite and no denominator is too small for its digits.
    """
    cdef int64_t c, first = 0, n, i, n_undefined = 0, n_queries = out.shape[0], n_step = 0, d_step = 0, needed_step = 0
    cdef bint valid = True, in_range, any_zero, known
    cdef double once
    cdef const double* x
    cdef const double* y
    cdef const double* z = NULL
    cdef double* to
    cdef int32_t[TAKEN_AT_ONCE] place
    if n_queries == 0:
        return True
    if numerator.shape[0] > 1:
        n_step = numerator.strides[0] // <int64_t> sizeof(double)
    if denominator.shape[0] > 1:
        d_step = denominator.strides[0] // <int64_t> sizeof(double)
    if needed is not None:
        needed_step = needed.strides[0] // <int64_t> sizeof(double)
    with nogil:
        while first < n_queries:
            n = min(n_queries - first, <int64_t> TAKEN_AT_ONCE)
            known = False
            if needed is not None:
                z = &needed[0, 0] + needed_step * first
            for c in range(out.shape[1]):
                x = &numerator[0, c if numerator.shape[1] > 1 else 0] + n_step * first
                y = &denominator[0, c if denominator.shape[1] > 1 else 0] + d_step * first
                to = &out[first, c]
                once = y[0]  # which nothing is written to, as the compiler can see
                if n_step == d_step == 1:  # which it has to know, to take two queries at once
                    in_range = _divide_all(x, 1, y, 1, n, to, &any_zero)
                elif n_step == 1 and d_step == 0 and once == 1.0:
                    in_range = _copy_all(x, n, to)
                    any_zero = False
                elif n_step == 1 and d_step == 0:
                    in_range = _divide_all(x, 1, &once, 0, n, to, &any_zero)
                else:
                    in_range = _divide_all(x, n_step, y, d_step, n, to, &any_zero)
                if z != NULL or any_zero:
                    if not known:
                        n_undefined = _find_undefined(y, d_step, z, needed_step, n, place)
                        known = denominator.shape[1] == 1
                    for i in range(n_undefined):
                        to[place[i]] = otherwise
                        undefined[first + place[i], c] = True
                    in_range = in_range or _are_others_in_range(x, n_step, y, d_step, n, place, n_undefined)
                valid &= in_range
            first += n
    return valid


cdef inline bint _divide_all(
    const double* x, int64_t x_step, const double* y, int64_t y_step, int64_t n, double* out, bint* any_zero
) noexcept nogil:
    """Ratios, whether a denominator is 0, and whether all numbers of the others are in range.

    Bits of numbers that are not negative rise with them, so differences from those of the bounds have the sign bit
    where one is out of range, and so has 0 less 1. Compilers vectorize this, and no comparison: half the time.
    """
    cdef int64_t q, a, b, wrong = 0, zero = 0, infinite = _bits(INFINITY), least = _bits(LEAST)
    for q in range(n):
        out[q] = x[x_step * q] / y[y_step * q]
        a = _bits(fabs(x[x_step * q]))
        b = _bits(fabs(y[y_step * q]))
        zero |= b - 1
        wrong |= ((infinite - 1 - a) | (infinite - 1 - b) | (b - least)) & ~(b - 1)
    any_zero[0] = zero < 0
    return wrong >= 0


cdef inline bint _copy_all(const double* x, int64_t n, double* out) noexcept nogil:
    """The same where each denominator is 1."""
    cdef int64_t q, wrong = 0, infinite = _bits(INFINITY)
    for q in range(n):
        out[q] = x[q]
        wrong |= infinite - 1 - _bits(fabs(x[q]))
    return wrong >= 0


cdef inline int64_t _bits(double x) noexcept nogil:
    cdef int64_t bits
    memcpy(&bits, &x, sizeof(bits))
    return bits


cdef inline int64_t _find_undefined(
    const double* y, int64_t y_step, const double* needed, int64_t needed_step, int64_t n, int32_t* place,
) noexcept nogil:
    """Write places where a ratio is undefined, and return how many there are: without a branch for each place."""
    cdef int64_t q, n_found = 0
    cdef bint zero
    for q in range(n):
        place[n_found] = q
        zero = y[y_step * q] == 0.0
        if needed != NULL:
            zero |= needed[needed_step * q] == 0.0
        n_found += zero
    return n_found


cdef bint _are_others_in_range(
    const double* x, int64_t x_step, const double* y, int64_t y_step, int64_t n, const int32_t* place,
    int64_t n_undefined,
) noexcept nogil:
    """Whether all numbers are in range but those at places where the ratio is undefined."""
    cdef int64_t q, i = 0
    cdef bint valid = True
    for q in range(n):
        if i < n_undefined and place[i] == q:
            i += 1
        else:
            valid &= (fabs(x[x_step * q]) <= DBL_MAX) & (LEAST <= fabs(y[y_step * q])) & (
                fabs(y[y_step * q]) <= DBL_MAX
            )
    return valid
