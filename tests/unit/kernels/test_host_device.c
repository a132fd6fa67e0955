// SPDX-License-Identifier: Apache-2.0
// The host device through its interface: memory, plans of every form in slices, faults,
// failing memory, many threads.
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/device.h"
#include "kernels/host/alloc.h"
#include "kernels/host/machine.h"
#include "kernels/host/pass.h"

static struct device *open_device(int threads, int64_t cache_limit)
{
    struct device *device;
    struct problem problem;
    assert_int_equal(host_open(threads, cache_limit, &device, &problem), STATUS_OK);
    return device;
}

// Runs a kernel to its end; the number of slices, or -1 with the status in problem.
static int64_t run(struct device *device, const struct kernel *kernel,
                   struct problem *problem)
{
    struct plan *plan;
    if (device->vt->plan(device, kernel, &plan, problem) != STATUS_OK)
        return -1;
    int64_t slices = 0, done = -1, total = 0, before;
    enum slice slice;
    do {
        slice = device->vt->plan_next(plan, problem);
        before = done;
        device->vt->plan_progress(plan, &done, &total);
        if (done <= before || done > total) // progress must grow
            abort();
        slices++;
    } while (slice == SLICE_MORE);
    if (done != total)
        abort();
    device->vt->plan_free(plan);
    return slice == SLICE_DONE ? slices : -1;
}

static void it_says_what_it_is(void **state)
{
    struct device *device = open_device(2, 1 << 20);
    struct device_details details;
    struct device_memory memory;
    assert_int_equal(device->index, 0);
    assert_string_equal(device->id, "cpu");
    assert_true(device->is_host);
    device->vt->details(device, &details);
    assert_string_equal(details.kind, "cpu");
    assert_true(strlen(details.name) > 0);
    assert_string_equal(details.driver, "");
    assert_string_equal(details.runtime, "");
    assert_int_equal(details.n_processes, 0);
    device->vt->memory(device, &memory);
    assert_true(memory.total > 0 && memory.free > 0 && memory.free <= memory.total);
    assert_true(memory.used >= 0 && memory.used <= memory.total);
    assert_int_equal(memory.cached, 0);
    device->vt->close(device);
}

static void meminfo_is_read(void **state)
{
    const char *text = "MemTotal:        4028484 kB\nMemFree: 1 kB\nMemAvailable:    "
                       "3000000 kB\nBad: x\n";
    assert_int_equal(meminfo_bytes(text, "MemTotal"), INT64_C(4028484) * 1024);
    assert_int_equal(meminfo_bytes(text, "MemAvailable"), INT64_C(3000000) * 1024);
    assert_int_equal(meminfo_bytes(text, "Mem"), -1);
    assert_int_equal(meminfo_bytes(text, "Bad"), -1);
    assert_int_equal(meminfo_bytes(text, "Swap"), -1);
}

static void memory_is_lent_cleared_copied(void **state)
{
    struct device *device = open_device(2, 64 << 20);
    struct problem problem;
    struct device_memory memory;
    void *a, *b;
    for (int64_t bytes = 1; bytes < 40000000; bytes = bytes * 50 + 7) {
        assert_int_equal(device->vt->allocate(device, bytes, &a, &problem), STATUS_OK);
        assert_int_equal(device->vt->allocate(device, bytes, &b, &problem), STATUS_OK);
        for (int64_t i = 0; i < bytes; i++)
            ((char *)a)[i] = (char)(i % 251 + 1);
        memset(b, 7, (size_t)bytes);
        for (int direction = COPY_TO_DEVICE; direction <= COPY_WITHIN; direction++) {
            assert_int_equal(device->vt->clear(device, b, bytes, &problem), STATUS_OK);
            int64_t zeros = 0;
            for (int64_t i = 0; i < bytes; i++)
                zeros += ((char *)b)[i] == 0;
            assert_int_equal(zeros, bytes);
            assert_int_equal(device->vt->copy(device, b, a, bytes,
                                              (enum copy_direction)direction, &problem),
                             STATUS_OK);
            assert_memory_equal(a, b, (size_t)bytes);
        }
        device->vt->release(device, a, bytes);
        device->vt->release(device, b, bytes);
    }
    device->vt->memory(device, &memory);
    assert_true(memory.cached > 0 && memory.cached <= 64 << 20);
    assert_int_equal(device->vt->trim(device), memory.cached);
    device->vt->memory(device, &memory);
    assert_int_equal(memory.cached, 0);
    assert_int_equal(device->vt->allocate(device, INT64_C(1) << 60, &a, &problem),
                     STATUS_OUT_OF_MEMORY);
    assert_int_equal(problem.status, STATUS_OUT_OF_MEMORY);
    assert_int_equal(problem.required_bytes, INT64_C(1) << 60);
    device->vt->close(device);
}

// ---- Passes
static void binary_pass(struct pass *pass, enum map_op op, enum dtype dtype,
                        int64_t count, const void *a, const void *b, void *output)
{
    *pass = (struct pass){
        .ndim = 1,
        .shape = {count},
        .n_inputs = 2,
        .n_instructions = 1,
        .output = output,
        .output_dtype = dtype,
        .output_strides = {1},
        .inputs = {{.kind = PASS_MEMORY, .dtype = dtype, .data = a, .strides = {1}},
                   {.kind = PASS_MEMORY, .dtype = dtype, .data = b, .strides = {1}}},
        .instructions = {{.op = (uint8_t)op, .dtype = (uint8_t)dtype, .a = 0, .b = 1}},
    };
}

static void passes_of_every_size_run(void **state)
{
    static const int64_t counts[] = {1,      3,      HOST_PASS_SMALL, HOST_PASS_SMALL + 1,
                                     100000, 5000000};
    struct device *device = open_device(2, 0);
    struct problem problem;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        int64_t count = counts[c];
        int32_t *a = malloc((size_t)count * 4), *b = malloc((size_t)count * 4),
                *y = malloc((size_t)count * 4);
        for (int64_t i = 0; i < count; i++) {
            a[i] = (int32_t)(i * 3);
            b[i] = (int32_t)(i % 1000 - 500);
        }
        struct pass pass;
        struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
        binary_pass(&pass, MAP_sub, DTYPE_INT32, count, a, b, y);
        assert_true(run(device, &kernel, &problem) >= 1);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(y[i], i * 3 - (i % 1000 - 500));
        free(a), free(b), free(y);
    }
    device->vt->close(device);
}

// 0 + 1 + ... + (n - 1) = n (n - 1) / 2, from the index of each element.
static void reductions_are_finished(void **state)
{
    struct device *device = open_device(2, 0);
    struct problem problem;
    for (int64_t n = 10; n <= 10000000; n *= 10) {
        int64_t sum = -1;
        struct pass pass = {.ndim = 1,
                            .n_reduced = 1,
                            .shape = {n},
                            .n_inputs = 1,
                            .reduce = PASS_SUM,
                            .inputs = {{.kind = PASS_INDEX, .dtype = DTYPE_INT64}},
                            .output = &sum,
                            .output_dtype = DTYPE_INT64};
        struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
        assert_true(run(device, &kernel, &problem) >= 1);
        assert_int_equal(sum, n * (n - 1) / 2);
    }
    device->vt->close(device);
}

// The plan that met a zero fails, and no other; synchronize has nothing to say.
static void a_division_by_zero_fails_its_plan(void **state)
{
    struct device *device = open_device(2, 0);
    struct problem problem;
    for (int64_t count = 5; count <= 500000; count *= 100) {
        int32_t *a = malloc((size_t)count * 4), *b = malloc((size_t)count * 4),
                *y = malloc((size_t)count * 4);
        for (int64_t i = 0; i < count; i++) {
            a[i] = 7;
            b[i] = 2;
        }
        struct pass pass;
        struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
        binary_pass(&pass, MAP_floor_divide, DTYPE_INT32, count, a, b, y);
        assert_true(run(device, &kernel, &problem) >= 1);
        assert_int_equal(y[count - 1], 3);
        b[count - 2] = 0;
        assert_int_equal(run(device, &kernel, &problem), -1);
        assert_int_equal(problem.status, STATUS_ZERO_DIVISION);
        assert_int_equal(device->vt->synchronize(device, &problem), STATUS_OK);
        b[count - 2] = 2;
        assert_true(run(device, &kernel, &problem) >= 1);
        free(a), free(b), free(y);
    }
    device->vt->close(device);
}

// ---- Products and softmax
struct product {
    struct kernel kernel;
    float *a, *b, *c;
    int64_t count;
};
static void product_make(struct product *p, enum dtype dtype, int64_t n)
{
    p->count = n * n;
    p->a = calloc((size_t)p->count, sizeof(float));
    p->b = calloc((size_t)p->count, sizeof(float));
    p->c = calloc((size_t)p->count, sizeof(float));
    for (int64_t i = 0; i < p->count && dtype == DTYPE_FLOAT32; i++) {
        p->a[i] = (float)(i % 11) * 0.37f;
        p->b[i] = (float)(i % 13) * 0.73f;
    }
    p->kernel = (struct kernel){.form = KERNEL_GEMM,
                                .gemm = {.dtype = dtype,
                                         .m = n,
                                         .n = n,
                                         .k = n,
                                         .a = p->a,
                                         .b = p->b,
                                         .c = p->c,
                                         .a_row = n,
                                         .a_column = 1,
                                         .b_row = n,
                                         .b_column = 1,
                                         .c_row = n}};
}
static void product_free(struct product *p)
{
    free(p->a), free(p->b), free(p->c);
}

// Products of n^2 elements: every c[i, j] by a plain loop in double, sampled.
static void products_run_in_slices(void **state)
{
    struct problem problem;
    struct product p;
    float *first = NULL;
    product_make(&p, DTYPE_FLOAT32, 530);
    for (int threads = 1; threads <= 3; threads++) {
        struct device *device = open_device(threads, 0);
        memset(p.c, 0xFF, (size_t)p.count * 4);
        assert_true(run(device, &p.kernel, &problem) >= 1);
        for (int64_t i = 0; i < p.count; i += 997) {
            double sum = 0;
            for (int64_t l = 0; l < 530; l++)
                sum += (double)p.a[i / 530 * 530 + l] * (double)p.b[l * 530 + i % 530];
            assert_true(fabs((double)p.c[i] - sum) <= sum * 530 * 0x1p-24);
        }
        if (first == NULL) {
            first = malloc((size_t)p.count * 4);
            memcpy(first, p.c, (size_t)p.count * 4);
        }
        assert_memory_equal(first, p.c, (size_t)p.count * 4); // threads change no bits
        device->vt->close(device);
    }
    free(first);
    product_free(&p);
}

static void a_long_plan_is_cut_and_can_be_dropped(void **state)
{
    struct device *device = open_device(1, 8 << 20);
    struct problem problem;
    struct product p;
    struct plan *plan;
    int64_t done, total;
    product_make(&p, DTYPE_FLOAT16, 1400);
    assert_int_equal(device->vt->plan(device, &p.kernel, &plan, &problem), STATUS_OK);
    device->vt->plan_progress(plan, &done, &total);
    assert_int_equal(done, 0);
    assert_true(total > 4);
    assert_int_equal(device->vt->plan_next(plan, &problem), SLICE_MORE);
    device->vt->plan_progress(plan, &done, &total);
    assert_true(done > 0 && done < total);
    device->vt->plan_free(plan);
    assert_true(device->vt->busy(device) > 0);
    product_free(&p);
    device->vt->close(device);
}

static void softmax_runs(void **state)
{
    struct device *device = open_device(2, 0);
    struct problem problem;
    enum { OUTER = 3000, N = 100 };
    double *x = calloc(OUTER * N, sizeof *x);
    struct kernel kernel = {
        .form = KERNEL_SOFTMAX,
        .softmax = {
            .dtype = DTYPE_FLOAT64, .outer = OUTER, .n = N, .inner = 1, .x = x, .y = x}};
    assert_true(run(device, &kernel, &problem) >= 1);
    for (int i = 0; i < OUTER * N; i++)
        assert_true(x[i] == 0.01);
    free(x);
    device->vt->close(device);
}

static void busy_time_grows(void **state)
{
    struct device *device = open_device(2, 0);
    struct problem problem;
    struct product p;
    product_make(&p, DTYPE_FLOAT32, 300);
    int64_t before = device->vt->busy(device);
    assert_int_equal(before, 0);
    for (int i = 0; i < 3; i++) {
        assert_true(run(device, &p.kernel, &problem) >= 1);
        assert_true(device->vt->busy(device) > before);
        before = device->vt->busy(device);
    }
    product_free(&p);
    device->vt->close(device);
}

// Plans and workspaces: whichever allocation fails, the answer is out-of-memory and the
// next try succeeds.
static void failing_allocations_are_reported(void **state)
{
    struct device *device = open_device(1, 0);
    struct problem problem;
    struct product p;
    int failures = 0;
    product_make(&p, DTYPE_BFLOAT16, 20);
    for (int n = 1; n < 10; n++) {
        host_alloc_fail_after(n);
        int64_t slices = run(device, &p.kernel, &problem);
        host_alloc_fail_after(0);
        if (slices >= 1)
            break;
        assert_int_equal(problem.status, STATUS_OUT_OF_MEMORY);
        failures++;
    }
    assert_int_equal(failures, 2); // the plan and its workspace
    assert_true(run(device, &p.kernel, &problem) >= 1);
    void *block;
    host_alloc_fail_after(1);
    assert_int_equal(device->vt->allocate(device, 100, &block, &problem),
                     STATUS_OUT_OF_MEMORY);
    assert_int_equal(problem.required_bytes, 100);
    product_free(&p);
    device->vt->close(device);
}

// ---- Several threads compute at once; a fault stays with its own plan.
static void *compute(void *argument)
{
    struct device *device = argument;
    struct problem problem;
    enum { COUNT = 20000 };
    int32_t *a = malloc(COUNT * 4), *b = malloc(COUNT * 4), *y = malloc(COUNT * 4);
    struct product p;
    product_make(&p, DTYPE_FLOAT32, 200);
    for (int i = 0; i < COUNT; i++)
        a[i] = b[i] = i + 1;
    for (int round = 0; round < 30; round++) {
        struct pass pass;
        struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
        bool zero = round % 2 == 1;
        int64_t count = round % 3 == 0 ? 100 : COUNT;
        b[50] = zero ? 0 : 51;
        binary_pass(&pass, MAP_remainder, DTYPE_INT32, count, a, b, y);
        if ((run(device, &kernel, &problem) < 0) != zero || y[49] != 0)
            abort();
        if (run(device, &p.kernel, &problem) < 1)
            abort();
    }
    free(a), free(b), free(y);
    product_free(&p);
    return NULL;
}

static void threads_share_the_device(void **state)
{
    struct device *device = open_device(3, 1 << 20);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compute, device), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_true(device->vt->busy(device) > 0);
    device->vt->close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_it_is),
        cmocka_unit_test(meminfo_is_read),
        cmocka_unit_test(memory_is_lent_cleared_copied),
        cmocka_unit_test(passes_of_every_size_run),
        cmocka_unit_test(reductions_are_finished),
        cmocka_unit_test(a_division_by_zero_fails_its_plan),
        cmocka_unit_test(products_run_in_slices),
        cmocka_unit_test(a_long_plan_is_cut_and_can_be_dropped),
        cmocka_unit_test(softmax_runs),
        cmocka_unit_test(busy_time_grows),
        cmocka_unit_test(failing_allocations_are_reported),
        cmocka_unit_test(threads_share_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
