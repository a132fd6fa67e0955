// SPDX-License-Identifier: Apache-2.0
// What freeze.c (which names, what hangs together) and freeze_build.c (the copy) share.
#ifndef TENSORD_API_LANG_FREEZE_INTERNAL_H
#define TENSORD_API_LANG_FREEZE_INTERNAL_H

#include "api/lang/graph_walk.h"
#include "api/lang/image_internal.h"

struct object_stack {
    const struct object **items;
    int count, capacity;
};
struct freeze_root {
    const char *name;
    struct value value; // borrowed
    int node;           // in the map; -1: an immediate, a string or a range
    bool done;
};
struct freezer {
    const struct thawed *thawed;
    struct account *account;
    struct name_space *space;
    const struct freeze_name *own; // the program's names
    int n_own;
    bool *included; // images whose names are among the roots
    struct freeze_root *roots;
    int n_roots, root_capacity;
    struct object_map map; // objects of all walks
    int *groups;           // union-find over the map's numbers
    int group_capacity;
};

// The image of these roots, charged to the account; NULL in *out on failure.
enum status image_build(const struct freezer *freezer, const int *members, int count,
                        struct image **out, struct problem *problem);
#endif
