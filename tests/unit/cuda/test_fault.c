// SPDX-License-Identifier: Apache-2.0
// Errors on demand: each scenario runs in a process of its own, with its settings of the
// simulator, and exits with 0 or with the line of the check that failed.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cuda/fixture.h"

static enum fixture_plugin plugin;

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition))                                                                \
            return __LINE__;                                                             \
    } while (0)

// Runs body with one environment variable set; its return value, modulo 256, is what the
// process exits with.
static void scenario(const char *name, const char *value, int (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv(name, value, 1);
        int line = body();
        if (line != 0)
            fprintf(stderr, "%s=%s: the check in line %d failed\n", name, value, line);
        exit(line != 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("%s=%s: %s %d", name, value,
                 WIFSIGNALED(status) ? "signal" : "exit status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static struct problem problem;

static bool start(void)
{
    return fixture_probe(plugin, &problem) >= 1 &&
           plugin_device_open(0, 0, &device, &problem) == STATUS_OK;
}

static enum status allocate(void **out)
{
    return device->vt->allocate(device, 4096, out, &problem);
}

// x + 1 over 1000 floats.
static struct pass add_one(void *block)
{
    struct pass pass = {.ndim = 1,
                        .shape = {1000},
                        .n_inputs = 2,
                        .n_instructions = 1,
                        .instructions = {{MAP_add, DTYPE_FLOAT32, 0, 1, 0}},
                        .output = block,
                        .output_dtype = DTYPE_FLOAT32,
                        .output_strides = {1}};
    pass.inputs[0] = (struct pass_input){
        .kind = PASS_MEMORY, .dtype = DTYPE_FLOAT32, .data = block, .strides = {1}};
    pass.inputs[1] = (struct pass_input){
        .kind = PASS_CONSTANT, .dtype = DTYPE_FLOAT32, .constant = {.f32 = 1}};
    return pass;
}

static enum status compute(void *block)
{
    struct pass pass = add_one(block);
    return fixture_try(&(struct kernel){.form = KERNEL_PASS, .pass = &pass}, &problem);
}

static enum status multiply(void *block)
{
    struct gemm gemm = {.dtype = DTYPE_FLOAT32,
                        .m = 4,
                        .n = 4,
                        .k = 4,
                        .a = block,
                        .b = block,
                        .c = (char *)block + 2048,
                        .a_row = 4,
                        .a_column = 1,
                        .b_row = 4,
                        .b_column = 1,
                        .c_row = 4};
    return fixture_try(&(struct kernel){.form = KERNEL_GEMM, .gemm = gemm}, &problem);
}

static enum status copy(void *block)
{
    char host[4096] = {0};
    return device->vt->copy(device, block, host, sizeof host, COPY_TO_DEVICE, &problem);
}

// Everything answers the first fault; what only gives back still works.
static int check_broken(void *block, const char *error)
{
    CHECK(problem.status == STATUS_DEVICE_FAULT);
    CHECK(strstr(problem.detail, error) != NULL);
    CHECK(strcmp(problem.devices, "cuda:0") == 0);
    void *other;
    CHECK(allocate(&other) == STATUS_DEVICE_FAULT && strstr(problem.detail, error));
    CHECK(compute(block) == STATUS_DEVICE_FAULT && strstr(problem.detail, error));
    CHECK(copy(block) == STATUS_DEVICE_FAULT);
    CHECK(device->vt->clear(device, block, 4096, &problem) == STATUS_DEVICE_FAULT);
    CHECK(device->vt->synchronize(device, &problem) == STATUS_DEVICE_FAULT);
    CHECK(device->vt->trim(device) == 0);
    CHECK(device->vt->busy(device) >= 0);
    struct device_details details;
    struct device_memory memory;
    device->vt->details(device, &details);
    device->vt->memory(device, &memory);
    device->vt->release(device, block, 4096);
    fixture_close();
    return 0;
}

static int allocation_is_missing(void)
{
    void *block;
    CHECK(start());
    CHECK(allocate(&block) == STATUS_OUT_OF_MEMORY);
    CHECK(allocate(&block) == STATUS_OK && compute(block) == STATUS_OK);
    device->vt->release(device, block, 4096);
    fixture_close();
    return 0;
}

static int allocation_breaks(void)
{
    void *block, *second;
    CHECK(start() && allocate(&block) == STATUS_OK);
    CHECK(allocate(&second) == STATUS_DEVICE_FAULT);
    return check_broken(block, "cudaErrorLaunchFailure");
}

static int copy_breaks(void)
{
    void *block;
    CHECK(start() && allocate(&block) == STATUS_OK);
    CHECK(copy(block) == STATUS_DEVICE_FAULT);
    return check_broken(block, "cudaErrorIllegalAddress");
}

static int launch_breaks(void)
{
    void *block;
    CHECK(start() && allocate(&block) == STATUS_OK);
    CHECK(compute(block) == STATUS_DEVICE_FAULT);
    return check_broken(block, "cudaErrorInvalidDeviceFunction");
}

static int launch_lacks_memory(void)
{
    void *block;
    CHECK(start() && allocate(&block) == STATUS_OK);
    CHECK(compute(block) == STATUS_OUT_OF_MEMORY);
    CHECK(compute(block) == STATUS_OK);
    device->vt->release(device, block, 4096);
    fixture_close();
    return 0;
}

// The kernel itself faults: launching succeeds, waiting reports it.
static int kernel_breaks(void)
{
    void *block;
    CHECK(start() && allocate(&block) == STATUS_OK);
    CHECK(compute(block) == STATUS_DEVICE_FAULT);
    return check_broken(block, "an illegal memory access");
}

static int product_breaks(void)
{
    void *block;
    CHECK(start() && allocate(&block) == STATUS_OK && copy(block) == STATUS_OK);
    CHECK(multiply(block) == STATUS_DEVICE_FAULT);
    return check_broken(block, "CUBLAS_STATUS_EXECUTION_FAILED");
}

static int cublas_lacks_memory(void)
{
    void *block;
    CHECK(start() && allocate(&block) == STATUS_OK && copy(block) == STATUS_OK);
    CHECK(multiply(block) == STATUS_OUT_OF_MEMORY);
    CHECK(multiply(block) == STATUS_OK);
    device->vt->release(device, block, 4096);
    fixture_close();
    return 0;
}

static int opening_fails(void)
{
    CHECK(fixture_probe(plugin, &problem) == 1);
    CHECK(plugin_device_open(0, 0, &device, &problem) == STATUS_DEVICE_FAULT);
    CHECK(strstr(problem.detail, "cudaErrorUnknown"));
    CHECK(plugin_device_open(1, 0, &device, &problem) == STATUS_DEVICE);
    return 0;
}

static int no_device(void)
{
    CHECK(fixture_probe(plugin, &problem) == 0 && strstr(problem.detail, "100"));
    return 0;
}

static int stub_driver(void)
{
    CHECK(fixture_probe(plugin, &problem) == 0 && strstr(problem.detail, "stub"));
    return 0;
}

static int no_plugin(void)
{
    fixture_probe(plugin, &problem); // loads the stand-in driver
    setenv("TENSORD_CUDA_PLUGIN", "/nonexistent/plugin.so", 1);
    CHECK(plugin_probe(&problem) == 0 &&
          strstr(problem.detail, "/nonexistent/plugin.so"));
    return 0;
}

static int two_devices(void)
{
    struct device *both[2];
    void *blocks[2];
    CHECK(fixture_probe(plugin, &problem) == 2);
    for (int d = 0; d < 2; d++) { // each open makes its device the thread's current one
        CHECK(plugin_device_open(d, 0, &both[d], &problem) == STATUS_OK);
        device = both[d];
        CHECK(allocate(&blocks[d]) == STATUS_OK && compute(blocks[d]) == STATUS_OK);
    }
    CHECK(strcmp(both[1]->id, "cuda:1") == 0);
    CHECK(compute(blocks[0]) ==
          STATUS_DEVICE_FAULT); // memory of cuda:0 in a kernel of cuda:1
    CHECK(strcmp(problem.devices, "cuda:1") == 0);
    for (int d = 0; d < 2; d++) {
        both[d]->vt->release(both[d], blocks[d], 4096);
        both[d]->vt->close(both[d]);
    }
    return 0;
}

// One worker thread for each device, as in the daemon.
static void *work(void *argument)
{
    static float first[2][1000];
    struct problem own;
    struct device *mine;
    int d = *(int *)argument;
    void *block;
    float host[1000];
    if (plugin_device_open(d, 0, &mine, &own) != STATUS_OK ||
        mine->vt->allocate(mine, sizeof host, &block, &own) != STATUS_OK)
        return NULL;
    memset(host, 0, sizeof host);
    enum status status =
        mine->vt->copy(mine, block, host, sizeof host, COPY_TO_DEVICE, &own);
    struct pass pass = add_one(block);
    struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
    for (int i = 0; i < 30 && status == STATUS_OK; i++) {
        struct plan *plan;
        struct device_details details;
        status = mine->vt->plan(mine, &kernel, &plan, &own);
        if (status != STATUS_OK || mine->vt->plan_next(plan, &own) == SLICE_FAILED)
            return NULL;
        mine->vt->plan_free(plan);
        mine->vt->details(mine, &details);
    }
    if (status == STATUS_OK)
        status =
            mine->vt->copy(mine, first[d], block, sizeof host, COPY_FROM_DEVICE, &own);
    mine->vt->release(mine, block, sizeof host);
    mine->vt->close(mine);
    return status == STATUS_OK && first[d][999] == 30 ? first[d] : NULL;
}

static int two_workers(void)
{
    pthread_t threads[2];
    int numbers[2] = {0, 1};
    CHECK(fixture_probe(plugin, &problem) == 2);
    for (int d = 0; d < 2; d++)
        CHECK(pthread_create(&threads[d], NULL, work, &numbers[d]) == 0);
    for (int d = 0; d < 2; d++) {
        void *result = NULL;
        pthread_join(threads[d], &result);
        CHECK(result != NULL);
    }
    return 0;
}

static void test_allocation(void **state)
{
    scenario("CUDASIM_FAULT", "cudaMalloc:2:2", allocation_is_missing);
    scenario("CUDASIM_FAULT", "cudaMalloc:3:719", allocation_breaks);
}

static void test_copy(void **state)
{
    scenario("CUDASIM_FAULT", "cudaMemcpyAsync:1:700", copy_breaks);
}

static void test_launch(void **state)
{
    scenario("CUDASIM_FAULT", "cudaLaunchKernel:1:98", launch_breaks);
    scenario("CUDASIM_FAULT", "cudaLaunchKernel:1:2", launch_lacks_memory);
    scenario("CUDASIM_FAULT", "kernel:1:700", kernel_breaks);
}

static void test_product(void **state)
{
    scenario("CUDASIM_FAULT", "cublasGemmStridedBatchedEx:1:719", product_breaks);
    scenario("CUDASIM_FAULT", "cublasCreate:1:2", cublas_lacks_memory);
}

static void test_opening(void **state)
{
    scenario("CUDASIM_FAULT", "cudaStreamCreateWithFlags:1:999", opening_fails);
    scenario("CUDASIM_DEVICES", "0", no_device);
    scenario("CUDASIM_DRIVER_ERROR", "34", stub_driver);
    scenario("CUDASIM_DEVICES", "1", no_plugin);
    scenario("CUDASIM_DEVICES", "2", two_devices);
    scenario("CUDASIM_DEVICES", "2", two_workers);
}

// A little of everything; any status is right that is OK, out of memory or a device
// fault, and closing always works.
static int little_of_everything(void)
{
    if (!start()) {
        CHECK(problem.status == STATUS_OUT_OF_MEMORY ||
              problem.status == STATUS_DEVICE_FAULT);
        return 0;
    }
    enum status statuses[6] = {0};
    void *block = NULL;
    statuses[0] = allocate(&block);
    if (statuses[0] == STATUS_OK) {
        statuses[1] = copy(block);
        statuses[2] = compute(block);
        statuses[3] = multiply(block);
        statuses[4] = device->vt->clear(device, block, 4096, &problem);
        device->vt->release(device, block, 4096);
    }
    device->vt->trim(device);
    statuses[5] = device->vt->synchronize(device, &problem);
    for (int i = 0; i < 6; i++)
        CHECK(statuses[i] == STATUS_OK || statuses[i] == STATUS_OUT_OF_MEMORY ||
              statuses[i] == STATUS_DEVICE_FAULT);
    fixture_close();
    return 0;
}

static void test_every_call_fails_once(void **state)
{
    static const char *const calls[] = {"cudaSetDevice",
                                        "cudaStreamCreateWithFlags",
                                        "cudaEventCreateWithFlags",
                                        "cudaMalloc",
                                        "cudaMemsetAsync",
                                        "cudaHostAlloc",
                                        "cudaMemGetInfo",
                                        "cudaEventRecord",
                                        "cudaEventQuery",
                                        "cudaEventElapsedTime",
                                        "cudaMemcpyAsync",
                                        "cudaLaunchKernel",
                                        "cublasCreate",
                                        "cublasSetStream",
                                        "cublasSetWorkspace",
                                        "cublasSetMathMode",
                                        "cublasGemmStridedBatchedEx",
                                        "cudaFree",
                                        "kernel"};
    char fault[96];
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        for (int nth = 1; nth <= (FIXTURE_SLOW ? 1 : 4); nth++) {
            snprintf(fault, sizeof fault, "%s:%d:%d", calls[c], nth, nth % 2 ? 719 : 2);
            scenario("CUDASIM_FAULT", fault, little_of_everything);
        }
    }
}

static int run(const char *name, enum fixture_plugin which)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocation), cmocka_unit_test(test_copy),
        cmocka_unit_test(test_launch),     cmocka_unit_test(test_product),
        cmocka_unit_test(test_opening),    cmocka_unit_test(test_every_call_fails_once),
    };
    plugin = which;
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    int failures = run("fault, g++ plugin", FIXTURE_GCC);
    if (fixture_has(FIXTURE_NVCC))
        failures += run("fault, nvcc plugin", FIXTURE_NVCC);
    return failures;
}
