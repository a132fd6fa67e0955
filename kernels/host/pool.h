// SPDX-License-Identifier: Apache-2.0
// The compute pool: helper threads that share the work of whoever computes on the host.
//
// Properties
//   Shared    A job is a range of chunks. Its caller and any number of helpers claim them
//             one by one from a counter, so a thread that is held up delays its own chunk
//             alone.
//   Prompt    The caller works too and waits only for chunks that somebody has begun.
//             Without a free helper it does everything itself.
//   Together  Several callers may run jobs at the same time; helpers serve the oldest
//             with unclaimed chunks. A chunk may not call the pool.
//   Quiet     Helpers sleep; after a job they look out for the next one for some 30 us,
//             so that the slices of one plan do not pay for waking them.
//
// Operation. Open jobs stand in a list under the pool's mutex, on the stacks of their
// callers. A helper joins a job (counted in job->helpers) under the mutex, claims chunks
// without it, and leaves under it. The caller takes its job off the list when all chunks
// are claimed, then waits until no helper is in it. Safety. What a chunk writes is
// visible to the caller when pool_run returns.
#ifndef TENSORD_KERNELS_HOST_POOL_H
#define TENSORD_KERNELS_HOST_POOL_H

#include <stdint.h>

#include "kernels/base/problem.h"

struct pool;

// Runs chunk `chunk` of a job. thread: 0 for the caller, 1 ... threads - 1 for helpers;
// no two chunks of one job run at the same time with the same number.
typedef void pool_chunk(void *context, int64_t chunk, int thread);

// A pool for `threads` (>= 1) threads, the caller's included: threads - 1 helpers, or as
// many as the system lets us start. STATUS_OUT_OF_MEMORY.
enum status pool_create(int threads, struct pool **out, struct problem *problem);
// No job may be running.
void pool_free(struct pool *pool);
int pool_threads(const struct pool *pool); // the caller's included

// Runs chunks [0, chunks) and returns when all have finished; the CPU time they took in
// nanoseconds, that of the helpers included. Any thread that is no helper.
int64_t pool_run(struct pool *pool, pool_chunk *chunk, void *context, int64_t chunks);
#endif
