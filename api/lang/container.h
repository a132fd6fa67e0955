// SPDX-License-Identifier: Apache-2.0
// dict and set. A dict keeps the order of insertion; a set iterates in the order of CPython's
// table (open addressing, linear probes of 9, perturbation), so that sets of small integers
// print as there. Keys compare by value: 1, 1.0 and True are one key.
#ifndef TENSORD_API_LANG_CONTAINER_H
#define TENSORD_API_LANG_CONTAINER_H

#include "api/lang/value.h"

struct dict_entry {
    uint64_t hash;
    struct value key, value; // key ABSENT: deleted
};
struct dict {
    struct object object;
    int64_t count;                // live entries
    int64_t n_entries, capacity;  // with deleted ones among them
    struct dict_entry *entries;   // in the order of insertion
    int32_t *table;               // indices into entries, -1 free, -2 deleted
    int64_t table_size;           // a power of two
    int64_t table_fill;           // places of it that are not free
};
struct set_entry {
    uint64_t hash;
    struct value key; // ABSENT: free (hash 0) or deleted (hash 1)
};
struct set {
    struct object object;
    int64_t count, fill; // live; live and deleted
    struct set_entry *table;
    int64_t table_size; // a power of two, at least 8; 0 after set_clear
    int64_t finger;     // where the next pop() begins
};

struct dict *dict_new(struct heap *heap, struct problem *problem);
struct set *set_new(struct heap *heap, struct problem *problem);

// Hash and equality of keys; STATUS_TYPE for unhashable ones (list, dict, set). Numbers hash
// alike where they are equal. Depth of nested tuples is limited (STATUS_LIMIT).
enum status value_hash(struct value key, uint64_t *hash, struct problem *problem);
bool value_same_key(struct value a, struct value b);

// Borrowed; ABSENT where there is none.
enum status dict_find(const struct dict *dict, struct value key, struct value *value,
                      struct problem *problem);
struct value dict_find_text(const struct dict *dict, const char *text, size_t bytes);
enum status dict_set(struct heap *heap, struct dict *dict, struct value key,
                     struct value value, struct problem *problem);
// *removed: the value, a reference of the caller's; ABSENT if the key was not there.
enum status dict_remove(struct dict *dict, struct value key, struct value *removed,
                        struct problem *problem);
void dict_clear(struct heap *heap, struct dict *dict);
// The next live entry at or after *position (which is moved behind it), or NULL.
struct dict_entry *dict_next(const struct dict *dict, int64_t *position);

enum status set_has(const struct set *set, struct value key, bool *has,
                    struct problem *problem);
enum status set_add(struct heap *heap, struct set *set, struct value key,
                    struct problem *problem);
enum status set_remove(struct set *set, struct value key, bool *had,
                       struct problem *problem);
void set_clear(struct heap *heap, struct set *set);
struct set_entry *set_next(const struct set *set, int64_t *position);
#endif
