# Where bytes stand that reach a number, eight at a time; `rank.pyx` includes it.
#
# No branch depends on what is found, and a loop that looks at each byte takes several times as long.

from sys import byteorder

cdef enum:
    OF_WORD = 8                     # bytes

cdef bint LOW_BYTES_FIRST = byteorder == "little"
cdef uint64_t BYTES_OF_1 = 0x0101010101010101
cdef uint64_t BITS_OF_BYTES = 0x0102040810204080    # times 8 bytes of 0 or 1 makes them the bits of the highest byte
cdef int64_t[1 << OF_WORD] N_BITS                   # that are 1 in each byte
cdef uint8_t[1 << OF_WORD][OF_WORD] PLACES          # of these


cdef void _list_places() noexcept:
    cdef int64_t byte, bit
    memset(N_BITS, 0, sizeof(N_BITS))
    memset(PLACES, 0, sizeof(PLACES))
    for byte in range(1 << OF_WORD):
        for bit in range(OF_WORD):
            if byte >> bit & 1:
                PLACES[byte][N_BITS[byte]] = <uint8_t> bit
                N_BITS[byte] += 1


_list_places()


cdef inline int64_t _find_at_least(const uint8_t* x, int64_t n, uint64_t least, uint8_t* place) noexcept nogil:
    """Write the places of the bytes of at least `least`, which is not 0, and count them; no byte is above 127.

    There are 8 to 256 bytes. The last ones are read with those before them, which are shifted out; up to 8 places are
    written too much. It is for processors that have the low bytes first.
    """
    cdef int64_t i, start, bits, n_found = 0
    cdef uint64_t word, places
    for i in range(0, n, 8):
        start = min(i, n - OF_WORD)
        memcpy(&word, x + start, OF_WORD)
        word >>= 8 * (i - start)
        word = ((word + (128 - least) * BYTES_OF_1) >> 7) & BYTES_OF_1
        bits = (word * BITS_OF_BYTES) >> 56
        memcpy(&places, PLACES[bits], OF_WORD)
        places += i * BYTES_OF_1
        memcpy(place + n_found, &places, OF_WORD)
        n_found += N_BITS[bits]
    return n_found
