// SPDX-License-Identifier: Apache-2.0
// Constants and names of a unit, each once. Any thread.
#include <math.h>
#include <string.h>

#include "api/lang/compile_internal.h"

// ---- Constants: a hash table of their numbers. Equal means of one type and the same
// bits.

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

static uint64_t constant_hash(struct value value)
{
    if (value_is_object(value, OBJECT_STRING))
        return mix(VALUE_AS(string, value)->hash);
    return mix((uint64_t)value.i + value.tag);
}

static bool constant_same(struct value a, struct value b)
{
    if (a.tag != b.tag)
        return false;
    if (!value_is_object(a, OBJECT_STRING))
        return a.i == b.i && a.flags == b.flags;
    const struct string *left = VALUE_AS(string, a), *right = VALUE_AS(string, b);
    return left->bytes == right->bytes &&
           memcmp(left->text, right->text, (size_t)left->bytes) == 0;
}

static bool table_grow(struct compiler *compiler)
{
    int32_t size = compiler->constant_table_size ? compiler->constant_table_size * 4 : 32;
    int32_t *table = compile_take(compiler, (size_t)size * sizeof *table);
    const struct value *constants = compiler->constants.items;
    if (!table)
        return false;
    for (int32_t i = 0; i < compiler->constants.n; i++) {
        uint64_t at = constant_hash(constants[i]) & (uint64_t)(size - 1);
        while (table[at])
            at = (at + 1) & (uint64_t)(size - 1);
        table[at] = i + 1;
    }
    compiler->constant_table = table;
    compiler->constant_table_size = size;
    return true;
}

uint32_t constant_number(struct compiler *compiler, struct value value)
{
    if (compiler->failed || (compiler->constants.n * 2 >= compiler->constant_table_size &&
                             !table_grow(compiler)))
        return 0;
    uint64_t mask = (uint64_t)compiler->constant_table_size - 1;
    uint64_t at = constant_hash(value) & mask;
    const struct value *constants = compiler->constants.items;
    for (; compiler->constant_table[at]; at = (at + 1) & mask)
        if (constant_same(constants[compiler->constant_table[at] - 1], value))
            return (uint32_t)compiler->constant_table[at] - 1;
    if (!array_grow(compiler, &compiler->constants, sizeof value))
        return 0;
    ((struct value *)compiler->constants.items)[compiler->constants.n++] = value;
    compiler->constant_table[at] = compiler->constants.n;
    return (uint32_t)compiler->constants.n - 1;
}

uint32_t constant_text(struct compiler *compiler, const char *text, size_t bytes)
{
    struct string *string = unit_string(compiler->unit, text, bytes);
    if (!string) {
        compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
        return 0;
    }
    return constant_number(compiler, value_of(string));
}

void emit_value(struct compiler *compiler, struct value value)
{
    if (value.tag == VALUE_NONE)
        emit(compiler, OPCODE_none, 0, NULL);
    else if (value.tag == VALUE_INT && value.i >= -CODE_MAX_INTEGER &&
             value.i <= CODE_MAX_INTEGER)
        emit(compiler, OPCODE_integer, (uint32_t)value.i & CODE_MAX_ARGUMENT, NULL);
    else
        emit(compiler, OPCODE_constant, constant_number(compiler, value), NULL);
}

void emit_text(struct compiler *compiler, const char *text, size_t bytes)
{
    emit(compiler, OPCODE_constant, constant_text(compiler, text, bytes), NULL);
}

// ---- Names

struct string *name_string(struct compiler *compiler, const struct syntax_name *name)
{
    struct name_info *info = name_of(compiler, name);
    if (!info)
        return NULL;
    if (!info->string) {
        info->string = unit_string(compiler->unit, name->text, name->bytes);
        if (!info->string)
            compile_fail(compiler, STATUS_OUT_OF_MEMORY, "memory ran out");
    }
    return info->string;
}

static uint32_t number(struct compiler *compiler, const struct syntax_name *name,
                       struct array *array, int32_t *known)
{
    struct string *string = name_string(compiler, name);
    if (!string || *known)
        return string ? (uint32_t)*known - 1 : 0;
    if (!array_grow(compiler, array, sizeof string))
        return 0;
    ((struct string **)array->items)[array->n++] = string;
    *known = array->n;
    return (uint32_t)array->n - 1;
}

uint32_t attribute_number(struct compiler *compiler, const struct syntax_name *name)
{
    struct name_info *info = name_of(compiler, name);
    return info ? number(compiler, name, &compiler->attributes, &info->attribute) : 0;
}

uint32_t global_number(struct compiler *compiler, const struct syntax_name *name)
{
    struct name_info *info = name_of(compiler, name);
    return info ? number(compiler, name, &compiler->globals, &info->global) : 0;
}
