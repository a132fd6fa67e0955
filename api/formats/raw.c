// SPDX-License-Identifier: Apache-2.0
// Raw bodies: little-endian elements in C order without any header. A bool is a byte 0
// or 1. The shape comes from the request; one -1 is inferred, and without a shape the
// tensor is 1-D.
#include "api/formats/reader.h"
#include "api/formats/writer.h"

#include <inttypes.h>

struct raw_reader {
    struct reader base;
    char *data;
    int64_t received, capacity; // bytes
    int64_t expected;           // bytes of the whole body, or -1 while it is not known
};

// The bytes that the options promise, or -1.
static enum status expected_bytes(const struct reader_options *options, int64_t *out,
                                  struct problem *problem)
{
    *out = options->length;
    if (!options->has_shape)
        return STATUS_OK;
    for (int i = 0; i < options->ndim; i++) {
        if (options->shape[i] <
            0) { // only whether the sizes are well formed can be seen now
            int64_t shape[FORMAT_MAX_NDIM];
            memcpy(shape, options->shape, sizeof shape);
            return reader_infer_shape(0, options->ndim, shape, problem);
        }
    }
    int64_t bytes;
    if (!size_of_shape(options->ndim, options->shape, &bytes) ||
        !size_multiply(bytes, dtype_size(options->dtype), &bytes))
        return problem_set(problem, STATUS_SHAPE, "The shape has too many elements.");
    *out = bytes;
    return STATUS_OK;
}

static enum status wrong_length(int64_t got, int64_t expected, const char *how,
                                struct problem *problem)
{
    return problem_set(problem, STATUS_MALFORMED,
                       "The body has %s%" PRId64
                       " bytes; shape and dtype ask for %" PRId64 ".",
                       how, got, expected);
}

static enum status make_room(struct raw_reader *raw, int64_t needed,
                             struct problem *problem)
{
    if (needed <= raw->capacity)
        return STATUS_OK;
    int64_t capacity = raw->expected;
    if (capacity < 0 && !size_multiply(needed, 2, &capacity))
        capacity = needed;
    void *data;
    struct reader_memory *memory = &raw->base.memory;
    enum status status = memory->reserve(memory->context, capacity, &data, problem);
    if (status != STATUS_OK)
        return status;
    raw->data = data;
    raw->capacity = capacity;
    return STATUS_OK;
}

// What is wrong with the first of the bytes is said first, however the body is cut.
static enum status take_bytes(struct raw_reader *raw, const char *bytes, int64_t count,
                              struct problem *problem)
{
    enum status status = make_room(raw, raw->received + count, problem);
    if (status != STATUS_OK)
        return status;
    if (raw->base.options.dtype == DTYPE_BOOL) {
        int64_t bad = reader_find_bad_bool((const uint8_t *)bytes, count);
        if (bad < count)
            return problem_set(problem, STATUS_VALUE,
                               "Byte %" PRId64 " is %d; a bool is a byte 0 or 1.",
                               raw->received + bad, (uint8_t)bytes[bad]);
    }
    memcpy(raw->data + raw->received, bytes, (size_t)count);
    raw->received += count;
    return STATUS_OK;
}

static enum status raw_feed(struct reader *reader, const char *bytes, size_t count,
                            struct problem *problem)
{
    struct raw_reader *raw = (struct raw_reader *)reader;
    int64_t part = (int64_t)count;
    if (raw->expected >= 0 && part > raw->expected - raw->received)
        part = raw->expected - raw->received;
    enum status status = part > 0 ? take_bytes(raw, bytes, part, problem) : STATUS_OK;
    if (status == STATUS_OK && part < (int64_t)count)
        return wrong_length(raw->expected, raw->expected, "more than ", problem);
    return status;
}

static enum status raw_finish(struct reader *reader, struct reader_result *result,
                              struct problem *problem)
{
    struct raw_reader *raw = (struct raw_reader *)reader;
    const struct reader_options *options = &reader->options;
    int size = dtype_size(options->dtype);
    if (raw->expected >= 0 && raw->received != raw->expected)
        return wrong_length(raw->received, raw->expected, "", problem);
    if (raw->received % size != 0)
        return problem_set(problem, STATUS_MALFORMED,
                           "The body's %" PRId64 " bytes are not whole elements of %s.",
                           raw->received, dtype_name(options->dtype));
    int64_t count = raw->received / size;
    result->dtype = options->dtype;
    result->ndim = options->has_shape ? options->ndim : 1;
    memcpy(result->shape, options->shape, sizeof result->shape);
    if (!options->has_shape)
        result->shape[0] = count;
    if (reader_infer_shape(count, result->ndim, result->shape, problem) != STATUS_OK)
        return problem->status = STATUS_MALFORMED;
    result->data = count > 0 ? raw->data : NULL;
    result->bytes = raw->received;
    return STATUS_OK;
}

static const struct reader_vtable raw_reader_vtable = {raw_feed, raw_finish};

enum status raw_reader_open(const struct reader_options *options,
                            const struct reader_memory *memory, struct reader **out,
                            struct problem *problem)
{
    int64_t expected;
    if (!options->has_dtype)
        return problem_set(
            problem, STATUS_MALFORMED,
            "Raw bytes need their dtype: add dtype=float32 and shape=... to the URL.");
    enum status status = expected_bytes(options, &expected, problem);
    if (status != STATUS_OK)
        return status;
    if (options->length >= 0 && expected >= 0 && options->length != expected)
        return wrong_length(options->length, expected, "", problem);
    if (expected > options->max_bytes)
        return problem_set(problem, STATUS_TOO_LARGE,
                           "The shape asks for %" PRId64 " bytes; at most %" PRId64
                           " are read here.",
                           expected, options->max_bytes);
    *out = reader_allocate(sizeof(struct raw_reader), &raw_reader_vtable, options, memory,
                           problem);
    if (*out == NULL)
        return problem->status;
    ((struct raw_reader *)*out)->expected = expected;
    return STATUS_OK;
}

// ---- Writing

struct raw_writer {
    struct writer base;
    int64_t sent; // bytes
};

static size_t raw_next(struct writer *writer, char *buffer, size_t size)
{
    struct raw_writer *raw = (struct raw_writer *)writer;
    int64_t left = writer->length - raw->sent;
    if ((int64_t)size > left)
        size = (size_t)left;
    if (size > 0)
        memcpy(buffer, (const char *)writer->options.data + raw->sent, size);
    raw->sent += (int64_t)size;
    return size;
}

static const struct writer_vtable raw_writer_vtable = {raw_next};

enum status raw_writer_open(const struct writer_options *options, struct writer **out,
                            struct problem *problem)
{
    enum status status = writer_allocate(sizeof(struct raw_writer), &raw_writer_vtable,
                                         options, out, problem);
    if (status == STATUS_OK)
        (*out)->length = (*out)->count * dtype_size(options->dtype);
    return status;
}
