// SPDX-License-Identifier: Apache-2.0
// Attributes and methods of everything that is not torch's: found in the tables of
// natives, a few values that are made on asking (range.start, int.real), fields of named
// tuples and records. Threads: the program's.
#include "api/lang/builtins.h"
#include "api/lang/code.h"
#include "api/lang/nearest.h"
#include "api/lang/nn.h"
#include "api/lang/number.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"
#include "api/lang/strings.h"
#include "api/lang/vm_internal.h"
#include "kernels/ops.h"

static const struct value absent = {.tag = VALUE_ABSENT};

// ---- What a type has

static struct native *methods_of(enum type type)
{
    switch (type) {
    case TYPE_str:
        return str_methods;
    case TYPE_list:
        return list_methods;
    case TYPE_tuple:
    case TYPE_Size:
        return tuple_methods;
    case TYPE_dict:
        return dict_methods;
    case TYPE_set:
        return set_methods;
    case TYPE_range:
        return range_methods;
    case TYPE_slice:
        return slice_methods;
    case TYPE_int:
    case TYPE_bool:
        return int_methods;
    case TYPE_float:
        return float_methods;
    case TYPE_dict_keys:
    case TYPE_dict_items:
        return view_methods;
    default:
        return NULL;
    }
}

static bool name_is(const struct string *name, const char *text)
{
    return string_is(name, text, strlen(text));
}

// A method of the type, in the language or native.
static bool find_method(enum type type, const struct string *name, struct value *function)
{
    struct native *table = methods_of(type);
    size_t length = (size_t)name->bytes;
    if (prelude_method(type, name->text, length, function)) {
        *function = value_reference(*function);
        return true;
    }
    const struct native *native = table ? native_find(table, name->text, length) : NULL;
    if (native)
        *function = (struct value){.tag = VALUE_NATIVE, .native = native};
    return native != NULL;
}

// Functions that stand among the methods but have no receiver: dict.fromkeys.
static bool takes_self(struct value function)
{
    return function.tag != VALUE_NATIVE ||
           strncmp(function.native->signature, "self", 4) == 0;
}

// ---- Values made on asking. Each list of names ends with NULL; its maker knows their
// order.

static const char *const number_fields[] = {"real", "imag", "numerator", "denominator",
                                            NULL};
static const char *const float_fields[] = {"real", "imag", NULL};
static const char *const span_fields[] = {"start", "stop", "step", NULL};

static int field_of(const char *const *fields, const struct string *name)
{
    for (int i = 0; fields && fields[i]; i++)
        if (name_is(name, fields[i]))
            return i;
    return -1;
}

// The names of a value's fields, or NULL.
static const char *const *fields_of(struct value value)
{
    if (value.tag == VALUE_FLOAT)
        return float_fields;
    if (value_is_integer(value))
        return number_fields;
    if (value_is_object(value, OBJECT_RANGE) || value_is_object(value, OBJECT_SLICE))
        return span_fields;
    if (value_is_object(value, OBJECT_TUPLE))
        return VALUE_AS(tuple, value)->fields;
    return NULL;
}

static struct value number_field(struct value number, int field)
{
    if (number.tag == VALUE_FLOAT)
        return value_float(field == 0 ? number.f : 0.0);
    return value_int(field == 1 ? 0 : field == 3 ? 1 : number.i);
}

static struct value span_field(struct value span, int field)
{
    if (value_is_object(span, OBJECT_RANGE)) {
        const struct range *range = VALUE_AS(range, span);
        return value_int(field == 0   ? range->start
                         : field == 1 ? range->stop
                                      : range->step);
    }
    const struct slice_object *slice = VALUE_AS(slice_object, span);
    return field == 0 ? slice->start : field == 1 ? slice->stop : slice->step;
}

// Borrowed.
static bool find_field(struct value value, const struct string *name, struct value *out)
{
    if (value_is_object(value, OBJECT_RECORD)) {
        const struct record *record = VALUE_AS(record, value);
        for (int i = 0; i < record->count; i++) {
            if (name_is(name, record->fields[i])) {
                *out = record->items[i];
                return true;
            }
        }
        return false;
    }
    int field = field_of(fields_of(value), name);
    if (field < 0)
        return false;
    if (value_is_object(value, OBJECT_TUPLE)) {
        if (field >= VALUE_AS(tuple, value)->count)
            return false;
        *out = VALUE_AS(tuple, value)->items[field];
    } else {
        *out = value.tag == VALUE_OBJECT ? span_field(value, field)
                                         : number_field(value, field);
    }
    return true;
}

// __name__ of functions and types.
static const char *name_of(struct value value)
{
    switch ((enum value_tag)value.tag) {
    case VALUE_TYPE:
        return type_short_name((enum type)value.i);
    case VALUE_NATIVE:
        return value.native->name;
    case VALUE_OP:
        return op_row((enum op)value.i)->name;
    case VALUE_OBJECT:
        if (value_is_object(value, OBJECT_FUNCTION))
            return VALUE_AS(function, value)->code->name->text;
        if (value_is_object(value, OBJECT_BOUND))
            return name_of(VALUE_AS(bound, value)->function);
        return NULL;
    default:
        return NULL;
    }
}

// ---- Missing

static void offer_all(struct nearest *nearest, struct value value)
{
    enum type type = value.tag == VALUE_TYPE ? (enum type)value.i : value_type(value);
    for (const struct native *n = methods_of(type); n && n->name; n++)
        nearest_offer(nearest, n->name, strlen(n->name));
    if (type == TYPE_list)
        nearest_offer(nearest, "sort", 4);
    const char *const *fields = fields_of(value);
    for (int i = 0; fields && fields[i]; i++)
        nearest_offer(nearest, fields[i], strlen(fields[i]));
    if (value_is_object(value, OBJECT_RECORD))
        for (int i = 0; i < VALUE_AS(record, value)->count; i++)
            nearest_offer(nearest, VALUE_AS(record, value)->fields[i],
                          strlen(VALUE_AS(record, value)->fields[i]));
    if (name_of(value))
        nearest_offer(nearest, "__name__", 8);
}

static enum outcome raise_missing_attribute(struct vm *vm, struct value value,
                                            const struct string *name)
{
    struct nearest nearest;
    int length = (int)(name->bytes < 200 ? name->bytes : 200);
    nearest_begin(&nearest, name->text, (size_t)name->bytes);
    offer_all(&nearest, value);
    if (value.tag == VALUE_TYPE)
        vm_raise(vm, STATUS_ATTRIBUTE, "type object '%s' has no attribute '%.*s'",
                 type_short_name((enum type)value.i), length, name->text);
    else
        vm_raise(vm, STATUS_ATTRIBUTE, "'%s' object has no attribute '%.*s'",
                 value_type_name(value), length, name->text);
    if (nearest.name) {
        char *to = vm_problem(vm)->nearest;
        memcpy(to, nearest.name, nearest.name_length);
        to[nearest.name_length] = '\0';
    }
    return OUTCOME_ERROR;
}

// ---- Looking up

// Types that are torch's own, whose attributes torch_get_method knows.
static bool is_torch_type(enum type type)
{
    return type > TYPE_record;
}

static bool is_torch(struct value value)
{
    switch ((enum value_tag)value.tag) {
    case VALUE_DTYPE:
    case VALUE_DEVICE:
    case VALUE_NAMESPACE:
        return true;
    case VALUE_TYPE:
        return is_torch_type((enum type)value.i);
    default:
        return value_is_object(value, OBJECT_TENSOR);
    }
}

static enum outcome made_name(struct vm *vm, const char *text, struct value *function)
{
    struct string *string = string_new(vm_heap(vm), text, strlen(text), vm_problem(vm));
    if (!string)
        return OUTCOME_ERROR;
    *function = value_of(string);
    return OUTCOME_OK;
}

enum outcome value_get_method(struct vm *vm, struct value value,
                              const struct string *name, struct value *function,
                              struct value *self)
{
    *self = absent;
    if (is_torch(value))
        return torch_get_method(vm, value, name, function, self);
    if (value_is_object(value, OBJECT_MODULE))
        return module_get_method(vm, VALUE_AS(module, value), name, function, self);
    struct value field;
    if (find_field(value, name, &field)) {
        *function = value_reference(field);
        return OUTCOME_OK;
    }
    enum type type = value.tag == VALUE_TYPE ? (enum type)value.i : value_type(value);
    if (find_method(type, name, function)) {
        if (value.tag != VALUE_TYPE &&
            takes_self(*function)) // str.upper is the bare function
            *self = value_reference(value);
        return OUTCOME_OK;
    }
    if (name_of(value) && name_is(name, "__name__"))
        return made_name(vm, name_of(value), function);
    if (value_is_object(value, OBJECT_RECORD) ||
        (value_is_object(value, OBJECT_TUPLE) && VALUE_AS(tuple, value)->is_size))
        return torch_get_method(vm, value, name, function, self);
    return raise_missing_attribute(vm, value, name);
}

enum outcome value_get_attribute(struct vm *vm, struct value value,
                                 const struct string *name, struct value *result)
{
    struct value function, self;
    enum outcome outcome = value_get_method(vm, value, name, &function, &self);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (self.tag == VALUE_ABSENT) {
        *result = function;
        return OUTCOME_OK;
    }
    struct bound *bound =
        heap_object(vm_heap(vm), OBJECT_BOUND, sizeof *bound, vm_problem(vm));
    if (!bound) {
        value_release(function);
        value_release(self);
        return OUTCOME_ERROR;
    }
    bound->self = self;
    bound->function = function;
    *result = value_of(bound);
    return OUTCOME_OK;
}

enum outcome value_set_attribute(struct vm *vm, struct value value,
                                 const struct string *name, struct value item)
{
    struct value found;
    if (value_is_tensor(value))
        return torch_set_attribute(vm, value, name, item);
    if (value_is_object(value, OBJECT_MODULE))
        return module_set_attribute(vm, VALUE_AS(module, value), name, item);
    int length = (int)(name->bytes < 200 ? name->bytes : 200);
    if (is_torch(value) || value.tag == VALUE_TYPE)
        return vm_raise(vm, STATUS_TYPE, "cannot set attribute '%.*s' of '%s' object",
                        length, name->text, value_type_name(value));
    if (find_field(value, name, &found))
        return vm_raise(vm, STATUS_ATTRIBUTE,
                        "attribute '%.*s' of '%s' objects is not writable", length,
                        name->text, value_type_name(value));
    if (find_method(value_type(value), name, &found)) {
        value_release(found);
        return vm_raise(vm, STATUS_ATTRIBUTE, "'%s' object attribute '%.*s' is read-only",
                        value_type_name(value), length, name->text);
    }
    return raise_missing_attribute(vm, value, name);
}
