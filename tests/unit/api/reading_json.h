// SPDX-License-Identifier: Apache-2.0
// What the tests of the JSON reader share. Each body is read whole and cut at every byte.
#ifndef TENSORD_TESTS_UNIT_API_READING_JSON_H
#define TENSORD_TESTS_UNIT_API_READING_JSON_H

#include "tests/unit/api/reading.h"

static inline void read_json(struct reading *reading, const char *text)
{
    struct reader_options options = reading_options();
    read_all_ways(reading, FORMAT_JSON, &options, text, strlen(text));
    struct reading known;
    options.length = (int64_t)strlen(text); // a declared length changes nothing
    read_cut(&known, FORMAT_JSON, &options, text, strlen(text), 0, 7);
    assert_same_reading(reading, &known);
    reading_free(&known);
}

static inline void expect(const char *text, enum dtype dtype, const char *shape,
                          const void *data, size_t bytes)
{
    struct reading reading;
    read_json(&reading, text);
    assert_read(&reading, dtype, shape, data, bytes);
    reading_free(&reading);
}

static inline void expect_with(const char *text, enum dtype dtype, const char *shape,
                               const void *data, size_t bytes)
{
    struct reading reading;
    struct reader_options options = reading_options();
    options.has_dtype = true;
    options.dtype = dtype;
    read_all_ways(&reading, FORMAT_JSON, &options, text, strlen(text));
    assert_read(&reading, dtype, shape, data, bytes);
    reading_free(&reading);
}

#define EXPECT(text, dtype, shape, type, ...)                                            \
    expect(text, dtype, shape, (const type[]){__VA_ARGS__},                              \
           sizeof((const type[]){__VA_ARGS__}))
#define EXPECT_WITH(text, dtype, shape, type, ...)                                       \
    expect_with(text, dtype, shape, (const type[]){__VA_ARGS__},                         \
                sizeof((const type[]){__VA_ARGS__}))

static inline void refuse_at(const char *text, enum status status, const char *pointer,
                             int64_t line, int64_t column)
{
    struct reading reading;
    read_json(&reading, text);
    if (reading.status != status)
        print_message("%s: %s\n", text, reading.problem.detail);
    assert_int_equal(reading.status, status);
    if (pointer != NULL)
        assert_string_equal(reading.problem.pointer, pointer);
    if (line > 0) {
        assert_int_equal(reading.problem.line, line);
        assert_int_equal(reading.problem.column, column);
    }
    reading_free(&reading);
}

static inline void refuse(const char *text, enum status status)
{
    refuse_at(text, status, NULL, 0, 0);
}
#endif
