// SPDX-License-Identifier: Apache-2.0
// A stand-in for the driver library, libcuda.so.1: what the daemon probes before it loads
// the plugin. CUDASIM_DRIVER_ERROR makes cuInit answer that number, as a broken driver
// does.
#include <cstdlib>

static int setting(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text && *text ? static_cast<int>(strtol(text, nullptr, 10)) : otherwise;
}

extern "C" {
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);

int cuInit(unsigned)
{
    int error = setting("CUDASIM_DRIVER_ERROR", 0);
    return error ? error : setting("CUDASIM_DEVICES", 1) > 0 ? 0 : 100;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = setting("CUDASIM_DEVICES", 1);
    return setting("CUDASIM_DRIVER_ERROR", 0);
}
}
