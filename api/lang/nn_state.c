// SPDX-License-Identifier: Apache-2.0
// Methods of modules that look at the tree: parameters, state, children.
#include <string.h>

#include "api/lang/container.h"
#include "api/lang/nn_internal.h"
#include "api/lang/torch.h"

static struct tensor_object *parameter_of(const struct module *owner, int index)
{
    return tensor_of(owner->parameters[index]);
}

// ---- Parameters

struct collection {
    struct vm *vm;
    struct list *list; // parameters()
    struct dict *dict; // state_dict()
    bool named;        // tuples of name and parameter
};

static bool holds(const struct list *list, struct value item, bool named)
{
    for (int64_t i = 0; i < list->count; i++) {
        struct value held = list->items[i];
        if (named)
            held = VALUE_AS(tuple, held)->items[1];
        if (held.object == item.object)
            return true;
    }
    return false;
}

static enum status named_pair(struct vm *vm, const char *name, struct value item,
                              struct value *out)
{
    struct string *text = string_new(vm_heap(vm), name, strlen(name), vm_problem(vm));
    if (text == NULL)
        return vm_problem(vm)->status;
    struct value items[] = {value_of(text), item};
    struct tuple *pair = tuple_new(vm_heap(vm), 2, items, vm_problem(vm));
    value_release(items[0]);
    *out = value_of(pair);
    return pair != NULL ? STATUS_OK : vm_problem(vm)->status;
}

// A parameter that several modules share comes once.
static enum status collect(void *context, const char *name, struct module *owner,
                           int index, struct problem *problem)
{
    struct collection *collection = context;
    struct vm *vm = collection->vm;
    struct value item = owner->parameters[index];
    if (vm_spend(vm, 8 + collection->list->count) != OUTCOME_OK)
        return vm_problem(vm)->status;
    if (holds(collection->list, item, collection->named))
        return STATUS_OK;
    struct value entry = item;
    if (collection->named) {
        enum status status = named_pair(vm, name, item, &entry);
        if (status != STATUS_OK)
            return status;
    }
    bool added = list_append(vm_heap(vm), collection->list, entry, vm_problem(vm));
    if (collection->named)
        value_release(entry);
    return added ? STATUS_OK : vm_problem(vm)->status;
}

static enum outcome iterate_list(struct vm *vm, struct list *list, enum status status,
                                 struct value *result)
{
    enum outcome outcome = outcome_of(status);
    if (outcome == OUTCOME_OK)
        outcome = value_iterate(vm, value_of(list), result);
    value_release(value_of(list));
    return outcome;
}

static enum outcome collect_parameters(struct vm *vm, struct value self, bool named,
                                       struct value *result)
{
    struct module *module = module_self(vm, self);
    struct list *list =
        module == NULL ? NULL : list_new(vm_heap(vm), 0, NULL, vm_problem(vm));
    if (list == NULL)
        return OUTCOME_ERROR;
    struct collection collection = {.vm = vm, .list = list, .named = named};
    enum status status =
        module_each_parameter(module, collect, &collection, vm_problem(vm));
    return iterate_list(vm, list, status, result);
}

enum outcome module_method_parameters(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    return collect_parameters(vm, slots[0], false, result);
}

enum outcome module_method_named_parameters(struct vm *vm, struct value *slots,
                                            struct value *result)
{
    return collect_parameters(vm, slots[0], true, result);
}

// The elements without the gradient's bookkeeping, tied to the parameter.
static enum status collect_state(void *context, const char *name, struct module *owner,
                                 int index, struct problem *problem)
{
    struct collection *collection = context;
    struct vm *vm = collection->vm;
    struct value detached;
    struct string *key = string_new(vm_heap(vm), name, strlen(name), vm_problem(vm));
    if (key == NULL)
        return vm_problem(vm)->status;
    enum status status = STATUS_OK;
    if (torch_wrap(vm, lazy_reference(parameter_of(owner, index)->lazy),
                   (struct flavor){.requires_grad = false}, &detached) != OUTCOME_OK) {
        status = vm_problem(vm)->status;
    } else {
        status = dict_set(vm_heap(vm), collection->dict, value_of(key), detached,
                          vm_problem(vm));
        value_release(detached);
    }
    value_release(value_of(key));
    return status;
}

enum outcome module_method_state_dict(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    if (module != NULL && module_spend(vm, module) != OUTCOME_OK)
        return OUTCOME_ERROR;
    struct dict *dict = module == NULL ? NULL : dict_new(vm_heap(vm), vm_problem(vm));
    if (dict == NULL)
        return OUTCOME_ERROR;
    struct collection collection = {.vm = vm, .dict = dict};
    *result = value_of(dict);
    if (module_each_parameter(module, collect_state, &collection, vm_problem(vm)) ==
        STATUS_OK)
        return OUTCOME_OK;
    value_release(*result);
    return OUTCOME_ERROR;
}

// ---- load_state_dict: everything is checked before anything is written

struct loading {
    struct vm *vm;
    const struct dict *dict;
    bool strict, write;
    int64_t found;
};

static enum status load_parameter(void *context, const char *name, struct module *owner,
                                  int index, struct problem *problem)
{
    struct loading *loading = context;
    struct lazy *parameter = parameter_of(owner, index)->lazy;
    struct value value = dict_find_text(loading->dict, name, strlen(name));
    if (value.tag == VALUE_ABSENT && !loading->strict)
        return STATUS_OK;
    if (value.tag == VALUE_ABSENT)
        return problem_set(
            problem, STATUS_KEY,
            "Error(s) in loading state_dict: Missing key(s) in state_dict: "
            "\"%s\".",
            name);
    if (!value_is_object(value, OBJECT_TENSOR))
        return problem_set(
            problem, STATUS_TYPE,
            "While copying the parameter named \"%s\", expected torch.Tensor "
            "or Tensor-like object from checkpoint",
            name);
    const struct layout *from = lazy_layout(tensor_of(value)->lazy);
    const struct layout *to = lazy_layout(parameter);
    if (from->ndim != to->ndim ||
        memcmp(from->shape, to->shape, (size_t)to->ndim * sizeof to->shape[0]) != 0)
        return problem_set(problem, STATUS_SHAPE,
                           "Error(s) in loading state_dict: size mismatch for %s", name);
    loading->found++;
    if (!loading->write)
        return STATUS_OK;
    struct device *device = lazy_device(parameter);
    struct value moved;
    if (module_move(loading->vm, value, device, false, DTYPE_FLOAT32, &moved) !=
        OUTCOME_OK) {
        *problem = *vm_problem(loading->vm);
        return problem->status;
    }
    enum status status =
        lazy_write(vm_cells(loading->vm), parameter, tensor_of(moved)->lazy, problem);
    value_release(moved);
    return status;
}

enum outcome module_method_load_state_dict(struct vm *vm, struct value *slots,
                                           struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    if (module == NULL || module_spend(vm, module) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (!value_is_object(slots[1], OBJECT_DICT))
        return vm_raise(vm, STATUS_TYPE, "Expected state_dict to be dict-like, got %s.",
                        type_short_name(value_type(slots[1])));
    struct problem problem;
    struct loading loading = {.vm = vm,
                              .dict = VALUE_AS(dict, slots[1]),
                              .strict = slots[2].tag == VALUE_ABSENT || slots[2].i != 0};
    enum status status =
        module_each_parameter(module, load_parameter, &loading, &problem);
    if (status == STATUS_OK && loading.strict && loading.found != loading.dict->count)
        status = problem_set(&problem, STATUS_KEY,
                             "Error(s) in loading state_dict: Unexpected key(s) in "
                             "state_dict: it has %lld, the module %lld.",
                             (long long)loading.dict->count, (long long)loading.found);
    loading.write = true;
    if (status == STATUS_OK)
        status = module_each_parameter(module, load_parameter, &loading, &problem);
    if (status != STATUS_OK)
        return vm_raise(vm, status, "%s", problem.detail);
    return torch_text(vm, "<All keys matched successfully>", result);
}

// ---- The tree

static enum outcome list_children(struct vm *vm, struct value self, bool named,
                                  struct value *result)
{
    struct module *module = module_self(vm, self);
    struct list *list =
        module == NULL ? NULL : list_new(vm_heap(vm), 0, NULL, vm_problem(vm));
    if (list == NULL)
        return OUTCOME_ERROR;
    enum status status = STATUS_OK;
    for (int64_t i = 0; i < module->n_children && status == STATUS_OK; i++) {
        const struct child *child = &module->children[i];
        struct value entry = value_reference(value_of(child->module));
        if (named) {
            value_release(entry);
            status = named_pair(vm, child->name->text, value_of(child->module), &entry);
        }
        if (status != STATUS_OK)
            break;
        if (!list_append(vm_heap(vm), list, entry, vm_problem(vm)))
            status = vm_problem(vm)->status;
        value_release(entry);
    }
    return iterate_list(vm, list, status, result);
}

enum outcome module_method_children(struct vm *vm, struct value *slots,
                                    struct value *result)
{
    return list_children(vm, slots[0], false, result);
}

enum outcome module_method_named_children(struct vm *vm, struct value *slots,
                                          struct value *result)
{
    return list_children(vm, slots[0], true, result);
}

// The module and all below it, each once. Depth is at most MODULE_MAX_DEPTH.
static enum status add_modules(struct vm *vm, struct list *list, struct module *module)
{
    struct value self = value_of(module);
    if (vm_spend(vm, 8 + list->count) != OUTCOME_OK)
        return vm_problem(vm)->status;
    if (holds(list, self, false))
        return STATUS_OK;
    if (!list_append(vm_heap(vm), list, self, vm_problem(vm)))
        return vm_problem(vm)->status;
    enum status status = STATUS_OK;
    for (int64_t i = 0; i < module->n_children && status == STATUS_OK; i++)
        status = add_modules(vm, list, module->children[i].module);
    return status;
}

enum outcome module_method_modules(struct vm *vm, struct value *slots,
                                   struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    struct list *list =
        module == NULL ? NULL : list_new(vm_heap(vm), 0, NULL, vm_problem(vm));
    if (list == NULL)
        return OUTCOME_ERROR;
    return iterate_list(vm, list, add_modules(vm, list, module), result);
}

enum outcome module_method_append(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    if (module == NULL)
        return OUTCOME_ERROR;
    if (module->type != TYPE_Sequential && module->type != TYPE_ModuleList)
        return vm_raise(vm, STATUS_ATTRIBUTE, "'%s' object has no attribute 'append'",
                        type_short_name(module->type));
    struct list *one = list_new(vm_heap(vm), 1, &slots[1], vm_problem(vm));
    if (one == NULL)
        return OUTCOME_ERROR;
    enum outcome outcome = module_extend(vm, module, value_of(one));
    value_release(value_of(one));
    if (outcome == OUTCOME_OK)
        *result = value_reference(slots[0]);
    return outcome;
}

enum outcome module_method_extend(struct vm *vm, struct value *slots,
                                  struct value *result)
{
    struct module *module = module_self(vm, slots[0]);
    if (module == NULL)
        return OUTCOME_ERROR;
    if (module->type != TYPE_Sequential && module->type != TYPE_ModuleList)
        return vm_raise(vm, STATUS_ATTRIBUTE, "'%s' object has no attribute 'extend'",
                        type_short_name(module->type));
    enum outcome outcome = module_extend(vm, module, slots[1]);
    if (outcome == OUTCOME_OK)
        *result = value_reference(slots[0]);
    return outcome;
}
