// SPDX-License-Identifier: Apache-2.0
// What stands after a dot: members of tensors, arrays, dtypes, devices, namespaces and
// types. The program's thread.
#include "api/lang/torch.h"

// ---- Properties of tensors and arrays

static struct lazy *lazy_of(struct value self)
{
    return tensor_of(self)->lazy;
}

static enum outcome property_shape(struct vm *vm, struct value self, struct value *result)
{
    const struct layout *layout = lazy_layout(lazy_of(self));
    return torch_size(vm, layout->ndim, layout->shape, !value_is_array(self), result);
}

static enum outcome property_ndim(struct vm *vm, struct value self, struct value *result)
{
    *result = value_int(lazy_layout(lazy_of(self))->ndim);
    return OUTCOME_OK;
}

static enum outcome property_dtype(struct vm *vm, struct value self, struct value *result)
{
    *result = value_dtype(lazy_dtype(lazy_of(self)));
    result->flags = value_is_array(self) ? DTYPE_OF_ARRAY : 0;
    return OUTCOME_OK;
}

static enum outcome property_device(struct vm *vm, struct value self,
                                    struct value *result)
{
    *result = torch_device_value(lazy_device(lazy_of(self)));
    return OUTCOME_OK;
}

static enum outcome property_is_cuda(struct vm *vm, struct value self,
                                     struct value *result)
{
    *result = value_bool(!lazy_device(lazy_of(self))->is_host);
    return OUTCOME_OK;
}

static enum outcome property_requires_grad(struct vm *vm, struct value self,
                                           struct value *result)
{
    *result = value_bool(tensor_of(self)->requires_grad);
    return OUTCOME_OK;
}

// A leaf is what was not computed from something that requires grad.
static enum outcome property_is_leaf(struct vm *vm, struct value self,
                                     struct value *result)
{
    *result = value_bool(tensor_of(self)->grad_fn == NULL);
    return OUTCOME_OK;
}

static enum outcome property_none(struct vm *vm, struct value self, struct value *result)
{
    *result = value_none();
    return OUTCOME_OK;
}

static enum outcome property_grad_fn(struct vm *vm, struct value self,
                                     struct value *result)
{
    const char *name = tensor_of(self)->grad_fn;
    *result = value_none();
    return name == NULL ? OUTCOME_OK : torch_record(vm, name, 0, NULL, NULL, result);
}

static enum outcome property_data(struct vm *vm, struct value self, struct value *result)
{
    return torch_wrap(vm, lazy_reference(lazy_of(self)), (struct flavor){0}, result);
}

static enum outcome property_itemsize(struct vm *vm, struct value self,
                                      struct value *result)
{
    *result = value_int(dtype_size(lazy_dtype(lazy_of(self))));
    return OUTCOME_OK;
}

static enum outcome property_nbytes(struct vm *vm, struct value self,
                                    struct value *result)
{
    *result =
        value_int(lazy_count(lazy_of(self)) * dtype_size(lazy_dtype(lazy_of(self))));
    return OUTCOME_OK;
}

static enum outcome property_size(struct vm *vm, struct value self, struct value *result)
{
    *result = value_int(lazy_count(lazy_of(self)));
    return OUTCOME_OK;
}

// In bytes, as NumPy counts them.
static enum outcome property_strides(struct vm *vm, struct value self,
                                     struct value *result)
{
    const struct layout *layout = lazy_layout(lazy_of(self));
    int64_t bytes[TENSOR_MAX_NDIM];
    for (int i = 0; i < layout->ndim; i++)
        bytes[i] = layout->strides[i] * dtype_size(lazy_dtype(lazy_of(self)));
    return torch_size(vm, layout->ndim, bytes, false, result);
}

// The dimensions [from, ndim) in the opposite order.
static enum outcome reversed(struct vm *vm, struct value self, int from,
                             const char *grad_fn, struct value *result)
{
    struct lazy *lazy = lazy_of(self), *view;
    const struct layout *in = lazy_layout(lazy);
    struct layout layout;
    layout_copy(&layout, in);
    for (int i = from; i < in->ndim; i++) {
        layout.shape[i] = in->shape[in->ndim - 1 - (i - from)];
        layout.strides[i] = in->strides[in->ndim - 1 - (i - from)];
    }
    if (lazy_view(lazy, &layout, lazy_offset(lazy), &view, vm_problem(vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    return torch_wrap(vm, view, torch_view_flavor(vm, self, grad_fn), result);
}

static enum outcome property_T(struct vm *vm, struct value self, struct value *result)
{
    return reversed(vm, self, 0, "PermuteBackward0", result);
}

static enum outcome property_mT(struct vm *vm, struct value self, struct value *result)
{
    int ndim = lazy_layout(lazy_of(self))->ndim;
    if (ndim < 2)
        return vm_raise(vm, STATUS_SHAPE,
                        "mT is for matrices or batches of them, not for a tensor of "
                        "dimension %d",
                        ndim);
    return reversed(vm, self, ndim - 2, "TransposeBackward0", result);
}

static enum outcome property_H(struct vm *vm, struct value self, struct value *result)
{
    int ndim = lazy_layout(lazy_of(self))->ndim;
    if (ndim != 0 && ndim != 2)
        return vm_raise(vm, STATUS_SHAPE,
                        "H is for matrices, not for a tensor of "
                        "dimension %d",
                        ndim);
    return reversed(vm, self, 0, "TransposeBackward0", result);
}

static const struct {
    const char *name;
    property_function *function;
    bool tensor, array;
} properties[] = {
    {"shape", property_shape, true, true},
    {"ndim", property_ndim, true, true},
    {"dtype", property_dtype, true, true},
    {"T", property_T, true, true},
    {"nbytes", property_nbytes, true, true},
    {"itemsize", property_itemsize, true, true},
    {"device", property_device, true, false},
    {"mT", property_mT, true, false},
    {"H", property_H, true, false},
    {"is_cuda", property_is_cuda, true, false},
    {"requires_grad", property_requires_grad, true, false},
    {"is_leaf", property_is_leaf, true, false},
    {"grad", property_none, true, false},
    {"grad_fn", property_grad_fn, true, false},
    {"data", property_data, true, false},
    {"size", property_size, false, true},
    {"strides", property_strides, false, true},
};

// ---- Tables

// Operations that torch has as functions alone.
static bool is_method(const struct op_row *row)
{
    static const char *const functions[] = {"linear", "gelu", "dropout", "slice",
                                            "normal"};
    size_t length = strlen(row->name);
    if (row->n_parameters == 0 || row->parameters[0].type != PARAMETER_TENSOR ||
        strcmp(row->parameters[0].name, "input") != 0 ||
        (length > 5 && strcmp(row->name + length - 5, "_like") == 0))
        return false;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i], row->name) == 0)
            return false;
    return true;
}

// Other names of operations, as methods and functions.
static const struct {
    const char *alias, *name;
} aliases[] = {
    {"clip", "clamp"},         {"multiply", "mul"},
    {"subtract", "sub"},       {"divide", "div"},
    {"true_divide", "div"},    {"negative", "neg"},
    {"absolute", "abs"},       {"greater", "gt"},
    {"greater_equal", "ge"},   {"less", "lt"},
    {"less_equal", "le"},      {"not_equal", "ne"},
    {"swapaxes", "transpose"}, {"swapdims", "transpose"},
    {"concat", "cat"},         {"concatenate", "cat"},
    {"clip_", "clamp_"},       {"ger", "outer"},
    {"empty", "zeros"},        {"empty_like", "zeros_like"},
};

static const char *const inplace_aliases[][2] = {
    {"multiply_", "mul"}, {"subtract_", "sub"}, {"divide_", "div"}, {"negative_", "neg"}};

void torch_add_aliases(struct members *members, bool methods)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        enum op op;
        bool in_place;
        if (op_find(aliases[i].name, strlen(aliases[i].name), &op, &in_place, NULL) &&
            !in_place && (!methods || is_method(op_row(op))))
            members_add(members, aliases[i].alias, value_op(op, 0), NULL);
    }
    for (size_t i = 0; methods && i < 4; i++) {
        enum op op;
        bool in_place;
        if (op_find(inplace_aliases[i][1], strlen(inplace_aliases[i][1]), &op, &in_place,
                    NULL))
            members_add(members, inplace_aliases[i][0], value_op(op, OP_IN_PLACE), NULL);
    }
}

// The names of in-place forms ("add_") live as long as the tables.
static const char *in_place_name(enum op op)
{
    static char names[OP_COUNT][32];
    size_t length = strlen(op_row(op)->name);
    if (length + 2 > sizeof names[op])
        return NULL;
    memcpy(names[op], op_row(op)->name, length);
    memcpy(names[op] + length, "_", 2);
    return names[op];
}

void torch_fill_tensor(struct members *tensor, struct members *array)
{
    struct value none = {.tag = VALUE_ABSENT};
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++) {
        if (properties[i].tensor)
            members_add(tensor, properties[i].name, none, properties[i].function);
        if (properties[i].array)
            members_add(array, properties[i].name, none, properties[i].function);
    }
    members_add_natives(tensor, tensor_methods);
    members_add_natives(tensor, tensor_create_methods);
    members_add_natives(tensor, tensor_compute_methods);
    members_add_natives(tensor, torch_compute_functions);
    for (const char *const *name = torch_shared_methods; *name != NULL; name++)
        members_add(tensor, *name, value_native(native_in(torch_functions, *name)), NULL);
    for (int op = 0; op < OP_COUNT; op++) {
        const struct op_row *row = op_row((enum op)op);
        if (!is_method(row))
            continue;
        members_add(tensor, row->name, value_op((enum op)op, 0), NULL);
        if (row->in_place && in_place_name((enum op)op) != NULL)
            members_add(tensor, in_place_name((enum op)op),
                        value_op((enum op)op, OP_IN_PLACE), NULL);
    }
    torch_add_aliases(tensor, true);
    numpy_fill_array(array);
}

// ---- Members of the others

static enum outcome dtype_member(struct vm *vm, struct value value,
                                 const struct string *name, struct value *result)
{
    enum dtype dtype = (enum dtype)value.i;
    if (strcmp(name->text, "is_floating_point") == 0)
        *result = value_bool(dtype_is_float(dtype));
    else if (strcmp(name->text, "is_complex") == 0)
        *result = value_bool(false);
    else if (strcmp(name->text, "is_signed") == 0)
        *result = value_bool(dtype != DTYPE_BOOL && dtype != DTYPE_UINT8);
    else if (strcmp(name->text, "itemsize") == 0)
        *result = value_int(dtype_size(dtype));
    else if (strcmp(name->text, "name") == 0 && value.flags != 0)
        return torch_text(vm, dtype_name(dtype), result);
    else if (strcmp(name->text, "__name__") == 0 && value.flags == DTYPE_SCALAR)
        return torch_text(vm, dtype_name(dtype), result);
    else
        return vm_raise(vm, STATUS_ATTRIBUTE,
                        "'torch.dtype' object has no attribute '%.60s'", name->text);
    return OUTCOME_OK;
}

static enum outcome device_member(struct vm *vm, struct value value,
                                  const struct string *name, struct value *result)
{
    if (strcmp(name->text, "type") == 0)
        return torch_text(vm, device_is_cuda(value) ? "cuda" : "cpu", result);
    if (strcmp(name->text, "index") == 0) {
        *result = device_index(value) < 0 ? value_none() : value_int(device_index(value));
        return OUTCOME_OK;
    }
    return vm_raise(vm, STATUS_ATTRIBUTE,
                    "'torch.device' object has no attribute '%.60s'", name->text);
}

static enum outcome type_member(struct vm *vm, struct value value,
                                const struct string *name, struct value *result)
{
    if (strcmp(name->text, "__name__") == 0)
        return torch_text(vm, type_short_name((enum type)value.i), result);
    return vm_raise(vm, STATUS_ATTRIBUTE, "type object '%s' has no attribute '%.60s'",
                    type_short_name((enum type)value.i), name->text);
}

static enum outcome size_member(struct vm *vm, struct value value,
                                const struct string *name, struct value *function,
                                struct value *self)
{
    if (VALUE_AS(tuple, value)->is_size && strcmp(name->text, "numel") == 0) {
        *function = value_native(native_in(torch_size_methods, "numel"));
        *self = value_reference(value);
        return OUTCOME_OK;
    }
    return vm_raise(vm, STATUS_ATTRIBUTE, "'%s' object has no attribute '%.60s'",
                    torch_type_name(value), name->text);
}

static enum outcome tensor_member(struct vm *vm, struct value value,
                                  const struct string *name, struct value *function,
                                  struct value *self)
{
    bool array = value_is_array(value);
    const struct members *members = array ? array_members() : tensor_members();
    const struct member *member = members_find(members, name->text, (size_t)name->bytes);
    if (member == NULL)
        return members_missing(
            vm, members, array ? "'numpy.ndarray' object" : "'Tensor' object", name);
    if (member->property != NULL)
        return member->property(vm, value, function);
    *function = member->value;
    *self = value_reference(value);
    return OUTCOME_OK;
}

enum outcome torch_get_method(struct vm *vm, struct value value,
                              const struct string *name, struct value *function,
                              struct value *self)
{
    *self = (struct value){.tag = VALUE_ABSENT};
    if (value_is_tensor(value))
        return tensor_member(vm, value, name, function, self);
    switch (value.tag) {
    case VALUE_NAMESPACE:
        return torch_namespace_member(vm, (enum namespace)value.i, name, function);
    case VALUE_DTYPE:
        return dtype_member(vm, value, name, function);
    case VALUE_DEVICE:
        return device_member(vm, value, name, function);
    case VALUE_TYPE:
        return type_member(vm, value, name, function);
    default:
        break;
    }
    if (value_is_object(value, OBJECT_TUPLE))
        return size_member(vm, value, name, function, self);
    return vm_raise(vm, STATUS_ATTRIBUTE, "'%s' object has no attribute '%.60s'",
                    torch_type_name(value), name->text);
}

// x.requires_grad = True, x.data = y, x.grad = None.
static enum outcome set_tensor(struct vm *vm, struct value value,
                               const struct string *name, struct value item)
{
    struct tensor_object *object = tensor_of(value);
    if (strcmp(name->text, "requires_grad") == 0 && value_is_integer(item))
        return torch_set_requires_grad(vm, value, item.i != 0);
    if (strcmp(name->text, "grad") == 0 && item.tag == VALUE_NONE)
        return OUTCOME_OK;
    if (strcmp(name->text, "data") == 0 && value_is_tensor(item) &&
        !value_is_array(item)) {
        struct lazy *old = object->lazy;
        object->lazy = lazy_reference(tensor_of(item)->lazy);
        lazy_release(old);
        return OUTCOME_OK;
    }
    if (members_find(tensor_members(), name->text, (size_t)name->bytes) == NULL)
        return members_missing(vm, tensor_members(), "'Tensor' object", name);
    return vm_raise(vm, STATUS_ATTRIBUTE, "attribute '%.60s' of a tensor is not writable",
                    name->text);
}

enum outcome torch_set_attribute(struct vm *vm, struct value value,
                                 const struct string *name, struct value item)
{
    if (value_is_tensor(value) && !value_is_array(value))
        return set_tensor(vm, value, name, item);
    return vm_raise(vm, STATUS_ATTRIBUTE, "'%s' has no attribute '%.60s' to assign to",
                    torch_type_name(value), name->text);
}
