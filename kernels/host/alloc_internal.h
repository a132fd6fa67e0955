// SPDX-License-Identifier: Apache-2.0
// Shared by alloc.c (the functions of alloc.h, small blocks) and alloc_large.c (mapped
// blocks) alone.
#ifndef TENSORD_KERNELS_HOST_ALLOC_INTERNAL_H
#define TENSORD_KERNELS_HOST_ALLOC_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "kernels/host/alloc.h"

#define LARGE_MINIMUM ((int64_t)1 << 20) // bytes; smaller blocks are in size classes
#define HUGE_PAGE ((int64_t)2 << 20)

enum {
    // Classes of small blocks: every 64 bytes up to 1 KiB, then four per doubling up to 1
    // MiB.
    FINE_CLASSES = 16,
    SMALL_CLASSES = FINE_CLASSES + 40,
    LARGE_BINS = 4 * 64, // four per doubling, by capacity
    LARGE_BUCKETS = 1024,
};

struct free_list {
    _Alignas(64) pthread_mutex_t mutex; // a cache line of its own
    struct free_block *head;
};

// What is known of a mapped block; lives from mmap to munmap.
struct mapping {
    char *base;
    int64_t capacity;  // bytes
    const void *owner; // what the first `owned` bytes hold is his
    int64_t owned;
    bool fresh;                    // from the system, all zero, never given out again
    struct mapping *next_live;     // in its bucket, while in use
    struct mapping *newer, *older; // by age, while cached
    struct mapping *next_bin, *prev_bin; // in its bin, while cached
};

struct large_blocks {
    pthread_mutex_t mutex;
    struct mapping *live[LARGE_BUCKETS]; // by address
    struct mapping *bins[LARGE_BINS];
    struct mapping *newest, *oldest;
};

struct host_alloc {
    int64_t cache_limit;
    atomic_int_fast64_t cached; // bytes, small and large
    struct free_list small[SMALL_CLASSES];
    struct large_blocks large;
};

// alloc_large.c. The same contracts as the functions of alloc.h; large_take does not
// retry.
void *large_take(struct host_alloc *alloc, int64_t bytes);
void large_give(struct host_alloc *alloc, void *block);
int64_t large_trim(struct host_alloc *alloc);
bool large_claim(struct host_alloc *alloc, void *block, int64_t bytes, const void *owner);

// Marks cached memory for AddressSanitizer: use after release is reported though the
// block stays ours.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
static inline void mark_cached(void *block, int64_t bytes)
{
    __asan_poison_memory_region(block, (size_t)bytes);
}
static inline void mark_used(void *block, int64_t bytes)
{
    __asan_unpoison_memory_region(block, (size_t)bytes);
}
#else
static inline void mark_cached(void *block, int64_t bytes)
{
    (void)block, (void)bytes;
}
static inline void mark_used(void *block, int64_t bytes)
{
    (void)block, (void)bytes;
}
#endif

// A block of capacity leaves for a user of bytes: what lies behind them stays forbidden.
static inline void mark_taken(char *block, int64_t bytes, int64_t capacity)
{
    mark_used(block, bytes);
    mark_cached(block + bytes, capacity - bytes);
}

// Reserves bytes of the cache; false if they do not fit.
static inline bool cache_reserve(struct host_alloc *alloc, int64_t bytes)
{
    int64_t now =
        atomic_fetch_add_explicit(&alloc->cached, bytes, memory_order_relaxed) + bytes;
    if (now <= alloc->cache_limit)
        return true;
    atomic_fetch_sub_explicit(&alloc->cached, bytes, memory_order_relaxed);
    return false;
}
static inline void cache_release(struct host_alloc *alloc, int64_t bytes)
{
    atomic_fetch_sub_explicit(&alloc->cached, bytes, memory_order_relaxed);
}
#endif
