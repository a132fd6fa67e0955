// SPDX-License-Identifier: Apache-2.0
// Host memory that is kept warm: blocks given back are reused instead of returned to the
// system, because the page faults of fresh memory cost more than most arithmetic on it.
//
// Properties
//   Aligned   Every block is 64-byte aligned. Blocks of 2 MiB and more begin on a 2 MiB
//             boundary and ask for huge pages.
//   Small     Below 1 MiB: size classes of 64 bytes, later four per doubling (waste at
//             most 25 %), each with a free list.
//   Large     From 1 MiB on: mapped from the system one by one. A cached block is reused
//             if it is at most a quarter larger than asked for; among those the smallest.
//             The one unused longest goes first.
//   Bounded   Cached bytes never exceed the limit. When the system refuses memory,
//             everything cached is given back and the system is asked once more.
//   Undefined The content of a block is whatever its last user left.
//
// Safety. Every function may be called from every thread. A mutex per free list and one
// for large blocks; the system is never called with one held.
#ifndef TENSORD_KERNELS_HOST_ALLOC_H
#define TENSORD_KERNELS_HOST_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

struct host_alloc;

// An allocator that keeps at most cache_limit bytes of free blocks (0: none). NULL if
// there is no memory.
struct host_alloc *host_alloc_create(int64_t cache_limit);
// Frees the cache. Every block must have been given back.
void host_alloc_free(struct host_alloc *alloc);

// At least bytes (> 0) bytes; NULL if the system has none even after trimming. The
// caller's until host_alloc_give.
void *host_alloc_take(struct host_alloc *alloc, int64_t bytes);
// Takes back a block; bytes as it was taken.
void host_alloc_give(struct host_alloc *alloc, void *block, int64_t bytes);
// A block just taken is owner's from now on. False: it holds nothing that is another's:
// it was the owner's before, or comes from the system as zeros. Small blocks are not
// followed: clearing them costs less.
bool host_alloc_claim(struct host_alloc *alloc, void *block, int64_t bytes,
                      const void *owner);
// Gives all cached blocks back to the system; how many bytes that were.
int64_t host_alloc_trim(struct host_alloc *alloc);
int64_t host_alloc_cached(const struct host_alloc *alloc); // bytes in free blocks

// ---- Torture tests. The n-th allocation of the host device from now on fails, once, as
// if the system had no memory (n >= 1; 0: none). Blocks and the device's own small memory
// (plans, workspaces) count alike, process-wide.
void host_alloc_fail_after(long n);
// For the device's own memory: counts an allocation; false if it is the one to fail.
bool host_alloc_permitted(void);
#endif
