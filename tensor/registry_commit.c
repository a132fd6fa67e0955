// SPDX-License-Identifier: Apache-2.0
// The commit: everything a request changes, in one step.
//
//   1. under the mutex, prepare: hashes, and an entry for every name that is not there
//   yet. This may fail, and then
//      nothing has happened.
//   2. still under it, apply: swap the written blocks in, bind and delete names. This
//   cannot fail.
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
    struct tensor *old_tensor;
    struct block *old_block;
};

static _Atomic uint64_t next_serial = 1;

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
        deletes |= !change->tensor;
        if (!change->tensor ||
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
    struct storage *storage = change->tensor->storage;
    uint64_t group = prediction_use(space, change->name, step->hash, change->group);
    if (group != 0)
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
    entry->tensor = tensor_reference(change->tensor);
    entry->serial = atomic_fetch_add_explicit(&next_serial, 1, memory_order_relaxed);
    entry->modified = now;
    step->old_tensor = old;
    if (old && old->storage == storage)
        return;
    if (old)
        storage_unlink(old->storage, &entry->link);
    storage_link(storage, &entry->link);
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
    for (int i = 0; i < commit->n_changes; i++) {
        const struct registry_change *change = &commit->changes[i];
        struct entry *entry =
            entry_find(space, change->name, steps[i].length, steps[i].hash);
        if (change->tensor)
            bind(space, change, &steps[i], entry, now);
        else if (entry)
            space_remove(space, entry, removed);
    }
}

static void let_go(const struct registry_commit *commit, struct step *steps, bool done)
{
    for (int i = 0; i < commit->n_changes + commit->n_writes; i++) {
        free(steps[i].prepared);
        tensor_release(steps[i].old_tensor);
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
