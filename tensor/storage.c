// SPDX-License-Identifier: Apache-2.0
// Storages: the indirection between tensors and the block that holds their elements now.
//
// Properties
//   Whole     A reader pins a block and sees one committed state; a swap exchanges one
//             pointer.
//   Tied      Views hold the storage, so that a swap shows in all of them.
//   Exact     The current block is settled in the ledger while a name is bound or a
//   stored
//             value holds it (tensor.h, "Accounting").
// Safety
//   The mutex guards block, links and the settled state together; `writes` and `modified`
//   change under it and may be read without. Blocks are released after it is dropped:
//   that calls into devices and wakes the queue.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tensor/ledger.h"
#include "tensor/tensor.h"

struct storage {
    atomic_int references;
    uint64_t id;
    struct device *device;
    struct account *account; // of the first block: who is told when this storage is named
    int64_t bytes;
    pthread_mutex_t mutex;
    struct block *block;
    struct storage_link *links; // names bound to a tensor of this storage
    int holders;                // stored values that contain such a tensor
    bool was_named;
    _Atomic uint64_t group, writes;
    _Atomic double modified;
};

static _Atomic uint64_t next_id = 1;

uint64_t storage_fresh_id(void)
{
    return atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
}

enum status storage_create(struct block *block, struct storage **out,
                           struct problem *problem)
{
    struct storage *storage = malloc(sizeof *storage);
    if (!storage)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for a tensor's descriptor");
    storage->id = storage_fresh_id();
    storage->device = block->device;
    storage->account = block->account;
    storage->bytes = block->bytes;
    storage->block = block;
    storage->links = NULL;
    storage->holders = 0;
    storage->was_named = false;
    atomic_init(&storage->references, 1);
    atomic_init(&storage->group, storage->id);
    atomic_init(&storage->writes, 0);
    atomic_init(&storage->modified, 0.0);
    pthread_mutex_init(&storage->mutex, NULL);
    *out = storage;
    return STATUS_OK;
}

struct storage *storage_reference(struct storage *storage)
{
    atomic_fetch_add_explicit(&storage->references, 1, memory_order_relaxed);
    return storage;
}

void storage_release(struct storage *storage)
{
    if (!storage ||
        atomic_fetch_sub_explicit(&storage->references, 1, memory_order_acq_rel) != 1)
        return;
    assert(!storage->links); // a bound name holds a tensor, which holds the storage
    block_release(storage->block);
    pthread_mutex_destroy(&storage->mutex);
    free(storage);
}

uint64_t storage_id(const struct storage *storage)
{
    return storage->id;
}
int64_t storage_bytes(const struct storage *storage)
{
    return storage->bytes;
}
struct device *storage_device(const struct storage *storage)
{
    return storage->device;
}

uint64_t storage_writes(const struct storage *storage)
{
    return atomic_load_explicit(&storage->writes, memory_order_relaxed);
}

double storage_modified(const struct storage *storage)
{
    return atomic_load_explicit(&storage->modified, memory_order_relaxed);
}

uint64_t storage_group(const struct storage *storage)
{
    return atomic_load_explicit(&storage->group, memory_order_relaxed);
}

struct block *storage_pin_version(struct storage *storage, uint64_t *writes)
{
    pthread_mutex_lock(&storage->mutex);
    struct block *block = block_reference(storage->block);
    *writes = storage_writes(storage);
    pthread_mutex_unlock(&storage->mutex);
    return block;
}

struct block *storage_pin(struct storage *storage)
{
    uint64_t writes;
    return storage_pin_version(storage, &writes);
}

// With the mutex held.
static void count_write(struct storage *storage)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    atomic_store_explicit(&storage->writes, storage_writes(storage) + 1,
                          memory_order_relaxed);
    atomic_store_explicit(&storage->modified,
                          (double)now.tv_sec + (double)now.tv_nsec * 1e-9,
                          memory_order_relaxed);
}

// With the mutex held.
static bool is_settled(const struct storage *storage)
{
    return storage->links || storage->holders > 0;
}

static void settle(struct storage *storage)
{
    struct block *block = storage->block;
    if (!is_settled(storage))
        ledger_settle(block->account, block->device->index, block->bytes);
}

static void unsettle(struct storage *storage)
{
    struct block *block = storage->block;
    if (!is_settled(storage))
        ledger_unsettle(block->account, block->device->index, block->bytes);
}

struct block *storage_exchange(struct storage *storage, struct block *block)
{
    assert(block->bytes == storage->bytes && block->device == storage->device);
    pthread_mutex_lock(&storage->mutex);
    struct block *old = storage->block;
    storage->block = block;
    if (is_settled(storage)) {
        ledger_unsettle(old->account, old->device->index, old->bytes);
        ledger_settle(block->account, block->device->index, block->bytes);
    }
    count_write(storage);
    pthread_mutex_unlock(&storage->mutex);
    return old;
}

void storage_swap(struct storage *storage, struct block *block)
{
    block_release(storage_exchange(storage, block));
}

void storage_count_write(struct storage *storage)
{
    pthread_mutex_lock(&storage->mutex);
    count_write(storage);
    pthread_mutex_unlock(&storage->mutex);
}

bool storage_claim(struct storage *storage)
{
    pthread_mutex_lock(&storage->mutex);
    // acquire: pairs with the release of the last reader that let go. New pins need the
    // mutex.
    bool alone =
        atomic_load_explicit(&storage->block->references, memory_order_acquire) == 1;
    if (alone)
        count_write(storage);
    pthread_mutex_unlock(&storage->mutex);
    return alone;
}

void storage_adopt_group(struct storage *storage, uint64_t group)
{
    pthread_mutex_lock(&storage->mutex);
    if (!storage->was_named)
        atomic_store_explicit(&storage->group, group, memory_order_relaxed);
    pthread_mutex_unlock(&storage->mutex);
}

void storage_link(struct storage *storage, struct storage_link *link)
{
    pthread_mutex_lock(&storage->mutex);
    settle(storage);
    *link = (struct storage_link){.next = storage->links};
    if (link->next)
        link->next->previous = link;
    storage->links = link;
    storage->was_named = true;
    pthread_mutex_unlock(&storage->mutex);
}

void storage_announce(struct storage *storage)
{
    ledger_announce(storage->account, storage->device->index);
}

bool storage_unlink(struct storage *storage, struct storage_link *link)
{
    pthread_mutex_lock(&storage->mutex);
    if (link->previous)
        link->previous->next = link->next;
    else
        storage->links = link->next;
    if (link->next)
        link->next->previous = link->previous;
    bool last = !is_settled(storage);
    unsettle(storage);
    pthread_mutex_unlock(&storage->mutex);
    return last;
}

void storage_hold(struct storage *storage)
{
    pthread_mutex_lock(&storage->mutex);
    settle(storage);
    storage->holders++;
    storage->was_named = true;
    pthread_mutex_unlock(&storage->mutex);
}

void storage_drop(struct storage *storage)
{
    pthread_mutex_lock(&storage->mutex);
    storage->holders--;
    unsettle(storage);
    pthread_mutex_unlock(&storage->mutex);
}

void storage_each_link(struct storage *storage,
                       void (*visit)(void *context, struct storage_link *link),
                       void *context)
{
    pthread_mutex_lock(&storage->mutex);
    for (struct storage_link *link = storage->links; link; link = link->next)
        visit(context, link);
    pthread_mutex_unlock(&storage->mutex);
}
