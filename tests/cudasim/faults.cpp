// SPDX-License-Identifier: Apache-2.0
// Settings from the environment, and errors: injected ones
// (CUDASIM_FAULT=api:nth:error[,...]) and sticky ones, which a device reports for good,
// as after a fault in a kernel.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sim.h"

namespace cudasim
{

namespace
{
struct fault {
    std::string api;
    long nth;
    int error;
};

struct state {
    std::mutex mutex;
    std::map<std::string, long> calls;
    std::vector<fault> faults;
    std::atomic<int> sticky[MOST_DEVICES] = {};
    state()
    {
        const char *text = getenv("CUDASIM_FAULT");
        char api[64];
        long nth;
        int error, used;
        while (text && sscanf(text, "%63[^:]:%ld:%d%n", api, &nth, &error, &used) == 3) {
            faults.push_back({api, nth, error});
            text += used;
            text += *text == ',';
        }
    }
};
state &faults()
{
    static state *one = new state; // outlives the streams' threads
    return *one;
}
thread_local cudaError_t last = cudaSuccess;
thread_local int device = 0;
} // namespace

long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, nullptr, 10) : otherwise;
}

int device_count()
{
    static const long count = setting("CUDASIM_DEVICES", 1);
    return count > MOST_DEVICES ? int(MOST_DEVICES) : static_cast<int>(count);
}

int current_device()
{
    return device;
}
void set_current_device(int number)
{
    device = number;
}

cudaError_t enter(const char *api)
{
    state &s = faults();
    if (device_count() == 0)
        return cudaErrorNoDevice;
    if (int sticky = s.sticky[device])
        return static_cast<cudaError_t>(sticky);
    if (s.faults.empty())
        return cudaSuccess;
    std::lock_guard<std::mutex> lock(s.mutex);
    long n = ++s.calls[api];
    for (const fault &f : s.faults) {
        if (f.api == api && f.nth == n) {
            if (f.error >= cudaErrorIllegalAddress)
                s.sticky[device] = f.error;
            return static_cast<cudaError_t>(f.error);
        }
    }
    return cudaSuccess;
}

cudaError_t answer(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last = error;
    return error;
}

cudaError_t last_error(bool clear)
{
    cudaError_t error = last;
    if (int sticky = faults().sticky[device])
        error = static_cast<cudaError_t>(sticky);
    if (clear)
        last = cudaSuccess;
    return error;
}

void break_device(int number, cudaError_t error, const char *why)
{
    fprintf(stderr, "cudasim: device %d: %s\n", number, why);
    faults().sticky[number] = error;
}

cudaError_t sticky_error(int number)
{
    return static_cast<cudaError_t>(faults().sticky[number].load());
}
bool is_broken(int number)
{
    return sticky_error(number) != cudaSuccess;
}

} // namespace cudasim
