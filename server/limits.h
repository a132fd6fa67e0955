// SPDX-License-Identifier: Apache-2.0
// What the machine gives this process: memory, cores, file descriptors. Main thread, at
// start.
#ifndef TENSORD_SERVER_LIMITS_H
#define TENSORD_SERVER_LIMITS_H

#include <stdint.h>

// Bytes of memory this process may use: the least limit of its cgroup and its parents, or
// what the machine has. root: "" (another directory in tests).
int64_t limits_memory_limit(const char *root);
// Cores this process may run on, the cgroup's quota counted; at least 1.
int limits_cores(const char *root);
// Raises the limit of open files as far as allowed; the limit.
int64_t limits_raise_files(void);
#endif
