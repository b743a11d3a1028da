# Sorting of the keys of one query.

from libc.stdint cimport int32_t, int64_t, uint64_t

cdef enum:
    SHORT = 40                  # rows that are few enough to count those above each

# Room to sort the longest query in.
cdef struct room_t:
    double* key                 # once; the sorted ones
    double* chosen              # once; those to be sorted
    double* spare_key           # once; of keys that are merged, or sorted part by part
    int64_t* item               # once
    int64_t* spare              # once; the same of items
    int64_t* place              # once; of rows in the query, in their order
    int32_t* bucket             # once
    uint64_t* count             # once; of counts of fewer bytes, several stand in each


cdef room_t divide_room(double* room, int64_t longest) noexcept nogil
cdef int sort(
    double* key, int64_t n, double* sorted_key, int64_t* sorted_item, room_t* work, int64_t* steps,
) except -1 nogil
cdef int64_t merge_sort(
    double* key, int64_t* item, int64_t n, double* spare_key, int64_t* spare, int64_t* steps,
) except -1 nogil
cdef int64_t count_all(double* x, int64_t n, double bar, int64_t* place) noexcept nogil
cdef void part_alike(int64_t n, int64_t* place, int64_t* n_alike) noexcept nogil
