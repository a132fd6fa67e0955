// SPDX-License-Identifier: Apache-2.0
// POST /v1/ops/{op}: one operation. The body is bound to the signature when it is there;
// names get their meaning when the turn has come. With `out` the results are named and
// described, without it they are the answer.
#include "api/arguments.h"
#include "api/document.h"
#include "api/handlers.h"
#include "api/negotiate.h"
#include "api/payload.h"
#include "api/version.h"
#include "api/work.h"
#include "tensor/executor.h"

enum { BILLED_BYTES = 64 << 10 }; // reading a body of this size is worth billing

struct operation {
    struct call call;
    struct working_generators *generators; // of an operation that draws
    bool has_out, out_list;
    int n_outs;
    const char *outs[OP_MAX_RESULTS];  // NULL: this result is not named
    struct name_conditions conditions; // "if"
    enum format format;                // of the value
    int n_results;
    struct payload values[OP_MAX_RESULTS];
    char devices[OP_MAX_RESULTS][16];
};

// ---- The body

static enum status parse_out_name(struct operation *operation,
                                  const struct json_value *value, struct problem *problem)
{
    if (operation->n_outs == OP_MAX_RESULTS)
        return problem_set(problem, STATUS_TYPE,
                           "out names more results than any operation has.");
    const char *name = NULL;
    if (value->type != JSON_NULL) {
        enum status status = document_string(value, "out", problem);
        if (status == STATUS_OK)
            status = name_check(value->text, value->length, problem);
        if (status != STATUS_OK)
            return status;
        name = value->text;
    }
    for (int i = 0; i < operation->n_outs; i++)
        if (name != NULL && operation->outs[i] != NULL &&
            strcmp(operation->outs[i], name) == 0)
            return problem_set(problem, STATUS_VALUE, "out names %s twice.", name);
    operation->outs[operation->n_outs++] = name;
    return STATUS_OK;
}

static enum status parse_out(struct operation *operation, const struct json *json,
                             const struct json_value *value, struct problem *problem)
{
    enum status status = STATUS_OK;
    if (value == NULL || value->type == JSON_NULL)
        return STATUS_OK;
    operation->has_out = true;
    operation->out_list = value->type == JSON_ARRAY;
    if (!operation->out_list) {
        status = parse_out_name(operation, value, problem);
    } else {
        const struct json_value *name = json_first(value);
        for (uint32_t i = 0; i < value->count && status == STATUS_OK;
             i++, name = json_next(json, name))
            status = parse_out_name(operation, name, problem);
    }
    if (status != STATUS_OK)
        memcpy(problem->pointer, "/out", 5);
    return status;
}

static enum status parse_members(struct request *request, struct operation *operation,
                                 enum op op, bool in_place, const struct json *json,
                                 struct problem *problem)
{
    static const char *const names[] = {"args", "kwargs", "out", "if"};
    const struct json_value *values[4];
    enum status status =
        document_members(json, &json->values[0], 4, names, values, problem);
    if (status != STATUS_OK)
        return status;
    if (values[0] != NULL && values[0]->type != JSON_ARRAY)
        return problem_set(problem, STATUS_MALFORMED,
                           "args is a list: {\"args\": [\"x\", 1]}.");
    if (values[1] != NULL && values[1]->type != JSON_OBJECT)
        return problem_set(problem, STATUS_MALFORMED,
                           "kwargs is an object: {\"kwargs\": {\"dim\": 0}}.");
    status = parse_out(operation, json, values[2], problem);
    if (status == STATUS_OK)
        status = name_conditions_parse(request, json, values[3], &operation->conditions,
                                       problem);
    if (status == STATUS_OK)
        status = call_bind(request, op, in_place, json, values[0], values[1],
                           &operation->call, problem);
    return status;
}

static enum status parse(struct request *request, struct operation *operation,
                         struct problem *problem)
{
    struct json json;
    enum op op;
    bool in_place;
    const char *nearest, *name = request->match.target;
    if (!op_find(name, strlen(name), &op, &in_place, &nearest)) {
        problem_set(problem, STATUS_NOT_FOUND,
                    "There is no operation %.60s; /v1/ops lists all.", name);
        if (nearest != NULL)
            memcpy(problem->nearest, nearest, strnlen(nearest, PROBLEM_TEXT_MAX - 1) + 1);
        return STATUS_NOT_FOUND;
    }
    enum status status = document_parse(request, &json, 2, problem);
    if (status == STATUS_OK)
        status = parse_members(request, operation, op, in_place, &json, problem);
    json_free(&json);
    if (status == STATUS_OK && operation->has_out &&
        request->query.values[QUERY_FORMAT] == NULL)
        return STATUS_OK; // descriptions are JSON
    if (status == STATUS_OK)
        status = negotiate_format(
            request->query.values[QUERY_FORMAT], request_header(request, "Accept"),
            operation->has_out ? 1u << FORMAT_JSON : negotiate_writable(),
            &operation->format, problem);
    return status;
}

// ---- Order

static void declare_keys(struct request *request)
{
    const struct operation *operation = request->state;
    const struct call *call = &operation->call;
    const char *written = call_writes(call) ? call_first_name(call) : NULL;
    for (int i = 0; i < call->n_operands; i++)
        if (call->operands[i].kind == OPERAND_NAME && call->operands[i].name != written)
            work_read(request, call->operands[i].name);
    if (written != NULL)
        work_write(request, written);
    if (op_draws(call->op))
        work_generators(request);
    for (int i = 0; i < operation->conditions.count; i++)
        work_read(request, operation->conditions.items[i].name);
    for (int i = 0; i < operation->n_outs; i++)
        if (operation->outs[i] != NULL)
            work_bind(request, operation->outs[i],
                      call_may_view(call) ? call_first_name(call) : NULL);
}

static int first_device(const struct request *request, const struct call *call)
{
    for (int i = 0; i < call->n_operands; i++)
        if (call->operands[i].kind == OPERAND_NAME)
            return work_device_of(request, call->operands[i].name);
    for (int i = 0; i < call->row->n_parameters; i++)
        if (call->arguments[i].kind == ARGUMENT_DEVICE)
            return call->arguments[i].device->index;
    return 0;
}

// ---- The turn

static enum status check_outs(const struct request *request,
                              const struct operation *operation, struct problem *problem)
{
    for (int i = 0; i < operation->n_outs; i++) {
        struct binding binding;
        bool found;
        if (operation->outs[i] == NULL)
            continue;
        enum status status =
            find_optional(request, operation->outs[i], &binding, &found, problem);
        if (status == STATUS_OK && found) {
            status = check_writable(&binding, problem);
            binding_release(&binding);
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status check_count(const struct operation *operation, struct problem *problem)
{
    const char *name = operation->call.row->name;
    int n = operation->n_results;
    if (operation->has_out && (operation->out_list ? operation->n_outs != n : n != 1))
        return problem_set(problem, STATUS_TYPE,
                           "%s has %d result%s here, and out names %d%s.", name, n,
                           n == 1 ? "" : "s", operation->n_outs,
                           n > 1 ? ": out is a list, null skips one" : "");
    if (!operation->has_out && n > 1 && operation->format != FORMAT_JSON)
        return problem_set(problem, STATUS_NOT_ACCEPTABLE,
                           "%s has %d results here: they come as JSON only.", name, n);
    return STATUS_OK;
}

// The results are the answer: as C-contiguous elements on the host.
static enum status materialize(struct request *request, struct operation *operation,
                               struct node **results, struct problem *problem)
{
    for (int i = 0; i < operation->n_results; i++) {
        struct payload *value = &operation->values[i];
        struct device *device = node_device(results[i]);
        *value = (struct payload){.format = operation->format,
                                  .shown_dtype = node_dtype(results[i])};
        const char *id = device != NULL ? device->id : "cpu";
        memcpy(operation->devices[i], id, strlen(id) + 1);
        value->device = operation->devices[i];
        enum status status =
            payload_check(value->format, node_layout(results[i])->ndim, problem);
        if (status == STATUS_OK)
            status =
                graph_materialize(request->graph, results[i],
                                  payload_wire_dtype(value->format, value->shown_dtype),
                                  api_host(request->api), &results[i], problem);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status op_graph(struct request *request, struct operation *operation,
                            struct problem *problem)
{
    struct api *api = request->api;
    if (!op_draws(operation->call.op))
        return work_graph(request, problem);
    enum status status =
        working_create(request->user->generators, &operation->generators, problem);
    struct graph_context context = {.devices = api->options.devices,
                                    .n_devices = api->options.n_devices,
                                    .account = request->user->account,
                                    .generators = operation->generators};
    return status == STATUS_OK ? graph_create(&context, &request->graph, problem)
                               : status;
}

static enum status op_prepare(struct request *request, struct problem *problem)
{
    struct operation *operation = request->state;
    struct node *results[OP_MAX_RESULTS];
    enum status status = name_conditions_check(request, &operation->conditions, problem);
    if (status == STATUS_OK)
        status = check_outs(request, operation, problem);
    if (status == STATUS_OK)
        status = op_graph(request, operation, problem);
    if (status == STATUS_OK)
        status = call_resolve(request, &operation->call, problem);
    if (status == STATUS_OK)
        status =
            graph_op(request->graph, operation->call.op, operation->call.in_place,
                     operation->call.arguments, results, &operation->n_results, problem);
    if (status == STATUS_OK)
        status = check_count(operation, problem);
    if (status == STATUS_OK && !operation->has_out)
        status = materialize(request, operation, results, problem);
    if (status == STATUS_OK)
        status = executor_create(request->graph, operation->n_results, results,
                                 &request->executor, problem);
    return status;
}

// ---- The answer

// {"values": [description or null, ...]}; NULL as describe_answer.
static struct http_response *describe_list(struct request *request,
                                           const struct operation *operation)
{
    char buffer[2048];
    struct text text;
    struct problem problem;
    enum status status = STATUS_OK;
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "{\"values\": [");
    for (int i = 0; i < operation->n_outs && status == STATUS_OK; i++) {
        struct binding binding;
        if (i > 0)
            text_literal(&text, ", ");
        if (operation->outs[i] == NULL) {
            text_literal(&text, "null");
            continue;
        }
        status =
            registry_find(request->user->space, operation->outs[i], &binding, &problem);
        if (status != STATUS_OK)
            break;
        status = describe(request, &text, &binding, &problem);
        binding_release(&binding);
    }
    text_literal(&text, "]}\n");
    if (status == STATUS_OK)
        return answer_json(request, 200, &text);
    text_end(&text);
    return NULL;
}

static struct http_response *values_answer(struct request *request,
                                           struct operation *operation,
                                           struct problem *problem)
{
    for (int i = 0; i < operation->n_results; i++) {
        struct tensor *result;
        if (executor_result(request->executor, i, &result, problem) != STATUS_OK)
            return NULL;
        payload_pin(&operation->values[i], result);
        tensor_release(result);
    }
    struct http_response *response =
        operation->n_results == 1
            ? payload_answer(request, 200, &operation->values[0], problem)
            : printed_answer(request, 200, operation->values, operation->n_results,
                             problem);
    return answer_header(response, "Cache-Control", "no-store");
}

static struct http_response *op_complete(struct request *request, struct problem *problem)
{
    struct operation *operation = request->state;
    if (executor_commit(request->executor, request->user->space, operation->n_outs,
                        operation->outs, problem) != STATUS_OK)
        return NULL;
    if (operation->generators != NULL)
        working_store(operation->generators);
    if (!operation->has_out) {
        struct http_response *response = values_answer(request, operation, problem);
        if (response == NULL && call_writes(&operation->call))
            problem_clear(problem); // it is done: see describe_answer
        return response;
    }
    if (operation->out_list)
        return describe_list(request, operation);
    return describe_answer(request, 200, operation->outs[0]);
}

static void op_release(struct request *request)
{
    struct operation *operation = request->state;
    call_free(&operation->call);
    working_free(operation->generators);
    for (int i = 0; i < operation->n_results; i++)
        payload_unpin(&operation->values[i]);
}

static const struct work op_work = {.declare = declare_keys,
                                    .prepare = op_prepare,
                                    .complete = op_complete,
                                    .release = op_release};

void handle_op_post(struct request *request)
{
    struct operation *operation = request_allocate(request, sizeof *operation);
    if (operation == NULL) {
        request_fail(request);
        return;
    }
    operation->call.n_operands = 0;
    operation->generators = NULL;
    operation->call.operands = operation->call.few;
    operation->has_out = operation->out_list = false;
    operation->n_outs = operation->conditions.count = operation->n_results = 0;
    operation->format = FORMAT_JSON;
    for (int i = 0; i < OP_MAX_RESULTS; i++)
        operation->values[i].block = NULL;
    bool large = request->body_length >= BILLED_BYTES;
    int64_t start = large ? work_clock() : 0;
    enum status status = parse(request, operation, &request->problem);
    if (large)
        work_bill(request, work_clock() - start);
    if (status != STATUS_OK) {
        call_free(&operation->call);
        request_fail(request);
        return;
    }
    request->state = operation;
    work_start(request, &op_work, first_device(request, &operation->call));
}
