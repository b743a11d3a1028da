# From the curves of formulas to values of queries; `rank.pyx` includes it.

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
    cdef int64_t c, n = out.shape[0], n_step = 0, d_step = 0, needed_step = 0
    cdef bint valid = True, in_range, any_zero
    cdef const double* x
    cdef const double* y
    cdef const double* z = NULL
    if n == 0:
        return True
    if numerator.shape[0] > 1:
        n_step = numerator.strides[0] // <int64_t> sizeof(double)
    if denominator.shape[0] > 1:
        d_step = denominator.strides[0] // <int64_t> sizeof(double)
    if needed is not None:
        z = <const double*> &needed[0, 0]
        needed_step = needed.strides[0] // <int64_t> sizeof(double)
    with nogil:
        for c in range(out.shape[1]):
            x = &numerator[0, c if numerator.shape[1] > 1 else 0]
            y = &denominator[0, c if denominator.shape[1] > 1 else 0]
            if n_step == d_step == 1:  # which the compiler has to know, to take two queries at once
                in_range = _divide_all(x, 1, y, 1, n, &out[0, c], &any_zero)
            else:
                in_range = _divide_all(x, n_step, y, d_step, n, &out[0, c], &any_zero)
            if z != NULL or any_zero:
                in_range = _replace_undefined(
                    x, n_step, y, d_step, z, needed_step, n, otherwise, in_range, &out[0, c], &undefined[0, c],
                    undefined.strides[0],
                )
            valid &= in_range
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


cdef inline int64_t _bits(double x) noexcept nogil:
    cdef int64_t bits
    memcpy(&bits, &x, sizeof(bits))
    return bits


cdef bint _replace_undefined(
    const double* x, int64_t x_step, const double* y, int64_t y_step, const double* needed, int64_t needed_step,
    int64_t n, double otherwise, bint in_range, double* out, uint8_t* undefined, int64_t undefined_step,
) noexcept nogil:
    """Replace ratios that are undefined, and return whether all numbers of the others are in range.

    `in_range` says whether they are wherever the denominator is not 0. If not, those that are defined are looked at.
    """
    cdef int64_t q
    cdef double b
    cdef bint valid = True
    for q in range(n):
        b = y[y_step * q]
        if b == 0.0 or (needed != NULL and needed[needed_step * q] == 0.0):
            out[q] = otherwise
            undefined[undefined_step * q] = True
        elif not in_range:
            valid &= (fabs(x[x_step * q]) <= DBL_MAX) & (LEAST <= fabs(b)) & (fabs(b) <= DBL_MAX)
    return valid
