// SPDX-License-Identifier: Apache-2.0
// Freeing names: of tensors, and of anything.
#include <stdlib.h>

#include "api/handlers.h"
#include "api/version.h"
#include "api/work.h"

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

// Bytes of the storage that goes with the name.
static enum status bytes_of(const struct request *request, const struct binding *binding,
                            int64_t *bytes, struct problem *problem)
{
    char **others = NULL;
    int n_others = 0;
    *bytes = 0;
    if (binding->tensor == NULL)
        return STATUS_OK;
    enum status status =
        registry_shared_with(request->user->space, binding->tensor->storage,
                             binding->name, &others, &n_others, problem);
    if (status == STATUS_OK && n_others == 0)
        *bytes = storage_bytes(binding->tensor->storage);
    for (int i = 0; i < n_others; i++)
        free(others[i]);
    free(others);
    return status;
}

static struct http_response *
delete_binding(struct request *request, struct binding *binding, struct problem *problem)
{
    int64_t bytes = 0;
    enum status status = conditions_check(request, binding, problem);
    if (status == STATUS_OK)
        status = bytes_of(request, binding, &bytes, problem);
    if (status == STATUS_OK) {
        struct registry_change change = {.name = binding->name};
        struct registry_commit commit = {.n_changes = 1, .changes = &change};
        status = registry_commit(request->user->space, &commit, problem);
    }
    binding_release(binding);
    return status == STATUS_OK ? deleted_answer(request, 1, bytes) : NULL;
}

static struct http_response *delete_complete(struct request *request,
                                             struct problem *problem)
{
    struct binding binding;
    if (find_target(request, &binding, problem) != STATUS_OK)
        return NULL;
    return delete_binding(request, &binding, problem);
}

static const struct work delete_work = {.complete = delete_complete};

void handle_tensor_delete(struct request *request)
{
    conditions_read(request);
    work_unbind(request, request->match.target);
    work_start(request, &delete_work, 0);
}

static struct http_response *delete_name_complete(struct request *request,
                                                  struct problem *problem)
{
    struct binding binding;
    if (!registry_lookup_any(request->user->space, request->match.target, &binding)) {
        problem_set(problem, STATUS_NOT_FOUND,
                    "Nothing is named %.128s; /v1/names lists all.",
                    request->match.target);
        return NULL;
    }
    return delete_binding(request, &binding, problem);
}

static const struct work delete_name_work = {.complete = delete_name_complete};

// What the name stands for may hold tensors that other names share (a module's
// parameters, a list): it meets everything.
void handle_name_delete(struct request *request)
{
    conditions_read(request);
    work_write_all(request);
    work_start(request, &delete_name_work, 0);
}

static struct http_response *delete_prefix_complete(struct request *request,
                                                    struct problem *problem)
{
    int64_t count, bytes;
    if (registry_delete_prefix(request->user->space, request->query.values[QUERY_PREFIX],
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
