// SPDX-License-Identifier: Apache-2.0
// A user as the api sees him: what is his (names, memory, generators, a lane of the
// queue) and how much he may (server/users.h). Made at his first request and kept until
// the process ends: one who vanishes from the users file is refused, but his tensors
// stay. Without users everybody is the user "", whose lanes are the connections.
//
// Threads: the HTTP thread makes users and changes them (a users file that was read again
// is noticed at the user's next request); workers read what is constant: everything above
// the line.
#ifndef TENSORD_API_USER_H
#define TENSORD_API_USER_H

#include "api/bucket.h"
#include "api/state.h"
#include "server/users.h"

struct request;

struct user {
    char name[USER_NAME_MAX + 1];
    uint64_t domain; // of the order of requests
    struct name_space *space;
    struct account *account;
    struct generators *generators; // a lock of their own
    struct lane *lane;             // NULL: the connection's
    // ----
    unsigned generation; // of the settings
    struct user_settings settings;
    struct bucket bucket;
    uint64_t requests, refused; // by the rate
};

// The user with a number of server/users.h, with his settings as they are now.
enum status user_get(struct api *api, int number, struct user **out,
                     struct problem *problem);
// Frees all.
void users_release(struct api *api);

// A request begins. STATUS_RATE with retry_after: it is one too many.
enum status user_admit(struct user *user, struct problem *problem);
// Adds the RateLimit fields to the answer to a request that was one too many (429, 503).
struct http_response *user_rate_headers(const struct user *user,
                                        struct http_response *response);
// True; or answers 403.
bool user_require_admin(struct request *request);
// The lane in which a request's tasks wait; NULL when memory is out.
struct lane *user_lane(const struct request *request);
#endif
