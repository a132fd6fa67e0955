// SPDX-License-Identifier: Apache-2.0
// Finds CUDA: asks the driver library whether there is a device, and only then loads the
// plugin (and with it the CUDA runtime and cuBLAS). Without a driver this costs one
// failed dlopen.
//
// The probe runs once, on the main thread, before workers start; afterwards the two
// pointers are constant.
#include "kernels/device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char plugin_file[] = "libtensord_cuda.so";
static plugin_open *open_device;
static int n_devices;

// CUDA's driver interface, as far as it is used here; any result but 0 means that there
// is no device to use. 34 is what the toolkit's stub of the library answers.
typedef int driver_initialize(unsigned flags);
typedef int driver_count(int *count);
enum { DRIVER_IS_STUB = 34 };

static enum status probe_driver(struct problem *problem)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "no CUDA driver on this machine (libcuda.so.1 is not found)");
    driver_initialize *initialize;
    driver_count *get_count;
    *(void **)&initialize = dlsym(library, "cuInit");
    *(void **)&get_count = dlsym(library, "cuDeviceGetCount");
    if (!initialize || !get_count)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "libcuda.so.1 is not a CUDA driver (it lacks cuInit)");
    int count = 0;
    int error = initialize(0);
    if (error == 0)
        error = get_count(&count);
    if (error == DRIVER_IS_STUB)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "libcuda.so.1 is the toolkit's stub, not a driver");
    if (error != 0)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "the CUDA driver reports error %d", error);
    if (count < 1)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "the CUDA driver finds no device");
    return STATUS_OK; // the library stays loaded: the runtime uses it
}

// Writes the plugin's path: $TENSORD_CUDA_PLUGIN, or the file beside the executable.
// False if it is too long.
static bool find_plugin(char *path, size_t size)
{
    const char *named = getenv("TENSORD_CUDA_PLUGIN");
    if (named && *named)
        return snprintf(path, size, "%s", named) < (int)size;
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length < 0 || (size_t)length >= size)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash + 1 - path) + sizeof plugin_file > size)
        return false;
    memcpy(slash + 1, plugin_file, sizeof plugin_file);
    return true;
}

static enum status load_plugin(plugin_count **count, struct problem *problem)
{
    char path[PATH_MAX];
    if (!find_plugin(path, sizeof path))
        return problem_set(problem, STATUS_DEVICE_FAULT, "the path of %s is too long",
                           plugin_file);
    if (access(path, R_OK) != 0)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "this build has no CUDA plugin (%s is not there)", path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "the CUDA plugin does not load: %s", dlerror());
    plugin_version *version;
    plugin_open *open;
    *(void **)&version = dlsym(library, "tensord_plugin_version");
    *(void **)count = dlsym(library, "tensord_plugin_count");
    *(void **)&open = dlsym(library, "tensord_plugin_open");
    if (!version || !*count || !open || version() != DEVICE_PLUGIN_VERSION) {
        dlclose(library);
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "%s belongs to another version of tensord", path);
    }
    open_device = open;
    return STATUS_OK;
}

int plugin_probe(struct problem *problem)
{
    plugin_count *count = NULL;
    if (probe_driver(problem) != STATUS_OK || load_plugin(&count, problem) != STATUS_OK)
        return 0;
    n_devices = count(problem);
    return n_devices;
}

enum status plugin_device_open(int ordinal, int64_t memory_limit, struct device **out,
                               struct problem *problem)
{
    if (ordinal < 0 || ordinal >= n_devices)
        return problem_set(problem, STATUS_DEVICE, "There is no device cuda:%d.",
                           ordinal);
    return open_device(ordinal, memory_limit, out, problem);
}
