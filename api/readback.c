// SPDX-License-Identifier: Apache-2.0
// One buffer that is filled by a task on the device's worker and emptied by the HTTP
// thread, never both at once: while it is being filled the response waits
// (HTTP_READ_LATER), so that each sees what the other left.
#include "api/readback.h"

#include <stdlib.h>

#include "api/work.h"

enum { PIECE = 4 << 20 };

struct readback {
    struct task
        task; // of the piece that is being fetched; first, so that a task is its readback
    struct api *api;
    struct http_request *http;
    struct payload value; // its block is pinned
    struct payload_extent extent;
    int device;
    struct lane *lane;
    int64_t next;      // first element byte not copied yet
    int64_t last;      // element bytes end here
    char *buffer;      // NULL when no element is sent
    size_t start, end; // of what the buffer holds
    bool failed;
};

static void bounds(struct readback *readback)
{
    const struct payload_extent *extent = &readback->extent;
    int64_t head = (int64_t)extent->head_length;
    readback->next = extent->start > head ? extent->start - head : 0;
    readback->last = extent->end > head ? extent->end - head : 0;
}

struct readback *readback_open(struct request *request, struct payload *value,
                               struct problem *problem)
{
    struct readback *readback = calloc(1, sizeof *readback);
    if (readback == NULL) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for the answer.");
        payload_unpin(value);
        return NULL;
    }
    readback->value = *value;
    value->block = NULL;
    readback->api = request->api;
    readback->http = request->http;
    readback->device = readback->value.block->device->index;
    readback->lane = lane_reference(request->task.lane);
    if (payload_extent(&readback->value, 200, &readback->extent, problem) != STATUS_OK) {
        readback_free(readback);
        return NULL;
    }
    bounds(readback);
    int64_t bytes = readback->last - readback->next;
    if (bytes > 0 &&
        (readback->buffer = malloc((size_t)(bytes < PIECE ? bytes : PIECE))) == NULL) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for the answer.");
        readback_free(readback);
        return NULL;
    }
    return readback;
}

int readback_device(const struct readback *readback)
{
    return readback->device;
}

void readback_free(struct readback *readback)
{
    if (readback == NULL)
        return;
    block_release(readback->value.block);
    lane_release(readback->lane);
    free(readback->buffer);
    free(readback);
}

enum status readback_copy(struct readback *readback, struct problem *problem)
{
    struct device *device = readback->api->options.devices[readback->device];
    int64_t left = readback->last - readback->next, count = left < PIECE ? left : PIECE;
    if (count <= 0)
        return STATUS_OK;
    const char *from = (const char *)readback->value.block->data +
                       readback->value.offset + readback->next;
    enum status status = device->vt->copy(device, readback->buffer, from, count,
                                          COPY_FROM_DEVICE, problem);
    if (status != STATUS_OK)
        return status;
    readback->next += count;
    readback->start = 0;
    readback->end = (size_t)count;
    return STATUS_OK;
}

// ---- The later pieces

static enum task_admission chunk_admit(struct task *task)
{
    return TASK_READY;
}

static enum task_step chunk_step(struct task *task, int64_t *nanoseconds)
{
    struct readback *readback = (struct readback *)task;
    struct problem problem;
    int64_t start = work_clock();
    if (readback_copy(readback, &problem) != STATUS_OK) {
        readback->failed = true;
        if (problem.status == STATUS_DEVICE_FAULT)
            api_note_fault(readback->api, readback->device, &problem);
    }
    *nanoseconds = work_clock() - start;
    return TASK_DONE;
}

static void chunk_finish(struct task *task, enum task_end end)
{
    struct readback *readback = (struct readback *)task;
    if (end != TASK_FINISHED)
        readback->failed = true;
    http_resume_read(readback->http);
}

static const struct task_interface chunk_interface = {chunk_admit, chunk_step,
                                                      chunk_finish};

// False: the queue refuses.
static bool fetch(struct readback *readback)
{
    struct problem problem;
    memset(&readback->task, 0, sizeof readback->task);
    readback->task.vt = &chunk_interface;
    readback->task.lane = readback->lane;
    readback->task.device = readback->device;
    return queue_submit(readback->api->options.queue, &readback->task, &problem) ==
           STATUS_OK;
}

static int64_t readback_read(void *context, int64_t position, char *buffer, size_t size)
{
    struct readback *readback = context;
    const struct payload_extent *extent = &readback->extent;
    int64_t at = extent->start + position;
    if (readback->failed)
        return HTTP_READ_FAILED;
    if (at >= extent->end)
        return HTTP_READ_END;
    if (at < (int64_t)extent->head_length) {
        int64_t end = extent->end < (int64_t)extent->head_length
                          ? extent->end
                          : (int64_t)extent->head_length;
        size_t count = (size_t)(end - at) < size ? (size_t)(end - at) : size;
        memcpy(buffer, extent->head + at, count);
        return (int64_t)count;
    }
    if (readback->start == readback->end)
        return fetch(readback) ? HTTP_READ_LATER : HTTP_READ_FAILED;
    size_t left = readback->end - readback->start, count = left < size ? left : size;
    memcpy(buffer, readback->buffer + readback->start, count);
    readback->start += count;
    return (int64_t)count;
}

static void readback_release(void *context)
{
    readback_free(context);
}

struct http_response *readback_answer(struct readback *readback)
{
    const struct payload_extent *extent = &readback->extent;
    struct http_response *response =
        http_response_stream(extent->status, extent->end - extent->start, readback_read,
                             readback_release, readback);
    if (response == NULL) {
        readback_free(readback);
        return NULL;
    }
    return payload_headers(response, &readback->value, extent); // frees it on failure
}
