// SPDX-License-Identifier: Apache-2.0
// Shapes and layouts against torch's rules: tables by hand, and tables computed with
// NumPy.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layout_oracle.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_shape_check(void **state)
{
    static const struct {
        int ndim;
        int64_t shape[4];
        int element_size;
        enum status status;
        int64_t count;
    } cases[] = {
        {0, {0}, 8, STATUS_OK, 1},
        {2, {2, 3}, 4, STATUS_OK, 6},
        {3, {2, 0, 3}, 4, STATUS_OK, 0},
        {1, {INT64_MAX}, 1, STATUS_OK, INT64_MAX},
        {1, {INT64_MAX}, 2, STATUS_SHAPE, 0},
        {1, {INT64_MAX / 8}, 8, STATUS_OK, INT64_MAX / 8},
        {1, {INT64_MAX / 8 + 1}, 8, STATUS_SHAPE, 0},
        {2, {4294967296, 4294967296}, 1, STATUS_SHAPE, 0}, // 2^64 wraps to 0
        {2, {4294967296, 2147483648}, 1, STATUS_SHAPE, 0}, // 2^63
        {3, {INT64_MAX, INT64_MAX, 0}, 1, STATUS_SHAPE, 0},
        {3, {0, INT64_MAX, INT64_MAX}, 1, STATUS_SHAPE, 0},
        {2, {0, INT64_MAX}, 8, STATUS_SHAPE, 0},
        {2, {0, -1}, 1, STATUS_SHAPE, 0},
        {2, {-1, 3}, 1, STATUS_SHAPE, 0},
        {1, {INT64_MIN}, 1, STATUS_SHAPE, 0},
        {33, {0}, 1, STATUS_LIMIT, 0},
        {-1, {0}, 1, STATUS_LIMIT, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct problem problem;
        int64_t count = -1;
        assert_int_equal(shape_check(cases[i].ndim, cases[i].shape, cases[i].element_size,
                                     &count, &problem),
                         cases[i].status);
        if (cases[i].status == STATUS_OK)
            assert_int_equal(count, cases[i].count);
        else
            assert_int_equal(problem.status, cases[i].status);
    }
    struct problem problem;
    const int64_t negative[] = {2, -7};
    assert_int_equal(shape_check(2, negative, 1, NULL, &problem), STATUS_SHAPE);
    assert_non_null(strstr(problem.detail, "dimension 1 has the negative size -7"));
    assert_int_equal(shape_check(1, (int64_t[]){3}, 1, NULL, &problem), STATUS_OK);
}

static void test_shape_text(void **state)
{
    char text[64];
    shape_text(0, NULL, text, sizeof text);
    assert_string_equal(text, "()");
    shape_text(1, (int64_t[]){4}, text, sizeof text);
    assert_string_equal(text, "(4,)");
    shape_text(2, (int64_t[]){2, 3}, text, sizeof text);
    assert_string_equal(text, "(2, 3)");
    shape_text(3, (int64_t[]){2, 3, 4}, text, 8);
    assert_string_equal(text, "(2, ...");
    shape_text(2, (int64_t[]){2, 3}, text, 7);
    assert_string_equal(text, "(2, 3)");
    shape_text(2, (int64_t[]){2, 3}, text, 1);
    assert_string_equal(text, "");
    shape_text(2, (int64_t[]){2, 3}, text, 3);
    assert_string_equal(text, "(2");
    int64_t long_shape[32];
    char large[1024];
    for (int i = 0; i < 32; i++)
        long_shape[i] = INT64_MIN;
    shape_text(32, long_shape, large, sizeof large);
    assert_int_equal(strlen(large), 32 * 20 + 31 * 2 + 2);
}

static void test_contiguous(void **state)
{
    struct layout layout = {3, {2, 3, 4}, {0}};
    layout_contiguous(&layout);
    assert_int_equal(layout.strides[0], 12);
    assert_int_equal(layout.strides[1], 4);
    assert_int_equal(layout.strides[2], 1);
    struct layout empty = {4, {2, 0, 3, 1}, {0}};
    layout_contiguous(&empty); // torch.empty(2, 0, 3, 1).stride() == (3, 3, 1, 1)
    assert_int_equal(empty.strides[0], 3);
    assert_int_equal(empty.strides[1], 3);
    assert_int_equal(empty.strides[2], 1);
    assert_int_equal(empty.strides[3], 1);
    static const struct {
        struct layout layout;
        bool contiguous;
    } cases[] = {
        {{0}, true},
        {{2, {2, 3}, {3, 1}}, true},
        {{2, {2, 3}, {1, 2}}, false},
        {{2, {3, 1}, {1, 77}}, true}, // the stride of a size 1 is never used
        {{3, {1, 2, 3}, {99, 3, 1}}, true},
        {{2, {2, 0}, {5, 7}}, true}, // no elements
        {{1, {3}, {2}}, false},
        {{1, {3}, {0}}, false},
        {{2, {2, 3}, {4, 1}}, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(layout_is_contiguous(&cases[i].layout), cases[i].contiguous);
}

static void test_broadcast_as_numpy(void **state)
{
    static const struct {
        struct layout in[3];
        enum status status;
        int ndim;
        int64_t shape[8];
    } cases[] = {
#define BROADCAST_CASE(...) {__VA_ARGS__},
#include "layout_cases.inc"
#undef BROADCAST_CASE
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct layout *in[3] = {&cases[i].in[0], &cases[i].in[1], &cases[i].in[2]};
        struct layout out;
        struct problem problem;
        if (shape_broadcast(3, in, &out, &problem) != cases[i].status)
            fail_msg("case %zu", i);
        if (cases[i].status != STATUS_OK)
            continue;
        assert_int_equal(out.ndim, cases[i].ndim);
        for (int d = 0; d < out.ndim; d++)
            assert_int_equal(out.shape[d], cases[i].shape[d]);
    }
}

static void test_broadcast_names_the_shapes(void **state)
{
    const struct layout a = {2, {2, 3}, {0}}, b = {1, {4}, {0}};
    const struct layout *in[] = {&a, &b, &b};
    struct layout out;
    struct problem problem;
    assert_int_equal(shape_broadcast(2, in, &out, &problem), STATUS_SHAPE);
    assert_string_equal(problem.shapes, "(2, 3) (4,)");
    assert_non_null(strstr(problem.detail, "sizes 3 and 4 of dimension 1"));
    assert_int_equal(shape_broadcast(0, in, &out, &problem), STATUS_OK);
    assert_int_equal(out.ndim, 0);
    struct layout large = {.ndim = 32};
    for (int d = 0; d < 32; d++)
        large.shape[d] = 1000000007;
    large.shape[31] = 5;
    const struct layout *many[] = {&large, &b, &large};
    assert_int_equal(shape_broadcast(3, many, &out, &problem), STATUS_SHAPE);
    assert_true(strlen(problem.shapes) < PROBLEM_TEXT_MAX);
}

static void test_expand_as_numpy(void **state)
{
    static const struct {
        struct layout in;
        int64_t offset;
        int ndim;
        int64_t shape[8];
        enum status status;
        uint64_t checksum;
    } cases[] = {
#define EXPAND_CASE(...) {__VA_ARGS__},
#include "layout_cases.inc"
#undef EXPAND_CASE
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct layout out;
        struct problem problem;
        if (layout_expand(&cases[i].in, cases[i].ndim, cases[i].shape, &out, &problem) !=
            cases[i].status)
            fail_msg("case %zu", i);
        if (cases[i].status != STATUS_OK)
            continue;
        assert_int_equal(out.ndim, cases[i].ndim);
        for (int d = 0; d < out.ndim; d++)
            assert_int_equal(out.shape[d], cases[i].shape[d]);
        if (addresses_checksum(&out, cases[i].offset) != cases[i].checksum)
            fail_msg("case %zu: other elements", i);
    }
}

static void check_expand(struct layout in, struct layout wanted, enum status status,
                         const char *part)
{
    struct layout out;
    struct problem problem;
    assert_int_equal(layout_expand(&in, wanted.ndim, wanted.shape, &out, &problem),
                     status);
    if (status != STATUS_OK) {
        if (!strstr(problem.detail, part))
            fail_msg("it says: %s", problem.detail);
        return;
    }
    for (int d = 0; d < out.ndim; d++)
        assert_int_equal(out.strides[d], wanted.strides[d]);
}

static void test_expand_as_torch(void **state)
{
    // torch.ones(3, 1).expand(2, 3, 4).stride() == (0, 1, 0)
    check_expand((struct layout){2, {3, 1}, {1, 1}},
                 (struct layout){3, {2, 3, 4}, {0, 1, 0}}, STATUS_OK, NULL);
    // torch.ones(3, 1).expand(1, -1, -1).stride() == (3, 1, 1)
    check_expand((struct layout){2, {3, 1}, {1, 1}},
                 (struct layout){3, {1, -1, -1}, {3, 1, 1}}, STATUS_OK, NULL);
    check_expand((struct layout){1, {3}, {1}}, (struct layout){2, {2, 4}, {0}},
                 STATUS_SHAPE, "size 4 must match the existing size 3 at dimension 1");
    check_expand((struct layout){1, {3}, {1}}, (struct layout){2, {-1, 3}, {0}},
                 STATUS_SHAPE, "there is none to keep");
    check_expand((struct layout){1, {1}, {1}}, (struct layout){1, {-2}, {0}},
                 STATUS_SHAPE, "dimension 0 has the size -2");
    check_expand((struct layout){2, {2, 3}, {3, 1}}, (struct layout){1, {3}, {0}},
                 STATUS_SHAPE, "1 sizes are given for 2 dimensions");
    check_expand((struct layout){0}, (struct layout){2, {1LL << 40, 1LL << 40}, {0}},
                 STATUS_SHAPE, "overflows");
    check_expand((struct layout){0}, (struct layout){33, {1}, {0}}, STATUS_LIMIT,
                 "at most 32");
    check_expand((struct layout){1, {1}, {1}}, (struct layout){1, {0}, {0}}, STATUS_OK,
                 NULL);
}

static void test_infer(void **state)
{
    static const struct {
        int64_t count;
        int ndim;
        int64_t shape[4];
        enum status status;
        int64_t result[4];
    } cases[] = {
        {6, 2, {2, -1}, STATUS_OK, {2, 3}},
        {6, 1, {-1}, STATUS_OK, {6}},
        {6, 3, {-1, 1, 6}, STATUS_OK, {1, 1, 6}},
        {1, 0, {0}, STATUS_OK, {0}},
        {1, 1, {-1}, STATUS_OK, {1}},
        {0, 2, {3, -1}, STATUS_OK, {3, 0}},
        {0, 2, {5, 0}, STATUS_OK, {5, 0}},
        {0, 1, {-1}, STATUS_OK, {0}},
        {0, 2, {0, -1}, STATUS_SHAPE, {0}}, // ambiguous
        {6, 2, {0, -1}, STATUS_SHAPE, {0}},
        {6, 2, {4, -1}, STATUS_SHAPE, {0}},
        {6, 2, {-1, -1}, STATUS_SHAPE, {0}},
        {6, 2, {-2, -3}, STATUS_SHAPE, {0}},
        {6, 2, {2, 4}, STATUS_SHAPE, {0}},
        {6, 0, {0}, STATUS_SHAPE, {0}},
        {7, 2, {2, 7}, STATUS_SHAPE, {0}},
        {0, 3, {4294967296, 4294967296, -1}, STATUS_SHAPE, {0}},
        {0, 2, {4294967296, 4294967296}, STATUS_SHAPE, {0}},
        {6, 33, {0}, STATUS_LIMIT, {0}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t shape[4];
        struct problem problem;
        memcpy(shape, cases[i].shape, sizeof shape);
        if (shape_infer(cases[i].count, cases[i].ndim, shape, &problem) !=
            cases[i].status)
            fail_msg("case %zu", i);
        for (int d = 0; cases[i].status == STATUS_OK && d < cases[i].ndim; d++)
            assert_int_equal(shape[d], cases[i].result[d]);
    }
}

static void test_view_as_numpy(void **state)
{
    static const struct {
        struct layout in;
        int64_t offset;
        int ndim;
        int64_t shape[8];
        int fits;
        uint64_t checksum;
    } cases[] = {
#define VIEW_CASE(...) {__VA_ARGS__},
#include "layout_cases.inc"
#undef VIEW_CASE
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct layout out;
        if (layout_view(&cases[i].in, cases[i].ndim, cases[i].shape, &out) !=
            cases[i].fits)
            fail_msg("case %zu: view is %d", i, !cases[i].fits);
        if (!cases[i].fits)
            continue;
        assert_int_equal(out.ndim, cases[i].ndim);
        for (int d = 0; d < out.ndim; d++)
            assert_int_equal(out.shape[d], cases[i].shape[d]);
        if (addresses_checksum(&out, cases[i].offset) != cases[i].checksum)
            fail_msg("case %zu: other elements", i);
    }
}

// Strides torch gives, worked out by hand from its rule.
static void test_view_as_torch(void **state)
{
    static const struct {
        struct layout in, out;
        bool fits;
    } cases[] = {
        {{2, {2, 3}, {3, 1}}, {1, {6}, {1}}, true},
        {{2, {3, 2}, {1, 3}}, {1, {6}, {0}}, false}, // transposed
        {{2, {3, 2}, {1, 3}}, {3, {3, 1, 2}, {1, 6, 3}}, true},
        {{1, {6}, {2}}, {2, {2, 3}, {6, 2}}, true}, // every second element
        {{3, {2, 3, 4}, {24, 4, 1}}, {2, {2, 12}, {24, 1}}, true},
        {{3, {2, 3, 4}, {24, 4, 1}}, {2, {6, 4}, {0}}, false},
        {{3, {2, 3, 4}, {24, 4, 1}}, {4, {2, 2, 6, 1}, {24, 6, 1, 1}}, true},
        {{2, {4, 3}, {0, 1}}, {1, {12}, {0}}, false}, // expanded
        {{2, {4, 3}, {0, 0}}, {1, {12}, {0}}, true},  // one element everywhere
        {{0}, {2, {1, 1}, {1, 1}}, true},
        {{0}, {0}, true},
        {{2, {1, 1}, {5, 7}}, {0}, true},
        {{3, {2, 1, 3}, {3, 99, 1}},
         {1, {6}, {1}},
         true}, // the stride of a size 1 is ignored
        {{2, {2, 0}, {7, 9}},
         {2, {2, 0}, {7, 9}},
         true}, // the same empty shape keeps its strides
        {{2, {2, 0}, {7, 9}}, {3, {3, 0, 5}, {5, 5, 1}}, true},
        {{1, {6}, {1}}, {1, {5}, {0}}, false},
        {{1, {6}, {1}}, {2, {2, 4}, {0}}, false},
        {{1, {6}, {1}}, {0}, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct layout out;
        if (layout_view(&cases[i].in, cases[i].out.ndim, cases[i].out.shape, &out) !=
            cases[i].fits)
            fail_msg("case %zu", i);
        for (int d = 0; cases[i].fits && d < out.ndim; d++)
            if (out.strides[d] != cases[i].out.strides[d])
                fail_msg("case %zu: stride %d is %ld", i, d, (long)out.strides[d]);
    }
    // In and out may be the same layout.
    struct layout same = {2, {2, 3}, {3, 1}};
    const int64_t flat[] = {6};
    assert_true(layout_view(&same, 1, flat, &same));
    assert_int_equal(same.ndim, 1);
    assert_int_equal(same.shape[0], 6);
}

static void test_dim_normalize(void **state)
{
    static const struct {
        int64_t dim;
        int ndim, result; // -1: refused
    } cases[] = {
        {0, 2, 0},          {1, 2, 1},           {-1, 2, 1},   {-2, 2, 0},
        {2, 2, -1},         {-3, 2, -1},         {0, 0, 0},    {-1, 0, 0},
        {1, 0, -1},         {-2, 0, -1},         {31, 32, 31}, {INT64_MAX, 3, -1},
        {INT64_MIN, 3, -1}, {4294967296, 3, -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct problem problem;
        int out = -1;
        enum status status = dim_normalize(cases[i].dim, cases[i].ndim, &out, &problem);
        assert_int_equal(status, cases[i].result < 0 ? STATUS_INDEX : STATUS_OK);
        assert_int_equal(out, cases[i].result);
    }
    struct problem problem;
    int out;
    assert_int_equal(dim_normalize(5, 2, &out, &problem), STATUS_INDEX);
    assert_non_null(strstr(problem.detail, "expected -2 to 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_check),
        cmocka_unit_test(test_shape_text),
        cmocka_unit_test(test_contiguous),
        cmocka_unit_test(test_broadcast_as_numpy),
        cmocka_unit_test(test_broadcast_names_the_shapes),
        cmocka_unit_test(test_expand_as_numpy),
        cmocka_unit_test(test_expand_as_torch),
        cmocka_unit_test(test_infer),
        cmocka_unit_test(test_view_as_numpy),
        cmocka_unit_test(test_view_as_torch),
        cmocka_unit_test(test_dim_normalize),
    };
    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
