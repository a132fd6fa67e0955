// SPDX-License-Identifier: Apache-2.0
// Accounts: admission by hand arithmetic, random life cycles against a plain model, who
// is told.
#include "fake_device.h"

#include <pthread.h>
#include <stdio.h>

#include "tensor/registry.h"

static void check_usage(struct ledger *ledger, int device, int64_t used, int64_t reserved,
                        int64_t transient)
{
    struct ledger_usage usage;
    ledger_usage(ledger, device, &usage);
    assert_int_equal(usage.used, used);
    assert_int_equal(usage.reserved, reserved);
    assert_int_equal(usage.transient, transient);
}

static void test_reserve_use_unuse(void **state)
{
    struct problem problem;
    struct ledger *ledger;
    struct account *account;
    int64_t used, reserved;
    assert_int_equal(ledger_create(2, (int64_t[]){100, 50}, &ledger, &problem),
                     STATUS_OK);
    assert_int_equal(ledger_account(ledger, "ann", &account, &problem), STATUS_OK);
    assert_int_equal(ledger_reserve(account, 0, 100, &problem), ADMISSION_READY);
    assert_int_equal(ledger_reserve(account, 1, 30, &problem), ADMISSION_READY);
    check_usage(ledger, 0, 0, 100, 100);
    check_usage(ledger, 1, 0, 30, 30);
    ledger_use(account, 0, 60);
    check_usage(ledger, 0, 60, 40, 100);
    ledger_unreserve(account, 0, 40);
    check_usage(ledger, 0, 60, 0, 60);
    ledger_settle(account, 0, 50);
    check_usage(ledger, 0, 60, 0, 10);
    ledger_account_usage(account, 0, &used, &reserved);
    assert_int_equal(used, 60);
    assert_int_equal(reserved, 0);
    ledger_unuse(account, 0, 50, true);
    check_usage(ledger, 0, 10, 0, 10);
    ledger_unuse(account, 0, 10, false);
    ledger_unreserve(account, 1, 30);
    check_usage(ledger, 0, 0, 0, 0);
    check_usage(ledger, 1, 0, 0, 0);
    ledger_free(ledger);
    ledger_free(NULL);
}

static void test_accounts_are_made_once(void **state)
{
    struct problem problem;
    struct ledger *ledger;
    struct account *ann, *bob, *again, *nobody;
    assert_int_equal(ledger_create(1, (int64_t[]){100}, &ledger, &problem), STATUS_OK);
    assert_int_equal(ledger_account(ledger, "ann", &ann, &problem), STATUS_OK);
    assert_int_equal(ledger_account(ledger, "bob", &bob, &problem), STATUS_OK);
    assert_int_equal(ledger_account(ledger, "", &nobody, &problem), STATUS_OK);
    assert_int_equal(ledger_account(ledger, "ann", &again, &problem), STATUS_OK);
    assert_ptr_equal(ann, again);
    assert_ptr_not_equal(ann, bob);
    assert_ptr_not_equal(ann, nobody);
    // The limit is the device's, whoever asks.
    int64_t used, reserved;
    assert_int_equal(ledger_reserve(ann, 0, 70, &problem), ADMISSION_READY);
    assert_int_equal(ledger_reserve(bob, 0, 40, &problem), ADMISSION_WAIT);
    ledger_account_usage(bob, 0, &used, &reserved);
    assert_int_equal(reserved, 0);
    ledger_unreserve(ann, 0, 70);
    ledger_free(ledger);
}

static void test_wait_only_for_what_comes_back(void **state)
{
    struct problem problem;
    struct ledger *ledger;
    struct account *account;
    assert_int_equal(ledger_create(1, (int64_t[]){100}, &ledger, &problem), STATUS_OK);
    assert_int_equal(ledger_account(ledger, "", &account, &problem), STATUS_OK);
    // 40 behind names, 30 in a running request.
    assert_int_equal(ledger_reserve(account, 0, 70, &problem), ADMISSION_READY);
    ledger_use(account, 0, 70);
    ledger_settle(account, 0, 40);

    assert_int_equal(ledger_reserve(account, 0, 30, &problem), ADMISSION_READY);
    ledger_unreserve(account, 0, 30);
    assert_int_equal(ledger_reserve(account, 0, 31, &problem), ADMISSION_WAIT);
    assert_int_equal(ledger_reserve(account, 0, 60, &problem), ADMISSION_WAIT);

    assert_int_equal(ledger_reserve(account, 0, 61, &problem), ADMISSION_NEVER);
    assert_int_equal(problem.status, STATUS_OUT_OF_MEMORY);
    assert_int_equal(problem.required_bytes, 61);
    assert_int_equal(problem.available_bytes, 60);
    assert_non_null(strstr(problem.detail, "delete names or ask for less"));

    assert_int_equal(ledger_reserve(account, 0, 101, &problem), ADMISSION_NEVER);
    assert_int_equal(problem.required_bytes, 101);
    assert_non_null(strstr(problem.detail, "ask for less"));
    assert_null(strstr(problem.detail, "delete"));
    assert_int_equal(ledger_reserve(account, 0, INT64_MAX, &problem), ADMISSION_NEVER);

    // A name goes while a reader holds the block: it will come back.
    ledger_unsettle(account, 0, 40);
    assert_int_equal(ledger_reserve(account, 0, 61, &problem), ADMISSION_WAIT);
    ledger_unuse(account, 0, 70, false);
    assert_int_equal(ledger_reserve(account, 0, 61, &problem), ADMISSION_READY);
    ledger_unreserve(account, 0, 61);
    ledger_free(ledger);
}

// Each may use 100 of the device's 150, whatever the other does.
static void test_quotas(void **state)
{
    struct problem problem;
    struct ledger *ledger;
    struct account *ann, *bob;
    assert_int_equal(ledger_create(2, (int64_t[]){150, 50}, &ledger, &problem),
                     STATUS_OK);
    assert_int_equal(ledger_account(ledger, "ann", &ann, &problem), STATUS_OK);
    assert_int_equal(ledger_account(ledger, "bob", &bob, &problem), STATUS_OK);
    assert_true(ledger_account_limit(ann, 0) == INT64_MAX);
    ledger_set_limit(ann, 0, 100);
    ledger_set_limit(bob, 0, 100);
    assert_int_equal(ledger_free_bytes(ann, 0), 100);
    // 40 of ann's are behind names, 30 in a request.
    assert_int_equal(ledger_reserve(ann, 0, 70, &problem), ADMISSION_READY);
    ledger_use(ann, 0, 70);
    ledger_settle(ann, 0, 40);
    assert_int_equal(ledger_free_bytes(ann, 0), 30);
    assert_int_equal(ledger_free_bytes(bob, 0), 80);
    assert_int_equal(ledger_reserve(ann, 0, 31, &problem), ADMISSION_WAIT);
    assert_int_equal(ledger_reserve(ann, 0, 60, &problem), ADMISSION_WAIT);
    assert_int_equal(ledger_reserve(ann, 0, 61, &problem), ADMISSION_NEVER);
    assert_int_equal(problem.status, STATUS_QUOTA);
    assert_int_equal(problem.required_bytes, 61);
    assert_int_equal(problem.available_bytes, 60);
    // Who holds some and asks for more.
    assert_int_equal(ledger_reserve_more(ann, 0, 31, 30, &problem), ADMISSION_NEVER);
    assert_int_equal(problem.status, STATUS_QUOTA);
    // Bob's share is his own, but the device's limit holds for all.
    assert_int_equal(ledger_reserve(bob, 0, 80, &problem), ADMISSION_READY);
    assert_int_equal(ledger_reserve(ann, 0, 30, &problem), ADMISSION_WAIT);
    ledger_unreserve(bob, 0, 80);
    assert_int_equal(ledger_reserve(bob, 0, 101, &problem), ADMISSION_NEVER);
    assert_int_equal(problem.status, STATUS_QUOTA);
    ledger_set_limit(bob, 0, INT64_MAX);
    assert_int_equal(ledger_reserve(bob, 0, 111, &problem), ADMISSION_NEVER);
    assert_int_equal(problem.status, STATUS_OUT_OF_MEMORY);
    // Lowered below what there is: nothing more, and nothing negative.
    ledger_set_limit(ann, 0, 10);
    assert_int_equal(ledger_reserve(ann, 0, 1, &problem), ADMISSION_NEVER);
    assert_int_equal(problem.available_bytes, 0);
    assert_true(ledger_free_bytes(ann, 0) < 0);
    // Another device has a limit of its own; none was set.
    assert_int_equal(ledger_reserve(ann, 1, 50, &problem), ADMISSION_READY);
    ledger_unreserve(ann, 1, 50);
    ledger_unuse(ann, 0, 40, true);
    ledger_unuse(ann, 0, 30, false);
    ledger_set_limit(ann, 0, 0);
    assert_int_equal(ledger_reserve(ann, 0, 0, &problem), ADMISSION_READY);
    assert_int_equal(ledger_reserve(ann, 0, 1, &problem), ADMISSION_NEVER);
    ledger_free(ledger);
}

// A waiter for bytes of his own hears of their return, and of a higher limit.
static void count_calls(void *context, int device)
{
    ++*(int *)context;
}

static void test_waiters_for_quota_are_told(void **state)
{
    struct problem problem;
    struct ledger *ledger;
    struct account *ann;
    int calls = 0;
    assert_int_equal(ledger_create(1, (int64_t[]){1000}, &ledger, &problem), STATUS_OK);
    assert_int_equal(ledger_account(ledger, "ann", &ann, &problem), STATUS_OK);
    ledger_on_release(ledger, count_calls, &calls);
    ledger_set_limit(ann, 0, 100);
    assert_int_equal(ledger_reserve(ann, 0, 80, &problem), ADMISSION_READY);
    assert_int_equal(calls, 0);
    assert_int_equal(ledger_reserve(ann, 0, 50, &problem), ADMISSION_WAIT);
    ledger_set_limit(ann, 0, 200);
    assert_int_equal(calls, 1);
    assert_int_equal(ledger_reserve(ann, 0, 50, &problem), ADMISSION_READY);
    ledger_set_limit(ann, 0, 130);
    assert_int_equal(ledger_reserve(ann, 0, 50, &problem), ADMISSION_WAIT);
    calls = 0;
    ledger_unreserve(ann, 0, 80);
    assert_int_equal(calls, 1);
    ledger_unreserve(ann, 0, 50);
    ledger_free(ledger);
}

static void test_refused_devices(void **state)
{
    struct problem problem;
    struct ledger *ledger;
    int64_t limits[LEDGER_MAX_DEVICES + 1] = {0};
    assert_int_equal(ledger_create(LEDGER_MAX_DEVICES + 1, limits, &ledger, &problem),
                     STATUS_LIMIT);
    assert_int_equal(ledger_create(0, limits, &ledger, &problem), STATUS_LIMIT);
    assert_int_equal(ledger_create(LEDGER_MAX_DEVICES, limits, &ledger, &problem),
                     STATUS_OK);
    ledger_free(ledger);
}

// ---- Who is told
struct heard {
    struct account *account; // asks again from inside, as a queue might
    int calls, device;
};

static void listen(void *context, int device)
{
    struct heard *heard = context;
    struct problem problem;
    heard->calls++;
    heard->device = device;
    if (ledger_reserve(heard->account, device, 1, &problem) == ADMISSION_READY)
        ledger_use(heard->account, device, 0);
}

static void test_waiters_hear_of_every_return(void **state)
{
    struct problem problem;
    struct ledger *ledger;
    struct heard heard = {0};
    assert_int_equal(ledger_create(2, (int64_t[]){100, 100}, &ledger, &problem),
                     STATUS_OK);
    assert_int_equal(ledger_account(ledger, "", &heard.account, &problem), STATUS_OK);
    struct account *account = heard.account;
    ledger_on_release(ledger, listen, &heard);

    // Nobody waits: nobody is called.
    assert_int_equal(ledger_reserve(account, 1, 90, &problem), ADMISSION_READY);
    ledger_unreserve(account, 1, 10);
    assert_int_equal(heard.calls, 0);

    assert_int_equal(ledger_reserve(account, 1, 50, &problem), ADMISSION_WAIT);
    ledger_unreserve(account, 1, 10); // the listener takes 1 of what came back
    assert_int_equal(heard.calls, 1);
    assert_int_equal(heard.device, 1);
    ledger_use(account, 1, 70);
    ledger_unuse(account, 1, 20, false);
    assert_int_equal(heard.calls, 2);
    ledger_settle(account, 1, 50); // they will not come back by themselves
    ledger_announce(account, 1);
    assert_int_equal(heard.calls, 3);
    check_usage(ledger, 1, 50, 3, 3);

    // The last transient bytes: called once more, then quiet.
    ledger_unreserve(account, 1, 3);
    assert_int_equal(heard.calls, 4);
    ledger_unreserve(account, 1, 1);
    assert_int_equal(heard.calls, 4);
    ledger_unuse(account, 1, 50, true);
    assert_int_equal(heard.calls, 4);
    check_usage(ledger, 1, 0, 0, 0);
    ledger_free(ledger);
}

// ---- Random life cycles of tensors and names against a model that counts from scratch.
enum { SLOTS = 12, LIMIT = 4000, STEPS = 6000 };

struct model {
    struct fixture fixture;
    struct registry *registry;
    struct name_space *space;
    struct tensor *held[SLOTS];  // by requests
    struct block *pinned[SLOTS]; // by readers
    char names[SLOTS][16];
};

// Bytes of distinct live blocks, and of those behind names, found by walking.
static void count_from_scratch(struct model *m, int64_t *used, int64_t *settled)
{
    struct block *blocks[4 * SLOTS];
    bool named[4 * SLOTS] = {false};
    int n = 0;
    struct binding *bindings;
    int count;
    bool more;
    struct problem problem;
    assert_int_equal(registry_list(m->space, ALL_NAMES, "", NULL, 1000, &bindings, &count,
                                   &more, &problem),
                     STATUS_OK);
    for (int i = 0; i < count + 2 * SLOTS; i++) {
        struct block *block = NULL;
        if (i < count)
            block = storage_pin(bindings[i].tensor->storage);
        else if (i < count + SLOTS && m->held[i - count])
            block = storage_pin(m->held[i - count]->storage);
        else if (i >= count + SLOTS && m->pinned[i - count - SLOTS])
            block = block_reference(m->pinned[i - count - SLOTS]);
        if (!block)
            continue;
        int at = 0;
        while (at < n && blocks[at] != block)
            at++;
        if (at == n)
            blocks[n++] = block;
        named[at] |= i < count;
        block_release(block);
    }
    binding_array_free(bindings, count);
    *used = *settled = 0;
    for (int i = 0; i < n; i++) {
        *used += blocks[i]->bytes;
        *settled += named[i] ? blocks[i]->bytes : 0;
    }
}

static void random_step(struct model *m, unsigned *seed)
{
    int slot = rand_r(seed) % SLOTS, other = rand_r(seed) % SLOTS;
    struct tensor **held = &m->held[slot];
    struct problem problem;
    struct registry_change change = {.name = m->names[other], .tensor = *held};
    struct registry_commit commit = {.n_changes = 1, .changes = &change};
    switch (rand_r(seed) % 8) {
    case 0: // a result
        if (!*held)
            *held = fixture_tensor(&m->fixture, 1 + rand_r(seed) % 90);
        break;
    case 1: // a request ends
        tensor_release(*held);
        *held = NULL;
        break;
    case 2:
    case 3: // bind, or delete if nothing is held
        assert_int_equal(registry_commit(m->space, &commit, &problem), STATUS_OK);
        break;
    case 4: // a reader comes or goes
        if (m->pinned[other]) {
            block_release(m->pinned[other]);
            m->pinned[other] = NULL;
        } else if (*held)
            m->pinned[other] = storage_pin((*held)->storage);
        break;
    case 5: // a write is committed
        if (*held) {
            struct registry_write write = {
                (*held)->storage,
                fixture_block(&m->fixture, storage_bytes((*held)->storage))};
            commit = (struct registry_commit){.n_writes = 1, .writes = &write};
            assert_int_equal(registry_commit(m->space, &commit, &problem), STATUS_OK);
        }
        break;
    case 6:
        registry_rename(m->space, m->names[slot], m->names[other], &problem);
        break;
    case 7: { // take a named one up again
        struct binding binding;
        if (!*held &&
            registry_find(m->space, m->names[other], &binding, &problem) == STATUS_OK)
            *held = binding.tensor;
        break;
    }
    }
}

static void test_the_books_are_exact(void **state)
{
    static struct model m;
    struct problem problem;
    unsigned seed = 7;
    fixture_open(&m.fixture, LIMIT);
    assert_int_equal(registry_create(&m.registry, &problem), STATUS_OK);
    assert_int_equal(registry_space(m.registry, "", &m.space, &problem), STATUS_OK);
    for (int i = 0; i < SLOTS; i++)
        snprintf(m.names[i], sizeof m.names[i], "n%d", i);
    for (int i = 0; i < STEPS; i++) {
        int64_t used, settled;
        random_step(&m, &seed);
        count_from_scratch(&m, &used, &settled);
        assert_int_equal(fixture_used(&m.fixture), used);
        assert_int_equal(fixture_settled(&m.fixture), settled);
        assert_int_equal(m.fixture.fake.live_bytes, used);
    }
    for (int i = 0; i < SLOTS; i++) {
        tensor_release(m.held[i]);
        block_release(m.pinned[i]);
    }
    int64_t used, settled;
    memset(m.held, 0, sizeof m.held);
    memset(m.pinned, 0, sizeof m.pinned);
    count_from_scratch(&m, &used, &settled);
    assert_int_equal(used, settled);
    assert_int_equal(fixture_used(&m.fixture), used);
    registry_free(m.registry);
    fixture_close(&m.fixture);
}

// ---- Threads: the limit holds at every moment, and everything comes back.
enum { THREADS = 4, ROUNDS = 3000, SHARED_LIMIT = 1000 };

struct contest {
    struct ledger *ledger;
    atomic_int over, told;
};

static void count_call(void *context, int device)
{
    ((struct contest *)context)->told++;
}

static void *contend(void *context)
{
    struct contest *contest = context;
    struct account *account;
    struct problem problem;
    struct ledger_usage usage;
    if (ledger_account(contest->ledger, "shared", &account, &problem) != STATUS_OK)
        return NULL;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t bytes = 1 + i % 400;
        if (ledger_reserve(account, 0, bytes, &problem) != ADMISSION_READY)
            continue;
        ledger_usage(contest->ledger, 0, &usage);
        if (usage.used + usage.reserved > SHARED_LIMIT)
            contest->over++;
        ledger_use(account, 0, bytes);
        if (i % 2) {
            ledger_settle(account, 0, bytes);
            ledger_announce(account, 0);
        }
        ledger_unuse(account, 0, bytes, i % 2);
    }
    return NULL;
}

static void test_threads_share_a_limit(void **state)
{
    struct contest contest = {0};
    struct problem problem;
    pthread_t threads[THREADS];
    assert_int_equal(
        ledger_create(1, (int64_t[]){SHARED_LIMIT}, &contest.ledger, &problem),
        STATUS_OK);
    ledger_on_release(contest.ledger, count_call, &contest);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, contend, &contest), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(contest.over, 0);
    check_usage(contest.ledger, 0, 0, 0, 0);
    ledger_free(contest.ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reserve_use_unuse),
        cmocka_unit_test(test_accounts_are_made_once),
        cmocka_unit_test(test_wait_only_for_what_comes_back),
        cmocka_unit_test(test_quotas),
        cmocka_unit_test(test_waiters_for_quota_are_told),
        cmocka_unit_test(test_refused_devices),
        cmocka_unit_test(test_waiters_hear_of_every_return),
        cmocka_unit_test(test_the_books_are_exact),
        cmocka_unit_test(test_threads_share_a_limit),
    };
    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
