// SPDX-License-Identifier: Apache-2.0
// Who else uses the card, and its memory, from libnvidia-ml.so.1. Loaded at the first
// question; where it is absent or refuses, there are no answers. Its interface is a
// stable binary one, so the few declarations needed stand here and no header is asked
// for.
//
// Any thread; one mutex around the loading. The library itself is safe to call from all
// threads.
#include "kernels/cuda/state.h"

#include <dlfcn.h>

enum { NVML_SUCCESS = 0, NVML_MOST = 32 };
typedef void *nvml_device;
struct nvml_process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};
struct nvml_memory {
    unsigned long long total, free, used;
};

static struct {
    pthread_mutex_t mutex;
    bool tried;
    int (*by_bus)(const char *bus, nvml_device *out);
    int (*processes)(nvml_device, unsigned *count, struct nvml_process *out);
    int (*memory)(nvml_device, struct nvml_memory *out);
} nvml = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void load(void)
{
    nvml.tried = true;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    int (*initialize)(void);
    *(void **)&initialize = dlsym(library, "nvmlInit_v2");
    if (!initialize || initialize() != NVML_SUCCESS) {
        dlclose(library);
        return;
    }
    *(void **)&nvml.by_bus = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml.processes = dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3");
    *(void **)&nvml.memory = dlsym(library, "nvmlDeviceGetMemoryInfo");
}

static bool find(const struct cuda_device *device, nvml_device *out)
{
    pthread_mutex_lock(&nvml.mutex);
    if (!nvml.tried)
        load();
    pthread_mutex_unlock(&nvml.mutex);
    return nvml.by_bus && device->bus[0] && nvml.by_bus(device->bus, out) == NVML_SUCCESS;
}

void processes_list(const struct cuda_device *device, struct device_details *details)
{
    struct nvml_process list[NVML_MOST];
    unsigned count = NVML_MOST;
    nvml_device handle;
    details->n_processes = 0;
    if (!find(device, &handle) || !nvml.processes ||
        nvml.processes(handle, &count, list) != NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < count && i < NVML_MOST; i++) {
        bool known = list[i].memory != ~0ull;
        details->processes[i].pid = list[i].pid;
        details->processes[i].bytes = known ? (int64_t)list[i].memory : -1;
        details->n_processes++;
    }
}

bool processes_memory(const struct cuda_device *device, int64_t *total,
                      int64_t *free_bytes)
{
    struct nvml_memory memory;
    nvml_device handle;
    if (!find(device, &handle) || !nvml.memory ||
        nvml.memory(handle, &memory) != NVML_SUCCESS)
        return false;
    *total = (int64_t)memory.total;
    *free_bytes = (int64_t)memory.free;
    return true;
}
