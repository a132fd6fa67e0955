// SPDX-License-Identifier: Apache-2.0
// Types of values: their names, their bases, and which one a value has. Any thread.
#include "api/lang/value.h"

#include <string.h>

#include "api/lang/operate.h"

static const char *const names[TYPE_COUNT] = {
#define TYPE(symbol, name, base) [TYPE_##symbol] = name,
#include "api/lang/types.def"
#undef TYPE
};
static const enum type bases[TYPE_COUNT] = {
#define TYPE(symbol, name, base) [TYPE_##symbol] = TYPE_##base,
#include "api/lang/types.def"
#undef TYPE
};

const char *type_name(enum type type)
{
    return names[type];
}

const char *type_short_name(enum type type)
{
    const char *dot = strrchr(names[type], '.');
    return dot ? dot + 1 : names[type];
}

enum type type_base(enum type type)
{
    return bases[type];
}

bool type_is_subtype(enum type type, enum type of)
{
    while (type != of && type != TYPE_object)
        type = bases[type];
    return type == of;
}

static enum type view_type(const struct view *view)
{
    return view->which == VIEW_KEYS     ? TYPE_dict_keys
           : view->which == VIEW_VALUES ? TYPE_dict_values
                                        : TYPE_dict_items;
}

// Records of a type that programs can name have it as their type_text.
static enum type record_type(const struct record *record)
{
    for (int type = TYPE_record + 1; type < TYPE_COUNT; type++)
        if (strcmp(record->type_text, names[type]) == 0)
            return (enum type)type;
    return TYPE_record;
}

static enum type tensor_type(const struct tensor_object *tensor)
{
    return tensor->is_array       ? TYPE_ndarray
           : tensor->is_parameter ? TYPE_Parameter
                                  : TYPE_Tensor;
}

static enum type object_type(struct object *object)
{
    switch ((enum object_kind)object->kind) {
    case OBJECT_STRING:
        return TYPE_str;
    case OBJECT_TUPLE:
        return ((struct tuple *)object)->is_size ? TYPE_Size : TYPE_tuple;
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
    case OBJECT_VIEW:
        return view_type((struct view *)object);
    case OBJECT_ITERATOR:
        return TYPE_iterator;
    case OBJECT_PRODUCER:
        return TYPE_generator;
    case OBJECT_FUNCTION:
        return TYPE_function;
    case OBJECT_BOUND:
        return TYPE_builtin;
    case OBJECT_TENSOR:
        return tensor_type((struct tensor_object *)object);
    case OBJECT_MODULE:
        return module_type((struct module *)object);
    case OBJECT_RECORD:
        return record_type((struct record *)object);
    case OBJECT_BOX:
        break;
    }
    return TYPE_object;
}

enum type value_type(struct value value)
{
    switch ((enum value_tag)value.tag) {
    case VALUE_NONE:
        return TYPE_NoneType;
    case VALUE_BOOL:
        return TYPE_bool;
    case VALUE_INT:
    case VALUE_WIDE:
        return TYPE_int;
    case VALUE_FLOAT:
        return TYPE_float;
    case VALUE_ELLIPSIS:
        return TYPE_ellipsis;
    case VALUE_DTYPE:
        return TYPE_dtype;
    case VALUE_DEVICE:
        return TYPE_device;
    case VALUE_TYPE:
        return TYPE_type;
    case VALUE_NAMESPACE:
        return TYPE_namespace;
    case VALUE_NATIVE:
    case VALUE_OP:
        return TYPE_builtin;
    case VALUE_OBJECT:
        return object_type(value.object);
    case VALUE_ABSENT:
        break;
    }
    return TYPE_object;
}

bool value_identical(struct value a, struct value b)
{
    if (a.tag != b.tag)
        return false;
    switch ((enum value_tag)a.tag) {
    case VALUE_ABSENT:
    case VALUE_NONE:
    case VALUE_ELLIPSIS:
        return true;
    case VALUE_FLOAT: // by bits: the only identity a float has here
        return memcmp(&a.f, &b.f, sizeof a.f) == 0;
    case VALUE_OP:
        return a.i == b.i && a.flags == b.flags;
    case VALUE_OBJECT:
        if (a.object == b.object)
            return true;
        return value_is_object(a, OBJECT_TUPLE) && value_is_object(b, OBJECT_TUPLE) &&
               VALUE_AS(tuple, a)->count == 0 && VALUE_AS(tuple, b)->count == 0 &&
               VALUE_AS(tuple, a)->is_size == VALUE_AS(tuple, b)->is_size;
    case VALUE_NATIVE:
        return a.native == b.native;
    default:
        return a.i == b.i;
    }
}
