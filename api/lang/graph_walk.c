// SPDX-License-Identifier: Apache-2.0
// See graph_walk.h.
#include "api/lang/graph_walk.h"

#include <stdlib.h>

#include "api/lang/container.h"
#include "api/lang/nn.h"

int64_t object_places(const struct object *object)
{
    switch ((enum object_kind)object->kind) {
    case OBJECT_TUPLE:
        return ((const struct tuple *)object)->count;
    case OBJECT_LIST:
        return ((const struct list *)object)->count;
    case OBJECT_DICT:
        return 2 * ((const struct dict *)object)->n_entries;
    case OBJECT_SET:
        return ((const struct set *)object)->table_size;
    case OBJECT_SLICE:
    case OBJECT_FUNCTION:
        return 3;
    case OBJECT_BOX:
        return 1;
    case OBJECT_BOUND:
        return 2;
    case OBJECT_MODULE:
        return MODULE_PARAMETERS + 2 * ((const struct module *)object)->n_children;
    case OBJECT_RECORD:
        return ((const struct record *)object)->count;
    default:
        return 0;
    }
}

static struct value optional(const void *object)
{
    return object == NULL ? (struct value){.tag = VALUE_ABSENT}
                          : value_of((void *)object);
}

static struct value function_item(const struct function *function, int64_t place)
{
    const void *parts[] = {function->defaults, function->keyword_defaults,
                           function->closure};
    return optional(parts[place]);
}

static struct value module_item(const struct module *module, int64_t place)
{
    if (place < MODULE_PARAMETERS)
        return module->parameters[place];
    const struct child *child = &module->children[(place - MODULE_PARAMETERS) / 2];
    return (place - MODULE_PARAMETERS) % 2 == 0 ? optional(child->name)
                                                : optional(child->module);
}

static struct value dict_item(const struct dict *dict, int64_t place)
{
    const struct dict_entry *entry = &dict->entries[place / 2];
    if (entry->key.tag == VALUE_ABSENT)
        return entry->key;
    return place % 2 == 0 ? entry->key : entry->value;
}

struct value object_item(const struct object *object, int64_t place)
{
    switch ((enum object_kind)object->kind) {
    case OBJECT_TUPLE:
        return ((const struct tuple *)object)->items[place];
    case OBJECT_LIST:
        return ((const struct list *)object)->items[place];
    case OBJECT_DICT:
        return dict_item((const struct dict *)object, place);
    case OBJECT_SET:
        return ((const struct set *)object)->table[place].key;
    case OBJECT_SLICE:
        return (&((const struct slice_object *)object)->start)[place];
    case OBJECT_FUNCTION:
        return function_item((const struct function *)object, place);
    case OBJECT_BOX:
        return ((const struct box *)object)->value;
    case OBJECT_BOUND:
        return (&((const struct bound *)object)->self)[place];
    case OBJECT_MODULE:
        return module_item((const struct module *)object, place);
    case OBJECT_RECORD:
        return ((const struct record *)object)->items[place];
    default:
        return (struct value){.tag = VALUE_ABSENT};
    }
}

// ---- Numbers for objects

static size_t slot_of(const struct object_map *map, const struct object *object)
{
    uint64_t hash = (uint64_t)(uintptr_t)object >> 4;
    hash *= 0x9E3779B97F4A7C15u;
    size_t slot = (size_t)(hash >> 20) & (map->size - 1);
    while (map->entries[slot].object != NULL && map->entries[slot].object != object)
        slot = (slot + 1) & (map->size - 1);
    return slot;
}

int object_map_find(const struct object_map *map, const struct object *object)
{
    if (map->size == 0)
        return -1;
    const struct object_map_entry *entry = &map->entries[slot_of(map, object)];
    return entry->object != NULL ? entry->index : -1;
}

static bool grow(struct object_map *map)
{
    struct object_map larger = {.size = map->size == 0 ? 32 : map->size * 2};
    larger.entries = calloc(larger.size, sizeof *larger.entries);
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < map->size; i++)
        if (map->entries[i].object != NULL)
            larger.entries[slot_of(&larger, map->entries[i].object)] = map->entries[i];
    free(map->entries);
    map->entries = larger.entries;
    map->size = larger.size;
    return true;
}

int object_map_add(struct object_map *map, const struct object *object)
{
    if ((size_t)map->count * 2 >= map->size && !grow(map))
        return -1;
    struct object_map_entry *entry = &map->entries[slot_of(map, object)];
    if (entry->object == NULL)
        *entry = (struct object_map_entry){.object = object, .index = map->count++};
    return entry->index;
}

void object_map_free(struct object_map *map)
{
    free(map->entries);
    *map = (struct object_map){.count = 0};
}
