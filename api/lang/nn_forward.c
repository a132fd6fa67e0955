// SPDX-License-Identifier: Apache-2.0
// What modules compute when they are called. Everything is operations of the table, so
// that values stay lazy and chains of layers fuse.
//
// DataParallel splits the batch along dimension 0 over all CUDA devices, in chunks of
// ceil(n / devices) as torch.chunk does, runs the module on each with its parameters
// copied there, and joins the results on the first device. A module whose parameters are
// on the host is simply called, as where there is no GPU.
#include <stdio.h>
#include <string.h>

#include "api/lang/nn_internal.h"
#include "api/lang/torch.h"

enum outcome module_move(struct vm *vm, struct value tensor, const struct device *device,
                         bool has_dtype, enum dtype dtype, struct value *result)
{
    struct tensor_object *from = tensor_of(tensor);
    struct device *there = lazy_device(from->lazy);
    bool moves = device != NULL && device != there;
    if (!moves && (!has_dtype || lazy_dtype(from->lazy) == dtype)) {
        *result = value_reference(tensor);
        return OUTCOME_OK;
    }
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {
        {.kind = ARGUMENT_TENSOR, .tensor = from->lazy}};
    if (moves)
        arguments[1] = (struct lazy_argument){.kind = ARGUMENT_DEVICE,
                                              .device = (struct device *)device};
    if (has_dtype)
        arguments[2] = (struct lazy_argument){.kind = ARGUMENT_DTYPE, .dtype = dtype};
    struct lazy *results[OP_MAX_RESULTS];
    int n_results;
    if (lazy_op(vm_cells(vm), OP_to, false, arguments, results, &n_results,
                vm_problem(vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    bool grad = torch_wants_grad(vm, tensor);
    return torch_wrap(vm, results[0],
                      (struct flavor){.requires_grad = grad,
                                      .grad_fn = grad ? "ToCopyBackward0" : NULL},
                      result);
}

// Parameter i of the module, on `device` if one is given.
static enum outcome parameter_on(struct vm *vm, const struct module *module, int i,
                                 const struct device *device, struct value *result)
{
    struct value parameter = module->parameters[i];
    if (!value_is_object(parameter, OBJECT_TENSOR)) {
        *result = value_reference(parameter);
        return OUTCOME_OK;
    }
    return module_move(vm, parameter, device, false, DTYPE_FLOAT32, result);
}

static enum outcome call_linear(struct vm *vm, const struct module *module,
                                const struct device *device, struct value x,
                                struct value *result)
{
    struct value arguments[3] = {x};
    enum outcome outcome = parameter_on(vm, module, 0, device, &arguments[1]);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = parameter_on(vm, module, 1, device, &arguments[2]);
    if (outcome == OUTCOME_OK) {
        outcome = torch_apply(vm, OP_linear, 0, 3, arguments, result);
        value_release(arguments[2]);
    }
    value_release(arguments[1]);
    return outcome;
}

// torch's choice where nn.Softmax() was given no dim.
static int64_t softmax_dim(const struct module *module, struct value x)
{
    int ndim = lazy_layout(tensor_of(x)->lazy)->ndim;
    if (module->sizes[0] != INT64_MIN)
        return module->sizes[0];
    return ndim == 0 || ndim == 1 || ndim == 3 ? 0 : 1;
}

static enum outcome call_leaf(struct vm *vm, const struct module *module,
                              const struct device *device, struct value x,
                              struct value *result)
{
    struct value arguments[3] = {x};
    switch (module->type) {
    case TYPE_Linear:
        return call_linear(vm, module, device, x, result);
    case TYPE_ReLU:
        return torch_apply(vm, OP_relu, 0, 1, arguments, result);
    case TYPE_Sigmoid:
        return torch_apply(vm, OP_sigmoid, 0, 1, arguments, result);
    case TYPE_Tanh:
        return torch_apply(vm, OP_tanh, 0, 1, arguments, result);
    case TYPE_GELU:
        return module->approximate ? module_gelu_tanh(vm, x, result)
                                   : torch_apply(vm, OP_gelu, 0, 1, arguments, result);
    case TYPE_Softmax:
        arguments[1] = value_int(softmax_dim(module, x));
        return torch_apply(vm, OP_softmax, 0, 2, arguments, result);
    case TYPE_Flatten:
        arguments[1] = value_int(module->sizes[0]);
        arguments[2] = value_int(module->sizes[1]);
        return torch_apply(vm, OP_flatten, 0, 3, arguments, result);
    case TYPE_Dropout:
        arguments[1] = value_float(module->p);
        arguments[2] = value_bool(module->training);
        return torch_apply(vm, OP_dropout, 0, 3, arguments, result);
    case TYPE_Identity:
        *result = value_reference(x);
        return OUTCOME_OK;
    default:
        return vm_raise(vm, STATUS_TYPE,
                        "Module [%s] is missing the required \"forward\" function",
                        type_short_name(module->type));
    }
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
enum outcome module_gelu_tanh(struct vm *vm, struct value x, struct value *result)
{
    static const struct {
        enum op op;
        bool with_x; // the second operand is x, else the number
        double number;
    } steps[] = {{OP_mul, true, 0},
                 {OP_mul, false, 0.044715},
                 {OP_add, false, 1},
                 {OP_mul, true, 0},
                 {OP_mul, false, 0.7978845608028654},
                 {OP_tanh, false, 0},
                 {OP_add, false, 1},
                 {OP_mul, true, 0},
                 {OP_mul, false, 0.5}};
    struct value value = value_reference(x);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct value next,
            arguments[] = {value, steps[i].with_x ? x : value_float(steps[i].number)};
        int n = steps[i].op == OP_tanh ? 1 : 2;
        enum outcome outcome = torch_apply(vm, steps[i].op, 0, n, arguments, &next);
        value_release(value);
        if (outcome != OUTCOME_OK)
            return outcome;
        value = next;
    }
    *result = value;
    return OUTCOME_OK;
}

// ---- DataParallel

struct module_devices module_devices(struct vm *vm, struct module *module)
{
    struct module_devices found = {.count = 0};
    struct device *home = module_home(module);
    if (home == NULL || home->is_host)
        return found;
    const struct graph_context *context = cells_context(vm_cells(vm));
    for (int i = 1; i < context->n_devices && found.count < MODULE_DEVICES; i++)
        if (context->devices[i] != NULL)
            found.items[found.count++] = context->devices[i];
    return found;
}

// Rows [start, end) of x on device.
static enum outcome part_of(struct vm *vm, struct value x, int64_t start, int64_t end,
                            const struct device *device, struct value *result)
{
    char text[48];
    int length =
        snprintf(text, sizeof text, "%lld:%lld", (long long)start, (long long)end);
    struct string *index = string_new(vm_heap(vm), text, (size_t)length, vm_problem(vm));
    struct value part;
    if (index == NULL)
        return OUTCOME_ERROR;
    struct value slice[] = {x, value_of(index)};
    enum outcome outcome = torch_apply(vm, OP_slice, 0, 2, slice, &part);
    value_release(slice[1]);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = module_move(vm, part, device, false, DTYPE_FLOAT32, result);
    value_release(part);
    return outcome;
}

static enum outcome run_part(struct vm *vm, struct module *module, struct value x,
                             int64_t start, int64_t end, const struct device *device,
                             const struct device *home, int depth, struct value *result)
{
    struct value part, computed;
    enum outcome outcome = part_of(vm, x, start, end, device, &part);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = module_forward(vm, module, device, part, depth + 1, &computed);
    value_release(part);
    if (outcome != OUTCOME_OK)
        return outcome;
    outcome = module_move(vm, computed, home, false, DTYPE_FLOAT32, result);
    value_release(computed);
    return outcome;
}

static enum outcome call_parallel(struct vm *vm, struct module *module, struct value x,
                                  int depth, struct value *result)
{
    struct module *inner = module->children[0].module;
    struct module_devices devices = module_devices(vm, inner);
    const struct layout *layout = lazy_layout(tensor_of(x)->lazy);
    if (devices.count == 0 || layout->ndim == 0)
        return module_forward(vm, inner, NULL, x, depth + 1, result);
    int64_t n = layout->shape[0];
    int64_t chunk = n == 0 ? 1 : (n + devices.count - 1) / devices.count;
    struct value parts[MODULE_DEVICES];
    int n_parts = 0;
    enum outcome outcome = OUTCOME_OK;
    for (int64_t start = 0; outcome == OUTCOME_OK && (start < n || start == 0);
         start += chunk) {
        outcome =
            run_part(vm, inner, x, start, start + chunk < n ? start + chunk : n,
                     devices.items[n_parts], devices.items[0], depth, &parts[n_parts]);
        n_parts += outcome == OUTCOME_OK;
    }
    if (outcome == OUTCOME_OK && n_parts == 1) {
        *result = parts[0];
        return OUTCOME_OK;
    }
    struct list *list = outcome == OUTCOME_OK
                            ? list_new(vm_heap(vm), n_parts, parts, vm_problem(vm))
                            : NULL;
    if (outcome == OUTCOME_OK && list == NULL)
        outcome = OUTCOME_ERROR;
    if (list != NULL) {
        struct value joined[] = {value_of(list)};
        outcome = torch_apply(vm, OP_cat, 0, 1, joined, result);
        value_release(joined[0]);
    }
    for (int i = 0; i < n_parts; i++)
        value_release(parts[i]);
    return outcome;
}

// ---- The call

static enum outcome call_sequential(struct vm *vm, const struct module *module,
                                    const struct device *device, struct value x,
                                    int depth, struct value *result)
{
    struct value value = value_reference(x);
    for (int64_t i = 0; i < module->n_children; i++) {
        struct value next;
        enum outcome outcome = module_forward(vm, module->children[i].module, device,
                                              value, depth + 1, &next);
        value_release(value);
        if (outcome != OUTCOME_OK)
            return outcome;
        value = next;
    }
    *result = value;
    return OUTCOME_OK;
}

enum outcome module_forward(struct vm *vm, struct module *module,
                            const struct device *device, struct value x, int depth,
                            struct value *result)
{
    if (depth > 2 * MODULE_MAX_DEPTH)
        return vm_raise(vm, STATUS_LIMIT, "modules nest too deeply");
    if (module->type == TYPE_Sequential)
        return call_sequential(vm, module, device, x, depth, result);
    if (module->type == TYPE_DataParallel && device == NULL)
        return call_parallel(vm, module, x, depth, result);
    if (module->type == TYPE_DataParallel)
        return module_forward(vm, module->children[0].module, device, x, depth + 1,
                              result);
    return call_leaf(vm, module, device, x, result);
}

enum outcome module_call(struct vm *vm, struct module *module, int n,
                         const struct value *arguments, struct value *result)
{
    if (n != 1)
        return vm_raise(vm, STATUS_TYPE,
                        "forward() takes 2 positional arguments but %d were given",
                        n + 1);
    if (!value_is_object(arguments[0], OBJECT_TENSOR))
        return vm_raise(vm, STATUS_TYPE, "a module is called with a tensor, not %s",
                        type_short_name(value_type(arguments[0])));
    if (module_spend(vm, module) != OUTCOME_OK)
        return OUTCOME_ERROR;
    return module_forward(vm, module, NULL, arguments[0], 0, result);
}
