// SPDX-License-Identifier: Apache-2.0
// The JSON body of a request as a document whose members are known.
#ifndef TENSORD_API_DOCUMENT_H
#define TENSORD_API_DOCUMENT_H

#include "api/json.h"
#include "api/request.h"

// Parses request->body into an object; containers deeper than depth stay opaque.
// STATUS_MALFORMED if it is something else. json_free in any case.
enum status document_parse(struct request *request, struct json *json, int depth,
                           struct problem *problem);
// Finds each member in names (n of them); values[i] is NULL where it is absent.
// STATUS_MALFORMED for another member.
enum status document_members(const struct json *json, const struct json_value *object,
                             int n, const char *const *names,
                             const struct json_value **values, struct problem *problem);
// A string; STATUS_MALFORMED for another type. what: for the detail.
enum status document_string(const struct json_value *value, const char *what,
                            struct problem *problem);
// A copy that lives as long as the request; NULL with problem filled.
const char *document_copy(struct request *request, const struct json_value *value,
                          struct problem *problem);
#endif
