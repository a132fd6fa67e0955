// SPDX-License-Identifier: Apache-2.0
// Recognising bodies (DESIGN "Bodies"). curl says application/x-www-form-urlencoded of
// everything sent with -d or
// --data-binary, so that this type says nothing; it is never form-decoded.
#include "api/body.h"

#include <strings.h>

#include "api/request.h"

enum media {
    MEDIA_NONE,
    MEDIA_JSON,
    MEDIA_NPY,
    MEDIA_CSV,
    MEDIA_BYTES,
    MEDIA_PATCH,
    MEDIA_TEXT, // of another kind than plain
    MEDIA_OTHER
};

static bool type_is(const char *type, size_t length, const char *name)
{
    return strlen(name) == length && strncasecmp(type, name, length) == 0;
}

static enum media read_type(const char *header)
{
    if (header == NULL)
        return MEDIA_NONE;
    header += strspn(header, " \t");
    size_t length = strcspn(header, "; \t");
    if (length == 0 || type_is(header, length, "text/plain") ||
        type_is(header, length, "application/x-www-form-urlencoded"))
        return MEDIA_NONE;
    if (type_is(header, length, "application/json"))
        return MEDIA_JSON;
    if (type_is(header, length, "application/merge-patch+json"))
        return MEDIA_PATCH;
    if (type_is(header, length, "application/x-npy") ||
        type_is(header, length, "application/npy"))
        return MEDIA_NPY;
    if (type_is(header, length, "text/csv"))
        return MEDIA_CSV;
    if (strncasecmp(header, "text/", 5) == 0 ||
        type_is(header, length, "application/x-python"))
        return MEDIA_TEXT;
    return type_is(header, length, "application/octet-stream") ? MEDIA_BYTES
                                                               : MEDIA_OTHER;
}

static enum status refuse(const struct request *request, const char *what,
                          struct problem *problem)
{
    const char *name = request->match.target;
    return problem_set(problem, STATUS_MEDIA_TYPE,
                       "%s Read are json, npy, csv and raw: curl -T x.npy "
                       "localhost:8080/v1/tensors/%.40s.npy, or "
                       "curl -X PUT --data-binary @x.bin "
                       "'localhost:8080/v1/tensors/%.40s?dtype=float32&shape=2,3'.",
                       what, name, name);
}

static enum status check_encoding(const struct request *request, struct problem *problem)
{
    const char *encoding = request_header(request, "Content-Encoding");
    if (encoding == NULL || strcasecmp(encoding, "identity") == 0)
        return STATUS_OK;
    return refuse(
        request,
        "Bodies with a Content-Encoding are not read; send the bytes as they are.",
        problem);
}

static enum status recognize_format(const struct request *request, const char *name,
                                    enum format *out, struct problem *problem)
{
    if (format_parse(name, strlen(name), out) && format_row(*out)->readable)
        return STATUS_OK;
    return refuse(request,
                  "A body of the format that format= or the suffix names is not read.",
                  problem);
}

enum status body_recognize(const struct request *request, bool *known, enum format *out,
                           struct problem *problem)
{
    const struct query *query = &request->query;
    enum status status = check_encoding(request, problem);
    if (status != STATUS_OK)
        return status;
    *known = true;
    if (query->values[QUERY_FORMAT] != NULL)
        return recognize_format(request, query->values[QUERY_FORMAT], out, problem);
    switch (read_type(request_header(request, "Content-Type"))) {
    case MEDIA_JSON:
        *out = FORMAT_JSON;
        return STATUS_OK;
    case MEDIA_NPY:
        *out = FORMAT_NPY;
        return STATUS_OK;
    case MEDIA_CSV:
        *out = FORMAT_CSV;
        return STATUS_OK;
    case MEDIA_BYTES:
        if (query->values[QUERY_DTYPE] == NULL)
            break;
        *out = FORMAT_RAW;
        return STATUS_OK;
    case MEDIA_NONE:
        break;
    case MEDIA_PATCH:
    case MEDIA_TEXT:
    case MEDIA_OTHER:
        return refuse(request, "A body of this Content-Type is not read.", problem);
    }
    *out = FORMAT_RAW;
    *known = query->values[QUERY_SHAPE] != NULL;
    return STATUS_OK;
}

enum status body_sniff(const struct request *request, const char *bytes, size_t count,
                       bool complete, bool *known, enum format *out,
                       struct problem *problem)
{
    static const char magic[] = "\x93NUMPY";
    size_t compared = count < sizeof magic - 1 ? count : sizeof magic - 1, blank = 0;
    *known = false;
    if (count > 0 && memcmp(bytes, magic, compared) == 0) {
        *known = compared == sizeof magic - 1 || complete;
        *out = FORMAT_NPY;
        return STATUS_OK;
    }
    while (blank < count && (bytes[blank] == ' ' || bytes[blank] == '\n' ||
                             bytes[blank] == '\r' || bytes[blank] == '\t'))
        blank++;
    *out = FORMAT_JSON;
    if (blank == count && !complete) {
        *known = count >= BODY_SNIFF;
        return STATUS_OK;
    }
    *known = true;
    if (blank < count &&
        (strchr("[{\"-", bytes[blank]) != NULL ||
         (bytes[blank] >= '0' && bytes[blank] <= '9')) &&
        bytes[blank] != '\0')
        return STATUS_OK;
    return refuse(request,
                  count == 0
                      ? "The body is empty."
                      : "The body is neither npy nor JSON, and nothing says what it is.",
                  problem);
}

bool body_is_json(const struct request *request)
{
    return read_type(request_header(request, "Content-Type")) == MEDIA_JSON;
}

bool body_is_form(const struct request *request)
{
    const char *type = request_header(request, "Content-Type");
    return type != NULL &&
           strncasecmp(type, "application/x-www-form-urlencoded", 33) == 0;
}

enum status body_check_program(const struct request *request, struct problem *problem)
{
    static const char *const line =
        "A program is text, or JSON with the member program: curl "
        "localhost:8080/v1/eval --data-binary @cell.py.";
    const char *encoding = request_header(request, "Content-Encoding");
    if (encoding != NULL && strcasecmp(encoding, "identity") != 0)
        return problem_set(problem, STATUS_MEDIA_TYPE,
                           "Bodies with a Content-Encoding are not read. %s", line);
    switch (read_type(request_header(request, "Content-Type"))) {
    case MEDIA_NONE:
    case MEDIA_JSON:
    case MEDIA_BYTES:
    case MEDIA_TEXT:
        return STATUS_OK;
    case MEDIA_PATCH:
    case MEDIA_NPY:
    case MEDIA_CSV:
    case MEDIA_OTHER:
        break;
    }
    return problem_set(problem, STATUS_MEDIA_TYPE, "%s", line);
}

enum status body_check_json(const struct request *request, struct problem *problem)
{
    const char *encoding = request_header(request, "Content-Encoding");
    if (encoding != NULL && strcasecmp(encoding, "identity") != 0)
        return problem_set(problem, STATUS_MEDIA_TYPE,
                           "Bodies with a Content-Encoding are not read; send plain "
                           "JSON: curl -d '{...}'.");
    switch (read_type(request_header(request, "Content-Type"))) {
    case MEDIA_NONE:
    case MEDIA_JSON:
    case MEDIA_PATCH:
    case MEDIA_BYTES:
        return STATUS_OK;
    case MEDIA_NPY:
    case MEDIA_CSV:
    case MEDIA_TEXT:
    case MEDIA_OTHER:
        break;
    }
    return problem_set(
        problem, STATUS_MEDIA_TYPE,
        "The body of this request is JSON (application/json): curl -d '{...}'.");
}
