// SPDX-License-Identifier: Apache-2.0
// Host memory for bodies: one block that grows, admitted by the ledger before it is
// allocated. One thread at a time; freed by any thread.
#ifndef TENSORD_API_MEMORY_H
#define TENSORD_API_MEMORY_H

#include "api/formats/format.h"
#include "api/state.h"

struct memory {
    struct user *user; // who pays
    struct api *api;
    int64_t *held;       // the request's count of host bytes it holds; kept up to date
    struct block *block; // NULL: none yet
};

// Grows to at least bytes, keeping the content; *data is the address.
// STATUS_OUT_OF_MEMORY for what could never fit; STATUS_QUEUE_FULL with retry_after while
// running requests hold what is missing (a body that is arriving cannot be put aside, so
// that its sender must try again).
enum status memory_grow(struct memory *memory, int64_t bytes, void **data,
                        struct problem *problem);
// Would bytes ever fit? As memory_grow, without taking anything.
enum status memory_probe(const struct user *user, int64_t bytes, struct problem *problem);
void memory_free(struct memory *memory);
// What a reader left in the block becomes a tensor with a storage of its own. The block
// is cut to size if it holds more than was needed and that is at most copy_bytes; else
// the storage stays larger than its tensor.
enum status memory_tensor(struct memory *memory, const struct reader_result *result,
                          int64_t copy_bytes, struct tensor **out,
                          struct problem *problem);
// The interface that readers grow their buffer with.
struct reader_memory memory_for_reader(struct memory *memory);
#endif
