# From the curves of formulas to values of queries; `rank.pyx` includes it.

cdef double LEAST = 1e-292      # least denominator that has all its digits


def divide(
    const double[:, :] numerator, const double[:, :] denominator, const double[:, :] needed, double otherwise,
    double[:, :] out, uint8_t[:, :] undefined,
):
    """Write the ratio of each query (row) and cutoff, or `otherwise` where it is undefined; one pass for all checks.

    It is undefined where the denominator, or what is `needed` of a query, is 0: such places are marked in `undefined`,
    which is written to nowhere else. A row or a column that stands alone counts for all. Return whether all numbers of
    the others are finite and no denominator is too small for its digits.
    """
    cdef int64_t q, c, nq = numerator.shape[0] > 1, nc = numerator.shape[1] > 1
    cdef int64_t dq = denominator.shape[0] > 1, dc = denominator.shape[1] > 1
    cdef double x, y
    cdef bint valid = True
    with nogil:
        for c in range(out.shape[1]):
            for q in range(out.shape[0]):
                x = numerator[nq * q, nc * c]
                y = denominator[dq * q, dc * c]
                if y == 0.0 or (needed is not None and needed[q, 0] == 0.0):
                    out[q, c] = otherwise
                    undefined[q, c] = True
                else:
                    out[q, c] = x / y
                    valid &= fabs(x) <= DBL_MAX and LEAST <= fabs(y) <= DBL_MAX
    return valid
