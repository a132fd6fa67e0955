// SPDX-License-Identifier: Apache-2.0
// GET /v1/devices[/{id}], POST /v1/devices/{id}/empty-cache.
#include <stdlib.h>

#include "api/handlers.h"
#include "api/work.h"

static void add_member(struct text *text, const char *before, const char *value)
{
    text_string(text, before);
    text_quoted(text, value, strlen(value));
}

static void write_memory(struct text *text, const struct api *api, int index,
                         struct device *device)
{
    struct device_memory memory = {0};
    struct ledger_usage usage;
    if (device != NULL)
        device->vt->memory(device, &memory);
    ledger_usage(api->options.ledger, index, &usage);
    text_literal(text, ", \"memory\": {\"total\": ");
    text_integer(text, memory.total);
    text_literal(text, ", \"used\": ");
    text_integer(text, memory.used);
    text_literal(text, ", \"free\": ");
    text_integer(text, memory.free);
    text_literal(text, ", \"tensors\": ");
    text_integer(text, usage.used);
    text_literal(text, ", \"cached\": ");
    text_integer(text, memory.cached);
    text_literal(text, ", \"limit\": ");
    text_integer(text, usage.limit);
    text_literal(text, "}");
}

static void write_processes(struct text *text, const struct device_details *details)
{
    text_literal(text, ", \"processes\": [");
    for (int i = 0; i < details->n_processes; i++) {
        text_string(text, i > 0 ? ", {\"pid\": " : "{\"pid\": ");
        text_integer(text, details->processes[i].pid);
        text_literal(text, ", \"bytes\": ");
        if (details->processes[i].bytes < 0)
            text_literal(text, "null");
        else
            text_integer(text, details->processes[i].bytes);
        text_literal(text, "}");
    }
    text_literal(text, "]");
}

// A string, null if empty.
static void add_optional(struct text *text, const char *before, const char *value)
{
    text_string(text, before);
    if (*value == '\0')
        text_literal(text, "null");
    else
        text_quoted(text, value, strlen(value));
}

static void write_device(struct text *text, struct api *api, int index)
{
    struct device *device = api->options.devices[index];
    struct device_details details = {.kind = index == 0 ? "cpu" : "cuda"};
    struct queue_facts facts;
    char id[16];
    bool failed = device == NULL || atomic_load(&api->failed[index]);
    if (device != NULL)
        device->vt->details(device, &details);
    api_device_id(api, index, id);
    queue_facts(api->options.queue, index, &facts);
    add_member(text, "{\"id\": ", id);
    add_member(text, ", \"kind\": ", details.kind);
    add_member(text, ", \"name\": ", details.name);
    add_optional(text, ", \"driver\": ", details.driver);
    add_optional(text, ", \"cuda\": ", details.runtime);
    write_memory(text, api, index, device);
    write_processes(text, &details);
    text_literal(text, ", \"queue\": {\"length\": ");
    text_integer(text, facts.waiting);
    text_literal(text, ", \"running\": ");
    text_integer(text, facts.running);
    add_member(text, "}, \"state\": ", failed ? "failed" : "ok");
    text_literal(text, "}");
}

void handle_device_list(struct request *request)
{
    struct text text;
    text_begin(&text, NULL, 0);
    text_literal(&text, "{\"devices\": [");
    for (int i = 0; i < request->api->options.n_devices; i++) {
        text_string(&text, i > 0 ? ",\n  " : "\n  ");
        write_device(&text, request->api, i);
    }
    text_literal(&text, "]}\n");
    request_answer_json(request, 200, &text);
}

// The device in the URL, or -1 and the request is answered.
static int target_device(struct request *request)
{
    const char *id = request->match.target;
    int index = api_device_index(request->api, id, strlen(id));
    if (index >= 0)
        return index;
    problem_set(&request->problem, STATUS_NOT_FOUND,
                "There is no device %.40s; /v1/devices lists all.", id);
    request_fail(request);
    return -1;
}

void handle_device_get(struct request *request)
{
    int index = target_device(request);
    if (index < 0)
        return;
    struct text text;
    text_begin(&text, NULL, 0);
    write_device(&text, request->api, index);
    text_literal(&text, "\n");
    request_answer_json(request, 200, &text);
}

// ---- Giving cached memory back

struct trimming {
    int device;
    int64_t bytes;
};

static bool trim_needs_run(const struct request *request)
{
    return true;
}

static int trim_device(const struct request *request)
{
    return ((const struct trimming *)request->state)->device;
}

static enum status trim_run(struct request *request, struct problem *problem)
{
    struct trimming *trimming = request->state;
    struct device *device = request->api->options.devices[trimming->device];
    trimming->bytes = device->vt->trim(device);
    return STATUS_OK;
}

static struct http_response *trim_complete(struct request *request,
                                           struct problem *problem)
{
    const struct trimming *trimming = request->state;
    char buffer[96], id[16];
    struct text text;
    api_device_id(request->api, trimming->device, id);
    text_begin(&text, buffer, sizeof buffer);
    add_member(&text, "{\"id\": ", id);
    text_literal(&text, ", \"bytes\": ");
    text_integer(&text, trimming->bytes);
    text_literal(&text, "}\n");
    return answer_json(request, 200, &text);
}

static const struct work trim_work = {.needs_run = trim_needs_run,
                                      .run_device = trim_device,
                                      .run = trim_run,
                                      .complete = trim_complete};

void handle_device_empty_cache(struct request *request)
{
    int index = user_require_admin(request) ? target_device(request) : -1;
    struct device *device;
    if (index < 0)
        return;
    struct trimming *trimming = request_allocate(request, sizeof *trimming);
    const char *id = request->match.target;
    if (trimming == NULL || api_device_find(request->api, id, strlen(id), &device,
                                            &request->problem) != STATUS_OK) {
        request_fail(request);
        return;
    }
    *trimming = (struct trimming){.device = index};
    request->state = trimming;
    work_start(request, &trim_work, index);
}

// ---- The same from a program: torch.cuda.empty_cache() does not wait

struct trim_task {
    struct task task; // first
    struct api *api;
};

static enum task_admission trim_task_admit(struct task *task)
{
    return TASK_READY;
}

static enum task_step trim_task_step(struct task *task, int64_t *nanoseconds)
{
    const struct api *api = ((struct trim_task *)task)->api;
    struct device *device = api->options.devices[task->device];
    *nanoseconds = 0;
    if (device != NULL)
        device->vt->trim(device);
    return TASK_DONE;
}

static void trim_task_finish(struct task *task, enum task_end end)
{
    free(task);
}

void api_trim_devices(struct api *api, struct lane *lane)
{
    static const struct task_interface interface = {trim_task_admit, trim_task_step,
                                                    trim_task_finish};
    for (int i = 1; i < api->options.n_devices; i++) {
        struct trim_task *trim = calloc(1, sizeof *trim);
        struct problem ignored;
        if (trim == NULL)
            return;
        trim->task.vt = &interface;
        trim->task.lane = lane;
        trim->task.device = i;
        trim->task.domain = UINT64_MAX; // it touches nothing of anybody
        trim->api = api;
        if (queue_submit(api->options.queue, &trim->task, &ignored) != STATUS_OK)
            free(trim); // the server is busy: it will be trimmed another time
    }
}
