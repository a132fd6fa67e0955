// SPDX-License-Identifier: Apache-2.0
// Every elementwise operation in every dtype, against an oracle in double (floats) or
// 128-bit integers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cuda/fixture.h"

typedef __int128 wide;

static wide floor_quotient(wide a, wide b)
{
    wide quotient = a / b;
    return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

// a to the power of b, modulo 2^64, by repeated multiplication.
static wide integer_power(int64_t a, int64_t b)
{
    uint64_t result = 1;
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (int64_t i = 0; i < b; i++)
        result *= (uint64_t)a;
    return (int64_t)result;
}

static wide integer_oracle(enum map_op op, wide a, wide b, wide c)
{
    switch (op) {
    case MAP_add:
        return a + b;
    case MAP_sub:
        return a - b;
    case MAP_mul:
        return a * b;
    case MAP_floor_divide:
        return floor_quotient(a, b);
    case MAP_remainder:
        return a - floor_quotient(a, b) * b;
    case MAP_truncate_divide:
        return a / b;
    case MAP_pow:
        return integer_power((int64_t)a, (int64_t)b);
    case MAP_neg:
        return -a;
    case MAP_abs:
        return a < 0 ? -a : a;
    case MAP_sign:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    case MAP_eq:
        return a == b;
    case MAP_ne:
        return a != b;
    case MAP_lt:
        return a < b;
    case MAP_le:
        return a <= b;
    case MAP_gt:
        return a > b;
    case MAP_ge:
        return a >= b;
    case MAP_logical_and:
        return a && b;
    case MAP_logical_or:
        return a || b;
    case MAP_logical_xor:
        return !a != !b;
    case MAP_logical_not:
        return !a;
    case MAP_bitwise_and:
        return a & b;
    case MAP_bitwise_or:
        return a | b;
    case MAP_bitwise_xor:
        return a ^ b;
    case MAP_bitwise_not:
        return -a - 1;
    case MAP_relu:
        return a > 0 ? a : 0;
    case MAP_square:
        return (wide)((unsigned __int128)a * (unsigned __int128)a);
    case MAP_floor:
    case MAP_ceil:
    case MAP_round:
    case MAP_trunc:
        return a;
    case MAP_minimum:
        return a < b ? a : b;
    case MAP_maximum:
        return a > b ? a : b;
    case MAP_where:
        return a ? b : c;
    default:
        break;
    }
    fail_msg("the oracle does not know %s for integers", map_name(op));
    return 0;
}

static double float_remainder(double a, double b)
{
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// As Python's //: infinities have no quotient, and nothing but 0 is a multiple of one.
static double float_floor_quotient(double a, double b)
{
    if (b == 0)
        return a / b;
    if (isinf(a))
        return NAN;
    if (isinf(b))
        return a != 0 && (a < 0) != (b < 0) ? -1 : 0;
    return (double)floorl((long double)a / b);
}

static double float_oracle(enum map_op op, double a, double b, double c)
{
    switch (op) {
    case MAP_add:
        return a + b;
    case MAP_sub:
        return a - b;
    case MAP_mul:
        return a * b;
    case MAP_div:
        return a / b;
    case MAP_floor_divide:
        return float_floor_quotient(a, b);
    case MAP_remainder:
        return float_remainder(a, b);
    case MAP_truncate_divide:
        return trunc(a / b);
    case MAP_pow:
        return pow(a, b);
    case MAP_neg:
        return -a;
    case MAP_abs:
        return fabs(a);
    case MAP_sign:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    case MAP_eq:
        return a == b;
    case MAP_ne:
        return a != b;
    case MAP_lt:
        return a < b;
    case MAP_le:
        return a <= b;
    case MAP_gt:
        return a > b;
    case MAP_ge:
        return a >= b;
    case MAP_exp:
        return exp(a);
    case MAP_expm1:
        return expm1(a);
    case MAP_log:
        return log(a);
    case MAP_log1p:
        return log1p(a);
    case MAP_log2:
        return log2(a);
    case MAP_sqrt:
        return sqrt(a);
    case MAP_rsqrt:
        return 1 / sqrt(a);
    case MAP_sin:
        return sin(a);
    case MAP_cos:
        return cos(a);
    case MAP_tan:
        return tan(a);
    case MAP_tanh:
        return tanh(a);
    case MAP_sigmoid:
        return 1 / (1 + exp(-a));
    case MAP_relu:
        return a < 0 ? 0 : a;
    case MAP_square:
        return a * a;
    case MAP_reciprocal:
        return 1 / a;
    case MAP_exp2:
        return exp2(a);
    case MAP_log10:
        return log10(a);
    case MAP_atan:
        return atan(a);
    case MAP_erf:
        return erf(a);
    case MAP_gelu:
        return (double)(a * (erfcl(-a * sqrtl(0.5L)) / 2));
    case MAP_floor:
        return floor(a);
    case MAP_ceil:
        return ceil(a);
    case MAP_round:
        return nearbyint(a);
    case MAP_trunc:
        return trunc(a);
    case MAP_minimum:
        return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    case MAP_maximum:
        return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
    case MAP_where:
        return a != 0 ? b : c;
    default:
        break;
    }
    fail_msg("the oracle does not know %s for floats", map_name(op));
    return 0;
}

// Operand values: special ones first, then a spread.
enum { COUNT = 1000 };
static const double float_specials[] = {0.0, -0.0, 1,        -1,        0.5, -0.5,
                                        2.5, -2.5, INFINITY, -INFINITY, NAN, 3,
                                        -7,  1e-3, 100,      65504};
static const int64_t integer_specials[] = {0,
                                           1,
                                           -1,
                                           2,
                                           7,
                                           -7,
                                           127,
                                           -128,
                                           255,
                                           32767,
                                           -32768,
                                           2147483647,
                                           -2147483647 - 1,
                                           INT64_MAX,
                                           INT64_MIN,
                                           64};

static void fill(void *data, enum dtype dtype, unsigned seed, int stride)
{
    uint32_t random = seed;
    for (int i = 0; i < COUNT; i++) {
        int special = i / stride % 16;
        double spread = ((double)fixture_random(&random) / (1 << 23) - 1) * 20;
        if (dtype_is_float(dtype)) {
            fixture_set(data, dtype, i, i < 256 ? float_specials[special] : spread);
        } else if (dtype == DTYPE_BOOL) {
            ((uint8_t *)data)[i] = (uint8_t)(fixture_random(&random) & 1);
        } else {
            int64_t value = i < 256 ? integer_specials[special] : (int64_t)spread;
            memcpy((char *)data + i * dtype_size(dtype), &value,
                   (size_t)dtype_size(dtype));
        }
    }
}

static int64_t integer_at(const void *data, enum dtype dtype, int i)
{
    int64_t exact;
    if (dtype != DTYPE_INT64)
        return (int64_t)fixture_get(data, dtype, i);
    memcpy(&exact, (const char *)data + i * 8, 8);
    return exact;
}

// The divisor must not be 0, and powers stay short.
static void make_valid(void *data, enum map_op op, enum dtype dtype)
{
    bool divides =
        op == MAP_floor_divide || op == MAP_remainder || op == MAP_truncate_divide;
    if (dtype_is_float(dtype) || (!divides && op != MAP_pow))
        return;
    for (int i = 0; i < COUNT; i++) {
        int64_t value = integer_at(data, dtype, i);
        if (divides && value == 0)
            value = 3;
        if (op == MAP_pow)
            value = value % 40;
        memcpy((char *)data + i * dtype_size(dtype), &value, (size_t)dtype_size(dtype));
    }
}

static void check_integer(enum map_op op, enum dtype dtype, const void *const *data,
                          const void *out, int i)
{
    enum dtype result = map_result_dtype(op, dtype);
    wide expected =
        integer_oracle(op, integer_at(data[0], op == MAP_where ? DTYPE_BOOL : dtype, i),
                       integer_at(data[1], dtype, i), integer_at(data[2], dtype, i));
    int64_t wrapped = (int64_t)(uint64_t)expected, stored = 0;
    if (result == DTYPE_BOOL)
        wrapped = expected != 0;
    memcpy(&stored, &wrapped, (size_t)dtype_size(result));
    int64_t got = 0;
    memcpy(&got, (const char *)out + i * dtype_size(result), (size_t)dtype_size(result));
    if (got != stored)
        fail_msg("%s %s, element %d: %ld, not %ld", map_name(op), dtype_name(dtype), i,
                 (long)got, (long)stored);
}

static void check_float(enum map_op op, enum dtype dtype, const void *const *data,
                        const void *out, int i)
{
    enum dtype result = map_result_dtype(op, dtype);
    double a = fixture_get(data[0], op == MAP_where ? DTYPE_BOOL : dtype, i);
    double b = fixture_get(data[1], dtype, i), c = fixture_get(data[2], dtype, i);
    double expected = float_oracle(op, a, b, c), got = fixture_get(out, result, i);
    char rounded[8];
    fixture_set(rounded, result, 0, expected);
    double nearest = fixture_get(rounded, result, 0);
    double allowed = dtype == DTYPE_FLOAT64 || dtype == DTYPE_FLOAT32 ? 4 : 1;
    bool jumps = op == MAP_floor_divide ||
                 op == MAP_truncate_divide; // one step at a rounded quotient
    double step =
        jumps ? fmax(1, fixture_ulp(dtype, expected)) : fixture_ulp(dtype, expected);
    if (op == MAP_remainder)
        step = fmax(step, fixture_ulp(dtype, b));
    if (isnan(nearest) ? !isnan(got)
        : isinf(nearest) || isinf(got)
            ? got != nearest && fabs(fabs(expected) / 65504 - 1) > 0.01
            : fabs(got - expected) > allowed * step)
        fail_msg("%s %s, element %d of (%g, %g, %g): %.17g, not %.17g", map_name(op),
                 dtype_name(dtype), i, a, b, c, got, expected);
}

static void run_one(enum map_op op, enum dtype dtype)
{
    int arity = map_arity(op), size = dtype_size(dtype);
    enum dtype result = map_result_dtype(op, dtype);
    void *host[3], *on_device[3], *out = calloc(COUNT, 8);
    struct pass pass = {
        .ndim = 1, .shape = {COUNT}, .n_inputs = arity, .n_instructions = 1};
    for (int o = 0; o < 3; o++) {
        enum dtype of_operand = op == MAP_where && o == 0 ? DTYPE_BOOL : dtype;
        host[o] = calloc(COUNT, 8);
        fill(host[o], of_operand, 11u + (unsigned)o, o == 0 ? 1 : 16);
        if (o == 1)
            make_valid(host[o], op, dtype);
        on_device[o] = o < arity ? fixture_put(host[o], COUNT * size) : NULL;
        if (o < arity)
            pass.inputs[o] = (struct pass_input){.kind = PASS_MEMORY,
                                                 .dtype = of_operand,
                                                 .data = on_device[o],
                                                 .strides = {1}};
    }
    pass.instructions[0] = (struct pass_instruction){
        (uint8_t)op, (uint8_t)dtype, 0, arity > 1 ? 1 : 0, arity > 2 ? 2 : 0};
    pass.output = fixture_block(COUNT * dtype_size(result));
    pass.output_dtype = result;
    pass.output_strides[0] = 1;
    fixture_pass(&pass);
    fixture_take(pass.output, out, COUNT * dtype_size(result));
    for (int i = 0; i < COUNT; i++) {
        if (dtype_is_float(dtype))
            check_float(op, dtype, (const void *const *)host, out, i);
        else
            check_integer(op, dtype, (const void *const *)host, out, i);
    }
    for (int o = 0; o < 3; o++) {
        if (o < arity)
            fixture_drop(on_device[o], COUNT * size);
        free(host[o]);
    }
    free(out);
}

static void test_every_operation(void **state)
{
    int pairs = 0;
    for (int op = MAP_CAST + 1; op < MAP_COUNT; op++) {
        for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
            if (map_dtypes((enum map_op)op) >> dtype & 1) {
                run_one((enum map_op)op, (enum dtype)dtype);
                pairs++;
            }
        }
    }
    assert_true(pairs > 250);
}

static enum status divide(enum map_op op, enum dtype dtype, int64_t divisor,
                          struct problem *problem)
{
    int64_t values[2] = {5, divisor}, out = 0;
    void *data = fixture_put(values, sizeof values), *result = fixture_put(&out, 8);
    struct pass pass = {.ndim = 1,
                        .shape = {1},
                        .n_inputs = 2,
                        .n_instructions = 1,
                        .output = result,
                        .output_dtype = dtype,
                        .output_strides = {1}};
    for (int o = 0; o < 2; o++)
        pass.inputs[o] = (struct pass_input){.kind = PASS_MEMORY,
                                             .dtype = dtype,
                                             .data = (char *)data + 8 * o,
                                             .strides = {1}};
    pass.instructions[0] =
        (struct pass_instruction){(uint8_t)op, (uint8_t)dtype, 0, 1, 0};
    enum status status =
        fixture_try(&(struct kernel){.form = KERNEL_PASS, .pass = &pass}, problem);
    fixture_drop(data, sizeof values);
    fixture_drop(result, 8);
    return status;
}

static void test_zero_division(void **state)
{
    static const enum map_op ops[] = {MAP_floor_divide, MAP_remainder,
                                      MAP_truncate_divide};
    struct problem problem;
    for (int o = 0; o < 3; o++) {
        for (enum dtype dtype = DTYPE_UINT8; dtype <= DTYPE_INT64; dtype++) {
            assert_int_equal(divide(ops[o], dtype, 0, &problem), STATUS_ZERO_DIVISION);
            assert_int_equal(divide(ops[o], dtype, 2, &problem),
                             STATUS_OK); // reported once
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_zero_division),
    };
    return fixture_run("map", tests, sizeof tests / sizeof *tests);
}
