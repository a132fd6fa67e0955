// SPDX-License-Identifier: Apache-2.0
// The strict query parser of query.h.
#include "api/query.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define PARAMETER(symbol, name, doc) name,
    QUERY_PARAMETERS
#undef PARAMETER
};
static const char *const docs[] = {
#define PARAMETER(symbol, name, doc) doc,
    QUERY_PARAMETERS
#undef PARAMETER
};

const char *query_name(enum query_name name)
{
    return names[name];
}

const char *query_doc(enum query_name name)
{
    return docs[name];
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool percent_decode(const char *text, size_t length, bool plus, char *to, size_t *decoded)
{
    char *start = to;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < length ? hex_value(text[i + 1]) : -1;
            int low = i + 2 < length ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (c == '\0')
            return false;
        *to++ = c;
    }
    *to = '\0';
    *decoded = (size_t)(to - start);
    return true;
}

static int find_name(const char *name)
{
    for (int i = 0; i < QUERY_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

// The parameters of the route, for the error that refuses another.
static enum status unknown(const char *name, unsigned allowed, struct problem *problem)
{
    char list[128];
    size_t length = 0;
    list[0] = '\0';
    for (int i = 0; i < QUERY_COUNT; i++) {
        size_t count = strlen(names[i]);
        if (!(allowed >> i & 1) || length + count + 3 > sizeof list)
            continue;
        if (length > 0) {
            memcpy(list + length, ", ", 2);
            length += 2;
        }
        memcpy(list + length, names[i], count + 1);
        length += count;
    }
    return problem_set(problem, STATUS_MALFORMED,
                       "The query parameter \"%.60s\" is not known here; %s%s.", name,
                       length > 0 ? "there are " : "there are none", list);
}

// One name=value, decoded to *to.
static enum status read_piece(struct query *query, const char *piece, size_t length,
                              unsigned allowed, char **to, struct problem *problem)
{
    const char *equals = memchr(piece, '=', length);
    size_t name_length = equals != NULL ? (size_t)(equals - piece) : length, decoded;
    char *name = *to;
    if (!percent_decode(piece, name_length, true, name, &decoded))
        return problem_set(problem, STATUS_MALFORMED,
                           "A %%-escape in the query is broken.");
    int found = find_name(name);
    if (found < 0 || !(allowed >> found & 1))
        return unknown(name, allowed, problem);
    if (query->values[found] != NULL)
        return problem_set(problem, STATUS_MALFORMED,
                           "The query parameter %s is given twice.", names[found]);
    char *value = name;
    size_t value_length = equals != NULL ? length - name_length - 1 : 0;
    if (!percent_decode(equals != NULL ? equals + 1 : "", value_length, true, value,
                        &decoded))
        return problem_set(problem, STATUS_MALFORMED,
                           "A %%-escape in the value of %s is broken.", names[found]);
    query->values[found] = value;
    *to = value + decoded + 1;
    return STATUS_OK;
}

enum status query_parse(struct query *query, const char *raw, unsigned allowed,
                        struct problem *problem)
{
    memset(query->values, 0, sizeof query->values);
    query->memory = NULL;
    if (*raw == '\0')
        return STATUS_OK;
    // Each piece needs at most its own length and a terminator.
    size_t length = strlen(raw);
    char *to = query->small;
    if (length + 2 > sizeof query->small) {
        to = query->memory = malloc(length + 2);
        if (to == NULL)
            return problem_set(problem, STATUS_OUT_OF_MEMORY,
                               "No memory to read the query.");
    }
    while (*raw != '\0') {
        size_t count = strcspn(raw, "&");
        if (count > 0) {
            enum status status = read_piece(query, raw, count, allowed, &to, problem);
            if (status != STATUS_OK)
                return status;
        }
        raw += count;
        raw += *raw == '&';
    }
    return STATUS_OK;
}

void query_free(struct query *query)
{
    free(query->memory);
    query->memory = NULL;
}
