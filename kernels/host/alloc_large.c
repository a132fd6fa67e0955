// SPDX-License-Identifier: Apache-2.0
// Large blocks: one mapping each. A mapping in use is found by its address in a hash
// table; a cached one is in the bin of its capacity and in the list of ages.
#include "kernels/host/alloc_internal.h"

#include <stdlib.h>
#include <sys/mman.h>

// Bins grow by a quarter of a doubling, so that what fits a request within a quarter is
// in its bin or the next two.
static int bin_of(int64_t capacity)
{
    int doubling = 63 - __builtin_clzll((unsigned long long)capacity);
    return doubling * 4 + (int)(capacity >> (doubling - 2) & 3);
}

static struct mapping **bucket_of(struct large_blocks *large, const void *base)
{
    uint64_t key = (uint64_t)(uintptr_t)base >> 12;
    return &large->live[(key * 0x9E3779B97F4A7C15u) >> 54];
}
_Static_assert(LARGE_BUCKETS == 1 << (64 - 54), "the hash yields as many bits");

// The bytes to map for a request: whole pages, and whole huge pages where that wastes
// little.
static int64_t mapped_size(int64_t bytes)
{
    int64_t unit = bytes >= 8 * HUGE_PAGE ? HUGE_PAGE : 4096;
    if (bytes > INT64_MAX - 2 * HUGE_PAGE)
        return -1;
    return (bytes + unit - 1) / unit * unit;
}

static void *map_aligned(int64_t capacity)
{
    if (capacity < HUGE_PAGE) {
        void *base = mmap(NULL, (size_t)capacity, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return base == MAP_FAILED ? NULL : base;
    }
    int64_t padded = capacity + HUGE_PAGE;
    char *start = mmap(NULL, (size_t)padded, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    int64_t head = (int64_t)(-(uintptr_t)start & (uintptr_t)(HUGE_PAGE - 1));
    if (head > 0)
        munmap(start, (size_t)head);
    char *base = start + head;
    if (padded - head - capacity > 0)
        munmap(base + capacity, (size_t)(padded - head - capacity));
    madvise(base, (size_t)capacity, MADV_HUGEPAGE); // advice: refusal does no harm
    return base;
}

// ---- With the mutex held.
static void cache_insert(struct large_blocks *large, struct mapping *mapping)
{
    struct mapping **bin = &large->bins[bin_of(mapping->capacity)];
    mapping->prev_bin = NULL;
    mapping->next_bin = *bin;
    if (*bin != NULL)
        (*bin)->prev_bin = mapping;
    *bin = mapping;
    mapping->newer = NULL;
    mapping->older = large->newest;
    if (large->newest != NULL)
        large->newest->newer = mapping;
    else
        large->oldest = mapping;
    large->newest = mapping;
}

static void cache_remove(struct large_blocks *large, struct mapping *mapping)
{
    if (mapping->prev_bin != NULL)
        mapping->prev_bin->next_bin = mapping->next_bin;
    else
        large->bins[bin_of(mapping->capacity)] = mapping->next_bin;
    if (mapping->next_bin != NULL)
        mapping->next_bin->prev_bin = mapping->prev_bin;
    *(mapping->newer != NULL ? &mapping->newer->older : &large->newest) = mapping->older;
    *(mapping->older != NULL ? &mapping->older->newer : &large->oldest) = mapping->newer;
}

static struct mapping *cache_best_fit(struct large_blocks *large, int64_t bytes)
{
    struct mapping *best = NULL;
    int first = bin_of(bytes);
    for (int bin = first; bin <= first + 2 && bin < LARGE_BINS; bin++) {
        for (struct mapping *at = large->bins[bin]; at != NULL; at = at->next_bin) {
            if (at->capacity < bytes || at->capacity - bytes > bytes / 4)
                continue;
            if (best == NULL || at->capacity < best->capacity)
                best = at;
            if (best->capacity - bytes < 4096)
                return best;
        }
        if (best != NULL)
            return best;
    }
    return NULL;
}

static void live_insert(struct large_blocks *large, struct mapping *mapping)
{
    struct mapping **bucket = bucket_of(large, mapping->base);
    mapping->next_live = *bucket;
    *bucket = mapping;
}

static struct mapping *live_remove(struct large_blocks *large, const void *base)
{
    struct mapping **at = bucket_of(large, base);
    while ((*at)->base != base)
        at = &(*at)->next_live;
    struct mapping *mapping = *at;
    *at = mapping->next_live;
    return mapping;
}

// ---- Without it.
static void unmap(struct mapping *mapping)
{
    mark_used(mapping->base, mapping->capacity);
    munmap(mapping->base, (size_t)mapping->capacity);
    free(mapping);
}

static void *map_new(struct host_alloc *alloc, int64_t bytes)
{
    int64_t capacity = mapped_size(bytes);
    struct mapping *mapping = capacity < 0 ? NULL : malloc(sizeof *mapping);
    if (mapping == NULL)
        return NULL;
    *mapping = (struct mapping){
        .base = map_aligned(capacity), .capacity = capacity, .fresh = true};
    if (mapping->base == NULL) {
        free(mapping);
        return NULL;
    }
    pthread_mutex_lock(&alloc->large.mutex);
    live_insert(&alloc->large, mapping);
    pthread_mutex_unlock(&alloc->large.mutex);
    mark_taken(mapping->base, bytes, capacity);
    return mapping->base;
}

void *large_take(struct host_alloc *alloc, int64_t bytes)
{
    struct large_blocks *large = &alloc->large;
    pthread_mutex_lock(&large->mutex);
    struct mapping *mapping = cache_best_fit(large, bytes);
    if (mapping != NULL) {
        cache_remove(large, mapping);
        live_insert(large, mapping);
        mapping->fresh = false;
        mark_taken(mapping->base, bytes, mapping->capacity);
    }
    pthread_mutex_unlock(&large->mutex);
    if (mapping == NULL)
        return map_new(alloc, bytes);
    cache_release(alloc, mapping->capacity);
    return mapping->base;
}

bool large_claim(struct host_alloc *alloc, void *block, int64_t bytes, const void *owner)
{
    struct large_blocks *large = &alloc->large;
    pthread_mutex_lock(&large->mutex);
    struct mapping *mapping = *bucket_of(large, block);
    while (mapping->base != block)
        mapping = mapping->next_live;
    bool his = mapping->fresh || (mapping->owner == owner && bytes <= mapping->owned);
    if (mapping->fresh)
        mapping->owned = mapping->capacity;
    else if (!his)
        mapping->owned = bytes;
    mapping->owner = owner;
    pthread_mutex_unlock(&large->mutex);
    return !his;
}

void large_give(struct host_alloc *alloc, void *block)
{
    struct large_blocks *large = &alloc->large;
    struct mapping *surplus = NULL; // linked by next_live
    pthread_mutex_lock(&large->mutex);
    struct mapping *mapping = live_remove(large, block);
    bool fits = mapping->capacity <= alloc->cache_limit;
    while (fits && !cache_reserve(alloc, mapping->capacity)) {
        struct mapping *oldest = large->oldest;
        if (oldest == NULL) { // small blocks fill the cache
            fits = false;
            break;
        }
        cache_remove(large, oldest);
        cache_release(alloc, oldest->capacity);
        oldest->next_live = surplus;
        surplus = oldest;
    }
    if (fits) {
        mark_cached(mapping->base, mapping->capacity);
        cache_insert(large, mapping);
    } else {
        mapping->next_live = surplus;
        surplus = mapping;
    }
    pthread_mutex_unlock(&large->mutex);
    while (surplus != NULL) {
        struct mapping *next = surplus->next_live;
        unmap(surplus);
        surplus = next;
    }
}

int64_t large_trim(struct host_alloc *alloc)
{
    struct large_blocks *large = &alloc->large;
    pthread_mutex_lock(&large->mutex);
    struct mapping *mapping = large->newest;
    large->newest = large->oldest = NULL;
    for (int bin = 0; bin < LARGE_BINS; bin++)
        large->bins[bin] = NULL;
    pthread_mutex_unlock(&large->mutex);
    int64_t bytes = 0;
    while (mapping != NULL) {
        struct mapping *older = mapping->older;
        bytes += mapping->capacity;
        unmap(mapping);
        mapping = older;
    }
    cache_release(alloc, bytes);
    return bytes;
}
