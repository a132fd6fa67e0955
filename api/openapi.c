// SPDX-License-Identifier: Apache-2.0
// GET /openapi.json: OpenAPI 3.1, written from the route table, the query parameters, the
// operations and the problem kinds, so that it cannot disagree with them. Made once, at
// the first request.
#include <stdlib.h>

#include "api/catalogue.h"
#include "api/formats/format.h"
#include "api/handlers.h"
#include "api/request.h"

struct text_page {
    struct text text;
};

static void add_string(struct text *text, const char *before, const char *value)
{
    text_string(text, before);
    text_quoted(text, value, strlen(value));
}

// "/v1/ops/{op}" -> "op"; false if the pattern has no variable.
static bool pattern_variable(const char *pattern, char *name, size_t size)
{
    const char *start = strchr(pattern, '{');
    size_t length = start != NULL ? strcspn(start + 1, "}") : 0;
    if (length == 0 || length >= size)
        return false;
    memcpy(name, start + 1, length);
    name[length] = '\0';
    return true;
}

static void write_parameters(struct text *text, const struct route *route)
{
    char name[32];
    const char *separator = "";
    text_literal(text, ", \"parameters\": [");
    if (pattern_variable(route->pattern, name, sizeof name)) {
        add_string(text, "{\"name\": ", name);
        text_literal(text, ", \"in\": \"path\", \"required\": true, \"schema\": "
                           "{\"type\": \"string\"}}");
        separator = ", ";
    }
    for (int i = 0; i < QUERY_COUNT; i++) {
        if (!(route->parameters >> i & 1))
            continue;
        text_string(text, separator);
        separator = ", ";
        add_string(text, "{\"name\": ", query_name((enum query_name)i));
        add_string(text, ", \"in\": \"query\", \"description\": ",
                   query_doc((enum query_name)i));
        text_literal(text, ", \"schema\": {\"type\": \"string\"}}");
    }
    text_literal(text, "]");
}

static void write_body(struct text *text, const struct route *route)
{
    if (route->body == BODY_NONE)
        return;
    text_literal(text, ", \"requestBody\": {\"required\": true, \"content\": {");
    if (route->body == BODY_JSON) {
        text_string(text,
                    strstr(route->pattern, "{op}") != NULL
                        ? "\"application/json\": {\"schema\": {\"$ref\": "
                          "\"#/components/schemas/Call\"}}"
                        : "\"application/json\": {\"schema\": {\"type\": \"object\"}}");
    } else if (route->body == BODY_PROGRAM) {
        text_literal(text, "\"text/plain\": {}, \"application/json\": {\"schema\": "
                           "{\"type\": \"object\", \"required\": [\"program\"]}}");
    } else {
        const char *separator = "";
        for (int i = 0; i < FORMAT_COUNT; i++) {
            if (!format_row((enum format)i)->readable)
                continue;
            add_string(text, separator, format_row((enum format)i)->media_type);
            text_literal(text, ": {}");
            separator = ", ";
        }
    }
    text_literal(text, "}}");
}

static void write_method(struct text *text, const struct route *route, const char *method)
{
    text_literal(text, "    \"");
    for (const char *c = method; *c != '\0'; c++) {
        char lower = (char)(*c | 0x20);
        text_add(text, &lower, 1);
    }
    add_string(text, "\": {\"summary\": ", route->doc);
    write_parameters(text, route);
    write_body(text, route);
    text_literal(text, ", \"responses\": {\"200\": {\"description\": \"Done.\"}, "
                       "\"default\": {\"$ref\": "
                       "\"#/components/responses/Problem\"}}}");
}

static void write_paths(struct text *text)
{
    text_literal(text, "  \"paths\": {\n");
    for (int i = 0; i < route_count; i++) {
        bool opens =
            i == 0 || strcmp(route_table[i].pattern, route_table[i - 1].pattern) != 0;
        if (opens) {
            text_string(text, i == 0 ? "" : "\n   },\n");
            add_string(text, "   ", route_table[i].pattern);
            text_literal(text, ": {\n");
        } else {
            text_literal(text, ",\n");
        }
        write_method(text, &route_table[i], method_name(route_table[i].method));
    }
    text_literal(text, "\n   }\n  },\n");
}

static void write_problems(struct text *text)
{
    text_literal(text,
                 "  \"components\": {\n   \"responses\": {\"Problem\": {\"description\": "
                 "\"A problem (RFC 9457).\", "
                 "\"content\": {\"application/problem+json\": {\"schema\": {\"$ref\": "
                 "\"#/components/schemas/Problem\"}}}}},\n   \"schemas\": {\n");
    text_literal(
        text,
        "    \"Problem\": {\"type\": \"object\", \"required\": [\"type\", \"title\", "
        "\"status\", "
        "\"detail\"], \"properties\": {\"type\": {\"type\": \"string\", \"enum\": [");
    for (int i = STATUS_OK + 1; i < STATUS_COUNT; i++) {
        text_string(text, i > STATUS_OK + 1 ? ", \"/problems/" : "\"/problems/");
        text_string(text, problem_kind((enum status)i)->kind);
        text_literal(text, "\"");
    }
    text_literal(
        text,
        "]}, \"title\": {\"type\": \"string\"}, \"status\": {\"type\": \"integer\"}, "
        "\"detail\": "
        "{\"type\": \"string\"}, \"nearest\": {\"type\": \"string\"}, \"line\": "
        "{\"type\": \"integer\"}, "
        "\"column\": {\"type\": \"integer\"}, \"pointer\": {\"type\": \"string\"}}},\n");
}

static void write_calls(struct text *text)
{
    text_literal(
        text,
        "    \"Call\": {\"type\": \"object\", \"additionalProperties\": false, "
        "\"properties\": {\"args\": "
        "{\"type\": \"array\"}, \"kwargs\": {\"type\": \"object\"}, \"out\": "
        "{\"description\": \"A name, or "
        "a list of names and nulls.\"}, \"if\": {\"type\": \"object\"}}}\n   }\n  },\n");
    text_literal(text, "  \"x-operations\": [");
    for (int i = 0; i < OP_COUNT; i++) {
        text_string(text, i > 0 ? ",\n   " : "\n   ");
        catalogue_write(text, op_row((enum op)i));
    }
    text_literal(text, "]\n");
}

static void write_contract(struct text *text, const struct api *api)
{
    text_literal(text, "{\n  \"openapi\": \"3.1.0\",\n  \"info\": {\"title\": "
                       "\"tensord\", \"description\": \"Tensor math "
                       "over plain HTTP.\", \"version\": ");
    text_quoted(text, api->options.version, strlen(api->options.version));
    text_literal(text, "},\n");
    write_paths(text);
    write_problems(text);
    write_calls(text);
    text_literal(text, "}\n");
}

void openapi_free(struct api *api)
{
    if (api->openapi != NULL)
        text_end(&api->openapi->text);
    free(api->openapi);
    api->openapi = NULL;
}

void handle_openapi(struct request *request)
{
    struct api *api = request->api;
    if (api->openapi == NULL && (api->openapi = calloc(1, sizeof *api->openapi)) != NULL)
        write_contract(&api->openapi->text, api);
    if (api->openapi == NULL || api->openapi->text.failed) {
        openapi_free(api);
        problem_set(&request->problem, STATUS_OUT_OF_MEMORY,
                    "No host memory for the answer.");
        request_fail(request);
        return;
    }
    struct text copy;
    text_begin(&copy, NULL, 0);
    text_add(&copy, api->openapi->text.data, api->openapi->text.length);
    request_answer_json(request, 200, &copy);
}
