// SPDX-License-Identifier: Apache-2.0
// Modules: making them, their tree, and what each kind is made of (nn.h).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/lang/nn_internal.h"
#include "api/lang/torch.h"
#include "kernels/base/size.h"
#include "tensor/registry.h"

// ---- The tree

struct module *module_new(struct heap *heap, enum type type, struct problem *problem)
{
    struct module *module = heap_object(heap, OBJECT_MODULE, sizeof *module, problem);
    if (module == NULL)
        return NULL;
    module->type = type;
    module->training = true;
    for (int i = 0; i < MODULE_PARAMETERS; i++)
        module->parameters[i] = (struct value){.tag = VALUE_ABSENT};
    return module;
}

void module_clear(struct heap *heap, struct module *module)
{
    for (int i = 0; i < MODULE_PARAMETERS; i++)
        value_release(module->parameters[i]);
    for (int64_t i = 0; i < module->n_children; i++) {
        value_release(value_of(module->children[i].name));
        value_release(value_of(module->children[i].module));
    }
    struct problem ignored;
    heap_resize(heap, module->children,
                (size_t)module->capacity * sizeof *module->children, 0, &ignored);
    module->children = NULL;
    module->n_children = module->capacity = 0;
}

// The module has at least `level` modules above it, those below it the more. False: one
// would have too many. Levels only rise, so that a module is visited MODULE_MAX_DEPTH
// times at most however many places it has; a cycle would rise for ever.
static bool lower(struct module *module, int level)
{
    if (level >= MODULE_MAX_DEPTH)
        return false;
    if (module->level >= level)
        return true;
    module->level = level;
    for (int64_t i = 0; i < module->n_children; i++)
        if (!lower(module->children[i].module, level + 1))
            return false;
    return true;
}

enum status module_add_child(struct heap *heap, struct module *module,
                             struct string *name, struct module *child,
                             struct problem *problem)
{
    if (child == module || !lower(child, module->level + 1))
        return problem_set(problem, STATUS_LIMIT,
                           "modules nest at most %d levels, and none contains itself",
                           MODULE_MAX_DEPTH);
    if (module->n_children == module->capacity) {
        int64_t capacity = module->capacity == 0 ? 4 : module->capacity * 2, size;
        if (!size_multiply(capacity, sizeof *module->children, &size))
            return problem_set(problem, STATUS_LIMIT, "too many modules");
        struct child *children = heap_resize(
            heap, module->children, (size_t)module->capacity * sizeof *module->children,
            (size_t)size, problem);
        if (children == NULL)
            return problem->status;
        module->children = children;
        module->capacity = capacity;
    }
    value_reference(value_of(name));
    value_reference(value_of(child));
    module->children[module->n_children++] =
        (struct child){.name = name, .module = child};
    return STATUS_OK;
}

enum type module_type(const struct module *module)
{
    return module->type;
}

const char *module_parameter_name(enum type type, int i)
{
    static const char *const linear[] = {"weight", "bias"};
    return type == TYPE_Linear && i < 2 ? linear[i] : NULL;
}

// ---- Parameters of the tree

static bool count_places(const struct module *module, int *places)
{
    if (++*places > MODULE_MAX_PLACES)
        return false;
    for (int64_t i = 0; i < module->n_children; i++)
        if (!count_places(module->children[i].module, places))
            return false;
    return true;
}

static enum status check_places(const struct module *module, int *places,
                                struct problem *problem)
{
    *places = 0;
    if (count_places(module, places))
        return STATUS_OK;
    return problem_set(problem, STATUS_LIMIT,
                       "the module has more than %d modules below it, counted at each "
                       "place where they stand",
                       MODULE_MAX_PLACES);
}

enum outcome module_spend(struct vm *vm, const struct module *module)
{
    enum { STEPS = 16 }; // a module's share of a walk
    int places;
    if (check_places(module, &places, vm_problem(vm)) != STATUS_OK)
        return OUTCOME_ERROR;
    return vm_spend(vm, (int64_t)places * STEPS);
}

struct walk {
    module_visit *visit;
    void *context;
    char name[NAME_MAX_LENGTH + 1];
    struct problem *problem;
};

// The name so far has `length` characters. Depth is at most MODULE_MAX_DEPTH.
static enum status walk_module(struct walk *walk, struct module *module, size_t length)
{
    size_t room = sizeof walk->name - length;
    enum status status = STATUS_OK;
    for (int i = 0; status == STATUS_OK && module_parameter_name(module->type, i); i++) {
        const char *own = module_parameter_name(module->type, i);
        if (!value_is_object(module->parameters[i], OBJECT_TENSOR))
            continue;
        if ((size_t)snprintf(walk->name + length, room, "%s", own) >= room)
            return problem_set(walk->problem, STATUS_LIMIT,
                               "a parameter's name would be longer than %d characters",
                               NAME_MAX_LENGTH);
        status = walk->visit(walk->context, walk->name, module, i, walk->problem);
    }
    for (int64_t i = 0; status == STATUS_OK && i < module->n_children; i++) {
        const struct child *child = &module->children[i];
        int written = snprintf(walk->name + length, room, "%s.", child->name->text);
        if ((size_t)written >= room)
            return problem_set(walk->problem, STATUS_LIMIT,
                               "a parameter's name would be longer than %d characters",
                               NAME_MAX_LENGTH);
        status = walk_module(walk, child->module, length + (size_t)written);
    }
    return status;
}

enum status module_each_parameter(struct module *module, module_visit *visit,
                                  void *context, struct problem *problem)
{
    struct walk walk = {.visit = visit, .context = context, .problem = problem};
    int places;
    enum status status = check_places(module, &places, problem);
    return status != STATUS_OK ? status : walk_module(&walk, module, 0);
}

// ---- Constructors: slots are bound by the signature

static enum outcome finish(struct module *module, struct value *result)
{
    if (module == NULL)
        return OUTCOME_ERROR;
    *result = value_of(module);
    return OUTCOME_OK;
}

static enum outcome no_arguments(struct vm *vm, enum type type, struct value *result)
{
    return finish(module_new(vm_heap(vm), type, vm_problem(vm)), result);
}

static bool slot_truth(struct value slot, bool absent)
{
    return slot.tag == VALUE_ABSENT ? absent : slot.tag != VALUE_NONE && slot.i != 0;
}

static enum outcome make_relu(struct vm *vm, struct value *slots, struct value *result)
{
    enum outcome outcome = no_arguments(vm, TYPE_ReLU, result);
    if (outcome == OUTCOME_OK)
        VALUE_AS(module, *result)->sizes[0] = slot_truth(slots[0], false);
    return outcome;
}

static enum outcome make_sigmoid(struct vm *vm, struct value *slots, struct value *result)
{
    return no_arguments(vm, TYPE_Sigmoid, result);
}

static enum outcome make_tanh(struct vm *vm, struct value *slots, struct value *result)
{
    return no_arguments(vm, TYPE_Tanh, result);
}

static enum outcome make_identity(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    return no_arguments(vm, TYPE_Identity, result);
}

static enum outcome make_gelu(struct vm *vm, struct value *slots, struct value *result)
{
    bool tanh_form = false;
    if (slots[0].tag != VALUE_ABSENT) {
        const struct string *text =
            value_is_object(slots[0], OBJECT_STRING) ? VALUE_AS(string, slots[0]) : NULL;
        tanh_form = text != NULL && strcmp(text->text, "tanh") == 0;
        if (!tanh_form && (text == NULL || strcmp(text->text, "none") != 0))
            return vm_raise(vm, STATUS_VALUE,
                            "approximate argument must be either none "
                            "or tanh.");
    }
    enum outcome outcome = no_arguments(vm, TYPE_GELU, result);
    if (outcome == OUTCOME_OK)
        VALUE_AS(module, *result)->approximate = tanh_form;
    return outcome;
}

static enum outcome make_softmax(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t dim = INT64_MIN;
    if (slots[0].tag != VALUE_ABSENT && slots[0].tag != VALUE_NONE) {
        enum outcome outcome = value_to_index(vm, slots[0], &dim);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    enum outcome outcome = no_arguments(vm, TYPE_Softmax, result);
    if (outcome == OUTCOME_OK)
        VALUE_AS(module, *result)->sizes[0] = dim;
    return outcome;
}

static enum outcome make_flatten(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t dims[2] = {1, -1};
    for (int i = 0; i < 2; i++) {
        if (slots[i].tag == VALUE_ABSENT)
            continue;
        enum outcome outcome = value_to_index(vm, slots[i], &dims[i]);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    enum outcome outcome = no_arguments(vm, TYPE_Flatten, result);
    if (outcome == OUTCOME_OK)
        memcpy(VALUE_AS(module, *result)->sizes, dims, sizeof dims);
    return outcome;
}

static enum outcome make_dropout(struct vm *vm, struct value *slots, struct value *result)
{
    struct scalar p = {.kind = SCALAR_FLOAT, .f = 0.5};
    if (slots[0].tag != VALUE_ABSENT) {
        enum outcome outcome = torch_number(vm, slots[0], "p", &p);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    double probability = p.kind == SCALAR_FLOAT ? p.f : (double)p.i;
    if (!(probability >= 0 && probability <= 1))
        return vm_raise(vm, STATUS_VALUE,
                        "dropout probability has to be between 0 and 1, but got %g",
                        probability);
    enum outcome outcome = no_arguments(vm, TYPE_Dropout, result);
    if (outcome == OUTCOME_OK) {
        VALUE_AS(module, *result)->p = probability;
        VALUE_AS(module, *result)->sizes[0] = slot_truth(slots[1], false);
    }
    return outcome;
}

// ---- Linear: torch's initialisation, uniform within 1/sqrt(in_features)

// A parameter of this shape on a device, filled from the generator: kaiming_uniform_ with
// a = sqrt(5), whose bound is computed as torch computes it.
static enum outcome make_parameter(struct vm *vm, const struct value *dtype_and_device,
                                   int ndim, const int64_t *shape, double bound,
                                   struct value *result)
{
    struct value size, zeros, drawn;
    enum outcome outcome = torch_size(vm, ndim, shape, true, &size);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct heap *heap = vm_heap(vm);
    struct string *keywords[] = {string_new(heap, "dtype", 5, vm_problem(vm)),
                                 string_new(heap, "device", 6, vm_problem(vm))};
    struct value arguments[] = {size, dtype_and_device[0], dtype_and_device[1]};
    outcome =
        keywords[0] != NULL && keywords[1] != NULL
            ? torch_call_op(vm, value_op(OP_zeros, 0), 1, 2, arguments, keywords, &zeros)
            : OUTCOME_ERROR;
    value_release(size);
    for (int i = 0; i < 2; i++)
        if (keywords[i] != NULL)
            value_release(value_of(keywords[i]));
    if (outcome != OUTCOME_OK)
        return outcome;
    struct value bounds[] = {zeros, value_float(-bound), value_float(bound)};
    outcome = torch_apply(vm, OP_uniform_, 0, 3, bounds, &drawn);
    if (outcome == OUTCOME_OK) {
        struct lazy *lazy = lazy_reference(tensor_of(drawn)->lazy);
        value_release(drawn);
        outcome = torch_wrap(vm, lazy,
                             (struct flavor){.requires_grad = true, .is_parameter = true},
                             result);
    }
    value_release(zeros);
    return outcome;
}

static enum outcome fill_linear(struct vm *vm, struct module *module, bool has_bias,
                                const struct value *dtype_and_device)
{
    int64_t shape[2] = {module->sizes[1], module->sizes[0]};
    double in = (double)module->sizes[0];
    double gain = sqrt(2.0 / (1 + 5.0)), weight = sqrt(3.0) * (gain / sqrt(in));
    enum outcome outcome = make_parameter(vm, dtype_and_device, 2, shape,
                                          in > 0 ? weight : 0, &module->parameters[0]);
    module->parameters[1] = value_none();
    if (outcome != OUTCOME_OK || !has_bias)
        return outcome;
    return make_parameter(vm, dtype_and_device, 1, shape, in > 0 ? 1 / sqrt(in) : 0,
                          &module->parameters[1]);
}

static enum outcome make_linear(struct vm *vm, struct value *slots, struct value *result)
{
    int64_t sizes[2];
    for (int i = 0; i < 2; i++) {
        enum outcome outcome = value_to_index(vm, slots[i], &sizes[i]);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (sizes[i] < 0)
            return vm_raise(vm, STATUS_VALUE,
                            "Linear: a number of features cannot be negative");
    }
    bool has_bias = slot_truth(slots[2], true);
    struct value dtype_and_device[2] = {slots[4], slots[3]};
    for (int i = 0; i < 2; i++)
        if (dtype_and_device[i].tag == VALUE_ABSENT)
            dtype_and_device[i] = value_none();
    enum outcome outcome = no_arguments(vm, TYPE_Linear, result);
    if (outcome != OUTCOME_OK)
        return outcome;
    memcpy(VALUE_AS(module, *result)->sizes, sizes, sizeof sizes);
    outcome = fill_linear(vm, VALUE_AS(module, *result), has_bias, dtype_and_device);
    if (outcome != OUTCOME_OK)
        value_release(*result);
    return outcome;
}

// ---- Containers

// Adds children named by their place.
static enum outcome add_numbered(struct vm *vm, struct module *module,
                                 const struct value *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (!value_is_object(items[i], OBJECT_MODULE))
            return vm_raise(vm, STATUS_TYPE, "%s is not a Module subclass",
                            type_short_name(value_type(items[i])));
        char text[24];
        int length = snprintf(text, sizeof text, "%lld", (long long)module->n_children);
        struct string *name =
            string_new(vm_heap(vm), text, (size_t)length, vm_problem(vm));
        if (name == NULL)
            return OUTCOME_ERROR;
        enum status status = module_add_child(vm_heap(vm), module, name,
                                              VALUE_AS(module, items[i]), vm_problem(vm));
        value_release(value_of(name));
        if (status != STATUS_OK)
            return OUTCOME_ERROR;
    }
    return OUTCOME_OK;
}

enum outcome module_extend(struct vm *vm, struct module *module, struct value modules)
{
    const struct value *items;
    int64_t count;
    if (!sequence_items(modules, &items, &count))
        return vm_raise(vm, STATUS_TYPE, "a list of modules is needed, not %s",
                        type_short_name(value_type(modules)));
    return add_numbered(vm, module, items, count);
}

static enum outcome make_container(struct vm *vm, enum type type, struct value items,
                                   struct value *result)
{
    enum outcome outcome = no_arguments(vm, type, result);
    if (outcome != OUTCOME_OK || items.tag == VALUE_ABSENT || items.tag == VALUE_NONE)
        return outcome;
    outcome = module_extend(vm, VALUE_AS(module, *result), items);
    if (outcome != OUTCOME_OK)
        value_release(*result);
    return outcome;
}

static enum outcome make_sequential(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    return make_container(vm, TYPE_Sequential, slots[0], result);
}

static enum outcome make_list(struct vm *vm, struct value *slots, struct value *result)
{
    return make_container(vm, TYPE_ModuleList, slots[0], result);
}

static enum outcome make_parallel(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    if (!value_is_object(slots[0], OBJECT_MODULE))
        return vm_raise(vm, STATUS_TYPE, "DataParallel wraps a module, not %s",
                        type_short_name(value_type(slots[0])));
    enum outcome outcome = no_arguments(vm, TYPE_DataParallel, result);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct string *name = string_new(vm_heap(vm), "module", 6, vm_problem(vm));
    enum status status =
        name == NULL ? vm_problem(vm)->status
                     : module_add_child(vm_heap(vm), VALUE_AS(module, *result), name,
                                        VALUE_AS(module, slots[0]), vm_problem(vm));
    if (name != NULL)
        value_release(value_of(name));
    if (status != STATUS_OK)
        value_release(*result);
    return outcome_of(status);
}

static struct native constructors[] = {
    {.name = "Linear",
     .signature = "in_features, out_features, bias=, device=, dtype=",
     .function = make_linear},
    {.name = "Identity", .signature = "*args", .function = make_identity},
    {.name = "Sequential", .signature = "*modules", .function = make_sequential},
    {.name = "ModuleList", .signature = "~modules=", .function = make_list},
    {.name = "ReLU", .signature = "inplace=", .function = make_relu},
    {.name = "Sigmoid", .signature = "", .function = make_sigmoid},
    {.name = "Tanh", .signature = "", .function = make_tanh},
    {.name = "GELU", .signature = "approximate=", .function = make_gelu},
    {.name = "Softmax", .signature = "dim=", .function = make_softmax},
    {.name = "Flatten", .signature = "start_dim=, end_dim=", .function = make_flatten},
    {.name = "Dropout", .signature = "p=, inplace=", .function = make_dropout},
    {.name = "DataParallel",
     .signature = "module, device_ids=, output_device=, dim=",
     .function = make_parallel},
    {.name = NULL},
};

const struct native *module_constructor(enum type type)
{
    const char *name = type_short_name(type);
    return type_is_subtype(type, TYPE_Module) && type != TYPE_Module
               ? native_find(constructors, name, strlen(name))
               : NULL;
}
