// SPDX-License-Identifier: Apache-2.0
// Problem documents (RFC 9457) and the pages behind their type URIs.
#include <stdlib.h>

#include "api/handlers.h"
#include "api/negotiate.h"
#include "api/request.h"

static void add_text(struct text *text, const char *name, const char *value)
{
    if (*value == '\0')
        return;
    text_literal(text, ",\n  \"");
    text_string(text, name);
    text_literal(text, "\": ");
    text_quoted(text, value, strlen(value));
}

static void add_number(struct text *text, const char *name, int64_t value, int64_t least)
{
    if (value < least)
        return;
    text_literal(text, ",\n  \"");
    text_string(text, name);
    text_literal(text, "\": ");
    text_integer(text, value);
}

// Length of the item at the start of list: "(2, 3)" with its parentheses, or up to a
// space.
static size_t item_length(const char *list)
{
    if (*list == '(') {
        size_t length = strcspn(list, ")");
        return list[length] == ')' ? length + 1 : length;
    }
    return strcspn(list, " ");
}

// "float32 int64" and "(2, 3) (4,)" become JSON lists.
static void add_list(struct text *text, const char *name, const char *list)
{
    if (*list == '\0')
        return;
    text_literal(text, ",\n  \"");
    text_string(text, name);
    text_literal(text, "\": [");
    for (bool first = true; *list != '\0'; first = false) {
        size_t length = item_length(list);
        if (!first)
            text_literal(text, ", ");
        text_quoted(text, list, length);
        list += length;
        list += strspn(list, " ");
    }
    text_literal(text, "]");
}

static void write_document(struct text *text, const struct problem *problem)
{
    const struct problem_kind *kind = problem_kind(problem->status);
    text_literal(text, "{\n  \"type\": \"/problems/");
    text_string(text, kind->kind);
    text_literal(text, "\",\n  \"title\": ");
    text_quoted(text, kind->title, strlen(kind->title));
    text_literal(text, ",\n  \"status\": ");
    text_integer(text, kind->http_status);
    add_text(text, "detail",
             problem->detail[0] != '\0' ? problem->detail : kind->meaning);
    add_text(text, "pointer", problem->pointer);
    add_number(text, "line", problem->line, 1);
    add_number(text, "column", problem->column, 1);
    add_text(text, "nearest", problem->nearest);
    add_list(text, "shapes", problem->shapes);
    add_list(text, "dtypes", problem->dtypes);
    add_list(text, "devices", problem->devices);
    add_number(text, "required_bytes", problem->required_bytes, 0);
    add_number(text, "available_bytes", problem->available_bytes, 0);
    add_number(text, "retry_after", problem->retry_after, 1);
    text_literal(text, "\n}\n");
}

static struct http_response *add_retry_after(struct http_response *response,
                                             const struct problem *problem,
                                             int http_status)
{
    int seconds = problem->retry_after > 0 ? problem->retry_after
                  : http_status == 503     ? 1
                                           : 0;
    if (seconds == 0)
        return response;
    char digits[24];
    struct text text;
    text_begin(&text, digits, sizeof digits);
    text_integer(&text, seconds);
    text_add(&text, "", 1);
    return answer_header(response, "Retry-After", digits);
}

struct http_response *problem_answer(const struct problem *problem, unsigned allowed)
{
    char buffer[2048], methods[64];
    struct text text;
    int status = problem_kind(problem->status)->http_status;
    text_begin(&text, buffer, sizeof buffer);
    write_document(&text, problem);
    struct http_response *response =
        text.failed ? NULL : http_response_copy(status, text.data, text.length);
    text_end(&text);
    response = answer_header(response, "Content-Type", "application/problem+json");
    response = answer_header(response, "Cache-Control", "no-store");
    if (status == 405) {
        methods_text(allowed, methods, sizeof methods);
        response = answer_header(response, "Allow", methods);
    }
    return add_retry_after(response, problem, status);
}

// ---- GET /problems/{kind}

static const struct problem_kind *find_kind(const char *name)
{
    for (int i = STATUS_OK + 1; i < STATUS_COUNT; i++)
        if (strcmp(problem_kind((enum status)i)->kind, name) == 0)
            return problem_kind((enum status)i);
    return NULL;
}

static void write_page_json(struct text *text, const struct problem_kind *kind)
{
    text_literal(text, "{\"type\": \"/problems/");
    text_string(text, kind->kind);
    text_literal(text, "\", \"title\": ");
    text_quoted(text, kind->title, strlen(kind->title));
    text_literal(text, ", \"status\": ");
    text_integer(text, kind->http_status);
    text_literal(text, ", \"meaning\": ");
    text_quoted(text, kind->meaning, strlen(kind->meaning));
    text_literal(text, "}\n");
}

static void write_page_text(struct text *text, const struct problem_kind *kind)
{
    text_string(text, kind->kind);
    text_literal(text, " (HTTP ");
    text_integer(text, kind->http_status);
    text_literal(text, "): ");
    text_string(text, kind->title);
    text_literal(text, ".\n\n");
    text_string(text, kind->meaning);
    text_literal(text, "\n");
}

void handle_problem_page(struct request *request)
{
    const struct problem_kind *kind = find_kind(request->match.target);
    if (kind == NULL) {
        problem_set(&request->problem, STATUS_NOT_FOUND,
                    "There is no kind of problem of that name.");
        request_fail(request);
        return;
    }
    char buffer[1024];
    struct text text;
    enum format format;
    const char *accept = request_header(request, "Accept");
    text_begin(&text, buffer, sizeof buffer);
    bool json = !negotiate_html(accept) &&
                negotiate_format(NULL, accept, 1u << FORMAT_JSON | 1u << FORMAT_TEXT,
                                 &format, &request->problem) == STATUS_OK &&
                format == FORMAT_JSON;
    problem_clear(&request->problem);
    if (json)
        write_page_json(&text, kind);
    else
        write_page_text(&text, kind);
    struct http_response *response = answer_text(
        request, 200, json ? "application/json" : "text/plain; charset=utf-8", &text);
    request_answer(request, answer_header(response, "Vary", "Accept"));
}
