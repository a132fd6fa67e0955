// SPDX-License-Identifier: Apache-2.0
// The operation table as data: names, parsed signatures, result rules. Built from
// ops.def; immutable after ops_initialize; readable from every thread.
#ifndef TENSORD_KERNELS_OPS_H
#define TENSORD_KERNELS_OPS_H

#include "kernels/base/dtype.h"
#include "kernels/base/problem.h"

enum op {
#define MAP(name, ...) OP_##name,
#define REDUCE(name, ...) OP_##name,
#define CUSTOM(name, ...) OP_##name,
#define VIEW(name, ...) OP_##name,
#include "kernels/ops.def"
    OP_COUNT
};

enum op_form { FORM_MAP, FORM_REDUCE, FORM_CUSTOM, FORM_VIEW };

enum op_rule {
    RULE_PROMOTE,
    RULE_FLOATING,
    RULE_COMPARE,
    RULE_LOGICAL,
    RULE_SELECT,
    RULE_SUM,
    RULE_INDEX,
    RULE_TRUTH,
    RULE_SAME,
    RULE_ARGUMENT,
};

enum parameter_type {
    PARAMETER_TENSOR,
    PARAMETER_TENSORS,
    PARAMETER_NUMBER,
    PARAMETER_INT,
    PARAMETER_INTS,
    PARAMETER_FLOAT,
    PARAMETER_BOOL,
    PARAMETER_STR,
    PARAMETER_DTYPE,
    PARAMETER_DEVICE,
};

enum { OP_MAX_PARAMETERS = 6 };

struct parameter {
    char name[24];
    enum parameter_type type;
    bool optional; // admits None
    bool keyword_only;
    bool has_default;
    char default_text[16]; // as written: "None", "False", "0", "-1", "1"
};

struct op_row {
    const char *name;
    enum op_form form;
    unsigned dtypes; // computation dtypes
    enum op_rule rule;
    bool sliceable;
    bool in_place;         // name_ exists
    const char *signature; // as in ops.def
    const char *doc;
    int n_parameters;
    struct parameter parameters[OP_MAX_PARAMETERS];
};

// Parses all signatures, builds the name index. Once, before threads. A signature that
// does not parse is a programming error and aborts with its text (a unit test runs it).
void ops_initialize(void);
const struct op_row *op_row(enum op op);
// Finds "add", and "add_" with *in_place set. False if unknown; then *nearest (may be
// NULL) is the closest name by edit distance, or NULL.
bool op_find(const char *name, size_t length, enum op *out, bool *in_place,
             const char **nearest);
#endif
