// SPDX-License-Identifier: Apache-2.0
// Entity tags: what they distinguish, and the three comparisons.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "api/etag.h"

static const struct version version = {.boot = 0xABC, .serial = 18, .writes = 2};

static void test_written(void **state)
{
    char tag[ETAG_SIZE], other[ETAG_SIZE];
    size_t length = etag_write(tag, &version, NULL, NULL, NULL);
    assert_int_equal(length, strlen(tag));
    assert_string_equal(tag, "\"abc.12.2\"");
    etag_write(tag, &version, "npy", NULL, NULL);
    assert_string_equal(tag, "\"abc.12.2.npy\"");
    etag_write(other, &version, "npy", "", NULL);
    assert_string_equal(other, tag);
    etag_write(tag, &version, "npy", "0", NULL);
    etag_write(other, &version, "npy", NULL, "0");
    assert_string_not_equal(tag, other);
    etag_write(other, &version, "npy", "1", NULL);
    assert_string_not_equal(tag, other);
    struct version largest = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    assert_true(etag_write(tag, &largest, "text", "0:2,:", "bfloat16") < ETAG_SIZE);
}

static void test_versions(void **state)
{
    static const char *const same[] = {"\"abc.12.2\"",
                                       "\"abc.12.2.npy\"",
                                       "\"abc.12.2.json.77\"",
                                       "abc.12.2",
                                       "*",
                                       " * ",
                                       "\"x\", \"abc.12.2.raw\"",
                                       "\"x\",abc.12.2.csv"};
    static const char *const others[] = {
        "\"abc.12.3\"", "\"abc.12.22\"", "\"abc.12\"", "\"ab.12.2\"",   "", "\"\"",
        "\"",           ",,,",           "\"abc.12.2", "W/\"abc.12.2\""};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_true(etag_names_version(same[i], &version, true));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(etag_names_version(others[i], &version, true));
    assert_true(etag_names_version("W/\"abc.12.2\"", &version, false));
}

static void test_lists(void **state)
{
    assert_true(etag_in_list("\"a\", W/\"b\"", "\"b\""));
    assert_true(etag_in_list("*", "\"b\""));
    assert_false(etag_in_list("\"ab\", \"bb\"", "\"b\""));
    assert_false(etag_in_list("", "\"b\""));
    assert_true(etag_equals("\"b\"", "\"b\""));
    assert_true(etag_equals("\"b\" ", "\"b\""));
    assert_false(etag_equals("W/\"b\"", "\"b\""));
    assert_false(etag_equals("\"b\", \"c\"", "\"b\""));
    assert_false(etag_equals("Tue, 01 Dec 2026 13:38:08 GMT", "\"b\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
