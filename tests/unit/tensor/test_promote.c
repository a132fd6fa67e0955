// SPDX-License-Identifier: Apache-2.0
// Promotion against torch.result_type and torch.can_cast (tests/cases/promotion.inc).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tensor/promote.h"

static const struct {
    int dimensioned, dimensionless, number, result;
} rows[] = {
#define PROMOTION_ROW(a, b, number, result) {a, b, number, result},
#include "tests/cases/promotion.inc"
#undef PROMOTION_ROW
};

static const struct {
    int from, to, allowed;
} casts[] = {
#define CAN_CAST_ROW(from, to, allowed) {from, to, allowed},
#include "tests/cases/promotion.inc"
#undef CAN_CAST_ROW
};

static void test_result_type(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct promotion promotion = PROMOTION_NONE;
        if (rows[i].number >= 0)
            promote_number(&promotion, (enum scalar_kind)rows[i].number);
        if (rows[i].dimensionless >= 0)
            promote_tensor(&promotion, (enum dtype)rows[i].dimensionless, 0);
        if (rows[i].dimensioned >= 0)
            promote_tensor(&promotion, (enum dtype)rows[i].dimensioned, 2);
        if (promote_result(&promotion) != (enum dtype)rows[i].result)
            fail_msg("row %d: %s and not %s", (int)i,
                     dtype_name(promote_result(&promotion)),
                     dtype_name((enum dtype)rows[i].result));
    }
}

// By torch's rule for more operands: equals weigh together, lighter ones count by
// category.
static void test_three_weights(void **state)
{
    struct promotion promotion = PROMOTION_NONE;
    promote_tensor(&promotion, DTYPE_UINT8, 1);
    promote_tensor(&promotion, DTYPE_INT8, 3);
    assert_int_equal(promote_result(&promotion), DTYPE_INT16);
    promote_tensor(&promotion, DTYPE_INT64, 0);
    assert_int_equal(promote_result(&promotion), DTYPE_INT16);
    promote_number(&promotion, SCALAR_FLOAT);
    assert_int_equal(promote_result(&promotion), DTYPE_FLOAT32);
    promote_tensor(&promotion, DTYPE_FLOAT16, 0);
    assert_int_equal(promote_result(&promotion), DTYPE_FLOAT16);
    promote_tensor(&promotion, DTYPE_BFLOAT16, 2);
    assert_int_equal(promote_result(&promotion), DTYPE_BFLOAT16);
}

static void test_can_cast(void **state)
{
    for (size_t i = 0; i < sizeof casts / sizeof casts[0]; i++)
        assert_int_equal(
            promote_can_cast((enum dtype)casts[i].from, (enum dtype)casts[i].to),
            casts[i].allowed);
}

static void test_default(void **state)
{
    assert_int_equal(promote_default(SCALAR_BOOL), DTYPE_BOOL);
    assert_int_equal(promote_default(SCALAR_INT), DTYPE_INT64);
    assert_int_equal(promote_default(SCALAR_FLOAT), DTYPE_FLOAT32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_result_type),
        cmocka_unit_test(test_three_weights),
        cmocka_unit_test(test_can_cast),
        cmocka_unit_test(test_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
