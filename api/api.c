// SPDX-License-Identifier: Apache-2.0
// The api as a whole: its state, its devices by name, and the http_handler that the
// server calls.
#include "api/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "api/lang/vm.h"
#include "api/request.h"
#include "api/user.h"
#include "server/log.h"

// ---- Devices

void api_device_id(const struct api *api, int i, char id[16])
{
    const struct device *device = api->options.devices[i];
    if (device != NULL) {
        memcpy(id, device->id, 16);
        return;
    }
    struct text text;
    text_begin(&text, id, 16);
    text_literal(&text, "cuda:");
    text_integer(&text, i - 1);
    text_add(&text, "", 1);
}

int api_device_index(const struct api *api, const char *id, size_t length)
{
    if (length == 4 && memcmp(id, "cuda", 4) == 0)
        return api->options.n_devices > 1 ? 1 : -1;
    for (int i = 0; i < api->options.n_devices; i++) {
        char own[16];
        api_device_id(api, i, own);
        if (strlen(own) == length && memcmp(own, id, length) == 0)
            return i;
    }
    return -1;
}

enum status api_device_find(const struct api *api, const char *id, size_t length,
                            struct device **out, struct problem *problem)
{
    int index = api_device_index(api, id, length), shown = length > 40 ? 40 : (int)length;
    if (index < 0) {
        const char *note = api->options.device_note;
        return problem_set(problem, STATUS_DEVICE,
                           "There is no device \"%.*s\"; /v1/devices lists all.%s%.200s",
                           shown, id, note != NULL ? " " : "", note != NULL ? note : "");
    }
    *out = api->options.devices[index];
    if (*out == NULL)
        return problem_set(problem, STATUS_DEVICE_FAULT,
                           "The device %.*s failed; the server must be restarted.", shown,
                           id);
    return STATUS_OK;
}

void api_note_fault(struct api *api, int device, const struct problem *problem)
{
    if (device == 0 || atomic_exchange(&api->failed[device], true))
        return; // the host does not fail; one line says it
    char id[16];
    api_device_id(api, device, id);
    log_event(LOG_ERROR, "device failed", "%s: %s", id, problem->detail);
}

// ---- Life

// Differs between processes even where no random bytes are to be had.
static uint64_t make_boot(void)
{
    uint64_t boot = 0;
    if (getrandom(&boot, sizeof boot, GRND_NONBLOCK) != (ssize_t)sizeof boot) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        boot = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20;
    }
    return boot >> 24; // 40 bits keep tags short
}

enum status api_create(const struct api_options *options, struct api **out,
                       struct problem *problem)
{
    struct api *api = calloc(1, sizeof *api);
    if (api == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for the api.");
    api->options = *options;
    api->boot = make_boot();
    struct user *anonymous;
    enum status status = STATUS_OK;
    if (options->users == NULL)
        status = user_get(api, 0, &anonymous, problem);
    ops_initialize();
    if (status == STATUS_OK)
        status = vm_initialize(problem);
    program_set_max_nesting(options->max_nesting);
    if (status != STATUS_OK) {
        users_release(api);
        free(api);
        return status;
    }
    router_initialize();
    *out = api;
    return STATUS_OK;
}

void api_free(struct api *api)
{
    if (api == NULL)
        return;
    requests_free(api);
    programs_clear(&api->programs);
    openapi_free(api);
    users_release(api);
    vm_finalize();
    free(api);
}

// ---- The handler

// A connection's state is its lane: whose turn it is among those who wait. NULL when
// memory is out (work_start says so), and where users have lanes of their own.
static void *connection_open(void *context)
{
    struct api *api = context;
    struct lane *lane;
    struct problem problem;
    if (api->options.users != NULL && users_are_named(api->options.users))
        return NULL;
    return lane_create(api->options.queue, 1, &lane, &problem) == STATUS_OK ? lane : NULL;
}

static void connection_close(void *context, void *state)
{
    if (state != NULL)
        lane_release(state);
}

static struct http_response *server_problem(void *context, const struct problem *problem)
{
    return problem_answer(problem, 0);
}

struct http_handler api_handler(struct api *api)
{
    return (struct http_handler){.begin = api_begin,
                                 .data = api_data,
                                 .end = api_end,
                                 .closed = api_closed,
                                 .vanished = api_vanished,
                                 .connection_open = connection_open,
                                 .connection_close = connection_close,
                                 .problem = server_problem,
                                 .context = api};
}
