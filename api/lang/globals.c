// SPDX-License-Identifier: Apache-2.0
// The global names of one program: a hash table in the machine's arena, reached from
// instructions by the numbers that each unit gives its names (struct link). What the
// user's names and the builtins say is kept here after the first look. Thread: the
// machine's.
#include <stdio.h>
#include <string.h>

#include "api/lang/nearest.h"
#include "api/lang/vm_internal.h"
#include "kernels/ops.h"

static int raise_memory(struct vm *vm)
{
    return vm_raise(vm, STATUS_OUT_OF_MEMORY, "memory ran out");
}

static bool grow(struct vm *vm)
{
    int64_t count = vm->n_buckets * 4;
    struct global **buckets = arena_take(&vm->arena, (size_t)count * sizeof *buckets);
    if (!buckets)
        return false;
    memset(buckets, 0, (size_t)count * sizeof *buckets);
    for (int64_t i = 0; i < vm->n_buckets; i++)
        for (struct global *global = vm->buckets[i]; global;) {
            struct global *next = global->chain;
            struct global **head = &buckets[global->name->hash & (uint64_t)(count - 1)];
            global->chain = *head;
            *head = global;
            global = next;
        }
    vm->buckets = buckets;
    vm->n_buckets = count;
    return true;
}

static struct global *find(struct vm *vm, const char *name, size_t length, uint64_t hash)
{
    struct global *global = vm->buckets[hash & (uint64_t)(vm->n_buckets - 1)];
    for (; global; global = global->chain)
        if (global->name->hash == hash && (size_t)global->name->bytes == length &&
            memcmp(global->name->text, name, length) == 0)
            return global;
    return NULL;
}

struct global *global_named(struct vm *vm, const struct string *name)
{
    struct global *global = find(vm, name->text, (size_t)name->bytes, name->hash);
    if (global)
        return global;
    if (vm->n_globals >= vm->n_buckets && !grow(vm))
        return raise_memory(vm), NULL;
    global = arena_take(&vm->arena, sizeof *global);
    if (!global)
        return raise_memory(vm), NULL;
    struct global **head = &vm->buckets[name->hash & (uint64_t)(vm->n_buckets - 1)];
    *global = (struct global){.name = name, .chain = *head};
    *head = global;
    vm->n_globals++;
    return global;
}

struct global **globals_of(struct vm *vm, struct unit *unit)
{
    if (unit->is_prelude && prelude_globals())
        return prelude_globals();
    struct link **at = &vm->links, *link;
    for (; (link = *at); at = &link->next)
        if (link->unit == unit) {
            *at = link->next; // to the front: the same units call each other
            link->next = vm->links;
            vm->links = link;
            return link->globals;
        }
    size_t bytes = (size_t)unit->n_globals * sizeof(struct global *);
    link = arena_take(&vm->arena, sizeof *link + bytes);
    if (!link)
        return raise_memory(vm), NULL;
    memset(link->globals, 0, bytes);
    link->unit = unit;
    code_reference(unit->main);
    link->next = vm->links;
    vm->links = link;
    return link->globals;
}

// The global behind number n of the frame's unit.
static struct global *global_at(struct vm *vm, struct frame *frame, uint32_t n)
{
    if (!frame->globals[n])
        frame->globals[n] = global_named(vm, frame->code->unit->globals[n]);
    return frame->globals[n];
}

// Asks the user's names, once.
static int look_up(struct vm *vm, struct global *global)
{
    struct value value = {.tag = VALUE_ABSENT};
    if (global->looked_up || global->changed || !vm->options.lookup)
        return OUTCOME_OK;
    if (vm->options.lookup(vm->options.context, vm, global->name->text,
                           (size_t)global->name->bytes, &value,
                           &vm->problem) != STATUS_OK)
        return OUTCOME_ERROR;
    global->looked_up = true;
    global->value = value;
    return OUTCOME_OK;
}

int push_global(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct global *global = global_at(vm, frame, n);
    if (!global)
        return OUTCOME_ERROR;
    if (global->value.tag == VALUE_ABSENT) {
        int outcome = look_up(vm, global);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    const struct string *name = global->name;
    if (global->value.tag == VALUE_ABSENT) {
        global->value = builtin_find(name->text, (size_t)name->bytes, name->hash);
        if (global->value.tag == VALUE_ABSENT)
            global->value = torch_bare_name(name->text, (size_t)name->bytes);
        global->builtin = global->value.tag != VALUE_ABSENT;
    }
    if (global->value.tag == VALUE_ABSENT)
        return raise_undefined(vm, name->text, (size_t)name->bytes);
    *frame->top++ = value_reference(global->value);
    return OUTCOME_OK;
}

// Enters it in the list of changed names.
static bool note_change(struct vm *vm, struct global *global)
{
    if (global->changed)
        return true;
    if (vm->n_changed == vm->changed_capacity) {
        int64_t capacity = vm->changed_capacity ? vm->changed_capacity * 4 : 16;
        struct global **changed =
            arena_take(&vm->arena, (size_t)capacity * sizeof(struct global *));
        if (!changed)
            return false;
        if (vm->n_changed > 0)
            memcpy(changed, vm->changed, (size_t)vm->n_changed * sizeof *changed);
        vm->changed = changed;
        vm->changed_capacity = capacity;
    }
    vm->changed[vm->n_changed++] = global;
    global->changed = true;
    return true;
}

int global_store(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct global *global = global_at(vm, frame, n);
    if (!global || !note_change(vm, global))
        return raise_memory(vm);
    struct value old = global->value;
    global->value = *--frame->top;
    global->builtin = false;
    value_release(old);
    return OUTCOME_OK;
}

int global_delete(struct vm *vm, struct frame *frame, uint32_t n)
{
    struct global *global = global_at(vm, frame, n);
    if (!global)
        return OUTCOME_ERROR;
    if (global->value.tag == VALUE_ABSENT || global->builtin) {
        int outcome = global->builtin ? OUTCOME_OK : look_up(vm, global);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (global->value.tag == VALUE_ABSENT || global->builtin)
            return raise_undefined(vm, global->name->text, (size_t)global->name->bytes);
    }
    if (!note_change(vm, global))
        return raise_memory(vm);
    struct value old = global->value;
    global->value = (struct value){.tag = VALUE_ABSENT};
    value_release(old);
    return OUTCOME_OK;
}

bool vm_next_name(const struct vm *vm, int64_t *position, struct vm_name *out)
{
    if (*position >= vm->n_changed)
        return false;
    const struct global *global = vm->changed[(*position)++];
    out->name = global->name;
    out->value = global->builtin ? (struct value){.tag = VALUE_ABSENT} : global->value;
    return true;
}

enum outcome vm_lookup(struct vm *vm, const char *name, size_t length,
                       struct value *result)
{
    *result = (struct value){.tag = VALUE_ABSENT};
    struct string *string = string_new(vm->heap, name, length, &vm->problem);
    uint64_t hash = 0;
    if (!string || value_hash(value_of(string), &hash, &vm->problem) != STATUS_OK)
        return OUTCOME_ERROR;
    // The table may keep the name: it has to live as long as the machine.
    struct global *global = find(vm, name, length, hash);
    if (!global) {
        struct string *kept = arena_take(&vm->arena, sizeof *kept + length + 1);
        if (kept) {
            memcpy(kept, string, sizeof *kept + length + 1);
            kept->object =
                (struct object){.references = 1, .kind = OBJECT_STRING, .immortal = true};
            global = global_named(vm, kept);
        }
    }
    value_release(value_of(string));
    if (!global)
        return (enum outcome)raise_memory(vm);
    int outcome = look_up(vm, global);
    if (outcome == OUTCOME_OK && !global->builtin)
        *result = value_reference(global->value);
    return (enum outcome)outcome;
}

// ---- The nearest name

int raise_undefined(struct vm *vm, const char *name, size_t length)
{
    static const char *const namespaces[] = {"torch", "np", "nn", "math"};
    struct nearest nearest;
    nearest_begin(&nearest, name, length);
    const char *own = vm->options.nearest == NULL
                          ? NULL
                          : vm->options.nearest(vm->options.context, name);
    if (own != NULL)
        nearest_offer(&nearest, own, strlen(own));
    const struct frame *frame = vm->frame;
    for (int32_t i = 0; i < frame->code->n_slots; i++)
        if (frame->code->slot_names[i] && frame->slots[i].tag != VALUE_ABSENT)
            nearest_offer(&nearest, frame->code->slot_names[i]->text,
                          (size_t)frame->code->slot_names[i]->bytes);
    for (int64_t i = 0; i < vm->n_buckets; i++)
        for (struct global *global = vm->buckets[i]; global; global = global->chain)
            if (global->value.tag != VALUE_ABSENT)
                nearest_offer(&nearest, global->name->text, (size_t)global->name->bytes);
    builtins_offer(&nearest);
    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
        nearest_offer(&nearest, namespaces[i], strlen(namespaces[i]));
    for (int i = 0; i < OP_COUNT; i++)
        nearest_offer(&nearest, op_row((enum op)i)->name,
                      strlen(op_row((enum op)i)->name));
    if (!nearest.name)
        return vm_raise(vm, STATUS_UNDEFINED, "name '%s' is not defined", name);
    vm_raise(vm, STATUS_UNDEFINED, "name '%s' is not defined. Did you mean: '%s'?", name,
             nearest.name);
    snprintf(vm->problem.nearest, sizeof vm->problem.nearest, "%s", nearest.name);
    return OUTCOME_ERROR;
}
