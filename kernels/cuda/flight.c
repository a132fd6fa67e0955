// SPDX-License-Identifier: Apache-2.0
// Slices in flight: at most two, each between a start and an end event, whose distance is
// the time it is billed. Two keep the device busy while the worker decides whose slice is
// next; more would make others wait. Runs on the device's worker.
#include "kernels/cuda/state.h"

#include <time.h>

enum { POLL_NANOSECONDS = 100 * 1000 };

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

cudaError_t wait_for_event(cudaEvent_t event)
{
    int64_t deadline = now() + POLL_NANOSECONDS;
    do {
        cudaError_t error = cudaEventQuery(event);
        if (error != cudaErrorNotReady)
            return error;
    } while (now() < deadline);
    return cudaEventSynchronize(event);
}

enum status flight_create(struct flight *flight, struct cuda_device *device,
                          struct problem *problem)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < FLIGHT_MAX && error == cudaSuccess; i++) {
        error = cudaEventCreateWithFlags(&flight->start[i], cudaEventBlockingSync);
        if (error == cudaSuccess)
            error = cudaEventCreateWithFlags(&flight->end[i], cudaEventBlockingSync);
    }
    return fault_of(device, error, "cudaEventCreateWithFlags", problem);
}

void flight_destroy(struct flight *flight)
{
    for (int i = 0; i < FLIGHT_MAX; i++) {
        if (flight->start[i])
            cudaEventDestroy(flight->start[i]);
        if (flight->end[i])
            cudaEventDestroy(flight->end[i]);
    }
}

// The oldest slice has ended: bills it.
static cudaError_t land(struct flight *flight)
{
    float milliseconds = 0;
    cudaError_t error = cudaEventElapsedTime(&milliseconds, flight->start[flight->first],
                                             flight->end[flight->first]);
    flight->busy_ns += (int64_t)((double)milliseconds * 1e6);
    flight->first = (flight->first + 1) % FLIGHT_MAX;
    flight->count--;
    return error;
}

void flight_collect(struct cuda_device *device)
{
    struct flight *flight = &device->flight;
    while (flight->count > 0 && cudaEventQuery(flight->end[flight->first]) == cudaSuccess)
        if (land(flight) != cudaSuccess)
            return; // shows at the next checked call
}

enum status flight_begin(struct cuda_device *device, struct problem *problem)
{
    struct flight *flight = &device->flight;
    flight_collect(device);
    cudaError_t error = cudaSuccess;
    if (flight->count == FLIGHT_MAX) {
        error = wait_for_event(flight->end[flight->first]);
        if (error == cudaSuccess)
            error = land(flight);
    }
    if (error == cudaSuccess)
        error = cudaEventRecord(
            flight->start[(flight->first + flight->count) % FLIGHT_MAX], device->stream);
    return fault_of(device, error, "cudaEventRecord", problem);
}

enum status flight_end(struct cuda_device *device, struct problem *problem)
{
    struct flight *flight = &device->flight;
    cudaError_t error = cudaEventRecord(
        flight->end[(flight->first + flight->count) % FLIGHT_MAX], device->stream);
    if (error == cudaSuccess)
        flight->count++;
    return fault_of(device, error, "cudaEventRecord", problem);
}
