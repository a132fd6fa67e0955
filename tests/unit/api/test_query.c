// SPDX-License-Identifier: Apache-2.0
// The query parser: decoding, strictness, lengths.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "api/query.h"

enum { ALLOWED = 1u << QUERY_INDEX | 1u << QUERY_DTYPE | 1u << QUERY_PREFIX };
static struct query query;
static struct problem problem;

static enum status parse(const char *raw)
{
    return query_parse(&query, raw, ALLOWED, &problem);
}

static void test_values(void **state)
{
    assert_int_equal(parse(""), STATUS_OK);
    assert_null(query.values[QUERY_INDEX]);
    assert_int_equal(parse("index=0:2,:,-1&dtype=int8"), STATUS_OK);
    assert_string_equal(query.values[QUERY_INDEX], "0:2,:,-1");
    assert_string_equal(query.values[QUERY_DTYPE], "int8");
    assert_null(query.values[QUERY_PREFIX]);
    assert_int_equal(parse("index=%30%3a2&prefix="), STATUS_OK);
    assert_string_equal(query.values[QUERY_INDEX], "0:2");
    assert_string_equal(query.values[QUERY_PREFIX], "");
    assert_int_equal(parse("prefix&index=a+b=c"), STATUS_OK);
    assert_string_equal(query.values[QUERY_PREFIX], "");
    assert_string_equal(query.values[QUERY_INDEX], "a b=c");
    assert_int_equal(parse("%69ndex=1"), STATUS_OK);
    assert_string_equal(query.values[QUERY_INDEX], "1");
}

static void test_refused(void **state)
{
    static const char *const wrong[] = {
        "indx=1",           "index=1&index=1", "index=%", "index=%0", "index=%gg",
        "index=%00",        "shape=2",         "=1",      "Index=1",  "%=1",
        "index=1&%69ndex=2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(parse(wrong[i]), STATUS_MALFORMED);
    assert_int_equal(parse("indx=1"), STATUS_MALFORMED);
    assert_non_null(strstr(problem.detail, "indx"));
    assert_non_null(strstr(problem.detail, "prefix"));
}

static void test_lengths(void **state)
{
    for (size_t length = QUERY_SMALL - 20; length < QUERY_SMALL + 20; length++) {
        char *raw = malloc(length + 1);
        memcpy(raw, "prefix=", 7);
        memset(raw + 7, 'x', length - 7);
        raw[length] = '\0';
        assert_int_equal(parse(raw), STATUS_OK);
        assert_int_equal(strlen(query.values[QUERY_PREFIX]), length - 7);
        query_free(&query);
        free(raw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
