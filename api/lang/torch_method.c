// SPDX-License-Identifier: Apache-2.0
// Methods of tensors that are no operation: what they say about themselves, conversions,
// exchange with Python and NumPy. The program's thread.
#include "api/lang/torch.h"

static struct lazy *self_of(const struct value *slots)
{
    return tensor_of(slots[0])->lazy;
}

// A dimension in [-ndim, ndim) -> [0, ndim).
static enum outcome dimension(struct vm *vm, struct value value, int ndim, int *out)
{
    int64_t dim;
    enum outcome outcome = value_to_index(vm, value, &dim);
    if (outcome != OUTCOME_OK)
        return outcome;
    return outcome_of(dim_normalize(dim, ndim, out, vm_problem(vm)));
}

// ---- Shape and storage

static enum outcome method_size(struct vm *vm, struct value *slots, struct value *result)
{
    const struct layout *layout = lazy_layout(self_of(slots));
    int dim;
    if (slots[1].tag == VALUE_ABSENT || slots[1].tag == VALUE_NONE)
        return torch_size(vm, layout->ndim, layout->shape, true, result);
    enum outcome outcome = dimension(vm, slots[1], layout->ndim, &dim);
    if (outcome == OUTCOME_OK)
        *result = value_int(layout->ndim > 0 ? layout->shape[dim] : 1);
    return outcome;
}

static enum outcome method_stride(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    const struct layout *layout = lazy_layout(self_of(slots));
    int dim;
    if (slots[1].tag == VALUE_ABSENT || slots[1].tag == VALUE_NONE)
        return torch_size(vm, layout->ndim, layout->strides, false, result);
    enum outcome outcome = dimension(vm, slots[1], layout->ndim, &dim);
    if (outcome == OUTCOME_OK)
        *result = value_int(layout->ndim > 0 ? layout->strides[dim] : 1);
    return outcome;
}

static enum outcome method_dim(struct vm *vm, struct value *slots, struct value *result)
{
    *result = value_int(lazy_layout(self_of(slots))->ndim);
    return OUTCOME_OK;
}

static enum outcome method_numel(struct vm *vm, struct value *slots, struct value *result)
{
    *result = value_int(lazy_count(self_of(slots)));
    return OUTCOME_OK;
}

static enum outcome method_element_size(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    *result = value_int(dtype_size(lazy_dtype(self_of(slots))));
    return OUTCOME_OK;
}

static enum outcome method_storage_offset(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    *result = value_int(lazy_offset(self_of(slots)));
    return OUTCOME_OK;
}

// An opaque number: the storage's, and the offset in bytes.
static enum outcome method_data_ptr(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    enum { STORAGE_SHIFT = 40, STORAGE_BITS = 22 };
    struct lazy *lazy = self_of(slots);
    uint64_t id = lazy_storage_id(lazy) & (((uint64_t)1 << STORAGE_BITS) - 1);
    uint64_t offset =
        (uint64_t)lazy_offset(lazy) * (uint64_t)dtype_size(lazy_dtype(lazy));
    *result = value_int((int64_t)(id << STORAGE_SHIFT) +
                        (int64_t)(offset & (((uint64_t)1 << STORAGE_SHIFT) - 1)));
    return OUTCOME_OK;
}

static enum outcome method_is_contiguous(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    *result = value_bool(layout_is_contiguous(lazy_layout(self_of(slots))));
    return OUTCOME_OK;
}

static enum outcome method_is_floating_point(struct vm *vm, struct value *slots,
                                             struct value *result)
{
    *result = value_bool(dtype_is_float(lazy_dtype(self_of(slots))));
    return OUTCOME_OK;
}

static enum outcome method_get_device(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    struct value device = torch_device_value(lazy_device(self_of(slots)));
    *result = value_int(device_is_cuda(device) ? device_index(device) : -1);
    return OUTCOME_OK;
}

// ---- Elements as Python's numbers

static enum outcome method_item(struct vm *vm, struct value *slots, struct value *result)
{
    return tensor_number(vm, slots[0], result);
}

struct listing {
    struct vm *vm;
    const struct layout *layout;
    const void *elements;
    enum dtype dtype;
    int64_t next;
};

static enum outcome list_dim(struct listing *listing, int dim, struct value *result)
{
    if (dim == listing->layout->ndim) {
        *result = torch_number_of(
            torch_element(listing->elements, listing->dtype, listing->next++));
        return OUTCOME_OK;
    }
    struct heap *heap = vm_heap(listing->vm);
    struct list *list = list_new(heap, 0, NULL, vm_problem(listing->vm));
    if (list == NULL)
        return OUTCOME_ERROR;
    for (int64_t i = 0; i < listing->layout->shape[dim]; i++) {
        struct value item;
        bool fits = list_dim(listing, dim + 1, &item) == OUTCOME_OK;
        if (fits) {
            fits = list_append(heap, list, item, vm_problem(listing->vm));
            value_release(item);
        }
        if (!fits) {
            value_release(value_of(list));
            return OUTCOME_ERROR;
        }
    }
    *result = value_of(list);
    return OUTCOME_OK;
}

static enum outcome method_tolist(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    struct lazy *lazy = self_of(slots);
    struct tensor *host;
    struct listing listing = {.vm = vm, .dtype = lazy_dtype(lazy)};
    enum outcome outcome = vm_host(vm, lazy, &host);
    if (outcome != OUTCOME_OK)
        return outcome;
    // Lists without elements are counted too: (1000000, 0) makes a million of them.
    int64_t lists = 1, cost;
    listing.layout = lazy_layout(lazy);
    for (int i = 0; i < listing.layout->ndim; i++)
        if (listing.layout->shape[i] > 0 &&
            !size_multiply(lists, listing.layout->shape[i], &lists))
            lists = INT64_MAX / 16;
    if (!size_multiply(lists, 4, &cost) || vm_spend(vm, cost) != OUTCOME_OK)
        return vm_problem(vm)->status == STATUS_OK
                   ? vm_raise(vm, STATUS_LIMIT, "tolist(): too many elements")
                   : OUTCOME_ERROR;
    listing.elements = torch_elements(host);
    return list_dim(&listing, 0, result);
}

// ---- Other dtypes and devices

enum outcome torch_to(struct vm *vm, struct value self, struct device *device,
                      enum dtype dtype, bool copy, struct value *result)
{
    struct lazy *lazy = tensor_of(self)->lazy;
    struct pool pool = {.vm = vm};
    if (device == NULL)
        device = lazy_device(lazy);
    bool same = dtype == lazy_dtype(lazy) && device == lazy_device(lazy);
    if (same && !copy) {
        *result = value_reference(self);
        return OUTCOME_OK;
    }
    struct flavor flavor = {.is_array = tensor_of(self)->is_array && device->is_host,
                            .is_scalar = tensor_of(self)->is_scalar};
    if (torch_wants_grad(vm, self) && dtype_is_float(dtype)) {
        flavor.requires_grad = true;
        flavor.grad_fn = "ToCopyBackward0";
    }
    struct lazy *there =
        same ? pool_one(&pool, OP_clone, lazy) : pool_cast(&pool, lazy, dtype, device);
    return pool_end(&pool, there, flavor, result);
}

struct target { // of to()
    struct device *device;
    enum dtype dtype;
    bool copy;
};

static enum outcome read_target(struct vm *vm, struct value value, int position,
                                struct target *target)
{
    if (value_names_dtype(value))
        return torch_dtype_of(vm, value, false, &target->dtype);
    if (value_is_tensor(value)) {
        target->dtype = lazy_dtype(tensor_of(value)->lazy);
        target->device = lazy_device(tensor_of(value)->lazy);
        return OUTCOME_OK;
    }
    if (value.tag == VALUE_BOOL && position > 0) // non_blocking, copy
        return OUTCOME_OK;
    if (value.tag == VALUE_NONE)
        return OUTCOME_OK;
    return torch_device_of(vm, value, &target->device);
}

// to(device), to(dtype), to(device, dtype), to(other), each with non_blocking and copy.
static enum outcome method_to(struct vm *vm, struct value *slots, struct value *result)
{
    struct target target = {NULL, lazy_dtype(self_of(slots)), false};
    const struct tuple *rest = VALUE_AS(tuple, slots[1]);
    enum outcome outcome = OUTCOME_OK;
    int64_t n_bools = 0;
    if (rest->count > 4)
        return vm_raise(vm, STATUS_TYPE, "to() takes a device, a dtype, or both");
    for (int i = 0; i < rest->count && outcome == OUTCOME_OK; i++) {
        outcome = read_target(vm, rest->items[i], i, &target);
        if (rest->items[i].tag == VALUE_BOOL && ++n_bools == 2)
            target.copy = rest->items[i].i != 0;
    }
    if (outcome == OUTCOME_OK && slots[2].tag != VALUE_ABSENT &&
        slots[2].tag != VALUE_NONE)
        outcome = torch_device_of(vm, slots[2], &target.device);
    if (outcome == OUTCOME_OK && slots[3].tag != VALUE_ABSENT &&
        slots[3].tag != VALUE_NONE)
        outcome = torch_dtype_of(vm, slots[3], false, &target.dtype);
    if (outcome == OUTCOME_OK && rest->count == 0 && slots[2].tag == VALUE_ABSENT &&
        slots[3].tag == VALUE_ABSENT)
        outcome = vm_raise(vm, STATUS_TYPE, "to() takes a device, a dtype, or both");
    if (slots[5].tag == VALUE_BOOL)
        target.copy = slots[5].i != 0;
    return outcome == OUTCOME_OK
               ? torch_to(vm, slots[0], target.device, target.dtype, target.copy, result)
               : outcome;
}

static enum outcome method_cpu(struct vm *vm, struct value *slots, struct value *result)
{
    return torch_to(vm, slots[0], torch_host(vm), lazy_dtype(self_of(slots)), false,
                    result);
}

static enum outcome method_cuda(struct vm *vm, struct value *slots, struct value *result)
{
    struct device *device;
    struct value where = slots[1].tag == VALUE_ABSENT || slots[1].tag == VALUE_NONE
                             ? value_device(true, -1)
                             : slots[1];
    enum outcome outcome = torch_device_of(vm, where, &device);
    if (outcome == OUTCOME_OK && device->is_host)
        return vm_raise(vm, STATUS_VALUE, "Invalid device, must be cuda device");
    return outcome == OUTCOME_OK
               ? torch_to(vm, slots[0], device, lazy_dtype(self_of(slots)), false, result)
               : outcome;
}

#define CONVERSION(name, dtype)                                                          \
    static enum outcome method_##name(struct vm *vm, struct value *slots,                \
                                      struct value *result)                              \
    {                                                                                    \
        return torch_to(vm, slots[0], NULL, dtype, false, result);                       \
    }
CONVERSION(float, DTYPE_FLOAT32)
CONVERSION(double, DTYPE_FLOAT64)
CONVERSION(half, DTYPE_FLOAT16)
CONVERSION(bfloat16, DTYPE_BFLOAT16)
CONVERSION(int, DTYPE_INT32)
CONVERSION(long, DTYPE_INT64)
CONVERSION(short, DTYPE_INT16)
CONVERSION(char, DTYPE_INT8)
CONVERSION(byte, DTYPE_UINT8)
CONVERSION(bool, DTYPE_BOOL)

static const char *const type_names[DTYPE_COUNT] = {
    [DTYPE_BOOL] = "BoolTensor",     [DTYPE_UINT8] = "ByteTensor",
    [DTYPE_INT8] = "CharTensor",     [DTYPE_INT16] = "ShortTensor",
    [DTYPE_INT32] = "IntTensor",     [DTYPE_INT64] = "LongTensor",
    [DTYPE_FLOAT16] = "HalfTensor",  [DTYPE_BFLOAT16] = "BFloat16Tensor",
    [DTYPE_FLOAT32] = "FloatTensor", [DTYPE_FLOAT64] = "DoubleTensor",
};

static enum outcome type_text(struct vm *vm, struct lazy *lazy, struct value *result)
{
    char name[40] = "torch.";
    size_t used = strlen(name);
    if (!lazy_device(lazy)->is_host) {
        memcpy(name + used, "cuda.", 6);
        used += 5;
    }
    const char *last = type_names[lazy_dtype(lazy)];
    memcpy(name + used, last, strlen(last) + 1);
    return torch_text(vm, name, result);
}

// type() names, type(dtype) and type("torch.DoubleTensor") convert.
static enum outcome method_type(struct vm *vm, struct value *slots, struct value *result)
{
    enum dtype dtype;
    if (slots[1].tag == VALUE_ABSENT || slots[1].tag == VALUE_NONE)
        return type_text(vm, self_of(slots), result);
    if (value_is_object(slots[1], OBJECT_STRING)) {
        const struct string *name = VALUE_AS(string, slots[1]);
        bool cuda = strncmp(name->text, "torch.cuda.", 11) == 0;
        const char *last = name->text + (cuda ? 11 : 6);
        struct device *device = torch_host(vm);
        for (int i = 0; i < DTYPE_COUNT && strncmp(name->text, "torch.", 6) == 0; i++) {
            if (strcmp(last, type_names[i]) != 0)
                continue;
            if (cuda &&
                torch_device_of(vm, value_device(true, -1), &device) != OUTCOME_OK)
                return OUTCOME_ERROR;
            return torch_to(vm, slots[0], device, (enum dtype)i, false, result);
        }
        return vm_raise(vm, STATUS_VALUE, "invalid type: '%.60s'", name->text);
    }
    enum outcome outcome = torch_dtype_of(vm, slots[1], false, &dtype);
    return outcome == OUTCOME_OK ? torch_to(vm, slots[0], NULL, dtype, false, result)
                                 : outcome;
}

static enum outcome method_type_as(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    if (!value_is_tensor(slots[1]))
        return vm_raise(vm, STATUS_TYPE, "type_as() takes a tensor, not %s",
                        torch_type_name(slots[1]));
    struct lazy *other = tensor_of(slots[1])->lazy;
    return torch_to(vm, slots[0], lazy_device(other), lazy_dtype(other), false, result);
}

// ---- Gradients

static enum outcome method_detach(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    return torch_wrap(vm, lazy_reference(self_of(slots)), (struct flavor){0}, result);
}

static enum outcome method_detach_(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    struct tensor_object *object = tensor_of(slots[0]);
    object->requires_grad = object->is_leaf_view = false;
    object->grad_fn = NULL;
    *result = value_reference(slots[0]);
    return OUTCOME_OK;
}

enum outcome torch_set_requires_grad(struct vm *vm, struct value tensor, bool wanted)
{
    struct tensor_object *object = tensor_of(tensor);
    if (wanted && !dtype_is_float(lazy_dtype(object->lazy)))
        return vm_raise(vm, STATUS_DTYPE,
                        "only Tensors of floating point dtype can require gradients");
    if (!wanted && object->grad_fn != NULL)
        return vm_raise(vm, STATUS_VALUE,
                        "you can only change requires_grad flags of leaf variables. Use "
                        "detach()");
    object->requires_grad = wanted;
    return OUTCOME_OK;
}

static enum outcome method_requires_grad_(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    bool wanted = true;
    if (slots[1].tag != VALUE_ABSENT && !value_is_integer(slots[1]))
        return vm_raise(vm, STATUS_TYPE, "requires_grad_() takes a bool, not %s",
                        torch_type_name(slots[1]));
    if (slots[1].tag != VALUE_ABSENT)
        wanted = slots[1].i != 0;
    enum outcome outcome = torch_set_requires_grad(vm, slots[0], wanted);
    if (outcome == OUTCOME_OK)
        *result = value_reference(slots[0]);
    return outcome;
}

static enum outcome method_backward(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    if (!tensor_of(slots[0])->requires_grad)
        return vm_raise(vm, STATUS_VALUE,
                        "element 0 of tensors does not require grad and does not have a "
                        "grad_fn");
    return vm_raise(
        vm, STATUS_NOT_IMPLEMENTED,
        "backward() is not implemented: gradients are not recorded. Write the "
        "derivative as a formula.");
}

// ---- NumPy

static enum outcome method_numpy(struct vm *vm, struct value *slots, struct value *result)
{
    struct tensor_object *object = tensor_of(slots[0]);
    if (!lazy_device(object->lazy)->is_host)
        return vm_raise(vm, STATUS_DEVICE,
                        "can't convert %s device type tensor to numpy. Use Tensor.cpu() "
                        "to copy the tensor to host memory first.",
                        lazy_device(object->lazy)->id);
    if (object->requires_grad)
        return vm_raise(vm, STATUS_VALUE,
                        "Can't call numpy() on Tensor that requires grad. Use "
                        "tensor.detach().numpy() instead.");
    if (lazy_dtype(object->lazy) == DTYPE_BFLOAT16)
        return vm_raise(vm, STATUS_TYPE,
                        "NumPy has no bfloat16. Use Tensor.float() to convert it first.");
    return torch_wrap(vm, lazy_reference(object->lazy), (struct flavor){.is_array = true},
                      result);
}

struct native tensor_methods[] = {
    {.name = "size", .signature = "self, dim=", .function = method_size},
    {.name = "stride", .signature = "self, dim=", .function = method_stride},
    {.name = "dim", .signature = "self", .function = method_dim},
    {.name = "ndimension", .signature = "self", .function = method_dim},
    {.name = "numel", .signature = "self", .function = method_numel},
    {.name = "nelement", .signature = "self", .function = method_numel},
    {.name = "element_size", .signature = "self", .function = method_element_size},
    {.name = "storage_offset", .signature = "self", .function = method_storage_offset},
    {.name = "data_ptr", .signature = "self", .function = method_data_ptr},
    {.name = "is_contiguous",
     .signature = "self, memory_format=",
     .function = method_is_contiguous},
    {.name = "is_floating_point",
     .signature = "self",
     .function = method_is_floating_point},
    {.name = "get_device", .signature = "self", .function = method_get_device},
    {.name = "item", .signature = "self", .function = method_item},
    {.name = "tolist", .signature = "self", .function = method_tolist},
    {.name = "to",
     .signature = "self, *arguments, device=, dtype=, non_blocking=, copy=, "
                  "memory_format=",
     .function = method_to},
    {.name = "cpu", .signature = "self", .function = method_cpu},
    {.name = "cuda",
     .signature = "self, device=, non_blocking=",
     .function = method_cuda},
    {.name = "float", .signature = "self", .function = method_float},
    {.name = "double", .signature = "self", .function = method_double},
    {.name = "half", .signature = "self", .function = method_half},
    {.name = "bfloat16", .signature = "self", .function = method_bfloat16},
    {.name = "int", .signature = "self", .function = method_int},
    {.name = "long", .signature = "self", .function = method_long},
    {.name = "short", .signature = "self", .function = method_short},
    {.name = "char", .signature = "self", .function = method_char},
    {.name = "byte", .signature = "self", .function = method_byte},
    {.name = "bool", .signature = "self", .function = method_bool},
    {.name = "type", .signature = "self, dtype=", .function = method_type},
    {.name = "type_as", .signature = "self, other", .function = method_type_as},
    {.name = "detach", .signature = "self", .function = method_detach},
    {.name = "detach_", .signature = "self", .function = method_detach_},
    {.name = "requires_grad_",
     .signature = "self, requires_grad=",
     .function = method_requires_grad_},
    {.name = "backward",
     .signature = "self, *arguments, **keywords",
     .function = method_backward},
    {.name = "numpy", .signature = "self, *, force=", .function = method_numpy},
    {.name = NULL},
};
