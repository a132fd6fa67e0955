// SPDX-License-Identifier: Apache-2.0
// CSV: a row a line, the shortest digits; nan, inf and -inf as spreadsheets and NumPy
// know them, bools as 1 and 0 (so that the reader takes them back). At most two
// dimensions. One thread at a time.
#include "api/formats/writer.h"

enum { FIELD_ROOM = PRINT_ROOM + 1 };

struct csv_writer {
    struct writer base;
    int64_t rows, columns;
    int64_t row, column;
};

static size_t print_field(union element element, enum dtype dtype, char *p)
{
    if (dtype == DTYPE_BOOL) {
        *p = element.u8 ? '1' : '0';
        return 1;
    }
    size_t length = print_element_fast(element, dtype, p);
    const char *word = p[0] == 'N'   ? "nan"
                       : p[0] == 'I' ? "inf"
                       : p[1] == 'I' ? "-inf"
                                     : NULL;
    if (word == NULL)
        return length;
    length = strlen(word);
    memcpy(p, word, length);
    return length;
}

static size_t csv_next(struct writer *writer, char *buffer, size_t size)
{
    struct csv_writer *csv = (struct csv_writer *)writer;
    char *p = buffer;
    const char *end = buffer + size;
    while (end - p >= FIELD_ROOM && csv->row < csv->rows) {
        if (csv->column < csv->columns) {
            int64_t i = csv->row * csv->columns + csv->column++;
            p += print_field(writer_element(writer, i), writer->options.dtype, p);
        }
        bool row_ends = csv->column >= csv->columns;
        *p++ = row_ends ? '\n' : ',';
        csv->column = row_ends ? 0 : csv->column;
        csv->row += row_ends;
    }
    return (size_t)(p - buffer);
}

static const struct writer_vtable csv_writer_vtable = {csv_next};

enum status csv_writer_open(const struct writer_options *options, struct writer **out,
                            struct problem *problem)
{
    *out = NULL;
    if (options->ndim > 2)
        return problem_set(
            problem, STATUS_NOT_ACCEPTABLE,
            "CSV shows up to two dimensions, the tensor has %d. Choose a part "
            "with index=, or json or npy.",
            options->ndim);
    int64_t columns = options->ndim > 1 ? options->shape[1] : 1;
    enum status status =
        writer_check_rows(columns, options->ndim > 0 ? options->shape[0] : 1, problem);
    if (status != STATUS_OK)
        return status;
    status = writer_allocate(sizeof(struct csv_writer), &csv_writer_vtable, options, out,
                             problem);
    if (status != STATUS_OK)
        return status;
    struct csv_writer *csv = (struct csv_writer *)*out;
    csv->rows = options->ndim > 0 ? options->shape[0] : 1;
    csv->columns = columns;
    return STATUS_OK;
}
