// SPDX-License-Identifier: Apache-2.0
// Elements that are printed while they are sent: JSON, CSV, text. Short answers go out
// whole, with a length; long ones in chunks, so that no answer needs more memory than a
// piece. Streams are read and released on the HTTP thread; printing is billed to the lane
// that asked.
#include <stdlib.h>

#include "api/value.h"
#include "api/work.h"

enum {
    PIECE = 4096,  // what is printed before the first byte leaves
    MINIMUM = 512, // room that writers need
};

struct stream {
    int n, current; // values; the one being printed
    bool several;   // they stand in {"values": [...]}
    bool opened;    // the text before the current one has been printed
    struct writer *writers[OP_MAX_RESULTS];
    struct block *blocks[OP_MAX_RESULTS];
    struct queue *queue;
    struct lane *lane;
    char name[NAME_MAX_LENGTH + 1], devices[OP_MAX_RESULTS][16];
    size_t start, end; // of what is printed and not sent yet
    char piece[PIECE];
};

static void stream_free(void *context)
{
    struct stream *stream = context;
    for (int i = 0; i < stream->n; i++) {
        writer_close(stream->writers[i]);
        block_release(stream->blocks[i]);
    }
    lane_release(stream->lane);
    free(stream);
}

static size_t put(char *buffer, const char *literal)
{
    size_t length = strlen(literal);
    memcpy(buffer, literal, length);
    return length;
}

// The next bytes, up to size (at least MINIMUM); 0 at the end.
static size_t stream_next(struct stream *stream, char *buffer, size_t size)
{
    while (stream->current < stream->n) {
        if (stream->several && !stream->opened) {
            stream->opened = true;
            return put(buffer, stream->current == 0 ? "{\"values\": [\n" : ",\n");
        }
        size_t count = writer_next(stream->writers[stream->current], buffer, size);
        if (count > 0)
            return count;
        stream->opened = false;
        stream->current++;
        if (stream->several && stream->current == stream->n)
            return put(buffer, "]}\n");
    }
    return 0;
}

static int64_t stream_take(struct stream *stream, char *buffer, size_t size)
{
    size_t left = stream->end - stream->start, count = left < size ? left : size;
    memcpy(buffer, stream->piece + stream->start, count);
    stream->start += count;
    return (int64_t)count;
}

static int64_t stream_read(void *context, int64_t position, char *buffer, size_t size)
{
    struct stream *stream = context;
    if (stream->start < stream->end)
        return stream_take(stream, buffer, size);
    int64_t start = work_clock();
    bool direct = size >= MINIMUM;
    size_t count =
        stream_next(stream, direct ? buffer : stream->piece, direct ? size : PIECE);
    queue_bill(stream->queue, stream->lane, 0, work_clock() - start);
    if (count == 0)
        return HTTP_READ_END;
    if (direct)
        return (int64_t)count;
    stream->start = 0;
    stream->end = count;
    return stream_take(stream, buffer, size);
}

// Opens the writer of one value on copies that live as long as the stream; takes the pin.
static enum status add_value(struct stream *stream, struct value *value,
                             struct problem *problem)
{
    int i = stream->n;
    struct writer_options options = {.format = value->format,
                                     .dtype = value->dtype,
                                     .ndim = value->ndim,
                                     .data = value_data(value)};
    memcpy(options.shape, value->shape, (size_t)value->ndim * sizeof options.shape[0]);
    if (value->name != NULL)
        options.name = memcpy(stream->name, value->name, strlen(value->name) + 1);
    options.device = memcpy(stream->devices[i], value->device, strlen(value->device) + 1);
    enum status status = writer_open(&options, &stream->writers[i], problem);
    if (status != STATUS_OK)
        return status;
    stream->blocks[i] = value->block;
    value->block = NULL;
    stream->n++;
    return STATUS_OK;
}

static struct stream *stream_open(struct request *request, struct value *values, int n,
                                  struct problem *problem)
{
    struct stream *stream = malloc(sizeof *stream);
    if (stream == NULL) {
        problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for the answer.");
        return NULL;
    }
    stream->n = stream->current = 0;
    stream->several = n > 1;
    stream->opened = false;
    stream->queue = request->api->options.queue;
    stream->lane = lane_reference(request->task.lane);
    stream->start = stream->end = 0;
    for (int i = 0; i < n; i++)
        if (add_value(stream, &values[i], problem) != STATUS_OK) {
            stream_free(stream);
            return NULL;
        }
    return stream;
}

struct http_response *printed_answer(struct request *request, int status,
                                     struct value *values, int n, struct problem *problem)
{
    struct stream *stream = stream_open(request, values, n, problem);
    for (int i = 0; i < n; i++)
        value_unpin(&values[i]); // those that no stream took
    if (stream == NULL)
        return NULL;
    bool whole = false;
    while (!whole && PIECE - stream->end >= MINIMUM) {
        size_t more =
            stream_next(stream, stream->piece + stream->end, PIECE - stream->end);
        whole = more == 0;
        stream->end += more;
    }
    struct http_response *response;
    if (whole) {
        response = http_response_copy(status, stream->piece, stream->end);
        stream_free(stream);
    } else {
        response = http_response_stream(status, -1, stream_read, stream_free, stream);
        if (response == NULL)
            stream_free(stream);
    }
    if (n == 1)
        return value_headers(response, &values[0], NULL);
    return answer_header(response, "Content-Type", "application/json");
}
