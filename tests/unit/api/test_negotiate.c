// SPDX-License-Identifier: Apache-2.0
// Content negotiation: names beat Accept, qualities, specificity, refusals.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "api/negotiate.h"

static struct problem problem;

static int choose(const char *name, const char *accept, unsigned allowed)
{
    enum format format;
    enum status status = negotiate_format(name, accept, allowed, &format, &problem);
    if (status == STATUS_OK)
        return (int)format;
    assert_int_equal(status, STATUS_NOT_ACCEPTABLE);
    return -1;
}

static void test_names(void **state)
{
    unsigned all = negotiate_writable();
    assert_int_equal(choose(NULL, NULL, all), FORMAT_JSON);
    assert_int_equal(choose("npy", "application/json", all), FORMAT_NPY);
    assert_int_equal(choose("text", "image/gif", all), FORMAT_TEXT);
    assert_int_equal(choose("xml", NULL, all), -1);
    assert_int_equal(choose("npy", NULL, 1u << FORMAT_JSON), -1);
    assert_non_null(strstr(problem.detail, "json"));
}

static void test_accept(void **state)
{
    unsigned all = negotiate_writable();
    static const struct {
        const char *accept;
        int format;
    } cases[] = {
        {"*/*", FORMAT_JSON},
        {"", FORMAT_JSON},
        {"application/x-npy", FORMAT_NPY},
        {"APPLICATION/X-NPY", FORMAT_NPY},
        {"application/octet-stream", FORMAT_RAW},
        {"text/csv", FORMAT_CSV},
        {"text/plain", FORMAT_TEXT},
        {"text/*", FORMAT_CSV},
        {"text/*, text/plain;q=0.5", FORMAT_CSV},
        {"text/csv;q=0.1, text/plain;q=0.2", FORMAT_TEXT},
        {"application/json;q=0.5, application/x-npy", FORMAT_NPY},
        {"application/json; q=0, */*", FORMAT_NPY},
        {"*/*;q=0.1, text/csv;q=0.099", FORMAT_JSON},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", FORMAT_JSON},
        {"image/gif", -1},
        {"application/json;q=0", -1},
        {"application/json;q=0.0", -1},
        {"application/js", -1},
        {"application/jsonx", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(choose(NULL, cases[i].accept, all), cases[i].format);
}

static void test_pages(void **state)
{
    assert_true(negotiate_html("text/html,application/xml;q=0.9,*/*;q=0.8"));
    assert_false(negotiate_html("*/*"));
    assert_false(negotiate_html(NULL));
    assert_false(negotiate_html("application/json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
