// SPDX-License-Identifier: Apache-2.0
// The header of npy files: a strict little reader of the one Python literal that may
// stand there (nothing is ever evaluated), and its printer. Pure functions; any thread.
#include "api/formats/npy_header.h"

#include <inttypes.h>
#include <stdio.h>

enum { NPY_ALIGNMENT = 64, NPY_PREFIX = 10 };

struct cursor {
    const char *p, *end;
};

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->p < cursor->end && (*cursor->p == ' ' || *cursor->p == '\t' ||
                                       *cursor->p == '\n' || *cursor->p == '\r'))
        cursor->p++;
}

// Skips blanks and takes c if it comes next.
static bool take(struct cursor *cursor, char c)
{
    skip_blanks(cursor);
    if (cursor->p >= cursor->end || *cursor->p != c)
        return false;
    cursor->p++;
    return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(cursor);
    if ((size_t)(cursor->end - cursor->p) < length ||
        memcmp(cursor->p, word, length) != 0)
        return false;
    cursor->p += length;
    return true;
}

// A quoted string without escapes; borrowed from the text.
static bool take_string(struct cursor *cursor, const char **text, size_t *length)
{
    skip_blanks(cursor);
    if (cursor->p >= cursor->end || (*cursor->p != '\'' && *cursor->p != '"'))
        return false;
    char quote = *cursor->p++;
    *text = cursor->p;
    for (; cursor->p < cursor->end && *cursor->p != quote; cursor->p++) {
        if (*cursor->p == '\\' || *cursor->p == '\n')
            return false;
    }
    *length = (size_t)(cursor->p - *text);
    return cursor->p++ < cursor->end;
}

static enum status malformed(const struct cursor *cursor, const char *expected,
                             struct problem *problem)
{
    int left = cursor->end - cursor->p < 20 ? (int)(cursor->end - cursor->p) : 20;
    int shown = 0;
    while (shown < left && cursor->p[shown] >= ' ' && cursor->p[shown] <= '~')
        shown++;
    return problem_set(problem, STATUS_MALFORMED,
                       "The npy header is damaged: %s expected at '%.*s'.", expected,
                       shown, cursor->p);
}

static enum status unknown_dtype(const char *descr, int length, struct problem *problem)
{
    return problem_set(
        problem, STATUS_DTYPE,
        "Arrays of dtype %.*s are not kept here. Convert first, for example "
        "numpy.save('x.npy', x.astype('float32')).",
        length < 60 ? length : 60, descr);
}

// "<f4" and the like.
static enum status parse_descr(struct cursor *cursor, struct npy_dictionary *out,
                               struct problem *problem)
{
    static const struct {
        char code[3];
        enum dtype dtype;
    } known[] = {{"b1", DTYPE_BOOL},    {"u1", DTYPE_UINT8},   {"i1", DTYPE_INT8},
                 {"i2", DTYPE_INT16},   {"i4", DTYPE_INT32},   {"i8", DTYPE_INT64},
                 {"f2", DTYPE_FLOAT16}, {"f4", DTYPE_FLOAT32}, {"f8", DTYPE_FLOAT64}};
    const char *text;
    size_t length;
    skip_blanks(cursor);
    if (cursor->p < cursor->end && *cursor->p == '[')
        return unknown_dtype("with fields", 11, problem);
    if (!take_string(cursor, &text, &length))
        return malformed(cursor, "a quoted dtype", problem);
    if (length == 3 && memchr("<>|=", text[0], 4) != NULL) {
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (memcmp(text + 1, known[i].code, 2) == 0) {
                out->dtype = known[i].dtype;
                out->big_endian = text[0] == '>';
                return STATUS_OK;
            }
        }
    }
    return unknown_dtype(text, (int)length, problem);
}

// One size of the shape, with the L that Python 2 wrote.
static enum status parse_size(struct cursor *cursor, int64_t *out,
                              struct problem *problem)
{
    skip_blanks(cursor);
    const char *first = cursor->p;
    bool fits = true;
    *out = 0;
    for (; cursor->p < cursor->end && *cursor->p >= '0' && *cursor->p <= '9'; cursor->p++)
        fits =
            fits && size_multiply(*out, 10, out) && size_add(*out, *cursor->p - '0', out);
    if (cursor->p == first)
        return malformed(cursor, "a size from 0 up", problem);
    if (cursor->p < cursor->end && *cursor->p == 'L')
        cursor->p++;
    return fits ? STATUS_OK
                : problem_set(problem, STATUS_SHAPE,
                              "The npy header's shape is too large.");
}

static enum status parse_shape(struct cursor *cursor, struct npy_dictionary *out,
                               struct problem *problem)
{
    if (!take(cursor, '('))
        return malformed(cursor, "the shape's (", problem);
    bool comma = true;
    for (out->ndim = 0; !take(cursor, ')'); out->ndim++) {
        if (!comma)
            return malformed(cursor, "a comma or )", problem);
        if (out->ndim == FORMAT_MAX_NDIM)
            return problem_set(problem, STATUS_LIMIT,
                               "A tensor has at most %d dimensions.", FORMAT_MAX_NDIM);
        enum status status = parse_size(cursor, &out->shape[out->ndim], problem);
        if (status != STATUS_OK)
            return status;
        comma = take(cursor, ',');
    }
    if (out->ndim == 1 && !comma) // (3) is a number in Python, not a tuple
        return malformed(cursor, "a comma in the shape", problem);
    return STATUS_OK;
}

// The value of key; *bit is set in *seen.
static enum status parse_member(struct cursor *cursor, const char *key, size_t length,
                                unsigned *seen, struct npy_dictionary *out,
                                struct problem *problem)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned which = 0;
    while (which < 3 &&
           (strlen(keys[which]) != length || memcmp(keys[which], key, length) != 0))
        which++;
    if (which == 3 || (*seen >> which & 1) != 0)
        return problem_set(problem, STATUS_MALFORMED, "The npy header has %s key '%.*s'.",
                           which == 3 ? "an unknown" : "twice the",
                           (int)(length < 40 ? length : 40), key);
    *seen |= 1U << which;
    if (!take(cursor, ':'))
        return malformed(cursor, "a colon", problem);
    if (which == 0)
        return parse_descr(cursor, out, problem);
    if (which == 2)
        return parse_shape(cursor, out, problem);
    out->fortran_order = take_word(cursor, "True");
    return out->fortran_order || take_word(cursor, "False")
               ? STATUS_OK
               : malformed(cursor, "True or False", problem);
}

enum status npy_dictionary_parse(const char *text, size_t length,
                                 struct npy_dictionary *out, struct problem *problem)
{
    struct cursor cursor = {text, text + length};
    unsigned seen = 0;
    bool comma = true;
    memset(out, 0, sizeof *out);
    if (!take(&cursor, '{'))
        return malformed(&cursor, "{", problem);
    while (!take(&cursor, '}')) {
        const char *key;
        size_t key_length;
        if (!comma || !take_string(&cursor, &key, &key_length))
            return malformed(&cursor, comma ? "a quoted key" : "a comma or }", problem);
        enum status status = parse_member(&cursor, key, key_length, &seen, out, problem);
        if (status != STATUS_OK)
            return status;
        comma = take(&cursor, ',');
    }
    skip_blanks(&cursor);
    if (cursor.p < cursor.end)
        return malformed(&cursor, "the end", problem);
    if (seen != 7)
        return problem_set(
            problem, STATUS_MALFORMED,
            "The npy header must have the keys descr, fortran_order and shape.");
    return STATUS_OK;
}

// ---- Printing

static const char *npy_descr(enum dtype dtype)
{
    static const char *const names[DTYPE_COUNT] = {
        [DTYPE_BOOL] = "|b1",    [DTYPE_UINT8] = "|u1",    [DTYPE_INT8] = "|i1",
        [DTYPE_INT16] = "<i2",   [DTYPE_INT32] = "<i4",    [DTYPE_INT64] = "<i8",
        [DTYPE_FLOAT16] = "<f2", [DTYPE_BFLOAT16] = "<f4", [DTYPE_FLOAT32] = "<f4",
        [DTYPE_FLOAT64] = "<f8"};
    return names[dtype];
}

// Always below 1 KiB: 32 sizes of at most 21 characters. So version 1 is enough.
size_t npy_header(enum dtype dtype, int ndim, const int64_t *shape, char *buffer)
{
    char *dictionary = buffer + NPY_PREFIX;
    const size_t room = 1024 - NPY_PREFIX;
    size_t used = (size_t)snprintf(dictionary, room,
                                   "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                   npy_descr(dtype));
    for (int i = 0; i < ndim; i++)
        used +=
            (size_t)snprintf(dictionary + used, room - used, "%" PRId64 "%s", shape[i],
                             ndim == 1      ? ","
                             : i < ndim - 1 ? ", "
                                            : "");
    used += (size_t)snprintf(dictionary + used, room - used, "), }");
    size_t whole = (NPY_PREFIX + used + NPY_ALIGNMENT) / NPY_ALIGNMENT * NPY_ALIGNMENT;
    memset(dictionary + used, ' ', whole - NPY_PREFIX - used);
    buffer[whole - 1] = '\n';
    size_t length = whole - NPY_PREFIX;
    memcpy(buffer, "\x93NUMPY\x01", 7);
    buffer[7] = 0;
    buffer[8] = (char)(length & 0xFF);
    buffer[9] = (char)(length >> 8);
    return whole;
}
