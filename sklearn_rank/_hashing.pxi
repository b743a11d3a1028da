# Grouping of rows by query: distinct keys numbered through a hash table, and rows put in order by counting. Part of
# `_kernels.pyx`, which includes it.
#
# Numbers go by first appearance. A table has a power of two of slots, each with a number plus one, or 0 where it is
# free; a key's number is in the first slot that was free from the place its bits say. No more than a quarter of the
# slots are taken, so that this is nearly always the place itself: a wrong guess costs more than the memory.

def number_keys(
    const int64_t[::1] key, const uint8_t[:, ::1] text, int64_t begin, uint32_t[::1] table, int64_t n_numbers,
    uint32_t[::1] number, int64_t[::1] key_of, int64_t[::1] first,
):
    """Number the keys of rows from `begin` on; return how many keys are done, and how many numbers there are by then.

    Written are the `number` of each row and, of each number, its key and the row where it comes `first`. It stops at a
    new key for which `first` has no room. With `text`, the bytes of each row, keys are hashes of it, and rows are alike
    where it is.
    """
    cdef int64_t i, row, slot, found, n = n_numbers, n_done = key.shape[0], last = table.shape[0] - 1
    cdef int shift = _shift(table.shape[0])
    with nogil:
        for i in range(key.shape[0]):
            row = begin + i
            slot = _place(key[i], shift)
            found = <int64_t> table[slot] - 1
            while found >= 0 and not (key_of[found] == key[i] and (text is None or _same(text, row, first[found]))):
                slot = (slot + 1) & last
                found = <int64_t> table[slot] - 1
            if found < 0:
                if n == first.shape[0]:
                    n_done = i
                    break
                found = n
                n += 1
                table[slot] = <uint32_t> n
                key_of[found] = key[i]
                first[found] = row
            number[row] = <uint32_t> found
    return n_done, n


def fill_table(const int64_t[::1] key_of, uint32_t[::1] table):
    """Put the keys of all numbers into an empty table."""
    cdef int64_t i, slot, last = table.shape[0] - 1
    cdef int shift = _shift(table.shape[0])
    with nogil:
        for i in range(key_of.shape[0]):
            slot = _place(key_of[i], shift)
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


cdef inline int64_t _place(int64_t key, int shift) noexcept nogil:
    cdef uint64_t x = <uint64_t> key
    return <int64_t> (((x ^ (x >> 32)) * MIX) >> shift)


cdef inline bint _same(const uint8_t[:, ::1] text, int64_t a, int64_t b) noexcept nogil:
    return memcmp(&text[a, 0], &text[b, 0], text.shape[1]) == 0


def hash_text(const uint8_t[:, ::1] text, int64_t[::1] out):
    """Hash the bytes of each row, eight at a time."""
    cdef int64_t row, i, n_bytes = text.shape[1]
    cdef uint64_t x, word
    with nogil:
        for row in range(text.shape[0]):
            x = 0
            i = 0
            while i < n_bytes:
                word = 0
                if i + 8 <= n_bytes:
                    memcpy(&word, &text[row, i], 8)
                else:
                    memcpy(&word, &text[row, i], n_bytes - i)
                x = (x ^ word) * MIX
                x ^= x >> 32
                i += 8
            out[row] = <int64_t> x


def group_runs(const uint32_t[::1] number, const int64_t[::1] starts, int64_t[::1] indptr, int64_t[::1] order):
    """Counting sort of rows by number; `indptr` comes in as zeros, one longer than there are numbers.

    Numbers are those of runs of rows, from `starts[i]` up to `starts[i + 1]`; of single rows where `starts` is None.
    """
    cdef int64_t i, row, at, q, n_queries = indptr.shape[0] - 1
    with nogil:
        for i in range(number.shape[0]):
            indptr[number[i] + 1] += starts[i + 1] - starts[i] if starts is not None else 1
        for q in range(n_queries):
            indptr[q + 1] += indptr[q]
        if starts is None:
            for row in range(number.shape[0]):
                order[indptr[number[row]]] = row
                indptr[number[row]] += 1
        else:
            for i in range(number.shape[0]):
                at = indptr[number[i]]
                for row in range(starts[i], starts[i + 1]):
                    order[at] = row
                    at += 1
                indptr[number[i]] = at
        for q in range(n_queries, 0, -1):  # each start has moved to the next one's place
            indptr[q] = indptr[q - 1]
        indptr[0] = 0
