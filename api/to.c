// SPDX-License-Identifier: Apache-2.0
// POST /v1/tensors/{name}/to: another device, another dtype, or both; the name is bound
// to the result.
#include "api/describe.h"
#include "api/document.h"
#include "api/handlers.h"
#include "api/version.h"
#include "api/work.h"
#include "tensor/executor.h"

struct conversion {
    bool has_dtype;
    enum dtype dtype;
    struct device *device; // NULL: where it is
};

static enum status to_parse(struct request *request, struct conversion *conversion,
                            struct problem *problem)
{
    static const char *const names[] = {"device", "dtype"};
    const struct json_value *values[2];
    struct json json;
    enum status status = document_parse(request, &json, 2, problem);
    if (status == STATUS_OK)
        status = document_members(&json, &json.values[0], 2, names, values, problem);
    if (status == STATUS_OK && values[0] == NULL && values[1] == NULL)
        status =
            problem_set(problem, STATUS_MALFORMED,
                        "Say where or into what: {\"device\": ..., \"dtype\": ...}.");
    if (status == STATUS_OK && values[0] != NULL &&
        (status = document_string(values[0], "device", problem)) == STATUS_OK)
        status = api_device_find(request->api, values[0]->text, values[0]->length,
                                 &conversion->device, problem);
    if (status == STATUS_OK && values[1] != NULL &&
        (status = document_string(values[1], "dtype", problem)) == STATUS_OK) {
        conversion->has_dtype = true;
        if (!dtype_parse(values[1]->text, values[1]->length, &conversion->dtype))
            status = problem_set(problem, STATUS_DTYPE, "There is no dtype \"%.40s\".",
                                 values[1]->text);
    }
    json_free(&json);
    return status;
}

static enum status build(struct request *request, const struct conversion *conversion,
                         struct tensor *tensor, struct problem *problem)
{
    struct argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_TENSOR}};
    struct node *results[OP_MAX_RESULTS];
    int n_results;
    enum status status = work_graph(request, problem);
    if (status == STATUS_OK)
        status = graph_source(request->graph, tensor, &arguments[0].tensor, problem);
    if (conversion->device != NULL) {
        arguments[1].kind = ARGUMENT_DEVICE;
        arguments[1].device = conversion->device;
    }
    if (conversion->has_dtype) {
        arguments[2].kind = ARGUMENT_DTYPE;
        arguments[2].dtype = conversion->dtype;
    }
    if (status == STATUS_OK)
        status = graph_op(request->graph, OP_to, false, arguments, results, &n_results,
                          problem);
    if (status == STATUS_OK)
        status = executor_create(request->graph, 1, results, &request->executor, problem);
    return status;
}

static enum status to_prepare(struct request *request, struct problem *problem)
{
    struct binding binding;
    enum status status = find_target(request, &binding, problem);
    if (status != STATUS_OK)
        return status;
    status = conditions_check(request, &binding, problem);
    if (status == STATUS_OK)
        status = check_writable(&binding, problem);
    if (status == STATUS_OK)
        status = build(request, request->state, binding.tensor, problem);
    binding_release(&binding);
    return status;
}

static struct http_response *to_complete(struct request *request, struct problem *problem)
{
    const char *name = request->match.target;
    if (executor_commit(request->executor, request->user->space, 1, &name, problem) !=
        STATUS_OK)
        return NULL;
    return describe_answer(request, 200, name);
}

static const struct work to_work = {.prepare = to_prepare, .complete = to_complete};

void handle_tensor_to(struct request *request)
{
    struct conversion *conversion = request_allocate(request, sizeof *conversion);
    if (conversion != NULL)
        *conversion = (struct conversion){0};
    if (conversion == NULL ||
        to_parse(request, conversion, &request->problem) != STATUS_OK) {
        request_fail(request);
        return;
    }
    request->state = conversion;
    conditions_read(request);
    work_read(request, request->match.target);
    work_bind(request, request->match.target,
              request->match.target); // itself if nothing changes
    work_start(request, &to_work, work_device_of(request, request->match.target));
}
