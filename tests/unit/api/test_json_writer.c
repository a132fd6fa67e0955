// SPDX-License-Identifier: Apache-2.0
// The JSON writer: its text by hand, and everything it writes read back bit for bit.
// Every text is asked for in pieces of several sizes.
#include "tests/unit/api/reading.h"

#include <math.h>

static struct writer_options json_options(enum dtype dtype, int ndim,
                                          const int64_t *shape, const void *data)
{
    struct writer_options options = {
        .format = FORMAT_JSON, .dtype = dtype, .ndim = ndim, .data = data};
    for (int i = 0; i < ndim; i++)
        options.shape[i] = shape[i];
    return options;
}

static void expect(const struct writer_options *options, const char *expected)
{
    size_t length;
    char *text = write_all_ways(options, &length);
    assert_string_equal(text, expected);
    free(text);
}

static void expect_bare(enum dtype dtype, int ndim, const int64_t *shape,
                        const void *data, const char *expected)
{
    struct writer_options options = json_options(dtype, ndim, shape, data);
    options.bare = true;
    expect(&options, expected);
}

static void test_value(void **state)
{
    const float data[] = {1, 2.5F, 3, 4, 5, 1e-7F};
    struct writer_options options =
        json_options(DTYPE_FLOAT32, 2, (const int64_t[]){2, 3}, data);
    expect(&options,
           "{\"dtype\": \"float32\", \"shape\": [2, 3], \"data\": [[1.0, 2.5, 3.0],\n"
           "[4.0, 5.0, 1e-07]]}\n");
    options.name = "x";
    options.device = "cpu";
    options.ndim = 0;
    expect(&options, "{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [], "
                     "\"device\": \"cpu\", \"data\": 1.0}\n");
    options.name = "a\"b\\c\n\x01";
    options.device = "cuda:0";
    expect(&options, "{\"name\": \"a\\\"b\\\\c\\u000a\\u0001\", \"dtype\": \"float32\", "
                     "\"shape\": [], "
                     "\"device\": \"cuda:0\", \"data\": 1.0}\n");
}

static void test_bare_lists(void **state)
{
    const int64_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const uint8_t bools[] = {1, 0};
    expect_bare(DTYPE_INT64, 0, NULL, numbers, "1");
    expect_bare(DTYPE_INT64, 1, (const int64_t[]){3}, numbers, "[1, 2, 3]");
    expect_bare(DTYPE_INT64, 3, (const int64_t[]){2, 2, 2}, numbers,
                "[[[1, 2],\n[3, 4]],\n[[5, 6],\n[7, 8]]]");
    expect_bare(DTYPE_INT64, 3, (const int64_t[]){1, 3, 1}, numbers,
                "[[[1],\n[2],\n[3]]]");
    expect_bare(DTYPE_BOOL, 1, (const int64_t[]){2}, bools, "[true, false]");
    expect_bare(DTYPE_INT64, 1, (const int64_t[]){0}, NULL, "[]");
    expect_bare(DTYPE_INT64, 2, (const int64_t[]){0, 3}, NULL, "[]");
    expect_bare(DTYPE_INT64, 2, (const int64_t[]){2, 0}, NULL, "[[],\n[]]");
    expect_bare(DTYPE_INT64, 3, (const int64_t[]){2, 0, 3}, NULL, "[[],\n[]]");
}

static void test_what_json_has_no_number_for(void **state)
{
    const float floats[] = {NAN, INFINITY, -INFINITY, -0.0F};
    const int64_t integers[] = {9007199254740991, 9007199254740992, -9007199254740991,
                                INT64_MIN};
    expect_bare(DTYPE_FLOAT32, 1, (const int64_t[]){4}, floats,
                "[\"NaN\", \"Infinity\", \"-Infinity\", -0.0]");
    expect_bare(DTYPE_INT64, 1, (const int64_t[]){4}, integers,
                "[9007199254740991, \"9007199254740992\", -9007199254740991, "
                "\"-9223372036854775808\"]");
}

static void test_long_names(void **state)
{
    char name[129], expected[1200];
    memset(name, '\x1f', 128);
    name[128] = '\0';
    const int8_t data[] = {-1};
    struct writer_options options =
        json_options(DTYPE_INT8, 32, (const int64_t[32]){0}, data);
    options.name = name;
    for (int i = 0; i < 32; i++)
        options.shape[i] = 1;
    int used = snprintf(expected, sizeof expected, "{\"name\": \"");
    for (int i = 0; i < 128; i++)
        used += snprintf(expected + used, sizeof expected - (size_t)used, "\\u001f");
    used += snprintf(expected + used, sizeof expected - (size_t)used,
                     "\", \"dtype\": \"int8\", \"shape\": [1");
    for (int i = 1; i < 32; i++)
        used += snprintf(expected + used, sizeof expected - (size_t)used, ", 1");
    used += snprintf(expected + used, sizeof expected - (size_t)used, "], \"data\": ");
    memset(expected + used, '[', 32);
    memcpy(expected + used + 32, "-1", 2);
    memset(expected + used + 34, ']', 32);
    memcpy(expected + used + 66, "}\n", 3);
    expect(&options, expected);
}

static void check_back(enum dtype dtype, int ndim, const int64_t *shape, const void *data,
                       size_t bytes)
{
    struct writer_options options = json_options(dtype, ndim, shape, data);
    struct reader_options read = reading_options();
    struct reading reading;
    size_t length;
    options.name = "x";
    options.device = "cpu";
    char *text = write_all_ways(&options, &length);
    assert_int_equal(text[length - 1], '\n');
    read_all_ways(&reading, FORMAT_JSON, &read, text, length);
    if (reading.status != STATUS_OK)
        print_message("%s\n%s\n", text, reading.problem.detail);
    assert_int_equal(reading.status, STATUS_OK);
    assert_int_equal(reading.result.dtype, dtype);
    assert_int_equal(reading.result.ndim, ndim);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(reading.result.shape[i], shape[i]);
    assert_int_equal(reading.result.bytes, bytes);
    if (bytes > 0)
        assert_memory_equal(reading.result.data, data, bytes);
    reading_free(&reading);
    free(text);
}

static void test_there_and_back(void **state)
{
    enum { COUNT = 2310 }; // 2 * 3 * 5 * 7 * 11
    static const int64_t shapes[][5] = {
        {2310}, {2, 1155}, {1155, 2}, {2, 3, 385}, {2, 3, 5, 7, 11}};
    static const int ndims[] = {1, 2, 2, 3, 5};
    static char data[COUNT * 8];
    uint64_t state64 = 12345;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        size_t size = (size_t)dtype_size((enum dtype)dtype);
        for (int i = 0; i < COUNT; i++) {
            state64 = state64 * 6364136223846793005U + 1442695040888963407U;
            union element element = {.i64 = (int64_t)(state64 ^ state64 >> 29)};
            if (dtype == DTYPE_BOOL)
                element.u8 &= 1;
            if (dtype_is_float((enum dtype)dtype) &&
                isnan(element_to_scalar(element, (enum dtype)dtype).f))
                element.i64 = 0;
            memcpy(data + (size_t)i * size, &element, size);
        }
        for (size_t k = 0; k < sizeof ndims / sizeof *ndims; k++)
            check_back((enum dtype)dtype, ndims[k], shapes[k], data, COUNT * size);
        check_back((enum dtype)dtype, 0, NULL, data, size);
        check_back((enum dtype)dtype, 3, (const int64_t[]){2, 0, 5}, data, 0);
        check_back((enum dtype)dtype, 2, (const int64_t[]){0, 5}, data, 0);
    }
}

static void test_too_large_a_shape(void **state)
{
    struct writer_options options =
        json_options(DTYPE_INT8, 2, (const int64_t[]){INT64_MAX, 2}, NULL);
    struct writer *writer;
    struct problem problem;
    assert_int_equal(writer_open(&options, &writer, &problem), STATUS_SHAPE);
    assert_null(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_bare_lists),
        cmocka_unit_test(test_what_json_has_no_number_for),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_too_large_a_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
