// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of formats: reads a body whole, cut in two everywhere, and byte by
// byte, and insists on the same outcome. The memory given to readers is exactly as large
// as they ask, so that sanitizers see one byte too many.
#ifndef TENSORD_TESTS_UNIT_API_READING_H
#define TENSORD_TESTS_UNIT_API_READING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/formats/format.h"

struct reading {
    enum status status;
    struct problem problem;
    struct reader_result result;
    void *memory; // owns result.data
    int64_t reserved;
    int reservations;
};

static inline enum status reading_reserve(void *context, int64_t bytes, void **data,
                                          struct problem *problem)
{
    struct reading *reading = context;
    void *larger = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (larger == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "no memory");
    int64_t kept = reading->reserved < bytes ? reading->reserved : bytes;
    if (kept > 0)
        memcpy(larger, reading->memory, (size_t)kept);
    free(reading->memory); // the address always changes
    reading->memory = larger;
    reading->reserved = bytes;
    reading->reservations++;
    *data = larger;
    return STATUS_OK;
}

static inline struct reader_options reading_options(void)
{
    return (struct reader_options){.length = -1, .max_bytes = 1 << 28};
}

// Feeds bytes [0, cut), then the rest in pieces of step.
static inline void read_cut(struct reading *reading, enum format format,
                            const struct reader_options *options, const char *bytes,
                            size_t count, size_t cut, size_t step)
{
    struct reader *reader = NULL;
    struct reader_memory memory = {reading, reading_reserve};
    *reading = (struct reading){0};
    problem_clear(&reading->problem);
    reading->status = reader_open(format, options, &memory, &reader, &reading->problem);
    if (reading->status != STATUS_OK)
        return;
    for (size_t at = 0; at < count && reading->status == STATUS_OK;) {
        size_t part = at < cut ? cut - at : step;
        part = part < count - at ? part : count - at;
        char *piece = malloc(part); // its end is the end of the allocation
        assert_non_null(piece);
        memcpy(piece, bytes + at, part);
        reading->status = reader_feed(reader, piece, part, &reading->problem);
        free(piece);
        at += part;
    }
    if (reading->status == STATUS_OK)
        reading->status = reader_finish(reader, &reading->result, &reading->problem);
    reader_close(reader);
}

static inline void reading_free(struct reading *reading)
{
    free(reading->memory);
    reading->memory = NULL;
}

static inline void assert_same_reading(const struct reading *a, const struct reading *b)
{
    assert_int_equal(a->status, b->status);
    if (a->status != STATUS_OK) {
        assert_string_equal(a->problem.detail, b->problem.detail);
        assert_string_equal(a->problem.pointer, b->problem.pointer);
        assert_int_equal(a->problem.line, b->problem.line);
        assert_int_equal(a->problem.column, b->problem.column);
        return;
    }
    assert_int_equal(a->result.dtype, b->result.dtype);
    assert_int_equal(a->result.ndim, b->result.ndim);
    assert_memory_equal(a->result.shape, b->result.shape,
                        (size_t)a->result.ndim * sizeof a->result.shape[0]);
    assert_int_equal(a->result.bytes, b->result.bytes);
    assert_int_equal(a->result.fortran_order, b->result.fortran_order);
    assert_int_equal(a->result.has_device, b->result.has_device);
    assert_string_equal(a->result.device, b->result.device);
    if (a->result.bytes > 0)
        assert_memory_equal(a->result.data, b->result.data, (size_t)a->result.bytes);
}

// The outcome of reading bytes, the same for every cut. reading_free it.
static inline void read_all_ways(struct reading *reading, enum format format,
                                 const struct reader_options *options, const char *bytes,
                                 size_t count)
{
    enum { EVERY_CUT = 4096 };
    struct reading other;
    read_cut(reading, format, options, bytes, count, count, count);
    for (size_t cut = 1; cut<count; cut += count> EVERY_CUT ? count / 61 : 1) {
        read_cut(&other, format, options, bytes, count, cut, count);
        assert_same_reading(reading, &other);
        reading_free(&other);
    }
    if (count == 0 || count > 1 << 20)
        return;
    read_cut(&other, format, options, bytes, count, 0, 1);
    assert_same_reading(reading, &other);
    reading_free(&other);
}

// Shape given as a string "(2, 3)".
static inline void assert_shape(const struct reader_result *result, const char *expected)
{
    char text[512];
    int used = snprintf(text, sizeof text, "(");
    for (int i = 0; i < result->ndim; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%lld",
                         i > 0 ? ", " : "", (long long)result->shape[i]);
    snprintf(text + used, sizeof text - (size_t)used, result->ndim == 1 ? ",)" : ")");
    assert_string_equal(text, expected);
}

static inline void assert_read(const struct reading *reading, enum dtype dtype,
                               const char *shape, const void *data, size_t bytes)
{
    if (reading->status != STATUS_OK)
        print_message("%s\n", reading->problem.detail);
    assert_int_equal(reading->status, STATUS_OK);
    assert_string_equal(dtype_name(reading->result.dtype), dtype_name(dtype));
    assert_shape(&reading->result, shape);
    assert_int_equal(reading->result.bytes, bytes);
    if (bytes > 0)
        assert_memory_equal(reading->result.data, data, bytes);
}

// Everything the writer gives, asked for in pieces of size; terminated, the caller's to
// free.
static inline char *write_pieces(const struct writer_options *options, size_t size,
                                 size_t *length)
{
    struct writer *writer;
    struct problem problem;
    enum { LIMIT = 1 << 24 };
    char *text = malloc(LIMIT + 1);
    size_t part;
    assert_non_null(text);
    assert_int_equal(writer_open(options, &writer, &problem), STATUS_OK);
    *length = 0;
    char *piece = malloc(size);
    assert_non_null(piece);
    while ((part = writer_next(writer, piece, size)) > 0) {
        assert_true(part <= size && *length + part <= LIMIT);
        memcpy(text + *length, piece, part);
        *length += part;
    }
    free(piece);
    if (writer_length(writer) >= 0)
        assert_int_equal(writer_length(writer), *length);
    writer_close(writer);
    text[*length] = '\0';
    return text;
}

// The same whatever the size of the pieces.
static inline char *write_all_ways(const struct writer_options *options, size_t *length)
{
    static const size_t sizes[] = {512, 513, 600, 1000, 4096};
    char *text = write_pieces(options, 65536, length);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t other_length;
        char *other = write_pieces(options, sizes[i], &other_length);
        assert_int_equal(other_length, *length);
        assert_memory_equal(other, text, *length);
        free(other);
    }
    return text;
}
#endif
