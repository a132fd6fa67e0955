// SPDX-License-Identifier: Apache-2.0
// Programs compiled before: whoever sends a short program sends it again. Code never
// changes and counts its references, so runs share it.
#ifndef TENSORD_API_PROGRAMS_H
#define TENSORD_API_PROGRAMS_H

#include "api/lang/program.h"

enum {
    PROGRAMS_KEPT = 64,         // at most
    PROGRAMS_SOURCE_MAX = 4096, // bytes of the source of one that is kept
};

// Zeroed: empty. HTTP thread.
struct programs {
    struct code *kept[PROGRAMS_KEPT]; // by a hash of the source
};

// program_compile through the cache; *out is the caller's reference.
enum status programs_compile(struct programs *programs, const char *source, size_t bytes,
                             struct code **out, struct problem *problem);
void programs_clear(struct programs *programs);
#endif
