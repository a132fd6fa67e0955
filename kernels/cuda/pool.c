// SPDX-License-Identifier: Apache-2.0
// The device's memory pool. cudaMalloc and cudaFree are slow and stop the device, so
// released blocks are kept and given out again to requests of nearly their size (best
// fit, at most an eighth wasted beyond the rounding).
//
// The mutex guards the lists and counts and is never held during a CUDA call: any thread
// may release.
#include "kernels/cuda/state.h"

#include <stdlib.h>
#include <string.h>

enum { POOL_SMALLEST = 512, POOL_LARGE = 1 << 20, POOL_LARGE_STEP = 2 << 20 };

// Position of a size among quarter octaves.
static int class_of(int64_t bytes)
{
    int octave = 63 - __builtin_clzll((unsigned long long)bytes);
    return octave * 4 + (int)(bytes >> (octave - 2) & 3);
}

// The size to allocate: a quarter octave below 1 MiB, whole pages of the driver above.
// False on overflow.
static bool round_up(int64_t bytes, int64_t *out)
{
    if (bytes <= POOL_SMALLEST) {
        *out = POOL_SMALLEST;
        return true;
    }
    int64_t step = POOL_LARGE_STEP;
    if (bytes <= POOL_LARGE) {
        int octave = 63 - __builtin_clzll((unsigned long long)(bytes - 1));
        step = INT64_C(1) << (octave - 2);
    }
    if (__builtin_add_overflow(bytes, step - 1, out))
        return false;
    *out -= *out % step;
    return true;
}

static struct pool_block **bucket_of(struct pool *pool, const void *address)
{
    uintptr_t key = (uintptr_t)address >> 9;
    return &pool->live[(key ^ key >> 12) % POOL_BUCKETS];
}

enum status pool_create(struct pool *pool, int64_t limit, struct problem *problem)
{
    memset(pool, 0, sizeof *pool);
    pool->limit = limit;
    if (pthread_mutex_init(&pool->mutex, NULL) != 0)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No mutex for a device's memory pool.");
    return STATUS_OK;
}

static void list_destroy(struct pool_block *block)
{
    while (block) {
        struct pool_block *next = block->next;
        cudaFree(block->address);
        free(block);
        block = next;
    }
}

void pool_destroy(struct pool *pool)
{
    for (int i = 0; i < POOL_CLASSES; i++)
        list_destroy(pool->free[i]);
    for (int i = 0; i < POOL_BUCKETS; i++)
        list_destroy(pool->live[i]);
    pthread_mutex_destroy(&pool->mutex);
}

static void make_live(struct pool *pool, struct pool_block *block)
{
    struct pool_block **bucket = bucket_of(pool, block->address);
    block->next = *bucket;
    *bucket = block;
}

// Takes the smallest cached block of [bytes, limit] out of its list and makes it live.
// Mutex held.
static struct pool_block *take_cached(struct pool *pool, int64_t bytes, int64_t limit)
{
    for (int i = class_of(bytes); i <= class_of(limit); i++) {
        struct pool_block **best = NULL;
        for (struct pool_block **at = &pool->free[i]; *at; at = &(*at)->next)
            if ((*at)->bytes >= bytes && (*at)->bytes <= limit &&
                (!best || (*at)->bytes < (*best)->bytes))
                best = at;
        if (best) {
            struct pool_block *block = *best;
            *best = block->next;
            pool->cached -= block->bytes;
            make_live(pool, block);
            return block;
        }
    }
    return NULL;
}

// Takes the largest cached block out of the pool's accounts. NULL if there is none.
static struct pool_block *evict_largest(struct pool *pool)
{
    struct pool_block *block = NULL;
    pthread_mutex_lock(&pool->mutex);
    for (int i = POOL_CLASSES - 1; i >= 0 && !block; i--) {
        block = pool->free[i];
        if (block) {
            pool->free[i] = block->next;
            pool->cached -= block->bytes;
            pool->held -= block->bytes;
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return block;
}

static int64_t free_largest(struct cuda_device *device)
{
    struct pool_block *block = evict_largest(&device->pool);
    if (!block)
        return 0;
    int64_t bytes = block->bytes;
    cudaFree(block->address); // a fault shows at the next checked call
    free(block);
    return bytes;
}

int64_t pool_trim(struct cuda_device *device)
{
    int64_t total = 0, bytes;
    while ((bytes = free_largest(device)) > 0)
        total += bytes;
    memory_snapshot(device);
    return total;
}

int64_t pool_cached(struct pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    int64_t cached = pool->cached;
    pthread_mutex_unlock(&pool->mutex);
    return cached;
}

// Reserves bytes of the limit; false if they do not fit.
static bool reserve(struct pool *pool, int64_t bytes)
{
    pthread_mutex_lock(&pool->mutex);
    bool fits = pool->limit == 0 || bytes <= pool->limit - pool->held;
    if (fits)
        pool->held += bytes;
    pthread_mutex_unlock(&pool->mutex);
    return fits;
}

static void unreserve(struct pool *pool, int64_t bytes)
{
    pthread_mutex_lock(&pool->mutex);
    pool->held -= bytes;
    pthread_mutex_unlock(&pool->mutex);
}

static enum status no_room(struct cuda_device *device, int64_t bytes,
                           struct problem *problem)
{
    memory_snapshot(device);
    fault_of(device, cudaErrorMemoryAllocation, "cudaMalloc", problem);
    struct pool *pool = &device->pool;
    pthread_mutex_lock(&pool->mutex);
    int64_t below_limit = pool->limit - pool->held, limit = pool->limit;
    pthread_mutex_unlock(&pool->mutex);
    problem->required_bytes = bytes;
    if (limit > 0 && below_limit < problem->available_bytes)
        problem->available_bytes = below_limit;
    return problem->status;
}

// A new block from the driver, after giving cached ones back if it must be.
static enum status allocate_new(struct cuda_device *device, int64_t bytes, void **out,
                                struct problem *problem)
{
    while (!reserve(&device->pool, bytes))
        if (free_largest(device) == 0)
            return no_room(device, bytes, problem);
    cudaError_t error = cudaMalloc(out, (size_t)bytes);
    if (error == cudaErrorMemoryAllocation && pool_trim(device) > 0) {
        (void)cudaGetLastError();
        error = cudaMalloc(out, (size_t)bytes);
    }
    if (error == cudaSuccess)
        return STATUS_OK;
    unreserve(&device->pool, bytes);
    if (error == cudaErrorMemoryAllocation)
        return no_room(device, bytes, problem);
    return fault_of(device, error, "cudaMalloc", problem);
}

enum status pool_take(struct cuda_device *device, int64_t bytes, void **out,
                      struct problem *problem)
{
    struct pool *pool = &device->pool;
    int64_t rounded, most;
    if (!round_up(bytes, &rounded) || __builtin_add_overflow(rounded, rounded / 8, &most))
        return no_room(device, bytes, problem);
    pthread_mutex_lock(&pool->mutex);
    struct pool_block *block = take_cached(pool, rounded, most);
    pthread_mutex_unlock(&pool->mutex);
    if (block) {
        *out = block->address;
        return STATUS_OK;
    }
    block = malloc(sizeof *block);
    if (!block)
        return fault_out_of_host_memory(device, problem);
    enum status status = allocate_new(device, rounded, &block->address, problem);
    if (status != STATUS_OK) {
        free(block);
        return status;
    }
    block->bytes = rounded;
    block->owner = NULL;
    block->owned = 0;
    *out = block->address;
    pthread_mutex_lock(&pool->mutex);
    make_live(pool, block);
    pthread_mutex_unlock(&pool->mutex);
    memory_snapshot(device);
    return STATUS_OK;
}

bool pool_claim(struct pool *pool, void *address, int64_t bytes, const void *owner)
{
    pthread_mutex_lock(&pool->mutex);
    struct pool_block *block = *bucket_of(pool, address);
    while (block && block->address != address)
        block = block->next;
    bool his = block && block->owner == owner && bytes <= block->owned;
    if (block && !his) {
        block->owner = owner;
        block->owned = bytes;
    }
    pthread_mutex_unlock(&pool->mutex);
    return !his;
}

void pool_release(struct pool *pool, void *address)
{
    pthread_mutex_lock(&pool->mutex);
    struct pool_block **at = bucket_of(pool, address);
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    struct pool_block *block = *at;
    if (block) {
        *at = block->next;
        block->next = pool->free[class_of(block->bytes)];
        pool->free[class_of(block->bytes)] = block;
        pool->cached += block->bytes;
    }
    pthread_mutex_unlock(&pool->mutex);
}
