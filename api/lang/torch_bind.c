// SPDX-License-Identifier: Apache-2.0
// Which argument of a call goes to which parameter of an operation's row: by position, by
// keyword, under torch's and NumPy's other names, and the keywords that every function of
// theirs takes. The program's thread.
#include <stdio.h>

#include "api/lang/nearest.h"
#include "api/lang/torch.h"

static int positional_count(const struct op_row *row)
{
    int count = 0;
    while (count < row->n_parameters && !row->parameters[count].keyword_only)
        count++;
    return count;
}

int parameter_index(const struct op_row *row, const char *name)
{
    for (int i = 0; i < row->n_parameters; i++)
        if (strcmp(row->parameters[i].name, name) == 0)
            return i;
    return -1;
}

// ---- Keywords

// Other names of parameters, in torch or in NumPy.
static const struct {
    const char *alias, *name;
} aliases[] = {
    {"self", "input"},
    {"axis", "dim"},
    {"axis", "dims"},
    {"axes", "dims"},
    {"keepdims", "keepdim"},
    {"shape", "size"},
    {"size", "shape"},
    {"stop", "end"},
    {"num", "steps"},
    {"a_min", "min"},
    {"a_max", "max"},
    {"newshape", "shape"},
    {"N", "n"},
    {"M", "m"},
    {"a", "input"},
    {"x", "input"},
    {"x1", "input"},
    {"arr", "input"},
    {"x2", "other"},
    {"b", "other"},
    {"y", "other"},
    {"arrays", "tensors"},
    {"tensor", "input"},
    {"condition", "condition"},
    {"value", "fill_value"},
    {"mat1", "input"},
    {"other", "exponent"},
    {"x2", "exponent"},
    {"sizes", "size"},
    {"axis1", "dim0"},
    {"axis2", "dim1"},
    {"reps", "dims"},
    {"x2", "mat2"},
    {"b", "mat2"},
    {"ord", "p"},
    {"sizes", "repeats"},
    {"start_axis", "start_dim"},
};

static int keyword_index(const struct op_row *row, const struct string *keyword)
{
    int found = parameter_index(row, keyword->text);
    for (size_t i = 0; found < 0 && i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(aliases[i].alias, keyword->text) == 0)
            found = parameter_index(row, aliases[i].name);
    return found;
}

// Keywords that functions take beside what the row says. Those that would change
// something are refused when they are given a meaning.
static const char *const ignored[] = {
    "generator",    "memory_format", "layout", "pin_memory", "names",
    "non_blocking", "inplace",       "out",    "order",      "like",
};

static bool means_nothing(struct value value)
{
    return value.tag == VALUE_NONE || (value.tag == VALUE_BOOL && value.i == 0);
}

static enum outcome unexpected_keyword(const struct call *call,
                                       const struct string *keyword)
{
    const struct op_row *row = call->row;
    struct nearest nearest;
    nearest_begin(&nearest, keyword->text, (size_t)keyword->bytes);
    for (int i = 0; i < row->n_parameters; i++)
        nearest_offer(&nearest, row->parameters[i].name, strlen(row->parameters[i].name));
    vm_raise(call->vm, STATUS_TYPE,
             "%s() got an unexpected keyword argument '%.60s': %s(%s)", row->name,
             keyword->text, row->name, row->signature);
    struct problem *problem = vm_problem(call->vm);
    if (nearest.name != NULL)
        snprintf(problem->nearest, sizeof problem->nearest, "%s", nearest.name);
    return OUTCOME_ERROR;
}

static enum outcome extra_keyword(struct call *call, const struct string *keyword,
                                  struct value value)
{
    const struct op_row *row = call->row;
    if (strcmp(keyword->text, "requires_grad") == 0 &&
        parameter_index(row, "dtype") >= 0) {
        call->requires_grad = value;
        return OUTCOME_OK;
    }
    // Where they would do what is done anyway.
    if (strcmp(keyword->text, "non_blocking") == 0 ||
        strcmp(keyword->text, "inplace") == 0 || strcmp(keyword->text, "pin_memory") == 0)
        return OUTCOME_OK;
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        if (strcmp(ignored[i], keyword->text) == 0)
            return means_nothing(value)
                       ? OUTCOME_OK
                       : vm_raise(call->vm, STATUS_NOT_IMPLEMENTED,
                                  "%s(): the argument %s is not implemented", row->name,
                                  ignored[i]);
    return unexpected_keyword(call, keyword);
}

static enum outcome collect_keyword(struct call *call, const struct string *keyword,
                                    struct value value)
{
    int i = keyword_index(call->row, keyword);
    if (i < 0)
        return extra_keyword(call, keyword, value);
    if (call->given[i].tag != VALUE_ABSENT || call->rest_at == i)
        return vm_raise(call->vm, STATUS_TYPE,
                        "%s() got multiple values for argument '%s'", call->row->name,
                        call->row->parameters[i].name);
    call->given[i] = value;
    return OUTCOME_OK;
}

// ---- Positions

static bool may_be_integer(struct value value)
{
    return value.tag == VALUE_INT ||
           (value_is_tensor(value) && lazy_layout(tensor_of(value)->lazy)->ndim == 0);
}

// ones(2, 3), x.view(-1), x.permute(2, 0, 1): the sizes one by one.
static bool gathers(const struct call *call, int index, struct value value)
{
    const struct parameter *parameter = &call->row->parameters[index];
    return parameter->type == PARAMETER_INTS && !parameter->optional &&
           index == positional_count(call->row) - 1 && may_be_integer(value);
}

static enum outcome collect_positional(struct call *call, int n,
                                       const struct value *arguments)
{
    const struct op_row *row = call->row;
    int n_positional = positional_count(row);
    for (int i = 0; i < n; i++) {
        if (i >= n_positional)
            return vm_raise(call->vm, STATUS_TYPE,
                            "%s() takes %d positional argument%s but %d were given: "
                            "%s(%s)",
                            row->name, n_positional, n_positional == 1 ? "" : "s", n,
                            row->name, row->signature);
        if (gathers(call, i, arguments[i])) {
            call->rest_at = i;
            call->rest = arguments + i;
            call->n_rest = n - i;
            break;
        }
        call->given[i] = arguments[i];
    }
    return OUTCOME_OK;
}

enum outcome call_collect(struct call *call, int n, const struct value *arguments,
                          int n_keywords, struct string *const *keywords)
{
    call->rest_at = -1;
    call->n_rest = 0;
    for (int i = 0; i < OP_MAX_PARAMETERS; i++)
        call->given[i].tag = VALUE_ABSENT;
    call->requires_grad.tag = VALUE_ABSENT;
    enum outcome outcome = collect_positional(call, n, arguments);
    for (int i = 0; outcome == OUTCOME_OK && i < n_keywords; i++)
        outcome = collect_keyword(call, keywords[i], arguments[n + i]);
    return outcome;
}
