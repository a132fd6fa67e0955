// SPDX-License-Identifier: Apache-2.0
// Query parameters: one list of all there are, a strict parser. A route allows some of
// them; unknown and repeated ones are refused. One thread at a time.
#ifndef TENSORD_API_QUERY_H
#define TENSORD_API_QUERY_H

#include <stddef.h>

#include "kernels/base/problem.h"

// PARAMETER(SYMBOL, "name", description)
#define QUERY_PARAMETERS                                                                 \
    PARAMETER(AFTER, "after", "Continue the list after this name.")                      \
    PARAMETER(DEVICE, "device", "Where the tensor is put: cpu, cuda:0.")                 \
    PARAMETER(DTYPE, "dtype",                                                            \
              "Element type to convert to; of raw bodies, the type of the bytes.")       \
    PARAMETER(FORMAT, "format", "json, npy, raw, csv or text; as a suffix of the name.") \
    PARAMETER(INDEX, "index", "A part of the tensor, as in Python: 0:2,:,-1.")           \
    PARAMETER(KEEP, "keep", "Which names of a program are stored: y,z; empty for none.") \
    PARAMETER(LIMIT, "limit", "Rows in one answer, 1 to 10000.")                         \
    PARAMETER(PREFIX, "prefix", "Only names that begin with this.")                      \
    PARAMETER(SHAPE, "shape", "Shape of a raw body: 2,-1; empty for 0-d.")

enum query_name {
#define PARAMETER(symbol, name, doc) QUERY_##symbol,
    QUERY_PARAMETERS
#undef PARAMETER
        QUERY_COUNT
};

enum { QUERY_SMALL = 256 };
struct query {
    const char *values[QUERY_COUNT]; // decoded, terminated; NULL if absent
    char *memory;                    // NULL: `small` was enough
    char small[QUERY_SMALL];
};

const char *query_name(enum query_name name);
const char *query_doc(enum query_name name);
// Reads the raw query. allowed: mask of 1 << QUERY_*. STATUS_MALFORMED. query_free in any
// case.
enum status query_parse(struct query *query, const char *raw, unsigned allowed,
                        struct problem *problem);
void query_free(struct query *query);

// Decodes %XX of length bytes at text to `to` (room for length + 1), terminated; false if
// an escape is broken or the result holds a zero byte. plus: + means a space.
bool percent_decode(const char *text, size_t length, bool plus, char *to,
                    size_t *decoded);
#endif
