// SPDX-License-Identifier: Apache-2.0
// The reader interface: dispatch, the limit on the body, and helpers that several formats
// need. A reader belongs to one thread at a time.
#include "api/formats/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct reader *reader_allocate(size_t size, const struct reader_vtable *vt,
                               const struct reader_options *options,
                               const struct reader_memory *memory,
                               struct problem *problem)
{
    struct reader *reader = calloc(1, size);
    if (reader == NULL) {
        problem_set(problem, STATUS_OUT_OF_MEMORY,
                    "There is no memory for reading the body.");
        return NULL;
    }
    reader->vt = vt;
    reader->options = *options;
    reader->memory = *memory;
    return reader;
}

static enum status too_large(int64_t max_bytes, struct problem *problem)
{
    problem_set(problem, STATUS_TOO_LARGE,
                "The body has more than the %" PRId64 " bytes that are read here.",
                max_bytes);
    return problem->status;
}

enum status reader_open(enum format format, const struct reader_options *options,
                        const struct reader_memory *memory, struct reader **out,
                        struct problem *problem)
{
    *out = NULL;
    if (options->length > options->max_bytes)
        return too_large(options->max_bytes, problem);
    switch (format) {
    case FORMAT_JSON:
        return json_reader_open(options, memory, out, problem);
    case FORMAT_NPY:
        return npy_reader_open(options, memory, out, problem);
    case FORMAT_RAW:
        return raw_reader_open(options, memory, out, problem);
    case FORMAT_CSV:
        return csv_reader_open(options, memory, out, problem);
    default:
        return problem_set(
            problem, STATUS_MEDIA_TYPE,
            "The text format is for output only. Send json, npy, csv or raw.");
    }
}

enum status reader_feed(struct reader *reader, const char *bytes, size_t count,
                        struct problem *problem)
{
    if (reader->failed)
        return problem_set(problem, STATUS_MALFORMED,
                           "The body was refused before its end.");
    int64_t room = reader->options.max_bytes - reader->fed;
    room = room > 0 ? room : 0;
    size_t part = count < (uint64_t)room ? count : (size_t)room;
    enum status status =
        part > 0 ? reader->vt->feed(reader, bytes, part, problem) : STATUS_OK;
    if (status == STATUS_OK && part < count)
        status = too_large(reader->options.max_bytes, problem);
    reader->failed = status != STATUS_OK;
    reader->fed += (int64_t)part;
    return status;
}

enum status reader_finish(struct reader *reader, struct reader_result *result,
                          struct problem *problem)
{
    if (reader->failed)
        return problem_set(problem, STATUS_MALFORMED,
                           "The body was refused before its end.");
    reader->failed = true; // nothing but close may follow
    memset(result, 0, sizeof *result);
    return reader->vt->finish(reader, result, problem);
}

void reader_close(struct reader *reader)
{
    free(reader);
}

void reader_shape_text(int ndim, const int64_t *shape, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (int i = 0; i < ndim && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64,
                                 i > 0 ? ", " : "", shape[i]);
    if (used < size)
        snprintf(text + used, size - used, ndim == 1 ? ",)" : ")");
}

int64_t reader_find_bad_bool(const uint8_t *bytes, int64_t count)
{
    enum { BLOCK = 4096 }; // the sum of a block is one vector loop
    for (int64_t start = 0; start < count; start += BLOCK) {
        int64_t end = count - start < BLOCK ? count : start + BLOCK;
        uint8_t bad = 0;
        for (int64_t i = start; i < end; i++)
            bad |= bytes[i] & 0xFE;
        for (int64_t i = start; bad != 0 && i < end; i++) {
            if (bytes[i] > 1)
                return i;
        }
    }
    return count;
}

enum status reader_infer_shape(int64_t count, int ndim, int64_t *shape,
                               struct problem *problem)
{
    int64_t known = 1, product;
    int unknown = -1;
    bool valid = true;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == -1 && unknown < 0)
            unknown = i;
        else if (shape[i] < 0)
            valid = false;
    }
    if (!valid)
        return problem_set(
            problem, STATUS_SHAPE,
            "A shape has sizes from 0 up and at most one -1, which is inferred.");
    if (unknown >= 0)
        shape[unknown] = 1;
    valid = size_of_shape(ndim, shape, &known);
    if (unknown >= 0) {
        shape[unknown] = valid && known > 0 && count % known == 0 ? count / known : -1;
        valid = valid && shape[unknown] >= 0;
    }
    if (valid && size_of_shape(ndim, shape, &product) && product == count)
        return STATUS_OK;
    char text[PROBLEM_TEXT_MAX];
    reader_shape_text(ndim, shape, text, sizeof text);
    problem_set(problem, STATUS_SHAPE, "%" PRId64 " elements do not fill the shape %s.",
                count, text);
    memcpy(problem->shapes, text, sizeof text);
    return problem->status;
}
