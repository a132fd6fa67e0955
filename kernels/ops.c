// SPDX-License-Identifier: Apache-2.0
// The operation table: ops.def as data, its signatures parsed once, and the name index.
// Written by ops_initialize before threads start, read-only afterwards.
#include "kernels/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DTYPES_BITS = DTYPES_BOOL | DTYPES_INTEGER,
    NAME_MAX_CHARACTERS = 32, // longer ones are no operation
    INDEX_SIZE = 512,         // a power of two, at least twice OP_COUNT
};
_Static_assert(INDEX_SIZE >= 2 * OP_COUNT, "the name index is too full");
enum { SLICEABLE = true, UNSLICEABLE = false };

static struct op_row rows[OP_COUNT] = {
#define MAP(symbol, arity, set, result, integer, floating, text, build, page)            \
    [OP_##symbol] = {.name = #symbol,                                                    \
                     .form = FORM_MAP,                                                   \
                     .dtypes = DTYPES_##set,                                             \
                     .rule = RULE_##result,                                              \
                     .sliceable = true,                                                  \
                     .in_place = RULE_##result != RULE_SELECT,                           \
                     .signature = text,                                                  \
                     .doc = page},
#define REDUCE(symbol, set, result, text, build, page)                                   \
    [OP_##symbol] = {.name = #symbol,                                                    \
                     .form = FORM_REDUCE,                                                \
                     .dtypes = DTYPES_##set,                                             \
                     .rule = RULE_##result,                                              \
                     .sliceable = true,                                                  \
                     .signature = text,                                                  \
                     .doc = page},
#define CUSTOM(symbol, set, result, slices, text, build, page)                           \
    [OP_##symbol] = {.name = #symbol,                                                    \
                     .form = FORM_CUSTOM,                                                \
                     .dtypes = DTYPES_##set,                                             \
                     .rule = RULE_##result,                                              \
                     .sliceable = slices,                                                \
                     .signature = text,                                                  \
                     .doc = page},
#define VIEW(symbol, text, build, page)                                                  \
    [OP_##symbol] = {.name = #symbol,                                                    \
                     .form = FORM_VIEW,                                                  \
                     .dtypes = DTYPES_ALL,                                               \
                     .rule = RULE_SAME,                                                  \
                     .sliceable = true,                                                  \
                     .signature = text,                                                  \
                     .doc = page},
#include "kernels/ops.def"
};

static int16_t name_index[INDEX_SIZE]; // op + 1, or 0; open addressing

// FNV-1a: short keys, any bytes.
static uint32_t hash_name(const char *name, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash;
}

static const struct {
    const char *text;
    enum parameter_type type;
} types[] = {
    {"Tensor", PARAMETER_TENSOR}, {"Tensor[]", PARAMETER_TENSORS},
    {"Number", PARAMETER_NUMBER}, {"int", PARAMETER_INT},
    {"int[]", PARAMETER_INTS},    {"float", PARAMETER_FLOAT},
    {"bool", PARAMETER_BOOL},     {"str", PARAMETER_STR},
    {"dtype", PARAMETER_DTYPE},   {"device", PARAMETER_DEVICE},
};

static bool copy_text(char *to, size_t size, const char *from, size_t length)
{
    if (length == 0 || length >= size)
        return false;
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

// One "Type? name=default" of length bytes.
static bool parse_parameter(const char *text, size_t length, struct parameter *out)
{
    const char *space = memchr(text, ' ', length);
    if (space == NULL)
        return false;
    size_t type_length = (size_t)(space - text);
    out->optional = type_length > 0 && text[type_length - 1] == '?';
    type_length -= out->optional;
    size_t i = 0;
    while (i < sizeof types / sizeof types[0] &&
           (strlen(types[i].text) != type_length ||
            memcmp(types[i].text, text, type_length) != 0))
        i++;
    if (i == sizeof types / sizeof types[0])
        return false;
    out->type = types[i].type;
    const char *name = space + 1;
    size_t name_length = length - (size_t)(name - text);
    const char *equals = memchr(name, '=', name_length);
    out->has_default = equals != NULL;
    if (equals != NULL) {
        size_t default_length = name_length - (size_t)(equals + 1 - name);
        if (!copy_text(out->default_text, sizeof out->default_text, equals + 1,
                       default_length))
            return false;
        name_length = (size_t)(equals - name);
    }
    return copy_text(out->name, sizeof out->name, name, name_length);
}

// Splits at ", "; a lone "*" makes what follows keyword-only.
static bool parse_signature(struct op_row *row)
{
    bool keyword_only = false;
    const char *text = row->signature;
    row->n_parameters = 0;
    while (*text != '\0') {
        const char *comma = strstr(text, ", ");
        size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);
        if (length == 1 && *text == '*') {
            keyword_only = true;
        } else {
            if (row->n_parameters == OP_MAX_PARAMETERS)
                return false;
            struct parameter *parameter = &row->parameters[row->n_parameters++];
            if (!parse_parameter(text, length, parameter))
                return false;
            parameter->keyword_only = keyword_only;
        }
        text += length + (comma != NULL ? 2 : 0);
    }
    return row->n_parameters > 0;
}

static void index_name(enum op op)
{
    uint32_t slot = hash_name(rows[op].name, strlen(rows[op].name)) % INDEX_SIZE;
    while (name_index[slot] != 0)
        slot = (slot + 1) % INDEX_SIZE;
    name_index[slot] = (int16_t)(op + 1);
}

void ops_initialize(void)
{
    memset(name_index, 0, sizeof name_index);
    for (int i = 0; i < OP_COUNT; i++) {
        if (!parse_signature(&rows[i])) {
            fprintf(stderr, "ops.def: %s: bad signature: %s\n", rows[i].name,
                    rows[i].signature);
            abort();
        }
        index_name((enum op)i);
    }
}

const struct op_row *op_row(enum op op)
{
    return &rows[op];
}

static bool find_exact(const char *name, size_t length, enum op *out)
{
    uint32_t slot = hash_name(name, length) % INDEX_SIZE;
    for (; name_index[slot] != 0; slot = (slot + 1) % INDEX_SIZE) {
        const char *candidate = rows[name_index[slot] - 1].name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) {
            *out = (enum op)(name_index[slot] - 1);
            return true;
        }
    }
    return false;
}

// Levenshtein distance; both at most NAME_MAX_CHARACTERS long.
static int edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[NAME_MAX_CHARACTERS + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (int)j;
    for (size_t i = 0; i < a_length; i++) {
        int diagonal = row[0];
        row[0] = (int)i + 1;
        for (size_t j = 0; j < b_length; j++) {
            int best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (diagonal + 1 < best)
                best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[b_length];
}

// The row with the least distance, the first of equals, if that is near enough to help.
static const char *nearest_name(const char *name, size_t length)
{
    const char *nearest = NULL;
    if (length == 0 || length > NAME_MAX_CHARACTERS)
        return NULL;
    int limit = 1 + (int)length / 3;
    for (int i = 0; i < OP_COUNT; i++) {
        size_t candidate_length = strlen(rows[i].name);
        if (candidate_length > NAME_MAX_CHARACTERS)
            continue;
        int distance = edit_distance(name, length, rows[i].name, candidate_length);
        if (distance < limit || (distance == limit && nearest == NULL)) {
            nearest = rows[i].name;
            limit = distance;
        }
    }
    return nearest;
}

bool op_find(const char *name, size_t length, enum op *out, bool *in_place,
             const char **nearest)
{
    *in_place = false;
    if (find_exact(name, length, out))
        return true;
    bool underscore = length > 1 && name[length - 1] == '_';
    if (underscore && find_exact(name, length - 1, out) && rows[*out].in_place) {
        *in_place = true;
        return true;
    }
    if (nearest != NULL)
        *nearest = nearest_name(name, length - underscore);
    return false;
}
