// SPDX-License-Identifier: Apache-2.0
// Binding: which value goes to which parameter, and what it may be there (arguments.h).
#include "api/arguments.h"

#include <stdio.h>

#include "api/argument_values.h"

bool call_writes(const struct call *call)
{
    const char *name = call->row->name;
    return call->in_place || name[strlen(name) - 1] == '_';
}

bool call_may_view(const struct call *call)
{
    return call->row->form == FORM_VIEW || call->op == OP_to || call_writes(call);
}

const char *call_first_name(const struct call *call)
{
    if (call->row->n_parameters == 0 || call->spans[0].count == 0)
        return NULL;
    const struct operand *operand = &call->operands[call->spans[0].first];
    return operand->kind == OPERAND_NAME ? operand->name : NULL;
}

// ---- Refusals

static int positional_count(const struct op_row *row)
{
    int count = 0;
    while (count < row->n_parameters && !row->parameters[count].keyword_only)
        count++;
    return count;
}

static enum status too_many(const struct op_row *row, uint32_t given,
                            struct problem *problem)
{
    int count = positional_count(row);
    return problem_set(
        problem, STATUS_TYPE, "%s takes %d positional argument%s, %u are given: %s(%s).",
        row->name, count, count == 1 ? "" : "s", given, row->name, row->signature);
}

// Names that differ in at most two characters (one, if short) are worth a hint.
static bool is_near(const char *a, const char *b)
{
    enum { LONGEST = 24 };
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return false;
    unsigned row[LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m] <= (n >= 4 ? 2 : 1);
}

static enum status unknown_keyword(const struct op_row *row, const char *name,
                                   struct problem *problem)
{
    problem_set(problem, STATUS_TYPE, "%s has no argument \"%.60s\": %s(%s).", row->name,
                name, row->name, row->signature);
    for (int i = 0; i < row->n_parameters; i++)
        if (is_near(name, row->parameters[i].name))
            memcpy(problem->nearest, row->parameters[i].name,
                   sizeof row->parameters[i].name);
    return STATUS_TYPE;
}

// Completes the pointer, which may lead to a place inside the argument already.
static void point_at(struct problem *problem, const char *where, const char *name,
                     uint32_t index)
{
    char inside[PROBLEM_TEXT_MAX];
    memcpy(inside, problem->pointer, sizeof inside);
    if (name != NULL)
        snprintf(problem->pointer, sizeof problem->pointer, "/%s/%.60s%.100s", where,
                 name, inside);
    else
        snprintf(problem->pointer, sizeof problem->pointer, "/%s/%u%.100s", where, index,
                 inside);
}

// ---- Positions

// Is parameter `index` an int[] that takes the remaining numbers one by one?
static bool gathers(const struct op_row *row, int index, const struct json_value *value)
{
    return row->parameters[index].type == PARAMETER_INTS && value->type == JSON_NUMBER &&
           index == positional_count(row) - 1;
}

static enum status bind_positional(struct binder *binder, const struct json_value *args,
                                   bool *given, struct problem *problem)
{
    const struct op_row *row = binder->call->row;
    const struct json_value *value = json_first(args);
    int n_positional = positional_count(row);
    for (uint32_t i = 0; i < args->count; i++) {
        if ((int64_t)i >= n_positional)
            return too_many(row, args->count, problem);
        bool rest = gathers(row, (int)i, value);
        enum status status =
            rest ? bind_rest(binder, (int)i, value, args->count - i, problem)
                 : bind_value(binder, (int)i, value, problem);
        if (status != STATUS_OK) {
            point_at(problem, "args", NULL, i);
            return status;
        }
        given[i] = true;
        if (rest)
            break;
        value = json_next(binder->json, value);
    }
    return STATUS_OK;
}

static enum status bind_keywords(struct binder *binder, const struct json_value *kwargs,
                                 bool *given, struct problem *problem)
{
    const struct op_row *row = binder->call->row;
    const struct json_value *name = json_first(kwargs);
    for (uint32_t member = 0; member < kwargs->count; member++) {
        const struct json_value *value = json_next(binder->json, name);
        int i = 0;
        while (i < row->n_parameters && !json_is(name, row->parameters[i].name))
            i++;
        enum status status;
        if (i == row->n_parameters)
            status = unknown_keyword(row, name->text, problem);
        else if (given[i])
            status =
                problem_set(problem, STATUS_TYPE,
                            "%s is given twice: by position and by keyword.", name->text);
        else
            status = bind_value(binder, i, value, problem);
        if (status != STATUS_OK) {
            point_at(problem, "kwargs", name->text, 0);
            return status;
        }
        given[i] = true;
        name = json_next(binder->json, value);
    }
    return STATUS_OK;
}

enum status call_bind(struct request *request, enum op op, bool in_place,
                      const struct json *json, const struct json_value *args,
                      const struct json_value *kwargs, struct call *call,
                      struct problem *problem)
{
    struct binder binder = {.request = request, .json = json, .call = call};
    bool given[OP_MAX_PARAMETERS] = {false};
    enum status status = STATUS_OK;
    call->op = op;
    call->in_place = in_place;
    call->row = op_row(op);
    call->n_operands = 0;
    call->capacity = sizeof call->few / sizeof call->few[0];
    call->operands = call->few;
    for (int i = 0; i < OP_MAX_PARAMETERS; i++) {
        call->arguments[i].kind = ARGUMENT_NONE;
        call->spans[i].count = 0;
    }
    if (args != NULL)
        status = bind_positional(&binder, args, given, problem);
    if (status == STATUS_OK && kwargs != NULL)
        status = bind_keywords(&binder, kwargs, given, problem);
    for (int i = 0; status == STATUS_OK && i < call->row->n_parameters; i++)
        if (!given[i] && !call->row->parameters[i].has_default)
            status =
                problem_set(problem, STATUS_TYPE, "%s needs the argument %s: %s(%s).",
                            call->row->name, call->row->parameters[i].name,
                            call->row->name, call->row->signature);
    return status;
}

void call_free(struct call *call)
{
    for (int i = 0; i < call->n_operands; i++)
        if (call->operands[i].kind == OPERAND_INLINE)
            tensor_release(call->operands[i].tensor);
    call->n_operands = 0;
}

// ---- The turn

// The node of a name; *device becomes its device if there is none yet.
static enum status resolve_name(struct request *request, const struct call *call,
                                const struct operand *operand, bool first,
                                struct device **device, struct node **out,
                                struct problem *problem)
{
    struct binding binding;
    enum status status =
        registry_find(request->user->space, operand->name, &binding, problem);
    if (status != STATUS_OK)
        return status;
    if (first && call_writes(call) &&
        registry_readonly(request->user->space, binding.tensor->storage))
        status = problem_set(problem, STATUS_FORBIDDEN,
                             "The storage of %.128s is read-only (by this name or one "
                             "that shares it) and %s%s would write it.",
                             binding.name, call->row->name, call->in_place ? "_" : "");
    if (status == STATUS_OK)
        status = graph_source(request->graph, binding.tensor, out, problem);
    if (*device == NULL)
        *device = tensor_device(binding.tensor);
    binding_release(&binding);
    return status;
}

static enum status resolve_inline(struct request *request, const struct operand *operand,
                                  struct device *device, struct node **out,
                                  struct problem *problem)
{
    if (device == NULL)
        device = operand->device != NULL ? operand->device : api_host(request->api);
    enum status status = graph_source(request->graph, operand->tensor, out, problem);
    if (status == STATUS_OK && device != api_host(request->api))
        status = graph_materialize(request->graph, *out, operand->tensor->dtype, device,
                                   out, problem);
    return status;
}

enum status call_resolve(struct request *request, struct call *call,
                         struct problem *problem)
{
    struct node *few[8], **nodes = few;
    if (call->n_operands > 8 &&
        (nodes = request_allocate(request, (size_t)call->n_operands * sizeof *nodes)) ==
            NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No host memory for the arguments.");
    struct device *device = NULL;
    for (int i = 0; i < call->n_operands; i++) {
        const struct operand *operand = &call->operands[i];
        bool first = call->spans[0].count > 0 && i == call->spans[0].first;
        enum status status = STATUS_OK;
        if (operand->kind == OPERAND_NAME)
            status =
                resolve_name(request, call, operand, first, &device, &nodes[i], problem);
        else if (operand->kind == OPERAND_NUMBER)
            status = graph_scalar(request->graph, operand->number, &nodes[i], problem);
        if (status != STATUS_OK)
            return status;
    }
    for (int i = 0; i < call->n_operands; i++)
        if (call->operands[i].kind == OPERAND_INLINE) {
            enum status status =
                resolve_inline(request, &call->operands[i], device, &nodes[i], problem);
            if (status != STATUS_OK)
                return status;
        }
    for (int i = 0; i < call->row->n_parameters; i++) {
        struct argument *argument = &call->arguments[i];
        if (argument->kind == ARGUMENT_TENSOR)
            argument->tensor = nodes[call->spans[i].first];
        else if (argument->kind == ARGUMENT_TENSORS)
            memcpy(argument->tensors.items, nodes + call->spans[i].first,
                   (size_t)call->spans[i].count * sizeof *nodes);
    }
    return STATUS_OK;
}
