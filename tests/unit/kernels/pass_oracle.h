// SPDX-License-Identifier: Apache-2.0
// A slow, plain interpreter of passes for the tests of host/pass*.c: one element at a
// time, integers in
// __int128, floats in long double, written from the operations' definitions and not from
// ops.def. Also: running a prepared pass in several ways, and a small random number
// generator.
#ifndef TENSORD_TESTS_PASS_ORACLE_H
#define TENSORD_TESTS_PASS_ORACLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/host/levels.h"
#include "kernels/host/pass.h"

#define UNUSED __attribute__((unused))

struct number {
    bool real;
    __int128 i;
    long double f;
};

// ---- Elements, by the formats' definitions
UNUSED static long double decode_small_float(uint16_t bits, int exponent_bits,
                                             int fraction_bits)
{
    int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    int fraction = bits & ((1 << fraction_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    long double value;
    if (exponent == (1 << exponent_bits) - 1)
        value = fraction != 0 ? (long double)NAN : (long double)INFINITY;
    else if (exponent == 0)
        value = ldexpl(fraction, 1 - bias - fraction_bits);
    else
        value = ldexpl((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
    return bits >> 15 ? -value : value;
}

UNUSED static struct number load(enum dtype dtype, const void *at)
{
    union element e = {.i64 = 0};
    memcpy(e.bytes, at, (size_t)dtype_size(dtype));
    switch (dtype) {
    case DTYPE_BOOL:
    case DTYPE_UINT8:
        return (struct number){false, e.u8, 0};
    case DTYPE_INT8:
        return (struct number){false, e.i8, 0};
    case DTYPE_INT16:
        return (struct number){false, e.i16, 0};
    case DTYPE_INT32:
        return (struct number){false, e.i32, 0};
    case DTYPE_INT64:
        return (struct number){false, e.i64, 0};
    case DTYPE_FLOAT16:
        return (struct number){true, 0, decode_small_float(e.bits16, 5, 10)};
    case DTYPE_BFLOAT16:
        return (struct number){true, 0, decode_small_float(e.bits16, 8, 7)};
    case DTYPE_FLOAT32:
        return (struct number){true, 0, e.f32};
    default:
        return (struct number){true, 0, e.f64};
    }
}

// Distance between neighbours of a dtype at |value|.
UNUSED static long double spacing(enum dtype dtype, long double value)
{
    static const int digits[DTYPE_COUNT] = {[DTYPE_FLOAT16] = 11,
                                            [DTYPE_BFLOAT16] = 8,
                                            [DTYPE_FLOAT32] = 24,
                                            [DTYPE_FLOAT64] = 53};
    static const int lowest[DTYPE_COUNT] = {[DTYPE_FLOAT16] = -24,
                                            [DTYPE_BFLOAT16] = -133,
                                            [DTYPE_FLOAT32] = -149,
                                            [DTYPE_FLOAT64] = -1074};
    int exponent;
    frexpl(value, &exponent);
    int e = value == 0 ? lowest[dtype] : exponent - digits[dtype];
    return ldexpl(1, e < lowest[dtype] ? lowest[dtype] : e);
}

// Rounds to the nearest value of a float dtype, ties to even.
UNUSED static long double nearest(enum dtype dtype, long double value)
{
    static const long double largest[DTYPE_COUNT] = {[DTYPE_FLOAT16] = 65504.0L,
                                                     [DTYPE_BFLOAT16] = 0x1.FEp127L,
                                                     [DTYPE_FLOAT32] = 0x1.FFFFFEp127L,
                                                     [DTYPE_FLOAT64] =
                                                         0x1.FFFFFFFFFFFFFp1023L};
    if (isnan(value) || isinf(value) || value == 0)
        return value;
    long double step = spacing(dtype, value), rounded = rintl(value / step) * step;
    return fabsl(rounded) > largest[dtype] ? copysignl(INFINITY, value) : rounded;
}

// Integers wrap into their dtype.
UNUSED static __int128 wrap(enum dtype dtype, __int128 value)
{
    switch (dtype) {
    case DTYPE_UINT8:
        return (uint8_t)value;
    case DTYPE_INT8:
        return (int8_t)value;
    case DTYPE_INT16:
        return (int16_t)value;
    case DTYPE_INT32:
        return (int32_t)value;
    case DTYPE_INT64:
        return (int64_t)value;
    default:
        return value != 0;
    }
}

// The conversion rule of pass.h.
UNUSED static struct number convert(struct number from, enum dtype to)
{
    struct number out = {dtype_is_float(to), 0, 0};
    if (to == DTYPE_BOOL) {
        out.i = from.real ? from.f != 0 : from.i != 0;
    } else if (!out.real) {
        __int128 integer = from.i;
        if (from.real)
            integer = from.f >= -0x1p63L && from.f < 0x1p63L ? (__int128)truncl(from.f)
                                                             : INT64_MIN;
        out.i = wrap(to, integer);
    } else {
        long double value = from.real ? from.f : (long double)(int64_t)from.i;
        if (to == DTYPE_FLOAT16 || to == DTYPE_BFLOAT16)
            value = nearest(DTYPE_FLOAT32, value);
        out.f = nearest(to, value);
    }
    return out;
}

// ---- Operations, by name
UNUSED static __int128 floor_quotient(__int128 a, __int128 b)
{
    __int128 quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

UNUSED static __int128 integer_power(enum dtype dtype, __int128 a, __int128 b)
{
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    __int128 result = wrap(dtype, 1), factor = a;
    for (; b > 0; b /= 2, factor = wrap(dtype, factor * factor))
        if (b % 2 == 1)
            result = wrap(dtype, result * factor);
    return result;
}

#define IS(name) (strcmp(op, name) == 0)

UNUSED static int no_oracle(const char *op)
{
    fail_msg("no oracle for %s", op);
    return 0;
}

// bool and integers; *fault if undefined.
UNUSED static __int128 integer_oracle(const char *op, enum dtype dtype, __int128 a,
                                      __int128 b, __int128 c, bool *fault)
{
    bool divides = IS("floor_divide") || IS("remainder") || IS("truncate_divide");
    if (divides && b == 0) {
        *fault = true;
        return 0;
    }
    return IS("add")               ? a + b
           : IS("sub")             ? a - b
           : IS("mul")             ? a * b
           : IS("floor_divide")    ? floor_quotient(a, b)
           : IS("remainder")       ? a - b * floor_quotient(a, b)
           : IS("truncate_divide") ? a / b
           : IS("pow")             ? integer_power(dtype, a, b)
           : IS("neg")             ? -a
           : IS("abs")             ? (a < 0 ? -a : a)
           : IS("sign")            ? (a > 0   ? 1
                                      : a < 0 ? -1
                                              : 0)
           : IS("eq")              ? a == b
           : IS("ne")              ? a != b
           : IS("lt")              ? a < b
           : IS("le")              ? a <= b
           : IS("gt")              ? a > b
           : IS("ge")              ? a >= b
           : IS("logical_and")     ? a && b
           : IS("logical_or")      ? a || b
           : IS("logical_xor")     ? !a != !b
           : IS("logical_not")     ? !a
           : IS("bitwise_and")     ? (a & b)
           : IS("bitwise_or")      ? (a | b)
           : IS("bitwise_xor")     ? (a ^ b)
           : IS("bitwise_not")     ? -1 - a
           : IS("relu")            ? (a > 0 ? a : 0)
           : IS("square")          ? a * a
           : IS("minimum")         ? (a < b ? a : b)
           : IS("maximum")         ? (a > b ? a : b)
           : IS("where")           ? (a ? b : c)
           : IS("floor") || IS("ceil") || IS("round") || IS("trunc") ? a
                                                                     : no_oracle(op);
}

UNUSED static long double python_remainder(long double a, long double b)
{
    long double rest = fmodl(a, b);
    return rest != 0 && signbit(rest) != signbit(b) ? rest + b : rest;
}

UNUSED static long double floor_divide_oracle(long double a, long double b)
{
    if (b == 0 || isnan(a) || isnan(b) || isinf(a))
        return isinf(a) && b != 0 && !isnan(b) ? (long double)NAN : a / b;
    if (isinf(b))
        return a == 0 || signbit(a) == signbit(b) ? copysignl(0, a / b) : -1;
    long double quotient = rintl((a - python_remainder(a, b)) / b);
    return quotient == 0 ? copysignl(0, a / b) : quotient;
}

// The true result of a float operation (before rounding), or the exact one.
UNUSED static long double float_oracle(const char *op, long double a, long double b)
{
    if (IS("sigmoid"))
        return a >= 0 ? 1 / (1 + expl(-a)) : expl(a) / (1 + expl(a));
    if (IS("minimum"))
        return isnan(a) || isnan(b) ? (long double)NAN : a < b ? a : b;
    if (IS("maximum"))
        return isnan(a) || isnan(b) ? (long double)NAN : a > b ? a : b;
    if (IS("floor_divide"))
        return floor_divide_oracle(a, b);
    if (IS("remainder"))
        return python_remainder(a, b);
    return IS("add")               ? a + b
           : IS("sub")             ? a - b
           : IS("mul")             ? a * b
           : IS("div")             ? a / b
           : IS("truncate_divide") ? a / b // truncated by the caller
           : IS("pow")             ? powl(a, b)
           : IS("neg")             ? -a
           : IS("abs")             ? fabsl(a)
           : IS("sign")            ? (a > 0   ? 1
                                      : a < 0 ? -1
                                              : 0)
           : IS("exp")             ? expl(a)
           : IS("expm1")           ? expm1l(a)
           : IS("log")             ? logl(a)
           : IS("log1p")           ? log1pl(a)
           : IS("log2")            ? log2l(a)
           : IS("sqrt")            ? sqrtl(a)
           : IS("rsqrt")           ? 1 / sqrtl(a)
           : IS("sin")             ? sinl(a)
           : IS("cos")             ? cosl(a)
           : IS("tan")             ? tanl(a)
           : IS("tanh")            ? tanhl(a)
           : IS("relu")            ? (a < 0 ? 0 : a)
           : IS("square")          ? a * a
           : IS("reciprocal")      ? 1 / a
           : IS("exp2")            ? exp2l(a)
           : IS("log10")           ? log10l(a)
           : IS("atan")            ? atanl(a)
           : IS("erf")             ? erfl(a)
           : IS("gelu")            ? a * (erfcl(-a * sqrtl(0.5L)) / 2)
           : IS("floor")           ? floorl(a)
           : IS("ceil")            ? ceill(a)
           : IS("round")           ? rintl(a)
           : IS("trunc")           ? truncl(a)
                                   : no_oracle(op);
}

// ---- Running
UNUSED static void run_spans(const struct pass *pass, bool backwards, int *faults)
{
    struct host_pass *prepared;
    struct problem problem;
    assert_int_equal(host_pass_create(pass, &prepared, &problem), STATUS_OK);
    int64_t spans = host_pass_spans(prepared);
    assert_true(spans >= 1);
    for (int64_t i = 0; i < spans; i++)
        host_pass_run(prepared, backwards ? spans - 1 - i : i, 1, faults);
    host_pass_finish(prepared);
    host_pass_free(prepared);
}

UNUSED static uint64_t random_state = 88172645463325252u;
UNUSED static uint64_t random_bits(void) // xorshift64
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
UNUSED static int64_t random_below(int64_t n)
{
    return (int64_t)(random_bits() % (uint64_t)n);
}

// A small value of dtype at `at` (bool: 0 or 1; integers -20 to 20, unsigned 0 to 40;
// floats in steps of 1/8).
UNUSED static void random_element(enum dtype dtype, void *at)
{
    struct scalar scalar = {.kind = SCALAR_INT};
    scalar.i = random_below(41) - (dtype == DTYPE_UINT8 ? 0 : 20);
    if (dtype == DTYPE_BOOL)
        scalar.i &= 1;
    if (dtype_is_float(dtype))
        scalar = (struct scalar){.kind = SCALAR_FLOAT, .f = (double)scalar.i / 8};
    union element e = scalar_to_element(scalar, dtype, NULL);
    memcpy(at, e.bytes, (size_t)dtype_size(dtype));
}
#endif
