// SPDX-License-Identifier: Apache-2.0
// Methods and attributes of int, bool and float. Threads: any.
#include <math.h>

#include "api/lang/builtins.h"
#include "api/lang/number.h"

static enum outcome number_self(struct vm *vm, struct value self, bool is_float,
                                const char *method)
{
    if (is_float ? self.tag == VALUE_FLOAT : value_is_integer(self))
        return OUTCOME_OK;
    if (self.tag == VALUE_WIDE)
        return vm_raise(vm, STATUS_OVERFLOW, "%s() of an integer of 2**63 or more",
                        method);
    return vm_raise(vm, STATUS_TYPE,
                    "descriptor '%s' for '%s' objects doesn't apply to a '%s' object",
                    method, is_float ? "float" : "int", value_type_name(self));
}

#define SELF(is_float, name)                                                             \
    if (number_self(vm, slots[0], is_float, name) != OUTCOME_OK)                         \
        return OUTCOME_ERROR;

static enum outcome int_bit_length(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    SELF(false, "bit_length")
    uint64_t size = integer_magnitude(slots[0].i);
    *result = value_int(size == 0 ? 0 : 64 - __builtin_clzll(size));
    return OUTCOME_OK;
}

static enum outcome int_bit_count(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    SELF(false, "bit_count")
    *result = value_int(__builtin_popcountll(integer_magnitude(slots[0].i)));
    return OUTCOME_OK;
}

static enum outcome int_conjugate(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    SELF(false, "conjugate")
    *result = value_int(slots[0].i);
    return OUTCOME_OK;
}

static enum outcome make_ratio(struct vm *vm, int64_t over, int64_t under,
                               struct value *result)
{
    struct value parts[] = {value_int(over), value_int(under)};
    struct tuple *tuple = tuple_new(vm_heap(vm), 2, parts, vm_problem(vm));
    if (!tuple)
        return OUTCOME_ERROR;
    *result = value_of(tuple);
    return OUTCOME_OK;
}

static enum outcome int_as_integer_ratio(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    SELF(false, "as_integer_ratio")
    return make_ratio(vm, slots[0].i, 1, result);
}

static enum outcome float_is_integer(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    SELF(true, "is_integer")
    *result = value_bool(isfinite(slots[0].f) && floor(slots[0].f) == slots[0].f);
    return OUTCOME_OK;
}

static enum outcome float_conjugate(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    SELF(true, "conjugate")
    *result = slots[0];
    return OUTCOME_OK;
}

static enum outcome float_as_integer_ratio(struct vm *vm, struct value *slots,
                                           struct value *result)
{
    SELF(true, "as_integer_ratio")
    double value = slots[0].f;
    if (isinf(value))
        return vm_raise(vm, STATUS_OVERFLOW, "cannot convert Infinity to integer ratio");
    if (isnan(value))
        return vm_raise(vm, STATUS_VALUE, "cannot convert NaN to integer ratio");
    if (value == 0)
        return make_ratio(vm, 0, 1, result);
    int exponent;
    int64_t over = (int64_t)ldexp(frexp(value, &exponent), 53); // exact
    exponent -= 53;
    while ((over & 1) == 0) { // lowest terms
        over /= 2;
        exponent++;
    }
    if (exponent > 0) {
        double whole = ldexp((double)over, exponent);
        if (fabs(whole) >= 0x1p63)
            return vm_raise(vm, STATUS_OVERFLOW, "the ratio does not fit 64 bits");
        return make_ratio(vm, (int64_t)whole, 1, result);
    }
    if (exponent < -62)
        return vm_raise(vm, STATUS_OVERFLOW, "the ratio does not fit 64 bits");
    return make_ratio(vm, over, (int64_t)1 << -exponent, result);
}

struct native int_methods[] = {
    {"as_integer_ratio", "self, /", int_as_integer_ratio, NULL},
    {"bit_count", "self, /", int_bit_count, NULL},
    {"bit_length", "self, /", int_bit_length, NULL},
    {"conjugate", "self, /", int_conjugate, NULL},
    {0},
};
struct native float_methods[] = {
    {"as_integer_ratio", "self, /", float_as_integer_ratio, NULL},
    {"conjugate", "self, /", float_conjugate, NULL},
    {"is_integer", "self, /", float_is_integer, NULL},
    {0},
};
