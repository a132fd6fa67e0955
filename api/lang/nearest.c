// SPDX-License-Identifier: Apache-2.0
// See nearest.h.
#include "api/lang/nearest.h"

#include "tensor/registry.h"

enum { MOST_EDITS = 3 }; // that name_distance counts

void nearest_begin(struct nearest *nearest, const char *wanted, size_t length)
{
    *nearest = (struct nearest){.wanted = wanted, .length = length};
    int allowed = length > NEAREST_MAX ? -1 : (int)length / 3 + 1;
    nearest->best = (allowed < MOST_EDITS ? allowed : MOST_EDITS) + 1;
}

void nearest_offer(struct nearest *nearest, const char *name, size_t length)
{
    size_t apart =
        length > nearest->length ? length - nearest->length : nearest->length - length;
    if (nearest->best <= 0 || length > NEAREST_MAX || apart >= (size_t)nearest->best)
        return;
    int edits =
        name_distance(nearest->wanted, nearest->length, name, length, nearest->best - 1);
    if (edits == 0 || edits >= nearest->best || (size_t)edits >= nearest->length)
        return;
    nearest->best = edits;
    nearest->name = name;
    nearest->name_length = length;
}
