// SPDX-License-Identifier: Apache-2.0
// GET /healthz, /readyz and /v1: is it alive, does it serve, what is it.
#include "api/handlers.h"
#include "api/request.h"

void handle_health(struct request *request)
{
    char buffer[64];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "{\"status\": \"ok\"}\n");
    request_answer_json(request, 200, &text);
}

void handle_ready(struct request *request)
{
    struct queue_facts facts;
    queue_facts(request->api->options.queue, 0, &facts);
    if (!facts.draining) {
        handle_health(request);
        return;
    }
    problem_set(&request->problem, STATUS_DRAINING,
                "The server is stopping; new work is not accepted.");
    request->problem.retry_after = 1;
    request_fail(request);
}

static void add_number(struct text *text, const char *before, int64_t value)
{
    text_string(text, before);
    text_integer(text, value);
}

static void write_limits(struct text *text, const struct api *api)
{
    struct ledger_usage usage;
    ledger_usage(api->options.ledger, 0, &usage);
    add_number(text, "  \"limits\": {\"body_bytes\": ", api->options.max_body);
    add_number(text, ", \"request_bytes\": ",
               api->options.max_body < CALL_BODY_MAX ? api->options.max_body
                                                     : CALL_BODY_MAX);
    add_number(text, ", \"memory_bytes\": ", usage.limit);
    add_number(text, ", \"dimensions\": ", TENSOR_MAX_NDIM);
    add_number(text, ", \"name_length\": ", NAME_MAX_LENGTH);
    add_number(text, ", \"list\": ", LIST_LIMIT_MAX);
    add_number(text, ", \"program_steps\": ", api->options.max_steps);
    add_number(text, ", \"program_bytes\": ", api->options.max_source);
    add_number(text, ", \"program_nesting\": ", api->options.max_nesting);
    text_literal(text, "},\n");
}

static void write_devices(struct text *text, const struct api *api)
{
    text_literal(text, "  \"devices\": [");
    for (int i = 0; i < api->options.n_devices; i++) {
        char id[16];
        api_device_id(api, i, id);
        if (i > 0)
            text_literal(text, ", ");
        text_quoted(text, id, strlen(id));
    }
    text_literal(text, "],\n");
    const char *note = api->options.device_note;
    if (note != NULL) {
        text_literal(text, "  \"device_note\": ");
        text_quoted(text, note, strlen(note));
        text_literal(text, ",\n");
    }
}

void handle_about(struct request *request)
{
    const struct api *api = request->api;
    char buffer[2048];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "{\n  \"server\": \"tensord\",\n  \"version\": ");
    text_quoted(&text, api->options.version, strlen(api->options.version));
    text_literal(&text, ",\n");
    write_limits(&text, api);
    write_devices(&text, api);
    text_literal(
        &text,
        "  \"links\": {\"tensors\": \"/v1/tensors\", \"ops\": \"/v1/ops\", \"devices\": "
        "\"/v1/devices\", \"openapi\": \"/openapi.json\"}\n}\n");
    request_answer_json(request, 200, &text);
}
