# Order of scores that are small whole numbers, such as bits that two codes share: part of `_kernels.pyx`.

ctypedef fused count_t:
    uint8_t
    uint16_t


def sort_counts(
    const count_t[:, :] near, const double[:, :] label, double highest, int64_t[::1] start,
    double[::1] sorted_label, double[::1] sorted_score,
):
    """Write the labels of each row, nearest first, and how far `near` is below `highest`, negative.

    Equal ones keep their order. `start` is room for a number for each possible value of `near`.
    """
    cdef int64_t q, i, v, n, at = 0
    with nogil:
        for q in range(near.shape[0]):
            for v in range(start.shape[0]):
                start[v] = 0
            for i in range(near.shape[1]):
                start[near[q, i]] += 1
            for v in range(start.shape[0] - 1, -1, -1):
                n = start[v]
                start[v] = at
                for i in range(at, at + n):
                    sorted_score[i] = v - highest
                at += n
            for i in range(near.shape[1]):
                v = near[q, i]
                sorted_label[start[v]] = label[q, i]
                start[v] += 1
