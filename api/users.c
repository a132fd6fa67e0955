// SPDX-License-Identifier: Apache-2.0
// GET /v1/users and /v1/queue, for administrators. HTTP thread.
#include <stdio.h>
#include <string.h>

#include "api/handlers.h"
#include "api/request.h"

static void add_number(struct text *text, const char *before, int64_t value)
{
    text_string(text, before);
    text_integer(text, value);
}

// ---- Users

static void write_memory(struct text *text, const struct api *api,
                         const struct user *user)
{
    text_literal(text, ", \"memory\": {");
    for (int i = 0; i < api->options.n_devices; i++) {
        char id[16];
        int64_t used, reserved, limit = ledger_account_limit(user->account, i);
        ledger_account_usage(user->account, i, &used, &reserved);
        api_device_id(api, i, id);
        if (i > 0)
            text_literal(text, ", ");
        text_quoted(text, id, strlen(id));
        add_number(text, ": {\"used\": ", used);
        add_number(text, ", \"reserved\": ", reserved);
        if (limit == INT64_MAX)
            text_literal(text, ", \"limit\": null");
        else
            add_number(text, ", \"limit\": ", limit);
        text_literal(text, "}");
    }
    text_literal(text, "}");
}

// Who has no lane of his own waits in those of his connections: what there is on all
// devices is his, for he is the only user.
static void count_tasks(const struct api *api, const struct user *user,
                        struct lane_facts *out)
{
    *out = (struct lane_facts){0};
    if (user->lane != NULL) {
        lane_facts(user->lane, out);
        return;
    }
    for (int i = 0; i < api->options.n_devices; i++) {
        struct queue_facts facts;
        queue_facts(api->options.queue, i, &facts);
        out->waiting += facts.waiting;
        out->running += facts.running;
    }
}

static void write_user(struct text *text, const struct api *api, const struct user *user)
{
    struct lane_facts tasks;
    char weight[32];
    snprintf(weight, sizeof weight, "%g", user->settings.weight);
    count_tasks(api, user, &tasks);
    text_literal(text, "{\"name\": ");
    text_quoted(text, user->name, strlen(user->name));
    text_literal(text, ", \"weight\": ");
    text_string(text, weight);
    write_memory(text, api, user);
    add_number(text, ", \"queued\": ", tasks.waiting);
    add_number(text, ", \"running\": ", tasks.running);
    add_number(text, ", \"requests\": ", (int64_t)user->requests);
    add_number(text, ", \"refused\": ", (int64_t)user->refused);
    text_literal(text, "}");
}

// Those in the users file, and those who have gone from it and left tensors.
static enum status write_users(struct request *request, struct text *text)
{
    struct api *api = request->api;
    struct users *users = api->options.users;
    int count = users == NULL ? 1 : users_count(users);
    const char *before = "\n  ";
    text_literal(text, "{\"users\": [");
    for (int i = 0; i < count; i++) {
        struct user *user;
        struct user_settings settings;
        bool listed = users == NULL || users_settings(users, i, &settings);
        if (!listed &&
            (api->users[i] == NULL || registry_count(api->users[i]->space) == 0))
            continue;
        enum status status = user_get(api, i, &user, &request->problem);
        if (status != STATUS_OK)
            return status;
        text_string(text, before);
        write_user(text, api, user);
        before = ",\n  ";
    }
    text_literal(text, "]}\n");
    return STATUS_OK;
}

void handle_user_list(struct request *request)
{
    struct text text;
    if (!user_require_admin(request))
        return;
    text_begin(&text, NULL, 0);
    if (write_users(request, &text) == STATUS_OK) {
        request_answer_json(request, 200, &text);
        return;
    }
    text_end(&text);
    request_fail(request);
}

// ---- The queue

void handle_queue(struct request *request)
{
    const struct api *api = request->api;
    struct text text;
    if (!user_require_admin(request))
        return;
    text_begin(&text, NULL, 0);
    text_literal(&text, "{\"devices\": [");
    for (int i = 0; i < api->options.n_devices; i++) {
        char id[16];
        struct queue_facts facts;
        api_device_id(api, i, id);
        queue_facts(api->options.queue, i, &facts);
        text_string(&text, i > 0 ? ",\n  {\"id\": " : "\n  {\"id\": ");
        text_quoted(&text, id, strlen(id));
        add_number(&text, ", \"waiting\": ", facts.waiting);
        add_number(&text, ", \"running\": ", facts.running);
        text_literal(&text, "}");
    }
    text_literal(&text, "]}\n");
    request_answer_json(request, 200, &text);
}
