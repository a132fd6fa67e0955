// SPDX-License-Identifier: Apache-2.0
// The JSON reader: what is refused, with which kind of problem and at which place;
// limits, bombs, memory.
#include "tests/unit/api/reading_json.h"

#include <math.h>

static void test_not_json(void **state)
{
    static const char *const bodies[] = {
        "",
        " \n",
        "[",
        "[1",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1]]",
        "[1] 2",
        "{",
        "{\"data\": [1]",
        "{]",
        "[}",
        "{\"data\": [1]} x",
        "{\"data\" [1]}",
        "{\"data\": }",
        "{data: [1]}",
        "{'data': [1]}",
        "{\"data\": [1],}",
        "{,}",
        "{1: 2}",
        "[01]",
        "[1.]",
        "[.5]",
        "[+1]",
        "[1e]",
        "[1e+]",
        "[--1]",
        "[-]",
        "[1.5.5]",
        "[0x10]",
        "[1_000]",
        "[nul]",
        "[tru]",
        "[True]",
        "[nan]",
        "[inf]",
        "[Infinit]",
        "[-NaN]",
        "[infinity]",
        "hello",
        "[\"abc]",
        "\"",
        "[1;2]",
        "[1/2]",
        "// x\n[1]",
        "[\"a\\x\"]",
        "[\"\\u12\"]",
        "[\"\\ud800\"]",
        "[\"\\udc00\\ud800\"]",
        "[\"a\nb\"]",
        "{\"data\": [1], \"bytes\": nope}",
        "{\"data\": [1], \"bytes\": 01}",
        "\x80",
        "{\"etag\": \"\\q\", \"data\": 1}",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        refuse(bodies[i], STATUS_MALFORMED);
}

static void test_places(void **state)
{
    refuse_at("[1,\n 2,\n x]", STATUS_MALFORMED, "", 3, 2);
    refuse_at("[1, 2", STATUS_MALFORMED, "", 1, 6);
    refuse_at("{\"name\": \"\xC3\xA9\xE2\x82\xAC\", ?}", STATUS_MALFORMED, "", 1, 16);
    refuse_at("[1, null]", STATUS_VALUE, "/1", 1, 5);
    refuse_at("null", STATUS_VALUE, "", 1, 1);
    refuse_at("{\"data\": [[1, 2],\n[3, null]]}", STATUS_VALUE, "/data/1/1", 2, 5);
    refuse_at("[[1, 2, 3],\n [4, {}]]", STATUS_VALUE, "/1/1", 2, 6);
    refuse_at("[\"1.5\"]", STATUS_VALUE, "/0", 1, 2);
    refuse_at("[\"a\"]", STATUS_VALUE, "/0", 1, 2);
    refuse_at("{\"data\": \"5x\"}", STATUS_VALUE, "/data", 1, 10);
}

static void test_encodings(void **state)
{
    refuse("{\"name\": \"\xff\xfe\", \"data\": [1]}", STATUS_MALFORMED);
    refuse("{\"name\": \"\xC0\xAF\", \"data\": [1]}", STATUS_MALFORMED);
    refuse("{\"name\": \"\xED\xA0\x80\", \"data\": [1]}", STATUS_MALFORMED);
    refuse("{\"name\": \"\xF4\x90\x80\x80\", \"data\": [1]}", STATUS_MALFORMED);
    refuse("{\"name\": \"\xE2\x82\", \"data\": [1]}", STATUS_MALFORMED);
    refuse("\xFF\xFE[", STATUS_MALFORMED);
    struct reading reading;
    read_json(&reading, "\xEF\xBB\xBF[1]");
    assert_int_equal(reading.status, STATUS_MALFORMED);
    assert_non_null(strstr(reading.problem.detail, "byte order mark"));
    reading_free(&reading);
    struct reader_options options = reading_options();
    read_all_ways(&reading, FORMAT_JSON, &options, "[\0]", 3);
    assert_int_equal(reading.status, STATUS_MALFORMED);
    reading_free(&reading);
}

static void test_members(void **state)
{
    struct reading reading;
    read_json(&reading, "{\"data\": [1], \"dta\": 3}");
    assert_int_equal(reading.status, STATUS_MALFORMED);
    assert_non_null(strstr(reading.problem.detail, "'dta'"));
    assert_string_equal(reading.problem.nearest, "data");
    reading_free(&reading);
    read_json(&reading, "{\"data\": [1], \"data\": [2]}");
    assert_int_equal(reading.status, STATUS_MALFORMED);
    assert_non_null(strstr(reading.problem.detail, "'data'"));
    reading_free(&reading);
    refuse("{\"etag\": 1, \"etag\": 2, \"data\": 1}", STATUS_MALFORMED);
    refuse("{\"dtype\": \"float32\"}", STATUS_MALFORMED);
    refuse("{}", STATUS_MALFORMED);
    refuse_at("{\"data\": [1], \"dtype\": \"floot32\"}", STATUS_DTYPE, "/dtype", 1, 24);
    refuse_at("{\"dtype\": 5}", STATUS_VALUE, "/dtype", 1, 11);
    refuse("{\"dtype\": [\"float32\"], \"data\": 1}", STATUS_VALUE);
    refuse("{\"dtype\": null, \"data\": 1}", STATUS_VALUE);
    refuse_at("{\"device\": true, \"data\": 1}", STATUS_VALUE, "/device", 1, 12);
    refuse("{\"device\": \"a-device-with-a-long-name\", \"data\": 1}", STATUS_DEVICE);
    refuse("{\"device\": \"\", \"data\": 1}", STATUS_DEVICE);
}

static void test_ragged(void **state)
{
    refuse_at("[1, [2]]", STATUS_SHAPE, "/1", 1, 5);
    refuse_at("[[1], 2]", STATUS_SHAPE, "/1", 1, 7);
    refuse_at("[[1, 2], [3]]", STATUS_SHAPE, "/1", 1, 12);
    refuse_at("[[1], [2, 3]]", STATUS_SHAPE, "/1", 0, 0);
    refuse("[[], [1]]", STATUS_SHAPE);
    refuse("[[1], []]", STATUS_SHAPE);
    refuse("[[], 1]", STATUS_SHAPE);
    refuse("[[], [[]]]", STATUS_SHAPE);
    refuse("[[[1], [2]], [[3]]]", STATUS_SHAPE);
}

static void test_out_of_range(void **state)
{
    char text[500] = "[1";
    memset(text + 2, '0', 400);
    memcpy(text + 402, "]", 2);
    refuse_at(text, STATUS_VALUE, "/0", 1, 2);
    refuse_at("[2.0, 1e400]", STATUS_VALUE, "/1", 1, 7);
    refuse("[-1e99999999999999999999]", STATUS_VALUE);
    EXPECT("[1e-400, -1e-99999999999999999999]", DTYPE_FLOAT32, "(2,)", float, 0, -0.0F);
    EXPECT("[1e39]", DTYPE_FLOAT32, "(1,)", float, INFINITY); // as torch.tensor does
    refuse_at("{\"dtype\": \"uint8\", \"data\": [256]}", STATUS_VALUE, "/data/0", 1, 29);
    refuse_at("{\"data\": [[1, 2], [3, 256]], \"dtype\": \"uint8\"}", STATUS_VALUE,
              "/data/1/1", 0, 0);
    refuse("{\"dtype\": \"uint8\", \"data\": [-1]}", STATUS_VALUE);
    refuse("{\"dtype\": \"int8\", \"data\": [128.5]}", STATUS_VALUE);
    refuse("{\"dtype\": \"int64\", \"data\": [1e19]}", STATUS_VALUE);
    refuse("{\"dtype\": \"int32\", \"data\": [NaN]}", STATUS_VALUE);
    refuse("{\"data\": [NaN], \"dtype\": \"int32\"}", STATUS_VALUE);
    refuse("{\"dtype\": \"int32\", \"data\": [\"Infinity\"]}", STATUS_VALUE);
    // A float64 would not hold this integer; the dtype came too late to know that it had
    // to.
    refuse("{\"data\": [9007199254740993, 0.5], \"dtype\": \"int64\"}", STATUS_VALUE);
}

static void test_bombs(void **state)
{
    enum { DEEP = 100000 };
    char *text = malloc(DEEP + 64);
    struct reading reading;
    struct reader_options options = reading_options();
    assert_non_null(text);
    memset(text, '[', DEEP);
    read_cut(&reading, FORMAT_JSON, &options, text, DEEP, DEEP, DEEP);
    assert_int_equal(reading.status, STATUS_LIMIT);
    reading_free(&reading);
    int used = snprintf(text, DEEP, "{\"data\": ");
    memset(text + used, '[', 33);
    read_cut(&reading, FORMAT_JSON, &options, text, (size_t)used + 33, 1, 1);
    assert_int_equal(reading.status, STATUS_LIMIT);
    reading_free(&reading);
    used = snprintf(text, DEEP, "{\"shared_with\": ");
    for (int i = 0; i < 10000; i++)
        memcpy(text + used + i * 5, "{\"\":[", 5);
    read_cut(&reading, FORMAT_JSON, &options, text, (size_t)used + 50000, 4096, 4096);
    assert_int_equal(reading.status, STATUS_LIMIT);
    reading_free(&reading);
    free(text);
}

static void test_long_tokens(void **state)
{
    enum { LENGTH = 6000 };
    char *text = malloc(LENGTH + 64);
    struct reader_options options = reading_options();
    struct reading reading;
    assert_non_null(text);
    for (int kind = 0; kind < 2; kind++) {
        memset(text, kind == 0 ? 'a' : '1', LENGTH);
        text[0] = '[';
        text[1] = kind == 0 ? '"' : '0';
        text[2] = kind == 0 ? 'a' : '.';
        for (int step = 1; step < LENGTH; step += 2111) {
            read_cut(&reading, FORMAT_JSON, &options, text, LENGTH, 0, (size_t)step);
            assert_int_equal(reading.status, STATUS_LIMIT);
            reading_free(&reading);
        }
    }
    memcpy(text + 4000, "]", 2); // 3999 digits are fine: 0.111...
    for (int step = 1; step < LENGTH; step += 1111) {
        read_cut(&reading, FORMAT_JSON, &options, text, 4001, 0, (size_t)step);
        assert_int_equal(reading.status, STATUS_OK);
        assert_true(*(float *)reading.result.data == (float)(1.0 / 9));
        reading_free(&reading);
    }
    free(text);
}

static void test_limits_of_the_body(void **state)
{
    struct reader_options options = reading_options();
    struct reading reading;
    options.max_bytes = 8;
    read_all_ways(&reading, FORMAT_JSON, &options, "[1, 2, 3]", 9);
    assert_int_equal(reading.status, STATUS_TOO_LARGE);
    reading_free(&reading);
    read_all_ways(&reading, FORMAT_JSON, &options, "[1, 2,3]", 8);
    assert_int_equal(reading.status, STATUS_OK);
    reading_free(&reading);
    options.length = 9;
    read_all_ways(&reading, FORMAT_JSON, &options, "[1]", 3);
    assert_int_equal(reading.status, STATUS_TOO_LARGE);
    reading_free(&reading);
}

static void test_many_elements(void **state)
{
    enum { COUNT = 100000 };
    char *text = malloc(COUNT * 9);
    struct reading reading;
    struct reader_options options = reading_options();
    assert_non_null(text);
    size_t used = 0;
    text[used++] = '[';
    for (int i = 0; i < COUNT; i++) // integers first, then floats
        used += (size_t)snprintf(text + used, 16, "%d%s,", i < 1000 ? i : i / 2,
                                 i < 1000 ? ""
                                 : i % 2  ? ".5"
                                          : ".0");
    text[used - 1] = ']';
    for (int known = 0; known < 2; known++) {
        options.length = known ? (int64_t)used : -1;
        read_cut(&reading, FORMAT_JSON, &options, text, used, 100, 16384);
        assert_int_equal(reading.status, STATUS_OK);
        assert_int_equal(reading.result.shape[0], COUNT);
        const float *data = reading.result.data;
        for (int i = 0; i < COUNT; i++)
            assert_true(data[i] == (i < 1000 ? (float)i : (float)i / 2));
        // With a declared length, hardly more is asked for than is needed.
        if (known)
            assert_true(reading.reserved < reading.result.bytes * 3 / 2);
        reading_free(&reading);
    }
    free(text);
}

static enum status refuse_memory(void *context, int64_t bytes, void **data,
                                 struct problem *problem)
{
    return problem_set(problem, STATUS_OUT_OF_MEMORY, "no");
}

static void test_refused_memory(void **state)
{
    struct reader_memory memory = {NULL, refuse_memory};
    struct reader_options options = reading_options();
    struct reader *reader;
    struct problem problem;
    struct reader_result result;
    assert_int_equal(reader_open(FORMAT_JSON, &options, &memory, &reader, &problem),
                     STATUS_OK);
    assert_int_equal(reader_feed(reader, "[1, 2]", 6, &problem), STATUS_OUT_OF_MEMORY);
    assert_int_not_equal(reader_feed(reader, "[1, 2]", 6, &problem), STATUS_OK);
    assert_int_not_equal(reader_finish(reader, &result, &problem), STATUS_OK);
    reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_json),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_ragged),
        cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_long_tokens),
        cmocka_unit_test(test_limits_of_the_body),
        cmocka_unit_test(test_many_elements),
        cmocka_unit_test(test_refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
