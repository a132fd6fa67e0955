// SPDX-License-Identifier: Apache-2.0
// Comparison: of numbers by exact value, of strings by code point, of lists and tuples
// item by item, of sets by inclusion. Tensors compare elementwise; inside containers the
// truth of that is asked, which may have to wait: then the whole comparison is made
// again. Nested containers compare to a bounded depth, which also ends cyclic ones; the
// work is counted as steps. Threads: the program's.
#include "api/lang/operate.h"

#include <string.h>

#include "api/lang/builtins.h"
#include "api/lang/number.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"
#include "api/lang/strings.h"
#include "tensor/cells.h"
#include "tensor/promote.h"

enum { MAX_DEPTH = 200 };

static enum outcome equal_values(struct vm *vm, struct value a, struct value b, int depth,
                                 bool *equal);
// Identity, or equality: what containers ask of their items.
static enum outcome equal_items(struct vm *vm, struct value a, struct value b, int depth,
                                bool *equal)
{
    *equal = value_identical(a, b);
    return *equal ? OUTCOME_OK : equal_values(vm, a, b, depth, equal);
}

// ---- Tensors inside containers

static void promote_operand(struct promotion *promotion, struct value operand)
{
    if (value_is_tensor(operand)) {
        const struct lazy *lazy = VALUE_AS(tensor_object, operand)->lazy;
        promote_tensor(promotion, lazy_dtype(lazy), lazy_layout(lazy)->ndim);
        return;
    }
    promote_number(promotion, operand.tag == VALUE_BOOL  ? SCALAR_BOOL
                              : operand.tag == VALUE_INT ? SCALAR_INT
                                                         : SCALAR_FLOAT);
}

static struct scalar scalar_of(struct value number)
{
    if (number.tag == VALUE_FLOAT)
        return (struct scalar){.kind = SCALAR_FLOAT, .f = number.f};
    return (struct scalar){.kind = number.tag == VALUE_BOOL ? SCALAR_BOOL : SCALAR_INT,
                           .i = number.i};
}

// Of single elements: read and compared here as the elementwise operation would, since a
// lazy result that is thrown away at every WAIT would never be there.
static enum outcome equal_elements(struct vm *vm, struct value a, struct value b,
                                   bool *equal)
{
    struct promotion promotion = PROMOTION_NONE;
    struct value left = a, right = b;
    enum outcome outcome = value_is_tensor(a) ? tensor_number(vm, a, &left) : OUTCOME_OK;
    if (outcome == OUTCOME_ERROR)
        return outcome;
    // Both are asked for before the first WAIT: one flush serves them.
    enum outcome second = value_is_tensor(b) ? tensor_number(vm, b, &right) : OUTCOME_OK;
    if (second != OUTCOME_OK || outcome != OUTCOME_OK)
        return second != OUTCOME_OK ? second : outcome;
    promote_operand(&promotion, a);
    promote_operand(&promotion, b);
    enum dtype dtype = promote_result(&promotion);
    union element first = scalar_to_element(scalar_of(left), dtype, NULL);
    union element other = scalar_to_element(scalar_of(right), dtype, NULL);
    struct scalar x = element_to_scalar(first, dtype),
                  y = element_to_scalar(other, dtype);
    *equal = dtype_is_float(dtype) ? x.f == y.f : x.i == y.i;
    return OUTCOME_OK;
}

static bool is_single(struct value value)
{
    return value_is_tensor(value) ? lazy_count(VALUE_AS(tensor_object, value)->lazy) == 1
                                  : value_is_number(value);
}

static enum outcome equal_tensors(struct vm *vm, struct value a, struct value b,
                                  bool *equal)
{
    if (is_single(a) && is_single(b))
        return equal_elements(vm, a, b, equal);
    // The shapes alone decide: no elements at all, or more than have one truth.
    struct value result;
    enum outcome outcome = torch_compare(vm, COMPARE_EQ, a, b, &result);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = value_truth(vm, result, equal);
    value_release(result);
    return outcome;
}

// ---- Equality of containers

static enum outcome equal_sequences(struct vm *vm, struct value a, struct value b,
                                    int depth, bool *equal)
{
    int64_t count, other;
    sequence_items(a, &count);
    sequence_items(b, &other);
    *equal = count == other;
    enum outcome outcome = *equal ? vm_spend(vm, count / 4 + 1) : OUTCOME_OK;
    for (int64_t i = 0; i < count && *equal && outcome == OUTCOME_OK; i++)
        outcome = equal_items(vm, sequence_items(a, &count)[i],
                              sequence_items(b, &other)[i], depth, equal);
    return outcome;
}

static enum outcome equal_dicts(struct vm *vm, const struct dict *a, const struct dict *b,
                                int depth, bool *equal)
{
    *equal = a->count == b->count;
    enum outcome outcome = *equal ? vm_spend(vm, a->n_entries / 2 + 1) : OUTCOME_OK;
    int64_t position = 0;
    const struct dict_entry *entry;
    while (outcome == OUTCOME_OK && *equal && (entry = dict_next(a, &position))) {
        const struct value *other = dict_find_hashed(b, entry->key, entry->hash);
        *equal = other != NULL;
        if (other)
            outcome = equal_items(vm, entry->value, *other, depth, equal);
    }
    return outcome;
}

static enum outcome equal_slices(struct vm *vm, const struct slice_object *a,
                                 const struct slice_object *b, int depth, bool *equal)
{
    enum outcome outcome = equal_items(vm, a->start, b->start, depth, equal);
    if (outcome == OUTCOME_OK && *equal)
        outcome = equal_items(vm, a->stop, b->stop, depth, equal);
    if (outcome == OUTCOME_OK && *equal)
        outcome = equal_items(vm, a->step, b->step, depth, equal);
    return outcome;
}

// Long strings take time.
static enum outcome spend_text(struct vm *vm, struct value a, struct value b)
{
    int64_t bytes = VALUE_AS(string, a)->bytes, other = VALUE_AS(string, b)->bytes;
    bytes = bytes < other ? bytes : other;
    return bytes > 1024 ? vm_spend(vm, bytes / 256) : OUTCOME_OK;
}

static enum outcome equal_texts(struct vm *vm, struct value a, struct value b,
                                bool *equal)
{
    enum outcome outcome = spend_text(vm, a, b);
    if (outcome == OUTCOME_OK)
        *equal = value_same_key(a, b);
    return outcome;
}

static enum outcome equal_objects(struct vm *vm, struct value a, struct value b,
                                  int depth, bool *equal)
{
    switch ((enum object_kind)a.object->kind) {
    case OBJECT_STRING:
        return equal_texts(vm, a, b, equal);
    case OBJECT_LIST:
    case OBJECT_TUPLE:
        return equal_sequences(vm, a, b, depth, equal);
    case OBJECT_DICT:
        return equal_dicts(vm, VALUE_AS(dict, a), VALUE_AS(dict, b), depth, equal);
    case OBJECT_SET:
        if (VALUE_AS(set, a)->count == VALUE_AS(set, b)->count)
            return set_is_subset(vm, VALUE_AS(set, a), VALUE_AS(set, b), equal);
        return OUTCOME_OK;
    case OBJECT_SLICE:
        return equal_slices(vm, VALUE_AS(slice_object, a), VALUE_AS(slice_object, b),
                            depth, equal);
    default:
        *equal = value_same_key(a, b);
        return OUTCOME_OK;
    }
}

static bool is_set_like(struct value value)
{
    return value_is_object(value, OBJECT_SET) || value_is_set_view(value);
}

// Whether every element of a is in b, both being sets or views of keys or items.
static enum outcome is_included(struct vm *vm, struct value a, struct value b,
                                bool *included)
{
    struct iterator *iterator = NULL;
    struct value item;
    *included = true;
    enum outcome outcome = walk_begin(vm, a, &iterator);
    if (outcome != OUTCOME_OK)
        return outcome;
    while (*included && (outcome = walk_next(vm, iterator, &item)) == OUTCOME_OK &&
           item.tag != VALUE_ABSENT) {
        outcome = value_contains(vm, b, item, included);
        value_release(item);
        if (outcome != OUTCOME_OK)
            break;
    }
    value_release(value_of(iterator));
    return outcome;
}

static enum outcome equal_set_likes(struct vm *vm, struct value a, struct value b,
                                    bool *equal)
{
    int64_t count, other;
    enum outcome outcome = value_length(vm, a, &count);
    if (outcome == OUTCOME_OK)
        outcome = value_length(vm, b, &other);
    if (outcome == OUTCOME_OK && count == other)
        outcome = is_included(vm, a, b, equal);
    return outcome;
}

// == without the shortcut of identity, which NaN does not have.
static enum outcome equal_values(struct vm *vm, struct value a, struct value b, int depth,
                                 bool *equal)
{
    *equal = false;
    if (value_is_arithmetic(a) && value_is_arithmetic(b)) {
        *equal = number_compare(a, b) == 0;
        return OUTCOME_OK;
    }
    if (value_is_tensor(a) || value_is_tensor(b))
        return equal_tensors(vm, a, b, equal);
    if (a.tag != VALUE_OBJECT || b.tag != VALUE_OBJECT) {
        *equal = value_identical(a, b);
        return OUTCOME_OK;
    }
    if (is_set_like(a) && is_set_like(b) &&
        (a.object->kind != b.object->kind || value_is_set_view(a)))
        return equal_set_likes(vm, a, b, equal);
    if (a.object->kind != b.object->kind)
        return OUTCOME_OK;
    if (depth >= MAX_DEPTH)
        return vm_raise(vm, STATUS_LIMIT,
                        "maximum recursion depth exceeded in comparison");
    return equal_objects(vm, a, b, depth + 1, equal);
}

enum outcome value_equal(struct vm *vm, struct value a, struct value b, bool *equal)
{
    return equal_items(vm, a, b, 0, equal);
}

// ---- Order

static bool holds(enum compare_op op, int order)
{
    switch (op) {
    case COMPARE_LT:
        return order < 0;
    case COMPARE_LE:
        return order <= 0;
    case COMPARE_EQ:
        return order == 0;
    case COMPARE_NE:
        return order != 0;
    case COMPARE_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

static enum outcome answer(enum compare_op op, int order, struct value *result)
{
    *result = value_bool(holds(op, order));
    return OUTCOME_OK;
}

static enum outcome compare_depth(struct vm *vm, enum compare_op op, struct value a,
                                  struct value b, int depth, struct value *result);

static enum outcome order_texts(struct vm *vm, enum compare_op op, struct value a,
                                struct value b, struct value *result)
{
    enum outcome outcome = spend_text(vm, a, b);
    if (outcome != OUTCOME_OK)
        return outcome;
    return answer(op, string_compare(VALUE_AS(string, a), VALUE_AS(string, b)), result);
}

// The first items that differ decide; if none do, the lengths.
static enum outcome order_sequences(struct vm *vm, enum compare_op op, struct value a,
                                    struct value b, int depth, struct value *result)
{
    int64_t count, other;
    sequence_items(a, &count);
    sequence_items(b, &other);
    int64_t common = count < other ? count : other;
    for (int64_t i = 0; i < common; i++) {
        bool equal;
        struct value left = sequence_items(a, &count)[i],
                     right = sequence_items(b, &other)[i];
        enum outcome outcome = vm_spend(vm, 1);
        if (outcome == OUTCOME_OK)
            outcome = equal_items(vm, left, right, depth, &equal);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (!equal)
            return compare_depth(vm, op, left, right, depth, result);
    }
    return answer(op, (count > other) - (count < other), result);
}

static enum outcome order_set_likes(struct vm *vm, enum compare_op op, struct value a,
                                    struct value b, struct value *result)
{
    int64_t count, other;
    bool turned = op == COMPARE_GT || op == COMPARE_GE, included = false;
    bool strict = op == COMPARE_LT || op == COMPARE_GT;
    struct value small = turned ? b : a, large = turned ? a : b;
    enum outcome outcome = value_length(vm, small, &count);
    if (outcome == OUTCOME_OK)
        outcome = value_length(vm, large, &other);
    if (outcome == OUTCOME_OK && (strict ? count < other : count <= other))
        outcome = is_included(vm, small, large, &included);
    *result = value_bool(included);
    return outcome;
}

static enum outcome compare_depth(struct vm *vm, enum compare_op op, struct value a,
                                  struct value b, int depth, struct value *result)
{
    static const char *const symbols[] = {
        [COMPARE_LT] = "<",  [COMPARE_LE] = "<=", [COMPARE_EQ] = "==",
        [COMPARE_NE] = "!=", [COMPARE_GT] = ">",  [COMPARE_GE] = ">="};
    if (value_is_arithmetic(a) && value_is_arithmetic(b)) {
        int order = number_compare(a, b);
        if (order == 2) {
            *result = value_bool(op == COMPARE_NE);
            return OUTCOME_OK;
        }
        return answer(op, order, result);
    }
    if (value_is_tensor(a) || value_is_tensor(b))
        return torch_compare(vm, op, a, b, result);
    if (op == COMPARE_EQ || op == COMPARE_NE) {
        bool equal;
        enum outcome outcome = equal_values(vm, a, b, depth, &equal);
        if (outcome == OUTCOME_OK)
            *result = value_bool(equal == (op == COMPARE_EQ));
        return outcome;
    }
    if (depth >= MAX_DEPTH)
        return vm_raise(vm, STATUS_LIMIT,
                        "maximum recursion depth exceeded in comparison");
    if (a.tag == VALUE_OBJECT && b.tag == VALUE_OBJECT) {
        if (value_is_object(a, OBJECT_STRING) && value_is_object(b, OBJECT_STRING))
            return order_texts(vm, op, a, b, result);
        if (value_is_sequence(a) && a.object->kind == b.object->kind)
            return order_sequences(vm, op, a, b, depth + 1, result);
        if (is_set_like(a) && is_set_like(b))
            return order_set_likes(vm, op, a, b, result);
    }
    return vm_raise(vm, STATUS_TYPE,
                    "'%s' not supported between instances of '%s' and '%s'", symbols[op],
                    value_type_name(a), value_type_name(b));
}

enum outcome value_compare(struct vm *vm, enum compare_op op, struct value a,
                           struct value b, struct value *result)
{
    return compare_depth(vm, op, a, b, 0, result);
}
