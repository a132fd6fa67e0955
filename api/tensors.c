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
    struct payload value;
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
    struct payload *value = &read->value;
    enum dtype shown = read->has_dtype ? read->dtype : tensor->dtype;
    enum dtype wire = payload_wire_dtype(value->format, shown);
    bool binary = value->format == FORMAT_NPY || value->format == FORMAT_RAW;
    bool as_it_is = wire == tensor->dtype && layout_is_contiguous(&tensor->layout);
    value->shown_dtype = shown;
    enum status status = payload_check(value->format, tensor->layout.ndim, problem);
    if (status != STATUS_OK)
        return status;
    if (read->head || tensor_count(tensor) == 0 ||
        (as_it_is && tensor_device(tensor)->is_host)) {
        payload_pin(value, tensor);
        value->dtype = wire;
        if (tensor_count(tensor) == 0 || read->head)
            payload_unpin(value);
        return STATUS_OK;
    }
    if (!as_it_is || !binary)
        return materialize(request, tensor, wire, problem);
    payload_pin(value, tensor);
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
        return payload_outside(&read->value);
    if (read->head)
        return payload_head(request, &read->value, problem);
    if (request->executor != NULL) {
        if (executor_result(request->executor, 0, &result, problem) != STATUS_OK)
            return NULL;
        payload_pin(&read->value, result);
        tensor_release(result);
    }
    return payload_answer(request, 200, &read->value, problem);
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
    payload_unpin(&read->value);
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
