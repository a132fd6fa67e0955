// SPDX-License-Identifier: Apache-2.0
// math's functions of integers. Results beyond 64 bits are STATUS_OVERFLOW. The program's
// thread.
#include "api/lang/builtins.h"
#include "api/lang/builtins_table.h"

enum { FACTORIAL_MAX = 20 };

static enum outcome too_large(struct vm *vm)
{
    return vm_raise(vm, STATUS_OVERFLOW,
                    "the result does not fit in 64 bits, as integers do here");
}

// ---- gcd, lcm

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Folds all arguments; lcm becomes 0 with the first 0.
static enum outcome fold(struct vm *vm, const struct tuple *integers, bool is_lcm,
                         struct value *result)
{
    uint64_t so_far = is_lcm;
    enum outcome all = OUTCOME_OK;
    if (vm_spend(vm, integers->count * 8) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    for (int64_t i = 0; i < integers->count; i++) {
        int64_t number;
        enum outcome one = value_to_index(vm, integers->items[i], &number);
        if (!outcome_keep(&all, one))
            return OUTCOME_ERROR;
        if (one != OUTCOME_OK)
            continue;
        uint64_t magnitude = integer_magnitude(number), common = gcd(so_far, magnitude);
        if (!is_lcm)
            so_far = common;
        else if (common == 0 ||
                 __builtin_mul_overflow(so_far / common, magnitude, &so_far))
            so_far = common == 0 ? 0 : UINT64_MAX;
        if (is_lcm && so_far > INT64_MAX)
            return too_large(vm);
    }
    if (all != OUTCOME_OK)
        return all;
    if (so_far > INT64_MAX)
        return too_large(vm);
    *result = value_int((int64_t)so_far);
    return OUTCOME_OK;
}

enum outcome math_gcd(struct vm *vm, struct value *slots, struct value *result)
{
    return fold(vm, VALUE_AS(tuple, slots[0]), false, result);
}

enum outcome math_lcm(struct vm *vm, struct value *slots, struct value *result)
{
    return fold(vm, VALUE_AS(tuple, slots[0]), true, result);
}

// ---- Counting

static enum outcome factorial(struct vm *vm, int64_t n, struct value *result)
{
    int64_t product = 1;
    if (n < 0)
        return vm_raise(vm, STATUS_VALUE, "factorial() not defined for negative values");
    if (n > FACTORIAL_MAX)
        return too_large(vm);
    for (int64_t i = 2; i <= n; i++)
        product *= i;
    *result = value_int(product);
    return OUTCOME_OK;
}

enum outcome math_factorial(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t n;
    enum outcome outcome = value_to_index(vm, slots[0], &n);
    return outcome == OUTCOME_OK ? factorial(vm, n, result) : outcome;
}

// n and k of comb and perm.
static enum outcome read_counts(struct vm *vm, struct value *slots, int64_t *n,
                                int64_t *k)
{
    enum outcome all = value_to_index(vm, slots[0], n);
    if (all != OUTCOME_ERROR)
        outcome_keep(&all, value_to_index(vm, slots[1], k));
    if (all != OUTCOME_OK)
        return all;
    if (*n < 0)
        return vm_raise(vm, STATUS_VALUE, "n must be a non-negative integer");
    if (*k < 0)
        return vm_raise(vm, STATUS_VALUE, "k must be a non-negative integer");
    return OUTCOME_OK;
}

enum outcome math_comb(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t n, k;
    enum outcome outcome = read_counts(vm, slots, &n, &k);
    if (outcome != OUTCOME_OK)
        return outcome;
    *result = value_int(0);
    if (k > n)
        return OUTCOME_OK;
    k = k < n - k ? k : n - k;
    __int128 product =
        1; // binomial(n, i) at each step: grows, so that few steps are made
    for (int64_t i = 0; i < k; i++) {
        product = product * (n - i) / (i + 1);
        if (product > INT64_MAX)
            return too_large(vm);
    }
    *result = value_int((int64_t)product);
    return OUTCOME_OK;
}

enum outcome math_perm(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t n, k;
    if (slots[1].tag == VALUE_ABSENT || slots[1].tag == VALUE_NONE)
        return math_factorial(vm, slots, result);
    enum outcome outcome = read_counts(vm, slots, &n, &k);
    if (outcome != OUTCOME_OK)
        return outcome;
    int64_t product = k > n ? 0 : 1;
    for (int64_t i = 0; i < k && product != 0; i++)
        if (__builtin_mul_overflow(product, n - i, &product))
            return too_large(vm);
    *result = value_int(product);
    return OUTCOME_OK;
}

enum outcome math_isqrt(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t n;
    enum outcome outcome = value_to_index(vm, slots[0], &n);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (n < 0)
        return vm_raise(vm, STATUS_VALUE, "isqrt() argument must be nonnegative");
    uint64_t root = 0;
    for (uint64_t bit = 1ULL << 31; bit > 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= (uint64_t)n)
            root |= bit;
    *result = value_int((int64_t)root);
    return OUTCOME_OK;
}
