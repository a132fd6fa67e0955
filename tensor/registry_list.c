// SPDX-License-Identifier: Apache-2.0
// Several names at once: pages in bytewise order, the names of one storage, deletion by
// prefix.
#include <stdlib.h>
#include <string.h>

#include "tensor/registry_internal.h"

static bool has_prefix(const struct entry *entry, const char *prefix, size_t length)
{
    return entry->length >= length && memcmp(entry_name(entry), prefix, length) == 0;
}

// The first entry from here on of these kinds, or NULL behind the prefix.
static const struct entry *first_of(const struct entry *entry, unsigned kinds,
                                    const char *prefix, size_t length)
{
    while (entry && has_prefix(entry, prefix, length)) {
        if (kinds >> entry_kind(entry) & 1)
            return entry;
        entry = entry->next[0];
    }
    return NULL;
}

// Copies at most limit bindings from entry on. With the mutex held.
static enum status copy_page(const struct name_space *space, const struct entry *entry,
                             unsigned kinds, const char *prefix, int limit,
                             struct binding **out, int *count, bool *more,
                             struct problem *problem)
{
    size_t length = strlen(prefix);
    int64_t room = limit < space->count ? limit : space->count;
    struct binding *bindings = NULL;
    if (room > 0 && entry && !(bindings = malloc((size_t)room * sizeof *bindings)))
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for a list of names");
    int n = 0;
    entry = first_of(entry, kinds, prefix, length);
    for (; entry && n < room; entry = first_of(entry->next[0], kinds, prefix, length))
        entry_export(entry, &bindings[n++]);
    *more = entry != NULL;
    *out = bindings;
    *count = n;
    return STATUS_OK;
}

enum status registry_list(struct name_space *space, unsigned kinds, const char *prefix,
                          const char *after, int limit, struct binding **out, int *count,
                          bool *more, struct problem *problem)
{
    struct entry *removed = NULL;
    pthread_mutex_lock(&space->mutex);
    space_remove_expired(space, registry_now(), &removed);
    bool inside = after && strcmp(after, prefix) >= 0;
    struct place place;
    entry_seek(space, inside ? after : prefix, inside, &place);
    enum status status = copy_page(space, place_entry(&place), kinds, prefix,
                                   limit > 0 ? limit : 0, out, count, more, problem);
    pthread_mutex_unlock(&space->mutex);
    entries_free(removed);
    return status;
}

void binding_array_free(struct binding *bindings, int count)
{
    for (int i = 0; i < count; i++)
        binding_release(&bindings[i]);
    free(bindings);
}

// ---- The names of one storage
struct sharing {
    const struct name_space *space;
    const char *except;
    double now;   // 0: not asked yet
    char **names; // NULL while counting
    int count;
    bool failed;
};

static void collect_name(void *context, struct storage_link *link)
{
    struct sharing *sharing = context;
    const struct entry *entry =
        (const struct entry *)((const char *)link - offsetof(struct entry, link));
    if (entry->space != sharing->space ||
        (sharing->except && strcmp(entry_name(entry), sharing->except) == 0))
        return;
    if (entry->expires != 0 && sharing->now == 0)
        sharing->now = registry_now();
    if (!entry_visible(entry, sharing->now))
        return;
    if (sharing->names && !(sharing->names[sharing->count] = strdup(entry_name(entry)))) {
        sharing->failed = true;
        return;
    }
    sharing->count++;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum status registry_shared_with(struct name_space *space, const struct storage *storage,
                                 const char *except, char ***out, int *count,
                                 struct problem *problem)
{
    struct sharing sharing = {.space = space, .except = except};
    struct storage *locked =
        (struct storage *)storage;     // its mutex is taken, nothing changes
    pthread_mutex_lock(&space->mutex); // no entry of the space is linked or unlinked
    storage_each_link(locked, collect_name, &sharing);
    if (sharing.count > 0) {
        sharing.names = malloc((size_t)sharing.count * sizeof *sharing.names);
        sharing.failed = !sharing.names;
        sharing.count = 0;
    }
    if (sharing.names)
        storage_each_link(locked, collect_name, &sharing);
    pthread_mutex_unlock(&space->mutex);
    if (sharing.failed) {
        for (int i = 0; i < sharing.count; i++)
            free(sharing.names[i]);
        free(sharing.names);
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for a list of names");
    }
    if (sharing.count > 1)
        qsort(sharing.names, (size_t)sharing.count, sizeof *sharing.names, compare_names);
    *out = sharing.names;
    *count = sharing.count;
    return STATUS_OK;
}

struct readonly_search {
    const struct name_space *space;
    double now;
    bool found;
};

static void find_readonly(void *context, struct storage_link *link)
{
    struct readonly_search *search = context;
    const struct entry *entry =
        (const struct entry *)((const char *)link - offsetof(struct entry, link));
    if (entry->space == search->space && entry->readonly &&
        entry_visible(entry, search->now))
        search->found = true;
}

bool registry_readonly(struct name_space *space, const struct storage *storage)
{
    struct readonly_search search = {.space = space};
    pthread_mutex_lock(&space->mutex); // as in registry_shared_with
    search.now = registry_now();
    storage_each_link((struct storage *)storage, find_readonly, &search);
    pthread_mutex_unlock(&space->mutex);
    return search.found;
}

// ---- Deletion and count
static enum status check_parameters(const struct entry *entry, const char *prefix,
                                    size_t length, struct problem *problem)
{
    for (; entry && has_prefix(entry, prefix, length); entry = entry->next[0])
        if (entry->owner_length > 0)
            return problem_set(problem, STATUS_CONFLICT,
                               "\"%s\" is a parameter of the module \"%.*s\": delete "
                               "that (DELETE /v1/names/%.*s)",
                               entry_name(entry), (int)entry->owner_length,
                               entry_name(entry), (int)entry->owner_length,
                               entry_name(entry));
    return STATUS_OK;
}

enum status registry_delete_prefix(struct name_space *space, const char *prefix,
                                   int64_t *count, int64_t *bytes,
                                   struct problem *problem)
{
    size_t length = strlen(prefix);
    struct entry *removed = NULL, *expired = NULL;
    int64_t deleted = 0, freed = 0;
    pthread_mutex_lock(&space->mutex);
    space_remove_expired(space, registry_now(), &expired);
    struct place place;
    entry_seek(space, prefix, false, &place);
    enum status status = check_parameters(place_entry(&place), prefix, length, problem);
    for (struct entry *entry; status == STATUS_OK && (entry = place_entry(&place)) &&
                              has_prefix(entry, prefix, length);) {
        if (!entry->tensor) {
            entry_seek(space, entry_name(entry), true, &place);
            continue;
        }
        int64_t size = storage_bytes(entry->tensor->storage);
        if (space_remove_at(space, &place, &removed))
            freed += size;
        deleted++;
    }
    pthread_mutex_unlock(&space->mutex);
    entries_free(removed);
    entries_free(expired);
    *count = deleted;
    *bytes = freed;
    return status;
}

int64_t registry_count(struct name_space *space)
{
    struct entry *removed = NULL;
    pthread_mutex_lock(&space->mutex);
    space_remove_expired(space, registry_now(), &removed);
    int64_t count = space->count;
    pthread_mutex_unlock(&space->mutex);
    entries_free(removed);
    return count;
}
