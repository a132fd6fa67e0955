// SPDX-License-Identifier: Apache-2.0
// Arithmetic of Python's int, bool and float. Integers have 64 bits: what does not fit is
// STATUS_OVERFLOW. Every operand is a number (value_is_number, or VALUE_WIDE, which is
// STATUS_OVERFLOW everywhere but in comparison).
// Threads: any.
#ifndef TENSORD_API_LANG_NUMBER_H
#define TENSORD_API_LANG_NUMBER_H

#include "api/lang/operate.h"

static inline bool value_is_arithmetic(struct value value) // WIDE included
{
    return value_is_number(value) || value.tag == VALUE_WIDE;
}
// a and b are numbers and op is none of & | ^ << >> on floats: OUTCOME_OK or an error.
// For those and @ *supported is false.
enum outcome number_binary(struct vm *vm, enum binary_op op, struct value a,
                           struct value b, struct value *result, bool *supported);
enum outcome number_unary(struct vm *vm, enum unary_op op, struct value a,
                          struct value *result, bool *supported);
// -1, 0, 1 by exact value, 2 if one is NaN.
int number_compare(struct value a, struct value b);
enum outcome number_divmod(struct vm *vm, struct value a, struct value b,
                           struct value *quotient, struct value *remainder);
enum outcome number_absolute(struct vm *vm, struct value a, struct value *result);
double number_to_double(struct value number);

// float_*.c: the parts of number_binary for floats.
enum outcome float_binary(struct vm *vm, enum binary_op op, double a, double b,
                          struct value *result, bool *supported);
// Floor division and its remainder, b != 0.
void float_divmod(double a, double b, double *quotient, double *remainder);
// b != 0; rounded once.
double integer_true_divide(int64_t a, int64_t b);
#endif
