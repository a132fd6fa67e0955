// SPDX-License-Identifier: Apache-2.0
// Bodies in ledgered blocks (memory.h).
#include "api/memory.h"

#include <string.h>

#include "api/user.h"

static enum status reserve(const struct user *user, int64_t bytes, int64_t held,
                           struct problem *problem)
{
    switch (ledger_reserve_more(user->account, 0, bytes, held, problem)) {
    case ADMISSION_READY:
        return STATUS_OK;
    case ADMISSION_NEVER:
        return problem->status;
    case ADMISSION_WAIT:
        break;
    }
    problem_set(problem, STATUS_QUEUE_FULL,
                "Running requests hold the memory that this body needs; send it again in "
                "a moment.");
    problem->retry_after = 1;
    return STATUS_QUEUE_FULL;
}

enum status memory_probe(const struct user *user, int64_t bytes, struct problem *problem)
{
    enum status status = reserve(user, bytes, 0, problem);
    if (status == STATUS_OK)
        ledger_unreserve(user->account, 0, bytes);
    return status;
}

static enum status make_block(struct memory *memory, int64_t bytes, struct block **out,
                              struct problem *problem)
{
    struct account *account = memory->user->account;
    enum status status = reserve(memory->user, bytes, *memory->held, problem);
    if (status != STATUS_OK)
        return status;
    status = block_create(api_host(memory->api), account, bytes, out, problem);
    if (status != STATUS_OK)
        ledger_unreserve(account, 0, bytes);
    else
        *memory->held += bytes;
    return status;
}

static void drop_block(struct memory *memory)
{
    if (memory->block != NULL)
        *memory->held -= memory->block->bytes;
    block_release(memory->block);
    memory->block = NULL;
}

// Replaces the block by one of bytes, keeping what fits.
static enum status resize(struct memory *memory, int64_t bytes, struct problem *problem)
{
    struct block *block, *old = memory->block;
    enum status status = make_block(memory, bytes, &block, problem);
    if (status != STATUS_OK)
        return status;
    int64_t kept = old == NULL ? 0 : old->bytes < bytes ? old->bytes : bytes;
    if (kept > 0)
        memcpy(block->data, old->data, (size_t)kept);
    drop_block(memory);
    memory->block = block;
    return STATUS_OK;
}

enum status memory_grow(struct memory *memory, int64_t bytes, void **data,
                        struct problem *problem)
{
    if (memory->block == NULL || memory->block->bytes < bytes) {
        enum status status = resize(memory, bytes, problem);
        if (status != STATUS_OK)
            return status;
    }
    *data = memory->block->data;
    return STATUS_OK;
}

// Cuts the block to exactly bytes (a copy, if it is larger).
static enum status trim(struct memory *memory, int64_t bytes, struct problem *problem)
{
    if (memory->block != NULL && memory->block->bytes == bytes)
        return STATUS_OK;
    return resize(memory, bytes, problem);
}

void memory_free(struct memory *memory)
{
    drop_block(memory);
}

// Strides of elements that came in C or in Fortran order.
static void set_strides(struct layout *layout, bool fortran_order)
{
    layout_contiguous(layout);
    int64_t stride = 1;
    for (int i = 0; fortran_order && i < layout->ndim; i++) {
        layout->strides[i] = stride;
        stride *= layout->shape[i] > 0 ? layout->shape[i] : 1;
    }
}

enum status memory_tensor(struct memory *memory, const struct reader_result *result,
                          int64_t copy_bytes, struct tensor **out,
                          struct problem *problem)
{
    struct storage *storage;
    enum status status = STATUS_OK;
    if (memory->block == NULL || result->bytes <= copy_bytes)
        status = trim(memory, result->bytes, problem);
    if (status == STATUS_OK)
        status = storage_create(memory->block, &storage, problem);
    if (status != STATUS_OK)
        return status;
    memory->block = NULL; // the storage's now, and still held by the request
    struct layout layout = {.ndim = result->ndim};
    memcpy(layout.shape, result->shape, (size_t)result->ndim * sizeof layout.shape[0]);
    set_strides(&layout, result->fortran_order);
    status = tensor_create(storage, 0, result->dtype, &layout, out, problem);
    storage_release(storage);
    return status;
}

static enum status reader_reserve(void *context, int64_t bytes, void **data,
                                  struct problem *problem)
{
    return memory_grow(context, bytes, data, problem);
}

struct reader_memory memory_for_reader(struct memory *memory)
{
    return (struct reader_memory){.context = memory, .reserve = reader_reserve};
}
