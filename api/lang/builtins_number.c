// SPDX-License-Identifier: Apache-2.0
// Builtins about numbers: abs, round, divmod, pow, hex, oct, bin; and numbers out of
// values, tensors of one element among them. The program's thread.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/lang/builtins_table.h"
#include "api/lang/number.h"
#include "api/lang/torch.h"

// ---- Numbers out of values

const char *value_type_name(struct value value)
{
    enum type type = value_type(value);
    return type == TYPE_ndarray ? type_name(type) : type_short_name(type);
}

enum outcome tensor_number(struct vm *vm, struct value tensor, struct value *out)
{
    const struct tensor_object *object = VALUE_AS(tensor_object, tensor);
    if (lazy_count(object->lazy) != 1)
        return object->is_array
                   ? vm_raise(vm, STATUS_TYPE,
                              "only size-1 arrays can be converted to Python scalars")
                   : vm_raise(vm, STATUS_VALUE,
                              "only one element tensors can be converted to Python "
                              "scalars");
    struct tensor *host;
    enum outcome outcome = vm_host(vm, object->lazy, &host);
    if (outcome == OUTCOME_OK)
        *out = torch_number_of(torch_element(torch_elements(host), host->dtype, 0));
    return outcome;
}

enum outcome value_to_double(struct vm *vm, struct value value, double *out)
{
    if (value_is_tensor(value)) {
        enum outcome outcome = tensor_number(vm, value, &value);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    if (value.tag == VALUE_FLOAT)
        *out = value.f;
    else if (value_is_integer(value))
        *out = (double)value.i;
    else if (value.tag == VALUE_WIDE)
        *out = (double)(uint64_t)value.i;
    else
        return vm_raise(vm, STATUS_TYPE, "must be real number, not %s",
                        value_type_name(value));
    return OUTCOME_OK;
}

// ---- abs, divmod, pow

// An operation of the table on tensors or arrays.
static enum outcome apply(struct vm *vm, enum op op, struct value value,
                          struct value *result)
{
    struct value function = value_op(op, value_is_array(value) ? OP_NUMPY : 0);
    return torch_call_op(vm, function, 1, 0, &value, NULL, result);
}

enum outcome builtin_abs(struct vm *vm, struct value *slots, struct value *result)
{
    if (value_is_tensor(slots[0]))
        return apply(vm, OP_abs, slots[0], result);
    if (value_is_arithmetic(slots[0]))
        return number_absolute(vm, slots[0], result);
    return vm_raise(vm, STATUS_TYPE, "bad operand type for abs(): '%s'",
                    value_type_name(slots[0]));
}

enum outcome builtin_divmod(struct vm *vm, struct value *slots, struct value *result)
{
    struct value parts[2];
    enum outcome outcome;
    if (value_is_arithmetic(slots[0]) && value_is_arithmetic(slots[1])) {
        outcome = number_divmod(vm, slots[0], slots[1], &parts[0], &parts[1]);
    } else if (value_is_tensor(slots[0]) || value_is_tensor(slots[1])) {
        outcome =
            value_binary(vm, BINARY_FLOOR_DIV, false, slots[0], slots[1], &parts[0]);
        if (outcome == OUTCOME_OK) {
            outcome = value_binary(vm, BINARY_MOD, false, slots[0], slots[1], &parts[1]);
            if (outcome != OUTCOME_OK)
                value_release(parts[0]);
        }
    } else {
        return vm_raise(vm, STATUS_TYPE,
                        "unsupported operand type(s) for divmod(): '%s' and '%s'",
                        value_type_name(slots[0]), value_type_name(slots[1]));
    }
    if (outcome != OUTCOME_OK)
        return outcome;
    struct tuple *tuple = tuple_new(vm_heap(vm), 2, parts, vm_problem(vm));
    value_release(parts[0]);
    value_release(parts[1]);
    if (tuple == NULL)
        return OUTCOME_ERROR;
    *result = value_of(tuple);
    return OUTCOME_OK;
}

// The inverse of value (0 <= value < modulus), or 0.
static uint64_t inverse_modulo(uint64_t value, uint64_t modulus)
{
    __int128 t = 0, next_t = 1, r = modulus, next_r = value;
    while (next_r != 0) {
        __int128 quotient = r / next_r, old = next_t;
        next_t = t - quotient * next_t;
        t = old;
        old = next_r;
        next_r = r - quotient * next_r;
        r = old;
    }
    if (r != 1)
        return 0;
    return (uint64_t)(t < 0 ? t + modulus : t);
}

enum outcome power_modulo(struct vm *vm, int64_t value, int64_t exponent, int64_t modulus,
                          int64_t *out)
{
    uint64_t m = integer_magnitude(modulus), base = integer_magnitude(value) % m;
    if (value < 0 && base > 0)
        base = m - base;
    if (exponent < 0) {
        base = inverse_modulo(base, m);
        if (base == 0 && m != 1)
            return vm_raise(vm, STATUS_VALUE,
                            "base is not invertible for the given modulus");
    }
    uint64_t power = 1 % m, rest = integer_magnitude(exponent);
    for (; rest > 0; rest >>= 1) {
        if (rest & 1)
            power = (uint64_t)((unsigned __int128)power * base % m);
        base = (uint64_t)((unsigned __int128)base * base % m);
    }
    // The sign is the modulus's.
    *out = modulus < 0 && power > 0 ? -(int64_t)(m - power) : (int64_t)power;
    return OUTCOME_OK;
}

enum outcome builtin_pow(struct vm *vm, struct value *slots, struct value *result)
{
    struct value modulus = slots[2];
    if (modulus.tag == VALUE_ABSENT || modulus.tag == VALUE_NONE)
        return value_binary(vm, BINARY_POW, false, slots[0], slots[1], result);
    if (!value_is_integer(slots[0]) || !value_is_integer(slots[1]) ||
        !value_is_integer(modulus))
        return vm_raise(vm, STATUS_TYPE,
                        "pow() 3rd argument not allowed unless all arguments are "
                        "integers");
    if (modulus.i == 0)
        return vm_raise(vm, STATUS_VALUE, "pow() 3rd argument cannot be 0");
    int64_t power;
    if (power_modulo(vm, slots[0].i, slots[1].i, modulus.i, &power) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    *result = value_int(power);
    return OUTCOME_OK;
}

// ---- round

// To a multiple of 10^places, a half to the even one.
static enum outcome round_integer(struct vm *vm, int64_t value, int64_t places,
                                  struct value *result)
{
    __int128 step = 1;
    if (places > 20)
        places = 20;
    for (int64_t i = 0; i < places; i++)
        step *= 10;
    __int128 quotient = value / step, rest = value % step;
    if (rest < 0) {
        rest += step;
        quotient--;
    }
    if (2 * rest > step || (2 * rest == step && (quotient & 1)))
        quotient++;
    quotient *= step;
    if (quotient > INT64_MAX || quotient < INT64_MIN)
        return vm_raise(vm, STATUS_OVERFLOW,
                        "the rounded integer does not fit in 64 bits");
    *result = value_int((int64_t)quotient);
    return OUTCOME_OK;
}

// To a multiple of 10^places, places > 0: rounded once, from the exact decimal digits.
static double round_whole(double value, int places)
{
    char digits[FLOAT_TEXT_MAX];
    double magnitude = fabs(value), whole = trunc(magnitude);
    size_t length = float_print(whole, 'f', 0, false, digits);
    int significant = (int)(whole == 0.0 ? 0 : length) - places;
    if (significant < 0)
        return copysign(0.0, value);
    if (significant > 0) {
        length = float_print(magnitude, 'e', significant - 1, false, digits);
    } else { // all or nothing of one step
        bool more = magnitude != whole;
        for (size_t i = 1; i < length; i++)
            more = more || digits[i] != '0';
        bool up = digits[0] > '5' || (digits[0] == '5' && more);
        length = (size_t)snprintf(digits, sizeof digits, "%de%d", up, places);
    }
    digits[length] = '\0';
    return copysign(strtod(digits, NULL), value);
}

static enum outcome round_float(struct vm *vm, double value, int64_t digits,
                                struct value *result)
{
    char text[FLOAT_TEXT_MAX];
    if (!isfinite(value) || digits > 323) {
        *result = value_float(value);
        return OUTCOME_OK;
    }
    double rounded;
    if (digits < -308) {
        rounded = copysign(0.0, value);
    } else if (digits < 0) {
        rounded = round_whole(value, (int)-digits);
    } else {
        size_t length = float_print(value, 'f', (int)digits, false, text);
        text[length] = '\0';
        rounded = strtod(text, NULL);
    }
    if (isinf(rounded))
        return vm_raise(vm, STATUS_OVERFLOW, "rounded value too large to represent");
    *result = value_float(rounded);
    return OUTCOME_OK;
}

enum outcome builtin_round(struct vm *vm, struct value *slots, struct value *result)
{
    struct value value = slots[0];
    bool places = slots[1].tag != VALUE_ABSENT && slots[1].tag != VALUE_NONE;
    if (value_is_tensor(value)) {
        if (places)
            return vm_raise(vm, STATUS_TYPE, "round() of a tensor takes no ndigits");
        return apply(vm, OP_round, value, result);
    }
    if (value.tag != VALUE_FLOAT && !value_is_integer(value))
        return vm_raise(vm, value.tag == VALUE_WIDE ? STATUS_OVERFLOW : STATUS_TYPE,
                        "type %s doesn't define __round__ method",
                        value_type_name(value));
    int64_t digits = 0;
    enum outcome outcome = places ? value_to_index(vm, slots[1], &digits) : OUTCOME_OK;
    if (outcome != OUTCOME_OK)
        return outcome;
    if (value.tag == VALUE_FLOAT && places)
        return round_float(vm, value.f, digits, result);
    if (value.tag == VALUE_FLOAT) {
        int64_t whole;
        if (float_to_int(vm, rint(value.f), &whole) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        *result = value_int(whole);
        return OUTCOME_OK;
    }
    if (digits < 0)
        return round_integer(vm, value.i, digits < -20 ? 20 : -digits, result);
    *result = value_int(value.i);
    return OUTCOME_OK;
}

// ---- hex, oct, bin

static enum outcome in_base(struct vm *vm, struct value value, int base, char letter,
                            struct value *result)
{
    int64_t number;
    enum outcome outcome = value_to_index(vm, value, &number);
    if (outcome != OUTCOME_OK)
        return outcome;
    char text[NUMBER_TEXT_MAX + 3];
    size_t length = 0;
    if (number < 0)
        text[length++] = '-';
    text[length++] = '0';
    text[length++] = letter;
    length += integer_digits(integer_magnitude(number), base, false, text + length);
    struct string *string = string_new(vm_heap(vm), text, length, vm_problem(vm));
    if (string == NULL)
        return OUTCOME_ERROR;
    *result = value_of(string);
    return OUTCOME_OK;
}

enum outcome builtin_hex(struct vm *vm, struct value *slots, struct value *result)
{
    return in_base(vm, slots[0], 16, 'x', result);
}

enum outcome builtin_oct(struct vm *vm, struct value *slots, struct value *result)
{
    return in_base(vm, slots[0], 8, 'o', result);
}

enum outcome builtin_bin(struct vm *vm, struct value *slots, struct value *result)
{
    return in_base(vm, slots[0], 2, 'b', result);
}
