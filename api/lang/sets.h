// SPDX-License-Identifier: Apache-2.0
// Operations on whole sets and dicts, as their operators and methods do them. The order
// of elements that results iterate in is CPython's, which follows from how each operation
// walks its operands; so these are written operation by operation. `other` is any
// iterable but a producer. Threads: the program's.
#ifndef TENSORD_API_LANG_SETS_H
#define TENSORD_API_LANG_SETS_H

#include "api/lang/container.h"
#include "api/lang/operate.h"

// ---- Sets
enum outcome set_copy(struct vm *vm, const struct set *set, struct set **out);
// Adds all of other: what set(x), |= and update() do.
enum outcome set_update(struct vm *vm, struct set *set, struct value other);
enum outcome set_intersection(struct vm *vm, struct set *set, struct value other,
                              struct set **out);
enum outcome set_difference(struct vm *vm, struct set *set, struct value other,
                            struct set **out);
enum outcome set_difference_update(struct vm *vm, struct set *set, struct value other);
enum outcome set_symmetric_difference(struct vm *vm, struct set *set, struct value other,
                                      struct set **out);
enum outcome set_symmetric_difference_update(struct vm *vm, struct set *set,
                                             struct value other);
// a takes b's content and b a's.
void set_swap(struct set *a, struct set *b);
// Any iterable as a set: itself (a reference) or a new one.
enum outcome set_of(struct vm *vm, struct value iterable, struct set **out);
enum outcome set_is_subset(struct vm *vm, const struct set *set, const struct set *of,
                           bool *is);
enum outcome set_binary(struct vm *vm, enum binary_op op, bool in_place, struct set *a,
                        struct set *b, struct value *result);
// set.c, with the hash known.
enum status set_add_hashed(struct heap *heap, struct set *set, struct value key,
                           uint64_t hash, struct problem *problem);
bool set_has_hashed(const struct set *set, struct value key, uint64_t hash);
bool set_remove_hashed(struct set *set, struct value key, uint64_t hash);
enum status set_resize(struct heap *heap, struct set *set, int64_t minimum,
                       struct problem *problem);
// As if elements of an empty set were added in the order of other's table.
enum status set_merge(struct heap *heap, struct set *set, const struct set *other,
                      struct problem *problem);
// Removes one element: *key ABSENT if the set is empty, else a reference of the caller's.
void set_pop(struct set *set, struct value *key);

// ---- Keys
// value_hash whose work, and that of comparing such a key once, is counted as steps.
enum outcome key_hash(struct vm *vm, struct value key, uint64_t *hash);

// ---- Dicts
enum outcome dict_copy(struct vm *vm, const struct dict *dict, struct dict **out);
// From a dict, or an iterable of pairs: what dict(x), |= and update() do.
enum outcome dict_update(struct vm *vm, struct dict *dict, struct value other);
// STATUS_KEY with the key's repr.
enum outcome raise_key(struct vm *vm, struct value key);
struct value *dict_find_hashed(const struct dict *dict, struct value key, uint64_t hash);
// The value, a reference of the caller's, or ABSENT.
struct value dict_remove_hashed(struct dict *dict, struct value key, uint64_t hash);
enum status dict_set_hashed(struct heap *heap, struct dict *dict, struct value key,
                            uint64_t hash, struct value value, struct problem *problem);
struct view *view_new(struct heap *heap, enum view_kind which, struct dict *dict,
                      struct problem *problem);
// & | - ^ of d.keys() and d.items() with iterables: sets.
enum outcome view_binary(struct vm *vm, enum binary_op op, struct value a, struct value b,
                         struct value *result);
extern struct native view_methods[];
static inline bool value_is_set_view(struct value value)
{
    return value_is_object(value, OBJECT_VIEW) &&
           VALUE_AS(view, value)->which != VIEW_VALUES;
}
#endif
