// SPDX-License-Identifier: Apache-2.0
// Blocks, storages and tensors: charges, pins, swaps, claims, bounds.
#include "fake_device.h"

#include <pthread.h>
#include <sched.h>

static void test_block_is_charged_while_it_lives(void **state)
{
    struct fixture f;
    fixture_open(&f, 1000);
    struct block *block = fixture_block(&f, 100);
    assert_int_equal(fixture_used(&f), 100);
    assert_int_equal(fixture_settled(&f), 0);
    assert_ptr_equal(block_reference(block), block);
    block_release(block);
    assert_int_equal(fixture_used(&f), 100);
    block_release(block);
    block_release(NULL);
    fixture_close(&f);
}

static void test_block_of_nothing_has_no_data(void **state)
{
    struct fixture f;
    fixture_open(&f, 0);
    struct block *block = fixture_block(&f, 0);
    assert_null(block->data);
    assert_int_equal(f.fake.live_blocks, 0);
    block_release(block);
    fixture_close(&f);
}

static void test_failed_block_leaves_the_reservation(void **state)
{
    struct fixture f;
    struct problem problem;
    struct block *block;
    struct ledger_usage usage;
    fixture_open(&f, 1000);
    f.fake.fails = true;
    assert_int_equal(ledger_reserve(f.account, 0, 10, &problem), ADMISSION_READY);
    assert_int_equal(block_create(&f.fake.device, f.account, 10, &block, &problem),
                     STATUS_OUT_OF_MEMORY);
    ledger_usage(f.ledger, 0, &usage);
    assert_int_equal(usage.reserved, 10);
    assert_int_equal(usage.used, 0);
    ledger_unreserve(f.account, 0, 10);
    fixture_close(&f);
}

static void test_ids_are_never_reused(void **state)
{
    struct fixture f;
    fixture_open(&f, 1000);
    struct storage *a = fixture_storage(&f, 8);
    uint64_t first = storage_id(a), fresh = storage_fresh_id();
    storage_release(a);
    a = fixture_storage(&f, 8);
    assert_true(first != 0 && fresh > first && storage_id(a) > fresh);
    assert_int_equal(storage_group(a), storage_id(a));
    storage_release(a);
    storage_release(NULL);
    fixture_close(&f);
}

static void test_reader_keeps_the_block_that_a_swap_replaced(void **state)
{
    struct fixture f;
    fixture_open(&f, 1000);
    struct storage *storage = fixture_storage(&f, 8);
    uint64_t version;
    struct block *pin = storage_pin_version(storage, &version);
    memset(pin->data, 1, 8);
    assert_int_equal(version, 0);
    assert_true(storage_modified(storage) == 0);

    struct block *fresh = fixture_block(&f, 8);
    memset(fresh->data, 2, 8);
    storage_swap(storage, fresh);
    assert_int_equal(storage_writes(storage), 1);
    assert_true(storage_modified(storage) > 1e9);
    assert_int_equal(((char *)pin->data)[7], 1);
    assert_int_equal(fixture_used(&f), 16);
    block_release(pin);
    assert_int_equal(fixture_used(&f), 8);

    pin = storage_pin_version(storage, &version);
    assert_ptr_equal(pin, fresh);
    assert_int_equal(version, 1);
    block_release(pin);
    storage_release(storage);
    fixture_close(&f);
}

static void test_claim_only_without_readers(void **state)
{
    struct fixture f;
    fixture_open(&f, 1000);
    struct storage *storage = fixture_storage(&f, 8);
    struct block *pin = storage_pin(storage);
    assert_false(storage_claim(storage));
    assert_int_equal(storage_writes(storage), 0);
    block_release(pin);
    assert_true(storage_claim(storage));
    assert_int_equal(storage_writes(storage), 1);
    storage_count_write(storage);
    assert_int_equal(storage_writes(storage), 2);
    storage_release(storage);
    fixture_close(&f);
}

static void test_settled_follows_the_names_of_a_storage(void **state)
{
    struct fixture f;
    struct storage_link a, b;
    fixture_open(&f, 1000);
    struct storage *storage = fixture_storage(&f, 100);
    assert_int_equal(fixture_settled(&f), 0);
    storage_link(storage, &a);
    storage_link(storage, &b);
    assert_int_equal(fixture_settled(&f), 100);

    struct block *pin = storage_pin(storage);
    storage_swap(storage, fixture_block(&f, 100));
    assert_int_equal(fixture_used(&f), 200); // the pinned one is transient
    assert_int_equal(fixture_settled(&f), 100);

    assert_false(storage_unlink(storage, &a));
    assert_int_equal(fixture_settled(&f), 100);
    assert_true(storage_unlink(storage, &b));
    assert_int_equal(fixture_settled(&f), 0);
    assert_int_equal(fixture_used(&f), 200);
    block_release(pin);
    storage_release(storage);
    fixture_close(&f);
}

static void test_group_is_adopted_before_the_first_name_only(void **state)
{
    struct fixture f;
    struct storage_link link;
    fixture_open(&f, 1000);
    struct storage *storage = fixture_storage(&f, 8);
    storage_adopt_group(storage, 4711);
    assert_int_equal(storage_group(storage), 4711);
    storage_link(storage, &link);
    storage_adopt_group(storage, 4712);
    storage_unlink(storage, &link);
    storage_adopt_group(storage, 4712);
    assert_int_equal(storage_group(storage), 4711);
    storage_release(storage);
    fixture_close(&f);
}

// Whether a float32 view of a 24-element storage is accepted.
static bool accepts(struct storage *storage, int64_t offset, struct layout layout)
{
    struct problem problem;
    struct tensor *tensor;
    enum status status =
        tensor_create(storage, offset, DTYPE_FLOAT32, &layout, &tensor, &problem);
    if (status == STATUS_OK)
        tensor_release(tensor);
    else
        assert_int_equal(problem.status, status);
    return status == STATUS_OK;
}

static void test_every_element_lies_inside(void **state)
{
    struct fixture f;
    fixture_open(&f, 1000);
    struct storage *s = fixture_storage(&f, 96);
    assert_true(accepts(s, 0, (struct layout){2, {4, 6}, {6, 1}}));
    assert_true(accepts(s, 0, (struct layout){2, {6, 4}, {1, 6}}));
    assert_true(accepts(s, 23, (struct layout){0}));
    assert_true(accepts(s, 23, (struct layout){1, {1000}, {0}}));
    assert_true(accepts(s, 20, (struct layout){2, {1, 4}, {INT64_MAX, 1}}));
    assert_true(accepts(s, 1000, (struct layout){2, {3, 0}, {100, 1}}));
    assert_false(accepts(s, 24, (struct layout){0}));
    assert_false(accepts(s, -1, (struct layout){0}));
    assert_false(accepts(s, -1, (struct layout){1, {0}, {1}}));
    assert_false(accepts(s, 1, (struct layout){2, {4, 6}, {6, 1}}));
    assert_false(accepts(s, 0, (struct layout){2, {2, 2}, {INT64_MAX, 1}}));
    assert_false(accepts(s, 5, (struct layout){1, {3}, {-1}}));
    assert_false(accepts(s, 0, (struct layout){1, {-1}, {1}}));
    assert_false(accepts(s, 0, (struct layout){2, {INT64_MAX, 2}, {0, 0}}));
    assert_false(accepts(s, 0, (struct layout){33, {1}, {1}}));
    storage_release(s);
    fixture_close(&f);
}

static void test_tensor_holds_its_storage(void **state)
{
    struct fixture f;
    struct problem problem;
    fixture_open(&f, 1000);
    struct storage *storage = fixture_storage(&f, 96);
    struct layout layout = {2, {3, 4}, {4, 1}};
    struct tensor *tensor;
    assert_int_equal(tensor_create(storage, 12, DTYPE_INT32, &layout, &tensor, &problem),
                     STATUS_OK);
    storage_release(storage);
    assert_int_equal(tensor_count(tensor), 12);
    assert_int_equal(tensor_bytes(tensor), 48);
    assert_ptr_equal(tensor_device(tensor), &f.fake.device);
    assert_ptr_equal(tensor_reference(tensor), tensor);
    tensor_release(tensor);
    assert_int_equal(fixture_used(&f), 96);
    assert_int_equal(tensor->layout.shape[1], 4);
    tensor_release(tensor);
    tensor_release(NULL);
    fixture_close(&f);
}

// ---- Threads: every block is filled with one byte; a reader must never see two.
enum { BYTES = 512, ROUNDS = 3000 };
struct shared {
    struct fixture fixture;
    struct storage *storage;
    atomic_int torn;
};

static void *swap_blocks(void *context)
{
    struct shared *shared = context;
    for (int i = 0; i < ROUNDS; i++) {
        struct block *block = fixture_block(&shared->fixture, BYTES);
        memset(block->data, i, BYTES);
        storage_swap(shared->storage, block);
    }
    return NULL;
}

static void *pin_blocks(void *context)
{
    struct shared *shared = context;
    for (int i = 0; i < ROUNDS; i++) {
        struct block *block = storage_pin(shared->storage);
        const unsigned char *bytes = block->data;
        for (int j = 1; j < BYTES; j++)
            if (bytes[j] != bytes[0])
                shared->torn++;
        block_release(block);
    }
    return NULL;
}

static void *name_and_unname(void *context)
{
    struct shared *shared = context;
    for (int i = 0; i < ROUNDS; i++) {
        struct storage_link link;
        storage_link(shared->storage, &link);
        storage_unlink(shared->storage, &link);
    }
    return NULL;
}

static void test_readers_and_writers_at_once(void **state)
{
    static struct shared shared;
    void *(*const bodies[])(void *) = {swap_blocks, swap_blocks, pin_blocks,
                                       pin_blocks,  pin_blocks,  name_and_unname};
    pthread_t threads[sizeof bodies / sizeof *bodies];
    fixture_open(&shared.fixture, 1 << 20);
    shared.storage = fixture_storage(&shared.fixture, BYTES);
    struct block *first = storage_pin(shared.storage);
    memset(first->data, 7, BYTES);
    block_release(first);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, bodies[i], &shared), 0);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(shared.torn, 0);
    assert_int_equal(storage_writes(shared.storage), 2 * ROUNDS);
    assert_int_equal(fixture_used(&shared.fixture), BYTES);
    assert_int_equal(fixture_settled(&shared.fixture), 0);
    storage_release(shared.storage);
    fixture_close(&shared.fixture);
}

// The last reader's reads happen before the writer that claims the block (the thread
// sanitizer checks it).
static void *read_and_release(void *pin)
{
    static _Thread_local unsigned sum;
    struct block *block = pin;
    for (int i = 0; i < BYTES; i++)
        sum += ((unsigned char *)block->data)[i];
    block_release(block);
    return sum == 7 * BYTES ? pin : NULL;
}

static void test_claim_waits_for_the_last_reader(void **state)
{
    struct fixture f;
    fixture_open(&f, 1 << 20);
    struct storage *storage = fixture_storage(&f, BYTES);
    struct block *block = storage_pin(storage);
    memset(block->data, 7, BYTES);
    pthread_t thread;
    void *right;
    assert_int_equal(pthread_create(&thread, NULL, read_and_release, block), 0);
    while (!storage_claim(storage))
        sched_yield();
    memset(block->data, 9, BYTES); // the storage still holds it
    pthread_join(thread, &right);
    assert_non_null(right);
    assert_int_equal(storage_writes(storage), 1);
    storage_release(storage);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_is_charged_while_it_lives),
        cmocka_unit_test(test_block_of_nothing_has_no_data),
        cmocka_unit_test(test_failed_block_leaves_the_reservation),
        cmocka_unit_test(test_ids_are_never_reused),
        cmocka_unit_test(test_reader_keeps_the_block_that_a_swap_replaced),
        cmocka_unit_test(test_claim_only_without_readers),
        cmocka_unit_test(test_settled_follows_the_names_of_a_storage),
        cmocka_unit_test(test_group_is_adopted_before_the_first_name_only),
        cmocka_unit_test(test_every_element_lies_inside),
        cmocka_unit_test(test_tensor_holds_its_storage),
        cmocka_unit_test(test_readers_and_writers_at_once),
        cmocka_unit_test(test_claim_waits_for_the_last_reader),
    };
    return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
