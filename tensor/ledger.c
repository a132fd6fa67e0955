// SPDX-License-Identifier: Apache-2.0
// The ledger: a few counters per device and per account behind one mutex.
//
// Invariants, under the mutex: 0 <= settled <= used, 0 <= reserved, used + reserved <=
// limit for every device; the accounts' sums equal the device's; likewise for each
// account, unless its limit was lowered. `waited` says that an admission was told WAIT
// and nobody has since seen the device without transient bytes: as long as it is set,
// every return of bytes calls on_release.
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/ledger.h"

struct device_account {
    int64_t limit, used, reserved, settled;
    atomic_bool waited;
};

struct account {
    struct ledger *ledger;
    struct account *next;
    struct share {
        int64_t limit, used, reserved, settled;
    } shares[LEDGER_MAX_DEVICES];
    char user[];
};

struct ledger {
    pthread_mutex_t mutex;
    int n_devices;
    struct device_account devices[LEDGER_MAX_DEVICES];
    struct account *accounts;
    atomic_int n_accounts;
    void (*on_release)(void *context, int device);
    void *context;
};

enum status ledger_create(int n_devices, const int64_t *limits, struct ledger **out,
                          struct problem *problem)
{
    if (n_devices < 1 || n_devices > LEDGER_MAX_DEVICES)
        return problem_set(problem, STATUS_LIMIT,
                           "%d devices; 1 to %d are kept account of", n_devices,
                           LEDGER_MAX_DEVICES);
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (!ledger)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for the ledger");
    pthread_mutex_init(&ledger->mutex, NULL);
    ledger->n_devices = n_devices;
    for (int i = 0; i < n_devices; i++)
        ledger->devices[i].limit = limits[i] > 0 ? limits[i] : 0;
    *out = ledger;
    return STATUS_OK;
}

void ledger_free(struct ledger *ledger)
{
    if (!ledger)
        return;
    while (ledger->accounts) {
        struct account *account = ledger->accounts;
        ledger->accounts = account->next;
        free(account);
    }
    pthread_mutex_destroy(&ledger->mutex);
    free(ledger);
}

void ledger_on_release(struct ledger *ledger, void (*callback)(void *context, int device),
                       void *context)
{
    ledger->on_release = callback;
    ledger->context = context;
}

enum status ledger_account(struct ledger *ledger, const char *user, struct account **out,
                           struct problem *problem)
{
    pthread_mutex_lock(&ledger->mutex);
    struct account *account = ledger->accounts;
    while (account && strcmp(account->user, user) != 0)
        account = account->next;
    if (!account) {
        size_t size = strlen(user) + 1;
        account = calloc(1, sizeof *account + size);
        if (account) {
            memcpy(account->user, user, size);
            account->ledger = ledger;
            for (int i = 0; i < LEDGER_MAX_DEVICES; i++)
                account->shares[i].limit = INT64_MAX;
            atomic_fetch_add(&ledger->n_accounts, 1);
            account->next = ledger->accounts;
            ledger->accounts = account;
        }
    }
    pthread_mutex_unlock(&ledger->mutex);
    if (!account)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for the account of %s", user);
    *out = account;
    return STATUS_OK;
}

bool account_is_shared(const struct account *account)
{
    return atomic_load_explicit(&account->ledger->n_accounts, memory_order_relaxed) > 1;
}

// The device's counters, with the mutex held until leave.
static struct device_account *enter(struct account *account, int device)
{
    assert(device >= 0 && device < account->ledger->n_devices);
    pthread_mutex_lock(&account->ledger->mutex);
    return &account->ledger->devices[device];
}

static void leave(struct account *account)
{
    pthread_mutex_unlock(&account->ledger->mutex);
}

static void call_back(struct account *account, int device)
{
    struct ledger *ledger = account->ledger;
    if (ledger->on_release)
        ledger->on_release(ledger->context, device);
}

// Leaves after bytes came back, and tells those who may be waiting.
static void leave_returned(struct account *account, int device,
                           struct device_account *totals)
{
    bool tell = atomic_load_explicit(&totals->waited, memory_order_relaxed);
    // Without transient bytes everybody who is told now will be answered READY or NEVER.
    if (tell && totals->used == totals->settled && totals->reserved == 0)
        atomic_store_explicit(&totals->waited, false, memory_order_relaxed);
    leave(account);
    if (tell)
        call_back(account, device);
}

static enum admission refuse(struct problem *problem, int64_t required, int64_t available,
                             int64_t limit)
{
    if (required > limit)
        problem_set(problem, STATUS_OUT_OF_MEMORY,
                    "%" PRId64 " bytes are needed and the device's limit is %" PRId64
                    " bytes: ask for less",
                    required, limit);
    else
        problem_set(problem, STATUS_OUT_OF_MEMORY,
                    "%" PRId64 " bytes are needed and %" PRId64
                    " are left beside the stored tensors: delete names or ask for less",
                    required, available);
    problem->required_bytes = required;
    problem->available_bytes = available;
    return ADMISSION_NEVER;
}

static enum admission refuse_quota(struct problem *problem, int64_t required,
                                   int64_t available, int64_t limit)
{
    available =
        available < 0 ? 0 : available; // a limit may be lowered below what is used
    problem_set(problem, STATUS_QUOTA,
                "%" PRId64 " bytes are needed; your quota on this device is %" PRId64
                " bytes, of which %" PRId64
                " are left beside your stored tensors: delete names or ask for less",
                required, limit, available);
    problem->required_bytes = required;
    problem->available_bytes = available;
    return ADMISSION_NEVER;
}

enum admission ledger_reserve(struct account *account, int device, int64_t bytes,
                              struct problem *problem)
{
    return ledger_reserve_more(account, device, bytes, 0, problem);
}

// bytes beside what is used, or only beside what stays.
static enum admission judge(int64_t bytes, int64_t limit, int64_t used, int64_t staying)
{
    return bytes <= limit - used      ? ADMISSION_READY
           : bytes <= limit - staying ? ADMISSION_WAIT
                                      : ADMISSION_NEVER;
}

enum admission ledger_reserve_more(struct account *account, int device, int64_t bytes,
                                   int64_t held, struct problem *problem)
{
    assert(bytes >= 0 && held >= 0);
    struct device_account *totals = enter(account, device);
    struct share *share = &account->shares[device];
    int64_t limit = totals->limit, available = limit - totals->settled - held;
    int64_t quota = share->limit, left = quota - share->settled - held;
    enum admission answer =
        judge(bytes, limit, totals->used + totals->reserved, totals->settled + held);
    enum admission mine =
        judge(bytes, quota, share->used + share->reserved, share->settled + held);
    if (answer == ADMISSION_READY && mine == ADMISSION_READY) {
        totals->reserved += bytes;
        share->reserved += bytes;
    } else if (answer != ADMISSION_NEVER && mine != ADMISSION_NEVER) {
        answer = ADMISSION_WAIT;
        atomic_store_explicit(&totals->waited, true, memory_order_relaxed);
    }
    leave(account);
    if (mine == ADMISSION_NEVER)
        return refuse_quota(problem, bytes, left, quota);
    return answer == ADMISSION_NEVER ? refuse(problem, bytes, available, limit) : answer;
}

void ledger_unreserve(struct account *account, int device, int64_t bytes)
{
    struct device_account *totals = enter(account, device);
    assert(bytes >= 0 && bytes <= account->shares[device].reserved);
    totals->reserved -= bytes;
    account->shares[device].reserved -= bytes;
    leave_returned(account, device, totals);
}

void ledger_use(struct account *account, int device, int64_t bytes)
{
    struct device_account *totals = enter(account, device);
    assert(bytes >= 0 && bytes <= account->shares[device].reserved);
    totals->reserved -= bytes;
    account->shares[device].reserved -= bytes;
    totals->used += bytes;
    account->shares[device].used += bytes;
    leave(account);
}

void ledger_settle(struct account *account, int device, int64_t bytes)
{
    struct device_account *totals = enter(account, device);
    totals->settled += bytes;
    account->shares[device].settled += bytes;
    assert(bytes >= 0 && totals->settled <= totals->used);
    leave(account);
}

void ledger_announce(struct account *account, int device)
{
    struct device_account *totals = &account->ledger->devices[device];
    // A racing WAIT was answered after the settling, so it has counted it.
    if (!atomic_load_explicit(&totals->waited, memory_order_relaxed))
        return;
    leave_returned(account, device, enter(account, device));
}

void ledger_unsettle(struct account *account, int device, int64_t bytes)
{
    struct device_account *totals = enter(account, device);
    assert(bytes >= 0 && bytes <= totals->settled);
    totals->settled -= bytes;
    account->shares[device].settled -= bytes;
    leave(account);
}

void ledger_unuse(struct account *account, int device, int64_t bytes, bool settled)
{
    struct device_account *totals = enter(account, device);
    assert(bytes >= 0 && bytes <= account->shares[device].used);
    totals->used -= bytes;
    account->shares[device].used -= bytes;
    if (settled) {
        totals->settled -= bytes;
        account->shares[device].settled -= bytes;
    }
    assert(totals->settled >= 0 && totals->settled <= totals->used);
    leave_returned(account, device, totals);
}

int64_t ledger_free_bytes(struct account *account, int device)
{
    const struct device_account *totals = enter(account, device);
    const struct share *share = &account->shares[device];
    int64_t bytes = totals->limit - totals->used - totals->reserved;
    int64_t mine = share->limit - share->used - share->reserved;
    leave(account);
    return bytes < mine ? bytes : mine;
}

void ledger_set_limit(struct account *account, int device, int64_t limit)
{
    struct device_account *totals = enter(account, device);
    assert(limit >= 0);
    account->shares[device].limit = limit;
    leave_returned(account, device, totals); // who waits for more may have it now
}

int64_t ledger_account_limit(struct account *account, int device)
{
    enter(account, device);
    int64_t limit = account->shares[device].limit;
    leave(account);
    return limit;
}

void ledger_usage(struct ledger *ledger, int device, struct ledger_usage *out)
{
    pthread_mutex_lock(&ledger->mutex);
    const struct device_account *totals = &ledger->devices[device];
    out->limit = totals->limit;
    out->used = totals->used;
    out->reserved = totals->reserved;
    out->transient = totals->used - totals->settled + totals->reserved;
    pthread_mutex_unlock(&ledger->mutex);
}

void ledger_account_usage(struct account *account, int device, int64_t *used,
                          int64_t *reserved)
{
    enter(account, device);
    *used = account->shares[device].used;
    *reserved = account->shares[device].reserved;
    leave(account);
}
