// SPDX-License-Identifier: Apache-2.0
// Values as text against CPython (tests/cases/python_text.inc): format specifications,
// repr, string % arguments, str.format, methods of str. And what the table cannot say:
// bounds.
#include "tests/unit/api/lang_calls.h"

static const struct python_call rows[] = {
#define CALL(function, positional, keywords, result, error)                              \
    {function, positional, keywords, result, error},
#include "tests/cases/python_text.inc"
#undef CALL
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static bool is_format(const char *function)
{
    return strcmp(function, "format") == 0;
}

static bool is_repr(const char *function)
{
    return strcmp(function, "repr") == 0 || strcmp(function, "ascii") == 0 ||
           strcmp(function, "new.str") == 0;
}

static bool is_percent(const char *function)
{
    return strcmp(function, "percent") == 0;
}

static bool is_template(const char *function)
{
    return strncmp(function, "str.format", 10) == 0;
}

static bool is_method(const char *function)
{
    return strncmp(function, "str.", 4) == 0 && !is_template(function);
}

static void test_format(void **state)
{
    assert_true(check_calls(rows, N_ROWS, is_format) > 1000);
}

static void test_repr(void **state)
{
    assert_true(check_calls(rows, N_ROWS, is_repr) > 100);
}

static void test_percent(void **state)
{
    assert_true(check_calls(rows, N_ROWS, is_percent) > 300);
}

static void test_template(void **state)
{
    assert_true(check_calls(rows, N_ROWS, is_template) > 90);
}

static void test_methods(void **state)
{
    assert_true(check_calls(rows, N_ROWS, is_method) > 1000);
}

// ---- Bounds

static struct value call_one(struct vm *vm, const char *function, const char *arguments,
                             enum status expected)
{
    struct value positional = literal(vm, arguments), keywords = literal(vm, "{}"),
                 result = value_none();
    struct python_call row = {.function = function};
    problem_clear(&vm->problem);
    enum outcome outcome = run_call_row(vm, &row, VALUE_AS(tuple, positional),
                                        VALUE_AS(dict, keywords), &result);
    value_release(positional);
    value_release(keywords);
    if (expected == STATUS_OK) {
        assert_int_equal(outcome, OUTCOME_OK);
        return result;
    }
    assert_int_equal(outcome, OUTCOME_ERROR);
    assert_int_equal(vm->problem.status, expected);
    return value_none();
}

// Widths are bounded by memory and steps, not by the patience of the host.
static void test_wide_text_is_refused(void **state)
{
    static const char *const calls[][2] = {
        {"format", "(1, '900000000000')"},
        {"format", "('x', '*>900000000000')"},
        {"format", "(1, '0900000000000,')"},
        {"format", "(1.5, '9223372036854775807')"},
        {"format", "(1, '9223372036854775807,')"},
        {"percent", "('%900000000000d', 1)"},
        {"percent", "('%.2147483000d', 1)"},
        {"percent", "('%-9223372036854775807s', 1)"},
        {"str.format", "('{:{}}', 1, 9223372036854775807)"},
        {"str.center", "('a', 9223372036854775807)"},
        {"str.ljust", "('a', 9223372036854775807, '\\u65e5')"},
        {"str.zfill", "('a', 9000000000)"},
        {"str.expandtabs", "('\\t\\t', 9223372036854775807)"},
    };
    struct vm vm;
    int64_t admitted;
    heap_limit = 4 << 20;
    machine_open(&vm, &admitted);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct value positional = literal(&vm, calls[i][1]), result;
        struct value keywords = literal(&vm, "{}");
        struct python_call row = {.function = calls[i][0]};
        assert_int_equal(run_call_row(&vm, &row, VALUE_AS(tuple, positional),
                                      VALUE_AS(dict, keywords), &result),
                         OUTCOME_ERROR);
        assert_true(vm.problem.status == STATUS_OUT_OF_MEMORY ||
                    vm.problem.status == STATUS_LIMIT);
        value_release(positional);
        value_release(keywords);
    }
    machine_close(&vm);
    heap_limit = INT64_MAX;
}

static void test_a_megabyte_is_not(void **state)
{
    struct vm vm;
    int64_t admitted;
    machine_open(&vm, &admitted);
    struct value text = call_one(&vm, "format", "('x', '>1000000')", STATUS_OK);
    assert_int_equal(VALUE_AS(string, text)->bytes, 1000000);
    assert_true(heap_granted(vm.heap) >= 1000000);
    value_release(text);
    machine_close(&vm);
}

// x = []; x = [x, x] sixty times: short to write, 2^60 long to print.
static void test_exponential_repr_is_refused(void **state)
{
    struct vm vm;
    int64_t admitted;
    machine_open(&vm, &admitted);
    vm.options.max_steps = 1000000;
    struct value value = value_of(list_new(vm.heap, 0, NULL, &vm.problem));
    for (int i = 0; i < 60; i++) {
        struct value items[] = {value, value};
        struct value pair = value_of(list_new(vm.heap, 2, items, &vm.problem));
        value_release(value);
        value = pair;
    }
    struct text text;
    text_begin(&text, NULL, 0);
    assert_int_equal(value_repr(&vm, value, &text), OUTCOME_ERROR);
    assert_int_equal(vm.problem.status, STATUS_LIMIT);
    text_end(&text);
    value_release(value);
    machine_close(&vm);
}

static void test_deep_repr_is_refused(void **state)
{
    struct vm vm;
    int64_t admitted;
    machine_open(&vm, &admitted);
    struct value value = value_of(list_new(vm.heap, 0, NULL, &vm.problem));
    struct text text;
    for (int i = 0; i < 5000; i++) {
        struct value outer = value_of(list_new(vm.heap, 1, &value, &vm.problem));
        value_release(value);
        value = outer;
        if (i == 900) {
            text_begin(&text, NULL, 0);
            assert_int_equal(value_repr(&vm, value, &text), OUTCOME_OK);
            assert_int_equal(text.length, 2 * 902);
            text_end(&text);
        }
    }
    text_begin(&text, NULL, 0);
    assert_int_equal(value_repr(&vm, value, &text), OUTCOME_ERROR);
    assert_int_equal(vm.problem.status, STATUS_LIMIT);
    text_end(&text);
    value_release(value);
    machine_close(&vm);
}

static void assert_repr(struct vm *vm, struct value value, const char *expected)
{
    struct text text;
    text_begin(&text, NULL, 0);
    assert_int_equal(value_repr(vm, value, &text), OUTCOME_OK);
    text_add(&text, "", 1);
    assert_string_equal(text.data, expected);
    text_end(&text);
}

static void test_containers_inside_themselves(void **state)
{
    struct vm vm;
    int64_t admitted;
    machine_open(&vm, &admitted);
    struct list *list = list_new(vm.heap, 0, NULL, &vm.problem);
    struct value self = value_of(list);
    assert_true(list_append(vm.heap, list, self, &vm.problem));
    struct value tuple = value_of(tuple_new(vm.heap, 1, &self, &vm.problem));
    assert_true(list_append(vm.heap, list, tuple, &vm.problem));
    struct dict *dict = dict_new(vm.heap, &vm.problem);
    assert_int_equal(dict_set(vm.heap, dict, value_int(1), value_of(dict), &vm.problem),
                     STATUS_OK);
    assert_repr(&vm, self, "[[...], ([...],)]");
    assert_repr(&vm, tuple, "([[...], (...)],)");
    assert_repr(&vm, value_of(dict), "{1: {...}}");
    machine_close(&vm); // with the cycles
}

static void test_names_of_types_and_fields(void **state)
{
    static const char *const fields[] = {"values", "indices"};
    struct vm vm;
    int64_t admitted;
    machine_open(&vm, &admitted);
    assert_repr(&vm, (struct value){.tag = VALUE_TYPE, .i = TYPE_Parameter},
                "<class 'torch.nn.parameter.Parameter'>");
    assert_repr(&vm,
                (struct value){.tag = VALUE_NATIVE,
                               .native = native_find(builtin_functions, "len", 3)},
                "<built-in function len>");
    assert_repr(&vm,
                (struct value){.tag = VALUE_NATIVE,
                               .native = native_find(str_methods, "upper", 5)},
                "<method 'upper' of 'str' objects>");
    assert_repr(&vm, (struct value){.tag = VALUE_WIDE, .i = -1}, "18446744073709551615");
    struct value items[] = {value_int(2), value_int(3)};
    struct tuple *tuple = tuple_new(vm.heap, 2, items, &vm.problem);
    tuple->is_size = true;
    assert_repr(&vm, value_of(tuple), "torch.Size([2, 3])");
    tuple->is_size = false;
    tuple->fields = fields;
    tuple->type_text = "torch.return_types.max";
    assert_repr(&vm, value_of(tuple), "torch.return_types.max(\nvalues=2,\nindices=3)");
    tuple->fields = NULL;
    value_release(value_of(tuple));
    machine_close(&vm);
}

// An id does not tell where the object lies, differs from others', and stays.
static void test_ids(void **state)
{
    struct vm vm;
    int64_t admitted, ids[100];
    struct value lists[100];
    machine_open(&vm, &admitted);
    for (int i = 0; i < 100; i++) {
        lists[i] = value_of(list_new(vm.heap, 0, NULL, &vm.problem));
        ids[i] = value_id(lists[i]);
        assert_true(ids[i] > 0 && ids[i] != (int64_t)(uintptr_t)lists[i].object);
        for (int k = 0; k < i; k++)
            assert_true(ids[k] != ids[i]);
    }
    for (int i = 0; i < 100; i++) {
        assert_int_equal(value_id(lists[i]), ids[i]);
        value_release(lists[i]);
    }
    machine_close(&vm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_repr),
        cmocka_unit_test(test_percent),
        cmocka_unit_test(test_template),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_wide_text_is_refused),
        cmocka_unit_test(test_a_megabyte_is_not),
        cmocka_unit_test(test_exponential_repr_is_refused),
        cmocka_unit_test(test_deep_repr_is_refused),
        cmocka_unit_test(test_containers_inside_themselves),
        cmocka_unit_test(test_names_of_types_and_fields),
        cmocka_unit_test(test_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
