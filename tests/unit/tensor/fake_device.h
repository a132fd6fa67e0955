// SPDX-License-Identifier: Apache-2.0
// A device of plain host memory for the tests of tensor/: counts what is live, checks the
// size given back, and fails on demand. And an account with a limit on it.
#ifndef TENSORD_TESTS_TENSOR_FAKE_DEVICE_H
#define TENSORD_TESTS_TENSOR_FAKE_DEVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/ledger.h"
#include "tensor/tensor.h"

struct fake_device {
    struct device device; // first
    _Atomic int64_t live_bytes, live_blocks;
    atomic_bool fails;
};

static inline enum status fake_allocate(struct device *device, int64_t bytes, void **out,
                                        struct problem *problem)
{
    struct fake_device *fake = (struct fake_device *)device;
    int64_t *block = fake->fails ? NULL : malloc((size_t)bytes + 64);
    if (!block)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "the fake device was told to fail");
    block[0] = bytes;
    fake->live_bytes += bytes;
    fake->live_blocks++;
    *out = (char *)block + 64;
    return STATUS_OK;
}

static inline void fake_release(struct device *device, void *data, int64_t bytes)
{
    struct fake_device *fake = (struct fake_device *)device;
    int64_t *block = (int64_t *)((char *)data - 64);
    if (block[0] != bytes)
        abort(); // given back with another size
    fake->live_bytes -= bytes;
    fake->live_blocks--;
    free(block);
}

static const struct device_interface fake_interface = {
    .allocate = fake_allocate,
    .release = fake_release,
};

static inline void fake_device_init(struct fake_device *fake, int index)
{
    *fake = (struct fake_device){
        .device = {.vt = &fake_interface, .index = index, .id = "fake", .is_host = true}};
}

// One device with a ledger and the anonymous account.
struct fixture {
    struct fake_device fake;
    struct ledger *ledger;
    struct account *account;
};

static inline void fixture_open(struct fixture *fixture, int64_t limit)
{
    struct problem problem;
    fake_device_init(&fixture->fake, 0);
    assert_int_equal(ledger_create(1, &limit, &fixture->ledger, &problem), STATUS_OK);
    assert_int_equal(ledger_account(fixture->ledger, "", &fixture->account, &problem),
                     STATUS_OK);
}

// Everything must have come back.
static inline void fixture_close(struct fixture *fixture)
{
    struct ledger_usage usage;
    ledger_usage(fixture->ledger, 0, &usage);
    assert_int_equal(usage.used, 0);
    assert_int_equal(usage.reserved, 0);
    assert_int_equal(usage.transient, 0);
    assert_int_equal(fixture->fake.live_bytes, 0);
    assert_int_equal(fixture->fake.live_blocks, 0);
    ledger_free(fixture->ledger);
}

static inline int64_t fixture_used(struct fixture *fixture)
{
    struct ledger_usage usage;
    ledger_usage(fixture->ledger, 0, &usage);
    return usage.used;
}

static inline int64_t fixture_settled(struct fixture *fixture)
{
    struct ledger_usage usage;
    ledger_usage(fixture->ledger, 0, &usage);
    return usage.used + usage.reserved - usage.transient;
}

// An admitted block; aborts where cmocka's asserts cannot be used (threads).
static inline struct block *fixture_block(struct fixture *fixture, int64_t bytes)
{
    struct problem problem;
    struct block *block;
    if (ledger_reserve(fixture->account, 0, bytes, &problem) != ADMISSION_READY ||
        block_create(&fixture->fake.device, fixture->account, bytes, &block, &problem) !=
            STATUS_OK)
        abort();
    return block;
}

static inline struct storage *fixture_storage(struct fixture *fixture, int64_t bytes)
{
    struct problem problem;
    struct storage *storage;
    if (storage_create(fixture_block(fixture, bytes), &storage, &problem) != STATUS_OK)
        abort();
    return storage;
}

// A 1-D uint8 tensor with a storage of its own.
static inline struct tensor *fixture_tensor(struct fixture *fixture, int64_t bytes)
{
    struct problem problem;
    struct layout layout = {.ndim = 1, .shape = {bytes}, .strides = {1}};
    struct storage *storage = fixture_storage(fixture, bytes);
    struct tensor *tensor;
    if (tensor_create(storage, 0, DTYPE_UINT8, &layout, &tensor, &problem) != STATUS_OK)
        abort();
    storage_release(storage);
    return tensor;
}
#endif
