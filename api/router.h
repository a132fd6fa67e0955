// SPDX-License-Identifier: Apache-2.0
// From method and path to a row of routes.def. The table is immutable after
// router_initialize; any thread.
#ifndef TENSORD_API_ROUTER_H
#define TENSORD_API_ROUTER_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/base/problem.h"

struct request;

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_PUT,
    METHOD_POST,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_COUNT
};
enum route_body {
    BODY_NONE,
    BODY_JSON,    // collected
    BODY_PROGRAM, // collected: program text or JSON
    BODY_UPLOAD,  // taken as it comes
};

struct route {
    enum method method;
    const char *pattern;
    void (*handler)(struct request *request);
    enum route_body body;
    unsigned parameters; // mask of 1 << QUERY_*
    const char *doc;
};
extern const struct route route_table[];
extern const int route_count;

enum { TARGET_SIZE = 256 };
struct route_match {
    const struct route *route; // NULL for OPTIONS
    enum method method;        // HEAD stays HEAD
    bool has_target;
    char target[TARGET_SIZE]; // what {x} matched, decoded, without a format suffix
    const char *suffix;       // "npy": the format named by a suffix; NULL if none
    unsigned allowed;         // methods of the path, a mask of 1 << METHOD_*
};

// Splits the patterns. Once, before threads.
void router_initialize(void);
// path as it was sent (percent-encoded). STATUS_NOT_FOUND; STATUS_MALFORMED for broken
// escapes; STATUS_METHOD with out->allowed set.
enum status route_find(const char *method, const char *path, struct route_match *out,
                       struct problem *problem);
const char *method_name(enum method method);
// "GET, HEAD, OPTIONS", terminated, of a mask; size at least 64.
void methods_text(unsigned mask, char *text, size_t size);
#endif
