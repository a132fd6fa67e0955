// SPDX-License-Identifier: Apache-2.0
// Name spaces, looking names up, renaming, attributes, expiry. The head of registry.h
// says what is promised and how it is kept; registry_internal.h names the other files.
#include "tensor/registry_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct registry {
    pthread_mutex_t mutex; // guards the list; spaces live as long as the registry
    struct name_space *spaces;
};

enum { FIRST_BUCKETS = 16, NEAREST_CANDIDATES = 2000 };

double registry_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// ---- Registry and spaces
enum status registry_create(struct registry **out, struct problem *problem)
{
    struct registry *registry = calloc(1, sizeof *registry);
    if (!registry)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for the registry");
    pthread_mutex_init(&registry->mutex, NULL);
    *out = registry;
    return STATUS_OK;
}

static void space_free(struct name_space *space)
{
    struct entry *removed = NULL;
    while (space->head[0])
        space_remove(space, space->head[0], &removed);
    entries_free(removed);
    predictions_free(space);
    free(space->buckets);
    free(space->heap);
    free(space->predicted);
    pthread_mutex_destroy(&space->mutex);
    free(space);
}

void registry_free(struct registry *registry)
{
    if (!registry)
        return;
    while (registry->spaces) {
        struct name_space *space = registry->spaces;
        registry->spaces = space->next;
        space_free(space);
    }
    pthread_mutex_destroy(&registry->mutex);
    free(registry);
}

static struct name_space *space_create(const char *owner)
{
    size_t size = strlen(owner) + 1;
    struct name_space *space = calloc(1, sizeof *space + size);
    if (!space)
        return NULL;
    memcpy(space->owner, owner, size);
    pthread_mutex_init(&space->mutex, NULL);
    space->n_buckets = space->n_predicted_buckets = FIRST_BUCKETS;
    space->buckets = calloc(FIRST_BUCKETS, sizeof *space->buckets);
    space->predicted = calloc(FIRST_BUCKETS, sizeof *space->predicted);
    bool seeded = getrandom(space->key, sizeof space->key, 0) == sizeof space->key;
    space->random = space->key[0] | 1;
    if (space->buckets && space->predicted && seeded)
        return space;
    space_free(space);
    return NULL;
}

enum status registry_space(struct registry *registry, const char *owner,
                           struct name_space **out, struct problem *problem)
{
    pthread_mutex_lock(&registry->mutex);
    struct name_space *space = registry->spaces;
    while (space && strcmp(space->owner, owner) != 0)
        space = space->next;
    if (!space && (space = space_create(owner))) {
        space->next = registry->spaces;
        registry->spaces = space;
    }
    pthread_mutex_unlock(&registry->mutex);
    if (!space)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for the names of \"%s\"", owner);
    *out = space;
    return STATUS_OK;
}

// ---- Entries as the other files see them
struct entry *space_find(struct name_space *space, const char *name, size_t length,
                         uint64_t hash)
{
    struct entry *entry = entry_find(space, name, length, hash);
    return entry && (entry->expires == 0 || entry_visible(entry, registry_now())) ? entry
                                                                                  : NULL;
}

bool space_remove_at(struct name_space *space, struct place *place,
                     struct entry **removed)
{
    struct entry *entry = place_entry(place);
    entry_remove_at(space, place);
    entry->chain = *removed;
    *removed = entry;
    return entry->tensor && storage_unlink(entry->tensor->storage, &entry->link);
}

bool space_remove(struct name_space *space, struct entry *entry, struct entry **removed)
{
    struct place place;
    entry_seek(space, entry_name(entry), false, &place);
    return space_remove_at(space, &place, removed);
}

void space_remove_expired(struct name_space *space, double now, struct entry **removed)
{
    while (space->heap_count > 0 && !entry_visible(space->heap[0], now))
        space_remove(space, space->heap[0], removed);
}

void entries_free(struct entry *removed)
{
    while (removed) {
        struct entry *entry = removed;
        removed = entry->chain;
        tensor_release(entry->tensor);
        named_release(entry->object);
        free(entry);
    }
}

struct entry *space_module_above(struct name_space *space, const char *name,
                                 size_t length)
{
    for (size_t i = 1; i < length; i++) {
        if (name[i] != '.')
            continue;
        struct entry *entry = space_find(space, name, i, space_hash(space, name, i));
        if (entry && entry_kind(entry) == NAME_MODULE)
            return entry;
    }
    return NULL;
}

const char *name_kind_text(enum name_kind kind)
{
    static const char *const texts[NAME_KINDS] = {"tensor", "module", "function",
                                                  "value"};
    return texts[kind];
}

struct named *named_reference(struct named *named)
{
    atomic_fetch_add_explicit(&named->references, 1, memory_order_relaxed);
    return named;
}

void named_release(struct named *named)
{
    if (named &&
        atomic_fetch_sub_explicit(&named->references, 1, memory_order_acq_rel) == 1)
        named->free(named);
}

void entry_export(const struct entry *entry, struct binding *out)
{
    memcpy(out->name, entry_name(entry), (size_t)entry->length + 1);
    out->kind = entry_kind(entry);
    out->flags = entry->flags;
    out->parameter = entry->owner_length > 0;
    out->tensor = entry->tensor ? tensor_reference(entry->tensor) : NULL;
    out->object = entry->object ? named_reference(entry->object) : NULL;
    out->serial = entry->serial;
    out->writes = entry->tensor ? storage_writes(entry->tensor->storage) : 0;
    double written = entry->tensor ? storage_modified(entry->tensor->storage) : 0;
    out->created = entry->created;
    out->modified = written > entry->modified ? written : entry->modified;
    out->readonly = entry->readonly;
    out->pinned = entry->pinned;
    out->expires = entry->expires;
}

// The closest visible name within a few edits, or NULL. Only the first names are looked
// at.
static const char *nearest_name(struct name_space *space, const char *name, size_t length)
{
    int limit = length < 5 ? 1 : length < 8 ? 2 : 3;
    double now = registry_now();
    const struct entry *entry = space->head[0];
    const char *nearest = NULL;
    for (int i = 0; entry && limit >= 0 && i < NEAREST_CANDIDATES;
         i++, entry = entry->next[0]) {
        int distance =
            name_distance(name, length, entry_name(entry), entry->length, limit);
        if (distance > limit || !entry_visible(entry, now))
            continue;
        nearest = entry_name(entry);
        limit = distance - 1;
    }
    return nearest;
}

enum status space_undefined(struct name_space *space, const char *name,
                            struct problem *problem)
{
    size_t length = strnlen(name, NAME_MAX_LENGTH + 1);
    const struct entry *other =
        space_find(space, name, length, space_hash(space, name, length));
    if (other)
        return problem_set(problem, STATUS_UNDEFINED, "\"%.128s\" is a %s, not a tensor",
                           name, name_kind_text(entry_kind(other)));
    const char *nearest =
        length <= NAME_MAX_LENGTH ? nearest_name(space, name, length) : NULL;
    problem_set(problem, STATUS_UNDEFINED, "no tensor is named \"%.128s\"%s%s%s", name,
                nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                nearest ? "\"?" : "");
    if (nearest)
        snprintf(problem->nearest, sizeof problem->nearest, "%s", nearest);
    return STATUS_UNDEFINED;
}

// ---- The interface
static bool look_up(struct name_space *space, const char *name, unsigned kinds,
                    struct binding *out)
{
    size_t length = strnlen(name, NAME_MAX_LENGTH + 1);
    uint64_t hash = space_hash(space, name, length);
    pthread_mutex_lock(&space->mutex);
    const struct entry *entry = space_find(space, name, length, hash);
    if (entry && !(kinds >> entry_kind(entry) & 1))
        entry = NULL;
    if (entry)
        entry_export(entry, out);
    pthread_mutex_unlock(&space->mutex);
    return entry != NULL;
}

bool registry_lookup(struct name_space *space, const char *name, struct binding *out)
{
    return look_up(space, name, 1 << NAME_TENSOR, out);
}

bool registry_lookup_any(struct name_space *space, const char *name, struct binding *out)
{
    return look_up(space, name, ALL_NAMES, out);
}

enum status registry_find(struct name_space *space, const char *name, struct binding *out,
                          struct problem *problem)
{
    if (registry_lookup(space, name, out))
        return STATUS_OK;
    pthread_mutex_lock(&space->mutex);
    enum status status = space_undefined(space, name, problem);
    pthread_mutex_unlock(&space->mutex);
    return status;
}

void binding_release(struct binding *binding)
{
    tensor_release(binding->tensor);
    named_release(binding->object);
    binding->tensor = NULL;
    binding->object = NULL;
}

// Gives an entry that is in no structure the content of `old`, and its place in all of
// them.
static void replace_entry(struct name_space *space, struct entry *old,
                          struct entry *entry)
{
    double expires = old->expires;
    entry->tensor = old->tensor;
    entry->serial = old->serial;
    entry->created = old->created;
    entry->modified = old->modified;
    entry->readonly = old->readonly;
    entry->pinned = old->pinned;
    entry->flags = old->flags;
    entry_remove(space, old); // leaves room in the heap
    entry_insert(space, entry);
    if (expires != 0)
        expiry_set(space, entry, expires);
    // The new link first: the storage is never without a name.
    storage_link(entry->tensor->storage, &entry->link);
    storage_unlink(entry->tensor->storage, &old->link);
    free(old);
}

enum status registry_rename(struct name_space *space, const char *from, const char *to,
                            struct problem *problem)
{
    size_t from_length = strnlen(from, NAME_MAX_LENGTH + 1), to_length = strlen(to);
    if (to_length > NAME_MAX_LENGTH)
        return name_check(to, to_length, problem);
    uint64_t from_hash = space_hash(space, from, from_length),
             to_hash = space_hash(space, to, to_length);
    struct entry *removed = NULL, *entry = NULL;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&space->mutex);
    space_remove_expired(space, registry_now(), &removed);
    struct entry *old = entry_find(space, from, from_length, from_hash);
    if (!old || !old->tensor)
        status = space_undefined(space, from, problem);
    else if (strcmp(from, to) == 0)
        status = STATUS_OK;
    else if (old->owner_length > 0 || space_module_above(space, to, to_length))
        status = problem_set(problem, STATUS_CONFLICT,
                             "\"%s\" is a parameter of a module: its name goes with it",
                             old->owner_length > 0 ? from : to);
    else if (entry_find(space, to, to_length, to_hash))
        status = problem_set(problem, STATUS_CONFLICT, "the name \"%s\" is taken", to);
    else if (!(entry = entry_create(space, to, to_length, to_hash)))
        status = problem_set(problem, STATUS_OUT_OF_MEMORY, "no host memory for a name");
    else
        replace_entry(space, old, entry);
    pthread_mutex_unlock(&space->mutex);
    entries_free(removed);
    return status;
}

enum status registry_set_attributes(struct name_space *space, const char *name,
                                    const struct registry_attributes *attributes,
                                    struct problem *problem)
{
    size_t length = strnlen(name, NAME_MAX_LENGTH + 1);
    uint64_t hash = space_hash(space, name, length);
    enum status status = STATUS_OK;
    pthread_mutex_lock(&space->mutex);
    struct entry *entry = space_find(space, name, length, hash);
    if (!entry || !entry->tensor)
        status = space_undefined(space, name, problem);
    else if (attributes->set_expires && attributes->expires != 0 &&
             !expiry_reserve(space))
        status = problem_set(problem, STATUS_OUT_OF_MEMORY,
                             "no host memory for an expiry time");
    else {
        if (attributes->set_readonly)
            entry->readonly = attributes->readonly;
        if (attributes->set_pinned)
            entry->pinned = attributes->pinned;
        if (attributes->set_expires)
            expiry_set(space, entry, attributes->expires);
    }
    pthread_mutex_unlock(&space->mutex);
    return status;
}

double registry_expire(struct name_space *space, double now)
{
    struct entry *removed = NULL;
    pthread_mutex_lock(&space->mutex);
    space_remove_expired(space, now, &removed);
    double next = space->heap_count > 0 ? space->heap[0]->expires : 0;
    pthread_mutex_unlock(&space->mutex);
    entries_free(removed);
    return next;
}
