// SPDX-License-Identifier: Apache-2.0
// The commit: everything a request changes, in one step.
//
//   1. under the mutex, prepare: hashes, and an entry for every name that is not there
//   yet. This may fail, and then
//      nothing has happened.
//   2. still under it, apply: swap the written blocks in, bind and delete names; names
//   below a module that its new binding does not have go. This cannot fail.
//   3. without it, let go: tensors and blocks that were replaced, and the news for
//   waiting admissions.
#include <stdlib.h>
#include <string.h>

#include "tensor/registry_internal.h"

enum { STEPS_ON_STACK = 8 };

// One change or one write on its way.
struct step {
    uint64_t hash;
    size_t length;
    struct entry *prepared;
    bool was_module;
    struct tensor *old_tensor;
    struct named *old_object;
    struct block *old_block;
};

static _Atomic uint64_t next_serial = 1;

static bool binds(const struct registry_change *change)
{
    return change->tensor || change->object;
}

// Parameters are bound and deleted with their module alone.
static enum status check_module(struct name_space *space,
                                const struct registry_change *change,
                                const struct step *step, struct problem *problem)
{
    const struct entry *entry = entry_find(space, change->name, step->length, step->hash);
    if (change->parameter) {
        if (!entry || entry->owner_length > 0)
            return STATUS_OK;
        return problem_set(problem, STATUS_CONFLICT,
                           "a module's parameter would be named \"%s\", and that is a %s "
                           "already: delete or rename it first",
                           change->name, name_kind_text(entry_kind(entry)));
    }
    const struct entry *module = entry && entry->owner_length > 0 ? entry : NULL;
    if (!module && binds(change))
        module = space_module_above(space, change->name, step->length);
    if (!module)
        return STATUS_OK;
    int length = module == entry ? entry->owner_length : module->length;
    return problem_set(
        problem, STATUS_CONFLICT,
        "\"%s\" belongs to the module \"%.*s\": its elements can be written "
        "(PUT of the same shape and dtype), its name goes with the module",
        change->name, length, change->name);
}

static enum status prepare(struct name_space *space, const struct registry_commit *commit,
                           struct step *steps, struct problem *problem)
{
    // A name that the same commit deletes before it binds it needs an entry though it is
    // there.
    bool deletes = false;
    for (int i = 0; i < commit->n_changes; i++) {
        const struct registry_change *change = &commit->changes[i];
        struct step *step = &steps[i];
        step->length = strnlen(change->name, NAME_MAX_LENGTH + 1);
        if (step->length > NAME_MAX_LENGTH)
            return name_check(change->name, strlen(change->name), problem);
        step->hash = space_hash(space, change->name, step->length);
        enum status status = check_module(space, change, step, problem);
        if (status != STATUS_OK)
            return status;
        deletes |= !binds(change);
        if (!binds(change) ||
            (!deletes && entry_find(space, change->name, step->length, step->hash)))
            continue;
        step->prepared = entry_create(space, change->name, step->length, step->hash);
        if (!step->prepared)
            return problem_set(problem, STATUS_OUT_OF_MEMORY,
                               "no host memory for a name");
    }
    return STATUS_OK;
}

static void bind(struct name_space *space, const struct registry_change *change,
                 struct step *step, struct entry *entry, double now)
{
    struct storage *storage = change->tensor ? change->tensor->storage : NULL;
    uint64_t group = prediction_use(space, change->name, step->hash, change->group);
    if (group != 0 && storage)
        storage_adopt_group(storage, group);
    if (!entry) {
        entry = step->prepared;
        step->prepared = NULL;
        entry->created = now;
        entry_insert(space, entry);
    } else if (!change->keep_attributes) {
        entry->readonly = entry->pinned = false;
        expiry_set(space, entry, 0);
    }
    struct tensor *old = entry->tensor;
    step->old_object = entry->object;
    entry->tensor = storage ? tensor_reference(change->tensor) : NULL;
    entry->object = storage ? NULL : named_reference(change->object);
    entry->serial = atomic_fetch_add_explicit(&next_serial, 1, memory_order_relaxed);
    entry->modified = now;
    entry->owner_length = 0;
    entry->flags = change->flags;
    step->old_tensor = old;
    if (old && old->storage == storage)
        return;
    if (old)
        storage_unlink(old->storage, &entry->link);
    if (storage)
        storage_link(storage, &entry->link);
}

// Notes whose parameter the entry is; the module has been bound before.
static void adopt(struct name_space *space, const struct registry_change *change,
                  const struct step *step)
{
    struct entry *entry = entry_find(space, change->name, step->length, step->hash);
    const struct entry *module = space_module_above(space, change->name, step->length);
    if (entry && module)
        entry->owner_length = module->length;
}

// Parameters of a module that is gone or has been bound anew in this commit: those that
// the commit did not bind.
static void remove_stale(struct name_space *space, const char *module, size_t length,
                         uint64_t first_serial, struct entry **removed)
{
    struct place place;
    char prefix[NAME_MAX_LENGTH + 2];
    memcpy(prefix, module, length);
    memcpy(prefix + length, ".", 2);
    entry_seek(space, prefix, false, &place);
    for (struct entry *entry; (entry = place_entry(&place)) &&
                              strncmp(entry_name(entry), prefix, length + 1) == 0;) {
        if (entry->owner_length == length && entry->serial < first_serial)
            space_remove_at(space, &place, removed);
        else
            entry_seek(space, entry_name(entry), true, &place);
    }
}

static void apply(struct name_space *space, const struct registry_commit *commit,
                  struct step *steps, double now, struct entry **removed)
{
    for (int i = 0; i < commit->n_writes; i++) {
        const struct registry_write *write = &commit->writes[i];
        if (write->block)
            steps[commit->n_changes + i].old_block =
                storage_exchange(write->storage, write->block);
    }
    uint64_t first_serial = atomic_load_explicit(&next_serial, memory_order_relaxed);
    for (int i = 0; i < commit->n_changes; i++) {
        const struct registry_change *change = &commit->changes[i];
        struct entry *entry =
            entry_find(space, change->name, steps[i].length, steps[i].hash);
        steps[i].was_module = entry && entry_kind(entry) == NAME_MODULE;
        if (binds(change))
            bind(space, change, &steps[i], entry, now);
        else if (entry)
            space_remove(space, entry, removed);
        if (change->parameter)
            adopt(space, change, &steps[i]);
    }
    for (int i = 0; i < commit->n_changes; i++)
        if (steps[i].was_module)
            remove_stale(space, commit->changes[i].name, steps[i].length, first_serial,
                         removed);
}

static void let_go(const struct registry_commit *commit, struct step *steps, bool done)
{
    for (int i = 0; i < commit->n_changes + commit->n_writes; i++) {
        free(steps[i].prepared);
        tensor_release(steps[i].old_tensor);
        named_release(steps[i].old_object);
        block_release(steps[i].old_block);
    }
    for (int i = 0; done && i < commit->n_changes; i++)
        if (commit->changes[i].tensor)
            storage_announce(commit->changes[i].tensor->storage);
}

enum status registry_commit(struct name_space *space,
                            const struct registry_commit *commit, struct problem *problem)
{
    struct step on_stack[STEPS_ON_STACK], *steps = on_stack;
    size_t n_steps = (size_t)commit->n_changes + (size_t)commit->n_writes;
    if (n_steps > STEPS_ON_STACK && !(steps = malloc(n_steps * sizeof *steps)))
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "no host memory for a commit");
    memset(steps, 0, n_steps * sizeof *steps);
    struct entry *removed = NULL;
    double now = registry_now();
    pthread_mutex_lock(&space->mutex);
    space_remove_expired(space, now,
                         &removed); // so that every entry that is found counts
    enum status status = prepare(space, commit, steps, problem);
    if (status == STATUS_OK)
        apply(space, commit, steps, now, &removed);
    pthread_mutex_unlock(&space->mutex);
    let_go(commit, steps, status == STATUS_OK);
    entries_free(removed);
    if (steps != on_stack)
        free(steps);
    return status;
}
