// SPDX-License-Identifier: Apache-2.0
// Names: (owner, name) -> one refcounted object: a tensor, or something of the program
// language (a module, a function, another value), which is opaque here. A commit is one
// step under the name space's lock: a reader sees all of a request's names or none.
//
// While a module `net` is bound, every name `net.*` is one of its parameters: a tensor
// that shares the module's storage. Parameters come and go with their module, in its
// commits; nobody else binds or deletes them (STATUS_CONFLICT), but their elements may be
// written.
//
// Serials are process-wide and never reused. The version of a binding is (serial, storage
// write count).
// Properties
//   Whole     Names and storage writes of a commit show together.
//   Fast      A name is found by hash; new names cost O(log n), a page of a listing O(log
//             n + page). Nothing is rebuilt: neither a million names nor a page of them
//             stops the others for long.
//   Punctual  A binding that has expired is invisible from that moment on;
//             registry_expire frees it.
// Safety
//   A mutex per name space guards its names, predictions and expiry times, and is taken
//   before a storage's. No tensor is released while it is held.
// Threads: every function from any thread.
#ifndef TENSORD_TENSOR_REGISTRY_H
#define TENSORD_TENSOR_REGISTRY_H

#include "tensor/tensor.h"

enum { NAME_MAX_LENGTH = 128 };

struct registry;
struct name_space; // the names of one owner

enum name_kind { NAME_TENSOR, NAME_MODULE, NAME_FUNCTION, NAME_VALUE, NAME_KINDS };
enum { ALL_NAMES = (1 << NAME_KINDS) - 1 };      // a set of kinds
const char *name_kind_text(enum name_kind kind); // "tensor"

// How the program language sees a tensor; kept for it, without meaning here.
enum name_flags { NAME_REQUIRES_GRAD = 1, NAME_IS_ARRAY = 2, NAME_IS_PARAMETER = 4 };

// What a name is bound to, if it is no tensor. Immutable and counted; made by who knows
// it (api/lang/image.h).
struct named {
    atomic_int references;
    enum name_kind kind;
    void (*free)(struct named *named); // when the last reference goes; any thread
};
struct named *named_reference(struct named *named);
void named_release(struct named *named); // NULL is ignored

struct binding {
    char name[NAME_MAX_LENGTH + 1];
    enum name_kind kind;
    struct tensor *tensor; // a reference of the caller's; NULL if it is no tensor
    struct named *object;  // likewise; NULL for a tensor
    bool parameter;        // of a module
    uint8_t flags;         // enum name_flags
    uint64_t serial;       // of this binding
    uint64_t writes;       // storage write count at look-up
    double created;        // of the name; seconds since the epoch
    double modified;       // last binding or write
    bool readonly, pinned;
    double expires; // seconds since the epoch; 0: never
};

enum status registry_create(struct registry **out, struct problem *problem);
void registry_free(struct registry *registry);
// The names of owner ("" anonymous); created at first use, lives as long as the registry.
enum status registry_space(struct registry *registry, const char *owner,
                           struct name_space **out, struct problem *problem);

// Frees the bindings that have expired at `now` (seconds since the epoch). When to call
// again: the next expiry, 0 if there is none. Commits and listings do it for themselves.
double registry_expire(struct name_space *space, double now);

// STATUS_NAME with a detail that says which rule is broken (pattern, length, format
// suffix, reserved word).
enum status name_check(const char *name, size_t length, struct problem *problem);

// Copies a tensor's binding out with a new reference. STATUS_UNDEFINED if there is none
// (nearest filled), it has expired, or it is no tensor (the detail says what).
// binding_release drops the reference.
enum status registry_find(struct name_space *space, const char *name, struct binding *out,
                          struct problem *problem);
// The same where a missing name is no error (a PUT that may create): false, without the
// search for the nearest name.
bool registry_lookup(struct name_space *space, const char *name, struct binding *out);
// A binding of any kind.
bool registry_lookup_any(struct name_space *space, const char *name, struct binding *out);
void binding_release(struct binding *binding);

// What a request commits. Names are bound (tensor or object: takes no reference of the
// caller's, makes its own) or deleted (both NULL). Storage writes are swapped in. A
// module's change is followed by those of its parameters, all of them, with `parameter`
// set; those that an earlier module of the name had go. STATUS_CONFLICT: a parameter's
// name is bound to something else, or a change that is none touches a parameter or a name
// below a module. All under one lock, nothing can fail halfway: memory for new entries is
// prepared first. Attributes (readonly, pinned, ttl) of an existing binding with
// `keep_attributes` stay; without it they are reset. Deleting a name that is not there
// does nothing. The storage of a tensor that is named for the first time takes over the
// predicted group (see "Order"): `group`, or the oldest prediction of that name that no
// commit has used.
struct registry_change {
    const char *name;
    struct tensor *tensor;
    struct named *object;
    bool parameter;
    uint8_t flags; // enum name_flags, of a tensor
    bool keep_attributes;
    uint64_t group; // what registry_predict returned for this request; 0: see above
};
struct registry_write {
    struct storage *storage;
    struct block *block; // takes the reference on success; NULL: written in place already
};
struct registry_commit {
    int n_changes;
    const struct registry_change *changes;
    int n_writes;
    const struct registry_write *writes;
};
enum status registry_commit(struct name_space *space,
                            const struct registry_commit *commit,
                            struct problem *problem);

// Renames, keeping serial, times and attributes; STATUS_CONFLICT if the new name exists,
// STATUS_UNDEFINED if the old one does not.
enum status registry_rename(struct name_space *space, const char *from, const char *to,
                            struct problem *problem);
struct registry_attributes {
    bool set_readonly, readonly, set_pinned, pinned, set_expires;
    double expires;
};
enum status registry_set_attributes(struct name_space *space, const char *name,
                                    const struct registry_attributes *attributes,
                                    struct problem *problem);

// Bindings of these kinds (a set of 1 << enum name_kind) with prefix, bytewise by name,
// strictly after `after` (NULL: from the start), at most limit. *out is a malloc'ed array
// of the caller's (free with binding_array_free). *more: something follows.
enum status registry_list(struct name_space *space, unsigned kinds, const char *prefix,
                          const char *after, int limit, struct binding **out, int *count,
                          bool *more, struct problem *problem);
void binding_array_free(struct binding *bindings, int count);
// Names of the same owner that share the storage, bytewise, without `except`; a malloc'ed
// array of malloc'ed strings.
enum status registry_shared_with(struct name_space *space, const struct storage *storage,
                                 const char *except, char ***out, int *count,
                                 struct problem *problem);
// Some name of the owner through which the storage is read-only: writing it through a
// view would change what that name shows.
bool registry_readonly(struct name_space *space, const struct storage *storage);
// Deletes all tensors with prefix: count, and bytes of the storages that went with them.
// STATUS_CONFLICT if a module's parameter is among them.
enum status registry_delete_prefix(struct name_space *space, const char *prefix,
                                   int64_t *count, int64_t *bytes,
                                   struct problem *problem);
int64_t registry_count(struct name_space *space);

// Edit distance with exchanged neighbours, at most limit + 1 (limit <= 3).
int name_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                  int limit);

// ---- Order (server/queue.h keys). The group of a name is what an in-place write through
// it may change: the storage of its binding, or the predicted group of an accepted
// request that has not committed. name_key: of (owner, name); never 0.
uint64_t registry_name_key(const struct name_space *space, const char *name);
// The group of the latest prediction, unless a commit has used it; else the binding's; 0
// if there is neither.
uint64_t registry_group(struct name_space *space, const char *name);
// Every group the name may stand for when its turn comes, as earlier requests may fail:
// the binding's and each predicted one, without repeats. Requests that read or write
// through the name take all of them as keys, beside *key, which is the name's own. Their
// number, or limit + 1 if they are more than fit (make the task a barrier).
int registry_groups(struct name_space *space, const char *name, uint64_t *key,
                    uint64_t *groups, int limit);
// Whether an accepted request that has not ended is going to bind the name.
bool registry_pending(struct name_space *space, const char *name);
// An accepted request will bind name to a view of group (or, with group 0, to a fresh
// storage: the new group is returned). Predictions of one name nest: the latest wins. 0:
// memory is out, refuse the request. A result that may turn out to be a view or a copy is
// predicted as a view.
uint64_t registry_predict(struct name_space *space, const char *name, uint64_t group);
// Takes one prediction back when its request has ended, in whatever way: in the task's
// `finish`, before its keys are released.
void registry_forget(struct name_space *space, const char *name, uint64_t group);
#endif
