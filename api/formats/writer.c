// SPDX-License-Identifier: Apache-2.0
// The writer interface: dispatch and allocation. A writer belongs to one thread at a time
// and never holds more than a bounded piece of its output.
#include "api/formats/writer.h"

#include <inttypes.h>
#include <stdlib.h>

enum status writer_allocate(size_t size, const struct writer_vtable *vt,
                            const struct writer_options *options, struct writer **out,
                            struct problem *problem)
{
    int64_t count, bytes;
    *out = NULL;
    if (!size_of_shape(options->ndim, options->shape, &count) ||
        !size_multiply(count, dtype_size(options->dtype), &bytes))
        return problem_set(problem, STATUS_SHAPE, "The shape has too many elements.");
    struct writer *writer = calloc(1, size);
    if (writer == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "There is no memory for the answer.");
    writer->vt = vt;
    writer->options = *options;
    writer->count = count;
    writer->length = -1;
    *out = writer;
    return STATUS_OK;
}

enum status writer_check_rows(int64_t count, int64_t rows, struct problem *problem)
{
    enum { MAX_EMPTY_ROWS = 1 << 20 };
    if (count > 0 || rows <= MAX_EMPTY_ROWS)
        return STATUS_OK;
    return problem_set(
        problem, STATUS_NOT_ACCEPTABLE,
        "The tensor has no elements but %" PRId64 " empty rows; ask for npy.", rows);
}

enum status writer_open(const struct writer_options *options, struct writer **out,
                        struct problem *problem)
{
    switch (options->format) {
    case FORMAT_JSON:
        return json_writer_open(options, out, problem);
    case FORMAT_NPY:
        return npy_writer_open(options, out, problem);
    case FORMAT_RAW:
        return raw_writer_open(options, out, problem);
    case FORMAT_CSV:
        return csv_writer_open(options, out, problem);
    default:
        return text_writer_open(options, out, problem);
    }
}

int64_t writer_length(const struct writer *writer)
{
    return writer->length;
}

size_t writer_next(struct writer *writer, char *buffer, size_t size)
{
    return size < WRITER_MIN_BUFFER ? 0 : writer->vt->next(writer, buffer, size);
}

void writer_close(struct writer *writer)
{
    free(writer);
}
