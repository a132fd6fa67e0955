// SPDX-License-Identifier: Apache-2.0
// Speed of the CUDA device through kernels/device.h: `measure [--small]` prints one line
// per figure, tab separated: name, value, unit. Run by tests/gpu-check on a real card;
// --small is for trying the program on the simulator. Every figure's result is checked on
// the way; a wrong one ends the program.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/device.h"

static struct device *device;
static struct problem problem;

static void need(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "measure: %s failed: %s\n", what, problem.detail);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *block(int64_t bytes)
{
    void *out = NULL;
    need(device->vt->allocate(device, bytes, &out, &problem) == STATUS_OK, "allocating");
    return out;
}

static void run(const struct kernel *kernel)
{
    struct plan *plan = NULL;
    need(device->vt->plan(device, kernel, &plan, &problem) == STATUS_OK, "planning");
    enum slice slice;
    while ((slice = device->vt->plan_next(plan, &problem)) == SLICE_MORE)
        continue;
    need(slice == SLICE_DONE, "launching");
    device->vt->plan_free(plan);
}

static void wait(void)
{
    need(device->vt->synchronize(device, &problem) == STATUS_OK, "waiting");
}

// Seconds of device time of one run, the best of `times` after one to warm up.
static double device_seconds(const struct kernel *kernel, int times)
{
    double best = INFINITY;
    run(kernel);
    wait();
    for (int t = 0; t < times; t++) {
        int64_t before = device->vt->busy(device);
        run(kernel);
        wait();
        best = fmin(best, (double)(device->vt->busy(device) - before) * 1e-9);
    }
    return best;
}

static float first_float(const void *data)
{
    float value = 0;
    need(device->vt->copy(device, &value, data, 4, COPY_FROM_DEVICE, &problem) ==
             STATUS_OK,
         "reading back");
    return value;
}

static void report(const char *name, double value, const char *unit)
{
    printf("%s\t%.4g\t%s\n", name, value, unit);
    fflush(stdout);
}

static void fill(void *data, int64_t count, float value)
{
    struct pass pass = {.ndim = 1,
                        .shape = {count},
                        .n_inputs = 1,
                        .output = data,
                        .output_dtype = DTYPE_FLOAT32,
                        .output_strides = {1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant = {.f32 = value}};
    run(&(struct kernel){.form = KERNEL_PASS, .pass = &pass});
}

static struct pass three_inputs(int64_t count, void *const *data, int n_inputs)
{
    struct pass pass = {.ndim = 1,
                        .shape = {count},
                        .n_inputs = n_inputs,
                        .output = data[3],
                        .output_dtype = DTYPE_FLOAT32,
                        .output_strides = {1}};
    for (int i = 0; i < n_inputs; i++)
        pass.inputs[i] = (struct pass_input){
            .kind = PASS_MEMORY, .dtype = DTYPE_FLOAT32, .data = data[i], .strides = {1}};
    return pass;
}

static void add(struct pass *pass, enum map_op op, int a, int b)
{
    pass->instructions[pass->n_instructions++] =
        (struct pass_instruction){(uint8_t)op, DTYPE_FLOAT32, (uint8_t)a, (uint8_t)b, 0};
}

static void measure_passes(int64_t count)
{
    void *data[4];
    for (int i = 0; i < 4; i++) {
        data[i] = block(count * 4);
        fill(data[i], count, (float)(i + 2)); // 2 3 4
    }
    struct kernel kernel = {.form = KERNEL_PASS};
    struct pass pass = three_inputs(count, data, 2);
    add(&pass, MAP_add, 0, 1);
    kernel.pass = &pass;
    report("add float32", (double)count * 12 / device_seconds(&kernel, 5) / 1e9, "GB/s");
    need(first_float(data[3]) == 5, "add");

    pass = three_inputs(count, data, 3);
    add(&pass, MAP_mul, 0, 1);
    add(&pass, MAP_add, 3, 2);
    add(&pass, MAP_relu, 4, 0);
    report("relu(a * b + c) float32",
           (double)count * 16 / device_seconds(&kernel, 5) / 1e9, "GB/s");
    need(first_float(data[3]) == 10, "relu(a * b + c)");

    pass = three_inputs(count, data, 1);
    add(&pass, MAP_exp, 0, 0);
    report("exp float32", (double)count * 8 / device_seconds(&kernel, 5) / 1e9, "GB/s");
    need(fabsf(first_float(data[3]) - 7.389056f) < 1e-5f, "exp");

    pass = three_inputs(count, data, 1);
    pass.n_reduced = 1;
    pass.reduce = PASS_SUM;
    report("sum float32", (double)count * 4 / device_seconds(&kernel, 5) / 1e9, "GB/s");
    need(first_float(data[3]) == 2 * (float)count, "sum");

    int64_t columns = 4096, rows = count / columns;
    pass = three_inputs(rows * columns, data, 1); // over the rows: neighbours are outputs
    pass.ndim = 2;
    pass.shape[0] = columns;
    pass.shape[1] = rows;
    pass.inputs[0].strides[0] = 1;
    pass.inputs[0].strides[1] = columns;
    pass.n_reduced = 1;
    pass.reduce = PASS_SUM;
    report("sum over dim 0 float32",
           (double)(rows * columns) * 4 / device_seconds(&kernel, 5) / 1e9, "GB/s");
    need(first_float(data[3]) == 2 * (float)rows, "sum over dim 0");

    columns = 1000;
    rows = count / columns;
    struct kernel softmax = {
        .form = KERNEL_SOFTMAX,
        .softmax = {DTYPE_FLOAT32, rows, columns, 1, data[0], data[3]}};
    report("softmax of rows of 1000",
           (double)(rows * columns) * 8 / device_seconds(&softmax, 5) / 1e9, "GB/s");
    need(fabsf(first_float(data[3]) - 0.001f) < 1e-6f, "softmax");
    for (int i = 0; i < 4; i++)
        device->vt->release(device, data[i], count * 4);
}

static void measure_copies(int64_t bytes)
{
    static const char *const names[] = {"copy to the device", "copy from the device",
                                        "copy within the device"};
    char *host = malloc((size_t)bytes);
    need(host != NULL, "allocating on the host");
    memset(host, 1, (size_t)bytes);
    void *from = block(bytes), *to = block(bytes);
    for (int d = COPY_TO_DEVICE; d <= COPY_WITHIN; d++) {
        double best = INFINITY;
        for (int t = 0; t < 4; t++) {
            double start = now();
            enum status status =
                device->vt->copy(device, d == COPY_FROM_DEVICE ? (void *)host : to,
                                 d == COPY_TO_DEVICE ? (void *)host : from, bytes,
                                 (enum copy_direction)d, &problem);
            need(status == STATUS_OK, "copying");
            best = fmin(best, now() - start);
        }
        report(names[d], (double)bytes * (d == COPY_WITHIN ? 2 : 1) / best / 1e9, "GB/s");
    }
    device->vt->release(device, from, bytes);
    device->vt->release(device, to, bytes);
    free(host);
}

static void measure_product(enum dtype dtype, int64_t n)
{
    char name[64];
    int64_t bytes = n * n * dtype_size(dtype);
    void *a = block(bytes), *b = block(bytes), *c = block(bytes);
    struct pass pass = {.ndim = 1,
                        .shape = {n * n},
                        .n_inputs = 1,
                        .n_instructions = 1,
                        .instructions = {{MAP_CAST, (uint8_t)dtype, 0, 0, 0}},
                        .output_dtype = dtype,
                        .output_strides = {1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant = {.f32 = 0.5f}};
    pass.output = a;
    run(&(struct kernel){.form = KERNEL_PASS, .pass = &pass});
    pass.output = b;
    run(&(struct kernel){.form = KERNEL_PASS, .pass = &pass});
    struct kernel kernel = {.form = KERNEL_GEMM,
                            .gemm = {.dtype = dtype,
                                     .m = n,
                                     .n = n,
                                     .k = n,
                                     .a = a,
                                     .b = b,
                                     .c = c,
                                     .a_row = n,
                                     .a_column = 1,
                                     .b_row = n,
                                     .b_column = 1,
                                     .c_row = n}};
    snprintf(name, sizeof name, "matmul %s %ld", dtype_name(dtype), (long)n);
    report(name, 2 * pow((double)n, 3) / device_seconds(&kernel, 3) / 1e12, "TFLOP/s");
    if (dtype == DTYPE_FLOAT32)
        need(first_float(c) == (float)n / 4, "matmul");
    device->vt->release(device, a, bytes);
    device->vt->release(device, b, bytes);
    device->vt->release(device, c, bytes);
}

// A tiny operation over and over: launched alone, and launched and waited for.
static void measure_latency(int times)
{
    void *data[4];
    for (int i = 0; i < 4; i++) {
        data[i] = block(4096);
        fill(data[i], 8, 1);
    }
    struct pass pass = three_inputs(8, data, 2);
    add(&pass, MAP_add, 0, 1);
    struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
    run(&kernel);
    wait();
    double start = now();
    for (int t = 0; t < times; t++)
        run(&kernel);
    wait();
    report("tiny add, launched", (now() - start) / times * 1e6, "us");
    start = now();
    for (int t = 0; t < times; t++) {
        run(&kernel);
        wait();
    }
    report("tiny add, launched and waited for", (now() - start) / times * 1e6, "us");
    for (int i = 0; i < 4; i++)
        device->vt->release(device, data[i], 4096);
}

int main(int count, char **arguments)
{
    bool little = count > 1 && strcmp(arguments[1], "--small") == 0;
    double start = now();
    need(plugin_probe(&problem) > 0, "finding a device");
    need(plugin_device_open(0, 0, &device, &problem) == STATUS_OK, "opening cuda:0");
    report("opening the device", (now() - start) * 1e3, "ms");
    measure_copies(little ? 1 << 20 : 1 << 28);
    measure_passes(little ? 100000 : 1 << 28);
    measure_product(DTYPE_FLOAT32, little ? 64 : 8192);
    measure_product(DTYPE_FLOAT64, little ? 64 : 8192);
    measure_product(DTYPE_FLOAT16, little ? 64 : 8192);
    measure_product(DTYPE_BFLOAT16, little ? 64 : 8192);
    measure_product(DTYPE_INT32, little ? 64 : 2048);
    measure_latency(little ? 100 : 2000);
    device->vt->close(device);
    return 0;
}
