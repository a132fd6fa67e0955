// SPDX-License-Identifier: Apache-2.0
// What an object contains, one item after another, for walks over object graphs that must
// not recurse (freezing, looking for tensors in an answer). Any thread that has the heap.
#ifndef TENSORD_API_LANG_GRAPH_WALK_H
#define TENSORD_API_LANG_GRAPH_WALK_H

#include "api/lang/value.h"

// Places for items, and the item in one (borrowed; ABSENT where the place is empty).
// dict: key and value in turn; function: defaults, keyword defaults, closure; module:
// parameters, then name and module of each child.
int64_t object_places(const struct object *object);
struct value object_item(const struct object *object, int64_t place);

// Objects and a number for each. Open addressing; grows.
struct object_map {
    struct object_map_entry {
        const struct object *object;
        int index;
    } * entries;
    size_t size; // a power of two, or 0
    int count;
};
void object_map_free(struct object_map *map);
// The number of an object, or -1.
int object_map_find(const struct object_map *map, const struct object *object);
// Gives an object that has none the next number, which is map->count before; -1: memory
// is out.
int object_map_add(struct object_map *map, const struct object *object);
#endif
