// SPDX-License-Identifier: Apache-2.0
// What a program leaves behind: its top-level names, and the storages it wrote, in one
// step of the registry. Tensors are bound as they are; other values become images
// (lang/image.h), and a module brings its parameters along as names below its own.
#include <stdlib.h>

#include "api/eval.h"
#include "api/lang/nn.h"

struct outcome_names { // what is to be bound or deleted
    struct registry_change *changes;
    int count, capacity;
    struct freeze_name *frozen;
    int n_frozen, frozen_capacity;
    char **parameters; // names made here
    int n_parameters, parameter_capacity;
};

static enum status no_memory(struct problem *problem)
{
    return problem_set(problem, STATUS_OUT_OF_MEMORY,
                       "No host memory for the program's names.");
}

static enum status add_change(struct outcome_names *names,
                              const struct registry_change *change,
                              struct problem *problem)
{
    if (!image_grow(&names->changes, &names->capacity, names->count,
                    sizeof *names->changes))
        return no_memory(problem);
    names->changes[names->count++] = *change;
    return STATUS_OK;
}

// A read-only name keeps its value.
static enum status check_bound(const struct request *request, const char *name,
                               bool *is_bound, struct problem *problem)
{
    struct binding binding;
    *is_bound = registry_lookup_any(request->user->space, name, &binding);
    if (!*is_bound)
        return STATUS_OK;
    enum status status = check_writable(&binding, problem);
    binding_release(&binding);
    return status;
}

static unsigned tensor_flags(const struct tensor_object *tensor)
{
    return (tensor->requires_grad ? NAME_REQUIRES_GRAD : 0u) |
           (tensor->is_array ? NAME_IS_ARRAY : 0u) |
           (tensor->is_parameter ? NAME_IS_PARAMETER : 0u);
}

static enum status bind_tensor(struct outcome_names *names, const char *name,
                               const struct tensor_object *object, bool parameter,
                               struct problem *problem)
{
    struct registry_change change = {.name = name,
                                     .parameter = parameter,
                                     .flags = (uint8_t)tensor_flags(object),
                                     .keep_attributes = true};
    enum status status = lazy_tensor(object->lazy, &change.tensor, problem);
    if (status != STATUS_OK)
        return status;
    status = add_change(names, &change, problem);
    if (status != STATUS_OK)
        tensor_release(change.tensor);
    return status;
}

// One name the program assigned or deleted. A value that cannot be stored stays with the
// program: the name keeps what it had before.
static enum status add_name(const struct request *request, struct outcome_names *names,
                            const char *name, struct value value, struct problem *problem)
{
    bool is_bound, storable = true;
    enum status status = STATUS_OK;
    if (value.tag != VALUE_ABSENT)
        status = value_is_storable(value, &storable, problem);
    if (status != STATUS_OK || !storable)
        return status;
    status = name_check(name, strlen(name), problem);
    if (status != STATUS_OK)
        return status;
    status = check_bound(request, name, &is_bound, problem);
    if (status != STATUS_OK)
        return status;
    if (value_is_object(value, OBJECT_TENSOR))
        return bind_tensor(names, name, VALUE_AS(tensor_object, value), false, problem);
    if (value.tag == VALUE_ABSENT && is_bound) {
        struct registry_change deletion = {.name = name};
        return add_change(names, &deletion, problem);
    }
    if (!image_grow(&names->frozen, &names->frozen_capacity, names->n_frozen,
                    sizeof *names->frozen))
        return no_memory(problem);
    names->frozen[names->n_frozen++] = (struct freeze_name){.name = name, .value = value};
    return STATUS_OK;
}

static enum status gather(const struct request *request,
                          const struct evaluation *evaluation,
                          struct outcome_names *names, struct problem *problem)
{
    int64_t position = 0;
    struct vm_name name;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && vm_next_name(evaluation->vm, &position, &name))
        if (eval_keeps(evaluation, name.name->text))
            status = add_name(request, names, name.name->text, name.value, problem);
    return status;
}

// ---- Modules

struct parameter_visit {
    struct outcome_names *names;
    const char *module;
};

static enum status bind_parameter(void *context, const char *name, struct module *owner,
                                  int index, struct problem *problem)
{
    struct parameter_visit *visit = context;
    struct outcome_names *names = visit->names;
    size_t module = strlen(visit->module), length = strlen(name);
    if (module + 1 + length > NAME_MAX_LENGTH)
        return problem_set(
            problem, STATUS_NAME,
            "The parameter %.100s of %.100s would have a name of more than "
            "%d characters.",
            name, visit->module, NAME_MAX_LENGTH);
    if (!image_grow(&names->parameters, &names->parameter_capacity, names->n_parameters,
                    sizeof *names->parameters))
        return no_memory(problem);
    char *full = malloc(module + 1 + length + 1);
    if (full == NULL)
        return no_memory(problem);
    memcpy(full, visit->module, module);
    full[module] = '.';
    memcpy(full + module + 1, name, length + 1);
    names->parameters[names->n_parameters++] = full;
    return bind_tensor(names, full, VALUE_AS(tensor_object, owner->parameters[index]),
                       true, problem);
}

static enum status add_frozen(struct outcome_names *names, const struct frozen *frozen,
                              struct problem *problem)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < frozen->count && status == STATUS_OK; i++) {
        const struct frozen_name *name = &frozen->names[i];
        struct registry_change change = {
            .name = name->name, .object = name->object, .keep_attributes = true};
        status = add_change(names, &change, problem);
        if (status != STATUS_OK || !value_is_object(name->value, OBJECT_MODULE))
            continue;
        struct parameter_visit visit = {.names = names, .module = name->name};
        status = module_each_parameter(VALUE_AS(module, name->value), bind_parameter,
                                       &visit, problem);
    }
    return status;
}

// ---- The step

// Names bound to anything but an image: thawed images do not bind them again.
static enum status note_others(struct outcome_names *names, struct problem *problem)
{
    for (int i = 0; i < names->count; i++) {
        if (!image_grow(&names->frozen, &names->frozen_capacity, names->n_frozen,
                        sizeof *names->frozen))
            return no_memory(problem);
        names->frozen[names->n_frozen++] =
            (struct freeze_name){.name = names->changes[i].name};
    }
    return STATUS_OK;
}

static enum status commit(struct request *request, struct evaluation *evaluation,
                          struct outcome_names *names, struct problem *problem)
{
    struct registry_write *writes = NULL;
    int n_writes = 0;
    enum status status = cells_writes(evaluation->cells, &writes, &n_writes, problem);
    if (status != STATUS_OK)
        return status;
    struct registry_commit change = {.n_changes = names->count,
                                     .changes = names->changes,
                                     .n_writes = n_writes,
                                     .writes = writes};
    if (names->count + n_writes > 0)
        status = registry_commit(request->user->space, &change, problem);
    for (int i = 0; i < n_writes && status != STATUS_OK; i++)
        block_release(writes[i].block);
    free(writes);
    if (status == STATUS_OK)
        cells_store_generators(evaluation->cells);
    return status;
}

static void names_free(struct outcome_names *names)
{
    for (int i = 0; i < names->count; i++)
        tensor_release(names->changes[i].tensor);
    for (int i = 0; i < names->n_parameters; i++)
        free(names->parameters[i]);
    free(names->changes);
    free(names->frozen);
    free(names->parameters);
}

enum status eval_commit(struct request *request, struct evaluation *evaluation,
                        struct problem *problem)
{
    struct outcome_names names = {.count = 0};
    struct frozen frozen = {.count = 0};
    enum status status = gather(request, evaluation, &names, problem);
    bool freezes = names.n_frozen > 0 || thawed_any(evaluation->thawed);
    if (status == STATUS_OK && freezes)
        status = note_others(&names, problem);
    thawed_note_held(evaluation->thawed, eval_held(request, evaluation));
    if (status == STATUS_OK && freezes)
        status = freeze(evaluation->thawed, request->user->account, request->user->space,
                        names.frozen, names.n_frozen, &frozen, problem);
    if (status == STATUS_OK)
        status = add_frozen(&names, &frozen, problem);
    if (status == STATUS_OK)
        status = commit(request, evaluation, &names, problem);
    names_free(&names);
    frozen_free(&frozen);
    return status;
}
