// SPDX-License-Identifier: Apache-2.0
// Integers and mixed arithmetic (number.h): 64-bit checked, floor division, shifts; a
// float on either side makes floats of both (number_float.c). Pure functions but for the
// problem.
#include "api/lang/number.h"

#include <math.h>

static const char *const symbols[] = {
    [BINARY_ADD] = "+",  [BINARY_SUB] = "-",        [BINARY_MUL] = "*",
    [BINARY_DIV] = "/",  [BINARY_FLOOR_DIV] = "//", [BINARY_MOD] = "%",
    [BINARY_POW] = "**", [BINARY_LSHIFT] = "<<",
};

static enum outcome raise_overflow(struct vm *vm, enum binary_op op, int64_t a, int64_t b)
{
    return vm_raise(vm, STATUS_OVERFLOW, "%lld %s %lld does not fit 64 bits",
                    (long long)a, symbols[op], (long long)b);
}

static enum outcome raise_wide(struct vm *vm)
{
    return vm_raise(vm, STATUS_OVERFLOW,
                    "integers here have 64 bits: one of 2**63 or more "
                    "can only be a seed");
}

double number_to_double(struct value number)
{
    return number.tag == VALUE_FLOAT  ? number.f
           : number.tag == VALUE_WIDE ? (double)(uint64_t)number.i
                                      : (double)number.i;
}

// ---- Division

static enum outcome floor_divide(struct vm *vm, enum binary_op op, int64_t a, int64_t b,
                                 struct value *result)
{
    if (b == 0)
        return vm_raise(vm, STATUS_ZERO_DIVISION,
                        op == BINARY_MOD ? "integer modulo by zero"
                                         : "integer division or modulo by zero");
    if (b == -1) { // the only quotient that may not fit
        if (op == BINARY_FLOOR_DIV && a == INT64_MIN)
            return raise_overflow(vm, op, a, b);
        *result = value_int(op == BINARY_MOD ? 0 : -a);
        return OUTCOME_OK;
    }
    int64_t quotient = a / b, remainder = a % b;
    if (remainder != 0 && (remainder < 0) != (b < 0)) {
        quotient--;
        remainder += b;
    }
    *result = value_int(op == BINARY_MOD ? remainder : quotient);
    return OUTCOME_OK;
}

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

// Both operands beyond 53 bits would round before the division does. So the quotient is
// taken to 62 bits and more, with a last bit that says whether anything is left, and
// rounded once.
double integer_true_divide(int64_t a, int64_t b)
{
    static const int64_t exact = (int64_t)1 << 53;
    if (a >= -exact && a <= exact && b >= -exact && b <= exact)
        return (double)a / (double)b;
    uint64_t over = magnitude(a), under = magnitude(b);
    if (over == 0)
        return b < 0 ? -0.0 : 0.0;
    int shift = 63 + __builtin_clzll(over);
    unsigned __int128 scaled = (unsigned __int128)over << shift; // its top bit is bit 126
    unsigned __int128 quotient = scaled / under;
    bool sticky = scaled % under != 0;
    while (quotient >> 62 != 0) {
        sticky |= quotient & 1;
        quotient >>= 1;
        shift--;
    }
    double rounded = ldexp((double)(int64_t)((uint64_t)quotient | sticky), -shift);
    return (a < 0) != (b < 0) ? -rounded : rounded;
}

// ---- Powers and shifts

static enum outcome integer_power(struct vm *vm, int64_t a, int64_t b,
                                  struct value *result)
{
    if (b < 0) {
        bool supported;
        return float_binary(vm, BINARY_POW, (double)a, (double)b, result, &supported);
    }
    int64_t power = 1, base = a;
    for (uint64_t left = (uint64_t)b; left > 0;) {
        if (left & 1 && __builtin_mul_overflow(power, base, &power))
            return raise_overflow(vm, BINARY_POW, a, b);
        left >>= 1;
        if (left > 0 && __builtin_mul_overflow(base, base, &base))
            return raise_overflow(vm, BINARY_POW, a, b);
    }
    *result = value_int(power);
    return OUTCOME_OK;
}

static enum outcome integer_shift(struct vm *vm, enum binary_op op, int64_t a, int64_t b,
                                  struct value *result)
{
    if (b < 0)
        return vm_raise(vm, STATUS_VALUE, "negative shift count");
    if (op == BINARY_RSHIFT) {
        *result = value_int(a >> (b > 63 ? 63 : b));
        return OUTCOME_OK;
    }
    if (a == 0) {
        *result = value_int(0);
        return OUTCOME_OK;
    }
    int64_t shifted = b > 63 ? 0 : (int64_t)((uint64_t)a << b);
    if (b > 63 || shifted >> b != a)
        return raise_overflow(vm, op, a, b);
    *result = value_int(shifted);
    return OUTCOME_OK;
}

// ---- Operators

static enum outcome integer_logic(enum binary_op op, struct value a, struct value b,
                                  struct value *result)
{
    int64_t bits = op == BINARY_AND ? a.i & b.i : op == BINARY_OR ? a.i | b.i : a.i ^ b.i;
    bool both = a.tag == VALUE_BOOL && b.tag == VALUE_BOOL;
    *result = both ? value_bool(bits) : value_int(bits);
    return OUTCOME_OK;
}

static enum outcome integer_binary(struct vm *vm, enum binary_op op, struct value a,
                                   struct value b, struct value *result, bool *supported)
{
    int64_t number;
    bool overflows;
    switch (op) {
    case BINARY_ADD:
        overflows = __builtin_add_overflow(a.i, b.i, &number);
        break;
    case BINARY_SUB:
        overflows = __builtin_sub_overflow(a.i, b.i, &number);
        break;
    case BINARY_MUL:
        overflows = __builtin_mul_overflow(a.i, b.i, &number);
        break;
    case BINARY_DIV:
        if (b.i == 0)
            return vm_raise(vm, STATUS_ZERO_DIVISION, "division by zero");
        *result = value_float(integer_true_divide(a.i, b.i));
        return OUTCOME_OK;
    case BINARY_FLOOR_DIV:
    case BINARY_MOD:
        return floor_divide(vm, op, a.i, b.i, result);
    case BINARY_POW:
        return integer_power(vm, a.i, b.i, result);
    case BINARY_LSHIFT:
    case BINARY_RSHIFT:
        return integer_shift(vm, op, a.i, b.i, result);
    case BINARY_AND:
    case BINARY_OR:
    case BINARY_XOR:
        return integer_logic(op, a, b, result);
    default:
        *supported = false;
        return OUTCOME_OK;
    }
    if (overflows)
        return raise_overflow(vm, op, a.i, b.i);
    *result = value_int(number);
    return OUTCOME_OK;
}

enum outcome number_binary(struct vm *vm, enum binary_op op, struct value a,
                           struct value b, struct value *result, bool *supported)
{
    *supported = true;
    if (a.tag == VALUE_WIDE || b.tag == VALUE_WIDE)
        return raise_wide(vm);
    if (a.tag != VALUE_FLOAT && b.tag != VALUE_FLOAT)
        return integer_binary(vm, op, a, b, result, supported);
    return float_binary(vm, op, number_to_double(a), number_to_double(b), result,
                        supported);
}

enum outcome number_unary(struct vm *vm, enum unary_op op, struct value a,
                          struct value *result, bool *supported)
{
    *supported = true;
    if (a.tag == VALUE_WIDE)
        return raise_wide(vm);
    if (a.tag == VALUE_FLOAT) {
        *supported = op != UNARY_INVERT;
        *result = value_float(op == UNARY_NEG ? -a.f : a.f);
        return OUTCOME_OK;
    }
    if (op == UNARY_NEG && a.i == INT64_MIN)
        return vm_raise(vm, STATUS_OVERFLOW, "-(%lld) does not fit 64 bits",
                        (long long)a.i);
    *result = value_int(op == UNARY_NEG ? -a.i : op == UNARY_POS ? a.i : ~a.i);
    return OUTCOME_OK;
}

enum outcome number_absolute(struct vm *vm, struct value a, struct value *result)
{
    bool supported;
    if (a.tag == VALUE_FLOAT) {
        *result = value_float(fabs(a.f));
        return OUTCOME_OK;
    }
    return number_unary(vm, a.i < 0 ? UNARY_NEG : UNARY_POS, a, result, &supported);
}

enum outcome number_divmod(struct vm *vm, struct value a, struct value b,
                           struct value *quotient, struct value *remainder)
{
    bool supported;
    if (a.tag == VALUE_FLOAT || b.tag == VALUE_FLOAT) {
        double under = number_to_double(b), floored, rest;
        if (a.tag == VALUE_WIDE || b.tag == VALUE_WIDE)
            return raise_wide(vm);
        if (under == 0)
            return vm_raise(vm, STATUS_ZERO_DIVISION, "float divmod()");
        float_divmod(number_to_double(a), under, &floored, &rest);
        *quotient = value_float(floored);
        *remainder = value_float(rest);
        return OUTCOME_OK;
    }
    enum outcome outcome =
        number_binary(vm, BINARY_FLOOR_DIV, a, b, quotient, &supported);
    return outcome == OUTCOME_OK
               ? number_binary(vm, BINARY_MOD, a, b, remainder, &supported)
               : outcome;
}

// ---- Comparison

// Whole parts first: a double holds every whole number it can, and only those are
// compared.
static int compare_with_double(struct value a, double b)
{
    if (isnan(b))
        return 2;
    double limit = a.tag == VALUE_WIDE ? 0x1p64 : 0x1p63;
    if (b >= limit)
        return -1;
    if (b < (a.tag == VALUE_WIDE ? 0 : -limit))
        return 1;
    double whole = trunc(b), part = b - whole;
    int order;
    if (a.tag == VALUE_WIDE) {
        uint64_t wide = (uint64_t)a.i;
        order = (wide > (uint64_t)whole) - (wide < (uint64_t)whole);
    } else {
        order = (a.i > (int64_t)whole) - (a.i < (int64_t)whole);
    }
    return order != 0 ? order : (part < 0) - (part > 0);
}

int number_compare(struct value a, struct value b)
{
    if (a.tag == VALUE_FLOAT && b.tag == VALUE_FLOAT)
        return isunordered(a.f, b.f) ? 2 : (a.f > b.f) - (a.f < b.f);
    if (b.tag == VALUE_FLOAT)
        return compare_with_double(a, b.f);
    if (a.tag == VALUE_FLOAT) {
        int order = compare_with_double(b, a.f);
        return order == 2 ? 2 : -order;
    }
    if (a.tag == VALUE_WIDE || b.tag == VALUE_WIDE) {
        if (a.tag != b.tag)
            return a.tag == VALUE_WIDE ? 1 : -1;
        return ((uint64_t)a.i > (uint64_t)b.i) - ((uint64_t)a.i < (uint64_t)b.i);
    }
    return (a.i > b.i) - (a.i < b.i);
}
