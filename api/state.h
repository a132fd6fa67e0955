// SPDX-License-Identifier: Apache-2.0
// The api's own state, shared by its files. Constant after api_create but for what says
// otherwise.
#ifndef TENSORD_API_STATE_H
#define TENSORD_API_STATE_H

#include <stdatomic.h>

#include "api/api.h"
#include "api/programs.h"
#include "server/users.h"
#include "tensor/generators.h"

enum {
    LIST_LIMIT = 1000, // rows of a list
    LIST_LIMIT_MAX = 10000,
    CALL_BODY_MAX = 16 << 20,   // bytes of a JSON request
    INLINE_NANOSECONDS = 50000, // work that may run on the HTTP thread
    FREE_REQUESTS = 256,        // kept for reuse
};

struct api {
    struct api_options options;
    struct user *users[USERS_MAX]; // by number, made when they come; HTTP thread
    uint64_t boot;                 // random: makes entity tags of another process differ
    struct text_page *openapi;     // made at the first request; HTTP thread
    struct programs programs;      // HTTP thread
    struct request *free_requests; // HTTP thread
    int n_free_requests;
    atomic_bool failed[LEDGER_MAX_DEVICES]; // a device that reported a fault. Any thread
};

static inline struct device *api_host(const struct api *api)
{
    return api->options.devices[0];
}
// The id of device i, which may be NULL in the table (it failed).
void api_device_id(const struct api *api, int i, char id[16]);
// "cpu", "cuda" (the first), "cuda:1" -> index; -1 if there is none.
int api_device_index(const struct api *api, const char *id, size_t length);
// The same with an error: STATUS_DEVICE (there is none) or STATUS_DEVICE_FAULT (it
// failed).
enum status api_device_find(const struct api *api, const char *id, size_t length,
                            struct device **out, struct problem *problem);
void openapi_free(struct api *api); // openapi.c
// Has every CUDA device's worker give its cached memory back, in lane's turn; nobody waits for
// it. Any thread. devices.c
void api_trim_devices(struct api *api, struct lane *lane);
// Remembers that a device failed.
void api_note_fault(struct api *api, int device, const struct problem *problem);
#endif
