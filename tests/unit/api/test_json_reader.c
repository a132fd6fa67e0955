// SPDX-License-Identifier: Apache-2.0
// The JSON reader: what is accepted, with which dtype and shape. Expected values are
// written by hand; rules are torch.tensor's.
#include "tests/unit/api/reading_json.h"

#include <math.h>

static void test_dtypes_of_lists(void **state)
{
    EXPECT("[1, 2, 3]", DTYPE_INT64, "(3,)", int64_t, 1, 2, 3);
    EXPECT("[1.5,-2.0]", DTYPE_FLOAT32, "(2,)", float, 1.5F, -2);
    EXPECT("[true,false,true]", DTYPE_BOOL, "(3,)", uint8_t, 1, 0, 1);
    EXPECT("[true, 2]", DTYPE_INT64, "(2,)", int64_t, 1, 2);
    EXPECT("[2, true]", DTYPE_INT64, "(2,)", int64_t, 2, 1);
    EXPECT("[true, 2.5]", DTYPE_FLOAT32, "(2,)", float, 1, 2.5F);
    EXPECT("[1, 2, 0.25, 4, true]", DTYPE_FLOAT32, "(5,)", float, 1, 2, 0.25F, 4, 1);
    EXPECT("[1e2]", DTYPE_FLOAT32, "(1,)", float, 100);
    EXPECT("[1, -0.0]", DTYPE_FLOAT32, "(2,)", float, 1, -0.0F);
    EXPECT("[-0]", DTYPE_INT64, "(1,)", int64_t, 0);
    EXPECT("[1, 1E+2, 1e-2, 10.5e0]", DTYPE_FLOAT32, "(4,)", float, 1, 100, 0.01F, 10.5F);
}

static void test_scalars(void **state)
{
    EXPECT("3", DTYPE_INT64, "()", int64_t, 3);
    EXPECT(" -2.5\n", DTYPE_FLOAT32, "()", float, -2.5F);
    EXPECT("true", DTYPE_BOOL, "()", uint8_t, 1);
    EXPECT("\t false ", DTYPE_BOOL, "()", uint8_t, 0);
    EXPECT("Infinity", DTYPE_FLOAT32, "()", float, INFINITY);
    EXPECT("\"-Infinity\"", DTYPE_FLOAT32, "()", float, -INFINITY);
    EXPECT("{\"data\": 7}", DTYPE_INT64, "()", int64_t, 7);
}

static void test_shapes(void **state)
{
    EXPECT("[[1,2],[3,4],[5,6]]", DTYPE_INT64, "(3, 2)", int64_t, 1, 2, 3, 4, 5, 6);
    EXPECT("[[[1],[2]],\r\n[[3],[4]]]", DTYPE_INT64, "(2, 2, 1)", int64_t, 1, 2, 3, 4);
    expect("[]", DTYPE_FLOAT32, "(0,)", NULL, 0);
    expect("[[], []]", DTYPE_FLOAT32, "(2, 0)", NULL, 0);
    expect("[[[]]]", DTYPE_FLOAT32, "(1, 1, 0)", NULL, 0);
    expect("{\"data\": [], \"dtype\": \"int8\"}", DTYPE_INT8, "(0,)", NULL, 0);
}

static void test_deepest(void **state)
{
    char text[80];
    memset(text, '[', 32);
    text[32] = '5';
    memset(text + 33, ']', 32);
    text[65] = '\0';
    struct reading reading;
    read_json(&reading, text);
    assert_int_equal(reading.status, STATUS_OK);
    assert_int_equal(reading.result.ndim, 32);
    assert_int_equal(*(int64_t *)reading.result.data, 5);
    reading_free(&reading);
}

static void test_special_values(void **state)
{
    struct reading reading;
    const char *texts[] = {"[1, NaN, Infinity, -Infinity]",
                           "[1, \"NaN\", \"Infinity\", \"-Infinity\"]"};
    for (int i = 0; i < 2; i++) {
        read_json(&reading, texts[i]);
        assert_int_equal(reading.status, STATUS_OK);
        assert_int_equal(reading.result.dtype, DTYPE_FLOAT32);
        const float *data = reading.result.data;
        assert_true(data[0] == 1 && isnan(data[1]) && data[2] == INFINITY &&
                    data[3] == -INFINITY);
        reading_free(&reading);
    }
}

static void test_large_integers(void **state)
{
    EXPECT("[9007199254740993, \"9007199254740993\"]", DTYPE_INT64, "(2,)", int64_t,
           9007199254740993, 9007199254740993);
    EXPECT("[9223372036854775807, \"-9223372036854775808\", -9223372036854775808]",
           DTYPE_INT64, "(3,)", int64_t, INT64_MAX, INT64_MIN, INT64_MIN);
    // Beyond int64 they need a float beside them, on either side.
    EXPECT("[1000000000000000000000, 0.5]", DTYPE_FLOAT32, "(2,)", float, 1e21F, 0.5F);
    EXPECT("[0.5, 1000000000000000000000]", DTYPE_FLOAT32, "(2,)", float, 0.5F, 1e21F);
    EXPECT_WITH("[9223372036854775808]", DTYPE_FLOAT64, "(1,)", double, 0x1p63);
    refuse_at("[1, 9223372036854775808]", STATUS_VALUE, "/1", 0, 0);
    refuse("[-9223372036854775809]", STATUS_VALUE);
    refuse("{\"data\": [1, [2]]}", STATUS_SHAPE);
    refuse_at("{\"data\": [[1, 2],[3, 18446744073709551616]]}", STATUS_VALUE, "/data/1/1",
              0, 0);
}

static void test_given_dtype(void **state)
{
    EXPECT_WITH("[1, 2.5, true]", DTYPE_FLOAT64, "(3,)", double, 1, 2.5, 1);
    EXPECT_WITH("[0.1]", DTYPE_FLOAT64, "(1,)", double, 0.1);
    EXPECT_WITH("[0, 255, 1.75]", DTYPE_UINT8, "(3,)", uint8_t, 0, 255, 1);
    EXPECT_WITH("[-1.5, 2]", DTYPE_INT16, "(2,)", int16_t, -1, 2);
    EXPECT_WITH("[0, 2, -0.0, 0.5, true, NaN]", DTYPE_BOOL, "(6,)", uint8_t, 0, 1, 0, 1,
                1, 1);
    EXPECT_WITH("[1.0, -2.0, 65504]", DTYPE_FLOAT16, "(3,)", uint16_t, 0x3C00, 0xC000,
                0x7BFF);
    EXPECT_WITH("[1.0, -2.0, 3.140625]", DTYPE_BFLOAT16, "(3,)", uint16_t, 0x3F80, 0xC000,
                0x4049);
    // 1 + 2^-24 + 2^-60: a float64 between would be half-way and round to even, which is
    // wrong.
    EXPECT_WITH("[1.00000005960464477626]", DTYPE_FLOAT32, "(1,)", float, 0x1.000002p0F);
    EXPECT_WITH("[1.0000000596046447]", DTYPE_FLOAT32, "(1,)", float, 1.0F);
}

static void test_object(void **state)
{
    EXPECT("{\"name\": \"x\", \"dtype\": \"float64\", \"shape\": [1, 2], \"data\": "
           "[[0.1, 2]]}",
           DTYPE_FLOAT64, "(1, 2)", double, 0.1, 2);
    EXPECT("{\"data\": [0.1, 2], \"dtype\": \"float64\"}", DTYPE_FLOAT64, "(2,)", double,
           0.1, 2);
    EXPECT("{\"data\": [3, 1], \"dtype\": \"torch.uint8\"}", DTYPE_UINT8, "(2,)", uint8_t,
           3, 1);
    EXPECT("{\"data\": [3, true], \"dtype\": \"float16\"}", DTYPE_FLOAT16, "(2,)",
           uint16_t, 0x4200, 0x3C00);
    EXPECT("{\"data\": [9007199254740993], \"dtype\": \"int64\"}", DTYPE_INT64, "(1,)",
           int64_t, 9007199254740993);
    EXPECT("{\"data\": [true, 0.1]}", DTYPE_FLOAT32, "(2,)", float, 1, 0.1F);
    EXPECT("{\"data\": [true, true]}", DTYPE_BOOL, "(2,)", uint8_t, 1, 1);
    EXPECT("{\"data\": [true, 1]}", DTYPE_INT64, "(2,)", int64_t, 1, 1);
    EXPECT("{\"data\": [true, 3, 4, 5, 6]}", DTYPE_INT64, "(5,)", int64_t, 1, 3, 4, 5, 6);
    EXPECT("{\"data\": [true, 1], \"dtype\": \"bool\"}", DTYPE_BOOL, "(2,)", uint8_t, 1,
           1);
    EXPECT("{\"d\\u0061ta\": [1]}", DTYPE_INT64, "(1,)", int64_t, 1);
}

static void test_description_is_accepted(void **state)
{
    EXPECT("{\"name\": \"\\u00e9\\n\\\"\", \"strides\": [2, 1], \"bytes\": 4, "
           "\"storage_bytes\": 4,"
           "\"shared_with\": [\"y\", [{\"a\": {}}, []]], \"etag\": \"1-2\", \"created\": "
           "1.5e9,"
           "\"modified\": 0, \"readonly\": false, \"ttl\": null, \"pinned\": true, "
           "\"data\": [1.0]}",
           DTYPE_FLOAT32, "(1,)", float, 1);
    struct reading reading;
    read_json(&reading, "{\"device\": \"cuda:0\", \"data\": [1]}");
    assert_int_equal(reading.status, STATUS_OK);
    assert_true(reading.result.has_device);
    assert_string_equal(reading.result.device, "cuda:0");
    reading_free(&reading);
}

static void test_shape_member(void **state)
{
    EXPECT("{\"shape\": [2, 2], \"data\": [1, 2, 3, 4]}", DTYPE_INT64, "(2, 2)", int64_t,
           1, 2, 3, 4);
    EXPECT("{\"data\": [1, 2, 3, 4], \"shape\": [2, -1, 1]}", DTYPE_INT64, "(2, 2, 1)",
           int64_t, 1, 2, 3, 4);
    EXPECT("{\"data\": [5], \"shape\": []}", DTYPE_INT64, "()", int64_t, 5);
    EXPECT("{\"data\": 5, \"shape\": []}", DTYPE_INT64, "()", int64_t, 5);
    EXPECT("{\"data\": [[1, 2]], \"shape\": [1, -1]}", DTYPE_INT64, "(1, 2)", int64_t, 1,
           2);
    expect("{\"data\": [], \"shape\": [0, 3]}", DTYPE_FLOAT32, "(0, 3)", NULL, 0);
    expect("{\"data\": [[], []], \"shape\": [2, 0, 3]}", DTYPE_FLOAT32, "(2, 0, 3)", NULL,
           0);
    refuse_at("{\"data\": [1, 2, 3], \"shape\": [2, 2]}", STATUS_SHAPE, "/shape", 0, 0);
    refuse("{\"data\": [[1, 2]], \"shape\": [2, 1]}", STATUS_SHAPE);
    refuse("{\"data\": [[1, 2]], \"shape\": [2]}", STATUS_SHAPE);
    refuse("{\"data\": 5, \"shape\": [1]}", STATUS_SHAPE);
    refuse("{\"data\": [], \"shape\": [2]}", STATUS_SHAPE);
    refuse("{\"data\": [[], []], \"shape\": [2, 0, -1]}", STATUS_SHAPE);
    refuse("{\"data\": [1], \"shape\": [-1, -1]}", STATUS_SHAPE);
    refuse("{\"data\": [1], \"shape\": [4611686018427387904, 4]}", STATUS_SHAPE);
    refuse_at("{\"shape\": [1.5], \"data\": [1]}", STATUS_VALUE, "/shape", 1, 12);
    refuse_at("{\"shape\": 5, \"data\": [1]}", STATUS_VALUE, "/shape", 1, 11);
    refuse("{\"shape\": [[1]], \"data\": [1]}", STATUS_VALUE);
    refuse("{\"shape\": [-2], \"data\": [1]}", STATUS_VALUE);
    refuse("{\"shape\": {}, \"data\": [1]}", STATUS_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtypes_of_lists),
        cmocka_unit_test(test_scalars),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_deepest),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_given_dtype),
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_description_is_accepted),
        cmocka_unit_test(test_shape_member),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
