// SPDX-License-Identifier: Apache-2.0
// The host device: ordinary memory through the caching allocator, plans through the
// compute pool.
//
// Threads: every function from any thread at any time (kernels/device.h); what is shared
// is in alloc.c, pool.c and one atomic counter. Element faults are reported by the plan
// that met them, so synchronize has nothing to wait for and nothing to report.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/host/gemm.h"
#include "kernels/host/levels.h"
#include "kernels/host/machine.h"
#include "kernels/host/plan.h"

static enum status host_allocate(struct device *device, int64_t bytes, void **out,
                                 struct problem *problem)
{
    void *block = host_alloc_take(host_device(device)->alloc, bytes);
    if (block == NULL) {
        problem_set(problem, STATUS_OUT_OF_MEMORY,
                    "The system has no memory for a block of %" PRId64 " bytes.", bytes);
        problem->required_bytes = bytes;
        return STATUS_OUT_OF_MEMORY;
    }
    *out = block;
    return STATUS_OK;
}

static void host_release(struct device *device, void *block, int64_t bytes)
{
    host_alloc_give(host_device(device)->alloc, block, bytes);
}

static int64_t host_trim(struct device *device)
{
    return host_alloc_trim(host_device(device)->alloc);
}

// ---- Long copies are shared with the pool: one thread does not reach the memory's
// speed.
enum { SHARED_BYTES = 8 << 20, CHUNK_BYTES = 1 << 20 };
struct move {
    char *to;
    const char *from; // NULL: clear
    int64_t bytes;
};

static void move_chunk(void *context, int64_t chunk, int thread)
{
    const struct move *move = context;
    int64_t offset = chunk * CHUNK_BYTES, rest = move->bytes - offset;
    size_t bytes = (size_t)(rest < CHUNK_BYTES ? rest : CHUNK_BYTES);
    if (move->from == NULL)
        memset(move->to + offset, 0, bytes);
    else
        memcpy(move->to + offset, move->from + offset, bytes);
}

static void move_bytes(struct host_device *host, void *to, const void *from,
                       int64_t bytes)
{
    struct move move = {to, from, bytes};
    if (bytes >= SHARED_BYTES)
        pool_run(host->pool, move_chunk, &move, (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES);
    else if (from == NULL)
        memset(to, 0, (size_t)bytes);
    else
        memcpy(to, from, (size_t)bytes);
}

static bool host_claim(struct device *device, void *block, int64_t bytes,
                       const void *owner)
{
    return host_alloc_claim(host_device(device)->alloc, block, bytes, owner);
}

static enum status host_clear(struct device *device, void *block, int64_t bytes,
                              struct problem *problem)
{
    move_bytes(host_device(device), block, NULL, bytes);
    return STATUS_OK;
}

static enum status host_copy(struct device *device, void *to, const void *from,
                             int64_t bytes, enum copy_direction direction,
                             struct problem *problem)
{
    move_bytes(host_device(device), to, from, bytes);
    return STATUS_OK;
}

static enum status host_synchronize(struct device *device, struct problem *problem)
{
    return STATUS_OK;
}

static int64_t host_busy(struct device *device)
{
    return atomic_load_explicit(&host_device(device)->busy, memory_order_relaxed);
}

static void host_details(struct device *device, struct device_details *out)
{
    memset(out, 0, sizeof *out);
    out->kind = "cpu";
    memcpy(out->name, host_device(device)->name, sizeof out->name);
}

static void host_memory(struct device *device, struct device_memory *out)
{
    struct machine_memory memory;
    machine_memory(&memory);
    out->total = memory.total;
    out->used = memory.used;
    out->free = memory.available;
    out->cached = host_alloc_cached(host_device(device)->alloc);
}

static void host_close(struct device *device)
{
    struct host_device *host = host_device(device);
    if (host->pool != NULL)
        pool_free(host->pool);
    if (host->alloc != NULL)
        host_alloc_free(host->alloc);
    free(atomic_load(&host->spare));
    free(host);
}

static const struct device_interface host_interface = {
    .allocate = host_allocate,
    .release = host_release,
    .trim = host_trim,
    .claim = host_claim,
    .clear = host_clear,
    .copy = host_copy,
    .plan = plan_host_create,
    .plan_next = plan_host_next,
    .plan_progress = plan_host_progress,
    .plan_free = plan_host_free,
    .synchronize = host_synchronize,
    .busy = host_busy,
    .details = host_details,
    .memory = host_memory,
    .close = host_close,
};

enum status host_open(int threads, int64_t cache_limit, struct device **out,
                      struct problem *problem)
{
    blas_single_threaded();
    enum status status = blas_check(NULL, NULL, problem);
    if (status != STATUS_OK)
        return status;
    struct host_device *host = calloc(1, sizeof *host);
    if (host == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "There is no memory for the host device.");
    host->device =
        (struct device){.vt = &host_interface, .index = 0, .id = "cpu", .is_host = true};
    machine_processor(host->name, sizeof host->name);
    level_current(); // chosen before there are threads
    host->alloc = host_alloc_create(cache_limit);
    if (host->alloc == NULL)
        status = problem_set(problem, STATUS_OUT_OF_MEMORY,
                             "There is no memory for the allocator.");
    else
        status = pool_create(threads, &host->pool, problem);
    if (status != STATUS_OK) {
        host_close(&host->device);
        return status;
    }
    *out = &host->device;
    return STATUS_OK;
}
