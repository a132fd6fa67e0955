// SPDX-License-Identifier: Apache-2.0
// The glue between a request, its graph's executor and the queue (work.h).
//
// Threads. work_start runs on the HTTP thread. admit and step run on workers, finish
// there or on a thread that cancels or drains. finish is the last to touch the request:
// its http_answer hands it back to the HTTP thread.
#include "api/work.h"

#include <string.h>
#include <time.h>

#include "tensor/executor.h"

int64_t work_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// ---- Keys

static void add_key(struct request *request, uint64_t value, bool write)
{
    struct task *task = &request->task;
    for (int i = 0; i < task->n_keys; i++)
        if (task->keys[i].value == value) {
            task->keys[i].write |= write;
            return;
        }
    if (task->n_keys == TASK_MAX_KEYS)
        task->barrier = true;
    else
        task->keys[task->n_keys++] = (struct task_key){.value = value, .write = write};
}

// A dotted name may be a parameter of a module: it comes and goes with the name before
// the dot.
static void add_modules(struct request *request, const char *name)
{
    char module[NAME_MAX_LENGTH + 1];
    for (const char *dot = strchr(name, '.');
         dot != NULL && dot - name <= NAME_MAX_LENGTH; dot = strchr(dot + 1, '.')) {
        memcpy(module, name, (size_t)(dot - name));
        module[dot - name] = '\0';
        add_key(request, registry_name_key(request->user->space, module), false);
    }
}

// The name and every group it may stand for when the turn comes. Two writers through one
// name meet by the name, even while its groups are unknown.
static void add_name(struct request *request, const char *name, bool write)
{
    enum { FEW_GROUPS = 8 };
    struct name_space *space = request->user->space;
    uint64_t groups[FEW_GROUPS];
    uint64_t key;
    int count = registry_groups(space, name, &key, groups, FEW_GROUPS);
    add_key(request, key, write);
    add_modules(request, name);
    if (count > FEW_GROUPS)
        request->task.barrier = true;
    for (int i = 0; i < count && i < FEW_GROUPS; i++)
        add_key(request, groups[i], write);
}

void work_read(struct request *request, const char *name)
{
    add_name(request, name, false);
}

void work_bind(struct request *request, const char *name, const char *like)
{
    add_key(request, registry_name_key(request->user->space, name), true);
    add_modules(request, name);
    if (request->n_rebinds < REQUEST_REBINDS)
        request->rebinds[request->n_rebinds++] =
            (struct rebind){.name = name, .like = like};
    else
        request->task.barrier = true;
}

void work_unbind(struct request *request, const char *name)
{
    add_key(request, registry_name_key(request->user->space, name), true);
    add_modules(request, name);
}

void work_write(struct request *request, const char *name)
{
    add_name(request, name, true);
}

// One key for all devices: no name is empty.
void work_generators(struct request *request)
{
    add_key(request, registry_name_key(request->user->space, ""), true);
}

void work_write_all(struct request *request)
{
    request->task.barrier = true;
}

// Tells the registry which groups the names will have, for the requests that come while
// this one is pending.
static bool predict(struct request *request)
{
    struct name_space *space = request->user->space;
    for (int i = 0; i < request->n_rebinds; i++) {
        struct rebind *rebind = &request->rebinds[i];
        uint64_t group = rebind->like != NULL ? registry_group(space, rebind->like) : 0;
        rebind->group = registry_predict(space, rebind->name, group);
        rebind->predicted = rebind->group != 0;
        if (!rebind->predicted) {
            problem_set(&request->problem, STATUS_OUT_OF_MEMORY,
                        "No host memory to queue the request.");
            return false;
        }
    }
    return true;
}

static void forget(struct request *request)
{
    for (int i = 0; i < request->n_rebinds; i++) {
        struct rebind *rebind = &request->rebinds[i];
        if (rebind->predicted)
            registry_forget(request->user->space, rebind->name, rebind->group);
        rebind->predicted = false;
    }
}

int work_device_of(const struct request *request, const char *name)
{
    struct binding binding;
    struct problem problem;
    if (request->api->options.n_devices == 1 ||
        registry_find(request->user->space, name, &binding, &problem) != STATUS_OK)
        return 0;
    int device = tensor_device(binding.tensor)->index;
    binding_release(&binding);
    return device;
}

enum status work_graph(struct request *request, struct problem *problem)
{
    struct api *api = request->api;
    struct graph_context context = {.devices = api->options.devices,
                                    .n_devices = api->options.n_devices,
                                    .account = request->user->account};
    return graph_create(&context, &request->graph, problem);
}

void work_bill(const struct request *request, int64_t nanoseconds)
{
    struct lane *lane = user_lane(request);
    if (lane != NULL)
        queue_bill(request->api->options.queue, lane, 0, nanoseconds);
}

// ---- The stages

static bool prepare(struct request *request)
{
    request->prepared = true;
    if (request->work->prepare != NULL)
        request->work->prepare(request, &request->problem);
    return request->problem.status == STATUS_OK;
}

enum {
    INLINE_STEPS = 1000,  // of a program on the HTTP thread
    SLICE_STEPS = 20000, // between two looks at who is next
};

static bool executes(const struct request *request)
{
    return request->executor != NULL && !request->executed;
}

static bool advances(const struct request *request)
{
    return request->work->advance != NULL;
}

static bool wants_run(const struct request *request)
{
    return request->work->needs_run != NULL && request->work->needs_run(request);
}

static void release(struct request *request)
{
    executor_free(request->executor);
    graph_free(request->graph);
    request->executor = NULL;
    request->executed = false;
    request->graph = NULL;
    forget(request); // before the handler lets the names go
    if (request->work->release != NULL)
        request->work->release(request);
}

// Commits, or reports the problem; then nothing is held any more. The answer.
static struct http_response *conclude(struct request *request)
{
    struct http_response *response = NULL;
    if (request->problem.status == STATUS_OK)
        response = request->work->complete(request, &request->problem);
    else if (request->executor != NULL && request->work->explain != NULL)
        request->work->explain(request, &request->problem);
    release(request);
    if (request->problem.status == STATUS_OK)
        return response;
    return problem_answer(&request->problem, 0);
}

static void note_fault(struct request *request, int device)
{
    if (request->problem.status == STATUS_DEVICE_FAULT)
        api_note_fault(request->api, device, &request->problem);
}

// ---- The task

static enum task_admission task_admit(struct task *task)
{
    struct request *request = (struct request *)task;
    if (!request->prepared && !prepare(request))
        return TASK_NEVER;
    if (!executes(request))
        return TASK_READY;
    if (!advances(request))
        executor_set_held(request->executor, 0, request->held);
    switch (executor_admit(request->executor, &request->problem)) {
    case ADMISSION_READY:
        return TASK_READY;
    case ADMISSION_WAIT:
        if (request->held == 0 && !request->holds_memory)
            return TASK_WAIT;
        problem_set(&request->problem, STATUS_QUEUE_FULL,
                    "Running requests hold the memory that this one needs, and a request "
                    "that holds some already (its body, values of its program) does not "
                    "wait for them; send it again in a moment.");
        request->problem.retry_after = 1;
        break;
    case ADMISSION_NEVER:
        break;
    }
    return TASK_NEVER;
}

static bool moves(struct task *task, int device)
{
    bool other = task->device != device;
    task->device = device;
    return other;
}

static enum task_step step_executor(struct request *request)
{
    switch (executor_step(request->executor, &request->problem)) {
    case EXECUTOR_MORE:
        return TASK_MORE;
    case EXECUTOR_MOVE:
        request->task.device = executor_device(request->executor)->index;
        return TASK_MOVE;
    case EXECUTOR_DONE:
        request->executed = true;
        return advances(request) ? TASK_MORE : TASK_DONE;
    case EXECUTOR_FAILED:
        break;
    }
    note_fault(request, request->task.device);
    return TASK_DONE;
}

static enum task_step step_program(struct request *request)
{
    switch (request->work->advance(request, SLICE_STEPS, &request->problem)) {
    case ADVANCE_MORE:
        return TASK_MORE;
    case ADVANCE_EXECUTE:
        request->task.device = executor_device(request->executor)->index;
        return TASK_ADMIT;
    case ADVANCE_DONE:
    case ADVANCE_FAILED:
        break;
    }
    return TASK_DONE;
}

// One slice. Device time of a CUDA slice shows when it has ended, so what is billed now
// may be the one before: over a task the sum is right.
static enum task_step task_step(struct task *task, int64_t *nanoseconds)
{
    struct request *request = (struct request *)task;
    *nanoseconds = 0;
    if (executes(request) && moves(task, executor_device(request->executor)->index))
        return TASK_MOVE;
    if (!executes(request) && wants_run(request) &&
        moves(task, request->work->run_device(request)))
        return TASK_MOVE;
    struct device *device = request->api->options.devices[task->device];
    int64_t busy = device != NULL && !device->is_host ? device->vt->busy(device) : 0;
    int64_t start = work_clock();
    enum task_step step = TASK_DONE;
    if (executes(request)) {
        step = step_executor(request);
    } else if (advances(request)) {
        step = step_program(request);
    } else if (wants_run(request)) {
        request->work->run(request, &request->problem);
        note_fault(request, task->device);
    }
    *nanoseconds = device != NULL && !device->is_host ? device->vt->busy(device) - busy
                                                      : work_clock() - start;
    return step;
}

static void task_finish(struct task *task, enum task_end end)
{
    struct request *request = (struct request *)task;
    if (end == TASK_CANCELLED)
        problem_set(
            &request->problem, STATUS_CANCELLED,
            "The client went away or the server stopped before the work was done.");
    if (end == TASK_DRAINED) {
        problem_set(&request->problem, STATUS_DRAINING,
                    "The server is stopping; new work is not accepted.");
        request->problem.retry_after = 1;
    }
    http_answer(request->http, conclude(request));
}

static const struct task_interface task_interface = {task_admit, task_step, task_finish};

// ---- Starting

static bool is_small(struct request *request)
{
    if (request->executor == NULL)
        return !wants_run(request);
    int64_t estimate = executor_estimate(request->executor);
    return executor_device(request->executor)->is_host && estimate >= 0 &&
           estimate <= INLINE_NANOSECONDS;
}

// Runs a small executor to its end. False: it has to wait for memory, or for another
// device.
static bool run_inline(struct request *request)
{
    if (request->executor == NULL)
        return true;
    if (!advances(request))
        executor_set_held(request->executor, 0, request->held);
    switch (executor_admit(request->executor, &request->problem)) {
    case ADMISSION_WAIT:
        return false;
    case ADMISSION_NEVER:
        return true;
    case ADMISSION_READY:
        break;
    }
    enum executor_step step;
    do {
        step = executor_step(request->executor, &request->problem);
    } while (step == EXECUTOR_MORE);
    request->executed = step == EXECUTOR_DONE;
    return step != EXECUTOR_MOVE; // the task goes on where this stopped
}

// A program, as long as it stays small. False: a worker takes it from where it is.
static bool advance_inline(struct request *request)
{
    int64_t left = INLINE_NANOSECONDS;
    for (;;) {
        if (executes(request)) {
            left -= executor_estimate(request->executor);
            if (left < 0 || !is_small(request) || !run_inline(request))
                return false;
            if (request->problem.status != STATUS_OK)
                return true;
        }
        switch (request->work->advance(request, INLINE_STEPS, &request->problem)) {
        case ADVANCE_MORE:
            return false;
        case ADVANCE_EXECUTE:
            break;
        case ADVANCE_DONE:
        case ADVANCE_FAILED:
            return true;
        }
    }
}

static bool carry_out(struct request *request)
{
    if (!prepare(request))
        return true;
    if (advances(request))
        return advance_inline(request);
    return is_small(request) && run_inline(request);
}

static void declare(struct request *request)
{
    if (request->work->declare != NULL && !request->declared)
        request->work->declare(request);
    request->declared = true;
}

// A place in the order for what runs here. If nothing at all is pending, without naming
// what is touched.
static bool begin_inline(struct request *request)
{
    struct queue *queue = request->api->options.queue;
    struct task *task = &request->task;
    if (request->work->declare != NULL) {
        task->barrier = true;
        bool begun = queue_inline_begin(queue, task);
        task->barrier = false;
        if (begun)
            return true;
        declare(request);
    }
    return queue_inline_begin(queue, task);
}

// True if the request was carried out here; *response is its answer. If it turns out to
// be too large, its place in the order is given back: only this thread accepts requests,
// so that nothing comes between that and its submission.
static bool try_inline(struct request *request, struct http_response **response)
{
    struct queue *queue = request->api->options.queue;
    if (!begin_inline(request))
        return false;
    int64_t start = work_clock();
    request->inlined = true;
    bool done = carry_out(request);
    request->inlined = false;
    if (done)
        *response = conclude(request);
    queue_inline_end(queue, &request->task, work_clock() - start);
    return done;
}

static void submit(struct request *request)
{
    declare(request);
    bool predicted = predict(request);
    http_suspend(request->http);
    if (!predicted || queue_submit(request->api->options.queue, &request->task,
                                   &request->problem) != STATUS_OK) {
        http_answer(request->http, user_rate_headers(request->user, conclude(request)));
        return;
    }
    // It may have ended by now, but its memory stays: only this thread closes requests.
    // Of this and work_cancel at least one sees the other.
    atomic_store(&request->submitted, true);
    if (atomic_load(&request->gone))
        queue_cancel(request->api->options.queue, &request->task);
}

void work_start(struct request *request, const struct work *work, int device)
{
    struct http_response *response;
    request->work = work;
    request->task.vt = &task_interface;
    request->task.lane = user_lane(request);
    request->task.device = device;
    request->task.domain = request->user->domain;
    if (request->task.lane == NULL) {
        problem_set(&request->problem, STATUS_OUT_OF_MEMORY,
                    "No memory for the connection's queue.");
        request_answer(request, conclude(request));
    } else if (try_inline(request, &response)) {
        request_answer(request, response);
    } else {
        request->answered = true;
        submit(request);
    }
}

void work_cancel(struct request *request)
{
    atomic_store(&request->gone, true);
    if (atomic_load(&request->submitted))
        queue_cancel(request->api->options.queue, &request->task);
}
