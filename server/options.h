// SPDX-License-Identifier: Apache-2.0
// The command line and its twins in the environment (--idle-seconds,
// TENSORD_IDLE_SECONDS); the command line wins. Main thread.
#ifndef TENSORD_SERVER_OPTIONS_H
#define TENSORD_SERVER_OPTIONS_H

#include <stdio.h>

#include "kernels/base/problem.h"

enum { OPTIONS_MAX_LIST = 32, OPTIONS_MAX_CUDA = 16, OPTIONS_TOKEN_SIZE = 1024 };

struct options {
    bool show_help, show_version; // nothing else was looked at
    const char *listen;
    bool all_devices; // whatever there is; otherwise cuda lists ordinals
    int n_cuda;
    int cuda[OPTIONS_MAX_CUDA];
    int64_t memory;                // bytes of host memory for tensors
    int64_t device_memory;         // bytes on each CUDA device; 0: most of what is free
    int64_t max_body;              // bytes
    int64_t max_steps, max_source; // of a program: instructions, bytes
    int max_nesting;               // of its text: levels
    int threads;
    int idle_seconds, drain_seconds;
    bool log_json;
    bool behind_proxy, insecure_public;
    const char *users_file;         // or NULL
    const char *token_file;         // or NULL; not both
    char token[OPTIONS_TOKEN_SIZE]; // "" without a token file
    // NULL-terminated. Strings point into the arguments, or into the copies of what the
    // environment holds.
    const char *hosts[OPTIONS_MAX_LIST + 1];
    const char *origins[OPTIONS_MAX_LIST + 1];
    char *hosts_copy, *origins_copy;
};

// Fills *out or says what is wrong (STATUS_VALUE, a usage error). environment as in
// environ.
enum status options_parse(int argc, char *const *argv, char *const *environment,
                          struct options *out, struct problem *problem);
void options_free(struct options *options);
void options_print_help(FILE *file);

// "4GiB", "512M", "1000000" (bytes), "1.5GB": K, M, G and T alone or with B or iB are
// powers of 1024. False if it is no size or does not fit int64.
bool options_parse_size(const char *text, int64_t *out);
#endif
