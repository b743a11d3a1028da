# Labels that are small whole numbers, written as bytes; `checks.pyx` includes it.
#
# Adding 2**52 to a float64 leaves a whole number in the last bits, and taking it away again leaves the number as it
# was. Vectors do both; few can convert to int and back.

cdef double WHOLE = 2.0**52
cdef uint64_t BITS_OF_WHOLE = 0x4330000000000000

cdef union bits_t:
    double value
    uint64_t bits


cdef bint _write_grades(const double* x, int64_t n, uint8_t* out) noexcept nogil:
    """Write numbers as bytes; return whether all are whole numbers from 0 to 31."""
    cdef uint64_t changed = 0, above = 0
    cdef int64_t i
    cdef bits_t given, moved, back
    for i in range(n):
        given.value = x[i]
        moved.value = given.value + WHOLE
        back.value = moved.value - WHOLE
        changed |= given.bits ^ back.bits
        above |= moved.bits ^ BITS_OF_WHOLE
        out[i] = <uint8_t> moved.bits
    return changed << 1 == 0 and above >> 5 == 0  # a sign may differ: -0.0
