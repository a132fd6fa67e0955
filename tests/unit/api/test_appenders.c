// SPDX-License-Identifier: Apache-2.0
// The appenders of answers (api/text.h), against values by hand; times are those of `date
// -u -d @N`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "api/text.h"

static struct text text;
static char buffer[8];

static void start(void)
{
    text_begin(&text, buffer, sizeof buffer); // small, so that growing is tested as well
}

static void expect(const char *expected)
{
    assert_false(text.failed);
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
    text_end(&text);
}

static void test_numbers(void **state)
{
    start();
    text_integer(&text, 0);
    text_integer(&text, -7);
    text_integer(&text, INT64_MAX);
    text_integer(&text, INT64_MIN);
    expect("0-79223372036854775807-9223372036854775808");
    start();
    text_hex(&text, 0);
    text_hex(&text, UINT64_MAX);
    expect("0ffffffffffffffff");
    start();
    text_seconds(&text, 1.0625);
    text_literal(&text, " ");
    text_seconds(&text, -3);
    expect("1.063 0.000");
}

static void test_times(void **state)
{
    static const struct {
        double seconds;
        const char *expected;
    } cases[] = {
        {0, "\"1970-01-01T00:00:00.000Z\""},
        {951782399.25, "\"2000-02-28T23:59:59.250Z\""},
        {951782400, "\"2000-02-29T00:00:00.000Z\""},
        {1709164800, "\"2024-02-29T00:00:00.000Z\""},
        {1735689599.5, "\"2024-12-31T23:59:59.500Z\""},
        {4107542400, "\"2100-03-01T00:00:00.000Z\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start();
        text_time(&text, cases[i].seconds);
        expect(cases[i].expected);
    }
}

static void test_quoted(void **state)
{
#define BAD "\xEF\xBF\xBD"
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a\"b\\c\nd\x01\x7F", "\"a\\\"b\\\\c\\nd\\u0001\\u007f\""},
        {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80",
         "\"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {"\xFF\xC3", "\"" BAD BAD "\""},
        {"\xC0\x80\xED\xA0\x80", "\"" BAD BAD BAD BAD BAD "\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start();
        text_quoted(&text, cases[i].in, strlen(cases[i].in));
        expect(cases[i].out);
    }
}

static void test_others(void **state)
{
    int64_t shape[] = {2, 0, 3};
    start();
    text_integers(&text, 3, shape);
    text_integers(&text, 0, shape);
    expect("[2, 0, 3][]");
    start();
    text_url(&text, "a b/\xC3\xA4~");
    expect("a%20b%2F%C3%A4~");
    start();
    text_html(&text, "<a href=\"&\">");
    expect("&lt;a href=&quot;&amp;&quot;&gt;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_quoted),
        cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
