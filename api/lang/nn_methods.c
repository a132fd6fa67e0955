// SPDX-License-Identifier: Apache-2.0
// Methods of modules: moving, modes, parameters, state.
#include <string.h>

#include "api/lang/nn_internal.h"
#include "api/lang/torch.h"

struct module *module_self(struct vm *vm, struct value self)
{
    if (value_is_object(self, OBJECT_MODULE))
        return VALUE_AS(module, self);
    vm_raise(vm, STATUS_TYPE, "a method of modules was called on %s",
             type_short_name(value_type(self)));
    return NULL;
}

static enum outcome return_self(struct value self, struct value *result)
{
    *result = value_reference(self);
    return OUTCOME_OK;
}

static struct tensor_object *parameter_of(const struct module *owner, int index)
{
    return tensor_of(owner->parameters[index]);
}

// ---- Device and dtype

static enum status note_home(void *context, const char *name, struct module *owner,
                             int index, struct problem *problem)
{
    struct device **home = context;
    *home = lazy_device(parameter_of(owner, index)->lazy);
    return STATUS_VALUE; // stops the walk
}

struct device *module_home(struct module *module)
{
    struct device *home = NULL;
    struct problem ignored;
    module_each_parameter(module, note_home, &home, &ignored);
    return home;
}

struct conversion {
    struct vm *vm;
    const struct device *device; // NULL: where it is
    bool has_dtype;
    enum dtype dtype; // of floating parameters
    enum outcome outcome;
};

// The parameter stays the same object and gets other elements, as in torch.
static enum status convert_parameter(void *context, const char *name,
                                     struct module *owner, int index,
                                     struct problem *problem)
{
    struct conversion *to = context;
    struct tensor_object *parameter = parameter_of(owner, index);
    bool has_dtype = to->has_dtype && dtype_is_float(lazy_dtype(parameter->lazy));
    struct value converted;
    to->outcome = module_move(to->vm, owner->parameters[index], to->device, has_dtype,
                              to->dtype, &converted);
    if (to->outcome != OUTCOME_OK)
        return STATUS_VALUE; // stops the walk; the outcome says why
    struct lazy *lazy = lazy_reference(tensor_of(converted)->lazy);
    lazy_release(parameter->lazy);
    parameter->lazy = lazy;
    value_release(converted);
    return STATUS_OK;
}

static enum outcome convert(struct vm *vm, struct value self, const struct device *device,
                            bool has_dtype, enum dtype dtype, struct value *result)
{
    struct module *module = module_self(vm, self);
    if (module == NULL || module_spend(vm, module) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct conversion conversion = {.vm = vm,
                                    .device = device,
                                    .has_dtype = has_dtype,
                                    .dtype = dtype,
                                    .outcome = OUTCOME_OK};
    struct problem problem;
    enum status status =
        module_each_parameter(module, convert_parameter, &conversion, &problem);
    if (conversion.outcome != OUTCOME_OK)
        return conversion.outcome;
    if (status != STATUS_OK)
        return vm_raise(vm, status, "%s", problem.detail);
    return return_self(self, result);
}

static const struct value absent = {.tag = VALUE_ABSENT};

// to(device), to(dtype), to(device, dtype), and by keyword.
static enum outcome method_to(struct vm *vm, struct value *slots, struct value *result)
{
    struct value device = slots[3], dtype = slots[4];
    for (int i = 1; i <= 2; i++) {
        if (slots[i].tag == VALUE_ABSENT || slots[i].tag == VALUE_NONE)
            continue;
        if (value_names_dtype(slots[i]))
            dtype = slots[i];
        else
            device = slots[i];
    }
    if (device.tag == VALUE_NONE)
        device = absent;
    if (dtype.tag == VALUE_NONE)
        dtype = absent;
    enum dtype wanted = DTYPE_FLOAT32;
    struct device *found = NULL;
    if (dtype.tag != VALUE_ABSENT) {
        enum outcome outcome = torch_dtype_of(vm, dtype, false, &wanted);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (!dtype_is_float(wanted))
            return vm_raise(vm, STATUS_TYPE,
                            "nn.Module.to only accepts floating point or complex dtypes, "
                            "but got desired dtype=torch.%s",
                            dtype_name(wanted));
    }
    if (device.tag != VALUE_ABSENT) { // refused even if there is nothing to move
        enum outcome outcome = torch_device_of(vm, device, &found);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    return convert(vm, slots[0], found, dtype.tag != VALUE_ABSENT, wanted, result);
}

static enum outcome method_cuda(struct vm *vm, struct value *slots, struct value *result)
{
    struct device *found;
    struct value device =
        slots[1].tag == VALUE_ABSENT ? value_device(true, -1) : slots[1];
    enum outcome outcome = torch_device_of(vm, device, &found);
    if (outcome != OUTCOME_OK)
        return outcome;
    return convert(vm, slots[0], found, false, DTYPE_FLOAT32, result);
}

static enum outcome method_cpu(struct vm *vm, struct value *slots, struct value *result)
{
    return convert(vm, slots[0], torch_host(vm), false, DTYPE_FLOAT32, result);
}

static enum outcome method_float(struct vm *vm, struct value *slots, struct value *result)
{
    return convert(vm, slots[0], NULL, true, DTYPE_FLOAT32, result);
}

static enum outcome method_double(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    return convert(vm, slots[0], NULL, true, DTYPE_FLOAT64, result);
}

static enum outcome method_half(struct vm *vm, struct value *slots, struct value *result)
{
    return convert(vm, slots[0], NULL, true, DTYPE_FLOAT16, result);
}

static enum outcome method_bfloat16(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    return convert(vm, slots[0], NULL, true, DTYPE_BFLOAT16, result);
}

// ---- Modes

// Depth is at most MODULE_MAX_DEPTH.
static void set_training(struct module *module, bool training)
{
    module->training = training;
    for (int64_t i = 0; i < module->n_children; i++)
        set_training(module->children[i].module, training);
}

static enum outcome method_train(struct vm *vm, struct value *slots, struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    bool mode = true;
    if (module == NULL)
        return OUTCOME_ERROR;
    if (slots[1].tag != VALUE_ABSENT) {
        if (slots[1].tag != VALUE_BOOL)
            return vm_raise(vm, STATUS_VALUE, "training mode is expected to be boolean");
        mode = slots[1].i;
    }
    if (module_spend(vm, module) != OUTCOME_OK)
        return OUTCOME_ERROR;
    set_training(module, mode);
    return return_self(slots[0], result);
}

static enum outcome method_eval(struct vm *vm, struct value *slots, struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    if (module == NULL)
        return OUTCOME_ERROR;
    if (module_spend(vm, module) != OUTCOME_OK)
        return OUTCOME_ERROR;
    set_training(module, false);
    return return_self(slots[0], result);
}

static enum status set_requires_grad(void *context, const char *name,
                                     struct module *owner, int index,
                                     struct problem *problem)
{
    const bool *wanted = context;
    parameter_of(owner, index)->requires_grad = *wanted;
    return STATUS_OK;
}

static enum outcome method_requires_grad(struct vm *vm, struct value *slots,
                                         struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    bool wanted = slots[1].tag == VALUE_ABSENT || slots[1].i != 0;
    struct problem problem;
    if (module == NULL)
        return OUTCOME_ERROR;
    if (module_each_parameter(module, set_requires_grad, &wanted, &problem) != STATUS_OK)
        return vm_raise(vm, problem.status, "%s", problem.detail);
    return return_self(slots[0], result);
}

static enum outcome method_zero_grad(struct vm *vm, struct value *slots,
                                     struct value *result)
{
    *result = value_none(); // there are no gradients yet
    return module_self(vm, slots[0]) != NULL ? OUTCOME_OK : OUTCOME_ERROR;
}

static enum outcome method_forward(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    return module != NULL ? module_call(vm, module, 1, &slots[1], result) : OUTCOME_ERROR;
}

struct native module_methods[] = {
    {"to", "self, first=, second=, /, *, device=, dtype=, non_blocking=", method_to,
     NULL},
    {"cuda", "self, device=", method_cuda, NULL},
    {"cpu", "self", method_cpu, NULL},
    {"float", "self", method_float, NULL},
    {"double", "self", method_double, NULL},
    {"half", "self", method_half, NULL},
    {"bfloat16", "self", method_bfloat16, NULL},
    {"train", "self, mode=", method_train, NULL},
    {"eval", "self", method_eval, NULL},
    {"requires_grad_", "self, requires_grad=", method_requires_grad, NULL},
    {"zero_grad", "self, set_to_none=", method_zero_grad, NULL},
    {"parameters", "self, recurse=", module_method_parameters, NULL},
    {"named_parameters", "self, prefix=, recurse=", module_method_named_parameters, NULL},
    {"state_dict", "self", module_method_state_dict, NULL},
    {"load_state_dict", "self, state_dict, strict=", module_method_load_state_dict, NULL},
    {"children", "self", module_method_children, NULL},
    {"named_children", "self", module_method_named_children, NULL},
    {"modules", "self", module_method_modules, NULL},
    {"append", "self, module", module_method_append, NULL},
    {"extend", "self, ~modules", module_method_extend, NULL},
    {"forward", "self, input", method_forward, NULL},
    {NULL, NULL, NULL, NULL},
};
