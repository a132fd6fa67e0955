// SPDX-License-Identifier: Apache-2.0
// Values: blocks of device memory, storages, and tensors (views of a storage).
//
//   tensor  -> storage (+ offset, dtype, shape, strides)    immutable descriptor, shared
//           by reference count
//   storage -> block                                        one indirection: a commit
//   swaps the block block   -> bytes on one device                          charged to an
//   account until
//           its last reference goes
//
// Accounting. block_create turns reserved bytes into used ones; the last block_release
// gives them back. A block is settled (ledger.h) exactly while it is the current block of
// a storage that some name is bound to: storage_link, storage_unlink and storage_swap
// keep that, so at rest used == the bytes of all live blocks and settled == the bytes of
// the blocks behind names. A storage that lives in a request alone is transient.
//
// Invariants. A committed block is never written while a request that could still fail or
// yield is at it: a request writes to a private block, and the commit swaps it into the
// storage. Readers pin the block, not the storage, so a slow reader blocks no writer and
// never sees half a write. Every element a tensor can address lies inside its storage's
// bytes.
// Threads. All reference counts are atomic; a tensor never changes. Every function of a
// storage may be called from any thread: a mutex per storage, held for a few
// instructions, guards its block and its names. Locks are taken in the order name space,
// storage, ledger.
#ifndef TENSORD_TENSOR_TENSOR_H
#define TENSORD_TENSOR_TENSOR_H

#include <stdatomic.h>

#include "kernels/device.h"

enum { TENSOR_MAX_NDIM = 32 };

struct account; // tensor/ledger.h

struct block {
    atomic_int references;
    struct device *device;
    struct account *account; // charged bytes on device; borrowed, outlives the block
    void *data;              // NULL when bytes is 0
    int64_t bytes;
};

// A block of bytes (>= 0) on device, charged to account (already reserved by the caller
// with ledger_reserve; the reservation turns into usage). [device's worker; host: any
// thread]. One reference. STATUS_OUT_OF_MEMORY: the reservation is still the caller's.
enum status block_create(struct device *device, struct account *account, int64_t bytes,
                         struct block **out, struct problem *problem);
struct block *block_reference(struct block *block);
void block_release(struct block *block); // NULL is ignored; any thread

struct storage; // opaque: id, device, block, write count

// A storage that owns block (takes the reference).
enum status storage_create(struct block *block, struct storage **out,
                           struct problem *problem);
struct storage *storage_reference(struct storage *storage);
void storage_release(struct storage *storage);
uint64_t storage_id(const struct storage *storage); // process-wide, never reused
uint64_t
storage_writes(const struct storage *storage); // counts swaps and in-place writes
int64_t storage_bytes(const struct storage *storage);
struct device *storage_device(const struct storage *storage);
// The current block with a reference of the caller's.
struct block *storage_pin(struct storage *storage);
// The same, with the write count that belongs to the block.
struct block *storage_pin_version(struct storage *storage, uint64_t *writes);
// Replaces the block (takes the new reference, releases the old) and counts a write. The
// new block has as many bytes and the same device.
void storage_swap(struct storage *storage, struct block *block);
// True, and the write counted, if nobody but the storage holds the block: it may be
// written in place now. The caller guarantees by order (server/queue.h keys) that no
// reader starts before it has finished.
bool storage_claim(struct storage *storage);
// Seconds since the epoch of the last write; 0: none since it was made.
double storage_modified(const struct storage *storage);

// ---- The registry's side. A name bound to a tensor is on the list of the tensor's
// storage.
struct storage_link { // in the registry's entry
    struct storage_link *next, *previous;
};
// A number from the counter of storage ids and order groups, which never collide.
uint64_t storage_fresh_id(void);
// What registry_group answers for names of this storage: its id, unless a prediction was
// adopted.
uint64_t storage_group(const struct storage *storage);
// The storage takes over the group that was predicted for its first name; nothing happens
// once it has had one.
void storage_adopt_group(struct storage *storage, uint64_t group);
void storage_link(struct storage *storage, struct storage_link *link);
// After storage_link, without locks: ledger_announce for its bytes.
void storage_announce(struct storage *storage);
// True if that was the last name.
bool storage_unlink(struct storage *storage, struct storage_link *link);
// A stored value (a list, a closure, a module) contains a tensor of this storage: it counts
// as named, without a name. storage_announce follows the first; each hold is dropped once.
void storage_hold(struct storage *storage);
void storage_drop(struct storage *storage);
// storage_swap without releasing: the old block is the caller's (to release without
// locks).
struct block *storage_exchange(struct storage *storage, struct block *block);
// storage_swap's bookkeeping for a write that was made in place without storage_claim.
void storage_count_write(struct storage *storage);
// Calls visit for every linked name with the storage's mutex held.
void storage_each_link(struct storage *storage,
                       void (*visit)(void *context, struct storage_link *link),
                       void *context);

struct layout {
    int ndim;
    int64_t shape[TENSOR_MAX_NDIM];
    int64_t strides[TENSOR_MAX_NDIM]; // elements; >= 0; 0 where expanded
};

struct tensor {
    atomic_int references;
    struct storage *storage;
    int64_t offset; // elements
    enum dtype dtype;
    struct layout layout; // only the first ndim entries are set (layout_copy)
};

// Copies ndim and the first ndim shape and stride entries.
void layout_copy(struct layout *to, const struct layout *from);
// A view of storage (takes a reference of its own). Checks that every element lies
// inside: STATUS_SHAPE.
enum status tensor_create(struct storage *storage, int64_t offset, enum dtype dtype,
                          const struct layout *layout, struct tensor **out,
                          struct problem *problem);
struct tensor *tensor_reference(struct tensor *tensor);
void tensor_release(struct tensor *tensor); // NULL is ignored
struct device *tensor_device(const struct tensor *tensor);
int64_t tensor_count(const struct tensor *tensor); // elements
int64_t tensor_bytes(const struct tensor *tensor); // count * dtype size
#endif
