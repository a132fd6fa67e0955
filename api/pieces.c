// SPDX-License-Identifier: Apache-2.0
// See pieces.h.
#include "api/pieces.h"

#include <stdlib.h>

#include "api/work.h"
#include "tensor/arena.h"

enum {
    PIECE = 4096,  // what is printed before the first byte leaves
    MINIMUM = 512, // room that writers need
    FEW = 2,
};

// Texts follow each other in one buffer; a piece of elements comes after text_end bytes
// of it.
struct piece {
    size_t text_end;
    int skip; // bytes of the writer's beginning that are dropped
    struct writer *writer;
    struct block *block;
    char name[NAME_MAX_LENGTH + 1], device[16];
};

struct pieces {
    struct arena arena; // holds this and every piece: its chunks are recycled
    struct text text;
    size_t text_sent;
    int count, capacity, current;
    struct piece **items, *few[FEW];
    struct queue *queue;
    struct lane *lane;
    size_t start, end; // of `piece`: printed and not sent yet
    char piece[PIECE], small[256];
};

struct pieces *pieces_create(struct request *request, struct problem *problem)
{
    struct arena arena;
    bool opened = arena_open(&arena);
    struct pieces *pieces = opened ? arena_take(&arena, sizeof *pieces) : NULL;
    if (pieces == NULL) {
        if (opened)
            arena_close(&arena);
        problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for the answer.");
        return NULL;
    }
    pieces->arena = arena;
    text_begin(&pieces->text, pieces->small, sizeof pieces->small);
    pieces->text_sent = pieces->start = pieces->end = 0;
    pieces->count = pieces->current = 0;
    pieces->items = pieces->few;
    pieces->capacity = FEW;
    pieces->queue = request->api->options.queue;
    pieces->lane = lane_reference(request->task.lane);
    return pieces;
}

void pieces_free(struct pieces *pieces)
{
    if (pieces == NULL)
        return;
    for (int i = 0; i < pieces->count; i++) {
        writer_close(pieces->items[i]->writer);
        block_release(pieces->items[i]->block);
    }
    if (pieces->items != pieces->few)
        free(pieces->items);
    text_end(&pieces->text);
    lane_release(pieces->lane);
    struct arena arena = pieces->arena;
    arena_close(&arena);
}

void pieces_text(struct pieces *pieces, const char *bytes, size_t count)
{
    text_add(&pieces->text, bytes, count);
}

static bool make_room(struct pieces *pieces)
{
    if (pieces->count < pieces->capacity)
        return true;
    size_t size = (size_t)pieces->capacity * 2 * sizeof *pieces->items;
    bool first = pieces->items == pieces->few;
    struct piece **items = first ? malloc(size) : realloc(pieces->items, size);
    if (items == NULL)
        return false;
    if (first)
        memcpy(items, pieces->few, sizeof pieces->few);
    pieces->items = items;
    pieces->capacity *= 2;
    return true;
}

enum status pieces_payload(struct pieces *pieces, struct payload *payload, bool bare,
                           int skip, struct problem *problem)
{
    struct writer_options options = {.format = payload->format,
                                     .dtype = payload->dtype,
                                     .ndim = payload->ndim,
                                     .data = payload_data(payload),
                                     .bare = bare};
    memcpy(options.shape, payload->shape,
           (size_t)payload->ndim * sizeof options.shape[0]);
    struct piece *piece =
        make_room(pieces) ? arena_take(&pieces->arena, sizeof *piece) : NULL;
    enum status status = STATUS_OK;
    if (piece == NULL)
        status =
            problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for the answer.");
    if (piece != NULL && payload->name != NULL)
        options.name = memcpy(piece->name, payload->name, strlen(payload->name) + 1);
    if (piece != NULL) {
        options.device =
            memcpy(piece->device, payload->device, strlen(payload->device) + 1);
        status = writer_open(&options, &piece->writer, problem);
    }
    if (status != STATUS_OK) {
        payload_unpin(payload);
        return status;
    }
    piece->block = payload->block;
    payload->block = NULL;
    piece->skip = skip;
    piece->text_end = pieces->text.length;
    pieces->items[pieces->count++] = piece;
    return STATUS_OK;
}

// ---- Sending

static size_t next_text(struct pieces *pieces, size_t end, char *buffer, size_t size)
{
    size_t left = end - pieces->text_sent, count = left < size ? left : size;
    memcpy(buffer, pieces->text.data + pieces->text_sent, count);
    pieces->text_sent += count;
    return count;
}

static size_t next_elements(struct piece *piece, char *buffer, size_t size)
{
    size_t count = writer_next(piece->writer, buffer, size);
    if (piece->skip > 0 && count > 0) {
        count -= (size_t)piece->skip; // the first output is longer than what is dropped
        memmove(buffer, buffer + piece->skip, count);
        piece->skip = 0;
    }
    return count;
}

// The next bytes, up to size (at least MINIMUM); 0 at the end.
static size_t pieces_next(struct pieces *pieces, char *buffer, size_t size)
{
    while (pieces->current < pieces->count) {
        struct piece *piece = pieces->items[pieces->current];
        if (pieces->text_sent < piece->text_end)
            return next_text(pieces, piece->text_end, buffer, size);
        size_t count = next_elements(piece, buffer, size);
        if (count > 0)
            return count;
        pieces->current++;
    }
    if (pieces->text_sent < pieces->text.length)
        return next_text(pieces, pieces->text.length, buffer, size);
    return 0;
}

static int64_t take(struct pieces *pieces, char *buffer, size_t size)
{
    size_t left = pieces->end - pieces->start, count = left < size ? left : size;
    memcpy(buffer, pieces->piece + pieces->start, count);
    pieces->start += count;
    return (int64_t)count;
}

static int64_t pieces_read(void *context, int64_t position, char *buffer, size_t size)
{
    struct pieces *pieces = context;
    if (pieces->start < pieces->end)
        return take(pieces, buffer, size);
    int64_t start = work_clock();
    bool direct = size >= MINIMUM;
    size_t count =
        pieces_next(pieces, direct ? buffer : pieces->piece, direct ? size : PIECE);
    queue_bill(pieces->queue, pieces->lane, 0, work_clock() - start);
    if (count == 0)
        return HTTP_READ_END;
    if (direct)
        return (int64_t)count;
    pieces->start = 0;
    pieces->end = count;
    return take(pieces, buffer, size);
}

static void release(void *context)
{
    pieces_free(context);
}

struct http_response *pieces_answer(struct pieces *pieces, int status)
{
    if (pieces->text.failed) {
        pieces_free(pieces);
        return NULL;
    }
    bool whole = false;
    while (!whole && PIECE - pieces->end >= MINIMUM) {
        size_t more =
            pieces_next(pieces, pieces->piece + pieces->end, PIECE - pieces->end);
        whole = more == 0;
        pieces->end += more;
    }
    struct http_response *response;
    if (whole) {
        response = http_response_copy(status, pieces->piece, pieces->end);
        pieces_free(pieces);
    } else {
        response = http_response_stream(status, -1, pieces_read, release, pieces);
        if (response == NULL)
            pieces_free(pieces);
    }
    return response;
}
