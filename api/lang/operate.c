// SPDX-License-Identifier: Apache-2.0
// Operators and items: which file knows what to do with the operands. Tensors decide
// first, as soon as one is there. Threads: the program's.
#include "api/lang/operate.h"

#include "api/lang/builtins.h"
#include "api/lang/nn.h"
#include "api/lang/number.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"
#include "api/lang/strings.h"
#include "tensor/cells.h"

// ---- Binary operators

static enum outcome unsupported(struct vm *vm, enum binary_op op, bool in_place,
                                struct value a, struct value b)
{
    static const char *const symbols[] = {
        [BINARY_ADD] = "+",     [BINARY_SUB] = "-",        [BINARY_MUL] = "*",
        [BINARY_DIV] = "/",     [BINARY_FLOOR_DIV] = "//", [BINARY_MOD] = "%",
        [BINARY_POW] = "**",    [BINARY_MATMUL] = "@",     [BINARY_AND] = "&",
        [BINARY_OR] = "|",      [BINARY_XOR] = "^",        [BINARY_LSHIFT] = "<<",
        [BINARY_RSHIFT] = ">>",
    };
    return vm_raise(vm, STATUS_TYPE,
                    "unsupported operand type(s) for %s%s%s: '%s' and '%s'", symbols[op],
                    in_place ? "=" : "", op == BINARY_POW && !in_place ? " or pow()" : "",
                    value_type_name(a), value_type_name(b));
}

static bool is_text_or_sequence(struct value value)
{
    return value_is_sequence(value) || value_is_object(value, OBJECT_STRING);
}

static enum outcome add_sequences(struct vm *vm, bool in_place, struct value a,
                                  struct value b, struct value *result)
{
    bool is_list = value_is_object(a, OBJECT_LIST);
    if (is_list && in_place) {
        enum outcome outcome = list_extend(vm, VALUE_AS(list, a), b);
        if (outcome == OUTCOME_OK)
            *result = value_reference(a);
        return outcome;
    }
    if (b.tag != VALUE_OBJECT || a.object->kind != b.object->kind)
        return vm_raise(vm, STATUS_TYPE, "can only concatenate %s (not \"%s\") to %s",
                        is_list                             ? "list"
                        : value_is_object(a, OBJECT_STRING) ? "str"
                                                            : "tuple",
                        value_type_name(b),
                        is_list                             ? "list"
                        : value_is_object(a, OBJECT_STRING) ? "str"
                                                            : "tuple");
    if (value_is_object(a, OBJECT_STRING))
        return string_concat(vm, VALUE_AS(string, a), VALUE_AS(string, b), result);
    return sequence_concat(vm, a, b, result);
}

static enum outcome repeat(struct vm *vm, bool in_place, struct value sequence,
                           struct value times, struct value *result)
{
    if (times.tag == VALUE_WIDE)
        return vm_raise(vm, STATUS_OVERFLOW,
                        "cannot fit 'int' into an index-sized integer");
    if (!value_is_integer(times))
        return vm_raise(vm, STATUS_TYPE,
                        "can't multiply sequence by non-int of type '%s'",
                        value_type_name(times));
    if (value_is_object(sequence, OBJECT_STRING))
        return string_repeat(vm, VALUE_AS(string, sequence), times.i, result);
    if (!in_place || !value_is_object(sequence, OBJECT_LIST))
        return sequence_repeat(vm, sequence, times.i, result);
    enum outcome outcome = list_repeat_in_place(vm, VALUE_AS(list, sequence), times.i);
    if (outcome == OUTCOME_OK)
        *result = value_reference(sequence);
    return outcome;
}

// | of two dicts; |= takes what dict.update does.
static enum outcome merge_dicts(struct vm *vm, bool in_place, struct dict *a,
                                struct value b, struct value *result)
{
    struct dict *merged = a;
    enum outcome outcome = OUTCOME_OK;
    if (in_place)
        value_reference(value_of(a));
    else
        outcome = dict_copy(vm, a, &merged);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = dict_update(vm, merged, b);
    if (outcome == OUTCOME_OK)
        *result = value_of(merged);
    else
        value_release(value_of(merged));
    return outcome;
}

static bool is_set_operator(enum binary_op op)
{
    return op == BINARY_AND || op == BINARY_OR || op == BINARY_XOR || op == BINARY_SUB;
}

static enum outcome binary_objects(struct vm *vm, enum binary_op op, bool in_place,
                                   struct value a, struct value b, struct value *result)
{
    if (op == BINARY_MOD && value_is_object(a, OBJECT_STRING))
        return string_percent(vm, VALUE_AS(string, a), b, result);
    if (value_is_tensor(a) || value_is_tensor(b))
        return torch_binary(vm, op, in_place, a, b, result);
    if (op == BINARY_ADD && is_text_or_sequence(a))
        return add_sequences(vm, in_place, a, b, result);
    if (op == BINARY_MUL && is_text_or_sequence(a))
        return repeat(vm, in_place, a, b, result);
    bool other = in_place && a.tag == VALUE_OBJECT; // {1} *= 'a' does not try 'a' * {1}
    if (op == BINARY_MUL && is_text_or_sequence(b) && !other)
        return repeat(vm, false, b, a, result);
    if (is_set_operator(op)) {
        if (value_is_object(a, OBJECT_SET) && value_is_object(b, OBJECT_SET))
            return set_binary(vm, op, in_place, VALUE_AS(set, a), VALUE_AS(set, b),
                              result);
        if (value_is_set_view(a) || value_is_set_view(b))
            return view_binary(vm, op, a, b, result);
        if (op == BINARY_OR && value_is_object(a, OBJECT_DICT) &&
            (in_place || value_is_object(b, OBJECT_DICT)))
            return merge_dicts(vm, in_place, VALUE_AS(dict, a), b, result);
    }
    return unsupported(vm, op, in_place, a, b);
}

enum outcome value_binary(struct vm *vm, enum binary_op op, bool in_place, struct value a,
                          struct value b, struct value *result)
{
    if (a.tag == VALUE_OBJECT || b.tag == VALUE_OBJECT)
        return binary_objects(vm, op, in_place, a, b, result);
    if (value_is_arithmetic(a) && value_is_arithmetic(b)) {
        bool supported;
        enum outcome outcome = number_binary(vm, op, a, b, result, &supported);
        if (supported)
            return outcome;
    }
    return unsupported(vm, op, in_place, a, b);
}

enum outcome value_unary(struct vm *vm, enum unary_op op, struct value a,
                         struct value *result)
{
    static const char *const symbols[] = {
        [UNARY_NEG] = "-", [UNARY_POS] = "+", [UNARY_INVERT] = "~"};
    if (value_is_tensor(a))
        return torch_unary(vm, op, a, result);
    if (value_is_arithmetic(a)) {
        bool supported;
        enum outcome outcome = number_unary(vm, op, a, result, &supported);
        if (supported)
            return outcome;
    }
    return vm_raise(vm, STATUS_TYPE, "bad operand type for unary %s: '%s'", symbols[op],
                    value_type_name(a));
}

// ---- Truth, length, index

// nn.Sequential and ModuleList are as true as they are long; other modules always.
static bool is_container_module(struct value value)
{
    enum type type = module_type(VALUE_AS(module, value));
    return type == TYPE_Sequential || type == TYPE_ModuleList;
}

static bool object_length(struct value value, int64_t *length)
{
    switch ((enum object_kind)value.object->kind) {
    case OBJECT_STRING:
        *length = VALUE_AS(string, value)->characters;
        return true;
    case OBJECT_TUPLE:
        *length = VALUE_AS(tuple, value)->count;
        return true;
    case OBJECT_LIST:
        *length = VALUE_AS(list, value)->count;
        return true;
    case OBJECT_DICT:
        *length = VALUE_AS(dict, value)->count;
        return true;
    case OBJECT_SET:
        *length = VALUE_AS(set, value)->count;
        return true;
    case OBJECT_RANGE:
        *length = VALUE_AS(range, value)->count;
        return true;
    case OBJECT_VIEW:
        *length = VALUE_AS(view, value)->dict->count;
        return true;
    default:
        return false;
    }
}

enum outcome value_truth(struct vm *vm, struct value value, bool *truth)
{
    int64_t length;
    switch ((enum value_tag)value.tag) {
    case VALUE_NONE:
    case VALUE_ABSENT:
        *truth = false;
        return OUTCOME_OK;
    case VALUE_BOOL:
    case VALUE_INT:
        *truth = value.i != 0;
        return OUTCOME_OK;
    case VALUE_FLOAT:
        *truth = value.f != 0;
        return OUTCOME_OK;
    case VALUE_OBJECT:
        break;
    default:
        *truth = true;
        return OUTCOME_OK;
    }
    if (value_is_tensor(value))
        return torch_truth(vm, value, truth);
    *truth = true;
    if (object_length(value, &length)) {
        *truth = length > 0;
    } else if (value_is_object(value, OBJECT_MODULE) && is_container_module(value)) {
        enum outcome outcome = module_length(vm, VALUE_AS(module, value), &length);
        *truth = length > 0;
        return outcome;
    }
    return OUTCOME_OK;
}

enum outcome value_length(struct vm *vm, struct value value, int64_t *length)
{
    if (value.tag == VALUE_OBJECT) {
        if (object_length(value, length))
            return OUTCOME_OK;
        if (value_is_tensor(value))
            return torch_length(vm, value, length);
        if (value_is_object(value, OBJECT_MODULE))
            return module_length(vm, VALUE_AS(module, value), length);
    }
    return vm_raise(vm, STATUS_TYPE, "object of type '%s' has no len()",
                    value_type_name(value));
}

static enum outcome tensor_to_index(struct vm *vm, struct value value, int64_t *index)
{
    const struct lazy *lazy = VALUE_AS(tensor_object, value)->lazy;
    if (lazy_count(lazy) != 1 || dtype_is_float(lazy_dtype(lazy)))
        return vm_raise(vm, STATUS_TYPE,
                        "only integer tensors of a single element can be "
                        "converted to an index");
    struct value number;
    enum outcome outcome = tensor_number(vm, value, &number);
    if (outcome == OUTCOME_OK)
        *index = number.i;
    return outcome;
}

enum outcome value_to_index(struct vm *vm, struct value value, int64_t *index)
{
    if (value_is_integer(value)) {
        *index = value.i;
        return OUTCOME_OK;
    }
    if (value.tag == VALUE_WIDE)
        return vm_raise(vm, STATUS_OVERFLOW,
                        "integers here have 64 bits: one of 2**63 or more "
                        "can only be a seed");
    if (value_is_tensor(value))
        return tensor_to_index(vm, value, index);
    return vm_raise(vm, STATUS_TYPE, "'%s' object cannot be interpreted as an integer",
                    value_type_name(value));
}

// ---- Items

static enum outcome dict_item(struct vm *vm, const struct dict *dict, struct value key,
                              struct value *result)
{
    uint64_t hash;
    enum outcome outcome = key_hash(vm, key, &hash);
    if (outcome != OUTCOME_OK)
        return outcome;
    const struct value *found = dict_find_hashed(dict, key, hash);
    if (!found)
        return raise_key(vm, key);
    *result = value_reference(*found);
    return OUTCOME_OK;
}

static enum outcome dict_set_item(struct vm *vm, struct dict *dict, struct value key,
                                  struct value item)
{
    uint64_t hash;
    enum outcome outcome = key_hash(vm, key, &hash);
    if (outcome != OUTCOME_OK)
        return outcome;
    return outcome_of(
        dict_set_hashed(vm_heap(vm), dict, key, hash, item, vm_problem(vm)));
}

static enum outcome dict_delete_item(struct vm *vm, struct dict *dict, struct value key)
{
    uint64_t hash;
    enum outcome outcome = key_hash(vm, key, &hash);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct value removed = dict_remove_hashed(dict, key, hash);
    if (removed.tag == VALUE_ABSENT)
        return raise_key(vm, key);
    value_release(removed);
    return OUTCOME_OK;
}

enum outcome value_get_item(struct vm *vm, struct value container, struct value key,
                            struct value *result)
{
    if (container.tag == VALUE_TYPE)
        return vm_raise(vm, STATUS_TYPE, "type '%s' is not subscriptable",
                        type_short_name((enum type)container.i));
    if (container.tag == VALUE_OBJECT) {
        switch ((enum object_kind)container.object->kind) {
        case OBJECT_STRING:
        case OBJECT_TUPLE:
        case OBJECT_LIST:
        case OBJECT_RANGE:
            return sequence_get(vm, container, key, result);
        case OBJECT_DICT:
            return dict_item(vm, VALUE_AS(dict, container), key, result);
        case OBJECT_TENSOR:
            return torch_get_item(vm, container, key, result);
        case OBJECT_MODULE:
            return module_get_item(vm, VALUE_AS(module, container), key, result);
        default:
            break;
        }
    }
    return vm_raise(vm, STATUS_TYPE, "'%s' object is not subscriptable",
                    value_type_name(container));
}

enum outcome value_set_item(struct vm *vm, struct value container, struct value key,
                            struct value item)
{
    if (value_is_object(container, OBJECT_LIST))
        return list_set(vm, VALUE_AS(list, container), key, item);
    if (value_is_object(container, OBJECT_DICT))
        return dict_set_item(vm, VALUE_AS(dict, container), key, item);
    if (value_is_tensor(container))
        return torch_set_item(vm, container, key, item);
    return vm_raise(vm, STATUS_TYPE, "'%s' object does not support item assignment",
                    value_type_name(container));
}

enum outcome value_delete_item(struct vm *vm, struct value container, struct value key)
{
    if (value_is_object(container, OBJECT_LIST))
        return list_delete(vm, VALUE_AS(list, container), key);
    if (value_is_object(container, OBJECT_DICT))
        return dict_delete_item(vm, VALUE_AS(dict, container), key);
    // Python's own two texts: of what has an order and is given an index, and of the
    // rest.
    bool ordered = container.tag == VALUE_OBJECT && value_is_integer(key);
    return vm_raise(vm, STATUS_TYPE,
                    ordered ? "'%s' object doesn't support item deletion"
                            : "'%s' object does not support item deletion",
                    value_type_name(container));
}
