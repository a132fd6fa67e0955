// SPDX-License-Identifier: Apache-2.0
// Errors of CUDA and cuBLAS as statuses. A device that reported anything but missing
// memory is broken: after such an error only a new process is known to be healthy, so
// every later call answers the first one.
#include "kernels/cuda/state.h"

#include <stdio.h>

static enum status fault_report(const struct cuda_device *device, struct problem *problem)
{
    enum status status =
        problem_set(problem, STATUS_DEVICE_FAULT, "%s", device->fault_text);
    snprintf(problem->devices, sizeof problem->devices, "%s", device->base.id);
    return status;
}

enum status fault_check(struct cuda_device *device, struct problem *problem)
{
    return device->broken ? fault_report(device, problem) : STATUS_OK;
}

static enum status out_of_memory(struct cuda_device *device, const char *call,
                                 struct problem *problem)
{
    enum status status =
        problem_set(problem, STATUS_OUT_OF_MEMORY, "%s has too little free memory (%s).",
                    device->base.id, call);
    snprintf(problem->devices, sizeof problem->devices, "%s", device->base.id);
    problem->available_bytes = atomic_load(&device->free_bytes);
    return status;
}

enum status fault_of(struct cuda_device *device, cudaError_t error, const char *call,
                     struct problem *problem)
{
    if (device->broken)
        return fault_report(device, problem);
    if (error == cudaSuccess)
        return STATUS_OK;
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return out_of_memory(device, call, problem);
    }
    device->broken = true;
    snprintf(
        device->fault_text, sizeof device->fault_text,
        "%s failed: %s reported %s (%s). The server must be restarted to use it again.",
        device->base.id, call, cudaGetErrorName(error), cudaGetErrorString(error));
    return fault_report(device, problem);
}

enum status fault_of_cublas(struct cuda_device *device, cublasStatus_t result,
                            const char *call, struct problem *problem)
{
    if (device->broken)
        return fault_report(device, problem);
    if (result == CUBLAS_STATUS_SUCCESS)
        return STATUS_OK;
    if (result == CUBLAS_STATUS_ALLOC_FAILED)
        return out_of_memory(device, call, problem);
    device->broken = true;
    snprintf(device->fault_text, sizeof device->fault_text,
             "%s failed: %s reported %s. The server must be restarted to use it again.",
             device->base.id, call, cublasGetStatusName(result));
    return fault_report(device, problem);
}

enum status fault_out_of_host_memory(struct cuda_device *device, struct problem *problem)
{
    return problem_set(problem, STATUS_OUT_OF_MEMORY,
                       "The server has too little free memory to prepare work for %s.",
                       device->base.id);
}
