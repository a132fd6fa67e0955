// SPDX-License-Identifier: Apache-2.0
// The caching allocator: small blocks, and the functions of alloc.h. Free small blocks
// form a list through their own first bytes. Any thread.
#include "kernels/host/alloc_internal.h"

#include <malloc.h>
#include <stdlib.h>

struct free_block {
    struct free_block *next;
};

static atomic_long fail_after; // allocations until the one that fails; 0: none does

void host_alloc_fail_after(long n)
{
    atomic_store(&fail_after, n);
}

bool host_alloc_permitted(void)
{
    if (__builtin_expect(atomic_load_explicit(&fail_after, memory_order_relaxed) <= 0, 1))
        return true;
    return atomic_fetch_sub(&fail_after, 1) != 1;
}

// The class of a small size, and the capacity of its blocks.
static int small_class(int64_t bytes)
{
    if (bytes <= 64 * FINE_CLASSES)
        return (int)((bytes - 1) / 64);
    int doubling = 63 - __builtin_clzll((unsigned long long)(bytes - 1)); // >= 10
    int quarter = (int)((bytes - 1) >> (doubling - 2)) & 3;
    return FINE_CLASSES + (doubling - 10) * 4 + quarter;
}

static int64_t small_capacity(int class)
{
    if (class < FINE_CLASSES)
        return 64 * (class + 1);
    int doubling = (class - FINE_CLASSES) / 4 + 10, quarter = (class - FINE_CLASSES) % 4;
    return (int64_t)(4 + quarter + 1) << (doubling - 2);
}

static void *small_take(struct host_alloc *alloc, int64_t bytes)
{
    int class = small_class(bytes);
    int64_t capacity = small_capacity(class);
    struct free_list *list = &alloc->small[class];
    pthread_mutex_lock(&list->mutex);
    struct free_block *block = list->head;
    if (block != NULL) {
        mark_used(block, capacity);
        list->head = block->next;
    }
    pthread_mutex_unlock(&list->mutex);
    if (block != NULL)
        cache_release(alloc, capacity);
    else if ((block = aligned_alloc(64, (size_t)capacity)) == NULL)
        return NULL;
    mark_taken((char *)block, bytes, capacity);
    return block;
}

static void small_give(struct host_alloc *alloc, void *memory, int64_t bytes)
{
    int class = small_class(bytes);
    int64_t capacity = small_capacity(class);
    struct free_list *list = &alloc->small[class];
    mark_used(memory, capacity);
    if (!cache_reserve(alloc, capacity)) {
        free(memory);
        return;
    }
    struct free_block *block = memory;
    pthread_mutex_lock(&list->mutex);
    block->next = list->head;
    list->head = block;
    mark_cached(block, capacity);
    pthread_mutex_unlock(&list->mutex);
}

static int64_t small_trim(struct host_alloc *alloc)
{
    int64_t bytes = 0;
    for (int class = 0; class < SMALL_CLASSES; class ++) {
        struct free_list *list = &alloc->small[class];
        pthread_mutex_lock(&list->mutex);
        struct free_block *block = list->head;
        list->head = NULL;
        pthread_mutex_unlock(&list->mutex);
        while (block != NULL) {
            mark_used(block, small_capacity(class));
            struct free_block *next = block->next;
            free(block);
            bytes += small_capacity(class);
            block = next;
        }
    }
    cache_release(alloc, bytes);
    return bytes;
}

struct host_alloc *host_alloc_create(int64_t cache_limit)
{
    struct host_alloc *alloc = aligned_alloc(64, sizeof *alloc);
    if (alloc == NULL)
        return NULL;
    *alloc = (struct host_alloc){.cache_limit = cache_limit};
    for (int class = 0; class < SMALL_CLASSES; class ++)
        pthread_mutex_init(&alloc->small[class].mutex, NULL);
    pthread_mutex_init(&alloc->large.mutex, NULL);
    return alloc;
}

void host_alloc_free(struct host_alloc *alloc)
{
    host_alloc_trim(alloc);
    for (int class = 0; class < SMALL_CLASSES; class ++)
        pthread_mutex_destroy(&alloc->small[class].mutex);
    pthread_mutex_destroy(&alloc->large.mutex);
    free(alloc);
}

void *host_alloc_take(struct host_alloc *alloc, int64_t bytes)
{
    if (!host_alloc_permitted())
        return NULL;
    bool small = bytes < LARGE_MINIMUM;
    void *block = small ? small_take(alloc, bytes) : large_take(alloc, bytes);
    if (block == NULL && host_alloc_trim(alloc) > 0)
        block = small ? small_take(alloc, bytes) : large_take(alloc, bytes);
    return block;
}

void host_alloc_give(struct host_alloc *alloc, void *block, int64_t bytes)
{
    if (bytes < LARGE_MINIMUM)
        small_give(alloc, block, bytes);
    else
        large_give(alloc, block);
}

bool host_alloc_claim(struct host_alloc *alloc, void *block, int64_t bytes,
                      const void *owner)
{
    return bytes < LARGE_MINIMUM || large_claim(alloc, block, bytes, owner);
}

int64_t host_alloc_trim(struct host_alloc *alloc)
{
    int64_t bytes = small_trim(alloc) + large_trim(alloc);
    malloc_trim(0);
    return bytes;
}

int64_t host_alloc_cached(const struct host_alloc *alloc)
{
    return atomic_load_explicit(&alloc->cached, memory_order_relaxed);
}
