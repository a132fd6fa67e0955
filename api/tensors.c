// SPDX-License-Identifier: Apache-2.0
// GET, HEAD and DELETE of /v1/tensors/{name}, DELETE of /v1/tensors.
//
// A read takes its turn, pins the block, and from then on depends on nothing: the name
// may be bound anew while the bytes are on their way.
#include <stdlib.h>

#include "api/handlers.h"
#include "api/negotiate.h"
#include "api/readback.h"
#include "api/version.h"
#include "api/work.h"
#include "tensor/executor.h"

struct read {
    struct value value;
    bool has_dtype, head;
    enum dtype dtype; // asked for with dtype=
    const char *index;
    const char *range, *if_range; // headers
    struct readback *readback;
    bool unchanged; // 304
    bool outside;   // 416
    char device[16];
    char tag[ETAG_SIZE];
};

// ---- What is read

// The tensor or the part of it that index= names; a reference of the caller's.
static enum status select_part(const struct read *read, struct tensor *tensor,
                               struct tensor **out, struct problem *problem)
{
    if (read->index == NULL) {
        *out = tensor_reference(tensor);
        return STATUS_OK;
    }
    struct layout layout;
    int64_t offset;
    enum status status = index_apply(read->index, strlen(read->index), &tensor->layout,
                                     &layout, &offset, problem);
    if (status != STATUS_OK)
        return status;
    return tensor_create(tensor->storage, tensor->offset + offset, tensor->dtype, &layout,
                         out, problem);
}

// Lets the elements be computed: converted, gathered, brought to the host.
static enum status materialize(struct request *request, struct tensor *tensor,
                               enum dtype dtype, struct problem *problem)
{
    struct node *source, *node;
    enum status status = work_graph(request, problem);
    if (status == STATUS_OK)
        status = graph_source(request->graph, tensor, &source, problem);
    if (status == STATUS_OK)
        status = graph_materialize(request->graph, source, dtype, api_host(request->api),
                                   &node, problem);
    if (status == STATUS_OK)
        status = executor_create(request->graph, 1, &node, &request->executor, problem);
    return status;
}

// Chooses how the elements get to the client; fills read->value as far as it is known.
static enum status prepare_elements(struct request *request, struct read *read,
                                    struct tensor *tensor, struct problem *problem)
{
    struct value *value = &read->value;
    enum dtype shown = read->has_dtype ? read->dtype : tensor->dtype;
    enum dtype wire = value_wire_dtype(value->format, shown);
    bool binary = value->format == FORMAT_NPY || value->format == FORMAT_RAW;
    bool as_it_is = wire == tensor->dtype && layout_is_contiguous(&tensor->layout);
    value->shown_dtype = shown;
    enum status status = value_check(value->format, tensor->layout.ndim, problem);
    if (status != STATUS_OK)
        return status;
    if (read->head || tensor_count(tensor) == 0 ||
        (as_it_is && tensor_device(tensor)->is_host)) {
        value_pin(value, tensor);
        value->dtype = wire;
        if (tensor_count(tensor) == 0 || read->head)
            value_unpin(value);
        return STATUS_OK;
    }
    if (!as_it_is || !binary)
        return materialize(request, tensor, wire, problem);
    value_pin(value, tensor);
    read->readback = readback_open(request, value, problem);
    if (read->readback != NULL)
        return STATUS_OK;
    read->outside = problem->status == STATUS_RANGE; // an answer with a header of its own
    if (!read->outside)
        return problem->status;
    problem_clear(problem);
    return STATUS_OK;
}

static bool range_applies(const struct read *read)
{
    bool binary = read->value.format == FORMAT_NPY || read->value.format == FORMAT_RAW;
    if (!binary || read->head || read->range == NULL)
        return false;
    return read->if_range == NULL || etag_equals(read->if_range, read->tag);
}

// Conditions of a read. If-None-Match asks for this representation, If-Match for the
// version.
static enum status check_conditions(struct request *request, struct read *read,
                                    const struct binding *binding,
                                    struct problem *problem)
{
    struct version version = version_of(request->api, binding);
    etag_write(read->tag, &version, format_row(read->value.format)->name, read->index,
               request->query.values[QUERY_DTYPE]);
    if (request->if_match != NULL &&
        !etag_names_version(request->if_match, &version, true))
        return problem_set(problem, STATUS_PRECONDITION,
                           "If-Match names another version than %.128s has now.",
                           binding->name);
    read->unchanged =
        request->if_none_match != NULL && etag_in_list(request->if_none_match, read->tag);
    return STATUS_OK;
}

static enum status read_prepare(struct request *request, struct problem *problem)
{
    struct read *read = request->state;
    struct binding binding;
    struct tensor *part = NULL;
    enum status status = find_target(request, &binding, problem);
    if (status != STATUS_OK)
        return status;
    status = check_conditions(request, read, &binding, problem);
    if (status == STATUS_OK && !read->unchanged)
        status = select_part(read, binding.tensor, &part, problem);
    if (part != NULL) {
        memcpy(read->device, tensor_device(part)->id, sizeof read->device);
        read->value.range = range_applies(read) ? read->range : NULL;
        status = prepare_elements(request, read, part, problem);
    }
    tensor_release(part);
    binding_release(&binding);
    return status;
}

static bool read_needs_run(const struct request *request)
{
    return ((const struct read *)request->state)->readback != NULL;
}

static int read_run_device(const struct request *request)
{
    return readback_device(((const struct read *)request->state)->readback);
}

static enum status read_run(struct request *request, struct problem *problem)
{
    return readback_copy(((struct read *)request->state)->readback, problem);
}

// ---- The answer

static struct http_response *elements_answer(struct request *request, struct read *read,
                                             struct problem *problem)
{
    struct tensor *result;
    if (read->readback != NULL) {
        struct http_response *response = readback_answer(read->readback);
        read->readback = NULL; // taken
        return response;
    }
    if (read->outside)
        return value_outside(&read->value);
    if (read->head)
        return value_head(request, &read->value, problem);
    if (request->executor != NULL) {
        if (executor_result(request->executor, 0, &result, problem) != STATUS_OK)
            return NULL;
        value_pin(&read->value, result);
        tensor_release(result);
    }
    return value_answer(request, 200, &read->value, problem);
}

static struct http_response *read_complete(struct request *request,
                                           struct problem *problem)
{
    struct read *read = request->state;
    bool binary = read->value.format == FORMAT_NPY || read->value.format == FORMAT_RAW;
    struct http_response *response = read->unchanged
                                         ? http_response_copy(304, NULL, 0)
                                         : elements_answer(request, read, problem);
    response = answer_header(response, "ETag", read->tag);
    response = answer_header(response, "Vary", "Accept");
    response =
        answer_header(response, "Cache-Control", "private, no-cache, no-transform");
    return binary ? answer_header(response, "Accept-Ranges", "bytes") : response;
}

static void read_release(struct request *request)
{
    struct read *read = request->state;
    readback_free(read->readback);
    value_unpin(&read->value);
    read->readback = NULL;
}

static const struct work read_work = {.prepare = read_prepare,
                                      .needs_run = read_needs_run,
                                      .run_device = read_run_device,
                                      .run = read_run,
                                      .complete = read_complete,
                                      .release = read_release};

static enum status read_parse(struct request *request, struct read *read,
                              struct problem *problem)
{
    const struct query *query = &request->query;
    const char *dtype = query->values[QUERY_DTYPE];
    *read = (struct read){.head = request->match.method == METHOD_HEAD,
                          .index = query->values[QUERY_INDEX]};
    read->has_dtype = dtype != NULL;
    if (dtype != NULL && !dtype_parse(dtype, strlen(dtype), &read->dtype))
        return problem_set(problem, STATUS_DTYPE, "There is no dtype \"%.40s\".", dtype);
    read->range = request_header(request, "Range");
    read->if_range = request_header(request, "If-Range");
    read->value.name = request->match.target;
    read->value.device = read->device;
    return negotiate_format(query->values[QUERY_FORMAT],
                            request_header(request, "Accept"), negotiate_writable(),
                            &read->value.format, problem);
}

void handle_tensor_get(struct request *request)
{
    struct read *read = request_allocate(request, sizeof *read);
    if (read == NULL || read_parse(request, read, &request->problem) != STATUS_OK) {
        request_fail(request);
        return;
    }
    request->state = read;
    conditions_read(request);
    work_read(request, request->match.target);
    work_start(request, &read_work, work_device_of(request, request->match.target));
}

// ---- DELETE

static struct http_response *deleted_answer(const struct request *request, int64_t count,
                                            int64_t bytes)
{
    char buffer[96];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "{\"deleted\": ");
    text_integer(&text, count);
    text_literal(&text, ", \"bytes\": ");
    text_integer(&text, bytes);
    text_literal(&text, "}\n");
    return answer_json(request, 200, &text);
}

static struct http_response *delete_complete(struct request *request,
                                             struct problem *problem)
{
    struct binding binding;
    if (find_target(request, &binding, problem) != STATUS_OK)
        return NULL;
    int64_t bytes = 0;
    char **others = NULL;
    int n_others = 0;
    enum status status = conditions_check(request, &binding, problem);
    if (status == STATUS_OK)
        status = registry_shared_with(request->api->space, binding.tensor->storage,
                                      binding.name, &others, &n_others, problem);
    if (status == STATUS_OK) {
        struct registry_change change = {.name = binding.name};
        struct registry_commit commit = {.n_changes = 1, .changes = &change};
        bytes = n_others == 0 ? storage_bytes(binding.tensor->storage) : 0;
        status = registry_commit(request->api->space, &commit, problem);
    }
    for (int i = 0; i < n_others; i++)
        free(others[i]);
    free(others);
    binding_release(&binding);
    return status == STATUS_OK ? deleted_answer(request, 1, bytes) : NULL;
}

static const struct work delete_work = {.complete = delete_complete};

void handle_tensor_delete(struct request *request)
{
    conditions_read(request);
    work_unbind(request, request->match.target);
    work_start(request, &delete_work, 0);
}

static struct http_response *delete_prefix_complete(struct request *request,
                                                    struct problem *problem)
{
    int64_t count, bytes;
    if (registry_delete_prefix(request->api->space, request->query.values[QUERY_PREFIX],
                               &count, &bytes, problem) != STATUS_OK)
        return NULL;
    return deleted_answer(request, count, bytes);
}

static const struct work delete_prefix_work = {.complete = delete_prefix_complete};

void handle_tensor_delete_prefix(struct request *request)
{
    if (request->query.values[QUERY_PREFIX] == NULL) {
        problem_set(
            &request->problem, STATUS_MALFORMED,
            "Say which tensors with prefix=; an empty prefix= deletes all of them.");
        request_fail(request);
        return;
    }
    // Names that are pending have no key to wait for, so that it waits for everything.
    work_write_all(request);
    work_start(request, &delete_prefix_work, 0);
}
