// SPDX-License-Identifier: Apache-2.0
// Tensors and arrays out of Python's values and out of each other: tensor, as_tensor,
// from_numpy, new_zeros, np.array. The program's thread.
#include "api/lang/torch.h"
#include "api/lang/vm.h"

static bool is_given(struct value value)
{
    return value.tag != VALUE_ABSENT && value.tag != VALUE_NONE;
}

struct options { // dtype=, device=, requires_grad=
    bool has_dtype;
    enum dtype dtype;
    struct device *device; // NULL: not given
    bool requires_grad;
};

static enum outcome read_options(struct vm *vm, bool numpy, struct value dtype,
                                 struct value device, struct value requires_grad,
                                 struct options *out)
{
    *out = (struct options){0};
    enum outcome outcome = OUTCOME_OK;
    out->has_dtype = is_given(dtype);
    if (out->has_dtype)
        outcome = torch_dtype_of(vm, dtype, numpy, &out->dtype);
    if (outcome == OUTCOME_OK && is_given(device))
        outcome = torch_device_of(vm, device, &out->device);
    if (outcome == OUTCOME_OK && is_given(requires_grad) &&
        !value_is_integer(requires_grad))
        outcome = vm_raise(vm, STATUS_TYPE, "requires_grad must be bool, not %s",
                           torch_type_name(requires_grad));
    out->requires_grad = is_given(requires_grad) && requires_grad.i != 0;
    return outcome;
}

static enum outcome require(struct vm *vm, bool wanted, enum outcome outcome,
                            struct value *result)
{
    if (outcome != OUTCOME_OK || !wanted)
        return outcome;
    outcome = torch_set_requires_grad(vm, *result, true);
    if (outcome != OUTCOME_OK)
        value_release(*result);
    return outcome;
}

// A copy of a tensor or array (copy false: itself where nothing changes).
static enum outcome from_tensor(struct vm *vm, struct value value, bool copy,
                                bool is_array, const struct options *options,
                                struct value *result)
{
    struct pool pool = {.vm = vm};
    struct lazy *lazy = tensor_of(value)->lazy;
    enum dtype dtype = options->has_dtype ? options->dtype : lazy_dtype(lazy);
    struct device *device = options->device ? options->device : lazy_device(lazy);
    struct lazy *there = pool_cast(&pool, lazy, dtype, device);
    if (copy && there == lazy)
        there = pool_one(&pool, OP_clone, lazy);
    struct flavor flavor = {.is_array = is_array,
                            .is_scalar = tensor_of(value)->is_scalar};
    return pool_end(&pool, there, flavor, result);
}

enum outcome torch_make(struct vm *vm, struct value data, struct value dtype,
                        struct value device, struct value requires_grad,
                        struct value *result)
{
    struct options options;
    struct lazy *lazy;
    enum outcome outcome =
        read_options(vm, false, dtype, device, requires_grad, &options);
    // Said before the elements are read, as far as it can be.
    if (outcome == OUTCOME_OK && options.requires_grad && options.has_dtype &&
        !dtype_is_float(options.dtype))
        return vm_raise(vm, STATUS_DTYPE,
                        "Only Tensors of floating point and complex dtype can require "
                        "gradients");
    if (outcome != OUTCOME_OK)
        return outcome;
    if (value_is_tensor(data)) {
        outcome = from_tensor(vm, data, true, false, &options, result);
    } else {
        outcome = literal_lazy(vm, data, false, options.has_dtype, options.dtype,
                               options.device, &lazy);
        if (outcome == OUTCOME_OK)
            outcome = torch_wrap(vm, lazy, (struct flavor){0}, result);
    }
    return require(vm, options.requires_grad, outcome, result);
}

static enum outcome create_tensor(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    return torch_make(vm, slots[0], slots[1], slots[2], slots[3], result);
}

// tensor("any.name") is the user's tensor of that name; else torch.tensor.
static enum outcome bare_tensor(struct vm *vm, struct value *slots, struct value *result)
{
    if (!value_is_object(slots[0], OBJECT_STRING))
        return create_tensor(vm, slots, result);
    const struct string *name = VALUE_AS(string, slots[0]);
    enum outcome outcome = vm_lookup(vm, name->text, (size_t)name->bytes, result);
    if (outcome == OUTCOME_OK && result->tag == VALUE_ABSENT)
        return vm_raise(vm, STATUS_UNDEFINED, "There is no tensor \"%.128s\".",
                        name->text);
    return outcome;
}

struct native torch_bare_tensor[] = {
    {.name = "tensor",
     .signature = "data, *, dtype=, device=, requires_grad=, pin_memory=",
     .function = bare_tensor},
    {.name = NULL},
};

static enum outcome create_as_tensor(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    struct options options;
    if (!value_is_tensor(slots[0]))
        return torch_make(vm, slots[0], slots[1], slots[2], value_none(), result);
    enum outcome outcome =
        read_options(vm, false, slots[1], slots[2], value_none(), &options);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!value_is_array(slots[0]))
        return torch_to(vm, slots[0], options.device,
                        options.has_dtype ? options.dtype
                                          : lazy_dtype(tensor_of(slots[0])->lazy),
                        false, result);
    return from_tensor(vm, slots[0], false, false, &options, result);
}

static enum outcome create_from_numpy(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    if (!value_is_array(slots[0]))
        return vm_raise(vm, STATUS_TYPE, "expected np.ndarray (got %s)",
                        torch_type_name(slots[0]));
    return torch_wrap(vm, lazy_reference(tensor_of(slots[0])->lazy), (struct flavor){0},
                      result);
}

struct native torch_create_functions[] = {
    {.name = "tensor",
     .signature = "data, *, dtype=, device=, requires_grad=, pin_memory=",
     .function = create_tensor},
    {.name = "as_tensor",
     .signature = "data, dtype=, device=",
     .function = create_as_tensor},
    {.name = "asarray",
     .signature = "data, *, dtype=, device=",
     .function = create_as_tensor},
    {.name = "from_numpy", .signature = "array", .function = create_from_numpy},
    {.name = NULL},
};

// ---- new_*: as the tensor whose method it is, unless said otherwise.

// `op` of a size (and a fill value) in dtype on device.
enum outcome torch_filled(struct vm *vm, enum op op, int n_sizes, const int64_t *sizes,
                          struct scalar fill, enum dtype dtype, struct device *device,
                          struct lazy **out)
{
    const struct op_row *row = op_row(op);
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    struct lazy *results[OP_MAX_RESULTS];
    int n_results, at;
    arguments[0].kind = ARGUMENT_INTS;
    arguments[0].integers.count = n_sizes;
    arguments[0].integers.items = sizes;
    if ((at = parameter_index(row, "fill_value")) >= 0) {
        arguments[at].kind = ARGUMENT_NUMBER;
        arguments[at].number = fill;
    }
    at = parameter_index(row, "dtype");
    arguments[at].kind = ARGUMENT_DTYPE;
    arguments[at].dtype = dtype;
    at = parameter_index(row, "device");
    arguments[at].kind = ARGUMENT_DEVICE;
    arguments[at].device = device;
    enum outcome outcome = outcome_of(
        lazy_op(vm_cells(vm), op, false, arguments, results, &n_results, vm_problem(vm)));
    if (outcome == OUTCOME_OK)
        *out = results[0];
    return outcome;
}

// Sizes given one by one or as one sequence: a tuple of arguments.
enum outcome torch_sizes(struct vm *vm, struct value rest, int64_t *out, int *count)
{
    const struct tuple *tuple = VALUE_AS(tuple, rest);
    const struct value *items;
    int64_t n;
    if (tuple->count == 1 && sequence_items(tuple->items[0], &items, &n))
        return torch_integers(vm, tuple->items[0], "size", out, TENSOR_MAX_NDIM, count);
    return torch_integers(vm, rest, "size", out, TENSOR_MAX_NDIM, count);
}

static enum outcome new_filled(struct vm *vm, enum op op, struct value self,
                               struct value size, struct scalar fill,
                               const struct value *options_at, struct value *result)
{
    int64_t sizes[TENSOR_MAX_NDIM];
    int n_sizes = 0;
    struct options options;
    struct lazy *like = tensor_of(self)->lazy, *lazy;
    enum outcome outcome =
        read_options(vm, false, options_at[0], options_at[1], options_at[2], &options);
    if (outcome == OUTCOME_OK)
        outcome = torch_sizes(vm, size, sizes, &n_sizes);
    if (outcome == OUTCOME_OK)
        outcome =
            torch_filled(vm, op, n_sizes, sizes, fill,
                         options.has_dtype ? options.dtype : lazy_dtype(like),
                         options.device ? options.device : lazy_device(like), &lazy);
    if (outcome == OUTCOME_OK)
        outcome = torch_wrap(vm, lazy, (struct flavor){0}, result);
    return require(vm, options.requires_grad, outcome, result);
}

static enum outcome method_new_zeros(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    return new_filled(vm, OP_zeros, slots[0], slots[1], (struct scalar){0}, slots + 2,
                      result);
}

static enum outcome method_new_ones(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    return new_filled(vm, OP_ones, slots[0], slots[1], (struct scalar){0}, slots + 2,
                      result);
}

static enum outcome method_new_full(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    struct scalar fill;
    struct value sizes;
    enum outcome outcome = torch_number(vm, slots[2], "fill_value", &fill);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct value one[] = {value_reference(slots[1])};
    if (torch_tuple(vm, 1, one, &sizes) != OUTCOME_OK)
        return OUTCOME_ERROR;
    outcome = new_filled(vm, OP_full, slots[0], sizes, fill, slots + 3, result);
    value_release(sizes);
    return outcome;
}

static enum outcome method_new_tensor(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    struct lazy *like = tensor_of(slots[0])->lazy;
    struct value dtype = is_given(slots[2]) ? slots[2] : value_dtype(lazy_dtype(like));
    struct value device =
        is_given(slots[3]) ? slots[3] : torch_device_value(lazy_device(like));
    return torch_make(vm, slots[1], dtype, device, slots[4], result);
}

struct native tensor_create_methods[] = {
    {.name = "new_zeros",
     .signature = "self, *size, dtype=, device=, requires_grad=",
     .function = method_new_zeros},
    {.name = "new_empty",
     .signature = "self, *size, dtype=, device=, requires_grad=",
     .function = method_new_zeros},
    {.name = "new_ones",
     .signature = "self, *size, dtype=, device=, requires_grad=",
     .function = method_new_ones},
    {.name = "new_full",
     .signature = "self, size, fill_value, *, dtype=, device=, requires_grad=",
     .function = method_new_full},
    {.name = "new_tensor",
     .signature = "self, data, *, dtype=, device=, requires_grad=",
     .function = method_new_tensor},
    {.name = NULL},
};

// ---- np.array

// Arrays in a list are joined along a new dimension.
static bool holds_arrays(struct value value)
{
    const struct value *items;
    int64_t count;
    if (!sequence_items(value, &items, &count) || count == 0)
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!value_is_tensor(items[i]) ||
            lazy_layout(tensor_of(items[i])->lazy)->ndim == 0)
            return false;
    return true;
}

static enum outcome make_array(struct vm *vm, struct value *slots, bool copy,
                               struct value *result)
{
    struct options options;
    struct lazy *lazy;
    struct value data = slots[0], joined = {.tag = VALUE_ABSENT};
    enum outcome outcome =
        read_options(vm, true, slots[1], value_none(), value_none(), &options);
    if (outcome == OUTCOME_OK && holds_arrays(data)) {
        outcome = torch_apply(vm, OP_stack, OP_NUMPY, 1, &data, &joined);
        data = joined;
    }
    if (outcome != OUTCOME_OK)
        return outcome;
    if (value_is_tensor(data)) {
        if (!lazy_device(tensor_of(data)->lazy)->is_host)
            outcome = vm_raise(vm, STATUS_DEVICE,
                               "can't convert %s device type tensor to numpy. Use "
                               "Tensor.cpu() to copy the tensor to host memory first.",
                               lazy_device(tensor_of(data)->lazy)->id);
        else
            outcome = from_tensor(vm, data, copy && joined.tag == VALUE_ABSENT, true,
                                  &options, result);
        value_release(joined);
        if (outcome == OUTCOME_OK)
            tensor_of(*result)->is_scalar = false;
        return outcome;
    }
    outcome = literal_lazy(vm, data, true, options.has_dtype, options.dtype, NULL, &lazy);
    return outcome == OUTCOME_OK
               ? torch_wrap(vm, lazy, (struct flavor){.is_array = true}, result)
               : outcome;
}

static enum outcome create_array(struct vm *vm, struct value *slots, struct value *result)
{
    return make_array(vm, slots, !(slots[2].tag == VALUE_BOOL && slots[2].i == 0),
                      result);
}

static enum outcome create_asarray(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    if (value_is_array(slots[0]) && !is_given(slots[1])) {
        *result = value_reference(slots[0]);
        return OUTCOME_OK;
    }
    return make_array(vm, slots, false, result);
}

struct native numpy_create_functions[] = {
    {.name = "array", .signature = "object, dtype=, *, copy=", .function = create_array},
    {.name = "asarray", .signature = "a, dtype=", .function = create_asarray},
    {.name = NULL},
};

// ---- np.float32(1.5)

static enum outcome make_scalar(struct vm *vm, struct value data, enum dtype dtype,
                                struct value *result)
{
    struct value slots[] = {data, value_dtype(dtype), {.tag = VALUE_ABSENT}};
    if (data.tag == VALUE_ABSENT)
        slots[0] = value_int(0);
    enum outcome outcome = make_array(vm, slots, true, result);
    if (outcome == OUTCOME_OK && lazy_layout(tensor_of(*result)->lazy)->ndim == 0)
        tensor_of(*result)->is_scalar = true;
    return outcome;
}

#define SCALAR(name, dtype)                                                              \
    static enum outcome scalar_##name(struct vm *vm, struct value *slots,                \
                                      struct value *result)                              \
    {                                                                                    \
        return make_scalar(vm, slots[0], dtype, result);                                 \
    }
SCALAR(float16, DTYPE_FLOAT16)
SCALAR(float32, DTYPE_FLOAT32)
SCALAR(float64, DTYPE_FLOAT64)
SCALAR(int8, DTYPE_INT8)
SCALAR(int16, DTYPE_INT16)
SCALAR(int32, DTYPE_INT32)
SCALAR(int64, DTYPE_INT64)
SCALAR(uint8, DTYPE_UINT8)
SCALAR(bool, DTYPE_BOOL)

static struct native scalars[] = {
    [DTYPE_BOOL] = {.name = "bool_", .signature = "value=, /", .function = scalar_bool},
    [DTYPE_UINT8] = {.name = "uint8", .signature = "value=, /", .function = scalar_uint8},
    [DTYPE_INT8] = {.name = "int8", .signature = "value=, /", .function = scalar_int8},
    [DTYPE_INT16] = {.name = "int16", .signature = "value=, /", .function = scalar_int16},
    [DTYPE_INT32] = {.name = "int32", .signature = "value=, /", .function = scalar_int32},
    [DTYPE_INT64] = {.name = "int64", .signature = "value=, /", .function = scalar_int64},
    [DTYPE_FLOAT16] = {.name = "float16",
                       .signature = "value=, /",
                       .function = scalar_float16},
    [DTYPE_FLOAT32] = {.name = "float32",
                       .signature = "value=, /",
                       .function = scalar_float32},
    [DTYPE_FLOAT64] = {.name = "float64",
                       .signature = "value=, /",
                       .function = scalar_float64},
};

const struct native *torch_dtype_constructor(struct value dtype)
{
    return dtype.flags == DTYPE_SCALAR && scalars[dtype.i].name != NULL
               ? &scalars[dtype.i]
               : NULL;
}
