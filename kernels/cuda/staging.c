// SPDX-License-Identifier: Apache-2.0
// Copies between host and device through two pinned buffers, so that a copy of any size
// needs little host memory: while one chunk is on its way, the other is filled or
// emptied. Runs on the device's worker.
#include "kernels/cuda/state.h"

#include <string.h>

static enum status prepare(struct cuda_device *device, struct problem *problem)
{
    struct staging *staging = &device->staging;
    for (int i = 0; i < STAGING_BUFFERS; i++) {
        cudaError_t error = cudaSuccess;
        if (!staging->buffers[i])
            error =
                cudaHostAlloc(&staging->buffers[i], STAGING_BYTES, cudaHostAllocDefault);
        if (error == cudaSuccess && !staging->events[i])
            error = cudaEventCreateWithFlags(
                &staging->events[i], cudaEventDisableTiming | cudaEventBlockingSync);
        if (error != cudaSuccess)
            return fault_of(device, error, "cudaHostAlloc", problem);
    }
    return STATUS_OK;
}

void staging_destroy(struct staging *staging)
{
    for (int i = 0; i < STAGING_BUFFERS; i++) {
        if (staging->buffers[i])
            cudaFreeHost(staging->buffers[i]);
        if (staging->events[i])
            cudaEventDestroy(staging->events[i]);
    }
}

static int64_t chunk_length(int64_t bytes, int64_t offset)
{
    return bytes - offset < STAGING_BYTES ? bytes - offset : STAGING_BYTES;
}

static enum status copy_to_device(struct cuda_device *device, char *to, const char *from,
                                  int64_t bytes, struct problem *problem)
{
    struct staging *staging = &device->staging;
    cudaError_t error = cudaSuccess;
    int64_t chunk = 0;
    for (int64_t offset = 0; offset < bytes && error == cudaSuccess; chunk++) {
        int i = (int)(chunk % STAGING_BUFFERS);
        int64_t length = chunk_length(bytes, offset);
        if (chunk >= STAGING_BUFFERS)
            error = wait_for_event(staging->events[i]);
        if (error != cudaSuccess)
            break;
        memcpy(staging->buffers[i], from + offset, (size_t)length);
        error = cudaMemcpyAsync(to + offset, staging->buffers[i], (size_t)length,
                                cudaMemcpyHostToDevice, device->stream);
        if (error == cudaSuccess)
            error = cudaEventRecord(staging->events[i], device->stream);
        offset += length;
    }
    if (error == cudaSuccess && chunk > 0)
        error = wait_for_event(staging->events[(chunk - 1) % STAGING_BUFFERS]);
    return fault_of(device, error, "cudaMemcpyAsync", problem);
}

static cudaError_t fetch_chunk(struct cuda_device *device, const char *from,
                               int64_t bytes, int64_t offset)
{
    struct staging *staging = &device->staging;
    int i = (int)(offset / STAGING_BYTES % STAGING_BUFFERS);
    cudaError_t error = cudaMemcpyAsync(staging->buffers[i], from + offset,
                                        (size_t)chunk_length(bytes, offset),
                                        cudaMemcpyDeviceToHost, device->stream);
    return error == cudaSuccess ? cudaEventRecord(staging->events[i], device->stream)
                                : error;
}

static enum status copy_from_device(struct cuda_device *device, char *to,
                                    const char *from, int64_t bytes,
                                    struct problem *problem)
{
    struct staging *staging = &device->staging;
    cudaError_t error = fetch_chunk(device, from, bytes, 0);
    for (int64_t offset = 0; offset < bytes && error == cudaSuccess;
         offset += STAGING_BYTES) {
        int i = (int)(offset / STAGING_BYTES % STAGING_BUFFERS);
        if (bytes - offset > STAGING_BYTES)
            error = fetch_chunk(device, from, bytes, offset + STAGING_BYTES);
        if (error == cudaSuccess)
            error = wait_for_event(staging->events[i]);
        if (error == cudaSuccess)
            memcpy(to + offset, staging->buffers[i], (size_t)chunk_length(bytes, offset));
    }
    return fault_of(device, error, "cudaMemcpyAsync", problem);
}

static enum status copy_within(struct cuda_device *device, void *to, const void *from,
                               int64_t bytes, struct problem *problem)
{
    cudaError_t error = cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice,
                                        device->stream);
    if (error == cudaSuccess)
        error = cudaEventRecord(device->done, device->stream);
    if (error == cudaSuccess)
        error = wait_for_event(device->done);
    return fault_of(device, error, "cudaMemcpyAsync", problem);
}

enum status staging_copy(struct cuda_device *device, void *to, const void *from,
                         int64_t bytes, enum copy_direction direction,
                         struct problem *problem)
{
    if (bytes == 0)
        return STATUS_OK;
    if (direction == COPY_WITHIN)
        return copy_within(device, to, from, bytes, problem);
    enum status status = prepare(device, problem);
    if (status != STATUS_OK)
        return status;
    if (direction == COPY_TO_DEVICE)
        return copy_to_device(device, to, from, bytes, problem);
    return copy_from_device(device, to, from, bytes, problem);
}
