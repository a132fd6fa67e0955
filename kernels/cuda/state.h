// SPDX-License-Identifier: Apache-2.0
// What a CUDA device holds, and the plugin's internal interfaces. In reading order:
// fault.c (errors), pool.c (memory), staging.c (copies), flight.c (slices in flight and
// their time), plan*.c (kernels), device.c (the vtable), processes.c (other users of the
// card), plugin.c (exported symbols).
//
// Threads: everything belongs to the device's worker, but for the pool's lists (its
// mutex), the memory snapshot (atomic), the constant texts and processes.c (a mutex of
// its own).
#ifndef TENSORD_KERNELS_CUDA_STATE_H
#define TENSORD_KERNELS_CUDA_STATE_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kernels/cuda/kernels.h"
#include "kernels/device.h"

// ---- Memory: blocks from cudaMalloc, kept by size when released. All work runs on one
// stream, so a block may be given out again while the work that used it last is still
// queued.
enum { POOL_CLASSES = 256, POOL_BUCKETS = 4096 };
struct pool_block {
    void *address;
    int64_t bytes;     // as allocated, at least what was asked
    const void *owner; // what the first `owned` bytes hold is his; NULL: nobody knows
    int64_t owned;
    struct pool_block *next;
};
struct pool {
    pthread_mutex_t mutex;
    struct pool_block *free[POOL_CLASSES]; // by size class
    struct pool_block *live[POOL_BUCKETS]; // by address
    int64_t cached, held;                  // bytes in free; bytes in free and live
    int64_t limit;                         // of held; 0: none
};

// ---- Copies: two pinned buffers, made at the first copy.
enum { STAGING_BYTES = 2 << 20, STAGING_BUFFERS = 2 };
struct staging {
    void *buffers[STAGING_BUFFERS];
    cudaEvent_t events[STAGING_BUFFERS];
};

// ---- Slices in flight, oldest first.
enum { FLIGHT_MAX = 2 };
struct flight {
    cudaEvent_t start[FLIGHT_MAX], end[FLIGHT_MAX];
    int first, count;
    int64_t busy_ns;
};

struct cuda_device {
    struct device base;
    int ordinal;
    cudaStream_t stream;
    cudaEvent_t done; // for waits
    struct pool pool;
    struct staging staging;
    struct flight flight;
    cublasHandle_t cublas; // from the first product on
    void *cublas_workspace;
    int64_t cublas_workspace_bytes;
    int *fault_flag;  // device memory: an element divided by zero
    int *fault_value; // pinned copy of it
    bool may_fault;   // launched something that can set it since the last synchronize
    bool broken;
    char fault_text[PROBLEM_DETAIL_MAX];
    int major, minor; // compute capability
    int multiprocessors;
    int64_t slice_bytes; // memory traffic of a few milliseconds
    double slice_cycles; // multiprocessor cycles of the same time, all of them together
    char name[128], driver[32], runtime[32], bus[32];
    atomic_int_least64_t total_bytes,
        free_bytes; // of the card, when the worker last looked
};

static inline struct cuda_device *cuda_device(struct device *device)
{
    return (struct cuda_device *)device;
}

// STATUS_OK, or the fault that broke the device.
enum status fault_check(struct cuda_device *device, struct problem *problem);
// What a CUDA or cuBLAS result means. Out of memory leaves the device whole; anything
// else breaks it for good. `call` names what was called.
enum status fault_of(struct cuda_device *device, cudaError_t error, const char *call,
                     struct problem *problem);
enum status fault_of_cublas(struct cuda_device *device, cublasStatus_t result,
                            const char *call, struct problem *problem);
enum status fault_out_of_host_memory(struct cuda_device *device, struct problem *problem);

enum status pool_create(struct pool *pool, int64_t limit, struct problem *problem);
void pool_destroy(struct pool *pool); // frees everything, live blocks too
enum status pool_take(struct cuda_device *device, int64_t bytes, void **out,
                      struct problem *problem);
void pool_release(struct pool *pool, void *address); // [any]
// device.h's claim.
bool pool_claim(struct pool *pool, void *address, int64_t bytes,
                const void *owner); // [any]
int64_t pool_trim(struct cuda_device *device);
int64_t pool_cached(struct pool *pool); // [any]
// Looks at the card's free memory.
void memory_snapshot(struct cuda_device *device);

enum status staging_copy(struct cuda_device *device, void *to, const void *from,
                         int64_t bytes, enum copy_direction direction,
                         struct problem *problem);
void staging_destroy(struct staging *staging);

enum status flight_create(struct flight *flight, struct cuda_device *device,
                          struct problem *problem);
void flight_destroy(struct flight *flight);
// Brackets the launches of one slice; begin waits until fewer than FLIGHT_MAX are in
// flight.
enum status flight_begin(struct cuda_device *device, struct problem *problem);
enum status flight_end(struct cuda_device *device, struct problem *problem);
// Takes note of slices that have finished; never waits.
void flight_collect(struct cuda_device *device);
// Waits for an event: a short while by polling, then asleep.
cudaError_t wait_for_event(cudaEvent_t event);

// A plan is a number of slices, launched in order. launch enqueues slice i on the stream.
struct plan;
struct plan_form {
    enum status (*launch)(struct plan *plan, int64_t slice, struct problem *problem);
    void (*free)(struct plan *plan);
};
struct plan {
    struct cuda_device *device;
    const struct plan_form *form;
    int64_t total;
    atomic_int_least64_t done;
};
enum status plan_pass_create(struct cuda_device *device, const struct pass *pass,
                             struct plan **out, struct problem *problem);
enum status plan_reduce_create(struct cuda_device *device, const struct pass *pass,
                               struct plan **out, struct problem *problem);
enum status plan_product_create(struct cuda_device *device, const struct gemm *gemm,
                                struct plan **out, struct problem *problem);
enum status plan_softmax_create(struct cuda_device *device, const struct softmax *softmax,
                                struct plan **out, struct problem *problem);
// Advances the generator if it succeeds.
enum status plan_random_create(struct cuda_device *device, const struct random *random,
                               struct plan **out, struct problem *problem);
// Elements of a slice for elementwise work: a multiple of 1024.
int64_t plan_slice_elements(const struct cuda_device *device, const struct pass *pass);
// Launches slice i of a plan without counting it (for plans made of plans).
static inline enum status plan_launch(struct plan *plan, int64_t slice,
                                      struct problem *problem)
{
    return plan->form->launch(plan, slice, problem);
}

// Processes on the card and its memory, from the driver's management library where there
// is one. [any]
void processes_list(const struct cuda_device *device, struct device_details *details);
bool processes_memory(const struct cuda_device *device, int64_t *total,
                      int64_t *free_bytes);

enum status cuda_open(int ordinal, int64_t memory_limit, struct device **out,
                      struct problem *problem);
#endif
