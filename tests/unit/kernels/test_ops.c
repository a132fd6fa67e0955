// SPDX-License-Identifier: Apache-2.0
// The operation table: signatures, the name index, near misses, and the facts about
// opcodes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernels/ops.h"
#include "kernels/pass.h"

static int set_up(void **state)
{
    ops_initialize(); // aborts if a signature does not parse
    return 0;
}

static bool find(const char *name, enum op *op, bool *in_place, const char **nearest)
{
    return op_find(name, strlen(name), op, in_place, nearest);
}

static void test_every_row(void **state)
{
    for (int i = 0; i < OP_COUNT; i++) {
        const struct op_row *row = op_row((enum op)i);
        enum op found;
        bool in_place;
        assert_true(find(row->name, &found, &in_place, NULL));
        assert_int_equal(found, i);
        assert_false(in_place);
        assert_true(row->n_parameters >= 1 && row->n_parameters <= OP_MAX_PARAMETERS);
        assert_true(row->dtypes != 0);
        assert_true(strlen(row->doc) > 5);
        bool keyword_only = false;
        for (int p = 0; p < row->n_parameters; p++) {
            const struct parameter *parameter = &row->parameters[p];
            assert_true(parameter->name[0] >= 'a' && parameter->name[0] <= 'z');
            assert_true(parameter->keyword_only || !keyword_only); // they come last
            keyword_only = parameter->keyword_only;
            assert_int_equal(parameter->has_default, parameter->default_text[0] != '\0');
        }
    }
}

static void check_parameter(enum op op, int i, const char *name, enum parameter_type type,
                            bool optional, bool keyword_only, const char *default_text)
{
    const struct parameter *parameter = &op_row(op)->parameters[i];
    assert_string_equal(parameter->name, name);
    assert_int_equal(parameter->type, type);
    assert_int_equal(parameter->optional, optional);
    assert_int_equal(parameter->keyword_only, keyword_only);
    assert_int_equal(parameter->has_default, default_text != NULL);
    assert_string_equal(parameter->default_text,
                        default_text != NULL ? default_text : "");
}

static void test_signatures(void **state)
{
    assert_int_equal(op_row(OP_add)->n_parameters, 3);
    check_parameter(OP_add, 0, "input", PARAMETER_TENSOR, false, false, NULL);
    check_parameter(OP_add, 1, "other", PARAMETER_TENSOR, false, false, NULL);
    check_parameter(OP_add, 2, "alpha", PARAMETER_NUMBER, false, true, "1");
    assert_int_equal(op_row(OP_sum)->n_parameters, 4);
    check_parameter(OP_sum, 1, "dim", PARAMETER_INTS, true, false, "None");
    check_parameter(OP_sum, 2, "keepdim", PARAMETER_BOOL, false, false, "False");
    check_parameter(OP_sum, 3, "dtype", PARAMETER_DTYPE, true, true, "None");
    check_parameter(OP_div, 2, "rounding_mode", PARAMETER_STR, true, true, "None");
    check_parameter(OP_clamp, 1, "min", PARAMETER_TENSOR, true, false, "None");
    check_parameter(OP_cat, 0, "tensors", PARAMETER_TENSORS, false, false, NULL);
    check_parameter(OP_flatten, 2, "end_dim", PARAMETER_INT, false, false, "-1");
    assert_int_equal(op_row(OP_zeros)->n_parameters, 3);
    check_parameter(OP_zeros, 0, "size", PARAMETER_INTS, false, false, NULL);
    check_parameter(OP_zeros, 2, "device", PARAMETER_DEVICE, true, true, "None");
    assert_int_equal(op_row(OP_arange)->n_parameters, 5);
}

static void test_rows(void **state)
{
    assert_int_equal(op_row(OP_add)->form, FORM_MAP);
    assert_int_equal(op_row(OP_add)->rule, RULE_PROMOTE);
    assert_int_equal(op_row(OP_add)->dtypes, DTYPES_ALL);
    assert_true(op_row(OP_add)->in_place);
    assert_int_equal(op_row(OP_sum)->form, FORM_REDUCE);
    assert_int_equal(op_row(OP_sum)->rule, RULE_SUM);
    assert_false(op_row(OP_sum)->in_place);
    assert_int_equal(op_row(OP_matmul)->form, FORM_CUSTOM);
    assert_true(op_row(OP_matmul)->sliceable);
    assert_int_equal(op_row(OP_view)->form, FORM_VIEW);
    assert_int_equal(op_row(OP_bitwise_and)->dtypes, DTYPES_BOOL | DTYPES_INTEGER);
}

static void test_find(void **state)
{
    enum op op;
    bool in_place;
    const char *nearest;
    assert_true(find("add_", &op, &in_place, NULL));
    assert_true(op == OP_add && in_place);
    assert_true(find("copy_", &op, &in_place, NULL)); // a row of its own
    assert_true(op == OP_copy_ && !in_place);
    assert_true(op_find("summary", 3, &op, &in_place, NULL)); // need not be terminated
    assert_int_equal(op, OP_sum);
    assert_false(find("sum_", &op, &in_place, &nearest)); // no in-place form
    assert_string_equal(nearest, "sum");
    assert_false(find("sofmax", &op, &in_place, &nearest));
    assert_string_equal(nearest, "softmax");
    assert_false(find("matmull", &op, &in_place, &nearest));
    assert_string_equal(nearest, "matmul");
    assert_false(find("Exp", &op, &in_place, &nearest));
    assert_string_equal(nearest, "exp");
    assert_false(find("logical_nand", &op, &in_place, &nearest));
    assert_string_equal(nearest, "logical_and");
    assert_false(find("zzzzzzzz", &op, &in_place, &nearest));
    assert_null(nearest);
    assert_false(find("", &op, &in_place, &nearest));
    assert_null(nearest);
    assert_false(find("_", &op, &in_place, &nearest));
    char longest[5000];
    memset(longest, 'a', sizeof longest);
    assert_false(op_find(longest, sizeof longest, &op, &in_place, &nearest));
    assert_null(nearest);
}

static void test_opcodes(void **state)
{
    assert_int_equal(map_arity(MAP_CAST), 1);
    assert_string_equal(map_name(MAP_CAST), "cast");
    assert_int_equal(map_dtypes(MAP_CAST), DTYPES_ALL);
    assert_int_equal(map_arity(MAP_add), 2);
    assert_int_equal(map_arity(MAP_where), 3);
    assert_string_equal(map_name(MAP_truncate_divide), "truncate_divide");
    assert_int_equal(map_dtypes(MAP_exp), DTYPES_FLOAT);
    assert_int_equal(map_dtypes(MAP_logical_and), DTYPES_BOOL);
    assert_int_equal(map_result_dtype(MAP_add, DTYPE_FLOAT16), DTYPE_FLOAT16);
    assert_int_equal(map_result_dtype(MAP_lt, DTYPE_FLOAT16), DTYPE_BOOL);
    assert_int_equal(map_result_dtype(MAP_logical_not, DTYPE_BOOL), DTYPE_BOOL);
    assert_int_equal(map_result_dtype(MAP_CAST, DTYPE_INT8), DTYPE_INT8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row), cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_find),
        cmocka_unit_test(test_opcodes),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
