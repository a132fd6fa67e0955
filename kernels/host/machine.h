// SPDX-License-Identifier: Apache-2.0
// What the operating system says about this machine. Any thread; reads files of /proc and
// /sys.
#ifndef TENSORD_KERNELS_HOST_MACHINE_H
#define TENSORD_KERNELS_HOST_MACHINE_H

#include <stddef.h>
#include <stdint.h>

// The processor's model; "unknown processor" where the system does not tell.
void machine_processor(char *name, size_t size);

// Bytes of memory: of the machine, or of the control group (version 2) this process is
// in, where that allows less.
struct machine_memory {
    int64_t total, used, available;
};
void machine_memory(struct machine_memory *out);

// For tests. The number of kB after the line "name:" in a meminfo text, in bytes; -1 if
// there is none.
int64_t meminfo_bytes(const char *text, const char *name);
#endif
