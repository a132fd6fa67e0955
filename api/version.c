// SPDX-License-Identifier: Apache-2.0
// Bindings as the URL names them, their versions, and the conditions on both.
#include "api/version.h"

struct version version_of(const struct api *api, const struct binding *binding)
{
    return (struct version){
        .boot = api->boot, .serial = binding->serial, .writes = binding->writes};
}

void conditions_read(struct request *request)
{
    request->if_match = request_header(request, "If-Match");
    request->if_none_match = request_header(request, "If-None-Match");
}

enum status conditions_check(const struct request *request, const struct binding *binding,
                             struct problem *problem)
{
    if (request->if_match == NULL && request->if_none_match == NULL)
        return STATUS_OK;
    struct version version = {0};
    if (binding != NULL)
        version = version_of(request->api, binding);
    const char *match = request->if_match, *none = request->if_none_match;
    if (match != NULL && (binding == NULL || !etag_names_version(match, &version, true)))
        return problem_set(problem, STATUS_PRECONDITION,
                           "If-Match names another version than %.128s has now.",
                           request->match.target);
    if (none != NULL && binding != NULL && etag_names_version(none, &version, false))
        return problem_set(problem, STATUS_PRECONDITION,
                           "If-None-Match: %.128s exists%s.", request->match.target,
                           none[0] == '*' ? " already" : " in that version");
    return STATUS_OK;
}

enum status find_optional(const struct request *request, const char *name,
                          struct binding *out, bool *found, struct problem *problem)
{
    enum status status = registry_find(request->user->space, name, out, problem);
    *found = status == STATUS_OK;
    if (status != STATUS_UNDEFINED)
        return status;
    problem_clear(problem);
    return STATUS_OK;
}

enum status find_target(const struct request *request, struct binding *out,
                        struct problem *problem)
{
    enum status status =
        registry_find(request->user->space, request->match.target, out, problem);
    if (status == STATUS_UNDEFINED)
        status = problem->status = STATUS_NOT_FOUND; // the URL names it; `nearest` stays
    return status;
}

enum status check_writable(const struct binding *binding, struct problem *problem)
{
    if (!binding->readonly)
        return STATUS_OK;
    return problem_set(
        problem, STATUS_FORBIDDEN,
        "%.128s is read-only; PATCH its meta with {\"readonly\": false} to write it.",
        binding->name);
}

// ---- Conditions in a body

enum status name_conditions_parse(struct request *request, const struct json *json,
                                  const struct json_value *value,
                                  struct name_conditions *out, struct problem *problem)
{
    *out = (struct name_conditions){.count = 0};
    if (value == NULL)
        return STATUS_OK;
    if (value->type != JSON_OBJECT)
        return problem_set(problem, STATUS_MALFORMED,
                           "if is an object of names and etags (or null).");
    out->items = request_allocate(request, value->count * sizeof *out->items);
    if (out->items == NULL) {
        *problem = request->problem;
        return problem->status;
    }
    const struct json_value *name = json_first(value);
    for (uint32_t i = 0; i < value->count; i++) {
        const struct json_value *tag = json_next(json, name);
        if (tag->type != JSON_STRING && tag->type != JSON_NULL)
            return problem_set(problem, STATUS_MALFORMED,
                               "The etag of %.60s in if is a string or null.",
                               name->text);
        out->items[out->count++] = (struct name_condition){
            .name = name->text, .tag = tag->type == JSON_STRING ? tag->text : NULL};
        name = json_next(json, tag);
    }
    return STATUS_OK;
}

static bool holds(const struct request *request, const struct name_condition *condition)
{
    struct binding binding;
    if (!registry_lookup_any(request->user->space, condition->name, &binding))
        return condition->tag == NULL;
    struct version version = version_of(request->api, &binding);
    binding_release(&binding);
    return condition->tag != NULL && etag_names_version(condition->tag, &version, true);
}

enum status name_conditions_check(const struct request *request,
                                  const struct name_conditions *conditions,
                                  struct problem *problem)
{
    for (int i = 0; i < conditions->count; i++) {
        const struct name_condition *condition = &conditions->items[i];
        if (!holds(request, condition))
            return problem_set(
                problem, STATUS_PRECONDITION, "if: %.128s %s.", condition->name,
                condition->tag == NULL ? "exists"
                                       : "has another version, or is not there");
    }
    return STATUS_OK;
}
