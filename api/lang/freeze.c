// SPDX-License-Identifier: Apache-2.0
// Freezing: which names need an image, and what hangs together (image.h).
//
//   1. Roots: the program's storable names, and the names of thawed images that were
//   changed.
//   2. A walk from every root numbers the objects and joins those that hang together. An
//   object
//      of a thawed image that is not among the roots brings that image's names in.
//   3. Each group becomes an image (freeze_build.c), each root of it a name.
#include <stdlib.h>
#include <string.h>

#include "api/lang/container.h"
#include "api/lang/freeze_internal.h"
#include "api/lang/nn.h"

// ---- What can be stored

static bool immediate_is_storable(struct value value, bool at_top)
{
    switch ((enum value_tag)value.tag) {
    case VALUE_NONE:
    case VALUE_BOOL:
    case VALUE_INT:
    case VALUE_WIDE:
    case VALUE_FLOAT:
    case VALUE_ABSENT:
        return true;
    default:
        return !at_top; // a device as a function's default, say
    }
}

static bool kind_is_storable(enum object_kind kind)
{
    return kind != OBJECT_VIEW && kind != OBJECT_ITERATOR && kind != OBJECT_PRODUCER &&
           kind != OBJECT_RECORD;
}

static bool is_container(enum object_kind kind)
{
    return kind == OBJECT_TUPLE || kind == OBJECT_LIST || kind == OBJECT_DICT ||
           kind == OBJECT_SET;
}

// Whether one place of an object holds what can be stored there.
static bool item_is_storable(const struct object *holder, struct value item)
{
    if (item.tag == VALUE_OBJECT)
        return kind_is_storable((enum object_kind)item.object->kind);
    return immediate_is_storable(item, is_container((enum object_kind)holder->kind));
}

static bool stack_push(struct object_stack *stack, const struct object *object)
{
    if (!image_grow(&stack->items, &stack->capacity, stack->count, sizeof *stack->items))
        return false;
    stack->items[stack->count++] = object;
    return true;
}

static enum status no_memory(struct problem *problem)
{
    return problem_set(problem, STATUS_OUT_OF_MEMORY,
                       "No host memory to keep the program's names.");
}

enum status value_is_storable(struct value value, bool *storable, struct problem *problem)
{
    *storable = value.tag == VALUE_OBJECT
                    ? kind_is_storable((enum object_kind)value.object->kind) &&
                          value.object->kind != OBJECT_BOUND &&
                          value.object->kind != OBJECT_SLICE
                    : immediate_is_storable(value, true);
    if (value.tag != VALUE_OBJECT || !*storable || object_places(value.object) == 0)
        return STATUS_OK;
    struct object_map seen = {.count = 0};
    struct object_stack stack = {.count = 0};
    bool whole =
        object_map_add(&seen, value.object) >= 0 && stack_push(&stack, value.object);
    while (whole && *storable && stack.count > 0) {
        const struct object *object = stack.items[--stack.count];
        int64_t places = object_places(object);
        for (int64_t i = 0; i < places && whole && *storable; i++) {
            struct value item = object_item(object, i);
            *storable = item_is_storable(object, item);
            int before = seen.count;
            if (!*storable || item.tag != VALUE_OBJECT)
                continue;
            whole = object_map_add(&seen, item.object) >= 0;
            if (whole && seen.count > before)
                whole = stack_push(&stack, item.object);
        }
    }
    object_map_free(&seen);
    free(stack.items);
    return whole ? STATUS_OK : no_memory(problem);
}

// ---- Changes

static bool same_item(const struct thawed_image *it, struct value stored,
                      struct value now)
{
    if (stored.tag == VALUE_OBJECT)
        return now.tag == VALUE_OBJECT && now.object == it->objects[stored.i];
    return now.tag == stored.tag && (now.tag == VALUE_NONE || now.tag == VALUE_ABSENT ||
                                     (now.i == stored.i && now.flags == stored.flags));
}

// The members of a set: the same ones, wherever they stand.
static bool same_set(const struct thawed_image *it, const struct image_object *stored,
                     const struct set *now)
{
    struct problem problem;
    bool same = now->count == stored->count;
    for (int64_t i = 0; same && i < stored->count; i++) {
        struct value item = stored->items[i];
        if (item.tag == VALUE_OBJECT)
            item = value_of(it->objects[item.i]);
        same = set_has(now, item, &same, &problem) == STATUS_OK && same;
    }
    return same;
}

static bool same_module(const struct image_object *stored, const struct module *now)
{
    return stored->module.training == now->training && stored->module.p == now->p &&
           memcmp(stored->module.sizes, now->sizes, sizeof now->sizes) == 0;
}

static bool same_tensor(const struct image_object *stored, const struct lazy *was,
                        const struct tensor_object *now)
{
    return now->lazy == was && now->requires_grad == stored->tensor.requires_grad &&
           now->is_parameter == stored->tensor.is_parameter;
}

static bool same_object(const struct thawed_image *it, int index)
{
    const struct image_object *stored = &it->image->objects[index];
    const struct object *now = it->objects[index];
    if (stored->kind == OBJECT_SET)
        return same_set(it, stored, (const struct set *)now);
    if (stored->kind == OBJECT_TENSOR)
        return same_tensor(stored, it->lazies[index], (const struct tensor_object *)now);
    if (stored->kind == OBJECT_MODULE && !same_module(stored, (const struct module *)now))
        return false;
    int64_t places = object_places(now), n = 0;
    for (int64_t i = 0; i < places; i++) {
        struct value item = object_item(now, i);
        if (now->kind == OBJECT_DICT && item.tag == VALUE_ABSENT)
            continue; // a deleted entry
        if (n == stored->count || !same_item(it, stored->items[n++], item))
            return false;
    }
    return n == stored->count;
}

static bool is_changed(const struct thawed_image *it)
{
    for (int i = 0; i < it->image->n_objects; i++)
        if (!same_object(it, i))
            return true;
    return false;
}

// ---- Roots

static bool is_own(const struct freezer *freezer, const char *name)
{
    for (int i = 0; i < freezer->n_own; i++)
        if (strcmp(freezer->own[i].name, name) == 0)
            return true;
    return false;
}

// Still bound to this image?
static bool is_bound(const struct freezer *freezer, const char *name,
                     const struct image *image)
{
    struct binding binding;
    if (!registry_lookup_any(freezer->space, name, &binding))
        return false;
    bool bound = binding.object != NULL &&
                 ((const struct image_name *)binding.object)->image == image;
    binding_release(&binding);
    return bound;
}

static bool add_root(struct freezer *freezer, const char *name, struct value value)
{
    if (!image_grow(&freezer->roots, &freezer->root_capacity, freezer->n_roots,
                    sizeof *freezer->roots))
        return false;
    freezer->roots[freezer->n_roots++] =
        (struct freeze_root){.name = name, .value = value, .node = -1};
    return true;
}

// The names of a thawed image, once.
static bool include_image(struct freezer *freezer, int index)
{
    if (freezer->included[index])
        return true;
    freezer->included[index] = true;
    const struct thawed_image *it = &freezer->thawed->images[index];
    for (int i = 0; i < it->image->n_roots; i++) {
        const struct image_root *root = &it->image->roots[i];
        struct value value = root->value;
        if (value.tag == VALUE_OBJECT)
            value = value_of(it->objects[value.i]);
        if (!is_own(freezer, root->name) && is_bound(freezer, root->name, it->image) &&
            !add_root(freezer, root->name, value))
            return false;
    }
    return true;
}

// ---- Walking

static int find_group(struct freezer *freezer, int node)
{
    while (freezer->groups[node] != node) {
        freezer->groups[node] = freezer->groups[freezer->groups[node]];
        node = freezer->groups[node];
    }
    return node;
}

// A new node is a group of its own. Strings and ranges never change, so they join
// nothing.
static int add_node(struct freezer *freezer, const struct object *object, bool *is_new)
{
    int before = freezer->map.count;
    int node = object_map_add(&freezer->map, object);
    *is_new = freezer->map.count > before;
    if (node < 0 || !*is_new)
        return node;
    if (!image_grow(&freezer->groups, &freezer->group_capacity, node,
                    sizeof *freezer->groups))
        return -1;
    freezer->groups[node] = node;
    return node;
}

static bool visit(struct freezer *freezer, struct object_stack *stack,
                  const struct object *object, int from, int *node)
{
    bool is_new;
    *node = add_node(freezer, object, &is_new);
    if (*node < 0)
        return false;
    if (from >= 0)
        freezer->groups[find_group(freezer, *node)] = find_group(freezer, from);
    if (!is_new)
        return true;
    if (object->origin > 0 && !include_image(freezer, (int)object->origin - 1))
        return false;
    return stack_push(stack, object);
}

static bool joins(const struct object *object)
{
    return object->kind != OBJECT_STRING && object->kind != OBJECT_RANGE;
}

static bool walk(struct freezer *freezer, int root)
{
    struct object_stack stack = {.count = 0};
    int ignored, node = -1;
    bool whole = visit(freezer, &stack, freezer->roots[root].value.object, -1, &node);
    freezer->roots[root].node = node; // visit may have moved the roots
    while (whole && stack.count > 0) {
        const struct object *object = stack.items[--stack.count];
        int from = object_map_find(&freezer->map, object);
        int64_t places = object_places(object);
        for (int64_t i = 0; i < places && whole; i++) {
            struct value item = object_item(object, i);
            if (item.tag == VALUE_OBJECT && joins(item.object))
                whole = visit(freezer, &stack, item.object, from, &ignored);
        }
    }
    free(stack.items);
    return whole;
}

static bool gather(struct freezer *freezer)
{
    for (int i = 0; i < freezer->n_own; i++)
        if (freezer->own[i].value.tag != VALUE_ABSENT &&
            !add_root(freezer, freezer->own[i].name, freezer->own[i].value))
            return false;
    for (int i = 0; i < freezer->thawed->count; i++)
        if (is_changed(&freezer->thawed->images[i]) && !include_image(freezer, i))
            return false;
    for (int i = 0; i < freezer->n_roots; i++) { // grows while it is walked
        struct value value = freezer->roots[i].value;
        if (value.tag == VALUE_OBJECT && joins(value.object) && !walk(freezer, i))
            return false;
    }
    return true;
}

static int group_of(struct freezer *freezer, const struct freeze_root *root)
{
    return root->node < 0 ? -1 : find_group(freezer, root->node);
}

// An image for the group of root `first`; a root that joins nothing is alone.
static enum status build_group(struct freezer *freezer, int first, struct frozen *out,
                               struct problem *problem)
{
    int group = group_of(freezer, &freezer->roots[first]), n = 0;
    int *members = malloc((size_t)freezer->n_roots * sizeof *members);
    if (members == NULL)
        return no_memory(problem);
    for (int i = first; i < freezer->n_roots; i++) {
        struct freeze_root *root = &freezer->roots[i];
        if (i != first && (group < 0 || group_of(freezer, root) != group))
            continue;
        root->done = true;
        members[n++] = i;
    }
    struct image *image;
    enum status status = image_build(freezer, members, n, &image, problem);
    for (int i = 0; i < n && status == STATUS_OK; i++) {
        const struct freeze_root *root = &freezer->roots[members[i]];
        struct named *named =
            image_grow(&out->names, &out->capacity, out->count, sizeof *out->names)
                ? image_name_new(image, i)
                : NULL;
        if (named == NULL)
            status = no_memory(problem);
        else
            out->names[out->count++] = (struct frozen_name){
                .name = root->name, .object = named, .value = root->value};
    }
    if (image != NULL)
        image_release(image);
    free(members);
    return status;
}

enum status freeze(const struct thawed *thawed, struct account *account,
                   struct name_space *space, const struct freeze_name *names, int count,
                   struct frozen *out, struct problem *problem)
{
    struct freezer freezer = {.thawed = thawed,
                              .account = account,
                              .space = space,
                              .own = names,
                              .n_own = count};
    *out = (struct frozen){.count = 0};
    freezer.included = calloc((size_t)thawed->count + 1, sizeof *freezer.included);
    enum status status = STATUS_OK;
    if (freezer.included == NULL || !gather(&freezer))
        status = no_memory(problem);
    for (int i = 0; i < freezer.n_roots && status == STATUS_OK; i++)
        if (!freezer.roots[i].done)
            status = build_group(&freezer, i, out, problem);
    free(freezer.included);
    free(freezer.roots);
    free(freezer.groups);
    object_map_free(&freezer.map);
    if (status != STATUS_OK)
        frozen_free(out);
    return status;
}

void frozen_free(struct frozen *frozen)
{
    for (int i = 0; i < frozen->count; i++)
        named_release(frozen->names[i].object);
    free(frozen->names);
    *frozen = (struct frozen){.count = 0};
}
