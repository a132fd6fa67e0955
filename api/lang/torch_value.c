// SPDX-License-Identifier: Apache-2.0
// Tensor objects, and the small values that calls are made of: numbers, dtypes, devices,
// sizes. The program's thread.
#include "api/lang/torch.h"

#include <stdio.h>

// ---- Making

enum outcome torch_wrap(struct vm *vm, struct lazy *lazy, struct flavor flavor,
                        struct value *result)
{
    if (lazy == NULL)
        return OUTCOME_ERROR;
    struct tensor_object *object =
        heap_object(vm_heap(vm), OBJECT_TENSOR, sizeof *object, vm_problem(vm));
    if (object == NULL) {
        lazy_release(lazy);
        return OUTCOME_ERROR;
    }
    object->lazy = lazy;
    object->is_array = flavor.is_array;
    object->is_scalar =
        flavor.is_array && flavor.is_scalar && lazy_layout(lazy)->ndim == 0;
    object->is_parameter = flavor.is_parameter;
    object->is_leaf_view = flavor.is_leaf_view;
    object->requires_grad = flavor.requires_grad;
    object->grad_fn = flavor.grad_fn;
    *result = value_of(object);
    return OUTCOME_OK;
}

enum outcome torch_tuple(struct vm *vm, int64_t count, struct value *items,
                         struct value *result)
{
    struct tuple *tuple = tuple_new(vm_heap(vm), count, items, vm_problem(vm));
    for (int64_t i = 0; i < count; i++)
        value_release(items[i]);
    if (tuple == NULL)
        return OUTCOME_ERROR;
    *result = value_of(tuple);
    return OUTCOME_OK;
}

enum outcome torch_size(struct vm *vm, int count, const int64_t *sizes, bool is_size,
                        struct value *result)
{
    struct value items[TENSOR_MAX_NDIM + 1];
    for (int i = 0; i < count; i++)
        items[i] = value_int(sizes[i]);
    if (torch_tuple(vm, count, items, result) != OUTCOME_OK)
        return OUTCOME_ERROR;
    VALUE_AS(tuple, *result)->is_size = is_size;
    return OUTCOME_OK;
}

enum outcome torch_text(struct vm *vm, const char *text, struct value *result)
{
    struct string *string = string_new(vm_heap(vm), text, strlen(text), vm_problem(vm));
    if (string == NULL)
        return OUTCOME_ERROR;
    *result = value_of(string);
    return OUTCOME_OK;
}

// ---- Elements and numbers

const void *torch_elements(const struct tensor *tensor)
{
    struct block *block = storage_pin(tensor->storage);
    const char *data = block->data;
    block_release(block); // the tensor's storage goes on holding it
    return data == NULL ? NULL : data + tensor->offset * dtype_size(tensor->dtype);
}

struct scalar torch_element(const void *elements, enum dtype dtype, int64_t i)
{
    union element element = {.i64 = 0};
    size_t size = (size_t)dtype_size(dtype);
    memcpy(&element, (const char *)elements + (size_t)i * size, size);
    return element_to_scalar(element, dtype);
}

struct scalar torch_scalar_of(struct value number)
{
    if (number.tag == VALUE_FLOAT)
        return (struct scalar){.kind = SCALAR_FLOAT, .f = number.f};
    return (struct scalar){.kind = number.tag == VALUE_BOOL ? SCALAR_BOOL : SCALAR_INT,
                           .i = number.i};
}

struct value torch_number_of(struct scalar scalar)
{
    if (scalar.kind == SCALAR_FLOAT)
        return value_float(scalar.f);
    return scalar.kind == SCALAR_BOOL ? value_bool(scalar.i != 0) : value_int(scalar.i);
}

enum outcome torch_number(struct vm *vm, struct value value, const char *what,
                          struct scalar *out)
{
    if (value_is_number(value)) {
        *out = torch_scalar_of(value);
        return OUTCOME_OK;
    }
    if (!value_is_tensor(value))
        return vm_raise(vm, STATUS_TYPE, "%s must be a number, not %s", what,
                        torch_type_name(value));
    struct value number;
    enum outcome outcome = tensor_number(vm, value, &number);
    if (outcome == OUTCOME_OK)
        *out = torch_scalar_of(number);
    return outcome;
}

const char *torch_type_name(struct value value)
{
    return value_is_array(value) ? "numpy.ndarray" : value_type_name(value);
}

// ---- Sequences

bool sequence_items(struct value value, const struct value **items, int64_t *count)
{
    if (value_is_object(value, OBJECT_LIST)) {
        *items = VALUE_AS(list, value)->items;
        *count = VALUE_AS(list, value)->count;
        return true;
    }
    if (value_is_object(value, OBJECT_TUPLE)) {
        *items = VALUE_AS(tuple, value)->items;
        *count = VALUE_AS(tuple, value)->count;
        return true;
    }
    return false;
}

enum outcome torch_integers(struct vm *vm, struct value sequence, const char *what,
                            int64_t *out, int most, int *count)
{
    const struct value *items;
    int64_t n;
    if (!sequence_items(sequence, &items, &n))
        return vm_raise(vm, STATUS_TYPE, "%s must be a tuple of ints, not %s", what,
                        torch_type_name(sequence));
    if (n > most)
        return vm_raise(vm, STATUS_LIMIT,
                        "%s has %lld items; a tensor has at most %d "
                        "dimensions",
                        what, (long long)n, TENSOR_MAX_NDIM);
    enum outcome all = OUTCOME_OK;
    for (int64_t i = 0; i < n; i++) {
        if (items[i].tag == VALUE_INT) {
            out[i] = items[i].i;
            continue;
        }
        if (!value_is_integer(items[i]) && !value_is_tensor(items[i]))
            return vm_raise(vm, STATUS_TYPE,
                            "%s must be a tuple of ints, but its item %lld is a %s", what,
                            (long long)i, torch_type_name(items[i]));
        if (!outcome_keep(&all, value_to_index(vm, items[i], &out[i])))
            return OUTCOME_ERROR;
    }
    *count = (int)n;
    return all;
}

// ---- dtypes

bool value_names_dtype(struct value value)
{
    return value.tag == VALUE_DTYPE ||
           (value.tag == VALUE_TYPE &&
            (value.i == TYPE_float || value.i == TYPE_int || value.i == TYPE_bool));
}

enum outcome torch_dtype_of(struct vm *vm, struct value value, bool numpy,
                            enum dtype *out)
{
    if (value.tag == VALUE_DTYPE) {
        *out = (enum dtype)value.i;
        return OUTCOME_OK;
    }
    if (value_names_dtype(value)) {
        *out = value.i == TYPE_float ? DTYPE_FLOAT64
               : value.i == TYPE_int ? DTYPE_INT64
                                     : DTYPE_BOOL;
        return OUTCOME_OK;
    }
    if (!value_is_object(value, OBJECT_STRING))
        return vm_raise(vm, STATUS_TYPE, "dtype must be a dtype, not %s",
                        torch_type_name(value));
    const struct string *name = VALUE_AS(string, value);
    int shown = name->bytes > 40 ? 40 : (int)name->bytes;
    if (!numpy)
        return vm_raise(vm, STATUS_TYPE,
                        "dtype must be a torch.dtype, not str: write torch.%.*s", shown,
                        name->text);
    if (dtype_parse(name->text, (size_t)name->bytes, out))
        return OUTCOME_OK;
    return vm_raise(vm, STATUS_TYPE, "data type '%.*s' not understood", shown,
                    name->text);
}

// ---- Devices

struct device *torch_host(struct vm *vm)
{
    return cells_context(vm_cells(vm))->devices[0];
}

int torch_cuda_count(struct vm *vm)
{
    return cells_context(vm_cells(vm))->n_devices - 1;
}

enum outcome torch_device_parse(struct vm *vm, const struct string *text,
                                struct value *device)
{
    int shown = text->bytes > 60 ? 60 : (int)text->bytes;
    const char *colon = memchr(text->text, ':', (size_t)text->bytes);
    size_t kind = colon != NULL ? (size_t)(colon - text->text) : (size_t)text->bytes;
    bool is_cuda = kind == 4 && memcmp(text->text, "cuda", 4) == 0;
    bool is_cpu = kind == 3 && memcmp(text->text, "cpu", 3) == 0;
    size_t digits = colon != NULL ? (size_t)text->bytes - kind - 1 : 0;
    const char *digit = text->text + kind + 1;
    // The index is written without leading zeros.
    bool valid =
        colon == NULL || (digits >= 1 && digits <= 4 && (digits == 1 || digit[0] != '0'));
    int index = 0;
    for (size_t i = 0; valid && i < digits; i++) {
        valid = digit[i] >= '0' && digit[i] <= '9';
        index = index * 10 + (digit[i] - '0');
    }
    if (!is_cuda && !is_cpu)
        return vm_raise(vm, STATUS_VALUE,
                        "Expected one of cpu, cuda device type at start of device "
                        "string: %.*s",
                        shown, text->text);
    if (!valid)
        return vm_raise(vm, STATUS_VALUE, "Invalid device string: '%.*s'", shown,
                        text->text);
    *device = value_device(is_cuda, colon != NULL ? index : -1);
    return OUTCOME_OK;
}

// STATUS_DEVICE with the devices there are.
static enum outcome no_device(struct vm *vm, int index)
{
    const struct graph_context *context = cells_context(vm_cells(vm));
    char there[128];
    size_t used = 0;
    for (int i = 0; i < context->n_devices && used < sizeof there - 20; i++)
        if (context->devices[i] != NULL)
            used += (size_t)snprintf(there + used, sizeof there - used, "%s%s",
                                     used > 0 ? " " : "", context->devices[i]->id);
    return vm_raise(vm, STATUS_DEVICE,
                    "There is no device cuda:%d here. The devices are: %s.", index,
                    there);
}

static enum outcome find_cuda(struct vm *vm, int index, struct device **out)
{
    const struct graph_context *context = cells_context(vm_cells(vm));
    char id[16];
    snprintf(id, sizeof id, "cuda:%d", index);
    for (int i = 1; i < context->n_devices; i++)
        if (context->devices[i] != NULL && strcmp(context->devices[i]->id, id) == 0) {
            *out = context->devices[i];
            return OUTCOME_OK;
        }
    if (index + 1 < context->n_devices && context->devices[index + 1] == NULL)
        return vm_raise(vm, STATUS_DEVICE_FAULT, "The device cuda:%d has failed.", index);
    return no_device(vm, index);
}

enum outcome torch_device_of(struct vm *vm, struct value value, struct device **out)
{
    if (value_is_object(value, OBJECT_STRING) &&
        torch_device_parse(vm, VALUE_AS(string, value), &value) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (value.tag == VALUE_INT && value.i < 0)
        return vm_raise(vm, STATUS_VALUE, "Device index must not be negative");
    if (value.tag == VALUE_INT)
        value = value_device(true, value.i > 9999 ? 9999 : (int)value.i);
    if (value.tag != VALUE_DEVICE)
        return vm_raise(vm, STATUS_TYPE,
                        "device must be torch.device, str or int, not %s",
                        torch_type_name(value));
    int index = device_index(value) < 0 ? 0 : device_index(value);
    if (device_is_cuda(value))
        return find_cuda(vm, index, out);
    *out = torch_host(vm);
    return OUTCOME_OK;
}

struct value torch_device_value(const struct device *device)
{
    if (device == NULL || device->is_host)
        return value_device(false, -1);
    int index = 0;
    for (const char *digit = device->id + 5; *digit >= '0' && *digit <= '9'; digit++)
        index = index * 10 + (*digit - '0');
    return value_device(true, index);
}
