// SPDX-License-Identifier: Apache-2.0
// The module math: functions of one or two floats, and the table of all. The C library
// computes; what Python adds are the errors: "math domain error" where a number has no
// answer, "math range error" where the answer is beyond a float. The program's thread.
#include <math.h>

#include "api/lang/builtins.h"
#include "api/lang/builtins_table.h"

// ---- One argument

static enum outcome domain_error(struct vm *vm)
{
    return vm_raise(vm, STATUS_VALUE, "math domain error");
}

static enum outcome range_error(struct vm *vm)
{
    return vm_raise(vm, STATUS_OVERFLOW, "math range error");
}

// Infinite results of finite arguments: too large where the function grows that far, else
// at a pole.
static enum outcome one_float(struct vm *vm, struct value *slots,
                              double (*function)(double), bool grows,
                              struct value *result)
{
    double x;
    enum outcome outcome = value_to_double(vm, slots[0], &x);
    if (outcome != OUTCOME_OK)
        return outcome;
    double y = function(x);
    if (isnan(y) && !isnan(x))
        return domain_error(vm);
    if (isinf(y) && isfinite(x))
        return grows ? range_error(vm) : domain_error(vm);
    *result = value_float(y);
    return OUTCOME_OK;
}

#define ONE_FLOAT(name, function, grows)                                                 \
    static enum outcome math_##name(struct vm *vm, struct value *slots,                  \
                                    struct value *result)                                \
    {                                                                                    \
        return one_float(vm, slots, function, grows, result);                            \
    }

static double to_degrees(double x)
{
    return x * (180.0 / M_PI);
}

static double to_radians(double x)
{
    return x * (M_PI / 180.0);
}

// The distance to the next float.
static double unit_in_last_place(double x)
{
    x = fabs(x);
    if (!isfinite(x))
        return x;
    double next = nextafter(x, INFINITY);
    return isinf(next) ? x - nextafter(x, 0.0) : next - x;
}

// The poles of gamma at 0 and the negative integers are no numbers for Python.
static double gamma_function(double x)
{
    if (x == 0.0 || (x < 0.0 && x == floor(x)))
        return NAN;
    return tgamma(x);
}

static double log_gamma(double x)
{
    int sign;
    if (isinf(x))
        return INFINITY;
    return x <= 0.0 && x == floor(x) ? NAN : lgamma_r(x, &sign);
}

ONE_FLOAT(sqrt, sqrt, false)
ONE_FLOAT(cbrt, cbrt, false)
ONE_FLOAT(exp, exp, true)
ONE_FLOAT(exp2, exp2, true)
ONE_FLOAT(expm1, expm1, true)
ONE_FLOAT(log2, log2, false)
ONE_FLOAT(log10, log10, false)
ONE_FLOAT(log1p, log1p, false)
ONE_FLOAT(sin, sin, false)
ONE_FLOAT(cos, cos, false)
ONE_FLOAT(tan, tan, false)
ONE_FLOAT(asin, asin, false)
ONE_FLOAT(acos, acos, false)
ONE_FLOAT(atan, atan, false)
ONE_FLOAT(sinh, sinh, true)
ONE_FLOAT(cosh, cosh, true)
ONE_FLOAT(tanh, tanh, false)
ONE_FLOAT(asinh, asinh, false)
ONE_FLOAT(acosh, acosh, false)
ONE_FLOAT(atanh, atanh, false)
ONE_FLOAT(fabs, fabs, false)
ONE_FLOAT(degrees, to_degrees, true)
ONE_FLOAT(radians, to_radians, false)
ONE_FLOAT(erf, erf, false)
ONE_FLOAT(erfc, erfc, false)
ONE_FLOAT(gamma, gamma_function, true)
ONE_FLOAT(lgamma, log_gamma, true)
ONE_FLOAT(ulp, unit_in_last_place, false)

static enum outcome math_log(struct vm *vm, struct value *slots, struct value *result)
{
    enum outcome outcome = one_float(vm, slots, log, false, result);
    if (outcome != OUTCOME_OK || slots[1].tag == VALUE_ABSENT)
        return outcome;
    struct value base = value_float(1.0);
    outcome = one_float(vm, slots + 1, log, false, &base);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (base.f == 0.0)
        return vm_raise(vm, STATUS_ZERO_DIVISION, "float division by zero");
    result->f /= base.f;
    return OUTCOME_OK;
}

// ---- Questions

#define QUESTION(name, expression)                                                       \
    static enum outcome math_##name(struct vm *vm, struct value *slots,                  \
                                    struct value *result)                                \
    {                                                                                    \
        double x;                                                                        \
        enum outcome outcome = value_to_double(vm, slots[0], &x);                        \
        if (outcome == OUTCOME_OK)                                                       \
            *result = value_bool(expression);                                            \
        return outcome;                                                                  \
    }
QUESTION(isnan, isnan(x))
QUESTION(isinf, isinf(x))
QUESTION(isfinite, isfinite(x))

static enum outcome math_isclose(struct vm *vm, struct value *slots, struct value *result)
{
    double a, b, relative = 1e-9, absolute = 0.0,
                 *numbers[] = {&a, &b, &relative, &absolute};
    enum outcome all = OUTCOME_OK;
    for (int i = 0; i < 4; i++)
        if (slots[i].tag != VALUE_ABSENT &&
            !outcome_keep(&all, value_to_double(vm, slots[i], numbers[i])))
            return OUTCOME_ERROR;
    if (all != OUTCOME_OK)
        return all;
    if (relative < 0.0 || absolute < 0.0)
        return vm_raise(vm, STATUS_VALUE, "tolerances must be non-negative");
    double difference = fabs(b - a);
    bool close = a == b;
    if (!close && !isinf(a) && !isinf(b))
        close = difference <= fabs(relative * b) || difference <= fabs(relative * a) ||
                difference <= absolute;
    *result = value_bool(close);
    return OUTCOME_OK;
}

// ---- To integers

static enum outcome to_whole(struct vm *vm, struct value *slots,
                             double (*function)(double), struct value *result)
{
    if (value_is_integer(slots[0])) {
        *result = value_int(slots[0].i);
        return OUTCOME_OK;
    }
    double x;
    int64_t whole;
    enum outcome outcome = value_to_double(vm, slots[0], &x);
    if (outcome == OUTCOME_OK)
        outcome = float_to_int(vm, function(x), &whole);
    if (outcome == OUTCOME_OK)
        *result = value_int(whole);
    return outcome;
}

static enum outcome math_floor(struct vm *vm, struct value *slots, struct value *result)
{
    return to_whole(vm, slots, floor, result);
}

static enum outcome math_ceil(struct vm *vm, struct value *slots, struct value *result)
{
    return to_whole(vm, slots, ceil, result);
}

static enum outcome math_trunc(struct vm *vm, struct value *slots, struct value *result)
{
    if (!value_is_number(slots[0]) && !value_is_tensor(slots[0]))
        return vm_raise(vm, STATUS_TYPE, "type %s doesn't define __trunc__ method",
                        value_type_name(slots[0]));
    return to_whole(vm, slots, trunc, result);
}

// ---- Two arguments

static enum outcome two_doubles(struct vm *vm, struct value *slots, double *x, double *y)
{
    enum outcome all = value_to_double(vm, slots[0], x);
    if (all != OUTCOME_ERROR)
        outcome_keep(&all, value_to_double(vm, slots[1], y));
    return all;
}

static enum outcome math_atan2(struct vm *vm, struct value *slots, struct value *result)
{
    double y, x;
    enum outcome outcome = two_doubles(vm, slots, &y, &x);
    if (outcome == OUTCOME_OK)
        *result = value_float(atan2(y, x));
    return outcome;
}

static enum outcome math_copysign(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    double x, y;
    enum outcome outcome = two_doubles(vm, slots, &x, &y);
    if (outcome == OUTCOME_OK)
        *result = value_float(copysign(x, y));
    return outcome;
}

static enum outcome math_nextafter(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    double x, y;
    enum outcome outcome = two_doubles(vm, slots, &x, &y);
    if (outcome == OUTCOME_OK)
        *result = value_float(nextafter(x, y));
    return outcome;
}

static enum outcome two_or_domain(struct vm *vm, struct value *slots,
                                  double (*function)(double, double),
                                  struct value *result)
{
    double x, y;
    enum outcome outcome = two_doubles(vm, slots, &x, &y);
    if (outcome != OUTCOME_OK)
        return outcome;
    double z = function(x, y);
    if (isnan(z) && !isnan(x) && !isnan(y))
        return domain_error(vm);
    *result = value_float(z);
    return OUTCOME_OK;
}

static enum outcome math_fmod(struct vm *vm, struct value *slots, struct value *result)
{
    return two_or_domain(vm, slots, fmod, result);
}

static enum outcome math_remainder(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    return two_or_domain(vm, slots, remainder, result);
}

static enum outcome math_pow(struct vm *vm, struct value *slots, struct value *result)
{
    double x, y;
    enum outcome outcome = two_doubles(vm, slots, &x, &y);
    if (outcome != OUTCOME_OK)
        return outcome;
    double z = pow(x, y);
    if (isnan(z) && !isnan(x) && !isnan(y))
        return domain_error(vm);
    if (isinf(z) && isfinite(x) && isfinite(y))
        return x == 0.0 ? domain_error(vm) : range_error(vm);
    *result = value_float(z);
    return OUTCOME_OK;
}

static enum outcome math_ldexp(struct vm *vm, struct value *slots, struct value *result)
{
    double x;
    enum outcome outcome = value_to_double(vm, slots[0], &x);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!value_is_integer(slots[1]))
        return vm_raise(vm, STATUS_TYPE, "Expected an int as second argument to ldexp.");
    int64_t exponent = slots[1].i;
    exponent = exponent > 10000 ? 10000 : exponent < -10000 ? -10000 : exponent;
    double y = ldexp(x, (int)exponent);
    if (isinf(y) && isfinite(x))
        return range_error(vm);
    *result = value_float(y);
    return OUTCOME_OK;
}

static enum outcome pair(struct vm *vm, struct value a, struct value b,
                         struct value *result)
{
    struct value items[] = {a, b};
    struct tuple *tuple = tuple_new(vm_heap(vm), 2, items, vm_problem(vm));
    if (tuple == NULL)
        return OUTCOME_ERROR;
    *result = value_of(tuple);
    return OUTCOME_OK;
}

static enum outcome math_modf(struct vm *vm, struct value *slots, struct value *result)
{
    double x, whole;
    enum outcome outcome = value_to_double(vm, slots[0], &x);
    if (outcome != OUTCOME_OK)
        return outcome;
    double fraction = modf(x, &whole);
    return pair(vm, value_float(fraction), value_float(whole), result);
}

static enum outcome math_frexp(struct vm *vm, struct value *slots, struct value *result)
{
    double x;
    int exponent = 0;
    enum outcome outcome = value_to_double(vm, slots[0], &x);
    if (outcome != OUTCOME_OK)
        return outcome;
    double mantissa = isfinite(x) ? frexp(x, &exponent) : x;
    return pair(vm, value_float(mantissa), value_int(exponent), result);
}

// ---- Names

bool math_constant(const char *name, size_t length, double *out)
{
    static const struct {
        const char *name;
        double value;
    } constants[] = {
        {"pi", M_PI}, {"e", M_E}, {"tau", 2 * M_PI}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strlen(constants[i].name) == length &&
            memcmp(constants[i].name, name, length) == 0) {
            *out = constants[i].value;
            return true;
        }
    return false;
}

#define ROW(which, arguments)                                                            \
    {                                                                                    \
        .name = #which, .signature = arguments, .function = math_##which                 \
    }
struct native math_functions[] = {
    ROW(acos, "x, /"),          ROW(acosh, "x, /"),
    ROW(asin, "x, /"),          ROW(asinh, "x, /"),
    ROW(atan, "x, /"),          ROW(atan2, "y, x, /"),
    ROW(atanh, "x, /"),         ROW(cbrt, "x, /"),
    ROW(ceil, "x, /"),          ROW(comb, "n, k, /"),
    ROW(copysign, "x, y, /"),   ROW(cos, "x, /"),
    ROW(cosh, "x, /"),          ROW(degrees, "x, /"),
    ROW(dist, "p, q, /"),       ROW(erf, "x, /"),
    ROW(erfc, "x, /"),          ROW(exp, "x, /"),
    ROW(exp2, "x, /"),          ROW(expm1, "x, /"),
    ROW(fabs, "x, /"),          ROW(factorial, "n, /"),
    ROW(floor, "x, /"),         ROW(fmod, "x, y, /"),
    ROW(frexp, "x, /"),         ROW(fsum, "~seq, /"),
    ROW(gamma, "x, /"),         ROW(gcd, "*integers"),
    ROW(hypot, "*coordinates"), ROW(isclose, "a, b, *, rel_tol=, abs_tol="),
    ROW(isfinite, "x, /"),      ROW(isinf, "x, /"),
    ROW(isnan, "x, /"),         ROW(isqrt, "n, /"),
    ROW(lcm, "*integers"),      ROW(ldexp, "x, i, /"),
    ROW(lgamma, "x, /"),        ROW(log, "x, base=, /"),
    ROW(log10, "x, /"),         ROW(log1p, "x, /"),
    ROW(log2, "x, /"),          ROW(modf, "x, /"),
    ROW(nextafter, "x, y, /"),  ROW(perm, "n, k=, /"),
    ROW(pow, "x, y, /"),        ROW(prod, "~iterable, /, *, start="),
    ROW(radians, "x, /"),       ROW(remainder, "x, y, /"),
    ROW(sin, "x, /"),           ROW(sinh, "x, /"),
    ROW(sqrt, "x, /"),          ROW(tan, "x, /"),
    ROW(tanh, "x, /"),          ROW(trunc, "x, /"),
    ROW(ulp, "x, /"),           {0},
};
