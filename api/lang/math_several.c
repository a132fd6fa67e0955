// SPDX-License-Identifier: Apache-2.0
// math's functions of many numbers: fsum, prod, hypot, dist. The program's thread.
#include <math.h>

#include "api/lang/builtins.h"
#include "api/lang/builtins_table.h"
#include "api/lang/sequence.h"

// ---- Floats out of a list, in memory of the heap's

struct doubles {
    struct vm *vm;
    double *items;
    int64_t count;
};

static void doubles_free(struct doubles *doubles)
{
    if (doubles->items != NULL)
        heap_resize(vm_heap(doubles->vm), doubles->items,
                    (size_t)doubles->count * sizeof(double), 0, vm_problem(doubles->vm));
}

static enum outcome doubles_read(struct vm *vm, const struct value *values, int64_t count,
                                 struct doubles *out)
{
    *out = (struct doubles){.vm = vm, .count = count};
    if (vm_spend(vm, count) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (count == 0)
        return OUTCOME_OK;
    out->items =
        heap_resize(vm_heap(vm), NULL, 0, (size_t)count * sizeof(double), vm_problem(vm));
    if (out->items == NULL)
        return OUTCOME_ERROR;
    enum outcome all = OUTCOME_OK;
    for (int64_t i = 0; i < count; i++)
        if (!outcome_keep(&all, value_to_double(vm, values[i], &out->items[i])))
            break;
    if (all != OUTCOME_OK)
        doubles_free(out);
    return all;
}

static enum outcome doubles_of(struct vm *vm, struct value iterable, struct doubles *out)
{
    struct list *list;
    enum outcome outcome = sequence_collect(vm, iterable, &list);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = doubles_read(vm, list->items, list->count, out);
    value_release(value_of(list));
    return outcome;
}

// ---- fsum: Shewchuk's expansions. The partial sums do not overlap and grow in
// magnitude, so that a double's exponents bound how many there are.

enum { PARTIALS_MAX = 64 };

struct expansion {
    int count;
    double partials[PARTIALS_MAX];
    double special; // the sum of infinities and NaNs
    double infinities;
    bool overflow;
};

static void expansion_add(struct expansion *sum, double x)
{
    double given = x;
    int kept = 0;
    for (int i = 0; i < sum->count; i++) {
        double y = sum->partials[i];
        if (fabs(x) < fabs(y)) {
            double swap = x;
            x = y;
            y = swap;
        }
        double high = x + y, low = y - (high - x);
        if (low != 0.0)
            sum->partials[kept++] = low;
        x = high;
    }
    sum->count = kept;
    if (x == 0.0)
        return;
    if (isfinite(x)) {
        if (sum->count < PARTIALS_MAX)
            sum->partials[sum->count++] = x;
        return;
    }
    sum->overflow = sum->overflow || isfinite(given);
    if (isinf(given))
        sum->infinities += given;
    sum->special += given;
    sum->count = 0;
}

// Rounded once: what is left below the last sum decides a tie.
static double expansion_total(const struct expansion *sum)
{
    int n = sum->count;
    double high = 0.0, low = 0.0;
    if (n > 0)
        high = sum->partials[--n];
    while (n > 0) {
        double x = high, y = sum->partials[--n];
        high = x + y;
        low = y - (high - x);
        if (low != 0.0)
            break;
    }
    if (n > 0 && ((low < 0.0 && sum->partials[n - 1] < 0.0) ||
                  (low > 0.0 && sum->partials[n - 1] > 0.0))) {
        double twice = low * 2.0, x = high + twice;
        if (twice == x - high)
            high = x;
    }
    return high;
}

enum outcome math_fsum(struct vm *vm, struct value *slots, struct value *result)
{
    struct doubles doubles;
    struct expansion sum = {0};
    enum outcome outcome = doubles_of(vm, slots[0], &doubles);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = vm_spend(vm, doubles.count * 4);
    for (int64_t i = 0; outcome == OUTCOME_OK && i < doubles.count && !sum.overflow; i++)
        expansion_add(&sum, doubles.items[i]);
    doubles_free(&doubles);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (sum.overflow)
        return vm_raise(vm, STATUS_OVERFLOW, "intermediate overflow in fsum");
    if (isnan(sum.infinities))
        return vm_raise(vm, STATUS_VALUE, "-inf + inf in fsum");
    *result = value_float(sum.special != 0.0 ? sum.special : expansion_total(&sum));
    return OUTCOME_OK;
}

// ---- prod

enum outcome math_prod(struct vm *vm, struct value *slots, struct value *result)
{
    struct list *list;
    enum outcome outcome = sequence_collect(vm, slots[0], &list);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct value product =
        slots[1].tag == VALUE_ABSENT ? value_int(1) : value_reference(slots[1]);
    outcome = vm_spend(vm, list->count);
    for (int64_t i = 0; outcome == OUTCOME_OK && i < list->count; i++) {
        struct value next;
        outcome = value_binary(vm, BINARY_MUL, false, product, list->items[i], &next);
        if (outcome == OUTCOME_OK) {
            value_release(product);
            product = next;
        }
    }
    value_release(value_of(list));
    *result = product;
    if (outcome != OUTCOME_OK)
        value_release(product);
    return outcome;
}

// ---- hypot, dist

// The length of a vector, scaled so that no square leaves the range.
static double norm(const double *items, int64_t count)
{
    double largest = 0.0;
    bool nan = false;
    for (int64_t i = 0; i < count; i++) {
        nan = nan || isnan(items[i]);
        largest = fmax(largest, fabs(items[i]));
    }
    if (isinf(largest))
        return INFINITY;
    if (nan)
        return NAN;
    if (largest == 0.0)
        return 0.0;
    if (count == 2)
        return hypot(items[0], items[1]);
    int exponent;
    frexp(largest, &exponent);
    long double sum = 0.0L;
    for (int64_t i = 0; i < count; i++) {
        long double scaled = ldexpl((long double)items[i], -exponent);
        sum += scaled * scaled;
    }
    return (double)ldexpl(sqrtl(sum), exponent);
}

enum outcome math_hypot(struct vm *vm, struct value *slots, struct value *result)
{
    struct doubles doubles;
    const struct tuple *tuple = VALUE_AS(tuple, slots[0]);
    enum outcome outcome = doubles_read(vm, tuple->items, tuple->count, &doubles);
    if (outcome != OUTCOME_OK)
        return outcome;
    *result = value_float(norm(doubles.items, doubles.count));
    doubles_free(&doubles);
    return OUTCOME_OK;
}

enum outcome math_dist(struct vm *vm, struct value *slots, struct value *result)
{
    struct doubles p, q;
    enum outcome outcome = doubles_of(vm, slots[0], &p);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = doubles_of(vm, slots[1], &q);
    if (outcome != OUTCOME_OK) {
        doubles_free(&p);
        return outcome;
    }
    if (p.count != q.count)
        outcome = vm_raise(vm, STATUS_VALUE,
                           "both points must have the same number of dimensions");
    for (int64_t i = 0; outcome == OUTCOME_OK && i < p.count; i++)
        p.items[i] -= q.items[i];
    if (outcome == OUTCOME_OK)
        *result = value_float(norm(p.items, p.count));
    doubles_free(&p);
    doubles_free(&q);
    return outcome;
}
