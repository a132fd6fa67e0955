// SPDX-License-Identifier: Apache-2.0
// What requests mean: the composition of routes, handlers and formats behind one
// http_handler.
#ifndef TENSORD_API_API_H
#define TENSORD_API_API_H

#include "server/http.h"
#include "server/queue.h"
#include "server/users.h"
#include "tensor/graph.h"
#include "tensor/ledger.h"
#include "tensor/registry.h"

struct api;

// Everything is borrowed and outlives the api.
struct api_options {
    struct queue *queue;
    struct registry *registry;
    struct ledger *ledger;
    struct device *const *devices; // devices[0] is the host
    int n_devices;
    struct users *users;           // NULL: everybody is the anonymous user
    int64_t max_body;              // bytes
    int64_t max_steps, max_source; // of a program: instructions, bytes
    int max_nesting;               // of its text: levels
    const char *version;
    const char *device_note; // why there is no CUDA device, or NULL
};

enum status api_create(const struct api_options *options, struct api **out,
                       struct problem *problem);
// After http_stop.
void api_free(struct api *api);
struct http_handler api_handler(struct api *api);
#endif
