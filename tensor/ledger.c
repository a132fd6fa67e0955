// SPDX-License-Identifier: Apache-2.0
// The ledger: a few counters per device and per account behind one mutex.
//
// Invariants, under the mutex: 0 <= settled <= used, 0 <= reserved, used + reserved <=
// limit for every device; the accounts' sums equal the device's. `waited` says that an
// admission was told WAIT and nobody has since seen the device without transient bytes:
// as long as it is set, every return of bytes calls on_release.
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
    int64_t used[LEDGER_MAX_DEVICES], reserved[LEDGER_MAX_DEVICES];
    char user[];
};

struct ledger {
    pthread_mutex_t mutex;
    int n_devices;
    struct device_account devices[LEDGER_MAX_DEVICES];
    struct account *accounts;
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

enum admission ledger_reserve(struct account *account, int device, int64_t bytes,
                              struct problem *problem)
{
    return ledger_reserve_more(account, device, bytes, 0, problem);
}

enum admission ledger_reserve_more(struct account *account, int device, int64_t bytes,
                                   int64_t held, struct problem *problem)
{
    assert(bytes >= 0 && held >= 0);
    struct device_account *totals = enter(account, device);
    int64_t limit = totals->limit, available = limit - totals->settled - held;
    enum admission answer = ADMISSION_NEVER;
    if (bytes <= limit - totals->used - totals->reserved) {
        answer = ADMISSION_READY;
        totals->reserved += bytes;
        account->reserved[device] += bytes;
    } else if (bytes <= available) {
        answer = ADMISSION_WAIT;
        atomic_store_explicit(&totals->waited, true, memory_order_relaxed);
    }
    leave(account);
    return answer == ADMISSION_NEVER ? refuse(problem, bytes, available, limit) : answer;
}

void ledger_unreserve(struct account *account, int device, int64_t bytes)
{
    struct device_account *totals = enter(account, device);
    assert(bytes >= 0 && bytes <= account->reserved[device]);
    totals->reserved -= bytes;
    account->reserved[device] -= bytes;
    leave_returned(account, device, totals);
}

void ledger_use(struct account *account, int device, int64_t bytes)
{
    struct device_account *totals = enter(account, device);
    assert(bytes >= 0 && bytes <= account->reserved[device]);
    totals->reserved -= bytes;
    account->reserved[device] -= bytes;
    totals->used += bytes;
    account->used[device] += bytes;
    leave(account);
}

void ledger_settle(struct account *account, int device, int64_t bytes)
{
    struct device_account *totals = enter(account, device);
    totals->settled += bytes;
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
    leave(account);
}

void ledger_unuse(struct account *account, int device, int64_t bytes, bool settled)
{
    struct device_account *totals = enter(account, device);
    assert(bytes >= 0 && bytes <= account->used[device]);
    totals->used -= bytes;
    account->used[device] -= bytes;
    if (settled)
        totals->settled -= bytes;
    assert(totals->settled >= 0 && totals->settled <= totals->used);
    leave_returned(account, device, totals);
}

int64_t ledger_free_bytes(struct account *account, int device)
{
    const struct device_account *totals = enter(account, device);
    int64_t bytes = totals->limit - totals->used - totals->reserved;
    leave(account);
    return bytes;
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
    *used = account->used[device];
    *reserved = account->reserved[device];
    leave(account);
}
