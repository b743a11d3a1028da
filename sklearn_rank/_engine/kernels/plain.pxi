# Ids, labels and scores of 64 rows at a time; `checks.pyx` includes it after what it does with each.
#
# 64 rows of one array are read, then those of the next, and what is seen of them stays in registers. Of 3.8 million
# rows that takes 0.77 of the time of 256 rows in turn, a loop for each array: 64 in turn take 0.81 in loops of their
# own, and 32 take 0.96. It is less than NumPy's `max` takes of each array.

cdef extern from *:
    """
    /* Three columns: where they begin, their types, and what was read of them. */
    typedef struct {
        const char *label, *score, *id;
        int label_type, is_narrow, id_width, is_signed;    /* is_narrow: whether scores are float32 */
        const void* first;          /* the first score */
        uint8_t* grade;
        int64_t* starts;
        int64_t n_starts;
        uint8_t range[2];           /* lowest and highest label */
        int falls, is_constant;
    } columns_t;

    #if defined(WITH_AVX2)
        IN_AVX2 __m256i all_equal(const void* first, int is_narrow) {
            int64_t wide;
            int32_t narrow;
            if (is_narrow) {
                memcpy(&narrow, first, 4);
                return _mm256_set1_epi32(narrow);
            }
            memcpy(&wide, first, 8);
            return _mm256_set1_epi64x(wide);
        }
        /* Read rows from `row` on, 64 at a time, up to `end`, or to some that need a closer look; return where. */
        WITH_AVX2
        static int64_t read_by_64(columns_t* of, int64_t row, int64_t end) {
            const __m256i zero = _mm256_setzero_si256(), first = all_equal(of->first, of->is_narrow);
            const columns_t given = *of;    /* nothing that is written can change it */
            const int label_width = WIDTH_OF(given.label_type), score_width = given.is_narrow ? 4 : 8;
            const int id_width = given.id_width;
            __m256i lowest = ~zero, highest = zero, bytes[2];
            labels_t labels = {zero, zero};
            scores_t scores = {zero, zero};
            int falls = 0;
            int64_t n = of->n_starts;
            for (; row + 64 <= end; row += 64) {
                const char* const label = given.label + row * label_width;
                const char* const score = given.score + row * score_width;
                const char* const id = given.id + row * id_width;
                int64_t n_found = n;
                for (int i = 0; i < 64; i += 16)
                    n_found += find_in_any_16(
                        id + i * id_width, id_width, given.is_signed, row + i, given.starts + n_found, &falls);
                for (int i = 0; i < 64 * label_width; i += LINE) PREFETCH(label + AHEAD + i);
                for (int i = 0; i < 2; i++) {
                    bytes[i] = any_whole_32(label + 32 * i * label_width, given.label_type, &labels);
                    write_32(bytes[i], given.grade + row + 32 * i);
                }
                for (int i = 0; i < 64 * score_width; i += LINE) {
                    PREFETCH(score + AHEAD + i);
                    if (given.is_narrow) look_at_line(score + i, 1, first, &scores);
                    else look_at_line(score + i, 0, first, &scores);
                }
                if (!are_small(&labels, given.label_type) || !_mm256_testz_si256(scores.odd, scores.odd)) break;
                lowest = _mm256_min_epu8(lowest, _mm256_min_epu8(bytes[0], bytes[1]));
                highest = _mm256_max_epu8(highest, _mm256_max_epu8(bytes[0], bytes[1]));
                n = n_found;
            }
            of->n_starts = n;
            of->falls = falls;
            of->is_constant = _mm256_testz_si256(scores.other, scores.other);
            write_range(lowest, highest, of->range);
            return row;
        }
    #else
        static int64_t read_by_64(columns_t* of, int64_t row, int64_t end) { return row; }
    #endif
    """
    ctypedef struct columns_t:
        const char* label
        const char* score
        const char* id
        int label_type, id_width
        bint is_narrow, is_signed
        const void* first
        uint8_t* grade
        int64_t* starts
        int64_t n_starts
        uint8_t[2] range
        bint falls, is_constant
    int64_t read_by_64(columns_t* of, int64_t row, int64_t end) nogil
