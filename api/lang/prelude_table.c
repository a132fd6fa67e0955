// SPDX-License-Identifier: Apache-2.0
// The table of builtins: natives, types and the prelude's functions, by name. Filled by
// vm_initialize before threads, read by all after it.
#include <string.h>

#include "api/lang/nearest.h"
#include "api/lang/prelude.h"
#include "api/lang/vm_internal.h"

enum { TABLE_SIZE = 512 }; // a power of two, at least twice the number of builtins
static struct builtin {
    const char *name; // NULL: free
    size_t length;
    uint64_t hash;
    struct value value;
} table[TABLE_SIZE];
static int n_builtins;
static bool is_closed;

static enum outcome native_iter(struct vm *vm, struct value *slots, struct value *result)
{
    return value_iterate(vm, slots[0], result);
}

static enum outcome native_raise_type(struct vm *vm, struct value *slots,
                                      struct value *result)
{
    return vm_raise(vm, STATUS_TYPE, "%s", VALUE_AS(string, slots[0])->text);
}

static enum outcome native_raise_value(struct vm *vm, struct value *slots,
                                       struct value *result)
{
    return vm_raise(vm, STATUS_VALUE, "%s", VALUE_AS(string, slots[0])->text);
}

// Only the prelude calls these, and with the right types.
static struct native private_functions[] = {
    {.name = "_iter", .signature = "value, /", .function = native_iter},
    {.name = "_raise_type", .signature = "text, /", .function = native_raise_type},
    {.name = "_raise_value", .signature = "text, /", .function = native_raise_value},
    {.name = "_missing", .signature = "text, /", .function = native_raise_type},
    {.name = NULL},
};

static const struct {
    const char *name;
    enum type type;
} types[] = {
    {"object", TYPE_object}, {"int", TYPE_int},     {"bool", TYPE_bool},
    {"float", TYPE_float},   {"str", TYPE_str},     {"tuple", TYPE_tuple},
    {"list", TYPE_list},     {"dict", TYPE_dict},   {"set", TYPE_set},
    {"range", TYPE_range},   {"slice", TYPE_slice}, {"type", TYPE_type},
};

static struct builtin *place_of(const char *name, size_t length, uint64_t hash)
{
    uint64_t at = hash & (TABLE_SIZE - 1);
    while (table[at].name && !(table[at].hash == hash && table[at].length == length &&
                               memcmp(table[at].name, name, length) == 0))
        at = (at + 1) & (TABLE_SIZE - 1);
    return &table[at];
}

bool builtin_add(const char *name, size_t length, uint64_t hash, struct value value)
{
    struct builtin *place = place_of(name, length, hash);
    if (!place->name && ++n_builtins > TABLE_SIZE / 2)
        return false;
    *place = (struct builtin){name, length, hash, value};
    return true;
}

struct value builtin_find(const char *name, size_t length, uint64_t hash)
{
    if (is_closed && length > 0 && name[0] == '_')
        return (struct value){.tag = VALUE_ABSENT};
    const struct builtin *place = place_of(name, length, hash);
    return place->name ? place->value : (struct value){.tag = VALUE_ABSENT};
}

void builtins_offer(struct nearest *nearest)
{
    for (int i = 0; i < TABLE_SIZE; i++)
        if (table[i].name && table[i].name[0] != '_')
            nearest_offer(nearest, table[i].name, table[i].length);
}

// The hash of a name as strings of programs have it.
static enum status add_named(struct heap *heap, const char *name, struct value value,
                             struct problem *problem)
{
    uint64_t hash;
    struct string *string = string_new(heap, name, strlen(name), problem);
    if (!string)
        return problem->status;
    enum status status = value_hash(value_of(string), &hash, problem);
    value_release(value_of(string));
    if (status == STATUS_OK && !builtin_add(name, strlen(name), hash, value))
        return problem_set(problem, STATUS_LIMIT, "too many builtins");
    return status;
}

static enum status add_natives(struct heap *heap, const struct native *natives,
                               struct problem *problem)
{
    enum status status = STATUS_OK;
    for (; natives->name && status == STATUS_OK; natives++)
        status =
            add_named(heap, natives->name,
                      (struct value){.tag = VALUE_NATIVE, .native = natives}, problem);
    return status;
}

enum status builtins_initialize(struct heap *heap, struct problem *problem)
{
    memset(table, 0, sizeof table);
    n_builtins = 0;
    is_closed = false;
    enum status status = add_natives(heap, builtin_functions, problem);
    if (status == STATUS_OK)
        status = add_natives(heap, private_functions, problem);
    for (size_t i = 0; i < sizeof types / sizeof *types && status == STATUS_OK; i++)
        status =
            add_named(heap, types[i].name,
                      (struct value){.tag = VALUE_TYPE, .i = types[i].type}, problem);
    return status;
}

void builtins_close(void)
{
    is_closed = true;
}
