// SPDX-License-Identifier: Apache-2.0
// GET and PATCH of /v1/tensors/{name}/meta: the description, and a merge patch (RFC 7396)
// of what can be changed.
#include <math.h>
#include <time.h>

#include "api/describe.h"
#include "api/document.h"
#include "api/handlers.h"
#include "api/version.h"
#include "api/work.h"

static struct http_response *meta_complete(struct request *request,
                                           struct problem *problem)
{
    struct binding binding;
    char buffer[1024];
    struct text text;
    if (find_target(request, &binding, problem) != STATUS_OK)
        return NULL;
    text_begin(&text, buffer, sizeof buffer);
    enum status status = describe(request, &text, &binding, problem);
    binding_release(&binding);
    if (status != STATUS_OK) {
        text_end(&text);
        return NULL;
    }
    text_literal(&text, "\n");
    return answer_json(request, 200, &text);
}

static const struct work meta_work = {.complete = meta_complete};

void handle_meta_get(struct request *request)
{
    work_read(request, request->match.target);
    work_start(request, &meta_work, 0);
}

// ---- PATCH

struct patch {
    const char *name; // NULL: keeps its name
    bool set_ttl;
    double ttl; // seconds; 0: never ends
    struct registry_attributes attributes;
};

static enum status patch_name(struct request *request, const struct json_value *value,
                              struct patch *patch, struct problem *problem)
{
    enum status status = document_string(value, "name", problem);
    if (status == STATUS_OK)
        status = name_check(value->text, value->length, problem);
    if (status != STATUS_OK)
        return status;
    patch->name = document_copy(request, value, problem);
    if (patch->name == NULL)
        return problem->status;
    if (strcmp(patch->name, request->match.target) == 0)
        patch->name = NULL; // it is called so already
    return STATUS_OK;
}

// true, false, or null for the default (false).
static enum status patch_flag(const struct json_value *value, const char *member,
                              bool *set, bool *flag, struct problem *problem)
{
    if (value->type != JSON_TRUE && value->type != JSON_FALSE && value->type != JSON_NULL)
        return problem_set(problem, STATUS_MALFORMED, "%s must be true or false.",
                           member);
    *set = true;
    *flag = value->type == JSON_TRUE;
    return STATUS_OK;
}

static enum status patch_ttl(const struct json_value *value, struct patch *patch,
                             struct problem *problem)
{
    patch->set_ttl = true;
    patch->ttl = 0;
    if (value->type == JSON_NULL)
        return STATUS_OK;
    struct scalar scalar;
    if (value->type != JSON_NUMBER)
        return problem_set(problem, STATUS_MALFORMED,
                           "ttl must be a number of seconds or null.");
    enum status status = json_scalar(value, &scalar, problem);
    if (status != STATUS_OK)
        return status;
    patch->ttl = scalar.kind == SCALAR_FLOAT ? scalar.f : (double)scalar.i;
    if (!(patch->ttl > 0) || patch->ttl > 1e10)
        return problem_set(
            problem, STATUS_VALUE,
            "ttl must be positive seconds, or null for a name that stays.");
    return STATUS_OK;
}

static enum status patch_parse(struct request *request, struct patch *patch,
                               struct problem *problem)
{
    static const char *const names[] = {"name", "readonly", "ttl", "pinned"};
    const struct json_value *values[4];
    struct json json;
    struct registry_attributes *attributes = &patch->attributes;
    enum status status = document_parse(request, &json, 2, problem);
    if (status == STATUS_OK)
        status = document_members(&json, &json.values[0], 4, names, values, problem);
    if (status == STATUS_OK && values[0] != NULL)
        status = patch_name(request, values[0], patch, problem);
    if (status == STATUS_OK && values[1] != NULL)
        status = patch_flag(values[1], "readonly", &attributes->set_readonly,
                            &attributes->readonly, problem);
    if (status == STATUS_OK && values[2] != NULL)
        status = patch_ttl(values[2], patch, problem);
    if (status == STATUS_OK && values[3] != NULL)
        status = patch_flag(values[3], "pinned", &attributes->set_pinned,
                            &attributes->pinned, problem);
    json_free(&json);
    return status;
}

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Attributes cannot fail once the name is known to be there, so that renaming goes first.
static struct http_response *patch_complete(struct request *request,
                                            struct problem *problem)
{
    struct patch *patch = request->state;
    struct name_space *space = request->user->space;
    const char *name = request->match.target;
    struct binding binding;
    if (find_target(request, &binding, problem) != STATUS_OK)
        return NULL;
    enum status status = conditions_check(request, &binding, problem);
    if (status == STATUS_OK && patch->ttl > 0 && binding.parameter)
        status =
            problem_set(problem, STATUS_CONFLICT,
                        "\"%s\" is a parameter of a module: its name goes with it", name);
    binding_release(&binding);
    if (status == STATUS_OK && patch->name != NULL) {
        status = registry_rename(space, name, patch->name, problem);
        name = patch->name;
    }
    if (patch->set_ttl) {
        patch->attributes.set_expires = true;
        patch->attributes.expires = patch->ttl > 0 ? seconds_now() + patch->ttl : 0;
    }
    if (status == STATUS_OK)
        status = registry_set_attributes(space, name, &patch->attributes, problem);
    return status == STATUS_OK ? describe_answer(request, 200, name) : NULL;
}

static const struct work patch_work = {.complete = patch_complete};

void handle_meta_patch(struct request *request)
{
    struct patch *patch = request_allocate(request, sizeof *patch);
    if (patch != NULL)
        *patch = (struct patch){0};
    if (patch == NULL || patch_parse(request, patch, &request->problem) != STATUS_OK) {
        request_fail(request);
        return;
    }
    request->state = patch;
    conditions_read(request);
    work_read(request, request->match.target);
    work_unbind(request, request->match.target);
    if (patch->name != NULL)
        work_bind(request, patch->name, request->match.target);
    work_start(request, &patch_work, 0);
}
