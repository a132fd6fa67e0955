// SPDX-License-Identifier: Apache-2.0
// The values of a call as arguments of its operation. What cannot stand in a position is
// STATUS_TYPE with the position's name. Numbers that are tensors are read, which may
// WAIT: nothing has been computed before. The program's thread.
#include "api/lang/torch.h"

bool call_keep(struct call *call, struct lazy *lazy)
{
    if (call->n_made == CALL_MADE) {
        lazy_release(lazy);
        return false;
    }
    call->made[call->n_made++] = lazy;
    return true;
}

void call_end(struct call *call)
{
    for (int i = 0; i < call->n_made; i++)
        lazy_release(call->made[i]);
    call->n_made = 0;
    if (call->items != NULL && call->items != call->few) {
        for (int i = 0; i < call->n_items; i++)
            lazy_release(call->items[i]);
        heap_resize(vm_heap(call->vm), call->items,
                    (size_t)call->n_items * sizeof(struct lazy *), 0,
                    vm_problem(call->vm));
    } else if (call->items != NULL) {
        for (int i = 0; i < call->n_items; i++)
            lazy_release(call->items[i]);
    }
    call->items = NULL;
}

static enum outcome wrong_type(struct call *call, int index, const char *wanted,
                               struct value value)
{
    return vm_raise(call->vm, STATUS_TYPE,
                    "%s(): argument '%s' (position %d) must be %s, not %s",
                    call->row->name, call->row->parameters[index].name, index + 1, wanted,
                    torch_type_name(value));
}

// ---- Tensors

// The lazy of a tensor, or of what np functions take for one. A reference of the
// caller's.
static enum outcome tensor_value(struct call *call, int index, struct value value,
                                 struct lazy **out)
{
    if (value_is_tensor(value)) {
        const struct tensor_object *object = tensor_of(value);
        if (object->is_array && !call->numpy)
            return wrong_type(call, index, "Tensor", value);
        call->wants_grad |= object->requires_grad;
        call->leaf_view |= object->is_leaf_view || object->grad_fn == NULL;
        *out = lazy_reference(object->lazy);
        return OUTCOME_OK;
    }
    if (!call->numpy)
        return wrong_type(call, index, "Tensor", value);
    return literal_lazy(call->vm, value, true, false, DTYPE_FLOAT64, NULL, out);
}

// May a Python number stand in this Tensor position? Not where a matrix is meant, and in
// the first only beside a tensor, for pow(2, x) and the like.
static bool takes_number(const struct call *call, int index)
{
    static const enum op first[] = {
        OP_add,       OP_sub, OP_mul,         OP_div,        OP_floor_divide,
        OP_remainder, OP_pow, OP_bitwise_and, OP_bitwise_or, OP_bitwise_xor};
    if (call->op == OP_normal)
        return true;
    if (call->row->form != FORM_MAP && call->op != OP_clamp && call->op != OP_clamp_)
        return false;
    if (index > 0 || call->numpy)
        return true;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        if (call->op == first[i])
            return value_is_tensor(call->given[1]) && !call->in_place;
    return false;
}

static enum outcome convert_tensor(struct call *call, int index, struct value value)
{
    struct lazy_argument *argument = &call->arguments[index];
    argument->kind = ARGUMENT_TENSOR;
    if (value_is_number(value) && takes_number(call, index)) {
        argument->is_number = true;
        argument->number = torch_scalar_of(value);
        return OUTCOME_OK;
    }
    struct lazy *lazy;
    enum outcome outcome = tensor_value(call, index, value, &lazy);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!call_keep(call, lazy))
        return vm_raise(call->vm, STATUS_LIMIT, "%s(): too many tensors",
                        call->row->name);
    argument->is_number = false;
    argument->tensor = lazy;
    return OUTCOME_OK;
}

// The items of a sequence; a tensor with dimensions is one of its parts.
static enum outcome convert_tensors(struct call *call, int index, struct value value)
{
    const struct value *items;
    int64_t count;
    struct lazy_argument *argument = &call->arguments[index];
    if (!sequence_items(value, &items, &count))
        return wrong_type(call, index, "tuple of Tensors", value);
    if (count > INT32_MAX / 16)
        return vm_raise(call->vm, STATUS_LIMIT, "%s(): too many tensors",
                        call->row->name);
    if (vm_spend(call->vm, count * 4) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct lazy **lazies = call->few;
    if (count > CALL_FEW)
        lazies = heap_resize(vm_heap(call->vm), NULL, 0, (size_t)count * sizeof *lazies,
                             vm_problem(call->vm));
    if (lazies == NULL)
        return OUTCOME_ERROR;
    call->items = lazies;
    call->n_items = (int)count;
    memset(lazies, 0, (size_t)count * sizeof *lazies);
    enum outcome all = OUTCOME_OK;
    for (int64_t i = 0; i < count; i++)
        if (!outcome_keep(&all, tensor_value(call, index, items[i], &lazies[i])))
            return OUTCOME_ERROR;
    argument->kind = ARGUMENT_TENSORS;
    argument->tensors.count = (int)count;
    argument->tensors.items = lazies;
    return all;
}

// ---- Integers

static enum outcome convert_ints(struct call *call, int index, struct value value)
{
    struct lazy_argument *argument = &call->arguments[index];
    int64_t *integers = call->integers + call->n_integers;
    int most = CALL_INTEGERS - call->n_integers, count = 0;
    enum outcome outcome = OUTCOME_OK;
    if (call->rest_at == index) {
        if (call->n_rest > most)
            return vm_raise(call->vm, STATUS_LIMIT,
                            "%s(): a tensor has at most %d dimensions", call->row->name,
                            TENSOR_MAX_NDIM);
        for (; count < call->n_rest; count++) {
            struct value item = call->rest[count];
            if (!value_is_integer(item) && !value_is_tensor(item))
                return wrong_type(call, index, "tuple of ints", item);
            if (!outcome_keep(&outcome, value_to_index(call->vm, item, &integers[count])))
                return OUTCOME_ERROR;
        }
    } else if (value_is_integer(value) || value_is_tensor(value)) {
        if (most < 1)
            return vm_raise(call->vm, STATUS_LIMIT, "%s(): too many integers",
                            call->row->name);
        outcome = value_to_index(call->vm, value, &integers[0]);
        count = 1;
    } else {
        outcome = torch_integers(call->vm, value, call->row->parameters[index].name,
                                 integers, most, &count);
    }
    if (outcome != OUTCOME_OK)
        return outcome;
    call->n_integers += count;
    argument->kind = ARGUMENT_INTS;
    argument->integers.count = count;
    argument->integers.items = integers;
    return OUTCOME_OK;
}

// ---- The others

static enum outcome convert_number(struct call *call, int index, struct value value)
{
    struct lazy_argument *argument = &call->arguments[index];
    argument->kind = ARGUMENT_NUMBER;
    if (value.tag == VALUE_WIDE)
        return vm_raise(call->vm, STATUS_OVERFLOW, "Overflow when unpacking long");
    if (!value_is_number(value) && !value_is_tensor(value))
        return wrong_type(call, index, "Number", value);
    return torch_number(call->vm, value, call->row->parameters[index].name,
                        &argument->number);
}

static enum outcome convert_plain(struct call *call, int index, struct value value)
{
    struct lazy_argument *argument = &call->arguments[index];
    struct scalar scalar;
    enum outcome outcome;
    switch (call->row->parameters[index].type) {
    case PARAMETER_INT:
        argument->kind = ARGUMENT_INT;
        if (!value_is_integer(value) && !value_is_tensor(value))
            return wrong_type(call, index, "int", value);
        return value_to_index(call->vm, value, &argument->integer);
    case PARAMETER_FLOAT:
        argument->kind = ARGUMENT_FLOAT;
        if (!value_is_number(value) && !value_is_tensor(value))
            return wrong_type(call, index, "float", value);
        outcome = torch_number(call->vm, value, "the argument", &scalar);
        argument->real = scalar.kind == SCALAR_FLOAT ? scalar.f : (double)scalar.i;
        return outcome;
    case PARAMETER_BOOL:
        argument->kind = ARGUMENT_BOOL;
        if (!value_is_integer(value))
            return wrong_type(call, index, "bool", value);
        argument->boolean = value.i != 0;
        return OUTCOME_OK;
    case PARAMETER_STR:
        argument->kind = ARGUMENT_STR;
        if (!value_is_object(value, OBJECT_STRING))
            return wrong_type(call, index, "str", value);
        argument->string.text = VALUE_AS(string, value)->text;
        argument->string.length = (size_t)VALUE_AS(string, value)->bytes;
        return OUTCOME_OK;
    case PARAMETER_DTYPE:
        argument->kind = ARGUMENT_DTYPE;
        return torch_dtype_of(call->vm, value, call->numpy, &argument->dtype);
    case PARAMETER_DEVICE:
    default:
        argument->kind = ARGUMENT_DEVICE;
        return torch_device_of(call->vm, value, &argument->device);
    }
}

static enum outcome convert(struct call *call, int index, struct value value)
{
    switch (call->row->parameters[index].type) {
    case PARAMETER_TENSOR:
        return convert_tensor(call, index, value);
    case PARAMETER_TENSORS:
        return convert_tensors(call, index, value);
    case PARAMETER_INTS:
        return convert_ints(call, index, value);
    case PARAMETER_NUMBER:
        return convert_number(call, index, value);
    default:
        return convert_plain(call, index, value);
    }
}

// *given: whether there is something to convert for the parameter.
static enum outcome check_given(struct call *call, int index, bool *given)
{
    const struct parameter *parameter = &call->row->parameters[index];
    struct value value = call->given[index];
    *given =
        call->rest_at == index || (value.tag != VALUE_ABSENT && value.tag != VALUE_NONE);
    if (*given || (value.tag == VALUE_NONE && parameter->optional) ||
        (value.tag == VALUE_ABSENT && parameter->has_default))
        return OUTCOME_OK;
    if (value.tag == VALUE_NONE)
        return wrong_type(call, index, "given", value);
    return vm_raise(call->vm, STATUS_TYPE, "%s() needs the argument %s: %s(%s)",
                    call->row->name, parameter->name, call->row->name,
                    call->row->signature);
}

enum outcome call_convert(struct call *call)
{
    enum outcome all = OUTCOME_OK;
    call->n_integers = call->n_items = call->n_made = 0;
    call->items = NULL;
    call->wants_grad = call->leaf_view = false;
    for (int i = 0; i < call->row->n_parameters; i++) {
        bool given;
        call->arguments[i].kind = ARGUMENT_NONE;
        if (check_given(call, i, &given) != OUTCOME_OK)
            return OUTCOME_ERROR;
        if (given && !outcome_keep(&all, convert(call, i, call->given[i])))
            return OUTCOME_ERROR;
    }
    call->wants_grad = call->wants_grad && vm_grad_enabled(call->vm);
    return all;
}
