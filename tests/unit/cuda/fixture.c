// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cuda/fixture.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct device *device;

// Writes the path of a file of the build folder.
static void build_path(char *path, size_t size, const char *file)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    char *end = strstr(self, "/tests/unit/cuda/");
    assert_non_null(end);
    *end = '\0';
    assert_true(snprintf(path, size, "%s/%s", self, file) < (int)size);
}

static const char *plugin_file(enum fixture_plugin plugin)
{
    return plugin == FIXTURE_GCC ? "cudasim/libtensord_cuda.so" : "libtensord_cuda.so";
}

// On a real card only the shipping plugin runs, on the real libraries.
static bool is_real(void)
{
    return getenv("TENSORD_REAL_GPU") != NULL;
}

bool fixture_has(enum fixture_plugin plugin)
{
    char path[PATH_MAX];
    if (plugin == FIXTURE_GCC && is_real())
        return false;
    build_path(path, sizeof path, plugin_file(plugin));
    return access(path, R_OK) == 0;
}

int fixture_probe(enum fixture_plugin plugin, struct problem *problem)
{
    // A library already loaded under its name answers to later requests for it.
    static const char *const libraries[] = {"libcuda.so.1", "libcudart.so.13",
                                            "libcublas.so.13", "libnvidia-ml.so.1"};
    char path[PATH_MAX], file[64];
    for (int i = 0; i < 4 && !is_real(); i++) {
        snprintf(file, sizeof file, "cudasim/%s", libraries[i]);
        build_path(path, sizeof path, file);
        if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
            fail_msg("%s", dlerror());
    }
    build_path(path, sizeof path, plugin_file(plugin));
    setenv("TENSORD_CUDA_PLUGIN", path, 1);
    return plugin_probe(problem);
}

void fixture_open(enum fixture_plugin plugin, int64_t memory_limit)
{
    struct problem problem;
    if (fixture_probe(plugin, &problem) < 1 ||
        plugin_device_open(0, memory_limit, &device, &problem) != STATUS_OK)
        fail_msg("%s", problem.detail);
}

void fixture_close(void)
{
    if (device)
        device->vt->close(device);
    device = NULL;
}

static int open_gcc(void **state)
{
    fixture_open(FIXTURE_GCC, 0);
    return 0;
}
static int open_nvcc(void **state)
{
    fixture_open(FIXTURE_NVCC, 0);
    return 0;
}
static int close_device(void **state)
{
    fixture_close();
    return 0;
}

int fixture_run(const char *name, const struct CMUnitTest *tests, size_t count)
{
    char title[96];
    int failures = 0;
    snprintf(title, sizeof title, "%s, g++ plugin", name);
    if (fixture_has(FIXTURE_GCC))
        failures += _cmocka_run_group_tests(title, tests, count, open_gcc, close_device);
    if (!fixture_has(FIXTURE_NVCC)) {
        printf("%s: no plugin built by nvcc, its tests are skipped\n", name);
        return failures;
    }
    snprintf(title, sizeof title, "%s, nvcc plugin", name);
    return failures +
           _cmocka_run_group_tests(title, tests, count, open_nvcc, close_device);
}

static void check(enum status status, const struct problem *problem)
{
    if (status != STATUS_OK)
        fail_msg("%s", problem->detail);
}

void *fixture_block(int64_t length)
{
    struct problem problem;
    void *block = NULL;
    check(device->vt->allocate(device, length, &block, &problem), &problem);
    return block;
}

void *fixture_put(const void *bytes, int64_t length)
{
    struct problem problem;
    void *block = fixture_block(length);
    check(device->vt->copy(device, block, bytes, length, COPY_TO_DEVICE, &problem),
          &problem);
    return block;
}

void fixture_take(void *block, void *bytes, int64_t length)
{
    struct problem problem;
    check(device->vt->copy(device, bytes, block, length, COPY_FROM_DEVICE, &problem),
          &problem);
    fixture_drop(block, length);
}

void fixture_drop(void *block, int64_t length)
{
    device->vt->release(device, block, length);
}

enum status fixture_try(const struct kernel *kernel, struct problem *problem)
{
    struct plan *plan;
    enum status status = device->vt->plan(device, kernel, &plan, problem);
    if (status != STATUS_OK)
        return status;
    enum slice slice;
    while ((slice = device->vt->plan_next(plan, problem)) == SLICE_MORE)
        continue;
    int64_t done, total;
    device->vt->plan_progress(plan, &done, &total);
    device->vt->plan_free(plan);
    if (slice == SLICE_FAILED)
        return problem->status;
    assert_int_equal(done, total);
    return device->vt->synchronize(device, problem);
}

void fixture_do(const struct kernel *kernel)
{
    struct problem problem;
    check(fixture_try(kernel, &problem), &problem);
}

void fixture_pass(const struct pass *pass)
{
    fixture_do(&(struct kernel){.form = KERNEL_PASS, .pass = pass});
}

double fixture_get(const void *data, enum dtype dtype, int64_t i)
{
    union element element = {0};
    memcpy(&element, (const char *)data + i * dtype_size(dtype),
           (size_t)dtype_size(dtype));
    switch (dtype) {
    case DTYPE_INT8:
        return element.i8;
    case DTYPE_INT16:
        return element.i16;
    case DTYPE_INT32:
        return element.i32;
    case DTYPE_INT64:
        return (double)element.i64;
    case DTYPE_FLOAT16:
        return float16_to_float(element.bits16);
    case DTYPE_BFLOAT16:
        return bfloat16_to_float(element.bits16);
    case DTYPE_FLOAT32:
        return element.f32;
    case DTYPE_FLOAT64:
        return element.f64;
    default:
        return element.u8;
    }
}

void fixture_set(void *data, enum dtype dtype, int64_t i, double value)
{
    union element element = {0};
    int64_t whole = value >= -9223372036854775808.0 && value < 9223372036854775808.0
                        ? (int64_t)value
                        : INT64_MIN;
    if (dtype == DTYPE_BOOL)
        element.u8 = value != 0;
    else if (dtype == DTYPE_FLOAT16)
        element.bits16 = float16_from_float((float)value);
    else if (dtype == DTYPE_BFLOAT16)
        element.bits16 = bfloat16_from_float((float)value);
    else if (dtype == DTYPE_FLOAT32)
        element.f32 = (float)value;
    else if (dtype == DTYPE_FLOAT64)
        element.f64 = value;
    else
        element.i64 = whole; // little-endian: the lower bytes are the wrapped value
    memcpy((char *)data + i * dtype_size(dtype), &element, (size_t)dtype_size(dtype));
}

double fixture_ulp(enum dtype dtype, double value)
{
    int bits = dtype == DTYPE_FLOAT16    ? 11
               : dtype == DTYPE_BFLOAT16 ? 8
               : dtype == DTYPE_FLOAT32  ? 24
                                         : 53;
    int least = dtype == DTYPE_FLOAT16 ? -24 : dtype == DTYPE_FLOAT64 ? -1074 : -149;
    if (dtype == DTYPE_BFLOAT16)
        least = -133;
    if (!dtype_is_float(dtype))
        return 1;
    int exponent = 0;
    frexp(value, &exponent);
    exponent -= bits;
    return ldexp(1, value == 0 || exponent < least ? least : exponent);
}

uint32_t fixture_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}
