// SPDX-License-Identifier: Apache-2.0
// GET /v1/ops and /v1/ops/{op}: the rows of kernels/ops.def.
#include "api/catalogue.h"

#include "api/handlers.h"
#include "api/request.h"

static const char *const forms[] = {[FORM_MAP] = "map",
                                    [FORM_REDUCE] = "reduce",
                                    [FORM_CUSTOM] = "custom",
                                    [FORM_VIEW] = "view"};

static const char *const rules[] = {
    [RULE_PROMOTE] = "promote",   [RULE_FLOATING] = "float", [RULE_COMPARE] = "bool",
    [RULE_LOGICAL] = "bool",      [RULE_SELECT] = "promote", [RULE_SUM] = "sum",
    [RULE_INDEX] = "int64",       [RULE_TRUTH] = "bool",     [RULE_SAME] = "same",
    [RULE_ARGUMENT] = "argument",
};

static const char *const types[] = {
    [PARAMETER_TENSOR] = "Tensor", [PARAMETER_TENSORS] = "Tensor[]",
    [PARAMETER_NUMBER] = "Number", [PARAMETER_INT] = "int",
    [PARAMETER_INTS] = "int[]",    [PARAMETER_FLOAT] = "float",
    [PARAMETER_BOOL] = "bool",     [PARAMETER_STR] = "str",
    [PARAMETER_DTYPE] = "dtype",   [PARAMETER_DEVICE] = "device",
};

static void add_string(struct text *text, const char *before, const char *value)
{
    text_string(text, before);
    text_quoted(text, value, strlen(value));
}

static void write_parameter(struct text *text, const struct parameter *parameter)
{
    add_string(text, "{\"name\": ", parameter->name);
    add_string(text, ", \"type\": ", types[parameter->type]);
    text_literal(text, ", \"optional\": ");
    text_boolean(text, parameter->optional);
    text_literal(text, ", \"keyword_only\": ");
    text_boolean(text, parameter->keyword_only);
    if (parameter->has_default)
        add_string(text, ", \"default\": ", parameter->default_text);
    text_literal(text, "}");
}

void catalogue_write(struct text *text, const struct op_row *row)
{
    add_string(text, "{\"name\": ", row->name);
    add_string(text, ", \"doc\": ", row->doc);
    add_string(text, ", \"signature\": ", row->signature);
    text_literal(text, ", \"arguments\": [");
    for (int i = 0; i < row->n_parameters; i++) {
        if (i > 0)
            text_literal(text, ", ");
        write_parameter(text, &row->parameters[i]);
    }
    text_literal(text, "], \"dtypes\": [");
    bool first = true;
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (!dtype_in((enum dtype)i, row->dtypes))
            continue;
        add_string(text, first ? "" : ", ", dtype_name((enum dtype)i));
        first = false;
    }
    add_string(text, "], \"result\": ", rules[row->rule]);
    add_string(text, ", \"form\": ", forms[row->form]);
    text_literal(text, ", \"in_place\": ");
    text_boolean(text, row->in_place);
    text_literal(text, "}");
}

void handle_op_list(struct request *request)
{
    struct text text;
    text_begin(&text, NULL, 0);
    text_literal(&text, "{\"ops\": [");
    for (int i = 0; i < OP_COUNT; i++) {
        text_string(&text, i > 0 ? ",\n  " : "\n  ");
        catalogue_write(&text, op_row((enum op)i));
    }
    text_literal(&text, "]}\n");
    request_answer_json(request, 200, &text);
}

void handle_op_get(struct request *request)
{
    const char *name = request->match.target, *nearest;
    enum op op;
    bool in_place;
    struct text text;
    if (!op_find(name, strlen(name), &op, &in_place, &nearest)) {
        problem_set(&request->problem, STATUS_NOT_FOUND,
                    "There is no operation %.60s; /v1/ops lists all.", name);
        if (nearest != NULL)
            memcpy(request->problem.nearest, nearest,
                   strnlen(nearest, PROBLEM_TEXT_MAX - 1) + 1);
        request_fail(request);
        return;
    }
    text_begin(&text, NULL, 0);
    catalogue_write(&text, op_row(op));
    text_literal(&text, "\n");
    request_answer_json(request, 200, &text);
}
