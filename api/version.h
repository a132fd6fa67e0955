// SPDX-License-Identifier: Apache-2.0
// Conditions on versions: If-Match and If-None-Match against a binding. Checked when the
// headers come (to refuse early) and again when the request's turn has come (which
// decides).
#ifndef TENSORD_API_VERSION_H
#define TENSORD_API_VERSION_H

#include "api/etag.h"
#include "api/json.h"
#include "api/request.h"

struct version version_of(const struct api *api, const struct binding *binding);
// Keeps the conditions' headers in the request. HTTP thread, before work_start.
void conditions_read(struct request *request);
// Conditions of a request that writes; binding NULL: the name is free.
// STATUS_PRECONDITION.
enum status conditions_check(const struct request *request, const struct binding *binding,
                             struct problem *problem);
// The binding of the name in the URL, a reference of the caller's. STATUS_NOT_FOUND.
enum status find_target(const struct request *request, struct binding *out,
                        struct problem *problem);
// Like find_target, but a free name is *found false and no error.
enum status find_optional(const struct request *request, const char *name,
                          struct binding *out, bool *found, struct problem *problem);
// STATUS_FORBIDDEN if the binding is read-only.
enum status check_writable(const struct binding *binding, struct problem *problem);

// ---- "if": {"z": etag or null} in a body: what If-Match and If-None-Match: * are for
// the name in the URL. Strings stay in the body.
struct name_conditions {
    int count;
    struct name_condition {
        const char *name, *tag; // tag NULL: must not exist
    } * items;
};
// value: the member, or NULL. STATUS_MALFORMED.
enum status name_conditions_parse(struct request *request, const struct json *json,
                                  const struct json_value *value,
                                  struct name_conditions *out, struct problem *problem);
// At the request's turn. STATUS_PRECONDITION.
enum status name_conditions_check(const struct request *request,
                                  const struct name_conditions *conditions,
                                  struct problem *problem);
#endif
