// SPDX-License-Identifier: Apache-2.0
// The reader of request documents (api/json.h): structure, strings, what stays opaque,
// refusals and their places. Every text is also parsed from memory of exactly its size,
// so that a sanitizer sees a step too far.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/json.h"

static struct json json;
static struct problem problem;
static char *body;

static enum status parse_bytes(const char *text, size_t length, int depth)
{
    free(body);
    body = malloc(length + 1);
    memcpy(body, text, length);
    return json_parse(&json, body, length, depth, &problem);
}

static enum status parse(const char *text)
{
    return parse_bytes(text, strlen(text), 2);
}

static void test_structure(void **state)
{
    assert_int_equal(parse(" {\"args\": [\"a\", -1.5e3, [1, [2]], {\"data\": \"]\"}], "
                           "\"out\" :null , \"k\":{}} "),
                     STATUS_OK);
    const struct json_value *document = json.values;
    assert_int_equal(document->type, JSON_OBJECT);
    assert_int_equal(document->count, 3);
    const struct json_value *name = json_first(document), *args = json_next(&json, name);
    assert_true(json_is(name, "args"));
    assert_int_equal(args->type, JSON_ARRAY);
    assert_int_equal(args->count, 4);
    const struct json_value *item = json_first(args);
    assert_string_equal(item->text, "a");
    item = json_next(&json, item);
    assert_int_equal(item->type, JSON_NUMBER);
    assert_int_equal(item->length, 6);
    item = json_next(&json, item);
    assert_true(item->opaque && item->type == JSON_ARRAY && item->length == 8);
    assert_memory_equal(item->text, "[1, [2]]", 8);
    item = json_next(&json, item);
    assert_true(item->opaque && item->type == JSON_OBJECT);
    name = json_next(&json, args);
    assert_true(json_is(name, "out"));
    assert_int_equal(json_next(&json, name)->type, JSON_NULL);
    name = json_next(&json, json_next(&json, name));
    assert_true(json_is(name, "k"));
    assert_null(json_first(json_next(&json, name)));
    json_free(&json);
    for (int depth = 1; depth <= JSON_MAX_DEPTH; depth++) {
        assert_int_equal(parse_bytes("[[[[[[[[[[1]]]]]]]]]]", 21, depth), STATUS_OK);
        assert_int_equal(json.count, depth + 1);
        json_free(&json);
    }
}

static void test_strings(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"\"\"", ""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00\"",
         "A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\"\xC3\xA4\\n\xE2\x82\xAC\"", "\xC3\xA4\n\xE2\x82\xAC"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(parse(cases[i].text), STATUS_OK);
        assert_string_equal(json.values[0].text, cases[i].expected);
        assert_int_equal(json.values[0].length, strlen(cases[i].expected));
    }
}

static void test_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        " ",
        "{",
        "[",
        "]",
        "[1,]",
        "[1 2]",
        "[1]]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\" 1}",
        "{a: 1}",
        "{\"a\": 1,}",
        "{,}",
        "[,]",
        "[1}",
        "{\"a\": 1]",
        "01",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "+1",
        "--1",
        "nul",
        "tru",
        "True",
        "\"abc",
        "\"a\nb\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u00g0\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\u0000\"",
        "\"\xFF\"",
        "\"\xC0\xAF\"",
        "\"\xED\xA0\x80\"",
        "\"\xF5\x80\x80\x80\"",
        "\"\xE2\x82\"",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\": 1, \"\\u0061\": 2}",
        "[[[1, 2]",
        "[[[\"]]]",
        "-Infinit",
        "NaNN",
        "\xEF\xBB\xBF[]",
        "1 1",
        "[] []",
        "'a'",
        "\"\\",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(parse(wrong[i]), STATUS_MALFORMED);
        assert_true(problem.line >= 1 && problem.column >= 1);
        json_free(&json);
    }
    assert_int_equal(parse_bytes("[\0]", 3, 2), STATUS_MALFORMED);
    assert_int_equal(parse("{\n \"\xC3\xA4\": ?}"), STATUS_MALFORMED);
    assert_int_equal(problem.line, 2);
    assert_int_equal(problem.column, 7);
}

// Every prefix of a document is refused, and none is read beyond its end.
static void test_prefixes(void **state)
{
    static const char whole[] = "{\"args\": [\"a\\u00e4\", [1, {\"x\": \"\\\"]\"}], NaN, "
                                "-1.5e+7], \"if\": {\"y\": null}}";
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        assert_int_equal(parse_bytes(whole, length, 2), STATUS_MALFORMED);
        json_free(&json);
    }
    assert_int_equal(parse(whole), STATUS_OK);
    json_free(&json);
}

static void test_limits(void **state)
{
    size_t count = JSON_MAX_VALUES + 10, length = 2 * count + 1;
    char *text = malloc(length);
    for (size_t i = 0; i < count; i++)
        memcpy(text + 2 * i, i == 0 ? "[1" : ",1", 2);
    text[length - 1] = ']';
    assert_int_equal(parse_bytes(text, length, 2), STATUS_LIMIT);
    json_free(&json);
    // The same list, one level too deep to be opened, is one value.
    char *nested = malloc(length + 2);
    nested[0] = '[';
    memcpy(nested + 1, text, length);
    nested[length + 1] = ']';
    assert_int_equal(parse_bytes(nested, length + 2, 1), STATUS_OK);
    assert_int_equal(json.count, 2);
    json_free(&json);
    memset(text, '[', length);
    assert_int_equal(parse_bytes(text, length, 2), STATUS_MALFORMED);
    json_free(&json);
    free(text);
    free(nested);
}

static void test_scalars(void **state)
{
    struct scalar scalar;
    assert_int_equal(parse("[true, 7, -9223372036854775808, 0.5, NaN, -Infinity, "
                           "9223372036854775808, 1e400, \"x\"]"),
                     STATUS_OK);
    const struct json_value *value = json.values + 1;
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_OK);
    assert_true(scalar.kind == SCALAR_BOOL && scalar.i == 1);
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_OK);
    assert_true(scalar.kind == SCALAR_INT && scalar.i == 7);
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_OK);
    assert_true(scalar.kind == SCALAR_INT && scalar.i == INT64_MIN);
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_OK);
    assert_true(scalar.kind == SCALAR_FLOAT && scalar.f == 0.5);
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_OK);
    assert_true(scalar.kind == SCALAR_FLOAT && isnan(scalar.f));
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_OK);
    assert_true(scalar.kind == SCALAR_FLOAT && scalar.f == -INFINITY);
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_VALUE);
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_VALUE);
    assert_int_equal(json_scalar(value++, &scalar, &problem), STATUS_TYPE);
    json_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_scalars),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(body);
    return failed;
}
