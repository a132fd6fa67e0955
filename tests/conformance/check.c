// SPDX-License-Identifier: Apache-2.0
// Counting, rounding and comparing.
#include "tests/conformance/conformance.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int passed, failed;
static bool seen[OP_COUNT];

void check(bool ok, const char *format, ...)
{
    if (ok) {
        passed++;
        return;
    }
    if (failed++ < 60) {
        va_list arguments;
        va_start(arguments, format);
        printf("FAILED ");
        vprintf(format, arguments);
        printf("\n");
        va_end(arguments);
    }
}

void exercised(enum op op)
{
    seen[op] = true;
}

void report_unexercised(void)
{
    // Draws have no value to compare: tests/unit/tensor/test_generators.c
    for (int op = 0; op < OP_COUNT; op++)
        check(seen[op] || op_draws(op), "%s: never exercised", op_row(op)->name);
}

long double real(struct scalar scalar)
{
    return scalar.kind == SCALAR_FLOAT ? (long double)scalar.f : (long double)scalar.i;
}

static int mantissa_bits(enum dtype dtype)
{
    return dtype == DTYPE_FLOAT16    ? 11
           : dtype == DTYPE_BFLOAT16 ? 8
           : dtype == DTYPE_FLOAT32  ? 24
                                     : 53;
}

static int least_exponent(enum dtype dtype) // of the smallest subnormal's bit
{
    return dtype == DTYPE_FLOAT16    ? -24
           : dtype == DTYPE_BFLOAT16 ? -133
           : dtype == DTYPE_FLOAT32  ? -149
                                     : -1074;
}

int64_t ulp_distance(double a, double b, enum dtype dtype)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
        return INT64_MAX;
    int exponent;
    frexp(fmax(fabs(a), fabs(b)), &exponent);
    int unit = exponent - mantissa_bits(dtype);
    if (unit < least_exponent(dtype))
        unit = least_exponent(dtype);
    double distance = ldexp(fabs(a - b), -unit);
    return distance < 1e15 ? (int64_t)ceil(distance) : INT64_MAX;
}

struct scalar wrap_integer(__int128 value, enum dtype dtype)
{
    int bits = dtype_size(dtype) * 8;
    if (dtype == DTYPE_BOOL)
        return of_bool(value != 0);
    unsigned __int128 mask = ((unsigned __int128)1 << bits) - 1,
                      low = (unsigned __int128)value & mask;
    if (dtype != DTYPE_UINT8 && low >> (bits - 1))
        return of_int((int64_t)((__int128)low - ((__int128)1 << bits)));
    return of_int((int64_t)low);
}

struct scalar to_dtype(long double value, enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT64:
        return of_float((double)value);
    case DTYPE_FLOAT32:
        return of_float((double)(float)value);
    case DTYPE_FLOAT16:
        return of_float((double)(float)(_Float16)(float)value);
    case DTYPE_BFLOAT16: {
        // By hand: round the float to 8 bits of mantissa, ties to even.
        float narrow = (float)value;
        if (isnan(narrow) || isinf(narrow) || narrow == 0)
            return of_float((double)narrow);
        int exponent;
        frexpf(narrow, &exponent);
        int unit = exponent - 8 < -133 ? -133 : exponent - 8;
        double rounded = ldexp(nearbyint(ldexp((double)narrow, -unit)), unit);
        return of_float(fabs(rounded) >= ldexp(1, 128) ? copysign(INFINITY, rounded)
                                                       : rounded);
    }
    case DTYPE_BOOL:
        return of_bool(value != 0);
    default:
        // x86's conversion: out of range and NaN are the smallest int64; then wrap.
        if (!(value > -9223372036854775809.0L && value < 9223372036854775808.0L))
            return wrap_integer((__int128)INT64_MIN, dtype);
        return wrap_integer((__int128)truncl(value), dtype);
    }
}

static struct scalar edge(enum dtype dtype, unsigned i)
{
    static const double floats[] = {0.0,       -0.0, 1.0, -1.0, 0.5,  INFINITY,
                                    -INFINITY, NAN,  2.0, -3.5, 1e-3, 300.0};
    if (dtype_is_float(dtype))
        return to_dtype(floats[i % 12], dtype);
    if (dtype == DTYPE_BOOL)
        return of_bool(i % 2);
    int bits = dtype_size(dtype) * 8;
    bool is_signed = dtype != DTYPE_UINT8;
    __int128 top = ((__int128)1 << (bits - is_signed)) - 1,
             bottom = is_signed ? -top - 1 : 0;
    __int128 list[] = {0, 1, top, bottom, top - 1, bottom + 1, 2, 7};
    return of_int((int64_t)list[i % 8]);
}

void fill(struct scalar *items, int64_t count, enum dtype dtype, unsigned seed, bool tame)
{
    uint64_t state = seed * 2654435761u + 88172645463325252u;
    for (int64_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        if (tame) {
            int64_t small = (int64_t)(state % 16) + 1;
            bool negative = state >> 40 & 1 && dtype != DTYPE_UINT8;
            items[i] = dtype == DTYPE_BOOL ? of_bool(state >> 20 & 1)
                       : dtype_is_float(dtype)
                           ? of_float((negative ? -0.25 : 0.25) * (double)small)
                           : of_int(negative ? -small : small);
        } else if (state % 4 == 0) {
            items[i] = edge(dtype, (unsigned)(state >> 8));
        } else if (dtype_is_float(dtype)) {
            items[i] = to_dtype(
                (long double)((int64_t)(state >> 11) - (1LL << 52)) / (1LL << 49), dtype);
        } else {
            items[i] = wrap_integer((__int128)state, dtype);
        }
    }
}
