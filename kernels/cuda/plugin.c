// SPDX-License-Identifier: Apache-2.0
// The symbols that kernels/plugin.c looks up. Everything else in the plugin is hidden.
#include "kernels/cuda/state.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED plugin_version tensord_plugin_version;
EXPORTED plugin_count tensord_plugin_count;
EXPORTED plugin_open tensord_plugin_open;

int tensord_plugin_version(void)
{
    return DEVICE_PLUGIN_VERSION;
}

int tensord_plugin_count(struct problem *problem)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return count;
    (void)cudaGetLastError();
    problem_set(problem, STATUS_DEVICE_FAULT, "CUDA finds no device: %s (%s).",
                cudaGetErrorName(error), cudaGetErrorString(error));
    return 0;
}

enum status tensord_plugin_open(int ordinal, int64_t memory_limit, struct device **out,
                                struct problem *problem)
{
    return cuda_open(ordinal, memory_limit, out, problem);
}
