# Sorting of the keys of one query.

from libc.stdint cimport int32_t, int64_t, uint32_t

cdef enum:
    MOST_COUNTED = 40           # rows of a list that is put in order by counting those above each
    COUNTED_MEMORY = 48         # entries of an array for so many, which are taken 16 at a time

# Memory to sort the longest query in: so many numbers of each.
cdef struct work_t:
    double* key                 # the sorted keys
    double* chosen              # those to be sorted
    double* spare_key           # keys that are merged
    int64_t* item               # where the chosen ones stand
    int64_t* spare              # items that are merged
    int64_t* place              # of rows in the query, in their order
    int32_t* bucket             # of each key
    uint32_t* count             # of keys in each bucket; there are twice as many buckets


cdef work_t work_of(double* memory, int64_t longest) noexcept nogil
cdef int sort(
    const double* key, int64_t n, double* sorted_key, int64_t* sorted_item, work_t* work, int64_t* steps,
) except -1 nogil
cdef int64_t merge_sort(
    double* key, int64_t* item, int64_t n, double* spare_key, int64_t* spare, int64_t* steps,
) except -1 nogil
cdef int64_t count_all(double* x, int64_t n, double bar, int64_t* place) noexcept nogil
cdef void part_alike(int64_t n, int64_t* place, int64_t* n_alike) noexcept nogil
