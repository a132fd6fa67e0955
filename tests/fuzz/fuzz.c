// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of formats share: reading in pieces, comparing, writing back.
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

enum { MEMORY_LIMIT = 1 << 26, OUTPUT_LIMIT = 1 << 24 };

void fuzz_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

// Exactly what is asked for, at a new address every time, so that sanitizers see one byte
// too many.
static enum status reserve(void *context, int64_t bytes, void **data,
                           struct problem *problem)
{
    struct fuzz_reading *reading = context;
    FUZZ_REQUIRE(bytes >= 0);
    if (bytes > MEMORY_LIMIT)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "The fuzzer's memory is small.");
    void *larger = malloc(bytes > 0 ? (size_t)bytes : 1);
    FUZZ_REQUIRE(larger != NULL);
    int64_t kept = reading->reserved < bytes ? reading->reserved : bytes;
    if (kept > 0)
        memcpy(larger, reading->memory, (size_t)kept);
    free(reading->memory);
    reading->memory = larger;
    reading->reserved = bytes;
    *data = larger;
    return STATUS_OK;
}

static void check_problem(const struct fuzz_reading *reading)
{
    const struct problem *problem = &reading->problem;
    FUZZ_REQUIRE(problem->status == reading->status && problem->detail[0] != '\0');
    int http = problem_kind(problem->status)->http_status;
    FUZZ_REQUIRE((http >= 400 && http < 500) || problem->status == STATUS_OUT_OF_MEMORY);
    FUZZ_REQUIRE(problem->line >= 0 && problem->column >= 0);
}

static void check_result(const struct fuzz_reading *reading)
{
    const struct reader_result *result = &reading->result;
    int64_t count = 0, bytes = 0;
    FUZZ_REQUIRE(result->dtype < DTYPE_COUNT);
    FUZZ_REQUIRE(result->ndim >= 0 && result->ndim <= FORMAT_MAX_NDIM);
    for (int i = 0; i < result->ndim; i++)
        FUZZ_REQUIRE(result->shape[i] >= 0);
    FUZZ_REQUIRE(size_of_shape(result->ndim, result->shape, &count));
    FUZZ_REQUIRE(size_multiply(count, dtype_size(result->dtype), &bytes));
    FUZZ_REQUIRE(bytes == result->bytes && bytes <= reading->reserved);
    FUZZ_REQUIRE((bytes == 0) == (result->data == NULL));
    if (result->dtype == DTYPE_BOOL) {
        for (int64_t i = 0; i < count; i++)
            FUZZ_REQUIRE(((const uint8_t *)result->data)[i] <= 1);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 16;
}

void fuzz_read(struct fuzz_reading *reading, enum format format,
               const struct reader_options *options, const uint8_t *data, size_t size,
               uint32_t seed)
{
    struct reader *reader = NULL;
    struct reader_memory memory = {reading, reserve};
    memset(reading, 0, sizeof *reading);
    problem_clear(&reading->problem);
    reading->status = reader_open(format, options, &memory, &reader, &reading->problem);
    for (size_t at = 0; at < size && reading->status == STATUS_OK;) {
        size_t part = seed == 0 ? size : seed == 1 ? 1 : 1 + next_random(&seed) % 40;
        part = part < size - at ? part : size - at;
        char *piece = malloc(part); // its end is the end of the allocation
        FUZZ_REQUIRE(piece != NULL);
        memcpy(piece, data + at, part);
        reading->status = reader_feed(reader, piece, part, &reading->problem);
        free(piece);
        at += part;
    }
    if (reading->status == STATUS_OK)
        reading->status = reader_finish(reader, &reading->result, &reading->problem);
    if (reading->status == STATUS_OK)
        check_result(reading);
    else
        check_problem(reading);
    reader_close(reader);
}

void fuzz_release(struct fuzz_reading *reading)
{
    free(reading->memory);
    reading->memory = NULL;
}

static void require_same(const struct fuzz_reading *a, const struct fuzz_reading *b)
{
    FUZZ_REQUIRE(a->status == b->status);
    if (a->status != STATUS_OK) {
        FUZZ_REQUIRE(strcmp(a->problem.pointer, b->problem.pointer) == 0);
        FUZZ_REQUIRE(a->problem.line == b->problem.line &&
                     a->problem.column == b->problem.column);
        return;
    }
    FUZZ_REQUIRE(a->result.dtype == b->result.dtype && a->result.ndim == b->result.ndim);
    FUZZ_REQUIRE(memcmp(a->result.shape, b->result.shape,
                        (size_t)a->result.ndim * sizeof a->result.shape[0]) == 0);
    FUZZ_REQUIRE(a->result.fortran_order == b->result.fortran_order);
    FUZZ_REQUIRE(strcmp(a->result.device, b->result.device) == 0);
    FUZZ_REQUIRE(a->result.bytes == b->result.bytes);
    FUZZ_REQUIRE(a->result.bytes == 0 ||
                 memcmp(a->result.data, b->result.data, (size_t)a->result.bytes) == 0);
}

void fuzz_read_splits(struct fuzz_reading *reading, enum format format,
                      const struct reader_options *options, const uint8_t *data,
                      size_t size)
{
    struct fuzz_reading other;
    fuzz_read(reading, format, options, data, size, 0);
    fuzz_read(&other, format, options, data, size, 1);
    require_same(reading, &other);
    fuzz_release(&other);
    fuzz_read(&other, format, options, data, size, (uint32_t)size + 2);
    require_same(reading, &other);
    fuzz_release(&other);
}

// The whole output; NULL if it is refused or longer than OUTPUT_LIMIT.
static char *write_whole(const struct writer_options *options, size_t *length)
{
    struct writer *writer;
    struct problem problem;
    size_t room = 4096, part;
    *length = 0;
    if (writer_open(options, &writer, &problem) != STATUS_OK)
        return NULL;
    char *text = malloc(room);
    FUZZ_REQUIRE(text != NULL);
    while ((part = writer_next(writer, text + *length, room - *length)) > 0) {
        FUZZ_REQUIRE(part <= room - *length);
        *length += part;
        if (*length > OUTPUT_LIMIT)
            break;
        if (room - *length < 512) {
            text = realloc(text, room *= 2);
            FUZZ_REQUIRE(text != NULL);
        }
    }
    FUZZ_REQUIRE(writer_length(writer) < 0 || (size_t)writer_length(writer) == *length);
    writer_close(writer);
    if (*length <= OUTPUT_LIMIT)
        return text;
    free(text);
    return NULL;
}

void fuzz_round_trip(const struct fuzz_reading *reading, enum format format,
                     const struct reader_options *options)
{
    struct writer_options write = {.format = format,
                                   .dtype = reading->result.dtype,
                                   .ndim = reading->result.ndim,
                                   .data = reading->result.data,
                                   .name = "x",
                                   .device = "cpu"};
    memcpy(write.shape, reading->result.shape, sizeof write.shape);
    size_t length;
    char *text = write_whole(&write, &length);
    if (text == NULL)
        return;
    if (!format_row(format)->readable) {
        FUZZ_REQUIRE(length > 0 && text[length - 1] == '\n');
    } else {
        struct fuzz_reading back;
        fuzz_read(&back, format, options, (const uint8_t *)text, length, 3);
        FUZZ_REQUIRE(back.status == STATUS_OK &&
                     back.result.dtype == reading->result.dtype);
        FUZZ_REQUIRE(back.result.bytes == reading->result.bytes);
        FUZZ_REQUIRE(back.result.bytes == 0 ||
                     memcmp(back.result.data, reading->result.data,
                            (size_t)back.result.bytes) == 0);
        fuzz_release(&back);
    }
    free(text);
}
