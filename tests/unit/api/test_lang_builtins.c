// SPDX-License-Identifier: Apache-2.0
// Builtins, constructors and math against CPython (tests/cases/python_text.inc).
#include "tests/unit/api/lang_calls.h"

static const struct python_call rows[] = {
#define CALL(function, positional, keywords, result, error)                              \
    {function, positional, keywords, result, error},
#include "tests/cases/python_text.inc"
#undef CALL
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static bool is_constructor(const char *function)
{
    return strncmp(function, "new.", 4) == 0;
}

static bool is_math(const char *function)
{
    return strncmp(function, "math.", 5) == 0;
}

static bool is_builtin(const char *function)
{
    return strchr(function, '.') == NULL && strcmp(function, "format") != 0 &&
           strcmp(function, "percent") != 0;
}

static void test_constructors(void **state)
{
    assert_true(check_calls(rows, N_ROWS, is_constructor) > 150);
}

static void test_math(void **state)
{
    assert_true(check_calls(rows, N_ROWS, is_math) > 700);
}

static void test_builtins(void **state)
{
    assert_true(check_calls(rows, N_ROWS, is_builtin) > 250);
}

// ---- Tables

static void test_every_signature_parses(void **state)
{
    struct native *tables[] = {builtin_functions, str_methods, math_functions,
                               type_constructors};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (struct native *row = tables[i]; row->name != NULL; row++) {
            assert_non_null(signature_of(row));
            assert_ptr_equal(native_find(tables[i], row->name, strlen(row->name)), row);
        }
}

static void test_constructors_by_type(void **state)
{
    for (struct native *row = type_constructors; row->name != NULL; row++) {
        int found = 0;
        for (int type = 0; type < TYPE_COUNT; type++)
            if (type_constructor((enum type)type) == row) {
                assert_string_equal(type_name((enum type)type), row->name);
                found++;
            }
        assert_int_equal(found, 1);
    }
}

static void test_constants(void **state)
{
    double value;
    assert_true(math_constant("pi", 2, &value));
    assert_true(value == 3.141592653589793);
    assert_true(math_constant("tau", 3, &value));
    assert_true(value == 6.283185307179586);
    assert_true(math_constant("e", 1, &value));
    assert_true(value == 2.718281828459045);
    assert_true(math_constant("inf", 3, &value) && value > 1.7e308);
    assert_true(math_constant("nan", 3, &value) && value != value);
    assert_false(math_constant("pie", 3, &value));
    assert_false(math_constant("p", 1, &value));
}

// ---- isinstance

static struct value type_value(enum type type)
{
    return (struct value){.tag = VALUE_TYPE, .i = type};
}

static bool is_instance(struct vm *vm, struct value value, struct value classes)
{
    struct value slots[] = {value, classes}, result;
    const struct native *native = native_find(builtin_functions, "isinstance", 10);
    assert_int_equal(native->function(vm, slots, &result), OUTCOME_OK);
    assert_int_equal(result.tag, VALUE_BOOL);
    return result.i;
}

static void test_isinstance(void **state)
{
    struct vm vm;
    int64_t admitted;
    machine_open(&vm, &admitted);
    assert_true(is_instance(&vm, value_bool(true), type_value(TYPE_int)));
    assert_false(is_instance(&vm, value_int(1), type_value(TYPE_bool)));
    assert_true(is_instance(&vm, value_none(), type_value(TYPE_object)));
    assert_true(is_instance(&vm, type_value(TYPE_int), type_value(TYPE_type)));
    struct value inner[] = {type_value(TYPE_str), type_value(TYPE_float)};
    struct value nested = value_of(tuple_new(vm.heap, 2, inner, &vm.problem));
    struct value outer[] = {type_value(TYPE_list), nested};
    struct value classes = value_of(tuple_new(vm.heap, 2, outer, &vm.problem));
    assert_true(is_instance(&vm, value_float(1.5), classes));
    assert_false(is_instance(&vm, value_int(1), classes));
    struct value slots[] = {value_int(1), value_int(2)}, result;
    const struct native *native = native_find(builtin_functions, "isinstance", 10);
    assert_int_equal(native->function(&vm, slots, &result), OUTCOME_ERROR);
    assert_int_equal(vm.problem.status, STATUS_TYPE);
    assert_string_equal(
        vm.problem.detail,
        "isinstance() arg 2 must be a type, a tuple of types, or a union");
    value_release(classes);
    value_release(nested);
    machine_close(&vm);
}

// ---- _sorted at length: against an order that is easy to tell

static void test_sorting_is_stable(void **state)
{
    enum { COUNT = 5000 };
    struct vm vm;
    int64_t admitted;
    machine_open(&vm, &admitted);
    struct list *items = list_new(vm.heap, 0, NULL, &vm.problem);
    struct list *keys = list_new(vm.heap, 0, NULL, &vm.problem);
    for (int64_t i = 0; i < COUNT; i++) {
        assert_true(list_append(vm.heap, items, value_int(i), &vm.problem));
        assert_true(list_append(vm.heap, keys, value_int(i * 7919 % 97), &vm.problem));
    }
    struct value slots[] = {value_of(items), value_of(keys), value_bool(false)}, result;
    for (int reverse = 0; reverse < 2; reverse++) {
        slots[2] = value_bool(reverse);
        assert_int_equal(builtin_functions[0].function(&vm, slots, &result), OUTCOME_OK);
        struct list *sorted = VALUE_AS(list, result);
        assert_int_equal(sorted->count, COUNT);
        for (int64_t i = 1; i < COUNT; i++) {
            int64_t a = sorted->items[i - 1].i, b = sorted->items[i].i;
            int64_t key_a = a * 7919 % 97, key_b = b * 7919 % 97;
            assert_true(reverse ? key_a > key_b || (key_a == key_b && a < b)
                                : key_a < key_b || (key_a == key_b && a < b));
        }
        value_release(result);
    }
    value_release(value_of(items));
    value_release(value_of(keys));
    machine_close(&vm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constructors),
        cmocka_unit_test(test_math),
        cmocka_unit_test(test_builtins),
        cmocka_unit_test(test_every_signature_parses),
        cmocka_unit_test(test_constructors_by_type),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_isinstance),
        cmocka_unit_test(test_sorting_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
