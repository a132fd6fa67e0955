// SPDX-License-Identifier: Apache-2.0
// The accounts of memory: who uses how much on which device, and what has been promised.
// Kernels only report that memory ran out; who waits and who is refused is decided here.
//
// Memory is admitted before it is allocated: reserve -> allocate (block_create turns the
// reserved bytes into used ones) -> block_release gives them back. used + reserved <=
// limit always holds, per device.
//
// Of the used bytes those behind names are settled (tensor.h, "Accounting"); the others,
// and what is reserved, are transient: running requests and pinned readers will give them
// back. So required <= limit - used - reserved is READY, else required <= limit - settled
// is WAIT, else NEVER. Who was told WAIT must hear of bytes that come back, and of bytes
// that were settled meanwhile and never will: both call on_release, as long as somebody
// may be waiting. Misuse (giving back more than was taken) is a bug of the caller and
// ends the process.
// Threads: all functions from any thread; one mutex inside. `on_release` runs without the
// mutex held.
#ifndef TENSORD_TENSOR_LEDGER_H
#define TENSORD_TENSOR_LEDGER_H

#include "kernels/device.h"

struct ledger;
struct account; // one user on all devices

enum { LEDGER_MAX_DEVICES = 17 }; // the host and 16 CUDA devices

struct ledger_usage {
    int64_t limit, used, reserved; // bytes
    int64_t transient; // used and reserved bytes that running requests will give back
};

// limits[i]: bytes tensors may take on device i.
enum status ledger_create(int n_devices, const int64_t *limits, struct ledger **out,
                          struct problem *);
void ledger_free(struct ledger *ledger);
// Called when bytes come back on device, or are settled, after somebody was told WAIT
// there (to wake waiting admissions: queue_wake). It goes on being called until no
// transient bytes are left, so a waiter may ask late. Set once, before threads.
void ledger_on_release(struct ledger *ledger, void (*callback)(void *context, int device),
                       void *context);

// The account of a user; created at first use, lives as long as the ledger. Name "" is
// the anonymous user.
enum status ledger_account(struct ledger *ledger, const char *user, struct account **out,
                           struct problem *);

// Whether the ledger has another account, too. One atomic load.
bool account_is_shared(const struct account *account);

enum admission { ADMISSION_READY, ADMISSION_WAIT, ADMISSION_NEVER };
// READY: bytes are reserved. WAIT: they do not fit now, but would beside what names hold
// (memory held by running requests and pinned readers comes back). NEVER:
// STATUS_OUT_OF_MEMORY in problem with required_bytes and available_bytes (limit -
// settled). Ask for all of a request's bytes at once: who holds some while waiting for
// more may wait for himself.
enum admission ledger_reserve(struct account *account, int device, int64_t bytes,
                              struct problem *problem);
// The same for a request that holds `held` transient bytes of this device already: they
// do not come back while it waits, so they count as stored. Who holds memory and is told
// WAIT must not wait, or two such requests could wait for each other.
enum admission ledger_reserve_more(struct account *account, int device, int64_t bytes,
                                   int64_t held, struct problem *problem);
void ledger_unreserve(struct account *account, int device, int64_t bytes);
// Reserved bytes become used ones held by a request (transient until ledger_settle).
void ledger_use(struct account *account, int device, int64_t bytes);
// A request's block was committed to a name's storage: it no longer comes back by itself.
// Follow it by ledger_announce once no lock is held.
void ledger_settle(struct account *account, int device, int64_t bytes);
void ledger_announce(struct account *account, int device);
// A settled block lost its storage but is still pinned by a reader or a running request.
void ledger_unsettle(struct account *account, int device, int64_t bytes);
void ledger_unuse(struct account *account, int device, int64_t bytes, bool settled);
// What the user may use of device at most (INT64_MAX at first). What he has stays his if
// it is more. From then on admissions mind both limits: NEVER may also be STATUS_QUOTA,
// and WAIT may be for bytes of his own. [any thread]
void ledger_set_limit(struct account *account, int device, int64_t limit);
// Bytes that the device could still give to this user: limit - used - reserved.
int64_t ledger_free_bytes(struct account *account, int device);
void ledger_usage(struct ledger *ledger, int device, struct ledger_usage *out);
// What one user uses and has reserved on device, and (account_limit) may.
void ledger_account_usage(struct account *account, int device, int64_t *used,
                          int64_t *reserved);
int64_t ledger_account_limit(struct account *account, int device);
#endif
