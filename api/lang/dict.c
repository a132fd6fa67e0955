// SPDX-License-Identifier: Apache-2.0
// dict: entries in the order of insertion, and a table of indices into them (open
// addressing, perturbed probing). When two thirds of the table are not free, or the
// entries are all used, both are made anew without the deleted ones. Threads: the
// program's.
#include "api/lang/container.h"

#include <string.h>

#include "api/lang/sets.h"
#include "api/lang/strings.h"

enum { FREE = -1, DELETED = -2, SMALLEST = 8, PERTURB_SHIFT = 5 };
static const int64_t largest = (int64_t)1 << 31; // table indices have 32 bits

static int64_t room(int64_t table_size)
{
    return table_size * 2 / 3;
}

struct dict *dict_new(struct heap *heap, struct problem *problem)
{
    return heap_object(heap, OBJECT_DICT, sizeof(struct dict), problem);
}

struct probe {
    uint64_t slot, perturb;
};

static struct probe probe_start(const struct dict *dict, uint64_t hash)
{
    return (struct probe){hash & (uint64_t)(dict->table_size - 1), hash};
}

static void probe_next(const struct dict *dict, struct probe *probe)
{
    probe->perturb >>= PERTURB_SHIFT;
    probe->slot =
        (probe->slot * 5 + 1 + probe->perturb) & (uint64_t)(dict->table_size - 1);
}

// The slot whose entry has the key, or -1.
static int64_t find_slot(const struct dict *dict, struct value key, uint64_t hash)
{
    if (dict->count == 0)
        return -1;
    for (struct probe probe = probe_start(dict, hash);; probe_next(dict, &probe)) {
        int32_t index = dict->table[probe.slot];
        if (index == FREE)
            return -1;
        if (index >= 0 && dict->entries[index].hash == hash &&
            value_same_key(dict->entries[index].key, key))
            return (int64_t)probe.slot;
    }
}

struct value *dict_find_hashed(const struct dict *dict, struct value key, uint64_t hash)
{
    int64_t slot = find_slot(dict, key, hash);
    return slot < 0 ? NULL : &dict->entries[dict->table[slot]].value;
}

enum status dict_find(const struct dict *dict, struct value key, struct value *value,
                      struct problem *problem)
{
    uint64_t hash;
    enum status status = value_hash(key, &hash, problem);
    *value = (struct value){.tag = VALUE_ABSENT};
    if (status != STATUS_OK)
        return status;
    const struct value *found = dict_find_hashed(dict, key, hash);
    if (found)
        *value = *found;
    return STATUS_OK;
}

struct value dict_find_text(const struct dict *dict, const char *text, size_t bytes)
{
    static const struct value absent = {.tag = VALUE_ABSENT};
    if (dict->count == 0)
        return absent;
    uint64_t hash = text_hash(text, bytes);
    for (struct probe probe = probe_start(dict, hash);; probe_next(dict, &probe)) {
        int32_t index = dict->table[probe.slot];
        if (index == FREE)
            return absent;
        const struct dict_entry *entry = &dict->entries[index < 0 ? 0 : index];
        if (index >= 0 && entry->hash == hash &&
            value_is_object(entry->key, OBJECT_STRING) &&
            string_is(VALUE_AS(string, entry->key), text, bytes))
            return entry->value;
    }
}

// ---- Growing

static void insert_index(struct dict *dict, uint64_t hash, int32_t index)
{
    struct probe probe = probe_start(dict, hash);
    while (dict->table[probe.slot] >= 0)
        probe_next(dict, &probe);
    dict->table_fill += dict->table[probe.slot] == FREE;
    dict->table[probe.slot] = index;
}

static void compact(struct dict *dict)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < dict->n_entries; i++)
        if (dict->entries[i].key.tag != VALUE_ABSENT)
            dict->entries[kept++] = dict->entries[i];
    dict->n_entries = kept;
}

// A table with room for three times the live entries. The old one is dropped first only
// where nothing can fail any more.
static enum status rebuild(struct heap *heap, struct dict *dict, struct problem *problem)
{
    int64_t size = SMALLEST;
    while (size < dict->count * 3)
        size *= 2;
    if (size > largest)
        return problem_set(problem, STATUS_LIMIT, "a dict has at most 2**30 keys");
    if (room(size) > dict->capacity) {
        struct dict_entry *entries =
            heap_resize(heap, dict->entries, (size_t)dict->capacity * sizeof *entries,
                        (size_t)room(size) * sizeof *entries, problem);
        if (!entries)
            return problem->status;
        dict->entries = entries;
        dict->capacity = room(size);
    }
    if (size != dict->table_size) {
        int32_t *table =
            heap_resize(heap, NULL, 0, (size_t)size * sizeof *table, problem);
        if (!table)
            return problem->status;
        if (dict->table)
            heap_resize(heap, dict->table, (size_t)dict->table_size * sizeof *table, 0,
                        NULL);
        dict->table = table;
        dict->table_size = size;
    }
    compact(dict);
    memset(dict->table, 0xFF, (size_t)dict->table_size * sizeof *dict->table); // FREE
    dict->table_fill = 0;
    for (int64_t i = 0; i < dict->n_entries; i++)
        insert_index(dict, dict->entries[i].hash, (int32_t)i);
    return STATUS_OK;
}

enum status dict_set_hashed(struct heap *heap, struct dict *dict, struct value key,
                            uint64_t hash, struct value value, struct problem *problem)
{
    struct value *found = dict_find_hashed(dict, key, hash);
    if (found) {
        struct value old = *found;
        *found = value_reference(value);
        value_release(old);
        return STATUS_OK;
    }
    if (dict->n_entries == dict->capacity || dict->table_fill >= room(dict->table_size)) {
        enum status status = rebuild(heap, dict, problem);
        if (status != STATUS_OK)
            return status;
    }
    insert_index(dict, hash, (int32_t)dict->n_entries);
    dict->entries[dict->n_entries++] =
        (struct dict_entry){hash, value_reference(key), value_reference(value)};
    dict->count++;
    return STATUS_OK;
}

enum status dict_set(struct heap *heap, struct dict *dict, struct value key,
                     struct value value, struct problem *problem)
{
    uint64_t hash;
    enum status status = value_hash(key, &hash, problem);
    return status == STATUS_OK ? dict_set_hashed(heap, dict, key, hash, value, problem)
                               : status;
}

// ---- Shrinking

struct value dict_remove_hashed(struct dict *dict, struct value key, uint64_t hash)
{
    int64_t slot = find_slot(dict, key, hash);
    if (slot < 0)
        return (struct value){.tag = VALUE_ABSENT};
    struct dict_entry *entry = &dict->entries[dict->table[slot]], old = *entry;
    dict->table[slot] = DELETED;
    *entry = (struct dict_entry){.key.tag = VALUE_ABSENT, .value.tag = VALUE_ABSENT};
    dict->count--;
    while (dict->n_entries > 0 &&
           dict->entries[dict->n_entries - 1].key.tag == VALUE_ABSENT)
        dict->n_entries--; // so that taking from the end again and again is linear
    value_release(old.key);
    return old.value;
}

enum status dict_remove(struct dict *dict, struct value key, struct value *removed,
                        struct problem *problem)
{
    uint64_t hash;
    enum status status = value_hash(key, &hash, problem);
    *removed = (struct value){.tag = VALUE_ABSENT};
    if (status == STATUS_OK)
        *removed = dict_remove_hashed(dict, key, hash);
    return status;
}

void dict_clear(struct heap *heap, struct dict *dict)
{
    struct dict old = *dict;
    dict->count = dict->n_entries = dict->capacity = 0;
    dict->table_size = dict->table_fill = 0;
    dict->entries = NULL;
    dict->table = NULL;
    for (int64_t i = 0; i < old.n_entries; i++) {
        value_release(old.entries[i].key);
        value_release(old.entries[i].value);
    }
    if (old.entries)
        heap_resize(heap, old.entries, (size_t)old.capacity * sizeof *old.entries, 0,
                    NULL);
    if (old.table)
        heap_resize(heap, old.table, (size_t)old.table_size * sizeof *old.table, 0, NULL);
}

struct dict_entry *dict_next(const struct dict *dict, int64_t *position)
{
    while (*position < dict->n_entries) {
        struct dict_entry *entry = &dict->entries[(*position)++];
        if (entry->key.tag != VALUE_ABSENT)
            return entry;
    }
    return NULL;
}
