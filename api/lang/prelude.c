// SPDX-License-Identifier: Apache-2.0
// Starts the language: compiles the prelude, runs it once, makes what it defined immortal
// and enters it among the builtins. vm_initialize and vm_finalize run while there are no
// other threads; everything here is immutable between them.
#include "api/lang/prelude.h"

#include <stdlib.h>
#include <string.h>

#include "api/lang/vm_internal.h"

enum { PRELUDE_STEPS = 100000, METHODS = 8 };
static const char method_prefix[] = "_list_";

static struct heap *heap;
static struct code *code;
static struct global **globals, *resolved;
static struct method {
    struct string *name;
    struct value function;
} methods[METHODS];
static int n_methods;

struct global **prelude_globals(void)
{
    return globals;
}

bool prelude_method(enum type type, const char *name, size_t length,
                    struct value *function)
{
    if (type != TYPE_list)
        return false;
    for (int i = 0; i < n_methods; i++)
        if ((size_t)methods[i].name->bytes == length &&
            memcmp(methods[i].name->text, name, length) == 0) {
            *function = methods[i].function;
            return true;
        }
    return false;
}

static enum status grow(void *context, int64_t bytes, struct problem *problem)
{
    return STATUS_OK; // the prelude's own, once
}

static void make_immortal(struct function *function)
{
    function->object.immortal = true;
    if (function->defaults)
        function->defaults->object.immortal = true;
    if (function->keyword_defaults)
        function->keyword_defaults->object.immortal = true;
}

// Enters one name that the prelude assigned.
static enum status enter(const struct string *name, struct value value,
                         struct problem *problem)
{
    if (!value_is_object(value, OBJECT_FUNCTION))
        return problem_set(problem, STATUS_TYPE, "the prelude holds functions only");
    struct function *function = VALUE_AS(function, value);
    value_reference(value);
    make_immortal(function);
    size_t prefix = sizeof method_prefix - 1;
    if (strncmp(name->text, method_prefix, prefix) == 0 && n_methods < METHODS) {
        struct string *called =
            unit_string(code->unit, name->text + prefix, (size_t)name->bytes - prefix);
        if (!called)
            return problem_set(problem, STATUS_OUT_OF_MEMORY, "memory ran out");
        function->code->name = function->code->qualified = called;
        methods[n_methods++] = (struct method){called, value};
    }
    return builtin_add(name->text, (size_t)name->bytes, name->hash, value)
               ? STATUS_OK
               : problem_set(problem, STATUS_LIMIT, "too many builtins");
}

// The names the prelude uses, each with its value from now on.
static enum status resolve(struct problem *problem)
{
    const struct unit *unit = code->unit;
    struct global **all = calloc((size_t)unit->n_globals, sizeof *all);
    resolved = calloc((size_t)unit->n_globals, sizeof *resolved);
    globals = all;
    if (!all || !resolved)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "memory ran out");
    for (int32_t i = 0; i < unit->n_globals; i++) {
        const struct string *name = unit->globals[i];
        resolved[i].name = name;
        resolved[i].value = builtin_find(name->text, (size_t)name->bytes, name->hash);
        if (resolved[i].value.tag == VALUE_ABSENT)
            return problem_set(problem, STATUS_UNDEFINED,
                               "the prelude uses the name %s, which nobody defines",
                               name->text);
        all[i] = &resolved[i];
    }
    return STATUS_OK;
}

static enum status run(struct problem *problem)
{
    const struct vm_options options = {.heap = heap, .max_steps = PRELUDE_STEPS};
    struct vm *vm;
    enum status status = vm_create(&options, code, &vm, problem);
    if (status != STATUS_OK)
        return status;
    if (vm_run(vm, PRELUDE_STEPS) != VM_DONE) {
        *problem = *vm_problem(vm);
        vm_free(vm);
        return problem->status;
    }
    struct vm_name name;
    for (int64_t at = 0; status == STATUS_OK && vm_next_name(vm, &at, &name);)
        status = enter(name.name, name.value, problem);
    vm_free(vm);
    return status;
}

enum status vm_initialize(struct problem *problem)
{
    const struct heap_options options = {.grow = grow};
    enum status status = heap_create(&options, &heap, problem);
    if (status == STATUS_OK)
        status = builtins_initialize(heap, problem);
    if (status == STATUS_OK)
        status =
            program_compile(prelude_source, prelude_source_bytes, true, &code, problem);
    if (status == STATUS_OK)
        status = run(problem);
    if (status == STATUS_OK)
        status = resolve(problem);
    if (status == STATUS_OK)
        builtins_close();
    else
        vm_finalize();
    return status;
}

void vm_finalize(void)
{
    if (heap)
        heap_free(heap);
    code_release(code);
    free(globals);
    free(resolved);
    heap = NULL;
    code = NULL;
    globals = NULL;
    resolved = NULL;
    n_methods = 0;
    signatures_free();
}
