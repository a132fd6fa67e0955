// SPDX-License-Identifier: Apache-2.0
// repr and str of every kind of value. Containers are walked with a chain of the
// containers above on the C stack, at most REPR_MAX_DEPTH of them; one that is met inside
// itself prints as dots. Tensors whose elements are not there yet are all asked for
// before the walk says that it must wait. The program's thread.
#include "api/lang/builtins.h"

#include "api/lang/code.h"
#include "kernels/ops.h"

enum { REPR_MAX_DEPTH = 990, ELEMENT_ROOM = 32 };

struct above { // the containers around a value
    const struct object *object;
    const struct above *next;
    int depth;
};

static enum outcome repr_value(struct vm *vm, struct value value,
                               const struct above *above, struct text *text);

// ---- Things without a literal

static void add_address(struct text *text, struct value value)
{
    text_literal(text, " at 0x");
    text_hex(text, (uint64_t)value_id(value));
    text_literal(text, ">");
}

static void repr_native(struct text *text, const struct native *native)
{
    static const struct {
        const struct native *table;
        const char *type;
    } owners[] = {{str_methods, "str"},     {list_methods, "list"},
                  {tuple_methods, "tuple"}, {dict_methods, "dict"},
                  {set_methods, "set"},     {range_methods, "range"},
                  {int_methods, "int"},     {float_methods, "float"}};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        for (const struct native *row = owners[i].table; row->name != NULL; row++)
            if (row == native) {
                text_literal(text, "<method '");
                text_string(text, native->name);
                text_literal(text, "' of '");
                text_string(text, owners[i].type);
                text_literal(text, "' objects>");
                return;
            }
    text_literal(text, "<built-in function ");
    text_string(text, native->name);
    text_literal(text, ">");
}

static void repr_bound(struct text *text, struct value value)
{
    const struct bound *bound = VALUE_AS(bound, value);
    text_literal(text, "<built-in method ");
    if (bound->function.tag == VALUE_NATIVE) {
        text_string(text, bound->function.native->name);
    } else {
        text_string(text, op_row((enum op)bound->function.i)->name);
        if (bound->function.flags & OP_IN_PLACE)
            text_literal(text, "_");
    }
    text_literal(text, " of ");
    text_string(text, value_type_name(bound->self));
    text_literal(text, " object");
    add_address(text, bound->self);
}

static void repr_function(struct text *text, struct value value)
{
    const struct code *code = VALUE_AS(function, value)->code;
    if (code_is_prelude(code)) { // written in the language, built in for the program
        static const char *const classes[] = {"map", "filter", "zip", "enumerate"};
        bool is_class = false;
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
            is_class = is_class || strcmp(classes[i], code_name(code)) == 0;
        text_string(text, is_class ? "<class '" : "<built-in function ");
        text_string(text, code_name(code));
        text_string(text, is_class ? "'>" : ">");
        return;
    }
    text_literal(text, "<function ");
    text_add(text, code->qualified->text, (size_t)code->qualified->bytes);
    add_address(text, value);
}

static void repr_opaque(struct text *text, struct value value)
{
    text_literal(text, "<");
    text_string(text, type_name(value_type(value)));
    text_literal(text, " object");
    add_address(text, value);
}

// ---- Containers

static enum outcome enter(struct vm *vm, struct above *here, struct value value,
                          const struct above *above)
{
    *here = (struct above){value.object, above, above == NULL ? 1 : above->depth + 1};
    if (here->depth > REPR_MAX_DEPTH)
        return vm_raise(vm, STATUS_LIMIT,
                        "maximum recursion depth exceeded while getting the repr of an "
                        "object");
    return vm_spend(vm, 1 + here->depth / 8); // what looking for it in the chain costs
}

static bool inside_itself(struct value value, const struct above *above)
{
    for (; above != NULL; above = above->next)
        if (above->object == value.object)
            return true;
    return false;
}

static enum outcome repr_items(struct vm *vm, int64_t count, const struct value *items,
                               const struct above *above, struct text *text)
{
    enum outcome all = OUTCOME_OK;
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            text_literal(text, ", ");
        if (text_charge(vm, text, ELEMENT_ROOM) == OUTCOME_ERROR ||
            !outcome_keep(&all, repr_value(vm, items[i], above, text)))
            return OUTCOME_ERROR;
    }
    return all;
}

static enum outcome repr_fields(struct vm *vm, const char *type_text, int64_t count,
                                const char *const *fields, const struct value *items,
                                const char *separator, const struct above *above,
                                struct text *text)
{
    enum outcome all = OUTCOME_OK;
    text_string(text, type_text);
    text_literal(text, "(");
    for (int64_t i = 0; i < count; i++) {
        if (separator[0] == '\n' || i > 0)
            text_string(text, i == 0 ? "\n" : separator[0] == '\n' ? ",\n" : separator);
        text_string(text, fields[i]);
        text_literal(text, "=");
        // torch prints the memory of a device in units of its own
        if (items[i].tag == VALUE_INT && strcmp(fields[i], "total_memory") == 0) {
            text_integer(text, items[i].i >> 20);
            text_literal(text, "MB");
        } else if (!outcome_keep(&all, repr_value(vm, items[i], above, text))) {
            return OUTCOME_ERROR;
        }
    }
    text_literal(text, ")");
    return all;
}

static enum outcome repr_tuple(struct vm *vm, struct value value,
                               const struct above *above, struct text *text)
{
    const struct tuple *tuple = VALUE_AS(tuple, value);
    if (tuple->fields != NULL)
        return repr_fields(vm, tuple->type_text, tuple->count, tuple->fields,
                           tuple->items, "\n", above, text);
    text_string(text, tuple->is_size ? "torch.Size([" : "(");
    enum outcome outcome = repr_items(vm, tuple->count, tuple->items, above, text);
    text_string(text, tuple->is_size ? "])" : tuple->count == 1 ? ",)" : ")");
    return outcome;
}

static enum outcome repr_entry(struct vm *vm, const struct dict_entry *entry,
                               enum view_kind which, const char *between,
                               const struct above *above, struct text *text)
{
    enum outcome all = OUTCOME_OK;
    if (text_charge(vm, text, ELEMENT_ROOM) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    if (which != VIEW_VALUES &&
        !outcome_keep(&all, repr_value(vm, entry->key, above, text)))
        return OUTCOME_ERROR;
    if (which == VIEW_ITEMS)
        text_string(text, between);
    if (which != VIEW_KEYS &&
        !outcome_keep(&all, repr_value(vm, entry->value, above, text)))
        return OUTCOME_ERROR;
    return all;
}

static enum outcome repr_dict(struct vm *vm, const struct dict *dict,
                              const struct above *above, struct text *text)
{
    enum outcome all = OUTCOME_OK;
    int64_t position = 0, shown = 0;
    text_literal(text, "{");
    for (struct dict_entry *entry; (entry = dict_next(dict, &position)) != NULL;) {
        if (shown++ > 0)
            text_literal(text, ", ");
        if (!outcome_keep(&all, repr_entry(vm, entry, VIEW_ITEMS, ": ", above, text)))
            return OUTCOME_ERROR;
    }
    text_literal(text, "}");
    return all;
}

static enum outcome repr_view(struct vm *vm, const struct view *view,
                              const struct above *above, struct text *text)
{
    static const char *const names[] = {"dict_keys([", "dict_values([", "dict_items(["};
    enum outcome all = OUTCOME_OK;
    int64_t position = 0, shown = 0;
    text_string(text, names[view->which]);
    for (struct dict_entry *entry; (entry = dict_next(view->dict, &position)) != NULL;) {
        text_string(text, shown++ > 0 ? ", " : "");
        text_string(text, view->which == VIEW_ITEMS ? "(" : "");
        if (!outcome_keep(&all, repr_entry(vm, entry, view->which, ", ", above, text)))
            return OUTCOME_ERROR;
        text_string(text, view->which == VIEW_ITEMS ? ")" : "");
    }
    text_literal(text, "])");
    return all;
}

static enum outcome repr_set(struct vm *vm, const struct set *set,
                             const struct above *above, struct text *text)
{
    if (set->count == 0) {
        text_literal(text, "set()");
        return OUTCOME_OK;
    }
    enum outcome all = OUTCOME_OK;
    int64_t position = 0, shown = 0;
    text_literal(text, "{");
    for (struct set_entry *entry; (entry = set_next(set, &position)) != NULL;) {
        text_string(text, shown++ > 0 ? ", " : "");
        if (text_charge(vm, text, ELEMENT_ROOM) == OUTCOME_ERROR ||
            !outcome_keep(&all, repr_value(vm, entry->key, above, text)))
            return OUTCOME_ERROR;
    }
    text_literal(text, "}");
    return all;
}

static enum outcome repr_list(struct vm *vm, const struct list *list,
                              const struct above *above, struct text *text)
{
    text_literal(text, "[");
    enum outcome outcome = repr_items(vm, list->count, list->items, above, text);
    text_literal(text, "]");
    return outcome;
}

static enum outcome repr_slice(struct vm *vm, const struct slice_object *slice,
                               const struct above *above, struct text *text)
{
    struct value items[] = {slice->start, slice->stop, slice->step};
    text_literal(text, "slice(");
    enum outcome outcome = repr_items(vm, 3, items, above, text);
    text_literal(text, ")");
    return outcome;
}

static enum outcome repr_record(struct vm *vm, struct value value,
                                const struct above *above, struct text *text)
{
    const struct record *record = VALUE_AS(record, value);
    if (value_type(value) != TYPE_record) {
        repr_opaque(text, value);
        return OUTCOME_OK;
    }
    return repr_fields(vm, record->type_text, record->count, record->fields,
                       record->items, ", ", above, text);
}

static enum outcome repr_container(struct vm *vm, struct value value,
                                   const struct above *above, struct text *text)
{
    enum object_kind kind = (enum object_kind)value.object->kind;
    if (inside_itself(value, above)) {
        text_string(text, kind == OBJECT_LIST    ? "[...]"
                          : kind == OBJECT_TUPLE ? "(...)"
                          : kind == OBJECT_DICT  ? "{...}"
                                                 : "...");
        return OUTCOME_OK;
    }
    struct above here;
    if (enter(vm, &here, value, above) == OUTCOME_ERROR)
        return OUTCOME_ERROR;
    switch (kind) {
    case OBJECT_LIST:
        return repr_list(vm, VALUE_AS(list, value), &here, text);
    case OBJECT_TUPLE:
        return repr_tuple(vm, value, &here, text);
    case OBJECT_DICT:
        return repr_dict(vm, VALUE_AS(dict, value), &here, text);
    case OBJECT_SET:
        return repr_set(vm, VALUE_AS(set, value), &here, text);
    case OBJECT_SLICE:
        return repr_slice(vm, VALUE_AS(slice_object, value), &here, text);
    case OBJECT_VIEW:
        return repr_view(vm, VALUE_AS(view, value), &here, text);
    default:
        return repr_record(vm, value, &here, text);
    }
}

// ---- Everything

static void repr_range(struct text *text, const struct range *range)
{
    text_literal(text, "range(");
    text_integer(text, range->start);
    text_literal(text, ", ");
    text_integer(text, range->stop);
    if (range->step != 1) {
        text_literal(text, ", ");
        text_integer(text, range->step);
    }
    text_literal(text, ")");
}

static enum outcome repr_object(struct vm *vm, struct value value,
                                const struct above *above, struct text *text)
{
    switch ((enum object_kind)value.object->kind) {
    case OBJECT_STRING: {
        const struct string *string = VALUE_AS(string, value);
        if (text_charge(vm, text, string->bytes) == OUTCOME_ERROR ||
            vm_spend(vm, string->bytes / 2) == OUTCOME_ERROR) // character by character
            return OUTCOME_ERROR;
        text_repr_string(text, string->text, (size_t)string->bytes, false);
        return OUTCOME_OK;
    }
    case OBJECT_TUPLE:
    case OBJECT_LIST:
    case OBJECT_DICT:
    case OBJECT_SET:
    case OBJECT_SLICE:
    case OBJECT_VIEW:
    case OBJECT_RECORD:
        return repr_container(vm, value, above, text);
    case OBJECT_RANGE:
        repr_range(text, VALUE_AS(range, value));
        return OUTCOME_OK;
    case OBJECT_FUNCTION:
        repr_function(text, value);
        return OUTCOME_OK;
    case OBJECT_BOUND:
        repr_bound(text, value);
        return OUTCOME_OK;
    case OBJECT_TENSOR:
        return torch_repr(vm, value, text);
    case OBJECT_MODULE:
        return module_repr(vm, (struct module *)(void *)value.object, text);
    case OBJECT_ITERATOR:
    case OBJECT_PRODUCER:
    case OBJECT_BOX:
    default:
        repr_opaque(text, value);
        return OUTCOME_OK;
    }
}

static enum outcome repr_value(struct vm *vm, struct value value,
                               const struct above *above, struct text *text)
{
    char digits[NUMBER_TEXT_MAX];
    switch ((enum value_tag)value.tag) {
    case VALUE_NONE:
    case VALUE_ABSENT:
        text_literal(text, "None");
        return OUTCOME_OK;
    case VALUE_BOOL:
        text_string(text, value.i ? "True" : "False");
        return OUTCOME_OK;
    case VALUE_INT:
        text_integer(text, value.i);
        return OUTCOME_OK;
    case VALUE_WIDE:
        text_add(text, digits, integer_digits((uint64_t)value.i, 10, false, digits));
        return OUTCOME_OK;
    case VALUE_FLOAT:
        text_add(text, digits, float_repr(value.f, digits));
        return OUTCOME_OK;
    case VALUE_ELLIPSIS:
        text_literal(text, "Ellipsis");
        return OUTCOME_OK;
    case VALUE_TYPE:
        text_literal(text, "<class '");
        text_string(text, type_name((enum type)value.i));
        text_literal(text, "'>");
        return OUTCOME_OK;
    case VALUE_NATIVE:
        repr_native(text, value.native);
        return OUTCOME_OK;
    case VALUE_DTYPE:
    case VALUE_DEVICE:
    case VALUE_NAMESPACE:
    case VALUE_OP:
        return torch_repr(vm, value, text);
    case VALUE_OBJECT:
    default:
        return repr_object(vm, value, above, text);
    }
}

enum outcome value_repr(struct vm *vm, struct value value, struct text *text)
{
    return repr_value(vm, value, NULL, text);
}

enum outcome value_str(struct vm *vm, struct value value, struct text *text)
{
    if (value_is_object(value, OBJECT_STRING)) {
        const struct string *string = VALUE_AS(string, value);
        if (text_charge(vm, text, string->bytes) == OUTCOME_ERROR)
            return OUTCOME_ERROR;
        text_add(text, string->text, (size_t)string->bytes);
        return OUTCOME_OK;
    }
    if (value_is_tensor(value) || value.tag == VALUE_DTYPE || value.tag == VALUE_DEVICE)
        return torch_str(vm, value, text);
    return value_repr(vm, value, text);
}
