// SPDX-License-Identifier: Apache-2.0
// The rest of the runtime's interface: devices, their facts, errors. The simulated card
// has four multiprocessors and clocks about as slow as the simulation is, so that work is
// cut into slices of a few milliseconds here too.
#include <cstdio>

#include "sim.h"

using namespace cudasim;

static cudaError_t check_device(const char *api, int device)
{
    cudaError_t error = enter(api);
    return error                                    ? error
           : device < 0 || device >= device_count() ? cudaErrorInvalidDevice
                                                    : cudaSuccess;
}

extern "C" {

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = device_count();
    return answer(enter("cudaGetDeviceCount"));
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current_device();
    return answer(enter("cudaGetDevice"));
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = check_device("cudaSetDevice", device);
    if (!error)
        set_current_device(device);
    return answer(error);
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return answer(enter("cudaDriverGetVersion"));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return answer(enter("cudaRuntimeGetVersion"));
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t error = check_device("cudaGetDeviceProperties", device);
    if (!error)
        snprintf(properties->name, sizeof properties->name, "cudasim");
    return answer(error);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t error = check_device("cudaDeviceGetAttribute", device);
    if (error)
        return answer(error);
    switch (attribute) {
    case cudaDevAttrClockRate:
        *value = 4000; // kHz
        return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        *value = 4;
        return cudaSuccess;
    case cudaDevAttrMemoryClockRate:
        *value = 5000; // kHz, two transfers a cycle
        return cudaSuccess;
    case cudaDevAttrGlobalMemoryBusWidth:
        *value = 256; // bits
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        *value = 9;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *value = 0;
        return cudaSuccess;
    }
    return answer(cudaErrorNotSupported);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    cudaError_t error = check_device("cudaDeviceGetPCIBusId", device);
    if (!error)
        snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", device + 1);
    return answer(error);
}

cudaError_t cudaGetLastError(void)
{
    return last_error(true);
}
cudaError_t cudaPeekAtLastError(void)
{
    return last_error(false);
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
     "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
     "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &one : texts)
        if (one.error == error)
            return one.name;
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &one : texts)
        if (one.error == error)
            return one.text;
    return "unrecognized error code";
}

// For the management library's stand-in.
size_t cudasim_memory_used(int device)
{
    return memory_used(device);
}
size_t cudasim_memory_limit(void)
{
    return memory_limit();
}

} // extern "C"
