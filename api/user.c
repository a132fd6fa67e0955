// SPDX-License-Identifier: Apache-2.0
// Users: making them, applying their settings, their rate. HTTP thread.
#include "api/user.h"

#include <stdlib.h>
#include <string.h>

#include "api/request.h"
#include "api/work.h"

// ---- Life

static void user_free(struct user *user)
{
    if (user == NULL)
        return;
    lane_release(user->lane);
    generators_free(user->generators);
    free(user);
}

static enum status user_create(struct api *api, int number, const char *name,
                               struct user **out, struct problem *problem)
{
    struct api_options *options = &api->options;
    struct user *user = calloc(1, sizeof *user);
    if (user == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for a user.");
    memcpy(user->name, name, strlen(name) + 1);
    user->domain = (uint64_t)number;
    enum status status = registry_space(options->registry, name, &user->space, problem);
    if (status == STATUS_OK)
        status = ledger_account(options->ledger, name, &user->account, problem);
    if (status == STATUS_OK)
        status = generators_create(options->devices, options->n_devices,
                                   &user->generators, problem);
    if (status == STATUS_OK && name[0] != '\0')
        status = lane_create(options->queue, 1, &user->lane, problem);
    if (status == STATUS_OK)
        *out = user;
    else
        user_free(user);
    return status;
}

void users_release(struct api *api)
{
    for (int i = 0; i < USERS_MAX; i++)
        user_free(api->users[i]);
}

// ---- Settings

static void apply(struct api *api, struct user *user)
{
    const struct user_settings *settings = &user->settings;
    for (int i = 0; i < api->options.n_devices; i++)
        ledger_set_limit(user->account, i,
                         i == 0 ? settings->memory : settings->device_memory);
    if (user->lane != NULL)
        lane_set_limits(user->lane, settings->weight, settings->max_queued,
                        settings->max_running);
    bucket_set(&user->bucket, settings->rate, work_clock());
}

enum status user_get(struct api *api, int number, struct user **out,
                     struct problem *problem)
{
    struct users *users = api->options.users;
    struct user *user = api->users[number];
    unsigned generation = users == NULL ? 1 : users_generation(users);
    *out = user;
    if (user != NULL && user->generation == generation)
        return STATUS_OK;
    // Who has vanished since his token was looked at keeps his settings for this request.
    struct user_settings settings = {
        .weight = 1, .memory = INT64_MAX, .device_memory = INT64_MAX, .admin = true};
    if (users != NULL)
        users_settings(users, number, &settings);
    if (user == NULL) {
        enum status status =
            user_create(api, number, settings.name, &api->users[number], problem);
        if (status != STATUS_OK)
            return status;
        *out = user = api->users[number];
    }
    user->generation = generation;
    user->settings = settings;
    apply(api, user);
    return STATUS_OK;
}

// ---- Rate

enum status user_admit(struct user *user, struct problem *problem)
{
    user->requests++;
    if (user->settings.rate == 0 || bucket_take(&user->bucket, work_clock()))
        return STATUS_OK;
    user->refused++;
    problem_set(problem, STATUS_RATE, "You may send %g requests a second, %d at once.",
                user->settings.rate, bucket_size(&user->bucket));
    problem->retry_after = bucket_wait(&user->bucket);
    return STATUS_RATE;
}

// draft-ietf-httpapi-ratelimit-headers: the policy's quota and window, what is left of
// it, and when there is more.
struct http_response *user_rate_headers(const struct user *user,
                                        struct http_response *response)
{
    const struct bucket *bucket = &user->bucket;
    char buffer[80];
    struct text text;
    if (bucket->rate == 0)
        return response;
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "\"requests\";q=");
    text_integer(&text, bucket_size(bucket));
    text_literal(&text, ";w=");
    text_integer(&text, bucket_window(bucket));
    text_add(&text, "", 1);
    response = answer_header(response, "RateLimit-Policy", buffer);
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "\"requests\";r=");
    text_integer(&text, (int64_t)bucket->tokens);
    text_literal(&text, ";t=");
    text_integer(&text, bucket_wait(bucket));
    text_add(&text, "", 1);
    return answer_header(response, "RateLimit", buffer);
}

// ---- Of a request

bool user_require_admin(struct request *request)
{
    if (request->user->settings.admin)
        return true;
    problem_set(&request->problem, STATUS_FORBIDDEN,
                "This is for administrators: users with \"admin\": true.");
    request_fail(request);
    return false;
}

struct lane *user_lane(const struct request *request)
{
    struct lane *lane = request->user->lane;
    return lane != NULL ? lane : http_connection_state(request->http);
}
