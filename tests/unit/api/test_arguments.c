// SPDX-License-Identifier: Apache-2.0
// Binding of JSON arguments to signatures: every type of position, arity, keywords,
// refusals with their pointers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"

static struct api api;
static struct user user;
static struct device *devices[1];
static struct request *request;
static struct call call;
static struct problem problem;

static int setup(void **state)
{
    struct problem ignored;
    int64_t limit = 1 << 20;
    ops_initialize();
    if (host_open(1, 0, &devices[0], &ignored) != STATUS_OK ||
        ledger_create(1, &limit, &api.options.ledger, &ignored) != STATUS_OK ||
        ledger_account(api.options.ledger, "", &user.account, &ignored) != STATUS_OK)
        return -1;
    api.options.devices = devices;
    api.options.n_devices = 1;
    return 0;
}

static int teardown(void **state)
{
    ledger_free(api.options.ledger);
    devices[0]->vt->close(devices[0]);
    return 0;
}

static int begin(void **state)
{
    request = calloc(1, sizeof *request);
    request->api = &api;
    request->user = &user;
    call.n_operands = 0;
    return request == NULL;
}

static void reset(void)
{
    call_free(&call);
    while (request->chunks != NULL) {
        void *next = *(void **)request->chunks;
        free(request->chunks);
        request->chunks = next;
    }
    request->arena_used = 0;
}

static int end(void **state)
{
    reset();
    struct ledger_usage usage;
    ledger_usage(api.options.ledger, 0, &usage);
    free(request);
    return usage.used != 0 || usage.reserved != 0; // nothing is left behind
}

// args: a JSON array, kwargs: an object; NULL: absent.
static enum status bind(const char *name, const char *args, const char *kwargs)
{
    static char text[20000];
    static struct json json;
    enum op op;
    bool in_place;
    reset();
    assert_true(op_find(name, strlen(name), &op, &in_place, NULL));
    int length = snprintf(text, sizeof text, "[%s, %s]", args != NULL ? args : "[]",
                          kwargs != NULL ? kwargs : "{}");
    assert_true(length < (int)sizeof text);
    request->body = text;
    assert_int_equal(json_parse(&json, text, strlen(text), 2, &problem), STATUS_OK);
    const struct json_value *list = json_first(json.values);
    problem_clear(&problem);
    enum status status = call_bind(request, op, in_place, &json, list,
                                   json_next(&json, list), &call, &problem);
    json_free(&json);
    return status;
}

static void expect_ints(int index, int count, const int64_t *items)
{
    assert_int_equal(call.arguments[index].kind, ARGUMENT_INTS);
    assert_int_equal(call.arguments[index].integers.count, count);
    assert_memory_equal(call.arguments[index].integers.items, items,
                        (size_t)count * sizeof *items);
}

static void test_tensors(void **state)
{
    assert_int_equal(bind("add", "[\"a\", 2]", NULL), STATUS_OK);
    assert_int_equal(call.n_operands, 2);
    assert_int_equal(call.operands[0].kind, OPERAND_NAME);
    assert_string_equal(call.operands[0].name, "a");
    assert_int_equal(call.operands[1].kind, OPERAND_NUMBER);
    assert_int_equal(call.operands[1].number.i, 2);
    assert_int_equal(call.arguments[2].kind, ARGUMENT_NONE);
    assert_false(call_writes(&call));
    assert_int_equal(bind("add_", "[\"a\", true]", "{\"alpha\": NaN}"), STATUS_OK);
    assert_true(call_writes(&call));
    assert_string_equal(call_first_name(&call), "a");
    assert_int_equal(call.operands[1].number.kind, SCALAR_BOOL);
    assert_true(call.arguments[2].number.f != call.arguments[2].number.f);
    assert_int_equal(bind("fill_", "[\"a\", 0]", NULL), STATUS_OK);
    assert_true(call_writes(&call));
    assert_int_equal(bind("clamp", "[\"a\", null, 1.5]", NULL), STATUS_OK);
    assert_int_equal(call.arguments[1].kind, ARGUMENT_NONE);
    assert_int_equal(call.operands[call.spans[2].first].number.kind, SCALAR_FLOAT);
}

static void test_inline(void **state)
{
    assert_int_equal(
        bind("matmul", "[[[1, 2]], {\"data\": [[1.5], [NaN]], \"dtype\": \"float64\"}]",
             NULL),
        STATUS_OK);
    const struct tensor *a = call.operands[0].tensor, *b = call.operands[1].tensor;
    assert_int_equal(a->dtype, DTYPE_INT64);
    assert_int_equal(a->layout.ndim, 2);
    assert_int_equal(a->layout.shape[1], 2);
    assert_int_equal(b->dtype, DTYPE_FLOAT64);
    assert_int_equal(storage_bytes(b->storage), 16);
    assert_int_equal(bind("neg", "[[]]", NULL), STATUS_OK);
    assert_int_equal(tensor_count(call.operands[0].tensor), 0);
    assert_int_equal(bind("add", "[[1, [2]], 1]", NULL), STATUS_SHAPE);
    assert_string_equal(problem.pointer, "/args/0/1");
    assert_int_equal(bind("add", "[\"a\", [1, nope]]", NULL), STATUS_MALFORMED);
    assert_int_equal(problem.column, 12); // of the body
    assert_int_equal(bind("add", "[\"a\", {\"dta\": [1]}]", NULL), STATUS_MALFORMED);
}

static void test_integers(void **state)
{
    assert_int_equal(bind("reshape", "[\"a\", [3, -1]]", NULL), STATUS_OK);
    expect_ints(1, 2, (int64_t[]){3, -1});
    assert_int_equal(bind("reshape", "[\"a\", 3, -1]", NULL), STATUS_OK);
    expect_ints(1, 2, (int64_t[]){3, -1});
    assert_int_equal(bind("zeros", "[[]]", NULL), STATUS_OK);
    expect_ints(0, 0, (int64_t[]){0});
    assert_int_equal(bind("sum", "[\"a\", 0, true]", NULL), STATUS_OK);
    expect_ints(1, 1, (int64_t[]){0});
    assert_true(call.arguments[2].boolean);
    assert_int_equal(bind("sum", "[\"a\"]", "{\"dim\": [0, -1]}"), STATUS_OK);
    expect_ints(1, 2, (int64_t[]){0, -1});
    assert_int_equal(bind("softmax", "[\"a\", -1]", "{\"dtype\": \"torch.double\"}"),
                     STATUS_OK);
    assert_int_equal(call.arguments[1].integer, -1);
    assert_int_equal(call.arguments[2].dtype, DTYPE_FLOAT64);
    assert_int_equal(bind("reshape", "[\"a\", [\"b\"]]", NULL), STATUS_TYPE);
    assert_int_equal(bind("reshape", "[\"a\", [1.0]]", NULL), STATUS_TYPE);
    assert_int_equal(bind("reshape", "[\"a\", [[1]]]", NULL), STATUS_TYPE);
    assert_int_equal(bind("reshape", "[\"a\", [9223372036854775808]]", NULL),
                     STATUS_VALUE);
    assert_int_equal(bind("reshape", "[\"a\", {}]", NULL), STATUS_TYPE);
    assert_int_equal(bind("reshape", "[\"a\", 1, \"b\"]", NULL), STATUS_TYPE);
    assert_int_equal(bind("softmax", "[\"a\", true]", NULL), STATUS_TYPE);
}

static void test_lists(void **state)
{
    assert_int_equal(bind("cat", "[[\"a\", \"b\", [1]], -1]", NULL), STATUS_OK);
    assert_int_equal(call.arguments[0].kind, ARGUMENT_TENSORS);
    assert_int_equal(call.arguments[0].tensors.count, 3);
    assert_int_equal(call.n_operands, 3);
    assert_string_equal(call.operands[1].name, "b");
    assert_int_equal(call.operands[2].kind, OPERAND_INLINE);
    assert_int_equal(bind("cat", "[\"a\"]", NULL), STATUS_TYPE);
    assert_int_equal(bind("cat", "[[1, 2]]", NULL), STATUS_TYPE);
    assert_int_equal(bind("cat", "[[]]", NULL), STATUS_OK);
    char many[16000] = "[[\"x\"";
    size_t length = 5;
    for (int i = 1; i < CALL_MAX_OPERANDS; i++, length += 5)
        memcpy(many + length, ", \"x\"", 5);
    memcpy(many + length, "]]", 3);
    assert_int_equal(bind("cat", many, NULL), STATUS_OK);
    assert_int_equal(call.n_operands, CALL_MAX_OPERANDS);
    memcpy(many + length, ", \"x\"]]", 8);
    assert_int_equal(bind("cat", many, NULL), STATUS_LIMIT);
}

static void test_others(void **state)
{
    assert_int_equal(
        bind("full", "[[2], 1e3]", "{\"device\": \"cpu\", \"dtype\": \"int8\"}"),
        STATUS_OK);
    assert_int_equal(call.arguments[1].number.kind, SCALAR_FLOAT);
    assert_ptr_equal(call.arguments[3].device, devices[0]);
    assert_int_equal(bind("slice", "[\"a\", \"0:2\"]", NULL), STATUS_OK);
    assert_int_equal(call.arguments[1].string.length, 3);
    assert_true(call_may_view(&call));
    assert_int_equal(bind("zeros", "[[2]]", "{\"device\": \"cuda:9\"}"), STATUS_DEVICE);
    assert_int_equal(bind("zeros", "[[2]]", "{\"dtype\": \"int9\"}"), STATUS_DTYPE);
    assert_int_equal(bind("zeros", "[[2]]", "{\"dtype\": 8}"), STATUS_TYPE);
    assert_int_equal(bind("full", "[[2], \"a\"]", NULL), STATUS_TYPE);
    assert_int_equal(bind("full", "[[2], null]", NULL), STATUS_TYPE);
    assert_int_equal(bind("sum", "[\"a\", null, 1]", NULL), STATUS_TYPE);
    assert_int_equal(bind("slice", "[\"a\", 0]", NULL), STATUS_TYPE);
}

static void test_arity(void **state)
{
    assert_int_equal(bind("add", "[\"a\"]", NULL), STATUS_TYPE);
    assert_int_equal(bind("add", "[\"a\", \"b\", \"c\"]", NULL),
                     STATUS_TYPE); // alpha is a keyword
    assert_int_equal(bind("add", NULL, "{\"other\": 1, \"input\": \"a\"}"), STATUS_OK);
    assert_string_equal(call_first_name(&call), "a");
    assert_int_equal(bind("add", "[\"a\", \"b\"]", "{\"other\": 1}"), STATUS_TYPE);
    assert_int_equal(bind("add", "[\"a\", \"b\"]", "{\"alfa\": 1}"), STATUS_TYPE);
    assert_string_equal(problem.nearest, "alpha");
    assert_string_equal(problem.pointer, "/kwargs/alfa");
    assert_int_equal(bind("neg", NULL, NULL), STATUS_TYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tensors, begin, end),
        cmocka_unit_test_setup_teardown(test_inline, begin, end),
        cmocka_unit_test_setup_teardown(test_integers, begin, end),
        cmocka_unit_test_setup_teardown(test_lists, begin, end),
        cmocka_unit_test_setup_teardown(test_others, begin, end),
        cmocka_unit_test_setup_teardown(test_arity, begin, end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
