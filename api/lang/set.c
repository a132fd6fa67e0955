// SPDX-License-Identifier: Apache-2.0
// set: a table of CPython's layout, since the order in which a set iterates is the order
// of its table. Probing looks at up to 9 neighbours before it jumps; the table grows when
// three fifths are filled; a new key takes the last deleted place that its search has
// passed. Threads: the program's.
#include "api/lang/container.h"

#include <string.h>

#include "api/lang/sets.h"

enum { SMALLEST = 8, LINEAR_PROBES = 9, PERTURB_SHIFT = 5, LARGE = 50000 };

static bool is_free(const struct set_entry *entry)
{
    return entry->key.tag == VALUE_ABSENT && entry->hash == 0;
}

static enum status ensure_table(struct heap *heap, struct set *set,
                                struct problem *problem)
{
    if (set->table_size > 0)
        return STATUS_OK;
    set->table = heap_resize(heap, NULL, 0, SMALLEST * sizeof *set->table, problem);
    if (!set->table)
        return problem->status;
    memset(set->table, 0, SMALLEST * sizeof *set->table);
    set->table_size = SMALLEST;
    return STATUS_OK;
}

struct set *set_new(struct heap *heap, struct problem *problem)
{
    struct set *set = heap_object(heap, OBJECT_SET, sizeof *set, problem);
    if (set && ensure_table(heap, set, problem) != STATUS_OK) {
        value_release(value_of(set));
        set = NULL;
    }
    return set;
}

// ---- Probing

// How many places beside `slot` are looked at with it.
static uint64_t neighbours(uint64_t slot, uint64_t mask)
{
    return slot + LINEAR_PROBES <= mask ? LINEAR_PROBES : 0;
}

static uint64_t jump(uint64_t slot, uint64_t *perturb, uint64_t mask)
{
    *perturb >>= PERTURB_SHIFT;
    return (slot * 5 + 1 + *perturb) & mask;
}

// The entry of the key; if there is none NULL, and *vacant is where it would go.
static struct set_entry *find_entry(const struct set *set, struct value key,
                                    uint64_t hash, struct set_entry **vacant)
{
    uint64_t mask = (uint64_t)set->table_size - 1, slot = hash & mask, perturb = hash;
    struct set_entry *deleted = NULL;
    *vacant = NULL;
    while (set->table_size > 0) {
        struct set_entry *entry = &set->table[slot];
        for (uint64_t left = neighbours(slot, mask) + 1; left > 0; left--, entry++) {
            if (is_free(entry)) {
                *vacant = deleted ? deleted : entry;
                return NULL;
            }
            if (entry->key.tag == VALUE_ABSENT)
                deleted = entry;
            else if (entry->hash == hash && value_same_key(entry->key, key))
                return entry;
        }
        slot = jump(slot, &perturb, mask);
    }
    return NULL;
}

// Into a table without deleted places, in which the key is not.
static void insert_clean(struct set_entry *table, uint64_t mask, struct value key,
                         uint64_t hash)
{
    uint64_t slot = hash & mask, perturb = hash;
    for (;;) {
        struct set_entry *entry = &table[slot];
        for (uint64_t left = neighbours(slot, mask) + 1; left > 0; left--, entry++) {
            if (entry->key.tag == VALUE_ABSENT) {
                *entry = (struct set_entry){hash, key};
                return;
            }
        }
        slot = jump(slot, &perturb, mask);
    }
}

enum status set_resize(struct heap *heap, struct set *set, int64_t minimum,
                       struct problem *problem)
{
    int64_t size = SMALLEST;
    while (size <= minimum)
        size *= 2;
    struct set_entry *table =
        heap_resize(heap, NULL, 0, (size_t)size * sizeof *table, problem);
    if (!table)
        return problem->status;
    memset(table, 0, (size_t)size * sizeof *table);
    for (int64_t i = 0; i < set->table_size; i++)
        if (set->table[i].key.tag != VALUE_ABSENT)
            insert_clean(table, (uint64_t)size - 1, set->table[i].key,
                         set->table[i].hash);
    heap_resize(heap, set->table, (size_t)set->table_size * sizeof *table, 0, NULL);
    set->table = table;
    set->table_size = size;
    set->fill = set->count;
    return STATUS_OK;
}

// ---- Elements

enum status set_add_hashed(struct heap *heap, struct set *set, struct value key,
                           uint64_t hash, struct problem *problem)
{
    struct set_entry *vacant;
    enum status status = ensure_table(heap, set, problem);
    if (status != STATUS_OK || find_entry(set, key, hash, &vacant))
        return status;
    bool fresh = is_free(vacant);
    *vacant = (struct set_entry){hash, value_reference(key)};
    set->count++;
    if (!fresh)
        return STATUS_OK;
    set->fill++;
    if (set->fill * 5 < (set->table_size - 1) * 3)
        return STATUS_OK;
    status = set_resize(heap, set, set->count > LARGE ? set->count * 2 : set->count * 4,
                        problem);
    if (status != STATUS_OK) { // as if nothing had happened; the table is never full
        *vacant = (struct set_entry){.key.tag = VALUE_ABSENT};
        set->fill--;
        set->count--;
        value_release(key);
    }
    return status;
}

enum status set_add(struct heap *heap, struct set *set, struct value key,
                    struct problem *problem)
{
    uint64_t hash;
    enum status status = value_hash(key, &hash, problem);
    return status == STATUS_OK ? set_add_hashed(heap, set, key, hash, problem) : status;
}

bool set_has_hashed(const struct set *set, struct value key, uint64_t hash)
{
    struct set_entry *vacant;
    return find_entry(set, key, hash, &vacant) != NULL;
}

enum status set_has(const struct set *set, struct value key, bool *has,
                    struct problem *problem)
{
    uint64_t hash;
    enum status status = value_hash(key, &hash, problem);
    *has = status == STATUS_OK && set_has_hashed(set, key, hash);
    return status;
}

static struct value take_entry(struct set *set, struct set_entry *entry)
{
    struct value key = entry->key;
    *entry = (struct set_entry){.hash = 1, .key.tag = VALUE_ABSENT};
    set->count--;
    return key;
}

bool set_remove_hashed(struct set *set, struct value key, uint64_t hash)
{
    struct set_entry *vacant, *entry = find_entry(set, key, hash, &vacant);
    if (!entry)
        return false;
    value_release(take_entry(set, entry));
    return true;
}

enum status set_remove(struct set *set, struct value key, bool *had,
                       struct problem *problem)
{
    uint64_t hash;
    enum status status = value_hash(key, &hash, problem);
    *had = status == STATUS_OK && set_remove_hashed(set, key, hash);
    return status;
}

// Goes on where the last pop found its element, so that emptying a set is linear.
void set_pop(struct set *set, struct value *key)
{
    *key = (struct value){.tag = VALUE_ABSENT};
    if (set->count == 0)
        return;
    int64_t slot = set->finger & (set->table_size - 1);
    while (set->table[slot].key.tag == VALUE_ABSENT)
        slot = slot + 1 < set->table_size ? slot + 1 : 0;
    *key = take_entry(set, &set->table[slot]);
    set->finger = slot + 1;
}

// Also when the heap takes a set apart, so the table goes; the next element brings a new
// one.
void set_clear(struct heap *heap, struct set *set)
{
    struct set_entry *table = set->table;
    int64_t size = set->table_size;
    set->table = NULL;
    set->count = set->fill = set->table_size = 0; // the finger stays, as in CPython
    for (int64_t i = 0; i < size; i++)
        value_release(table[i].key);
    if (table)
        heap_resize(heap, table, (size_t)size * sizeof *table, 0, NULL);
}

struct set_entry *set_next(const struct set *set, int64_t *position)
{
    while (*position < set->table_size) {
        struct set_entry *entry = &set->table[(*position)++];
        if (entry->key.tag != VALUE_ABSENT)
            return entry;
    }
    return NULL;
}

enum status set_merge(struct heap *heap, struct set *set, const struct set *other,
                      struct problem *problem)
{
    if (other == set || other->count == 0)
        return STATUS_OK;
    enum status status = ensure_table(heap, set, problem);
    if (status == STATUS_OK &&
        (set->fill + other->count) * 5 >= (set->table_size - 1) * 3)
        status = set_resize(heap, set, (set->count + other->count) * 2, problem);
    if (status != STATUS_OK)
        return status;
    // Into an empty table keys go without a search; from a clean one of the same size
    // they keep their places.
    bool clean = set->fill == 0;
    bool same =
        clean && set->table_size == other->table_size && other->fill == other->count;
    for (int64_t i = 0; i < other->table_size && status == STATUS_OK; i++) {
        const struct set_entry *entry = &other->table[i];
        if (entry->key.tag == VALUE_ABSENT)
            continue;
        if (!clean) {
            status = set_add_hashed(heap, set, entry->key, entry->hash, problem);
            continue;
        }
        value_reference(entry->key);
        if (same)
            set->table[i] = *entry;
        else
            insert_clean(set->table, (uint64_t)set->table_size - 1, entry->key,
                         entry->hash);
        set->fill++;
        set->count++;
    }
    return status;
}
