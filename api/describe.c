// SPDX-License-Identifier: Apache-2.0
// Descriptions, written by hand: they are most of what a small request costs here.
#include "api/describe.h"

#include <stdlib.h>
#include <time.h>

#include "api/lang/image.h"
#include "api/version.h"

static enum status add_shared_with(const struct request *request, struct text *text,
                                   const struct binding *binding, struct problem *problem)
{
    char **names;
    int count;
    enum status status =
        registry_shared_with(request->user->space, binding->tensor->storage,
                             binding->name, &names, &count, problem);
    if (status != STATUS_OK)
        return status;
    text_literal(text, ", \"shared_with\": [");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            text_literal(text, ", ");
        text_quoted(text, names[i], strlen(names[i]));
        free(names[i]);
    }
    free(names);
    text_literal(text, "]");
    return STATUS_OK;
}

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void add_attributes(const struct request *request, struct text *text,
                           const struct binding *binding)
{
    char tag[ETAG_SIZE];
    struct version version = version_of(request->api, binding);
    size_t length = etag_write(tag, &version, NULL, NULL, NULL);
    text_literal(
        text,
        ", \"etag\": \"\\\""); // a tag has no other characters to escape than its quotes
    text_add(text, tag + 1, length - 2);
    text_literal(text, "\\\"\", \"created\": ");
    text_time(text, binding->created);
    text_literal(text, ", \"modified\": ");
    text_time(text, binding->modified);
    text_literal(text, ", \"readonly\": ");
    text_boolean(text, binding->readonly);
    text_literal(text, ", \"ttl\": ");
    if (binding->expires == 0)
        text_literal(text, "null");
    else
        text_seconds(text, binding->expires - seconds_now());
    text_literal(text, ", \"pinned\": ");
    text_boolean(text, binding->pinned);
}

enum status describe(const struct request *request, struct text *text,
                     const struct binding *binding, struct problem *problem)
{
    const struct tensor *tensor = binding->tensor;
    text_literal(text, "{\"name\": \""); // names have no characters to escape
    text_string(text, binding->name);
    text_literal(text, "\", \"dtype\": \"");
    text_string(text, dtype_name(tensor->dtype));
    text_literal(text, "\", \"shape\": ");
    text_integers(text, tensor->layout.ndim, tensor->layout.shape);
    text_literal(text, ", \"strides\": ");
    text_integers(text, tensor->layout.ndim, tensor->layout.strides);
    text_literal(text, ", \"device\": \"");
    text_string(text, tensor_device(tensor)->id);
    text_literal(text, "\", \"bytes\": ");
    text_integer(text, tensor_bytes(tensor));
    text_literal(text, ", \"storage_bytes\": ");
    text_integer(text, storage_bytes(tensor->storage));
    enum status status = add_shared_with(request, text, binding, problem);
    if (status != STATUS_OK)
        return status;
    add_attributes(request, text, binding);
    text_literal(text, "}");
    return STATUS_OK;
}

// Names below a module: its parameters.
static enum status add_parameters(const struct request *request, struct text *text,
                                  const char *module, struct problem *problem)
{
    char prefix[NAME_MAX_LENGTH + 2];
    size_t length = strlen(module);
    memcpy(prefix, module, length);
    memcpy(prefix + length, ".", 2);
    struct binding *bindings;
    int count;
    bool more;
    enum status status =
        registry_list(request->user->space, 1 << NAME_TENSOR, prefix, NULL,
                      LIST_LIMIT_MAX, &bindings, &count, &more, problem);
    if (status != STATUS_OK)
        return status;
    text_literal(text, ", \"parameters\": [");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            text_literal(text, ", ");
        text_quoted(text, bindings[i].name, strlen(bindings[i].name));
    }
    text_literal(text, "]");
    binding_array_free(bindings, count);
    return STATUS_OK;
}

// The description of a tensor, with its kind behind its name.
static enum status describe_tensor_name(const struct request *request, struct text *text,
                                        const struct binding *binding,
                                        struct problem *problem)
{
    char buffer[1024];
    struct text whole;
    text_begin(&whole, buffer, sizeof buffer);
    enum status status = describe(request, &whole, binding, problem);
    size_t head = strlen("{\"name\": \"\"") + strlen(binding->name);
    if (status == STATUS_OK && !whole.failed) {
        text_add(text, whole.data, head);
        text_literal(text, ", \"kind\": \"tensor\"");
        text_add(text, whole.data + head, whole.length - head);
    }
    text_end(&whole);
    return status;
}

enum status describe_name(const struct request *request, struct text *text,
                          const struct binding *binding, struct problem *problem)
{
    if (binding->tensor != NULL)
        return describe_tensor_name(request, text, binding, problem);
    text_literal(text, "{\"name\": \"");
    text_string(text, binding->name);
    text_literal(text, "\", \"kind\": \"");
    text_string(text, name_kind_text(binding->kind));
    text_literal(text, "\", \"type\": \"");
    text_string(text, image_type_text(binding->object));
    text_literal(text, "\"");
    enum status status = STATUS_OK;
    if (binding->kind == NAME_MODULE)
        status = add_parameters(request, text, binding->name, problem);
    add_attributes(request, text, binding);
    text_literal(text, "}");
    return status;
}

struct http_response *describe_answer(const struct request *request, int status,
                                      const char *name)
{
    char buffer[1024];
    struct text text;
    struct binding binding;
    struct problem problem;
    if (registry_find(request->user->space, name, &binding, &problem) != STATUS_OK)
        return NULL;
    text_begin(&text, buffer, sizeof buffer);
    enum status described = describe(request, &text, &binding, &problem);
    binding_release(&binding);
    if (described != STATUS_OK) {
        text_end(&text);
        return NULL;
    }
    text_literal(&text, "\n");
    return answer_json(request, status, &text);
}

struct http_response *answer_tensor_headers(struct http_response *response,
                                            enum dtype dtype, int ndim,
                                            const int64_t *shape, const char *device)
{
    char buffer[512];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "(");
    for (int i = 0; i < ndim; i++) {
        if (i > 0)
            text_literal(&text, " ");
        text_integer(&text, shape[i]);
    }
    text_add(&text, ")", 2);
    response = answer_header(response, "Tensor-Dtype", dtype_name(dtype));
    response = answer_header(response, "Tensor-Shape", text.failed ? "()" : text.data);
    text_end(&text);
    char place[24];
    text_begin(&text, place, sizeof place);
    text_literal(&text, "\"");
    text_string(&text, device);
    text_add(&text, "\"", 2);
    return answer_header(response, "Tensor-Device", place);
}
