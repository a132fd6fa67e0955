// SPDX-License-Identifier: Apache-2.0
// Index expressions against Python's and NumPy's answers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layout_oracle.h"

struct index_case {
    const char *text;
    struct layout in;
    int64_t offset;
    enum status status;
    int ndim;
    int64_t shape[8];
    uint64_t checksum;
};

static const struct index_case index_cases[] = {
#define INDEX_CASE(...) {__VA_ARGS__},
#include "layout_cases.inc"
#undef INDEX_CASE
};

// The text in memory of exactly its length, so that the address sanitizer sees a step too
// far.
static enum status apply(const char *text, const struct layout *in, struct layout *out,
                         int64_t *offset, struct problem *problem)
{
    size_t length = strlen(text);
    char *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, text, length);
    enum status status = index_apply(exact, length, in, out, offset, problem);
    free(exact);
    if (status != STATUS_OK)
        assert_int_equal(problem->status, status);
    return status;
}

static void test_numpy_agrees(void **state)
{
    for (size_t i = 0; i < sizeof index_cases / sizeof *index_cases; i++) {
        const struct index_case *c = &index_cases[i];
        struct layout out;
        struct problem problem;
        int64_t offset = 0;
        enum status status = apply(c->text, &c->in, &out, &offset, &problem);
        if (status != c->status)
            fail_msg("case %zu \"%s\": status %d, not %d", i, c->text, status, c->status);
        if (status != STATUS_OK)
            continue;
        assert_int_equal(out.ndim, c->ndim);
        for (int d = 0; d < out.ndim; d++)
            if (out.shape[d] != c->shape[d])
                fail_msg("case %zu \"%s\": dimension %d", i, c->text, d);
        if (addresses_checksum(&out, c->offset + offset) != c->checksum)
            fail_msg("case %zu \"%s\": other elements", i, c->text);
    }
}

// Truth by hand, with torch's strides: a (4, 5) tensor in C order.
static void test_strides_and_offsets_by_hand(void **state)
{
    static const struct {
        const char *text;
        int64_t offset;
        struct layout out;
    } cases[] = {
        {"1", 5, {1, {5}, {1}}},
        {"-1,-1", 19, {0}},
        {"+2 , - 1", 14, {0}},
        {":", 0, {2, {4, 5}, {5, 1}}},
        {"1:3,::2", 5, {2, {2, 3}, {5, 2}}},
        {" 1 : 3 , : : 2 ", 5, {2, {2, 3}, {5, 2}}},
        {"...,0", 0, {1, {4}, {5}}},
        {"0,...,1", 1, {0}},
        {"None", 0, {3, {1, 4, 5}, {20, 5, 1}}},
        {"None,None", 0, {4, {1, 1, 4, 5}, {20, 20, 5, 1}}},
        {":,None,1", 1, {2, {4, 1}, {5, 5}}},
        {"...,None", 0, {3, {4, 5, 1}, {5, 1, 1}}},
        {"0:2,:,", 0, {2, {2, 5}, {5, 1}}},
        {"3:1", 0, {2, {0, 5}, {5, 1}}},
        {"4:", 0, {2, {0, 5}, {5, 1}}},
        {"-100:100", 0, {2, {4, 5}, {5, 1}}},
        {"::99999999999999999999", 0, {2, {1, 5}, {5, 1}}},
        {"::7", 0, {2, {1, 5}, {35, 1}}},
        {"00,0", 0, {0}},
        {"99999999999999999999:", 0, {2, {0, 5}, {5, 1}}},
        {":-99999999999999999999", 0, {2, {0, 5}, {5, 1}}},
        {"-99999999999999999999:99999999999999999999", 0, {2, {4, 5}, {5, 1}}},
    };
    const struct layout in = {2, {4, 5}, {5, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout out;
        struct problem problem;
        int64_t offset;
        if (apply(cases[i].text, &in, &out, &offset, &problem) != STATUS_OK)
            fail_msg("\"%s\": %s", cases[i].text, problem.detail);
        assert_int_equal(offset, cases[i].offset);
        assert_int_equal(out.ndim, cases[i].out.ndim);
        for (int d = 0; d < out.ndim; d++) {
            assert_int_equal(out.shape[d], cases[i].out.shape[d]);
            assert_int_equal(out.strides[d], cases[i].out.strides[d]);
        }
    }
}

static void test_malformed_texts_name_the_column(void **state)
{
    static const struct {
        const char *text;
        int64_t column;
    } cases[] = {
        {"", 1},      {"   ", 4},        {",", 1},
        {"0,,1", 3},  {"0 1", 3},        {"1:2:3:4", 6},
        {"x", 1},     {"True", 1},       {"none", 1},
        {"..", 1},    {"....", 4},       {"...,...", 5},
        {"1.5", 2},   {"--1", 2},        {"-", 2},
        {"1,-", 4},   {"+:", 2},         {"007", 4},
        {"0x10", 2},  {"1e3", 2},        {"Nonesense", 5},
        {"1_000", 2}, {"[0]", 1},        {"0;1", 2},
        {"0\n", 2},   {"1,\xc3\xa9", 3}, {"0,\"\xe2\x82\xac\"", 3},
        {"5,foo", 3},
    };
    const struct layout in = {1, {3}, {1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct layout out;
        struct problem problem;
        int64_t offset;
        assert_int_equal(apply(cases[i].text, &in, &out, &offset, &problem),
                         STATUS_MALFORMED);
        if (problem.column != cases[i].column)
            fail_msg("\"%s\": column %ld", cases[i].text, (long)problem.column);
    }
    // A character of several bytes counts once.
    struct layout out;
    struct problem problem;
    int64_t offset;
    assert_int_equal(index_apply("0,\0", 3, &in, &out, &offset, &problem),
                     STATUS_MALFORMED);
    assert_int_equal(problem.column, 3);
}

static void expect(const char *text, const struct layout *in, enum status status,
                   const char *part)
{
    struct layout out;
    struct problem problem;
    int64_t offset;
    assert_int_equal(apply(text, in, &out, &offset, &problem), status);
    if (!strstr(problem.detail, part))
        fail_msg("\"%s\" says: %s", text, problem.detail);
}

static void test_errors_say_what_is_wrong(void **state)
{
    const struct layout in = {2, {4, 5}, {5, 1}}, scalar = {0};
    expect("4", &in, STATUS_INDEX,
           "index 4 is out of bounds for dimension 0 with size 4");
    expect(":,-6", &in, STATUS_INDEX,
           "index -6 is out of bounds for dimension 1 with size 5");
    expect("...,5", &in, STATUS_INDEX,
           "index 5 is out of bounds for dimension 1 with size 5");
    expect("99999999999999999999999999999999", &in, STATUS_INDEX,
           "dimension 0 with size 4");
    expect("-99999999999999999999999999999999", &in, STATUS_INDEX,
           "dimension 0 with size 4");
    expect("0,0,0", &in, STATUS_INDEX, "3 indices for a tensor of 2 dimensions");
    expect("0,...,0,0", &in, STATUS_INDEX, "3 indices for a tensor of 2 dimensions");
    expect("0", &scalar, STATUS_INDEX, "1 indices for a tensor of 0 dimensions");
    expect(":", &scalar, STATUS_INDEX, "1 indices for a tensor of 0 dimensions");
    expect("::0", &in, STATUS_VALUE, "the step of dimension 0 is 0");
    expect(":,3:1:-2", &in, STATUS_VALUE, "the step of dimension 1 is -2");
    expect("::-99999999999999999999", &in, STATUS_VALUE, "must be greater than zero");
}

static void test_dimensions_are_bounded(void **state)
{
    char text[6 * 64];
    struct layout in = {.ndim = 30}, out;
    struct problem problem;
    int64_t offset;
    for (int d = 0; d < 30; d++)
        in.shape[d] = in.strides[d] = 1;
    assert_int_equal(apply("None,None", &in, &out, &offset, &problem), STATUS_OK);
    assert_int_equal(out.ndim, 32);
    assert_int_equal(apply("None,None,None", &in, &out, &offset, &problem), STATUS_LIMIT);
    assert_int_equal(apply("None,None,None,0", &in, &out, &offset, &problem), STATUS_OK);
    assert_int_equal(out.ndim, 32);
    for (int i = 0; i < 64; i++)
        memcpy(text + 5 * i, "None,", 6);
    assert_int_equal(apply(text, &in, &out, &offset, &problem), STATUS_LIMIT);
}

// A million items are read without recursion or memory, and refused by count.
static void test_long_texts(void **state)
{
    enum { ITEMS = 1000000 };
    char *text = malloc(2 * ITEMS);
    struct layout in = {1, {3}, {1}}, out;
    struct problem problem;
    int64_t offset;
    for (int i = 0; i < ITEMS; i++)
        memcpy(text + 2 * i, "0,", 2);
    assert_int_equal(index_apply(text, 2 * ITEMS, &in, &out, &offset, &problem),
                     STATUS_INDEX);
    memset(text, '9', 2 * ITEMS);
    assert_int_equal(index_apply(text, 2 * ITEMS, &in, &out, &offset, &problem),
                     STATUS_INDEX);
    free(text);
}

// A stride that no element uses stays small enough for byte arithmetic.
static void test_unused_strides_do_not_overflow(void **state)
{
    struct layout in = {1, {5}, {1}}, out;
    struct problem problem;
    int64_t offset;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(apply("::4611686018427387904", &in, &out, &offset, &problem),
                         STATUS_OK);
        assert_int_equal(out.shape[0], 1);
        assert_true(out.strides[0] >= 0 && out.strides[0] <= INT64_MAX / 16);
        in = out;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numpy_agrees),
        cmocka_unit_test(test_strides_and_offsets_by_hand),
        cmocka_unit_test(test_malformed_texts_name_the_column),
        cmocka_unit_test(test_errors_say_what_is_wrong),
        cmocka_unit_test(test_dimensions_are_bounded),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_unused_strides_do_not_overflow),
    };
    return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
