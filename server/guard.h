// SPDX-License-Identifier: Apache-2.0
// What is checked before a request is routed: framing that libmicrohttpd lets through,
// the Host header on a loopback bind (DNS rebinding), Origin and Sec-Fetch-Site (foreign
// web pages), and the bearer token. Pure functions on what one pass over the headers
// found (but for the look at the users); any thread.
#ifndef TENSORD_SERVER_GUARD_H
#define TENSORD_SERVER_GUARD_H

#include <stddef.h>

#include "kernels/base/problem.h"
#include "server/users.h"

struct guard_rules {
    bool check_host;            // a loopback bind
    const char *const *hosts;   // further names, NULL-terminated; may be NULL
    const char *const *origins; // NULL-terminated; may be NULL
    struct users *users;        // whose tokens are taken; NULL: none is needed
};

// Strings are borrowed from the request.
struct guard_facts {
    const char *method;
    const char *target;    // path as sent, or "*"; without the query
    const char *query;     // as sent; "" if none
    const char *authority; // of an absolute-form target; NULL in origin-form
    bool http_1_1;
    bool bad_name; // a header's name is empty, or contains a blank or a control character
    bool bad_value; // a header's value contains a carriage return
    bool folded;    // a header goes on in the next line
    bool expects_continue;
    int n_host, n_content_length, n_transfer_encoding, n_origin;
    const char *host, *content_length, *transfer_encoding, *origin;
    const char *fetch_site, *fetch_mode, *authorization;
    const char *preflight_method; // Access-Control-Request-Method
    bool preflight_private;       // Access-Control-Request-Private-Network: true
};

// Notes a header. To be called for each, in order. value is terminated.
void guard_note(struct guard_facts *facts, const char *name, size_t name_length,
                const char *value, size_t value_length);

enum guard_verdict {
    GUARD_PASS,
    GUARD_PREFLIGHT, // answer it here, with CORS headers
    GUARD_REFUSE,    // with the problem
    GUARD_CLOSE,     // the same, and the connection is no longer understood
};
// *user is the number of the user whose token was sent (users.h); -1: none was needed.
// *allow_origin is the Origin if it is one of rules->origins (CORS headers are due, also
// on a refusal), else NULL.
enum guard_verdict guard_check(const struct guard_rules *rules,
                               const struct guard_facts *facts, const char **allow_origin,
                               int *user, struct problem *problem);

// Splits an absolute-form target "http://host/path?query" in place: *authority and the
// rest (which starts with '/' or is ""). False if it is none.
bool guard_split_absolute(char *target, char **authority, char **rest);
// The declared body length: -1 chunked, 0 none.
int64_t guard_body_length(const struct guard_facts *facts);
#endif
