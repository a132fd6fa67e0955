// SPDX-License-Identifier: Apache-2.0
// The arguments of an operation: JSON values bound to the parameters of a signature
// (kernels/ops.h), and, when the request's turn has come, to the tensors that the names
// mean then.
#ifndef TENSORD_API_ARGUMENTS_H
#define TENSORD_API_ARGUMENTS_H

#include "api/json.h"
#include "api/request.h"

enum { CALL_MAX_OPERANDS = 1024 }; // tensors of one call

enum operand_kind { OPERAND_NAME, OPERAND_NUMBER, OPERAND_INLINE };
struct operand {
    enum operand_kind kind;
    const char *name; // NAME; in the body
    struct scalar number;
    struct tensor *tensor; // INLINE: its value, on the host. A reference
    struct device *device; // INLINE: the one its value names, or NULL
};

struct call {
    enum op op;
    bool in_place;
    const struct op_row *row;
    struct argument
        arguments[OP_MAX_PARAMETERS]; // those of tensors get their nodes at the turn
    struct {
        int first, count; // operands of the argument
    } spans[OP_MAX_PARAMETERS];
    int n_operands, capacity;
    struct operand *operands;
    struct operand few[4];
};

// Does the operation write argument 0?
bool call_writes(const struct call *call);
// May the result share the storage of argument 0?
bool call_may_view(const struct call *call);
// The name in argument 0, or NULL if it is none.
const char *call_first_name(const struct call *call);

// Binds args (a JSON array or NULL) and kwargs (an object or NULL) of json to the
// signature of op; reads inline tensors. STATUS_TYPE (arity, unknown keyword, wrong
// type), VALUE, DTYPE, DEVICE, with a pointer. Strings stay in request->body. call_free
// in any case.
enum status call_bind(struct request *request, enum op op, bool in_place,
                      const struct json *json, const struct json_value *args,
                      const struct json_value *kwargs, struct call *call,
                      struct problem *problem);
void call_free(struct call *call);
// Adds the operands to request->graph and completes call->arguments. STATUS_UNDEFINED;
// STATUS_FORBIDDEN if the operation writes a read-only name.
enum status call_resolve(struct request *request, struct call *call,
                         struct problem *problem);
#endif
