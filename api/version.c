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
    enum status status = registry_find(request->api->space, name, out, problem);
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
        registry_find(request->api->space, request->match.target, out, problem);
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
