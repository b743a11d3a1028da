# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# cython: freethreading_compatible=True
"""Group rows by query: runs of equal ids, distinct keys numbered by hashing, and rows put in order by counting.

In: ids, which are bytes of one width, keys of 64 bits, or pieces of a text. Out: where runs begin, the number of each
row in order of first appearance, rows in the order of these numbers, and rows of two sides that match.
A table has a power of two of slots, each with a number plus one, or 0 if it is free. The load factor is at most 1/4: a
mispredicted probe costs more than the memory. Slots depend on a secret that each process draws, so that an attacker
cannot choose keys that collide; numbers do not.
"""
from os import urandom
from sys import byteorder

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcmp, memcpy, memset

from sklearn_rank._engine.kernels.common cimport PREFETCH, PREFETCH_TO_WRITE, count_steps, fetch_ahead

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(PyObject*, Py_ssize_t*)
    Py_ssize_t PyUnicode_GetLength(PyObject*)
    void PyErr_Clear()

ctypedef fused word_t:
    uint8_t
    uint32_t
    uint64_t

cdef uint64_t FACTOR = int.from_bytes(urandom(8), "little") | 1
cdef enum:
    N_SALTS = 64                # words of 32 bits: two for each word of 64 bits that is hashed
    NEXT = 16                   # objects ahead that are asked for
    TOGETHER = 16               # rows that are first asked whether any begins a run
cdef uint64_t IS_HASH = 1 << 63 if byteorder == "little" else 128    # a bit of the last byte in memory
cdef bytes drawn = urandom(4 * N_SALTS)
cdef uint32_t[N_SALTS] SALT
memcpy(SALT, <const char*> drawn, 4 * N_SALTS)


# --- runs ----------------------------------------------------------------------------------------------------


def find_starts(ids, int64_t width, uint64_t sign, int64_t begin, int64_t end, int64_t[::1] starts, heads):
    """Find runs as `find_runs` does, in an array without gaps; return how many begin, and whether ids fall.

    Written are OUT `starts` and OUT `heads`, which has the type of the ids.
    """
    cdef Py_buffer given, out
    cdef int64_t n
    cdef bint falls = False
    PyObject_GetBuffer(ids, &given, PyBUF_SIMPLE)    # of whatever type, and faster than a memoryview
    try:
        PyObject_GetBuffer(heads, &out, PyBUF_WRITABLE)
    except BaseException:
        PyBuffer_Release(&given)
        raise
    with nogil:
        n = find_runs(given.buf, width, sign, begin, end, given.len // width, &starts[0], out.buf, &falls)
    PyBuffer_Release(&given)
    PyBuffer_Release(&out)
    return n, falls


cdef int64_t find_runs(
    const void* ids, int64_t width, uint64_t sign, int64_t begin, int64_t end, int64_t n_rows,
    int64_t* starts, void* heads, bint* falls,
) noexcept nogil:
    """Write the rows from `begin` up to `end` whose id differs from the row before, and their ids; return how many.

    Row 0 is one, and the end of the last row is written too, so OUT `starts` has one entry more than rows are read,
    and OUT `heads` has as many ids. OUT `falls` is whether a number of 4 or 8 bytes is below the one before, where
    those below 0 have the bit `sign`. It is True for another width, as if they fell.
    """
    cdef int64_t n
    if width == 8:
        n = _find_words(<const uint64_t*> ids, sign, begin, end, starts, <uint64_t*> heads, falls)
    elif width == 4:
        n = _find_words(<const uint32_t*> ids, <uint32_t> sign, begin, end, starts, <uint32_t*> heads, falls)
    else:
        falls[0] = True
        n = _find_bytes(<const uint8_t*> ids, width, begin, end, starts, <uint8_t*> heads)
    if end == n_rows:
        starts[n] = end
        n += 1
    return n


cdef int64_t _find_words(
    const word_t* x, word_t sign, int64_t begin, int64_t end, int64_t* starts, word_t* heads, bint* falls
) noexcept nogil:
    """Most rows are of the query of the row before, so several are first asked together whether any is not."""
    cdef int64_t i, stop, n = 0, row = begin
    cdef bint falling = False
    if begin == 0 and end > 0:
        starts[0], heads[0] = 0, x[0]
        n = row = 1
    while row < end:
        stop = min(row + TOGETHER, end)
        fetch_ahead(x + row, TOGETHER * sizeof(word_t))
        if memcmp(x + row, x + row - 1, (stop - row) * sizeof(word_t)) != 0:
            for i in range(row, stop):
                starts[n], heads[n] = i, x[i]    # in any case: nothing to guess
                n += x[i] != x[i - 1]
                falling |= (x[i] ^ sign) < (x[i - 1] ^ sign)
        row = stop
    falls[0] = falling
    return n


cdef int64_t _find_bytes(
    const uint8_t* x, int64_t width, int64_t begin, int64_t end, int64_t* starts, uint8_t* heads
) noexcept nogil:
    cdef int64_t i, n = 0
    for i in range(begin, end):
        if i == 0 or memcmp(x + i * width, x + (i - 1) * width, width) != 0:
            starts[n] = i
            memcpy(heads + n * width, x + i * width, width)
            n += 1
    return n


# --- numbers of keys -----------------------------------------------------------------------------------------


def number_keys(
    const int64_t[::1] key, const uint8_t[::1] text, const int64_t[::1] end, int64_t n_done, int64_t begin,
    uint32_t[::1] table, int64_t n_numbers, uint32_t[::1] number,
    int64_t[::1] key_of, int64_t[::1] first, uint8_t[::1] kept, int64_t[::1] kept_end,
):
    """Number the keys of rows from `begin` on, after `n_done` rows; return how many are done, and how many numbers.

    IN `key`, and maybe a `text` with a piece for each row, up to its `end`: then `hash_pieces` made the keys, and rows
    are alike if their pieces are. OUT the `number` of each row and, of each number, `key_of` it, the row where it
    comes `first`, and its piece, `kept` up to its `kept_end`. It stops at a new key that these have no space for.
    """
    cdef int64_t i, slot, found, n = n_numbers, last = table.shape[0] - 1
    cdef int64_t length = 0, n_kept = 0
    cdef const uint8_t* piece = NULL
    cdef const uint8_t* pieces = &text[0] if text is not None and text.shape[0] > 0 else &kept[0]
    cdef int shift = _shift(table.shape[0])
    with nogil:
        if text is not None and n > 0:
            n_kept = kept_end[n - 1]
        for i in range(n_done, key.shape[0]):
            if text is not None:
                length = end[i] - (end[i - 1] if i > 0 else 0)
                piece = pieces + end[i] - length
            slot = _slot_of(key[i], shift)
            found = <int64_t> table[slot] - 1
            while found >= 0 and not (
                key_of[found] == key[i]
                and (piece == NULL or length < 8 or _is_kept(piece, length, kept, kept_end, found))
            ):
                slot = (slot + 1) & last
                found = <int64_t> table[slot] - 1
            if found < 0:
                if n == first.shape[0] or (piece != NULL and n_kept + length > kept.shape[0]):
                    break
                found = n
                n += 1
                table[slot] = <uint32_t> n
                key_of[found] = key[i]
                first[found] = begin + i
                if piece != NULL:
                    memcpy(&kept[0] + n_kept, piece, length)
                    n_kept += length
                    kept_end[found] = n_kept
            number[begin + i] = <uint32_t> found
            n_done = i + 1
    return n_done, n


def number_near_keys(
    const int64_t[::1] key, int64_t lowest, int64_t begin, uint32_t[::1] table, int64_t n_numbers,
    uint32_t[::1] number, int64_t[::1] first,
):
    """As `number_keys`, of numbers so near to each other that the `table` has a slot for each from the `lowest` on.

    Return -1 at a number without a slot: another thread has written it since the lowest was looked for.
    """
    cdef int64_t i, n = n_numbers
    cdef uint64_t slot, n_slots = table.shape[0]
    with nogil:
        for i in range(key.shape[0]):
            slot = <uint64_t> key[i] - <uint64_t> lowest
            if slot >= n_slots:
                n = -1
                break
            if table[slot] == 0:
                first[n] = begin + i
                n += 1
                table[slot] = <uint32_t> n
            number[begin + i] = table[slot] - 1
    return n


cdef inline bint _is_kept(
    const uint8_t* piece, int64_t length, const uint8_t[::1] kept, const int64_t[::1] kept_end, int64_t number,
) noexcept nogil:
    cdef int64_t start = kept_end[number - 1] if number > 0 else 0
    return kept_end[number] - start == length and memcmp(&kept[0] + start, piece, length) == 0


def fill_table(const int64_t[::1] key_of, uint32_t[::1] table):
    """Put the keys of all numbers into an empty table."""
    cdef int64_t i, slot, last = table.shape[0] - 1
    cdef int shift = _shift(table.shape[0])
    with nogil:
        for i in range(key_of.shape[0]):
            slot = _slot_of(key_of[i], shift)
            while table[slot] > 0:
                slot = (slot + 1) & last
            table[slot] = <uint32_t> (i + 1)


cdef int _shift(int64_t n_slots) noexcept nogil:
    """How far a 64-bit product goes down to be the number of a slot."""
    cdef int shift = 64
    while n_slots > 1:
        n_slots >>= 1
        shift -= 1
    return shift


cdef inline int64_t _slot_of(int64_t key, int shift) noexcept nogil:
    """One multiplication clusters keys with a large stride, so mix twice, with different shifts."""
    cdef uint64_t x = <uint64_t> key
    x = (x ^ (x >> 29)) * FACTOR
    return <int64_t> (((x ^ (x >> 32)) * FACTOR) >> shift)


def slots(const int64_t[::1] key, int64_t n_slots, int64_t[::1] out):
    """Write OUT the slot where each key is looked for first."""
    cdef int64_t i
    cdef int shift = _shift(n_slots)
    for i in range(key.shape[0]):
        out[i] = _slot_of(key[i], shift)


def copy_strings(objects, uint8_t[::1] text, int64_t[::1] end):
    """Write the first objects of an array into OUT `text`, each with a NUL behind it, up to its OUT `end`.

    It stops at one that is no str, or not of ASCII, and where `text` is full; return whether all were written. No
    other thread may write to the array, whose references keep the objects: a Python without a lock does not.
    """
    cdef Py_buffer given
    cdef int64_t i, offset = 0, n = end.shape[0]
    cdef Py_ssize_t length
    cdef const char* string
    PyObject_GetBuffer(objects, &given, PyBUF_SIMPLE)
    cdef PyObject** item = <PyObject**> given.buf
    for i in range(n):
        if i + NEXT < n:
            PREFETCH(<uintptr_t> item[i + NEXT])
        string = NULL
        if item[i] != NULL:
            string = PyUnicode_AsUTF8AndSize(item[i], &length)
        if string == NULL:
            PyErr_Clear()   # of another type, or a surrogate
            break
        if length != PyUnicode_GetLength(item[i]) or offset + length >= text.shape[0]:
            break
        memcpy(&text[offset], string, length + 1)
        offset += length + 1
        end[i] = offset
    else:
        i = n
    PyBuffer_Release(&given)
    return i == n


def hash_pieces(const uint8_t[::1] text, const int64_t[::1] end, int64_t[::1] out):
    """Write OUT a key of each piece: its bytes and its length if it has up to seven, else a hash that is no such key.

    The hash is NH, of UMAC (Black et al., CRYPTO 1999), in blocks: two pieces that were chosen without knowledge of
    the secret have one hash with a probability of about 2**-32.
    """
    cdef int64_t i, start = 0
    cdef const uint8_t* pieces = &text[0] if text.shape[0] > 0 else NULL
    with nogil:
        for i in range(end.shape[0]):
            if end[i] - start < 8:
                out[i] = <int64_t> _packed(pieces + start, end[i] - start)
            else:
                out[i] = <int64_t> (_hash_of(pieces + start, end[i] - start) | IS_HASH)
            start = end[i]


cdef inline uint64_t _packed(const uint8_t* text, int64_t length) noexcept nogil:
    """Up to seven bytes, zeros, and how many there are in the eighth byte of memory, whatever the order of bytes."""
    cdef uint64_t word = 0
    cdef uint8_t* byte = <uint8_t*> &word
    cdef int64_t i
    if length >= 4:
        memcpy(byte, text, 4)
        memcpy(byte + length - 4, text + length - 4, 4)   # the same bytes where the two overlap
    else:
        for i in range(length):
            byte[i] = text[i]
    byte[7] = <uint8_t> length
    return word


cdef inline uint64_t _hash_of(const uint8_t* text, int64_t length) noexcept nogil:
    """Sum of products of two salted halves of each word; the last word overlaps the one before."""
    cdef uint64_t word, h = <uint64_t> length * FACTOR
    cdef int64_t offset, j = 0
    for offset in range(0, length - 8, 8):
        memcpy(&word, text + offset, 8)
        h += _product(word, j)
        j += 2
        if j == N_SALTS:
            h = (h ^ (h >> 29)) * FACTOR    # on to another block
            h ^= h >> 32
            j = 0
    memcpy(&word, text + length - 8, 8)
    return h + _product(word, j)


cdef inline uint64_t _product(uint64_t word, int64_t j) noexcept nogil:
    return <uint64_t> (<uint32_t> word + SALT[j]) * <uint32_t> (<uint32_t> (word >> 32) + SALT[j + 1])


def count_rows(const uint32_t[::1] number, const int64_t[::1] starts, int64_t[::1] count):
    """Add the rows of each number to OUT `count`; IN numbers of rows, or of runs from `starts[i]` to the next."""
    cdef int64_t i
    with nogil:
        for i in range(number.shape[0]):
            count[number[i]] += starts[i + 1] - starts[i] if starts is not None else 1


def place_rows(
    const uint32_t[::1] number, const int64_t[::1] starts, int64_t row, int64_t[::1] next_index, int64_t[::1] order
):
    """Write rows from `row` on into OUT `order`, where their number goes on: at its `next_index`, which moves on."""
    cdef int64_t i, n
    with nogil:
        if starts is None and number.shape[0] > 0:
            _place_each(&number[0], number.shape[0], row, &next_index[0], &order[0])
        elif starts is not None:
            for i in range(number.shape[0]):
                n = number[i]
                while row < starts[i + 1]:
                    order[next_index[n]] = row
                    next_index[n] += 1
                    row += 1


cdef void _place_each(
    const uint32_t* number, int64_t n, int64_t row, int64_t* next_index, int64_t* order
) noexcept nogil:
    """The place of a row some steps ahead is asked for, near enough to where it will be."""
    cdef int64_t i
    for i in range(n):
        if i + 24 < n:
            PREFETCH_TO_WRITE(order + next_index[number[i + 24]])
        order[next_index[number[i]]] = row + i
        next_index[number[i]] += 1


def take_rows(x, int64_t width, const int64_t[::1] rows, out):
    """Write OUT the entries of `x`, which have `width` bytes and no gaps, of some rows."""
    cdef Py_buffer given, taken
    PyObject_GetBuffer(x, &given, PyBUF_SIMPLE)
    PyObject_GetBuffer(out, &taken, PyBUF_WRITABLE)
    cdef const int64_t* row = &rows[0] if rows.shape[0] > 0 else NULL
    with nogil:
        if width == 8:
            _take(<const uint64_t*> given.buf, row, rows.shape[0], <uint64_t*> taken.buf)
        elif width == 4:
            _take(<const uint32_t*> given.buf, row, rows.shape[0], <uint32_t*> taken.buf)
        elif width == 1:
            _take(<const uint8_t*> given.buf, row, rows.shape[0], <uint8_t*> taken.buf)
    PyBuffer_Release(&given)
    PyBuffer_Release(&taken)


cdef void _take(const word_t* x, const int64_t* row, int64_t n, word_t* out) noexcept nogil:
    """Eight are read before they are written, so that more wait for memory at a time."""
    cdef word_t[8] entry
    cdef int64_t i = 0, j
    while i + 8 <= n:
        for j in range(8):
            entry[j] = x[row[i + j]]
        for j in range(8):
            out[i + j] = entry[j]
        i += 8
    for j in range(i, n):
        out[j] = x[row[j]]


def match_rows(
    const int64_t[::1] key, const uint8_t[::1] text, const int64_t[::1] end,
    const int64_t[::1] indptr, const int64_t[::1] order,
    const int64_t[::1] other_key, const uint8_t[::1] other_text, const int64_t[::1] other_end,
    const int64_t[::1] other_indptr, const int64_t[::1] other_order,
    int64_t[::1] table, int64_t[::1] match,
):
    """Write OUT `match`: for each row of the other side the row on this one with its key in its query, or -1.

    Return two rows of this side that are the same, and give up; -1 and -1 if there are none. Keys, texts and ends are
    as in `number_keys`; query q has the rows `order[indptr[q]:indptr[q + 1]]`, or these themselves without an order.
    The `table` has four slots for each row of the longest query.
    """
    cdef int64_t q, i, row, slot, found, size, steps = 0
    cdef int shift
    with nogil:
        for q in range(indptr.shape[0] - 1):
            count_steps(&steps, 8 * (indptr[q + 1] - indptr[q] + other_indptr[q + 1] - other_indptr[q]) + 8)
            size = 4
            while size < 2 * (indptr[q + 1] - indptr[q]):
                size *= 2
            shift = _shift(size)
            memset(&table[0], 0, size * sizeof(int64_t))
            for i in range(indptr[q], indptr[q + 1]):
                row = order[i] if order is not None else i
                slot = _slot_of(key[row], shift)
                while table[slot] > 0:
                    found = table[slot] - 1
                    if key[found] == key[row] and (text is None or _is_same(text, end, found, text, end, row)):
                        with gil:
                            return found, row
                    slot = (slot + 1) & (size - 1)
                table[slot] = row + 1
            for i in range(other_indptr[q], other_indptr[q + 1]):
                row = other_order[i] if other_order is not None else i
                slot = _slot_of(other_key[row], shift)
                match[row] = -1
                while table[slot] > 0:
                    found = table[slot] - 1
                    if key[found] == other_key[row] and (
                        text is None or _is_same(text, end, found, other_text, other_end, row)
                    ):
                        match[row] = found
                        break
                    slot = (slot + 1) & (size - 1)
    return -1, -1


cdef inline bint _is_same(
    const uint8_t[::1] text, const int64_t[::1] end, int64_t row,
    const uint8_t[::1] other_text, const int64_t[::1] other_end, int64_t other,
) noexcept nogil:
    cdef int64_t start = end[row - 1] if row > 0 else 0
    cdef int64_t other_start = other_end[other - 1] if other > 0 else 0
    cdef int64_t length = end[row] - start
    if length != other_end[other] - other_start:
        return False
    return length == 0 or memcmp(&text[start], &other_text[other_start], length) == 0
