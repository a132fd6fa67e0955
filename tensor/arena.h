// SPDX-License-Identifier: Apache-2.0
// Memory of one request: bump allocation from a chunk, all freed together. The first
// chunk comes from a small process-wide pool, so that a small request calls malloc for
// its tensors only. Threads: an arena belongs to one thread at a time; the pool has a
// lock.
#ifndef TENSORD_TENSOR_ARENA_H
#define TENSORD_TENSOR_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *newest;
    char *next, *end;
};

// False when memory is out; then nothing is to be freed.
bool arena_open(struct arena *arena);
void *arena_grow(struct arena *arena, size_t size); // arena_take's slow part
// size bytes aligned to 8, content undefined; NULL when memory is out or size is absurd.
static inline void *arena_take(struct arena *arena, size_t size)
{
    if (size > (size_t)(arena->end - arena->next))
        return arena_grow(arena, size);
    void *memory = arena->next;
    // Chunks are multiples of 8, so rounding up stays inside.
    arena->next += (size + 7) & ~(size_t)7;
    return memory;
}
// Everything taken from the arena is gone, the arena's own memory too if it lies inside.
void arena_close(struct arena *arena);
#endif
