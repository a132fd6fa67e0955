// SPDX-License-Identifier: Apache-2.0
// Raw bytes both ways, and the table of formats.
#include "tests/unit/api/reading.h"

static struct reader_options raw_options(enum dtype dtype, int ndim, int64_t first,
                                         int64_t second)
{
    struct reader_options options = reading_options();
    options.has_dtype = true;
    options.dtype = dtype;
    options.has_shape = ndim >= 0;
    options.ndim = ndim >= 0 ? ndim : 0;
    options.shape[0] = first;
    options.shape[1] = second;
    return options;
}

static void expect(struct reader_options options, const char *bytes, size_t count,
                   const char *shape)
{
    struct reading reading;
    for (int known = 0; known < 2; known++) {
        options.length = known ? (int64_t)count : -1;
        read_all_ways(&reading, FORMAT_RAW, &options, bytes, count);
        assert_read(&reading, options.dtype, shape, bytes, count);
        assert_true(!known || reading.reserved == (int64_t)count);
        reading_free(&reading);
    }
}

static void refuse(struct reader_options options, const char *bytes, size_t count,
                   enum status status)
{
    struct reading reading;
    for (int known = 0; known < 2; known++) {
        options.length = known ? (int64_t)count : -1;
        read_all_ways(&reading, FORMAT_RAW, &options, bytes, count);
        assert_int_equal(reading.status, status);
        reading_free(&reading);
    }
}

static void test_shapes(void **state)
{
    expect(raw_options(DTYPE_UINT8, -1, 0, 0), "\1\2\3", 3, "(3,)");
    expect(raw_options(DTYPE_UINT8, -1, 0, 0), "", 0, "(0,)");
    expect(raw_options(DTYPE_UINT8, 0, 0, 0), "\7", 1, "()");
    expect(raw_options(DTYPE_INT16, 2, 2, -1), "\1\0\2\0\3\0\4\0", 8, "(2, 2)");
    expect(raw_options(DTYPE_BFLOAT16, 1, 2, 0), "\1\0\2\0", 4, "(2,)");
    expect(raw_options(DTYPE_FLOAT64, 2, 1, 1), "\1\2\3\4\5\6\7\x08", 8, "(1, 1)");
    expect(raw_options(DTYPE_INT8, 2, 0, 5), "", 0, "(0, 5)");
    expect(raw_options(DTYPE_INT8, 2, 5, -1), "", 0, "(5, 0)");
    expect(raw_options(DTYPE_BOOL, 1, -1, 0), "\0\1\1", 3, "(3,)");
}

static void test_refused(void **state)
{
    refuse(raw_options(DTYPE_UINT8, 2, 2, 2), "\1\2\3", 3, STATUS_MALFORMED);
    refuse(raw_options(DTYPE_UINT8, 2, 2, 2), "\1\2\3\4\5", 5, STATUS_MALFORMED);
    refuse(raw_options(DTYPE_UINT8, 2, 2, -1), "\1\2\3", 3, STATUS_MALFORMED);
    refuse(raw_options(DTYPE_FLOAT32, -1, 0, 0), "\1\2\3", 3, STATUS_MALFORMED);
    refuse(raw_options(DTYPE_FLOAT32, 0, 0, 0), "", 0, STATUS_MALFORMED);
    refuse(raw_options(DTYPE_UINT8, 2, -1, -1), "\1", 1, STATUS_SHAPE);
    refuse(raw_options(DTYPE_UINT8, 1, -2, 0), "\1", 1, STATUS_SHAPE);
    refuse(raw_options(DTYPE_UINT8, 2, 0, -1), "", 0, STATUS_SHAPE); // anything would do
    refuse(raw_options(DTYPE_UINT8, 2, INT64_MAX, 2), "\1", 1, STATUS_SHAPE);
    refuse(raw_options(DTYPE_FLOAT64, 1, INT64_MAX / 2, 0), "\1", 1, STATUS_SHAPE);
    refuse(raw_options(DTYPE_BOOL, -1, 0, 0), "\0\1\2", 3, STATUS_VALUE);
    struct reader_options untyped = reading_options();
    refuse(untyped, "\1", 1, STATUS_MALFORMED);
    struct reading reading;
    struct reader_options large = raw_options(DTYPE_UINT8, 1, 100, 0);
    large.max_bytes = 99;
    read_cut(&reading, FORMAT_RAW, &large, "", 0, 0, 1);
    assert_int_equal(reading.status, STATUS_TOO_LARGE);
    reading_free(&reading);
}

static void test_written(void **state)
{
    uint16_t data[1000];
    for (int i = 0; i < 1000; i++)
        data[i] = (uint16_t)(i * 65);
    struct writer_options options = {.format = FORMAT_RAW,
                                     .dtype = DTYPE_BFLOAT16,
                                     .ndim = 2,
                                     .shape = {20, 50},
                                     .data = data};
    size_t length;
    char *bytes = write_all_ways(&options, &length);
    assert_int_equal(length, sizeof data);
    assert_memory_equal(bytes, data, sizeof data);
    free(bytes);
    options.shape[1] = 0;
    options.data = NULL;
    bytes = write_all_ways(&options, &length);
    assert_int_equal(length, 0);
    free(bytes);
}

static void test_table(void **state)
{
    enum format format;
    for (int i = 0; i < FORMAT_COUNT; i++) {
        const struct format_row *row = format_row((enum format)i);
        assert_true(format_parse(row->name, strlen(row->name), &format));
        assert_int_equal(format, i);
        assert_true(row->writable);
        assert_int_equal(row->readable, i != FORMAT_TEXT);
        assert_int_equal(row->suffix[0], '.');
    }
    assert_string_equal(format_row(FORMAT_NPY)->media_type, "application/x-npy");
    assert_string_equal(format_row(FORMAT_TEXT)->media_type, "text/plain; charset=utf-8");
    assert_false(format_parse("np", 2, &format));
    assert_false(format_parse("npyx", 4, &format));
    assert_false(format_parse("", 0, &format));
}

static void test_text_is_not_read(void **state)
{
    struct reading reading;
    struct reader_options options = reading_options();
    read_cut(&reading, FORMAT_TEXT, &options, "1", 1, 1, 1);
    assert_int_equal(reading.status, STATUS_MEDIA_TYPE);
    reading_free(&reading);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),           cmocka_unit_test(test_refused),
        cmocka_unit_test(test_written),          cmocka_unit_test(test_table),
        cmocka_unit_test(test_text_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
