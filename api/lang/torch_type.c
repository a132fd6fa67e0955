// SPDX-License-Identifier: Apache-2.0
// Calls of torch's types: torch.device("cuda", 1), torch.Size([2, 3]), torch.Tensor(2,
// 3), torch.no_grad(), nn.Parameter(x). The program's thread.
#include "api/lang/torch.h"

static bool is_given(struct value value)
{
    return value.tag != VALUE_ABSENT && value.tag != VALUE_NONE;
}

// torch.device(device), torch.device(type, index); it need not exist.
static enum outcome make_device(struct vm *vm, struct value *slots, struct value *result)
{
    struct value type = slots[0];
    if (type.tag == VALUE_DEVICE && !is_given(slots[1])) {
        *result = type;
        return OUTCOME_OK;
    }
    if (value_is_integer(type) && !is_given(slots[1])) {
        if (type.i < 0 || type.i > 9999)
            return vm_raise(vm, STATUS_VALUE,
                            "Device index must not be negative or large");
        *result = value_device(true, (int)type.i);
        return OUTCOME_OK;
    }
    if (!value_is_object(type, OBJECT_STRING))
        return vm_raise(
            vm, STATUS_TYPE,
            "device() takes a device, an index, or a str and an index, not %s",
            type.tag == VALUE_ABSENT ? "nothing" : torch_type_name(type));
    if (torch_device_parse(vm, VALUE_AS(string, type), result) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (!is_given(slots[1]))
        return OUTCOME_OK;
    if (device_index(*result) >= 0)
        return vm_raise(vm, STATUS_VALUE,
                        "type (string) must not include an index because index was "
                        "passed explicitly: %.60s",
                        VALUE_AS(string, type)->text);
    int64_t index;
    enum outcome outcome = value_to_index(vm, slots[1], &index);
    if (outcome == OUTCOME_OK && (index < 0 || index > 9999))
        return vm_raise(vm, STATUS_VALUE, "Device index must not be negative or large");
    if (outcome == OUTCOME_OK)
        *result = value_device(device_is_cuda(*result), (int)index);
    return outcome;
}

static enum outcome make_size(struct vm *vm, struct value *slots, struct value *result)
{
    const struct value *items = NULL;
    int64_t count = 0;
    if (slots[0].tag != VALUE_ABSENT && !sequence_items(slots[0], &items, &count))
        return vm_raise(vm, STATUS_TYPE, "torch.Size() takes a sequence of int, not %s",
                        torch_type_name(slots[0]));
    for (int64_t i = 0; i < count; i++)
        if (!value_is_integer(items[i]))
            return vm_raise(vm, STATUS_TYPE,
                            "torch.Size() takes an iterable of 'int' (item %lld is '%s')",
                            (long long)i, torch_type_name(items[i]));
    struct tuple *tuple = tuple_new(vm_heap(vm), count, items, vm_problem(vm));
    if (tuple == NULL)
        return OUTCOME_ERROR;
    tuple->is_size = true;
    *result = value_of(tuple);
    return OUTCOME_OK;
}

static enum outcome size_numel(struct vm *vm, struct value *slots, struct value *result)
{
    const struct tuple *tuple = VALUE_AS(tuple, slots[0]);
    int64_t product = 1;
    for (int64_t i = 0; i < tuple->count; i++)
        if (__builtin_mul_overflow(product, tuple->items[i].i, &product))
            return vm_raise(vm, STATUS_OVERFLOW, "numel() is beyond 64 bits");
    *result = value_int(product);
    return OUTCOME_OK;
}

struct native torch_size_methods[] = {
    {.name = "numel", .signature = "self", .function = size_numel},
    {.name = NULL},
};

// torch.Tensor(2, 3) has sizes, torch.Tensor([2, 3]) elements; float32 always.
static enum outcome make_tensor(struct vm *vm, struct value *slots, struct value *result)
{
    const struct tuple *rest = VALUE_AS(tuple, slots[0]);
    const struct value *items;
    int64_t count, sizes[TENSOR_MAX_NDIM];
    int n_sizes;
    if (rest->count == 1 && (value_is_tensor(rest->items[0]) ||
                             (sequence_items(rest->items[0], &items, &count) &&
                              !(value_is_object(rest->items[0], OBJECT_TUPLE) &&
                                VALUE_AS(tuple, rest->items[0])->is_size))))
        return torch_make(vm, rest->items[0], value_dtype(DTYPE_FLOAT32), value_none(),
                          value_none(), result);
    struct lazy *lazy;
    if (rest->count == 0) {
        sizes[0] = 0;
        n_sizes = 1;
    } else {
        enum outcome outcome = torch_sizes(vm, slots[0], sizes, &n_sizes);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    enum outcome outcome = torch_filled(vm, OP_zeros, n_sizes, sizes, (struct scalar){0},
                                        DTYPE_FLOAT32, torch_host(vm), &lazy);
    return outcome == OUTCOME_OK ? torch_wrap(vm, lazy, (struct flavor){0}, result)
                                 : outcome;
}

// nn.Parameter(tensor): the same elements, requiring grad.
static enum outcome make_parameter(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    if (!value_is_tensor(slots[0]) || value_is_array(slots[0]))
        return vm_raise(vm, STATUS_TYPE, "Parameter() takes a tensor, not %s",
                        slots[0].tag == VALUE_ABSENT ? "nothing"
                                                     : torch_type_name(slots[0]));
    bool wanted = !value_is_integer(slots[1]) || slots[1].i != 0;
    struct lazy *lazy = tensor_of(slots[0])->lazy;
    if (wanted && !dtype_is_float(lazy_dtype(lazy)))
        return vm_raise(vm, STATUS_DTYPE,
                        "Only Tensors of floating point and complex dtype can require "
                        "gradients");
    struct flavor flavor = {.is_parameter = true, .requires_grad = wanted};
    return torch_wrap(vm, lazy_reference(lazy), flavor, result);
}

// ---- Contexts

static enum outcome make_no_grad(struct vm *vm, struct value *slots, struct value *result)
{
    return torch_record(vm, type_name(TYPE_no_grad), 0, NULL, NULL, result);
}

static enum outcome make_inference_mode(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    static const char *const fields[] = {"mode"};
    struct value items[] = {value_bool(true)};
    if (slots[0].tag != VALUE_ABSENT && !value_is_integer(slots[0]))
        return vm_raise(vm, STATUS_TYPE, "inference_mode() takes a bool, not %s",
                        torch_type_name(slots[0]));
    if (slots[0].tag != VALUE_ABSENT)
        items[0] = value_bool(slots[0].i != 0);
    return torch_record(vm, type_name(TYPE_inference_mode), 1, fields, items, result);
}

// torch.cuda.device("cuda:1").idx: named, not used. A cpu has the index -1.
static enum outcome make_cuda_device(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    static const char *const fields[] = {"idx"};
    struct value device = slots[0], items[1];
    if (value_is_object(device, OBJECT_STRING) &&
        torch_device_parse(vm, VALUE_AS(string, device), &device) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (value_is_integer(device))
        items[0] = value_int(device.i);
    else if (device.tag == VALUE_NONE)
        items[0] = value_int(-1);
    else if (device.tag != VALUE_DEVICE || !device_is_cuda(device))
        return vm_raise(vm, STATUS_VALUE, "Expected a cuda device, but got: %s",
                        device.tag == VALUE_DEVICE ? "cpu" : torch_type_name(device));
    else
        items[0] =
            device_index(device) < 0 ? value_none() : value_int(device_index(device));
    return torch_record(vm, type_name(TYPE_cuda_device), 1, fields, items, result);
}

static struct native constructors[] = {
    {.name = "Tensor", .signature = "*data", .function = make_tensor},
    {.name = "Parameter",
     .signature = "data=, requires_grad=",
     .function = make_parameter},
    {.name = "device", .signature = "type=, index=", .function = make_device},
    {.name = "Size", .signature = "iterable=", .function = make_size},
    {.name = "no_grad", .signature = "", .function = make_no_grad},
    {.name = "inference_mode", .signature = "mode=", .function = make_inference_mode},
    {.name = "cuda_device", .signature = "device", .function = make_cuda_device},
    {.name = NULL},
};

const struct native *torch_type_constructor(enum type type)
{
    switch (type) {
    case TYPE_Tensor:
        return native_in(constructors, "Tensor");
    case TYPE_Parameter:
        return native_in(constructors, "Parameter");
    case TYPE_device:
        return native_in(constructors, "device");
    case TYPE_Size:
        return native_in(constructors, "Size");
    case TYPE_no_grad:
        return native_in(constructors, "no_grad");
    case TYPE_inference_mode:
        return native_in(constructors, "inference_mode");
    case TYPE_cuda_device:
        return native_in(constructors, "cuda_device");
    default:
        return NULL;
    }
}
