// SPDX-License-Identifier: Apache-2.0
// Images: their life and their way into a program's heap (image.h).
#include <stdlib.h>
#include <string.h>

#include "api/lang/container.h"
#include "api/lang/image_internal.h"
#include "api/lang/nn.h"
#include "api/lang/program.h"

// ---- Life

void image_release(struct image *image)
{
    if (image == NULL ||
        atomic_fetch_sub_explicit(&image->references, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = 0; i < image->n_objects; i++) {
        struct image_object *object = &image->objects[i];
        if (object->kind == OBJECT_FUNCTION)
            code_release(object->code);
        if (object->kind == OBJECT_TENSOR && object->tensor.tensor != NULL) {
            storage_drop(object->tensor.tensor->storage);
            tensor_release(object->tensor.tensor);
        }
    }
    if (image->bytes > 0)
        ledger_unuse(image->account, 0, image->bytes, true);
    struct arena arena = image->arena; // the image lies in it
    arena_close(&arena);
}

static void name_free(struct named *named)
{
    struct image_name *name = (struct image_name *)named;
    image_release(name->image);
    free(name);
}

struct named *image_name_new(struct image *image, int root)
{
    struct image_name *name = malloc(sizeof *name);
    if (name == NULL)
        return NULL;
    struct value value = image->roots[root].value;
    uint8_t kind =
        value.tag == VALUE_OBJECT ? image->objects[value.i].kind : OBJECT_TUPLE;
    *name = (struct image_name){.named = {.kind = kind == OBJECT_FUNCTION ? NAME_FUNCTION
                                                  : kind == OBJECT_MODULE ? NAME_MODULE
                                                                          : NAME_VALUE,
                                          .free = name_free},
                                .image = image,
                                .root = root};
    atomic_init(&name->named.references, 1);
    atomic_fetch_add_explicit(&image->references, 1, memory_order_relaxed);
    return &name->named;
}

bool image_grow(void *items, int *capacity, int count, size_t item_size)
{
    if (count < *capacity)
        return true;
    int larger = *capacity < 16 ? 16 : *capacity * 2;
    void *memory = realloc(*(void **)items, (size_t)larger * item_size);
    if (memory == NULL)
        return false;
    *(void **)items = memory;
    *capacity = larger;
    return true;
}

static enum type type_of_object(const struct image_object *object)
{
    switch ((enum object_kind)object->kind) {
    case OBJECT_STRING:
        return TYPE_str;
    case OBJECT_TUPLE:
        return object->tuple.is_size ? TYPE_Size : TYPE_tuple;
    case OBJECT_LIST:
        return TYPE_list;
    case OBJECT_DICT:
        return TYPE_dict;
    case OBJECT_SET:
        return TYPE_set;
    case OBJECT_RANGE:
        return TYPE_range;
    case OBJECT_SLICE:
        return TYPE_slice;
    case OBJECT_FUNCTION:
        return TYPE_function;
    case OBJECT_MODULE:
        return (enum type)object->module.type;
    default:
        return TYPE_object;
    }
}

const char *image_type_text(const struct named *named)
{
    const struct image_name *name = (const struct image_name *)named;
    struct value value = name->image->roots[name->root].value;
    return type_short_name(value.tag == VALUE_OBJECT
                               ? type_of_object(&name->image->objects[value.i])
                               : value_type(value));
}

// ---- Thawing

enum status thawed_create(struct heap *heap, struct cells *cells,
                          struct name_space *space, struct thawed **out,
                          struct problem *problem)
{
    struct thawed *thawed = calloc(1, sizeof *thawed);
    if (thawed == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No host memory for a program's names.");
    thawed->heap = heap;
    thawed->cells = cells;
    thawed->space = space;
    *out = thawed;
    return STATUS_OK;
}

void thawed_note_held(struct thawed *thawed, int64_t bytes)
{
    thawed->held = bytes;
}

int64_t image_size(const struct named *named)
{
    return ((const struct image_name *)named)->image->bytes;
}

static void thawed_image_clear(struct thawed_image *it)
{
    for (int i = 0; i < it->image->n_objects; i++) {
        if (it->objects != NULL && it->objects[i] != NULL)
            value_release(value_of(it->objects[i]));
        if (it->lazies != NULL)
            lazy_release(it->lazies[i]);
    }
    free(it->objects);
    free(it->lazies);
    it->objects = NULL;
    it->lazies = NULL;
}

void thawed_clear(struct thawed *thawed)
{
    for (int i = 0; thawed != NULL && i < thawed->count; i++)
        thawed_image_clear(&thawed->images[i]);
}

void thawed_free(struct thawed *thawed)
{
    if (thawed == NULL)
        return;
    for (int i = 0; i < thawed->count; i++)
        image_release(thawed->images[i].image);
    free(thawed->images);
    free(thawed);
}

static struct value thawed_value(const struct thawed_image *it, struct value value)
{
    return value.tag == VALUE_OBJECT ? value_of(it->objects[value.i]) : value;
}

static void *make_tensor(struct thawed *thawed, struct thawed_image *it, int i,
                         struct problem *problem)
{
    const struct image_object *from = &it->image->objects[i];
    struct tensor_object *to =
        heap_object(thawed->heap, OBJECT_TENSOR, sizeof *to, problem);
    if (to == NULL)
        return NULL;
    to->is_array = from->tensor.is_array;
    to->is_parameter = from->tensor.is_parameter;
    to->requires_grad = from->tensor.requires_grad;
    bool readonly = registry_readonly(thawed->space, from->tensor.tensor->storage);
    if (cells_import(thawed->cells, from->tensor.tensor, readonly, &to->lazy, problem) !=
        STATUS_OK) {
        value_release(value_of(to));
        return NULL;
    }
    it->lazies[i] = lazy_reference(to->lazy);
    return to;
}

static void *make_range(struct heap *heap, const struct image_object *from,
                        struct problem *problem)
{
    struct range *range = heap_object(heap, OBJECT_RANGE, sizeof *range, problem);
    if (range != NULL) {
        range->start = from->range.start;
        range->stop = from->range.stop;
        range->step = from->range.step;
        range->count = from->count;
    }
    return range;
}

static void *make_tuple(struct heap *heap, const struct image_object *from,
                        struct problem *problem)
{
    struct tuple *tuple = tuple_new(heap, from->count, NULL, problem);
    if (tuple != NULL) {
        tuple->is_size = from->tuple.is_size;
        tuple->fields = from->tuple.fields;
        tuple->type_text = from->tuple.type_text;
    }
    return tuple;
}

static void *make_module(struct heap *heap, const struct image_object *from,
                         struct problem *problem)
{
    struct module *module = module_new(heap, (enum type)from->module.type, problem);
    if (module != NULL) {
        module->training = from->module.training;
        module->approximate = from->module.approximate;
        module->p = from->module.p;
        memcpy(module->sizes, from->module.sizes, sizeof module->sizes);
    }
    return module;
}

// The object without what it contains. NULL: problem set.
static void *make_object(struct thawed *thawed, struct thawed_image *it, int i,
                         struct problem *problem)
{
    const struct image_object *from = &it->image->objects[i];
    struct heap *heap = thawed->heap;
    switch ((enum object_kind)from->kind) {
    case OBJECT_STRING:
        return string_new(heap, from->string.text, (size_t)from->string.bytes, problem);
    case OBJECT_TUPLE:
        return make_tuple(heap, from, problem);
    case OBJECT_LIST:
        return list_new(heap, 0, NULL, problem);
    case OBJECT_DICT:
        return dict_new(heap, problem);
    case OBJECT_SET:
        return set_new(heap, problem);
    case OBJECT_RANGE:
        return make_range(heap, from, problem);
    case OBJECT_SLICE:
        return heap_object(heap, OBJECT_SLICE, sizeof(struct slice_object), problem);
    case OBJECT_FUNCTION: {
        struct function *function =
            heap_object(heap, OBJECT_FUNCTION, sizeof *function, problem);
        if (function != NULL)
            function->code = code_reference(from->code);
        return function;
    }
    case OBJECT_BOX:
        return heap_object(heap, OBJECT_BOX, sizeof(struct box), problem);
    case OBJECT_BOUND:
        return heap_object(heap, OBJECT_BOUND, sizeof(struct bound), problem);
    case OBJECT_TENSOR:
        return make_tensor(thawed, it, i, problem);
    case OBJECT_MODULE:
        return make_module(heap, from, problem);
    default:
        break;
    }
    problem_set(problem, STATUS_VALUE, "A stored value has no form here.");
    return NULL;
}

static void fill_function(struct function *function, const struct thawed_image *it,
                          const struct value *items)
{
    void *parts[3];
    for (int i = 0; i < 3; i++)
        parts[i] = items[i].tag == VALUE_ABSENT
                       ? NULL
                       : value_reference(thawed_value(it, items[i])).object;
    function->defaults = parts[0];
    function->keyword_defaults = parts[1];
    function->closure = parts[2];
}

static bool fill_module(struct thawed *thawed, const struct thawed_image *it,
                        const struct image_object *from, struct module *module,
                        struct problem *problem)
{
    for (int i = 0; i < MODULE_PARAMETERS; i++)
        module->parameters[i] = value_reference(thawed_value(it, from->items[i]));
    for (int64_t i = MODULE_PARAMETERS; i < from->count; i += 2)
        if (module_add_child(thawed->heap, module,
                             VALUE_AS(string, thawed_value(it, from->items[i])),
                             VALUE_AS(module, thawed_value(it, from->items[i + 1])),
                             problem) != STATUS_OK)
            return false;
    return true;
}

// What can be filled before all keys are whole: everything but dicts and sets.
static bool fill(struct thawed *thawed, const struct thawed_image *it, int i,
                 struct problem *problem)
{
    const struct image_object *from = &it->image->objects[i];
    struct object *object = it->objects[i];
    struct value *items = NULL;
    switch ((enum object_kind)from->kind) {
    case OBJECT_TUPLE:
        items = ((struct tuple *)object)->items;
        break;
    case OBJECT_SLICE:
        items = &((struct slice_object *)object)->start;
        break;
    case OBJECT_BOX:
        items = &((struct box *)object)->value;
        break;
    case OBJECT_BOUND:
        items = &((struct bound *)object)->self;
        break;
    case OBJECT_LIST:
        for (int64_t k = 0; k < from->count; k++)
            if (!list_append(thawed->heap, (struct list *)object,
                             thawed_value(it, from->items[k]), problem))
                return false;
        return true;
    case OBJECT_FUNCTION:
        fill_function((struct function *)object, it, from->items);
        return true;
    default:
        return true;
    }
    for (int64_t k = 0; k < from->count; k++)
        items[k] = value_reference(thawed_value(it, from->items[k]));
    return true;
}

static bool fill_late(struct thawed *thawed, const struct thawed_image *it, int i,
                      struct problem *problem)
{
    const struct image_object *from = &it->image->objects[i];
    struct object *object = it->objects[i];
    enum status status = STATUS_OK;
    if (from->kind == OBJECT_MODULE)
        return fill_module(thawed, it, from, (struct module *)object, problem);
    if (from->kind == OBJECT_DICT)
        for (int64_t k = 0; k < from->count && status == STATUS_OK; k += 2)
            status = dict_set(thawed->heap, (struct dict *)object,
                              thawed_value(it, from->items[k]),
                              thawed_value(it, from->items[k + 1]), problem);
    if (from->kind == OBJECT_SET)
        for (int64_t k = 0; k < from->count && status == STATUS_OK; k++)
            status = set_add(thawed->heap, (struct set *)object,
                             thawed_value(it, from->items[k]), problem);
    return status == STATUS_OK;
}

static enum status thaw_image(struct thawed *thawed, struct thawed_image *it,
                              struct problem *problem)
{
    size_t n = (size_t)it->image->n_objects;
    it->objects = calloc(n + 1, sizeof *it->objects);
    it->lazies = calloc(n + 1, sizeof *it->lazies);
    if (it->objects == NULL || it->lazies == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No host memory for a stored value.");
    for (int i = 0; i < it->image->n_objects; i++) {
        it->objects[i] = make_object(thawed, it, i, problem);
        if (it->objects[i] == NULL)
            return problem->status;
        it->objects[i]->origin = (uint32_t)thawed->count + 1;
    }
    for (int i = 0; i < it->image->n_objects; i++)
        if (!fill(thawed, it, i, problem))
            return problem->status;
    // Children before their parents: a module's place in the table is before its
    // children's.
    for (int i = it->image->n_objects - 1; i >= 0; i--)
        if (!fill_late(thawed, it, i, problem))
            return problem->status;
    return STATUS_OK;
}

bool thawed_any(const struct thawed *thawed)
{
    return thawed->count > 0;
}

static struct thawed_image *find_thawed(const struct thawed *thawed,
                                        const struct image *image)
{
    for (int i = 0; i < thawed->count; i++)
        if (thawed->images[i].image == image)
            return &thawed->images[i];
    return NULL;
}

enum status thaw(struct thawed *thawed, const char *name, const struct named *named,
                 struct value *out, struct problem *problem)
{
    const struct image_name *from = (const struct image_name *)named;
    struct thawed_image *it = find_thawed(thawed, from->image);
    if (it == NULL) {
        if (!image_grow(&thawed->images, &thawed->capacity, thawed->count, sizeof *it))
            return problem_set(problem, STATUS_OUT_OF_MEMORY,
                               "No host memory for the value of %.128s.", name);
        it = &thawed->images[thawed->count];
        *it = (struct thawed_image){.image = from->image};
        atomic_fetch_add_explicit(&from->image->references, 1, memory_order_relaxed);
        enum status status = thaw_image(thawed, it, problem);
        thawed->count++;
        if (status != STATUS_OK)
            return status;
    }
    *out = value_reference(thawed_value(it, from->image->roots[from->root].value));
    return STATUS_OK;
}
