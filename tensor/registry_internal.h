// SPDX-License-Identifier: Apache-2.0
// What the registry's files share: the entry of a name, its name space, and the three
// structures over entries: a hash table (find), a skip list in bytewise order (list,
// prefixes) and a heap of expiry times.
//
//   registry.c           spaces, find, rename, attributes
//   registry_commit.c    the one step
//   registry_list.c      listings, shared_with, deletion by prefix
//   registry_order.c     predicted groups
//   registry_entries.c   the structures; knows nothing of tensors
//   names.c              what a name may be; the nearest one
//
// Every function here that takes a space wants its mutex held.
#ifndef TENSORD_TENSOR_REGISTRY_INTERNAL_H
#define TENSORD_TENSOR_REGISTRY_INTERNAL_H

#include <pthread.h>
#include <stddef.h>

#include "tensor/registry.h"

enum {
    SKIP_LEVELS = 16
}; // a quarter of each level reaches the next: enough for 4^16 names

struct entry {
    struct entry *chain; // of the bucket; of a list of removed entries afterwards
    struct name_space *space;
    struct storage_link link; // in tensor->storage
    struct tensor *tensor;    // a reference; NULL if it is no tensor
    struct named *object;     // a reference; NULL for a tensor
    uint8_t flags;            // enum name_flags
    uint8_t owner_length;     // of the module's name that this is a parameter of; 0: none
    uint64_t hash, serial;
    double created, modified, expires;
    int64_t heap_position; // -1: not in the heap
    bool readonly, pinned;
    uint8_t height;
    uint8_t length;
    struct entry *next[]; // height pointers, then the name with its terminator
};

// A prediction, in its name's list from oldest to latest.
struct prediction {
    struct prediction *next, *previous;
    uint64_t group;
    bool used; // a commit has bound the name accordingly
};
struct predicted_name {
    struct predicted_name *chain;
    uint64_t hash;
    struct prediction *oldest, *latest;
    char name[];
};

struct name_space {
    struct name_space *next; // of the registry
    pthread_mutex_t mutex;
    uint64_t key[2]; // of the hash
    uint64_t random; // state of the skip list's coin
    int64_t count;
    struct entry **buckets;
    size_t n_buckets; // a power of two
    struct entry *head[SKIP_LEVELS];
    struct entry **heap; // smallest expiry first
    int64_t heap_count, heap_capacity;
    struct predicted_name **predicted;
    size_t n_predicted_buckets, n_predicted;
    char owner[];
};

static inline const char *entry_name(const struct entry *entry)
{
    return (const char *)&entry->next[entry->height];
}

// Seconds since the epoch.
double registry_now(void);

static inline enum name_kind entry_kind(const struct entry *entry)
{
    return entry->object ? entry->object->kind : NAME_TENSOR;
}

// ---- registry_entries.c SipHash-1-3 under the space's key: clients choose names, so
// buckets must not be theirs to choose.
uint64_t space_hash(const struct name_space *space, const char *name, size_t length);
// NULL when memory is out. Not in any structure yet. length <= NAME_MAX_LENGTH.
struct entry *entry_create(struct name_space *space, const char *name, size_t length,
                           uint64_t hash);
// Finds whatever is there, expired or not.
struct entry *entry_find(const struct name_space *space, const char *name, size_t length,
                         uint64_t hash);
// Cannot fail: if the table cannot grow, chains do.
void entry_insert(struct name_space *space, struct entry *entry);
// Takes the entry out of table, order and heap.
void entry_remove(struct name_space *space, struct entry *entry);
// A place between entries: the links that lead to the first entry after it, one per
// level.
struct place {
    struct entry **links[SKIP_LEVELS];
};
static inline struct entry *place_entry(const struct place *place) // NULL at the end
{
    return *place->links[0];
}
// The place before the first entry at or (strict) after name.
void entry_seek(struct name_space *space, const char *name, bool strict,
                struct place *place);
// Removes place_entry; the place then is before the next one, so a range goes without
// searching.
void entry_remove_at(struct name_space *space, struct place *place);
// Room for one more in the heap; false when memory is out.
bool expiry_reserve(struct name_space *space);
// Sets entry->expires and its place in the heap (reserved if it had none).
void expiry_set(struct name_space *space, struct entry *entry, double expires);

// ---- registry.c
static inline bool entry_visible(const struct entry *entry, double now)
{
    return entry->expires == 0 || entry->expires > now;
}
// The visible entry of name, or NULL. Reads the clock only if it must.
struct entry *space_find(struct name_space *space, const char *name, size_t length,
                         uint64_t hash);
// Removes an entry and adds it to *removed; entries_free releases these once no lock is
// held. True if its storage has no name left.
bool space_remove(struct name_space *space, struct entry *entry, struct entry **removed);
bool space_remove_at(struct name_space *space, struct place *place,
                     struct entry **removed);
void space_remove_expired(struct name_space *space, double now, struct entry **removed);
void entries_free(struct entry *removed);
// Fills a binding; the tensor gets a reference.
void entry_export(const struct entry *entry, struct binding *out);
// The module whose parameters' names begin with a part of this one, or NULL; *length is
// that of the module's name.
struct entry *space_module_above(struct name_space *space, const char *name,
                                 size_t length);
// STATUS_UNDEFINED with the nearest name, or with what the name is if it is no tensor.
enum status space_undefined(struct name_space *space, const char *name,
                            struct problem *problem);

// ---- registry_order.c The group of the oldest prediction of name that no commit has
// used, which is used now (or, if group is not 0, that prediction); 0 if there is none.
uint64_t prediction_use(struct name_space *space, const char *name, uint64_t hash,
                        uint64_t group);
void predictions_free(struct name_space *space);

#endif
