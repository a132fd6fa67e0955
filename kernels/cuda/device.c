// SPDX-License-Identifier: Apache-2.0
// The CUDA device behind kernels/device.h: opening, the vtable, waiting.
// Runs on the device's worker, but for the functions device.h marks [any].
#include "kernels/cuda/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- memory
static enum status cuda_allocate(struct device *base, int64_t bytes, void **out,
                                 struct problem *problem)
{
    struct cuda_device *device = cuda_device(base);
    enum status status = fault_check(device, problem);
    return status == STATUS_OK ? pool_take(device, bytes, out, problem) : status;
}

static void cuda_release(struct device *base, void *block, int64_t bytes)
{
    pool_release(&cuda_device(base)->pool, block);
}

static int64_t cuda_trim(struct device *base)
{
    struct cuda_device *device = cuda_device(base);
    return device->broken ? 0 : pool_trim(device);
}

static bool cuda_claim(struct device *base, void *block, int64_t bytes, const void *owner)
{
    return pool_claim(&cuda_device(base)->pool, block, bytes, owner);
}

static enum status cuda_clear(struct device *base, void *block, int64_t bytes,
                              struct problem *problem)
{
    struct cuda_device *device = cuda_device(base);
    enum status status = fault_check(device, problem);
    if (status != STATUS_OK)
        return status;
    return fault_of(device, cudaMemsetAsync(block, 0, (size_t)bytes, device->stream),
                    "cudaMemsetAsync", problem);
}

static enum status cuda_copy(struct device *base, void *to, const void *from,
                             int64_t bytes, enum copy_direction direction,
                             struct problem *problem)
{
    struct cuda_device *device = cuda_device(base);
    enum status status = fault_check(device, problem);
    return status == STATUS_OK ? staging_copy(device, to, from, bytes, direction, problem)
                               : status;
}

// ---- plans
static enum status plan_kernel(struct cuda_device *device, const struct kernel *kernel,
                               struct plan **out, struct problem *problem)
{
    switch (kernel->form) {
    case KERNEL_PASS:
        return plan_pass_create(device, kernel->pass, out, problem);
    case KERNEL_GEMM:
        return plan_product_create(device, &kernel->gemm, out, problem);
    case KERNEL_SOFTMAX:
        return plan_softmax_create(device, &kernel->softmax, out, problem);
    case KERNEL_RANDOM:
        return plan_random_create(device, &kernel->random, out, problem);
    }
    return problem_set(problem, STATUS_NOT_IMPLEMENTED,
                       "The device does not know this kernel.");
}

// Whether cached memory could be given back after running out: then it is worth another
// try.
static bool made_room(struct cuda_device *device, enum status status)
{
    return status == STATUS_OUT_OF_MEMORY && pool_trim(device) > 0;
}

static enum status cuda_plan(struct device *base, const struct kernel *kernel,
                             struct plan **out, struct problem *problem)
{
    struct cuda_device *device = cuda_device(base);
    enum status status = fault_check(device, problem);
    if (status != STATUS_OK)
        return status;
    status = plan_kernel(device, kernel, out, problem);
    return made_room(device, status) ? plan_kernel(device, kernel, out, problem) : status;
}

static enum status launch_slice(struct plan *plan, int64_t slice, struct problem *problem)
{
    enum status status = plan_launch(plan, slice, problem);
    return made_room(plan->device, status) ? plan_launch(plan, slice, problem) : status;
}

static enum slice cuda_plan_next(struct plan *plan, struct problem *problem)
{
    struct cuda_device *device = plan->device;
    int64_t slice = atomic_load_explicit(&plan->done, memory_order_relaxed);
    if (slice >= plan->total)
        return SLICE_DONE;
    if (fault_check(device, problem) != STATUS_OK ||
        flight_begin(device, problem) != STATUS_OK ||
        launch_slice(plan, slice, problem) != STATUS_OK ||
        flight_end(device, problem) != STATUS_OK)
        return SLICE_FAILED;
    atomic_store_explicit(&plan->done, slice + 1, memory_order_relaxed);
    return slice + 1 < plan->total ? SLICE_MORE : SLICE_DONE;
}

static void cuda_plan_progress(const struct plan *plan, int64_t *done, int64_t *total)
{
    *done = atomic_load_explicit(&plan->done, memory_order_relaxed);
    *total = plan->total;
}

static void cuda_plan_free(struct plan *plan)
{
    if (plan)
        plan->form->free(plan);
}

// ---- waiting
static enum status wait_for_stream(struct cuda_device *device, struct problem *problem)
{
    cudaError_t error = cudaEventRecord(device->done, device->stream);
    if (error == cudaSuccess)
        error = wait_for_event(device->done);
    flight_collect(device);
    return fault_of(device, error, "cudaEventSynchronize", problem);
}

static enum status cuda_synchronize(struct device *base, struct problem *problem)
{
    struct cuda_device *device = cuda_device(base);
    enum status status = fault_check(device, problem);
    if (status != STATUS_OK)
        return status;
    if (!device->may_fault)
        return wait_for_stream(device, problem);
    cudaError_t error =
        cudaMemcpyAsync(device->fault_value, device->fault_flag, sizeof(int),
                        cudaMemcpyDeviceToHost, device->stream);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(device->fault_flag, 0, sizeof(int), device->stream);
    status = fault_of(device, error, "cudaMemcpyAsync", problem);
    if (status == STATUS_OK)
        status = wait_for_stream(device, problem);
    if (status != STATUS_OK)
        return status;
    device->may_fault = false;
    if (*device->fault_value == 0)
        return STATUS_OK;
    return problem_set(problem, STATUS_ZERO_DIVISION,
                       "An element of the divisor is 0 and the dtype is an integer.");
}

static int64_t cuda_busy(struct device *base)
{
    struct cuda_device *device = cuda_device(base);
    if (!device->broken)
        flight_collect(device);
    return device->flight.busy_ns;
}

// ---- facts
void memory_snapshot(struct cuda_device *device)
{
    size_t free_bytes = 0, total = 0;
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        return; // a fault shows at the next checked call
    atomic_store(&device->free_bytes, (int_least64_t)free_bytes);
    atomic_store(&device->total_bytes, (int_least64_t)total);
}

static void cuda_details(struct device *base, struct device_details *details)
{
    const struct cuda_device *device = cuda_device(base);
    details->kind = "cuda";
    snprintf(details->name, sizeof details->name, "%s", device->name);
    snprintf(details->driver, sizeof details->driver, "%s", device->driver);
    snprintf(details->runtime, sizeof details->runtime, "%s", device->runtime);
    details->major = device->major;
    details->minor = device->minor;
    details->multiprocessors = device->multiprocessors;
    processes_list(device, details);
}

static void cuda_memory(struct device *base, struct device_memory *memory)
{
    struct cuda_device *device = cuda_device(base);
    if (!processes_memory(device, &memory->total, &memory->free)) {
        memory->total = atomic_load(&device->total_bytes);
        memory->free = atomic_load(&device->free_bytes);
    }
    memory->used = memory->total - memory->free;
    memory->cached = pool_cached(&device->pool);
}

// ---- opening and closing
static void cuda_close(struct device *base)
{
    struct cuda_device *device = cuda_device(base);
    if (device->stream)
        cudaStreamSynchronize(device->stream);
    if (device->cublas)
        cublasDestroy(device->cublas);
    flight_destroy(&device->flight);
    staging_destroy(&device->staging);
    if (device->done)
        cudaEventDestroy(device->done);
    if (device->fault_value)
        cudaFreeHost(device->fault_value);
    if (device->fault_flag)
        cudaFree(device->fault_flag);
    pool_destroy(&device->pool);
    if (device->stream)
        cudaStreamDestroy(device->stream);
    free(device);
}

static const struct device_interface interface = {
    .allocate = cuda_allocate,
    .release = cuda_release,
    .trim = cuda_trim,
    .claim = cuda_claim,
    .clear = cuda_clear,
    .copy = cuda_copy,
    .plan = cuda_plan,
    .plan_next = cuda_plan_next,
    .plan_progress = cuda_plan_progress,
    .plan_free = cuda_plan_free,
    .synchronize = cuda_synchronize,
    .busy = cuda_busy,
    .details = cuda_details,
    .memory = cuda_memory,
    .close = cuda_close,
};

static int attribute(const struct cuda_device *device, enum cudaDeviceAttr which)
{
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, device->ordinal) == cudaSuccess ? value
                                                                                 : 0;
}

// How much work makes a slice of about 4 milliseconds, from the card's clocks (a guess
// where the driver keeps them to itself).
static void measure_card(struct cuda_device *device)
{
    const double seconds = 0.004;
    device->multiprocessors = attribute(device, cudaDevAttrMultiProcessorCount);
    if (device->multiprocessors < 1)
        device->multiprocessors = 1;
    double clock = 1e3 * attribute(device, cudaDevAttrClockRate);
    double memory_clock = 1e3 * attribute(device, cudaDevAttrMemoryClockRate);
    double bytes_per_second =
        memory_clock * 2 * attribute(device, cudaDevAttrGlobalMemoryBusWidth) / 8;
    if (bytes_per_second <= 0)
        bytes_per_second = 1e12;
    device->slice_bytes = (int64_t)(bytes_per_second * seconds * 0.7);
    device->slice_cycles =
        (clock > 0 ? clock : 1.5e9) * device->multiprocessors * seconds * 0.7;
}

static void read_texts(struct cuda_device *device)
{
    struct cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device->ordinal) == cudaSuccess)
        snprintf(device->name, sizeof device->name, "%.127s", properties.name);
    int driver = 0, runtime = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess)
        snprintf(device->driver, sizeof device->driver, "%d.%d", driver / 1000,
                 driver % 1000 / 10);
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess)
        snprintf(device->runtime, sizeof device->runtime, "%d.%d", runtime / 1000,
                 runtime % 1000 / 10);
    if (cudaDeviceGetPCIBusId(device->bus, sizeof device->bus, device->ordinal) !=
        cudaSuccess)
        device->bus[0] = '\0';
}

static enum status start(struct cuda_device *device, struct problem *problem)
{
    cudaError_t error = cudaSetDevice(device->ordinal);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&device->done,
                                         cudaEventDisableTiming | cudaEventBlockingSync);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&device->fault_flag, sizeof(int));
    if (error == cudaSuccess)
        error = cudaMemsetAsync(device->fault_flag, 0, sizeof(int), device->stream);
    if (error == cudaSuccess)
        error = cudaHostAlloc((void **)&device->fault_value, sizeof(int),
                              cudaHostAllocDefault);
    enum status status = fault_of(device, error, "opening the device", problem);
    if (status == STATUS_OK)
        status = flight_create(&device->flight, device, problem);
    if (status != STATUS_OK)
        return status;
    measure_card(device);
    read_texts(device);
    memory_snapshot(device);
    device->major = attribute(device, cudaDevAttrComputeCapabilityMajor);
    device->minor = attribute(device, cudaDevAttrComputeCapabilityMinor);
    if (device->major < 8)
        return problem_set(
            problem, STATUS_DEVICE_FAULT,
            "%s (%s) has compute capability %d.x; 8.0 is the least this build knows.",
            device->base.id, device->name, device->major);
    int64_t share = atomic_load(&device->total_bytes) / 64;
    device->cublas_workspace_bytes = share > 32 << 20 ? 32 << 20 : share;
    return wait_for_stream(device, problem);
}

enum status cuda_open(int ordinal, int64_t memory_limit, struct device **out,
                      struct problem *problem)
{
    struct cuda_device *device = calloc(1, sizeof *device);
    if (!device)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No memory to open cuda:%d.",
                           ordinal);
    device->base.vt = &interface;
    device->ordinal = ordinal;
    snprintf(device->base.id, sizeof device->base.id, "cuda:%d", ordinal);
    enum status status = pool_create(&device->pool, memory_limit, problem);
    if (status != STATUS_OK) {
        free(device);
        return status;
    }
    status = start(device, problem);
    if (status != STATUS_OK) {
        cuda_close(&device->base);
        return status;
    }
    *out = &device->base;
    return STATUS_OK;
}
