// SPDX-License-Identifier: Apache-2.0
// Arithmetic of floats as Python defines it: division and powers that would leave the
// real or finite numbers are problems, while + - * make infinities. Pure functions but
// for the problem.
#include <math.h>

#include "api/lang/number.h"

// The remainder has the sign of b, also where it is zero; the quotient is whole.
void float_divmod(double a, double b, double *quotient, double *remainder)
{
    double rest = fmod(a, b);
    double ratio = (a - rest) / b;
    if (rest == 0) {
        rest = copysign(0.0, b);
    } else if ((rest < 0) != (b < 0)) {
        rest += b;
        ratio -= 1;
    }
    double whole;
    if (ratio == 0) {
        whole = copysign(0.0, a / b);
    } else {
        whole = floor(ratio);
        if (ratio - whole > 0.5)
            whole += 1;
    }
    *quotient = whole;
    *remainder = rest;
}

// As float_divmod's remainder.
static double float_modulo(double a, double b)
{
    double rest = fmod(a, b);
    if (rest == 0)
        return copysign(0.0, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

static enum outcome float_power(struct vm *vm, double a, double b, struct value *result)
{
    if (a == 0 && b < 0 && isfinite(b))
        return vm_raise(vm, STATUS_ZERO_DIVISION,
                        "0.0 cannot be raised to a negative power");
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b))
        return vm_raise(vm, STATUS_VALUE,
                        "a negative number to a fractional power is "
                        "complex, which programs here do not have");
    double power = pow(a, b);
    if (isinf(power) && isfinite(a) && isfinite(b))
        return vm_raise(vm, STATUS_OVERFLOW, "(34, 'Numerical result out of range')");
    *result = value_float(power);
    return OUTCOME_OK;
}

enum outcome float_binary(struct vm *vm, enum binary_op op, double a, double b,
                          struct value *result, bool *supported)
{
    double quotient, remainder;
    switch (op) {
    case BINARY_ADD:
        *result = value_float(a + b);
        return OUTCOME_OK;
    case BINARY_SUB:
        *result = value_float(a - b);
        return OUTCOME_OK;
    case BINARY_MUL:
        *result = value_float(a * b);
        return OUTCOME_OK;
    case BINARY_DIV:
        if (b == 0)
            return vm_raise(vm, STATUS_ZERO_DIVISION, "float division by zero");
        *result = value_float(a / b);
        return OUTCOME_OK;
    case BINARY_FLOOR_DIV:
        if (b == 0)
            return vm_raise(vm, STATUS_ZERO_DIVISION, "float floor division by zero");
        float_divmod(a, b, &quotient, &remainder);
        *result = value_float(quotient);
        return OUTCOME_OK;
    case BINARY_MOD:
        if (b == 0)
            return vm_raise(vm, STATUS_ZERO_DIVISION, "float modulo");
        *result = value_float(float_modulo(a, b));
        return OUTCOME_OK;
    case BINARY_POW:
        return float_power(vm, a, b, result);
    default:
        *supported = false;
        return OUTCOME_OK;
    }
}
