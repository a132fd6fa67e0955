// SPDX-License-Identifier: Apache-2.0
// The router against paths by hand: rows, variables, suffixes, escapes, methods.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "api/router.h"

static struct route_match match;
static struct problem problem;

static enum status find(const char *method, const char *path)
{
    memset(&match, 0xA5, sizeof match);
    return route_find(method, path, &match, &problem);
}

static void expect(const char *method, const char *path, const char *pattern,
                   const char *target, const char *suffix)
{
    assert_int_equal(find(method, path), STATUS_OK);
    assert_string_equal(match.route->pattern, pattern);
    assert_int_equal(match.has_target, target != NULL);
    if (target != NULL)
        assert_string_equal(match.target, target);
    if (suffix == NULL)
        assert_null(match.suffix);
    else
        assert_string_equal(match.suffix, suffix);
}

static void test_paths(void **state)
{
    expect("GET", "/", "/", NULL, NULL);
    expect("GET", "/v1", "/v1", NULL, NULL);
    expect("GET", "/openapi.json", "/openapi.json", NULL, NULL);
    expect("GET", "/v1/tensors/x", "/v1/tensors/{name}", "x", NULL);
    expect("PUT", "/v1/tensors/a.b-c", "/v1/tensors/{name}", "a.b-c", NULL);
    expect("PATCH", "/v1/tensors/x/meta", "/v1/tensors/{name}/meta", "x", NULL);
    expect("POST", "/v1/tensors/x/to", "/v1/tensors/{name}/to", "x", NULL);
    expect("POST", "/v1/ops/add_", "/v1/ops/{op}", "add_", NULL);
    expect("POST", "/v1/devices/cuda:0/empty-cache", "/v1/devices/{device}/empty-cache",
           "cuda:0", NULL);
}

static void test_suffixes(void **state)
{
    expect("PUT", "/v1/tensors/x.npy", "/v1/tensors/{name}", "x", "npy");
    expect("GET", "/v1/tensors/x.y.txt", "/v1/tensors/{name}", "x.y", "text");
    expect("GET", "/v1/tensors.txt", "/v1/tensors", NULL, "text");
    // A suffix in another place, or of no format of today, is part of the name.
    expect("GET", "/v1/tensors/x.npy/meta", "/v1/tensors/{name}/meta", "x.npy", NULL);
    expect("DELETE", "/v1/tensors/x.npy", "/v1/tensors/{name}", "x.npy", NULL);
    expect("GET", "/v1/tensors/x.png", "/v1/tensors/{name}", "x.png", NULL);
    expect("GET", "/v1/tensors/.npy", "/v1/tensors/{name}", ".npy", NULL);
    assert_int_equal(find("GET", "/v1.txt"), STATUS_NOT_FOUND);
    assert_int_equal(find("GET", "/v1/devices.json"), STATUS_NOT_FOUND);
}

static void test_escapes(void **state)
{
    expect("GET", "/v1/tensors/%61b", "/v1/tensors/{name}", "ab", NULL);
    expect("GET", "/v1/tensors/x%2Enpy", "/v1/tensors/{name}", "x", "npy");
    static const char *const broken[] = {
        "/v1/tensors/%",   "/v1/tensors/%4",    "/v1/tensors/%zz",
        "/v1/tensors/%00", "/v1/tensors/a%2Fb", "/v1/tensors/..%2f..%2fetc"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_int_equal(find("GET", broken[i]), STATUS_MALFORMED);
}

static void test_nothing(void **state)
{
    static const char *const paths[] = {"/v1/tensors/..",
                                        "/v1/tensors/.",
                                        "/v1/tensors/",
                                        "//v1",
                                        "/v1/",
                                        "/V1",
                                        "/v1/tensors/a/b",
                                        "/v1/nothing",
                                        "/v1/../v1",
                                        "/v1/tensors/x/meta/",
                                        "/a/b/c/d/e/f/g/h/i/j"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(find("GET", paths[i]), STATUS_NOT_FOUND);
    char path[4000] = "/v1/tensors/";
    memset(path + 12, 'a', sizeof path - 13);
    path[sizeof path - 1] = '\0';
    assert_int_equal(find("GET", path), STATUS_NOT_FOUND);
}

static void test_methods(void **state)
{
    char text[64];
    assert_int_equal(find("POST", "/v1/tensors/x"), STATUS_METHOD);
    methods_text(match.allowed, text, sizeof text);
    assert_string_equal(text, "GET, HEAD, PUT, DELETE, OPTIONS");
    assert_int_equal(find("BREW", "/v1/tensors/x/to"), STATUS_METHOD);
    methods_text(match.allowed, text, sizeof text);
    assert_string_equal(text, "POST, OPTIONS");
    assert_int_equal(find("OPTIONS", "/v1/tensors/x"), STATUS_OK);
    assert_null(match.route);
    methods_text(match.allowed, text, sizeof text);
    assert_string_equal(text, "GET, HEAD, PUT, DELETE, OPTIONS");
    assert_int_equal(find("OPTIONS", "*"), STATUS_OK);
    assert_int_equal(find("HEAD", "/v1/tensors/x"), STATUS_OK);
    assert_int_equal(match.method, METHOD_HEAD);
    assert_int_equal(match.route->method, METHOD_GET);
}

int main(void)
{
    router_initialize();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),   cmocka_unit_test(test_suffixes),
        cmocka_unit_test(test_escapes), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
