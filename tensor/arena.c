// SPDX-License-Identifier: Apache-2.0
// Arenas and the pool of first chunks. Any thread; the pool is behind one mutex that is
// only tried: who would have to wait calls malloc instead.
#include "tensor/arena.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { FIRST_CHUNK = 8 << 10, LATER_CHUNK = 64 << 10, POOL_CHUNKS = 64 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t size; // bytes of memory
    _Alignas(16) char memory[];
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct arena_chunk *pool;
static int pool_chunks;

// Under a sanitizer chunks are not recycled: a use after free must be seen.
#if defined(__SANITIZE_ADDRESS__)
enum { POOL_LIMIT = 0 };
#else
enum { POOL_LIMIT = POOL_CHUNKS };
#endif

static struct arena_chunk *chunk_first(void)
{
    if (POOL_LIMIT > 0 && pthread_mutex_trylock(&pool_lock) == 0) {
        struct arena_chunk *chunk = pool;
        if (chunk) {
            pool = chunk->older;
            pool_chunks--;
        }
        pthread_mutex_unlock(&pool_lock);
        if (chunk)
            return chunk;
    }
    struct arena_chunk *chunk = malloc(sizeof *chunk + FIRST_CHUNK);
    if (chunk)
        chunk->size = FIRST_CHUNK;
    return chunk;
}

static void chunk_free(struct arena_chunk *chunk)
{
    if (chunk->size == FIRST_CHUNK && POOL_LIMIT > 0 &&
        pthread_mutex_trylock(&pool_lock) == 0) {
        bool kept = pool_chunks < POOL_LIMIT;
        if (kept) {
            chunk->older = pool;
            pool = chunk;
            pool_chunks++;
        }
        pthread_mutex_unlock(&pool_lock);
        if (kept)
            return;
    }
    free(chunk);
}

static void arena_use(struct arena *arena, struct arena_chunk *chunk)
{
    chunk->older = arena->newest;
    arena->newest = chunk;
    arena->next = chunk->memory;
    arena->end = chunk->memory + chunk->size;
}

bool arena_open(struct arena *arena)
{
    struct arena_chunk *chunk = chunk_first();
    arena->newest = NULL;
    if (chunk)
        arena_use(arena, chunk);
    return chunk != NULL;
}

void *arena_grow(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + 7) & ~(size_t)7;
    size_t bytes = size > LATER_CHUNK / 4 ? size : LATER_CHUNK;
    struct arena_chunk *chunk = malloc(sizeof *chunk + bytes);
    if (!chunk)
        return NULL;
    chunk->size = bytes;
    arena_use(arena, chunk);
    arena->next += size;
    return chunk->memory;
}

void arena_close(struct arena *arena)
{
    struct arena_chunk *chunk = arena->newest;
    while (chunk) {
        struct arena_chunk *older =
            chunk->older; // the arena itself may lie in this chunk
        chunk_free(chunk);
        chunk = older;
    }
}
