// SPDX-License-Identifier: Apache-2.0
// Memory of the CUDA device: copies, the pool, running out and recovering, facts. On a
// simulated card of 64 MiB.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/cuda/fixture.h"

enum { MIB = 1 << 20, CARD = 64 * MIB };

static enum status allocate(int64_t bytes, void **out, struct problem *problem)
{
    return device->vt->allocate(device, bytes, out, problem);
}

static int64_t cached(void)
{
    struct device_memory memory;
    device->vt->memory(device, &memory);
    return memory.cached;
}

static void test_copies(void **state)
{
    static const int64_t sizes[] = {1,       3,           4097,    2 * MIB - 1,
                                    2 * MIB, 2 * MIB + 1, 4 * MIB, 5 * MIB + 7};
    struct problem problem;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t bytes = sizes[s];
        char *from = malloc((size_t)bytes), *to = calloc((size_t)bytes + 2, 1);
        uint32_t random = (uint32_t)bytes;
        for (int64_t i = 0; i < bytes; i++)
            from[i] = (char)fixture_random(&random);
        char *block = fixture_block(bytes + 3), *second = fixture_block(bytes + 5);
        assert_int_equal((uintptr_t)block % 256, 0);
        assert_int_equal(
            device->vt->copy(device, block + 3, from, bytes, COPY_TO_DEVICE, &problem),
            STATUS_OK);
        assert_int_equal(
            device->vt->copy(device, second + 5, block + 3, bytes, COPY_WITHIN, &problem),
            STATUS_OK);
        assert_int_equal(device->vt->copy(device, to + 1, second + 5, bytes,
                                          COPY_FROM_DEVICE, &problem),
                         STATUS_OK);
        assert_memory_equal(to + 1, from, (size_t)bytes);
        assert_true(to[0] == 0 && to[bytes + 1] == 0);
        fixture_drop(block, bytes + 3);
        fixture_drop(second, bytes + 5);
        free(from);
        free(to);
    }
}

static void test_clear(void **state)
{
    char host[1000], zeros[1000] = {0};
    memset(host, 7, sizeof host);
    struct problem problem;
    void *block = fixture_put(host, sizeof host);
    assert_int_equal(device->vt->clear(device, block, sizeof host, &problem), STATUS_OK);
    fixture_take(block, host, sizeof host);
    assert_memory_equal(host, zeros, sizeof host);
}

// Blocks fill the card; then the numbers say why no more fits; what is released can be
// had again.
static void test_running_out(void **state)
{
    enum { BLOCK = 10 * MIB };
    void *blocks[8];
    struct problem problem;
    int n = 0;
    device->vt->trim(device);
    while (n < 8 && allocate(BLOCK, &blocks[n], &problem) == STATUS_OK)
        n++;
    assert_in_range(n, 5, 6);
    assert_int_equal(problem.status, STATUS_OUT_OF_MEMORY);
    assert_true(problem.required_bytes >= BLOCK);
    assert_in_range(problem.available_bytes, 0, BLOCK - 1);
    assert_string_equal(problem.devices, "cuda:0");
    fixture_drop(blocks[--n], BLOCK);
    assert_true(cached() >= BLOCK);
    assert_int_equal(allocate(BLOCK, &blocks[n], &problem), STATUS_OK); // from the cache
    fixture_drop(blocks[n--], BLOCK);
    fixture_drop(blocks[n], BLOCK);
    void *larger;
    assert_int_equal(allocate(BLOCK + BLOCK / 2, &larger, &problem),
                     STATUS_OK); // the cache gives way
    fixture_drop(larger, BLOCK + BLOCK / 2);
    while (n > 0)
        fixture_drop(blocks[--n], BLOCK);
    assert_true(device->vt->trim(device) >= 5 * BLOCK);
    assert_int_equal(cached(), 0);
    assert_int_equal(allocate(INT64_MAX - 10, &larger, &problem), STATUS_OUT_OF_MEMORY);
}

static void test_reuse(void **state)
{
    struct problem problem;
    device->vt->trim(device);
    void *first = fixture_block(100000), *second = NULL;
    fixture_drop(first, 100000);
    assert_int_equal(allocate(99000, &second, &problem), STATUS_OK);
    assert_ptr_equal(first, second); // nearly the same size: the same block
    fixture_drop(second, 99000);
    assert_int_equal(allocate(20000, &second, &problem), STATUS_OK);
    assert_ptr_not_equal(first, second); // it would waste four fifths
    fixture_drop(second, 20000);
    struct device_memory before, after;
    device->vt->memory(device, &before);
    assert_int_equal(device->vt->trim(device), before.cached);
    device->vt->memory(device, &after);
    assert_true(after.free >= before.free + before.cached);
}

static void *release_all(void *argument)
{
    void **blocks = argument;
    for (int i = 0; i < 100; i++)
        device->vt->release(device, blocks[i], 5000 + i);
    return NULL;
}

// Other threads release while this one allocates and computes.
static void test_release_from_threads(void **state)
{
    void *blocks[4][100];
    pthread_t threads[4];
    for (int t = 0; t < 4; t++)
        for (int i = 0; i < 100; i++)
            blocks[t][i] = fixture_block(5000 + i);
    for (int t = 0; t < 4; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, release_all, blocks[t]), 0);
    for (int i = 0; i < 100; i++) {
        char host[5000];
        memset(host, i, sizeof host);
        void *block = fixture_put(host, sizeof host);
        fixture_take(block, host, sizeof host);
        assert_int_equal(host[4999], i);
    }
    for (int t = 0; t < 4; t++)
        pthread_join(threads[t], NULL);
    assert_true(cached() >= 400 * 5000);
}

// A block goes back to the pool while work that reads it is still queued; whoever gets it
// next writes after that work.
static void test_release_in_flight(void **state)
{
    enum { N = 200000 };
    static int32_t host[N], out[N];
    for (int i = 0; i < N; i++)
        host[i] = i;
    void *from = fixture_put(host, sizeof host), *to = fixture_block(sizeof out);
    struct pass pass = {
        .ndim = 1,
        .shape = {N},
        .n_inputs = 1,
        .output = to,
        .output_dtype = DTYPE_INT32,
        .output_strides = {1},
        .inputs = {
            {.kind = PASS_MEMORY, .dtype = DTYPE_INT32, .data = from, .strides = {1}}}};
    struct kernel kernel = {.form = KERNEL_PASS, .pass = &pass};
    struct plan *plan;
    struct problem problem;
    assert_int_equal(device->vt->plan(device, &kernel, &plan, &problem), STATUS_OK);
    while (device->vt->plan_next(plan, &problem) == SLICE_MORE)
        continue;
    device->vt->plan_free(plan);
    fixture_drop(from, sizeof host);
    memset(host, 0xff, sizeof host);
    void *again = fixture_put(host, sizeof host);
    assert_ptr_equal(again, from);
    fixture_drop(again, sizeof host);
    fixture_take(to, out, sizeof out);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], i);
}

static void test_facts(void **state)
{
    struct device_details details;
    struct device_memory memory;
    device->vt->details(device, &details);
    assert_string_equal(details.kind, "cuda");
    assert_string_equal(details.name, "cudasim");
    assert_string_equal(details.driver, "13.0");
    assert_string_equal(details.runtime, "13.0");
    assert_int_equal(details.n_processes, 1);
    assert_int_equal(details.processes[0].pid, getpid());
    assert_string_equal(device->id, "cuda:0");
    assert_false(device->is_host);
    device->vt->trim(device);
    device->vt->memory(device, &memory);
    assert_int_equal(memory.total, CARD);
    assert_int_equal(memory.used + memory.free, CARD);
    assert_int_equal(details.processes[0].bytes >= 0, 1);
    void *block = fixture_block(3 * MIB);
    struct device_memory later;
    device->vt->memory(device, &later);
    assert_true(later.used >= memory.used + 3 * MIB);
    fixture_drop(block, 3 * MIB);
}

// A limit of the daemon's own, below the card's.
static void test_memory_limit(void **state)
{
    struct problem problem;
    struct device *whole = device;
    void *blocks[4];
    assert_int_equal(plugin_device_open(0, 8 * MIB, &device, &problem), STATUS_OK);
    assert_int_equal(allocate(4 * MIB, &blocks[0], &problem), STATUS_OK);
    assert_int_equal(allocate(4 * MIB, &blocks[1], &problem), STATUS_OK);
    assert_int_equal(allocate(4 * MIB, &blocks[2], &problem), STATUS_OUT_OF_MEMORY);
    assert_int_equal(problem.available_bytes, 0);
    fixture_drop(blocks[1], 4 * MIB);
    assert_int_equal(allocate(2 * MIB, &blocks[1], &problem), STATUS_OK);
    fixture_drop(blocks[0], 4 * MIB);
    fixture_drop(blocks[1], 2 * MIB);
    fixture_close();
    device = whole;
}

// As tensor/block.c does for an owner: what is another's is cleared before it is read.
static void *take_for(const void *owner, int64_t bytes, bool *cleared)
{
    struct problem problem;
    void *block;
    assert_int_equal(allocate(bytes, &block, &problem), STATUS_OK);
    *cleared = device->vt->claim(device, block, bytes, owner);
    if (*cleared)
        assert_int_equal(device->vt->clear(device, block, bytes, &problem), STATUS_OK);
    return block;
}

static void assert_bytes(void *block, int64_t bytes, int value)
{
    struct problem problem;
    unsigned char *host = malloc((size_t)bytes);
    assert_int_equal(
        device->vt->copy(device, host, block, bytes, COPY_FROM_DEVICE, &problem),
        STATUS_OK);
    for (int64_t i = 0; i < bytes; i++)
        assert_int_equal(host[i], value);
    free(host);
}

static void fill(void *block, int64_t bytes)
{
    struct problem problem;
    void *host = malloc((size_t)bytes);
    memset(host, 0xAA, (size_t)bytes);
    assert_int_equal(
        device->vt->copy(device, block, host, bytes, COPY_TO_DEVICE, &problem),
        STATUS_OK);
    free(host);
}

static void test_memory_that_changes_owner(void **state)
{
    static const int64_t sizes[][2] = {
        {500, 400}, {70000, 66000}, {6 * MIB, 5 * MIB + 1}};
    int ann, bob; // their addresses are the owners
    bool cleared;
    device->vt->trim(device);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t bytes = sizes[i][0], less = sizes[i][1];
        void *block = take_for(&ann, bytes, &cleared);
        assert_true(cleared); // the driver promises nothing
        fill(block, bytes);
        fixture_drop(block, bytes);
        assert_ptr_equal(take_for(&ann, bytes, &cleared), block);
        assert_false(cleared);
        fixture_drop(block, bytes);
        // A smaller one of another: what lies behind it is still the first one's.
        assert_ptr_equal(take_for(&bob, less, &cleared), block);
        assert_true(cleared);
        assert_bytes(block, less, 0);
        fixture_drop(block, less);
        assert_ptr_equal(take_for(&bob, bytes, &cleared), block);
        assert_true(cleared);
        assert_bytes(block, bytes, 0);
        fill(block, bytes);
        fixture_drop(block, bytes);
        assert_ptr_equal(take_for(&ann, bytes, &cleared), block);
        assert_bytes(block, bytes, 0);
        fixture_drop(block, bytes);
    }
}

int main(void)
{
    setenv("CUDASIM_MEM_MB", "64", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_running_out),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_release_from_threads),
        cmocka_unit_test(test_release_in_flight),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_memory_that_changes_owner),
    };
    return fixture_run("memory", tests, sizeof tests / sizeof *tests);
}
