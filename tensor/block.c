// SPDX-License-Identifier: Apache-2.0
// Blocks: bytes of one device, reference counted, charged to an account.
//
// The charge is exact: a block that exists is in `used`, and leaves it with its last
// reference. Device memory is handed back before the charge is, so that whoever is
// admitted by the freed bytes finds them.
#include <stdlib.h>

#include "tensor/ledger.h"
#include "tensor/tensor.h"

// Memory that changes user is cleared before it can be read: every block passes here
// between the allocator and its first reader. No operation shows what it has not written
// (torch.empty is zeros); this holds even if one should. With one account there is nobody
// to hide anything from. A block from before there was a second one is nobody's, so that
// it is cleared for whoever gets it.
static enum status clear_for_account(struct block *block, struct problem *problem)
{
    struct device *device = block->device;
    if (block->bytes == 0 || !account_is_shared(block->account) ||
        (device->vt->claim != NULL &&
         !device->vt->claim(device, block->data, block->bytes, block->account)))
        return STATUS_OK;
    return device->vt->clear(device, block->data, block->bytes, problem);
}

enum status block_create(struct device *device, struct account *account, int64_t bytes,
                         struct block **out, struct problem *problem)
{
    struct block *block = malloc(sizeof *block);
    if (!block)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for a tensor's descriptor");
    *block = (struct block){.device = device, .account = account, .bytes = bytes};
    atomic_init(&block->references, 1);
    enum status status = STATUS_OK;
    if (bytes > 0)
        status = device->vt->allocate(device, bytes, &block->data, problem);
    if (status == STATUS_OK && (status = clear_for_account(block, problem)) != STATUS_OK)
        device->vt->release(device, block->data, bytes);
    if (status != STATUS_OK) {
        free(block);
        return status;
    }
    ledger_use(account, device->index, bytes);
    *out = block;
    return STATUS_OK;
}

struct block *block_reference(struct block *block)
{
    atomic_fetch_add_explicit(&block->references, 1, memory_order_relaxed);
    return block;
}

void block_release(struct block *block)
{
    // acq_rel: what every holder did to the memory happens before it is handed back.
    if (!block ||
        atomic_fetch_sub_explicit(&block->references, 1, memory_order_acq_rel) != 1)
        return;
    if (block->data)
        block->device->vt->release(block->device, block->data, block->bytes);
    // Never settled here: a storage unsettles its block before letting it go.
    ledger_unuse(block->account, block->device->index, block->bytes, false);
    free(block);
}
