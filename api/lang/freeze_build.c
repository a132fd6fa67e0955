// SPDX-License-Identifier: Apache-2.0
// The copy of a group of values into an image: every object once, in the order in which a
// walk from the roots first meets them (a module before its children, which image.c
// relies on).
#include <stdlib.h>
#include <string.h>

#include "api/lang/freeze_internal.h"
#include "api/lang/nn.h"
#include "api/lang/program.h"
#include "kernels/base/size.h"

struct builder {
    const struct freezer *freezer;
    struct image *image;
    struct object_map map; // objects in the order of their numbers
    const struct object **objects;
    int capacity, n_copied;
    int64_t bytes;
    struct problem *problem;
};

static void *take(struct builder *builder, size_t size)
{
    void *memory = arena_take(&builder->image->arena, size);
    builder->bytes += (int64_t)size;
    if (memory == NULL)
        problem_set(builder->problem, STATUS_OUT_OF_MEMORY,
                    "No host memory to keep the program's names.");
    return memory;
}

// The value as it stands in the image; its object, if it is new, waits to be copied.
static bool convert(struct builder *builder, struct value value, struct value *out)
{
    *out = value;
    if (value.tag != VALUE_OBJECT)
        return true;
    int before = builder->map.count, index = object_map_add(&builder->map, value.object);
    if (index < 0 || !image_grow(&builder->objects, &builder->capacity, index,
                                 sizeof *builder->objects)) {
        problem_set(builder->problem, STATUS_OUT_OF_MEMORY,
                    "No host memory to keep the program's names.");
        return false;
    }
    if (builder->map.count > before)
        builder->objects[index] = value.object;
    *out = (struct value){.tag = VALUE_OBJECT, .i = index};
    return true;
}

static bool copy_items(struct builder *builder, const struct object *object,
                       struct image_object *out)
{
    int64_t places = object_places(object), size;
    if (places == 0)
        return true;
    if (!size_multiply(places, (int64_t)sizeof *out->items, &size))
        return false;
    out->items = take(builder, (size_t)size);
    if (out->items == NULL)
        return false;
    bool skips = object->kind == OBJECT_DICT || object->kind == OBJECT_SET;
    for (int64_t i = 0; i < places; i++) {
        struct value item = object_item(object, i);
        if (skips && item.tag == VALUE_ABSENT)
            continue;
        if (!convert(builder, item, &out->items[out->count++]))
            return false;
    }
    return true;
}

static bool copy_string(struct builder *builder, const struct string *string,
                        struct image_object *out)
{
    char *text = take(builder, (size_t)string->bytes + 1);
    if (text == NULL)
        return false;
    memcpy(text, string->text, (size_t)string->bytes + 1);
    out->string.text = text;
    out->string.bytes = string->bytes;
    return true;
}

static bool copy_tensor(struct builder *builder, const struct tensor_object *tensor,
                        struct image_object *out)
{
    out->tensor.tensor = NULL;
    if (lazy_tensor(tensor->lazy, &out->tensor.tensor, builder->problem) != STATUS_OK)
        return false;
    storage_hold(out->tensor.tensor->storage);
    storage_announce(out->tensor.tensor->storage);
    out->tensor.is_array = tensor->is_array;
    out->tensor.is_parameter = tensor->is_parameter;
    out->tensor.requires_grad = tensor->requires_grad;
    return true;
}

static void copy_module(const struct module *module, struct image_object *out)
{
    out->module.type = (int)module->type;
    out->module.training = module->training;
    out->module.approximate = module->approximate;
    out->module.p = module->p;
    memcpy(out->module.sizes, module->sizes, sizeof out->module.sizes);
}

static bool copy_object(struct builder *builder, const struct object *object,
                        struct image_object *out)
{
    *out = (struct image_object){.kind = object->kind};
    switch ((enum object_kind)object->kind) {
    case OBJECT_STRING:
        return copy_string(builder, (const struct string *)object, out);
    case OBJECT_RANGE: {
        const struct range *range = (const struct range *)object;
        out->range.start = range->start;
        out->range.stop = range->stop;
        out->range.step = range->step;
        out->count = range->count;
        return true;
    }
    case OBJECT_TENSOR:
        return copy_tensor(builder, (const struct tensor_object *)object, out);
    case OBJECT_TUPLE: {
        const struct tuple *tuple = (const struct tuple *)object;
        out->tuple.is_size = tuple->is_size;
        out->tuple.fields = tuple->fields;
        out->tuple.type_text = tuple->type_text;
        break;
    }
    case OBJECT_FUNCTION:
        out->code = code_reference(((const struct function *)object)->code);
        break;
    case OBJECT_MODULE:
        copy_module((const struct module *)object, out);
        break;
    default:
        break;
    }
    return copy_items(builder, object, out);
}

// The table grows while objects are copied: it is built beside the arena, then moved in.
static bool copy_objects(struct builder *builder)
{
    struct image_object *table = NULL;
    int capacity = 0;
    bool whole = true;
    while (whole && builder->n_copied < builder->map.count) {
        int i = builder->n_copied;
        whole = image_grow(&table, &capacity, i, sizeof *table) &&
                copy_object(builder, builder->objects[i], &table[i]);
        if (whole || (table != NULL && i < capacity))
            builder->n_copied++; // what a failed copy took is let go with the image
    }
    struct image_object *own = NULL;
    if (builder->n_copied > 0)
        own = take(builder, (size_t)builder->n_copied * sizeof *own);
    if (own != NULL) {
        memcpy(own, table, (size_t)builder->n_copied * sizeof *own);
        builder->image->objects = own;
        builder->image->n_objects = builder->n_copied;
    }
    whole = whole && (own != NULL || builder->n_copied == 0);
    free(table);
    if (!whole && builder->problem->status == STATUS_OK)
        problem_set(builder->problem, STATUS_OUT_OF_MEMORY,
                    "No host memory to keep the program's names.");
    return whole;
}

static bool copy_roots(struct builder *builder, const int *members, int count)
{
    struct image *image = builder->image;
    image->roots = take(builder, (size_t)count * sizeof *image->roots);
    if (image->roots == NULL)
        return false;
    for (int i = 0; i < count; i++) {
        const struct freeze_root *root = &builder->freezer->roots[members[i]];
        size_t size = strlen(root->name) + 1;
        char *name = take(builder, size);
        if (name == NULL)
            return false;
        memcpy(name, root->name, size);
        image->roots[i].name = name;
        if (!convert(builder, root->value, &image->roots[i].value))
            return false;
        image->n_roots = i + 1;
    }
    return true;
}

// Images are memory of their user's, like tensors behind names.
static bool charge(struct builder *builder)
{
    enum { LEAST = 1024 };
    struct image *image = builder->image;
    int64_t bytes = builder->bytes < LEAST ? LEAST : builder->bytes;
    switch (ledger_reserve_more(image->account, 0, bytes, builder->freezer->thawed->held,
                                builder->problem)) {
    case ADMISSION_READY:
        break;
    case ADMISSION_WAIT:
        problem_set(
            builder->problem, STATUS_QUEUE_FULL,
            "Running requests hold the memory that the program's names need; send "
            "it again in a moment.");
        builder->problem->retry_after = 1;
        return false;
    case ADMISSION_NEVER:
        return false;
    }
    ledger_use(image->account, 0, bytes);
    ledger_settle(image->account, 0, bytes);
    ledger_announce(image->account, 0);
    image->bytes = bytes;
    return true;
}

static struct image *image_new(struct account *account)
{
    struct arena arena;
    if (!arena_open(&arena))
        return NULL;
    struct image *image = arena_take(&arena, sizeof *image);
    if (image == NULL) {
        arena_close(&arena);
        return NULL;
    }
    *image = (struct image){.account = account, .arena = arena};
    atomic_init(&image->references, 1);
    return image;
}

enum status image_build(const struct freezer *freezer, const int *members, int count,
                        struct image **out, struct problem *problem)
{
    struct builder builder = {.freezer = freezer, .problem = problem};
    problem_clear(problem);
    *out = NULL;
    builder.image = image_new(freezer->account);
    if (builder.image == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No host memory to keep the program's names.");
    bool whole = copy_roots(&builder, members, count) && copy_objects(&builder) &&
                 charge(&builder);
    object_map_free(&builder.map);
    free(builder.objects);
    if (whole)
        *out = builder.image;
    else
        image_release(builder.image);
    return whole ? STATUS_OK : problem->status;
}
