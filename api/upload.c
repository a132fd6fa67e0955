// SPDX-License-Identifier: Apache-2.0
// PUT: from the first header to the commit (upload.h).
//
// In the plain case (C order, no conversion, on the host) the block that the reader
// filled becomes the tensor's storage without a copy. Otherwise a graph converts, moves
// or writes it when the request's turn has come.
#include "api/upload.h"

#include "api/body.h"
#include "api/describe.h"
#include "api/handlers.h"
#include "api/version.h"
#include "api/work.h"
#include "kernels/base/size.h"
#include "tensor/executor.h"

enum {
    PROBE_BYTES =
        1 << 20, // declared bodies from this size on are refused before they come
    TRIM_BYTES = 1 << 20, // a larger copy is work, not the HTTP thread's
};

struct upload {
    struct memory memory;
    struct reader *reader;
    struct reader_options options;
    bool known; // the format is
    enum format format;
    size_t n_sniffed;
    char sniffed[BODY_SNIFF];
    const char *index;
    bool has_dtype; // convert to dtype
    enum dtype dtype;
    struct device *device; // NULL: not asked for

    // Of the work.
    struct tensor *tensor; // what came
    bool replaces;
};

// ---- The headers

static bool parse_extent(const char **text, int64_t *out)
{
    const char *c = *text;
    bool negative = *c == '-';
    int64_t value = 0;
    c += negative;
    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9'; c++)
        if (!size_multiply(value, 10, &value) || !size_add(value, *c - '0', &value))
            return false;
    *out = negative ? -value : value;
    *text = c;
    return !negative || value == 1;
}

// "2,-1", "(2, 3)", "[2,3]" or "" into the options.
static enum status parse_shape(const char *text, struct reader_options *options,
                               struct problem *problem)
{
    static const char *const form =
        "shape= is a list of sizes like 2,-1 (one -1 is inferred), up to 32 of them.";
    options->has_shape = true;
    options->ndim = 0;
    int inferred = 0;
    text += strspn(text, " ([");
    while (strspn(text, " )]") != strlen(text)) {
        if (options->ndim == FORMAT_MAX_NDIM ||
            !parse_extent(&text, &options->shape[options->ndim]))
            return problem_set(problem, STATUS_MALFORMED, "%s", form);
        inferred += options->shape[options->ndim++] < 0;
        text += strspn(text, " ");
        if (*text == ',')
            text += 1 + strspn(text + 1, " ");
        else if (strspn(text, " )]") != strlen(text))
            return problem_set(problem, STATUS_MALFORMED, "%s", form);
    }
    return inferred > 1 ? problem_set(problem, STATUS_MALFORMED, "%s", form) : STATUS_OK;
}

static enum status parse_query(struct request *request, struct upload *upload,
                               struct problem *problem)
{
    const struct query *query = &request->query;
    const char *dtype = query->values[QUERY_DTYPE], *device = query->values[QUERY_DEVICE];
    const char *shape = query->values[QUERY_SHAPE];
    upload->index = query->values[QUERY_INDEX];
    upload->has_dtype = dtype != NULL;
    if (dtype != NULL && !dtype_parse(dtype, strlen(dtype), &upload->dtype))
        return problem_set(problem, STATUS_DTYPE, "There is no dtype \"%.40s\".", dtype);
    if (device != NULL && upload->index != NULL)
        return problem_set(
            problem, STATUS_MALFORMED,
            "index= writes into a tensor where it is; device= does not go with it.");
    if (device != NULL) {
        enum status status = api_device_find(request->api, device, strlen(device),
                                             &upload->device, problem);
        if (status != STATUS_OK)
            return status;
    }
    return shape != NULL ? parse_shape(shape, &upload->options, problem) : STATUS_OK;
}

// What can be said against the write before the body comes. All of it is asked again at
// the request's turn.
static enum status check_target(struct request *request, struct upload *upload,
                                struct problem *problem)
{
    struct binding binding;
    bool found;
    enum status status =
        find_optional(request, request->match.target, &binding, &found, problem);
    if (status != STATUS_OK)
        return status;
    status = conditions_check(request, found ? &binding : NULL, problem);
    if (status == STATUS_OK && found)
        status = check_writable(&binding, problem);
    if (status == STATUS_OK && !found && upload->index != NULL)
        status = find_target(request, &binding, problem); // says that there is none
    // Text is read straight into a floating target's dtype; what becomes of it otherwise
    // is the graph's to say.
    if (status == STATUS_OK && upload->index != NULL &&
        dtype_is_float(binding.tensor->dtype) && !upload->has_dtype) {
        upload->options.has_dtype = true;
        upload->options.dtype = binding.tensor->dtype;
    }
    if (found)
        binding_release(&binding);
    return status;
}

// The format is known: opens its reader.
static enum status open_reader(struct request *request, struct upload *upload,
                               struct problem *problem)
{
    struct reader_options *options = &upload->options;
    int64_t length = http_content_length(request->http);
    bool raw = upload->format == FORMAT_RAW;
    if (!raw && options->has_shape)
        return problem_set(problem, STATUS_MALFORMED,
                           "shape= is for raw bodies; this one says its shape itself.");
    if (raw && !upload->has_dtype)
        return problem_set(problem, STATUS_MALFORMED,
                           "A raw body needs dtype=, the type of its bytes.");
    if (upload->has_dtype) {
        options->has_dtype = true;
        options->dtype = upload->dtype;
    } else if (upload->format == FORMAT_NPY) {
        options->has_dtype = false;
    }
    if (raw)
        upload->has_dtype = false; // no conversion
    options->length = length;
    options->max_bytes = request->api->options.max_body;
    if ((raw || upload->format == FORMAT_NPY) && length >= PROBE_BYTES) {
        enum status status = memory_probe(request->user, length, problem);
        if (status != STATUS_OK)
            return status;
    }
    upload->memory.user = request->user;
    upload->memory.api = request->api;
    upload->memory.held = &request->held;
    struct reader_memory memory = memory_for_reader(&upload->memory);
    return reader_open(upload->format, options, &memory, &upload->reader, problem);
}

enum status upload_begin(struct request *request, struct problem *problem)
{
    struct upload *upload = request_allocate(request, sizeof *upload);
    if (upload == NULL)
        return request->problem.status;
    memset(upload, 0, sizeof *upload);
    request->upload = upload;
    const char *name = request->match.target;
    enum status status = name_check(name, strlen(name), problem);
    if (status != STATUS_OK)
        return status;
    if (request_header(request, "Content-Range") != NULL)
        return problem_set(
            problem, STATUS_MALFORMED,
            "Content-Range is not taken here; index= writes into a part of a tensor.");
    conditions_read(request);
    if ((status = parse_query(request, upload, problem)) != STATUS_OK ||
        (status = check_target(request, upload, problem)) != STATUS_OK ||
        (status = body_recognize(request, &upload->known, &upload->format, problem)) !=
            STATUS_OK)
        return status;
    return upload->known ? open_reader(request, upload, problem) : STATUS_OK;
}

void upload_free(struct upload *upload)
{
    if (upload == NULL)
        return;
    reader_close(upload->reader);
    memory_free(&upload->memory);
    tensor_release(upload->tensor);
}

// ---- The body

static enum status feed(struct request *request, const char *bytes, size_t count,
                        struct problem *problem)
{
    if (count == 0)
        return STATUS_OK;
    int64_t start = work_clock();
    enum status status = reader_feed(request->upload->reader, bytes, count, problem);
    work_bill(request, work_clock() - start);
    return status;
}

// Looks at the bytes gathered so far, and feeds them once the format is known.
static enum status sniff(struct request *request, bool complete, struct problem *problem)
{
    struct upload *upload = request->upload;
    enum status status = body_sniff(request, upload->sniffed, upload->n_sniffed, complete,
                                    &upload->known, &upload->format, problem);
    if (status != STATUS_OK || !upload->known)
        return status;
    if ((status = open_reader(request, upload, problem)) != STATUS_OK)
        return status;
    return feed(request, upload->sniffed, upload->n_sniffed, problem);
}

enum status upload_data(struct request *request, const char *bytes, size_t count,
                        struct problem *problem)
{
    struct upload *upload = request->upload;
    while (!upload->known && count > 0) {
        size_t room = sizeof upload->sniffed - upload->n_sniffed,
               taken = count < room ? count : room;
        memcpy(upload->sniffed + upload->n_sniffed, bytes, taken);
        upload->n_sniffed += taken;
        bytes += taken;
        count -= taken;
        enum status status = sniff(request, false, problem);
        if (status != STATUS_OK)
            return status;
    }
    return feed(request, bytes, count, problem);
}

// The whole body is in: makes the tensor of its block.
static enum status finish_body(struct request *request, struct problem *problem)
{
    struct upload *upload = request->upload;
    struct reader_result result;
    enum status status = upload->known ? STATUS_OK : sniff(request, true, problem);
    if (status == STATUS_OK)
        status = reader_finish(upload->reader, &result, problem);
    if (status == STATUS_OK && result.has_device && upload->device == NULL &&
        upload->index == NULL)
        status = api_device_find(request->api, result.device, strlen(result.device),
                                 &upload->device, problem);
    if (status == STATUS_OK)
        status =
            memory_tensor(&upload->memory, &result, TRIM_BYTES, &upload->tensor, problem);
    return status;
}

// ---- The work

static enum status prepare_part(struct request *request, const struct binding *binding,
                                struct problem *problem)
{
    struct upload *upload = request->upload;
    struct tensor *whole = binding->tensor, *target;
    struct layout layout;
    struct node *value;
    int64_t offset;
    enum status status = index_apply(upload->index, strlen(upload->index), &whole->layout,
                                     &layout, &offset, problem);
    if (status != STATUS_OK)
        return status;
    status = tensor_create(whole->storage, whole->offset + offset, whole->dtype, &layout,
                           &target, problem);
    if (status != STATUS_OK)
        return status;
    status = work_graph(request, problem);
    if (status == STATUS_OK)
        status = graph_source(request->graph, upload->tensor, &value, problem);
    if (status == STATUS_OK && upload->has_dtype)
        status = graph_materialize(request->graph, value, upload->dtype,
                                   node_device(value), &value, problem);
    if (status == STATUS_OK)
        status = graph_write(request->graph, target, value, problem);
    if (status == STATUS_OK)
        status = executor_create(request->graph, 0, NULL, &request->executor, problem);
    tensor_release(target);
    return status;
}

// The value as it came, in a storage of exactly its size.
static enum status clone(struct request *request, struct node **value,
                         struct problem *problem)
{
    struct argument arguments[OP_MAX_PARAMETERS] = {
        {.kind = ARGUMENT_TENSOR, .tensor = *value}};
    struct node *results[OP_MAX_RESULTS];
    int n_results;
    enum status status = graph_op(request->graph, OP_clone, false, arguments, results,
                                  &n_results, problem);
    *value = results[0];
    return status;
}

static enum status prepare_whole(struct request *request, struct problem *problem)
{
    struct upload *upload = request->upload;
    struct tensor *tensor = upload->tensor;
    struct device *host = api_host(request->api);
    struct device *device = upload->device != NULL ? upload->device : host;
    enum dtype dtype = upload->has_dtype ? upload->dtype : tensor->dtype;
    bool exact = storage_bytes(tensor->storage) == tensor_bytes(tensor);
    bool as_it_is =
        device == host && dtype == tensor->dtype && layout_is_contiguous(&tensor->layout);
    struct node *value;
    if (as_it_is && exact)
        return STATUS_OK;
    enum status status = work_graph(request, problem);
    if (status == STATUS_OK)
        status = graph_source(request->graph, tensor, &value, problem);
    if (status == STATUS_OK)
        status = as_it_is ? clone(request, &value, problem)
                          : graph_materialize(request->graph, value, dtype, device,
                                              &value, problem);
    if (status == STATUS_OK)
        status = executor_create(request->graph, 1, &value, &request->executor, problem);
    return status;
}

// A module's parameter keeps its storage: the body is written into it.
static enum status check_parameter(struct upload *upload, const struct binding *binding,
                                   struct problem *problem)
{
    const struct tensor *tensor = upload->tensor, *parameter = binding->tensor;
    enum dtype dtype = upload->has_dtype ? upload->dtype : tensor->dtype;
    char is[80], shall[80];
    upload->index = "...";
    shape_text(tensor->layout.ndim, tensor->layout.shape, is, sizeof is);
    shape_text(parameter->layout.ndim, parameter->layout.shape, shall, sizeof shall);
    if (strcmp(is, shall) != 0)
        return problem_set(problem, STATUS_SHAPE,
                           "%.128s is a parameter of a module, of shape %s; the body has "
                           "shape %s.",
                           binding->name, shall, is);
    if (dtype != parameter->dtype)
        return problem_set(problem, STATUS_DTYPE,
                           "%.128s is a parameter of a module, of dtype %s; the body has "
                           "%s (dtype=%s converts).",
                           binding->name, dtype_name(parameter->dtype), dtype_name(dtype),
                           dtype_name(parameter->dtype));
    if (upload->device != NULL && upload->device != tensor_device(parameter))
        return problem_set(
            problem, STATUS_DEVICE,
            "%.128s is a parameter of a module on %s; move the module in a "
            "program.",
            binding->name, tensor_device(parameter)->id);
    return STATUS_OK;
}

static enum status put_prepare(struct request *request, struct problem *problem)
{
    struct upload *upload = request->upload;
    struct binding binding;
    enum status status = find_optional(request, request->match.target, &binding,
                                       &upload->replaces, problem);
    if (status != STATUS_OK)
        return status;
    status = conditions_check(request, upload->replaces ? &binding : NULL, problem);
    if (status == STATUS_OK && upload->replaces)
        status = check_writable(&binding, problem);
    if (status == STATUS_OK && upload->replaces && binding.parameter &&
        upload->index == NULL)
        status = check_parameter(upload, &binding, problem);
    if (status == STATUS_OK && upload->replaces && upload->index != NULL &&
        registry_readonly(request->user->space, binding.tensor->storage))
        status =
            problem_set(problem, STATUS_FORBIDDEN,
                        "%.128s shares its storage with a read-only name.", binding.name);
    if (status == STATUS_OK && upload->index == NULL)
        status = prepare_whole(request, problem);
    else if (status == STATUS_OK && upload->replaces)
        status = prepare_part(request, &binding, problem);
    else if (status == STATUS_OK)
        status = find_target(request, &binding, problem); // says that there is none
    if (upload->replaces)
        binding_release(&binding);
    return status;
}

static struct http_response *put_complete(struct request *request,
                                          struct problem *problem)
{
    struct upload *upload = request->upload;
    struct name_space *space = request->user->space;
    const char *name = request->match.target;
    enum status status;
    if (request->executor != NULL) {
        status = executor_commit(request->executor, space, upload->index == NULL, &name,
                                 problem);
    } else {
        struct registry_change change = {.name = name,
                                         .tensor = upload->tensor,
                                         .keep_attributes = true,
                                         .group = request->rebinds[0].group};
        struct registry_commit commit = {.n_changes = 1, .changes = &change};
        status = registry_commit(space, &commit, problem);
    }
    if (status != STATUS_OK)
        return NULL;
    return describe_answer(request, upload->replaces ? 200 : 201, name);
}

static void put_release(struct request *request)
{
    tensor_release(request->upload->tensor);
    request->upload->tensor = NULL;
}

static const struct work put_work = {
    .prepare = put_prepare, .complete = put_complete, .release = put_release};

void handle_tensor_put(struct request *request)
{
    struct upload *upload = request->upload;
    if (finish_body(request, &request->problem) != STATUS_OK) {
        request_fail(request);
        return;
    }
    int device = upload->device != NULL ? upload->device->index : 0;
    if (upload->index != NULL) {
        work_write(request, request->match.target);
        device = work_device_of(request, request->match.target);
    } else {
        work_bind(request, request->match.target, NULL);
        if (strchr(request->match.target, '.') != NULL) // a parameter is written
            work_write(request, request->match.target);
    }
    work_start(request, &put_work, device);
}
