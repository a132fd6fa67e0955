// SPDX-License-Identifier: Apache-2.0
// What a request body is: by format=, Content-Type, or its first bytes. Pure but for the
// headers; HTTP thread.
#ifndef TENSORD_API_BODY_H
#define TENSORD_API_BODY_H

#include "api/formats/format.h"

struct request;

// Bytes that may be needed to recognise a body; longer blank beginnings are taken as
// JSON.
enum { BODY_SNIFF = 256 };

// The headers of a PUT. *known: they decide; else the first bytes must. STATUS_MEDIA_TYPE
// names the curl line to use.
enum status body_recognize(const struct request *request, bool *known, enum format *out,
                           struct problem *problem);
// The first count bytes (complete: there are no more). *known false: more are needed.
enum status body_sniff(const struct request *request, const char *bytes, size_t count,
                       bool complete, bool *known, enum format *out,
                       struct problem *problem);
// The headers of a JSON request: application/json, merge-patch, no or an unspecific type.
enum status body_check_json(const struct request *request, struct problem *problem);
// The headers of a program: JSON, or text of any kind.
enum status body_check_program(const struct request *request, struct problem *problem);
bool body_is_json(const struct request *request); // says Content-Type
// curl's -d: it drops the newlines of a file.
bool body_is_form(const struct request *request);
#endif
