// SPDX-License-Identifier: Apache-2.0
// Names, promotion, Python scalars and the 16-bit floats. The promotion table is
// PyTorch's documented one; the conversions are worked out by hand from the formats.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "kernels/base/dtype.h"

static void test_names(void **state)
{
    static const struct {
        const char *text;
        int expected; // -1: unknown
    } cases[] = {
        {"bool", DTYPE_BOOL},
        {"uint8", DTYPE_UINT8},
        {"int8", DTYPE_INT8},
        {"int16", DTYPE_INT16},
        {"int32", DTYPE_INT32},
        {"int64", DTYPE_INT64},
        {"float16", DTYPE_FLOAT16},
        {"bfloat16", DTYPE_BFLOAT16},
        {"float32", DTYPE_FLOAT32},
        {"float64", DTYPE_FLOAT64},
        {"half", DTYPE_FLOAT16},
        {"float", DTYPE_FLOAT32},
        {"double", DTYPE_FLOAT64},
        {"short", DTYPE_INT16},
        {"int", DTYPE_INT32},
        {"long", DTYPE_INT64},
        {"torch.float32", DTYPE_FLOAT32},
        {"torch.long", DTYPE_INT64},
        {"", -1},
        {"torch.", -1},
        {"Float32", -1},
        {"float3", -1},
        {"float320", -1},
        {"torch.torch.int8", -1},
        {"uint16", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum dtype dtype = DTYPE_COUNT;
        bool known = dtype_parse(cases[i].text, strlen(cases[i].text), &dtype);
        assert_int_equal(known ? (int)dtype : -1, cases[i].expected);
    }
    enum dtype dtype;
    assert_true(dtype_parse("int8garbage", 4, &dtype)); // need not be terminated
    for (int i = 0; i < DTYPE_COUNT; i++) {
        const char *name = dtype_name((enum dtype)i);
        assert_true(dtype_parse(name, strlen(name), &dtype));
        assert_int_equal(dtype, i);
    }
}

static void test_facts(void **state)
{
    static const int sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
    for (int i = 0; i < DTYPE_COUNT; i++) {
        enum dtype dtype = (enum dtype)i;
        assert_int_equal(dtype_size(dtype), sizes[i]);
        assert_int_equal(dtype_category(dtype), i == 0  ? CATEGORY_BOOL
                                                : i < 6 ? CATEGORY_INTEGER
                                                        : CATEGORY_FLOAT);
        assert_int_equal(dtype_is_float(dtype), i >= 6);
    }
}

// torch.promote_types.
static void test_promotion(void **state)
{
    enum {
        b1 = DTYPE_BOOL,
        u1 = DTYPE_UINT8,
        i1 = DTYPE_INT8,
        i2 = DTYPE_INT16,
        i4 = DTYPE_INT32,
        i8 = DTYPE_INT64,
        f2 = DTYPE_FLOAT16,
        bf = DTYPE_BFLOAT16,
        f4 = DTYPE_FLOAT32,
        f8 = DTYPE_FLOAT64
    };
    static const int table[DTYPE_COUNT][DTYPE_COUNT] = {
        {b1, u1, i1, i2, i4, i8, f2, bf, f4, f8},
        {u1, u1, i2, i2, i4, i8, f2, bf, f4, f8},
        {i1, i2, i1, i2, i4, i8, f2, bf, f4, f8},
        {i2, i2, i2, i2, i4, i8, f2, bf, f4, f8},
        {i4, i4, i4, i4, i4, i8, f2, bf, f4, f8},
        {i8, i8, i8, i8, i8, i8, f2, bf, f4, f8},
        {f2, f2, f2, f2, f2, f2, f2, f4, f4, f8},
        {bf, bf, bf, bf, bf, bf, f4, bf, f4, f8},
        {f4, f4, f4, f4, f4, f4, f4, f4, f4, f8},
        {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8}};
    for (int a = 0; a < DTYPE_COUNT; a++)
        for (int b = 0; b < DTYPE_COUNT; b++)
            assert_int_equal(dtype_promote((enum dtype)a, (enum dtype)b), table[a][b]);
}

static struct scalar integer(int64_t value)
{
    return (struct scalar){.kind = SCALAR_INT, .i = value};
}
static struct scalar real(double value)
{
    return (struct scalar){.kind = SCALAR_FLOAT, .f = value};
}

static void test_scalar_to_element(void **state)
{
    bool fits;
    assert_int_equal(scalar_to_element(integer(300), DTYPE_UINT8, &fits).u8, 44);
    assert_false(fits);
    assert_int_equal(scalar_to_element(integer(-1), DTYPE_UINT8, &fits).u8, 255);
    assert_false(fits);
    assert_int_equal(scalar_to_element(integer(255), DTYPE_UINT8, &fits).u8, 255);
    assert_true(fits);
    assert_int_equal(scalar_to_element(integer(-129), DTYPE_INT8, &fits).i8, 127);
    assert_false(fits);
    assert_int_equal(scalar_to_element(integer(INT64_MIN), DTYPE_INT64, &fits).i64,
                     INT64_MIN);
    assert_true(fits);
    assert_int_equal(scalar_to_element(integer(7), DTYPE_BOOL, &fits).u8, 1);
    assert_true(fits);
    assert_int_equal(scalar_to_element(real(-2.75), DTYPE_INT32, &fits).i32, -2);
    assert_true(fits);
    assert_int_equal(scalar_to_element(real(1e30), DTYPE_INT64, &fits).i64, INT64_MIN);
    assert_false(fits);
    assert_int_equal(scalar_to_element(real(NAN), DTYPE_INT16, &fits).i16, 0);
    assert_false(fits);
    assert_int_equal(scalar_to_element(real(NAN), DTYPE_BOOL, NULL).u8, 1);
    assert_int_equal(scalar_to_element(real(-0.0), DTYPE_BOOL, NULL).u8, 0);
    // 2^24 + 1 is a tie, to even; 2^60 + 2^36 + 1 would round twice through double
    assert_true(scalar_to_element(integer(16777217), DTYPE_FLOAT32, NULL).f32 ==
                16777216.0f);
    int64_t twice = (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1;
    assert_true(scalar_to_element(integer(twice), DTYPE_FLOAT32, NULL).f32 ==
                0x1p60f + 0x1p37f);
    assert_int_equal(scalar_to_element(real(1.5), DTYPE_FLOAT16, NULL).bits16, 0x3E00);
    assert_int_equal(scalar_to_element(real(1.5), DTYPE_BFLOAT16, NULL).bits16, 0x3FC0);
    struct scalar truth = {.kind = SCALAR_BOOL, .i = 1};
    assert_true(scalar_to_element(truth, DTYPE_FLOAT64, &fits).f64 == 1);
    assert_true(fits);
}

static void test_element_to_scalar(void **state)
{
    struct scalar s = element_to_scalar((union element){.u8 = 1}, DTYPE_BOOL);
    assert_true(s.kind == SCALAR_BOOL && s.i == 1);
    s = element_to_scalar((union element){.u8 = 200}, DTYPE_UINT8);
    assert_true(s.kind == SCALAR_INT && s.i == 200);
    s = element_to_scalar((union element){.i8 = -56}, DTYPE_INT8);
    assert_true(s.kind == SCALAR_INT && s.i == -56);
    s = element_to_scalar((union element){.i16 = -300}, DTYPE_INT16);
    assert_true(s.kind == SCALAR_INT && s.i == -300);
    s = element_to_scalar((union element){.i32 = INT32_MIN}, DTYPE_INT32);
    assert_true(s.kind == SCALAR_INT && s.i == INT32_MIN);
    s = element_to_scalar((union element){.i64 = INT64_MAX}, DTYPE_INT64);
    assert_true(s.kind == SCALAR_INT && s.i == INT64_MAX);
    s = element_to_scalar((union element){.bits16 = 0xC000}, DTYPE_FLOAT16);
    assert_true(s.kind == SCALAR_FLOAT && s.f == -2);
    s = element_to_scalar((union element){.bits16 = 0xC000}, DTYPE_BFLOAT16);
    assert_true(s.kind == SCALAR_FLOAT && s.f == -2);
    s = element_to_scalar((union element){.f32 = 0.1f}, DTYPE_FLOAT32);
    assert_true(s.kind == SCALAR_FLOAT && s.f == (double)0.1f);
    s = element_to_scalar((union element){.f64 = -INFINITY}, DTYPE_FLOAT64);
    assert_true(s.kind == SCALAR_FLOAT && s.f == -INFINITY);
}

static void test_float16(void **state)
{
    static const struct {
        float value;
        uint16_t bits;
    } cases[] = {
        {0.0f, 0},
        {-0.0f, 0x8000},
        {1.0f, 0x3C00},
        {65504.0f, 0x7BFF},   // the largest
        {65519.996f, 0x7BFF}, // just below half a step further
        {65520.0f, 0x7C00},   // the tie goes to the even one: infinity
        {INFINITY, 0x7C00},
        {-1e10f, 0xFC00},
        {0x1p-14f, 0x0400}, // the smallest normal
        {0x1p-24f, 0x0001}, // the smallest subnormal
        {0x1p-25f, 0x0000}, // the tie to even
        {0x1.000002p-25f, 0x0001},
        {0x1.8p-24f, 0x0002},     // a tie, to even
        {0x1.ff8p-15f, 0x03FF},   // the largest subnormal
        {0x1.ffcp-15f, 0x0400},   // a tie, to even
        {0x1.fffp-15f, 0x0400},   // rounds up into the normals
        {1.00048828125f, 0x3C00}, // 1 + 2^-11: a tie, to even
        {1.0004884f, 0x3C01},
        {1.00146484375f, 0x3C02}, // 1 + 3 * 2^-11: a tie, to even
        {0.1f, 0x2E66},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(float16_from_float(cases[i].value), cases[i].bits);
    for (int i = 0; i < 1 << 16; i++) {
        float value = float16_to_float((uint16_t)i);
        if ((i & 0x7FFF) > 0x7C00) {
            assert_true(isnan(value));
            assert_int_equal(float16_from_float(value), i | 0x200); // quiet
            continue;
        }
        int exponent = i >> 10 & 31, fraction = i & 1023;
        float expected = exponent == 31 ? INFINITY
                         : exponent == 0
                             ? ldexpf((float)fraction, -24)
                             : ldexpf((float)(1024 + fraction), exponent - 25);
        assert_true(value == (i >> 15 ? -expected : expected));
        assert_int_equal(signbit(value) != 0, i >> 15);
        assert_int_equal(float16_from_float(value), i);
    }
}

static void test_bfloat16(void **state)
{
    assert_int_equal(bfloat16_from_float(1.0f), 0x3F80);
    assert_int_equal(bfloat16_from_float(0x1.01p0f), 0x3F80); // a tie, to even
    assert_int_equal(bfloat16_from_float(0x1.03p0f), 0x3F82); // a tie, to even
    assert_int_equal(bfloat16_from_float(0x1.010002p0f), 0x3F81);
    assert_int_equal(bfloat16_from_float(0x1.fffffep127f), 0x7F80); // beyond the largest
    assert_int_equal(bfloat16_from_float(-INFINITY), 0xFF80);
    assert_true(isnan(bfloat16_to_float(bfloat16_from_float(NAN))));
    assert_true(bfloat16_to_float(0x7F7F) == 0x1.FEp127f);
    assert_true(bfloat16_to_float(0x0001) == 0x1p-133f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_promotion),
        cmocka_unit_test(test_scalar_to_element),
        cmocka_unit_test(test_element_to_scalar),
        cmocka_unit_test(test_float16),
        cmocka_unit_test(test_bfloat16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
