// SPDX-License-Identifier: Apache-2.0
// torch.cuda and torch.version: what devices there are, what they hold. The program's
// thread; a device's facts may be asked for on any.
#include "api/lang/torch.h"
#include "api/lang/vm.h"
#include "tensor/ledger.h"

enum outcome torch_record(struct vm *vm, const char *type_text, int count,
                          const char *const *fields, struct value *items,
                          struct value *result)
{
    struct record *record =
        heap_object(vm_heap(vm), OBJECT_RECORD,
                    sizeof *record + (size_t)count * sizeof *items, vm_problem(vm));
    if (record == NULL) {
        for (int i = 0; i < count; i++)
            value_release(items[i]);
        return OUTCOME_ERROR;
    }
    record->type_text = type_text;
    record->count = count;
    record->fields = fields;
    for (int i = 0; i < count; i++)
        record->items[i] = items[i];
    *result = value_of(record);
    return OUTCOME_OK;
}

// ---- Which devices

static enum outcome cuda_is_available(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    *result = value_bool(torch_cuda_count(vm) > 0);
    return OUTCOME_OK;
}

static enum outcome cuda_device_count(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    *result = value_int(torch_cuda_count(vm));
    return OUTCOME_OK;
}

// The device an optional argument names: cuda:0 if it is absent.
static enum outcome named_device(struct vm *vm, struct value value, struct device **out)
{
    if (value.tag == VALUE_ABSENT || value.tag == VALUE_NONE)
        value = value_device(true, -1);
    enum outcome outcome = torch_device_of(vm, value, out);
    if (outcome == OUTCOME_OK && (*out)->is_host)
        return vm_raise(vm, STATUS_VALUE, "Expected a cuda device, but got: cpu");
    return outcome;
}

static enum outcome cuda_current_device(struct vm *vm, struct value *slots,
                                        struct value *result)
{
    struct device *device;
    enum outcome outcome = named_device(vm, value_none(), &device);
    *result = value_int(0);
    return outcome;
}

static enum outcome cuda_get_device_name(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    struct device *device;
    struct device_details details = {0};
    enum outcome outcome = named_device(vm, slots[0], &device);
    if (outcome != OUTCOME_OK)
        return outcome;
    device->vt->details(device, &details);
    return torch_text(vm, details.name, result);
}

static enum outcome cuda_get_device_capability(struct vm *vm, struct value *slots,
                                               struct value *result)
{
    struct device *device;
    struct device_details details = {0};
    enum outcome outcome = named_device(vm, slots[0], &device);
    if (outcome != OUTCOME_OK)
        return outcome;
    device->vt->details(device, &details);
    int64_t parts[] = {details.major, details.minor};
    return torch_size(vm, 2, parts, false, result);
}

static enum outcome cuda_get_device_properties(struct vm *vm, struct value *slots,
                                               struct value *result)
{
    static const char *const fields[] = {"name", "major", "minor", "total_memory",
                                         "multi_processor_count"};
    struct device *device;
    struct device_details details = {0};
    struct device_memory memory = {0};
    enum outcome outcome = named_device(vm, slots[0], &device);
    if (outcome != OUTCOME_OK)
        return outcome;
    device->vt->details(device, &details);
    device->vt->memory(device, &memory);
    struct value items[] = {value_none(), value_int(details.major),
                            value_int(details.minor), value_int(memory.total),
                            value_int(details.multiprocessors)};
    outcome = torch_text(vm, details.name, &items[0]);
    return outcome == OUTCOME_OK
               ? torch_record(vm, "_CudaDeviceProperties", 5, fields, items, result)
               : outcome;
}

// ---- Memory

static enum outcome cuda_memory_allocated(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    struct device *device;
    int64_t used = 0, reserved = 0;
    enum outcome outcome;
    // Without a device nothing is allocated, as in torch.
    *result = value_int(0);
    if (torch_cuda_count(vm) == 0 &&
        (slots[0].tag == VALUE_ABSENT || slots[0].tag == VALUE_NONE))
        return OUTCOME_OK;
    if ((outcome = named_device(vm, slots[0], &device)) != OUTCOME_OK)
        return outcome;
    ledger_account_usage(cells_context(vm_cells(vm))->account, device->index, &used,
                         &reserved);
    *result = value_int(used);
    return OUTCOME_OK;
}

// What tensors hold, and what the device's allocator keeps for the next.
static enum outcome cuda_memory_reserved(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    enum outcome outcome = cuda_memory_allocated(vm, slots, result);
    struct device *device;
    struct device_memory memory = {0};
    if (outcome != OUTCOME_OK || torch_cuda_count(vm) == 0)
        return outcome;
    if ((outcome = named_device(vm, slots[0], &device)) != OUTCOME_OK)
        return outcome;
    device->vt->memory(device, &memory);
    result->i += memory.cached;
    return OUTCOME_OK;
}

static enum outcome cuda_mem_get_info(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    struct device *device;
    struct device_memory memory = {0};
    enum outcome outcome = named_device(vm, slots[0], &device);
    if (outcome != OUTCOME_OK)
        return outcome;
    device->vt->memory(device, &memory);
    int64_t parts[] = {memory.free, memory.total};
    return torch_size(vm, 2, parts, false, result);
}

// Only a device's worker may trim its pool: whoever runs the program has it done.
static enum outcome cuda_empty_cache(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    const struct vm_options *options = vm_options(vm);
    if (options->empty_cache != NULL && torch_cuda_count(vm) > 0)
        options->empty_cache(options->context);
    *result = value_none();
    return OUTCOME_OK;
}

// Every value is computed before it is seen: there is nothing to wait for.
static enum outcome cuda_synchronize(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    struct device *device;
    *result = value_none();
    return named_device(vm, slots[0], &device);
}

// ---- Seeds

enum outcome torch_manual_seed(struct vm *vm, int device, struct value seed)
{
    if (!value_is_integer(seed) && seed.tag != VALUE_WIDE)
        return vm_raise(vm, STATUS_TYPE, "a seed must be an int, not %s",
                        torch_type_name(seed));
    return outcome_of(cells_seed(vm_cells(vm), device, (uint64_t)seed.i));
}

// cuda:0 alone, where the seed is of one device. Without one the seed is kept nowhere.
static enum outcome cuda_manual_seed(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    *result = value_none();
    return torch_cuda_count(vm) > 0 ? torch_manual_seed(vm, 1, slots[0]) : OUTCOME_OK;
}

static enum outcome cuda_manual_seed_all(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    enum outcome outcome = OUTCOME_OK;
    *result = value_none();
    for (int i = 1; i <= torch_cuda_count(vm) && outcome == OUTCOME_OK; i++)
        outcome = torch_manual_seed(vm, i, slots[0]);
    return outcome;
}

struct native torch_cuda_functions[] = {
    {.name = "is_available", .signature = "", .function = cuda_is_available},
    {.name = "device_count", .signature = "", .function = cuda_device_count},
    {.name = "current_device", .signature = "", .function = cuda_current_device},
    {.name = "get_device_name", .signature = "device=", .function = cuda_get_device_name},
    {.name = "get_device_capability",
     .signature = "device=",
     .function = cuda_get_device_capability},
    {.name = "get_device_properties",
     .signature = "device=",
     .function = cuda_get_device_properties},
    {.name = "memory_allocated",
     .signature = "device=",
     .function = cuda_memory_allocated},
    {.name = "memory_reserved", .signature = "device=", .function = cuda_memory_reserved},
    {.name = "mem_get_info", .signature = "device=", .function = cuda_mem_get_info},
    {.name = "empty_cache", .signature = "", .function = cuda_empty_cache},
    {.name = "synchronize", .signature = "device=", .function = cuda_synchronize},
    {.name = "manual_seed", .signature = "seed", .function = cuda_manual_seed},
    {.name = "manual_seed_all", .signature = "seed", .function = cuda_manual_seed_all},
    {.name = NULL},
};
