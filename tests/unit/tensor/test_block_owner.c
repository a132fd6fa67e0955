// SPDX-License-Identifier: Apache-2.0
// Memory that changes user shows nothing of the one before: blocks on the host device,
// whose allocator gives the same memory out again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/ledger.h"
#include "tensor/tensor.h"

static const int64_t limit = 64 << 20;
static struct device *host;
static struct ledger *ledger;
static struct account *ann, *bob;
static struct problem problem;

static int open_house(void **state)
{
    return host_open(1, limit, &host, &problem) != STATUS_OK ||
           ledger_create(1, &limit, &ledger, &problem) != STATUS_OK ||
           ledger_account(ledger, "ann", &ann, &problem) != STATUS_OK;
}

static int close_house(void **state)
{
    ledger_free(ledger);
    host->vt->close(host);
    return 0;
}

static struct block *take(struct account *account, int64_t bytes)
{
    struct block *block;
    assert_int_equal(ledger_reserve(account, 0, bytes, &problem), ADMISSION_READY);
    assert_int_equal(block_create(host, account, bytes, &block, &problem), STATUS_OK);
    return block;
}

// Leaves a block full of ones in the cache.
static void leave(struct account *account, int64_t bytes)
{
    struct block *block = take(account, bytes);
    memset(block->data, 0xAA, (size_t)bytes);
    block_release(block);
}

static void assert_clean(struct account *account, int64_t bytes)
{
    struct block *block = take(account, bytes);
    const unsigned char *data = block->data;
    for (int64_t i = 0; i < bytes; i++)
        if (data[i] != 0)
            fail_msg("byte %lld of %lld shows %#x", (long long)i, (long long)bytes,
                     data[i]);
    block_release(block);
}

static const int64_t sizes[] = {1, 64, 1000, 4096, 100000, 1 << 20, 3 << 20, 20 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

// What was left before there was a second account.
static void from_the_time_of_one_user(void **state)
{
    for (int i = 0; i < SIZES; i++) {
        leave(ann, sizes[i]);
        leave(ann, sizes[i]);
    }
    assert_int_equal(ledger_account(ledger, "bob", &bob, &problem), STATUS_OK);
    for (int i = 0; i < SIZES; i++)
        assert_clean(bob, sizes[i]);
}

static void to_and_fro(void **state)
{
    for (int i = 0; i < SIZES; i++) {
        leave(ann, sizes[i]);
        assert_clean(bob, sizes[i]);
        leave(bob, sizes[i]);
        assert_clean(ann, sizes[i]);
    }
}

// A smaller block of bob's in memory of ann's: what lies behind it is still hers.
static void behind_a_smaller_block(void **state)
{
    static const int64_t table[][2] = {
        {1000, 970}, {100000, 99000}, {4 << 20, (4 << 20) - 4096}, {4 << 20, 7 << 19}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        leave(ann, table[i][0]);
        assert_clean(bob, table[i][1]);
        assert_clean(bob, table[i][0]);
    }
}

// The allocator's side: who has had it all before is not asked to clear it.
static void ones_own_is_not_cleared(void **state)
{
    void *first, *again;
    int64_t bytes = 5 << 20;
    assert_int_equal(host->vt->trim(host) >= 0, 1);
    assert_int_equal(host->vt->allocate(host, bytes, &first, &problem), STATUS_OK);
    assert_false(host->vt->claim(host, first, bytes, ann)); // zeros from the system
    host->vt->release(host, first, bytes);
    assert_int_equal(host->vt->allocate(host, bytes, &again, &problem), STATUS_OK);
    assert_ptr_equal(first, again);
    assert_false(host->vt->claim(host, again, bytes, ann));
    assert_true(host->vt->claim(host, again, bytes - 1000, bob));
    assert_false(host->vt->claim(host, again, bytes - 1000, bob));
    assert_true(host->vt->claim(host, again, bytes, bob));
    assert_true(host->vt->claim(host, again, bytes, ann));
    host->vt->release(host, again, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_time_of_one_user),
        cmocka_unit_test(to_and_fro),
        cmocka_unit_test(behind_a_smaller_block),
        cmocka_unit_test(ones_own_is_not_cleared),
    };
    return cmocka_run_group_tests(tests, open_house, close_house);
}
