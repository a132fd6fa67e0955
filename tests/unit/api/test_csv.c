// SPDX-License-Identifier: Apache-2.0
// CSV both ways. Each body is read whole and cut at every byte; expected values are
// written by hand.
#include "tests/unit/api/reading.h"

#include <math.h>

static void read_csv(struct reading *reading, const char *text)
{
    struct reader_options options = reading_options();
    read_all_ways(reading, FORMAT_CSV, &options, text, strlen(text));
}

static void expect(const char *text, enum dtype dtype, const char *shape,
                   const void *data, size_t bytes)
{
    struct reading reading;
    read_csv(&reading, text);
    assert_read(&reading, dtype, shape, data, bytes);
    reading_free(&reading);
}

#define EXPECT(text, dtype, shape, type, ...)                                            \
    expect(text, dtype, shape, (const type[]){__VA_ARGS__},                              \
           sizeof((const type[]){__VA_ARGS__}))

static void refuse(const char *text, enum status status, int64_t line, int64_t column)
{
    struct reading reading;
    read_csv(&reading, text);
    if (reading.status != status)
        print_message("%s: %s\n", text, reading.problem.detail);
    assert_int_equal(reading.status, status);
    if (line > 0)
        assert_int_equal(reading.problem.line, line);
    if (column > 0)
        assert_int_equal(reading.problem.column, column);
    reading_free(&reading);
}

static void test_shapes_and_dtypes(void **state)
{
    EXPECT("1,2\n3,4\n", DTYPE_INT64, "(2, 2)", int64_t, 1, 2, 3, 4);
    EXPECT("1\n2\n", DTYPE_INT64, "(2,)", int64_t, 1, 2);
    EXPECT("1", DTYPE_INT64, "(1,)", int64_t, 1);
    EXPECT("0.1,2", DTYPE_FLOAT32, "(1, 2)", float, 0.1F, 2);
    EXPECT("1,2\n3,4.5", DTYPE_FLOAT32, "(2, 2)", float, 1, 2, 3, 4.5F);
    EXPECT("1,1e3\n", DTYPE_FLOAT32, "(1, 2)", float, 1, 1000);
    EXPECT("-9223372036854775808,+7,007\n", DTYPE_INT64, "(1, 3)", int64_t, INT64_MIN, 7,
           7);
    expect("", DTYPE_FLOAT32, "(0,)", NULL, 0);
    expect("\n\n", DTYPE_FLOAT32, "(0,)", NULL, 0);
}

static void test_headings(void **state)
{
    EXPECT("a,b\n1,2.5\n", DTYPE_FLOAT32, "(1, 2)", float, 1, 2.5F);
    EXPECT("width\n1\n2", DTYPE_INT64, "(2,)", int64_t, 1, 2);
    EXPECT("\"a, b\",\"c\n\"\"d\"\"\",\n1,2,3\n", DTYPE_INT64, "(1, 3)", int64_t, 1, 2,
           3);
    EXPECT("\xEF\xBB\xBF"
           "a\n1\n",
           DTYPE_INT64, "(1,)", int64_t, 1);
    refuse("a,1\n1,2\n", STATUS_MALFORMED, 1, 3);
    refuse("1,a\n1,2\n", STATUS_MALFORMED, 1, 3);
    refuse("a,b\nc,d\n1,2\n", STATUS_MALFORMED, 2, 1);
    refuse("a,b\n", STATUS_MALFORMED, 0, 0);
    refuse("a,b", STATUS_MALFORMED, 0, 0);
}

static void test_layout(void **state)
{
    EXPECT("1,2\r\n3,4\r\n", DTYPE_INT64, "(2, 2)", int64_t, 1, 2, 3, 4);
    EXPECT(" 1 ,\t2\n 3,4 ", DTYPE_INT64, "(2, 2)", int64_t, 1, 2, 3, 4);
    EXPECT("\"1\",\"2.5\"\n", DTYPE_FLOAT32, "(1, 2)", float, 1, 2.5F);
    EXPECT("1,2\n\n \n\r\n", DTYPE_INT64, "(1, 2)", int64_t, 1, 2);
    EXPECT("\n\n1,2\n", DTYPE_INT64, "(1, 2)", int64_t, 1, 2);
    EXPECT("\xEF\xBB\xBF"
           "1,2\n",
           DTYPE_INT64, "(1, 2)", int64_t, 1, 2);
    EXPECT("5.,.5,-.25\n", DTYPE_FLOAT32, "(1, 3)", float, 5, 0.5F, -0.25F);
}

static void test_special_values(void **state)
{
    struct reading reading;
    read_csv(&reading, "nan,NaN,inf,-Inf,+INFINITY,1\n");
    assert_int_equal(reading.status, STATUS_OK);
    assert_int_equal(reading.result.dtype, DTYPE_FLOAT32);
    const float *data = reading.result.data;
    assert_true(isnan(data[0]) && isnan(data[1]) && data[2] == INFINITY &&
                data[3] == -INFINITY && data[4] == INFINITY && data[5] == 1);
    reading_free(&reading);
}

static void test_given_dtype(void **state)
{
    struct reading reading;
    struct reader_options options = reading_options();
    options.has_dtype = true;
    options.dtype = DTYPE_FLOAT64;
    const double expected[] = {0.1, 2};
    read_all_ways(&reading, FORMAT_CSV, &options, "0.1,2\n", 6);
    assert_read(&reading, DTYPE_FLOAT64, "(1, 2)", expected, sizeof expected);
    reading_free(&reading);
    options.dtype = DTYPE_UINT8;
    read_all_ways(&reading, FORMAT_CSV, &options, "1,300\n", 6);
    assert_int_equal(reading.status, STATUS_VALUE);
    assert_int_equal(reading.problem.column, 3);
    reading_free(&reading);
}

static void test_refused(void **state)
{
    refuse("1,2\n3\n", STATUS_SHAPE, 2, 0);
    refuse("1\n2,3\n", STATUS_SHAPE, 2, 0);
    refuse("1,2\n3,x\n", STATUS_MALFORMED, 2, 3);
    refuse("1,2\n3,\n", STATUS_MALFORMED, 2, 0);
    refuse("1,,2\n", STATUS_MALFORMED, 1, 3);
    refuse("1,2,", STATUS_MALFORMED, 1, 0);
    refuse("1\n\n2\n", STATUS_MALFORMED, 3, 1);
    refuse("1\ntrue\n", STATUS_MALFORMED, 2, 1);
    refuse("1;2\n3;4\n", STATUS_MALFORMED, 2, 1);
    refuse("1\n2 3\n", STATUS_MALFORMED, 2, 1);
    refuse("1\n\"2\n", STATUS_MALFORMED, 2, 1);
    refuse("1\n0x10\n", STATUS_MALFORMED, 2, 1);
    refuse("1\n\xff\xfe\n", STATUS_MALFORMED, 2, 1);
    refuse("1e400\n", STATUS_VALUE, 1, 1);
    refuse("1\n9223372036854775808\n", STATUS_VALUE, 2, 0);
    struct reading reading;
    struct reader_options options = reading_options();
    read_all_ways(&reading, FORMAT_CSV, &options, "1\n\0002\n", 5);
    assert_int_equal(reading.status, STATUS_MALFORMED);
    reading_free(&reading);
}

static void test_long_fields(void **state)
{
    enum { LENGTH = 5000 };
    struct reader_options options = reading_options();
    struct reading reading;
    char text[LENGTH];
    memset(text, '1', LENGTH);
    text[1] = '.';
    for (size_t step = 1; step < LENGTH; step += 1999) {
        read_cut(&reading, FORMAT_CSV, &options, text, LENGTH, 0, step);
        assert_int_equal(reading.status, STATUS_LIMIT);
        reading_free(&reading);
        read_cut(&reading, FORMAT_CSV, &options, text, 4000, 0, step);
        assert_int_equal(reading.status, STATUS_OK);
        reading_free(&reading);
    }
}

// ---- Writing

static void expect_written(enum dtype dtype, int ndim, int64_t rows, int64_t columns,
                           const void *data, const char *expected)
{
    struct writer_options options = {.format = FORMAT_CSV,
                                     .dtype = dtype,
                                     .ndim = ndim,
                                     .shape = {rows, columns},
                                     .data = data};
    size_t length;
    char *text = write_all_ways(&options, &length);
    assert_string_equal(text, expected);
    free(text);
}

static void test_written(void **state)
{
    const float floats[] = {1, 0.1F, NAN, -INFINITY, INFINITY, 1e20F};
    const uint8_t bools[] = {1, 0, 1};
    const int64_t integers[] = {INT64_MIN, 7};
    expect_written(DTYPE_FLOAT32, 2, 2, 3, floats, "1.0,0.1,nan\n-inf,inf,1e+20\n");
    expect_written(DTYPE_FLOAT32, 1, 2, 0, floats, "1.0\n0.1\n");
    expect_written(DTYPE_FLOAT32, 0, 0, 0, floats, "1.0\n");
    expect_written(DTYPE_BOOL, 2, 1, 3, bools, "1,0,1\n");
    expect_written(DTYPE_INT64, 1, 2, 0, integers, "-9223372036854775808\n7\n");
    expect_written(DTYPE_FLOAT32, 1, 0, 0, NULL, "");
    expect_written(DTYPE_FLOAT32, 2, 2, 0, NULL, "\n\n");
    struct writer_options options = {
        .format = FORMAT_CSV, .ndim = 3, .shape = {1, 1, 1}, .data = floats};
    struct writer *writer;
    struct problem problem;
    assert_int_equal(writer_open(&options, &writer, &problem), STATUS_NOT_ACCEPTABLE);
}

static void test_there_and_back(void **state)
{
    enum { ROWS = 97, COLUMNS = 31 };
    static double data[ROWS * COLUMNS];
    struct reading reading;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        data[i] = sin(i) * exp(i % 90 - 45);
    struct writer_options options = {.format = FORMAT_CSV,
                                     .dtype = DTYPE_FLOAT64,
                                     .ndim = 2,
                                     .shape = {ROWS, COLUMNS},
                                     .data = data};
    struct reader_options read = reading_options();
    read.has_dtype = true;
    read.dtype = DTYPE_FLOAT64;
    size_t length;
    char *text = write_all_ways(&options, &length);
    read_all_ways(&reading, FORMAT_CSV, &read, text, length);
    assert_read(&reading, DTYPE_FLOAT64, "(97, 31)", data, sizeof data);
    reading_free(&reading);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_and_dtypes),
        cmocka_unit_test(test_headings),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_given_dtype),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_fields),
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
