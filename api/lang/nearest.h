// SPDX-License-Identifier: Apache-2.0
// The nearest of a number of names to one that is wrong, by edit distance (a swap of
// neighbours counts as one). Nothing is near that differs in more than a third.
// Threads: any.
#ifndef TENSORD_API_LANG_NEAREST_H
#define TENSORD_API_LANG_NEAREST_H

#include <stddef.h>

enum { NEAREST_MAX = 64 }; // longer names are near to nothing

struct nearest {
    const char *wanted;
    size_t length;
    int best;         // distance of `name`; above it nothing counts
    const char *name; // borrowed from the offer, or NULL
    size_t name_length;
};
void nearest_begin(struct nearest *nearest, const char *wanted, size_t length);
void nearest_offer(struct nearest *nearest, const char *name, size_t length);
#endif
