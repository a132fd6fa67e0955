// SPDX-License-Identifier: Apache-2.0
// A stand-in for the management library, libnvidia-ml.so.1: this process is the only one
// on each card.
#include <cstddef>
#include <cstdio>
#include <unistd.h>

extern "C" {
size_t cudasim_memory_used(int device);
size_t cudasim_memory_limit(void);

struct nvmlProcessInfo_t {
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId, computeInstanceId;
};
struct nvmlMemory_t {
    unsigned long long total, free, used;
};
typedef struct cudasim_card *nvmlDevice_t;

int nvmlInit_v2(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *out);
int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t card, unsigned *count,
                                            nvmlProcessInfo_t *out);
int nvmlDeviceGetMemoryInfo(nvmlDevice_t card, nvmlMemory_t *out);

// A handle is the card's number plus one.
static int number_of(nvmlDevice_t card)
{
    return static_cast<int>(reinterpret_cast<size_t>(card)) - 1;
}

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *out)
{
    unsigned domain, card;
    if (sscanf(bus, "%x:%x:", &domain, &card) != 2)
        return 2; // NVML_ERROR_INVALID_ARGUMENT
    *out = reinterpret_cast<nvmlDevice_t>(static_cast<size_t>(card));
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t card, unsigned *count,
                                            nvmlProcessInfo_t *out)
{
    if (*count < 1)
        return 7; // NVML_ERROR_INSUFFICIENT_SIZE
    *count = 1;
    out[0] = {static_cast<unsigned>(getpid()), cudasim_memory_used(number_of(card)), ~0u,
              ~0u};
    return 0;
}

int nvmlDeviceGetMemoryInfo(nvmlDevice_t card, nvmlMemory_t *out)
{
    unsigned long long total = cudasim_memory_limit(),
                       used = cudasim_memory_used(number_of(card));
    *out = {total, total - used, used};
    return 0;
}
}
