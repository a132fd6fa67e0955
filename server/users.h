// SPDX-License-Identifier: Apache-2.0
// Who may use the server: the users of --users (a JSON file, read again on SIGHUP), or
// the one behind --token-file. A user is known by a small number for as long as the
// process lives: one who vanishes from the file and comes back finds his tensors.
//
// Tokens are never kept: the file holds their SHA-256, a token that arrives is hashed and
// compared with all of them, in a time that does not depend on which one fits.
// Threads: all functions from any thread; a mutex inside.
#ifndef TENSORD_SERVER_USERS_H
#define TENSORD_SERVER_USERS_H

#include <stddef.h>

#include "kernels/base/problem.h"
#include "server/sha256.h"

enum {
    USER_NAME_MAX = 32,
    USERS_MAX = 1024,      // ever known to one process
    USERS_TOKEN_MAX = 1024 // a longer token is nobody's
};

struct user_settings {
    char name[USER_NAME_MAX + 1]; // "": the one behind --token-file
    uint8_t token[SHA256_SIZE];   // the digest of the token
    double weight;
    int64_t memory, device_memory; // bytes; INT64_MAX: no limit
    int max_queued, max_running;
    double rate; // requests a second; 0: no limit
    bool admin;
};

struct user_list {
    int count;
    struct user_settings *users; // malloc'ed
};

// Reads a users file's text. STATUS_VALUE with a detail that says where ("users[3]") and
// what. *out is the caller's (free out->users).
enum status users_parse(const char *text, size_t length, struct user_list *out,
                        struct problem *problem);

struct users;

// From a file, warned about in the log if everybody may read it; or the user "" with this
// token, an administrator. Exactly one of path and token is given.
enum status users_create(const char *path, const char *token, struct users **out,
                         struct problem *problem);
void users_free(struct users *users);
// Reads the file again. What is wrong with it is in the log and in problem, and the old
// users stay. Does nothing for a token.
enum status users_reload(struct users *users, struct problem *problem);

// Whether they have names, hence come from a file.
bool users_are_named(const struct users *users);

// The number of the user with this token (terminated); -1: nobody's.
int users_authenticate(struct users *users, const char *token);
// The settings of user `number`; false: he is not in the file any more.
bool users_settings(struct users *users, int number, struct user_settings *out);
// How many are known: numbers are below it.
int users_count(struct users *users);
// Counts the reloads: settings read at the same count are still the same.
unsigned users_generation(const struct users *users);

// A new random token (64 hexadecimal digits) and its digest. STATUS_VALUE: name is none;
// STATUS_DEVICE_FAULT: the system gives no random bytes.
enum { USERS_NEW_TOKEN = 64 };
enum status users_new_token(const char *name, char token[USERS_NEW_TOKEN + 1],
                            char digest[2 * SHA256_SIZE + 1], struct problem *problem);
bool users_name_is_good(const char *name, size_t length);
#endif
