// SPDX-License-Identifier: Apache-2.0
// What a program sees of a module: attributes, items, length, and how it prints.
#include <stdio.h>
#include <string.h>

#include "api/lang/nn_internal.h"
#include "api/lang/torch.h"
#include "api/text.h"

// ---- Attributes

static bool is_number_name(const char *name)
{
    return name[0] >= '0' && name[0] <= '9';
}

// Parameters and children; borrowed, ABSENT where there is none.
static struct value member_of(const struct module *module, const char *name)
{
    for (int i = 0; module_parameter_name(module->type, i) != NULL; i++)
        if (strcmp(module_parameter_name(module->type, i), name) == 0)
            return module->parameters[i];
    for (int64_t i = 0; i < module->n_children; i++)
        if (!is_number_name(name) && strcmp(module->children[i].name->text, name) == 0)
            return value_of(module->children[i].module);
    return (struct value){.tag = VALUE_ABSENT};
}

static enum outcome device_ids(struct vm *vm, struct module *module, struct value *result)
{
    struct module_devices devices = module_devices(vm, module);
    struct value ids[MODULE_DEVICES];
    for (int i = 0; i < devices.count; i++)
        ids[i] = value_int(devices.items[i]->index - 1);
    struct list *list = list_new(vm_heap(vm), devices.count, ids, vm_problem(vm));
    *result = value_of(list);
    return list != NULL ? OUTCOME_OK : OUTCOME_ERROR;
}

// Plain data of a module. False: it has none of this name.
static bool datum_of(const struct module *module, const char *name, struct value *out)
{
    bool is_linear = module->type == TYPE_Linear,
         is_flatten = module->type == TYPE_Flatten;
    bool found = true;
    if (strcmp(name, "training") == 0)
        *out = value_bool(module->training);
    else if (is_linear && strcmp(name, "in_features") == 0)
        *out = value_int(module->sizes[0]);
    else if (is_linear && strcmp(name, "out_features") == 0)
        *out = value_int(module->sizes[1]);
    else if (is_flatten && strcmp(name, "start_dim") == 0)
        *out = value_int(module->sizes[0]);
    else if (is_flatten && strcmp(name, "end_dim") == 0)
        *out = value_int(module->sizes[1]);
    else if (module->type == TYPE_Softmax && strcmp(name, "dim") == 0)
        *out = module->sizes[0] == INT64_MIN ? value_none() : value_int(module->sizes[0]);
    else if (module->type == TYPE_Dropout && strcmp(name, "p") == 0)
        *out = value_float(module->p);
    else
        found = false;
    return found;
}

enum outcome module_get_method(struct vm *vm, struct module *module,
                               const struct string *name, struct value *function,
                               struct value *self)
{
    *self = (struct value){.tag = VALUE_ABSENT};
    struct value member = member_of(module, name->text);
    if (member.tag != VALUE_ABSENT) {
        *function = value_reference(member);
        return OUTCOME_OK;
    }
    if (datum_of(module, name->text, function))
        return OUTCOME_OK;
    if (module->type == TYPE_DataParallel && strcmp(name->text, "device_ids") == 0)
        return device_ids(vm, module, function);
    struct native *native = native_find(module_methods, name->text, (size_t)name->bytes);
    if (native == NULL)
        return vm_raise(vm, STATUS_ATTRIBUTE, "'%s' object has no attribute '%.100s'",
                        type_short_name(module->type), name->text);
    *function = value_native(native);
    *self = value_reference(value_of(module));
    return OUTCOME_OK;
}

enum outcome module_set_attribute(struct vm *vm, struct module *module,
                                  const struct string *name, struct value item)
{
    for (int i = 0; module_parameter_name(module->type, i) != NULL; i++) {
        if (strcmp(module_parameter_name(module->type, i), name->text) != 0)
            continue;
        bool fits = item.tag == VALUE_NONE || (value_is_object(item, OBJECT_TENSOR) &&
                                               tensor_of(item)->is_parameter);
        if (!fits)
            return vm_raise(vm, STATUS_TYPE,
                            "cannot assign '%s' as parameter '%.100s' "
                            "(torch.nn.Parameter or None expected)",
                            type_name(value_type(item)), name->text);
        value_release(module->parameters[i]);
        module->parameters[i] = value_reference(item);
        return OUTCOME_OK;
    }
    if (strcmp(name->text, "training") == 0 && item.tag == VALUE_BOOL) {
        module->training = item.i;
        return OUTCOME_OK;
    }
    return vm_raise(vm, STATUS_ATTRIBUTE,
                    "'%s' object has no attribute '%.100s' that can be set",
                    type_short_name(module->type), name->text);
}

// ---- Items

static bool is_container(const struct module *module)
{
    return module->type == TYPE_Sequential || module->type == TYPE_ModuleList;
}

enum outcome module_length(struct vm *vm, struct module *module, int64_t *length)
{
    if (!is_container(module))
        return vm_raise(vm, STATUS_TYPE, "object of type '%s' has no len()",
                        type_short_name(module->type));
    *length = module->n_children;
    return OUTCOME_OK;
}

// A container of the same kind with a part of the children.
static enum outcome slice_of(struct vm *vm, const struct module *module,
                             const struct slice_object *slice, struct value *result)
{
    int64_t bounds[2] = {0, module->n_children};
    const struct value *ends[2] = {&slice->start, &slice->stop};
    if (slice->step.tag != VALUE_NONE &&
        (slice->step.tag != VALUE_INT || slice->step.i != 1))
        return vm_raise(vm, STATUS_VALUE, "a slice of modules has no step");
    for (int i = 0; i < 2; i++) {
        if (ends[i]->tag == VALUE_NONE)
            continue;
        enum outcome outcome = value_to_index(vm, *ends[i], &bounds[i]);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (bounds[i] < 0)
            bounds[i] += module->n_children;
        if (bounds[i] < 0)
            bounds[i] = 0;
        if (bounds[i] > module->n_children)
            bounds[i] = module->n_children;
    }
    struct list *list = list_new(vm_heap(vm), 0, NULL, vm_problem(vm));
    struct module *part = module_new(vm_heap(vm), module->type, vm_problem(vm));
    bool whole = list != NULL && part != NULL;
    for (int64_t i = bounds[0]; whole && i < bounds[1]; i++)
        whole = list_append(vm_heap(vm), list, value_of(module->children[i].module),
                            vm_problem(vm));
    if (whole)
        whole = module_extend(vm, part, value_of(list)) == OUTCOME_OK;
    if (list != NULL)
        value_release(value_of(list));
    if (whole)
        part->training = module->training;
    else if (part != NULL)
        value_release(value_of(part));
    *result = value_of(part);
    return whole ? OUTCOME_OK : OUTCOME_ERROR;
}

enum outcome module_get_item(struct vm *vm, struct module *module, struct value key,
                             struct value *result)
{
    int64_t index;
    if (!is_container(module))
        return vm_raise(vm, STATUS_TYPE, "'%s' object is not subscriptable",
                        type_short_name(module->type));
    if (value_is_object(key, OBJECT_SLICE))
        return slice_of(vm, module, VALUE_AS(slice_object, key), result);
    enum outcome outcome = value_to_index(vm, key, &index);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (index < -module->n_children || index >= module->n_children)
        return vm_raise(vm, STATUS_INDEX, "index %lld is out of range", (long long)index);
    if (index < 0)
        index += module->n_children;
    *result = value_reference(value_of(module->children[index].module));
    return OUTCOME_OK;
}

// ---- repr

static void leaf_arguments(const struct module *module, struct text *text)
{
    char buffer[96] = "";
    switch (module->type) {
    case TYPE_Linear:
        snprintf(buffer, sizeof buffer, "in_features=%lld, out_features=%lld, bias=%s",
                 (long long)module->sizes[0], (long long)module->sizes[1],
                 module->parameters[1].tag == VALUE_NONE ? "False" : "True");
        break;
    case TYPE_ReLU:
        snprintf(buffer, sizeof buffer, "%s", module->sizes[0] ? "inplace=True" : "");
        break;
    case TYPE_GELU:
        snprintf(buffer, sizeof buffer, "approximate='%s'",
                 module->approximate ? "tanh" : "none");
        break;
    case TYPE_Softmax:
        if (module->sizes[0] == INT64_MIN)
            snprintf(buffer, sizeof buffer, "dim=None");
        else
            snprintf(buffer, sizeof buffer, "dim=%lld", (long long)module->sizes[0]);
        break;
    case TYPE_Flatten:
        snprintf(buffer, sizeof buffer, "start_dim=%lld, end_dim=%lld",
                 (long long)module->sizes[0], (long long)module->sizes[1]);
        break;
    default:
        break;
    }
    text_string(text, buffer);
}

static enum outcome dropout_arguments(struct vm *vm, const struct module *module,
                                      struct text *text)
{
    text_literal(text, "p=");
    enum outcome outcome = value_repr(vm, value_float(module->p), text);
    text_string(text, module->sizes[0] ? ", inplace=True" : ", inplace=False");
    return outcome;
}

// Depth is at most MODULE_MAX_DEPTH.
static enum outcome repr_at(struct vm *vm, const struct module *module, int depth,
                            struct text *text)
{
    enum outcome outcome = vm_spend(vm, 16 + depth);
    text_string(text, type_short_name(module->type));
    text_literal(text, "(");
    if (module->type == TYPE_Dropout && outcome == OUTCOME_OK)
        outcome = dropout_arguments(vm, module, text);
    leaf_arguments(module, text);
    for (int64_t i = 0; i < module->n_children && outcome == OUTCOME_OK; i++) {
        text_literal(text, "\n");
        for (int level = 0; level <= depth; level++)
            text_literal(text, "  ");
        text_literal(text, "(");
        text_string(text, module->children[i].name->text);
        text_literal(text, "): ");
        outcome = repr_at(vm, module->children[i].module, depth + 1, text);
    }
    if (module->n_children > 0) {
        text_literal(text, "\n");
        for (int level = 0; level < depth; level++)
            text_literal(text, "  ");
    }
    text_literal(text, ")");
    return outcome;
}

enum outcome module_repr(struct vm *vm, struct module *module, struct text *text)
{
    return repr_at(vm, module, 0, text);
}
