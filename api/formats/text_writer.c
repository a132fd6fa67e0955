// SPDX-License-Identifier: Apache-2.0
// A tensor as torch prints it (print options at their defaults: precision 4, edges of 3
// beyond 1000 elements, lines of 80 characters). The rules are those of torch 1.13;
// text_format.c knows how one element looks. The elements that are shown are visited with
// one counter a dimension; nothing else is kept. One thread at a time.
#include "api/formats/text_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_WIDTH = 80, THRESHOLD = 1000, EDGE_ITEMS = 3 };
enum { MAX_SHOWN = 1 << 20 }; // elements: they are looked at before the first is printed
enum { INDENT = 7 };          // of what follows "tensor("
// The most one step writes: the size of a tensor with 32 dimensions, or an item between
// lists that end and begin.
enum { STEP_ROOM = 1024, MAX_SUFFIXES = 4 };

enum text_part { TEXT_HEAD, TEXT_ITEMS, TEXT_SUFFIXES, TEXT_END };

struct text_writer {
    struct writer base;
    enum text_part part;
    bool summarize;
    struct text_format format;
    int64_t index[FORMAT_MAX_NDIM];
    int64_t strides[FORMAT_MAX_NDIM]; // elements
    int opening;                      // brackets before the next item
    int64_t per_line, in_line;        // items of an innermost list on a line
    int64_t line_length;              // characters of the last line so far
    int suffix;
    size_t step_sent, step_length;
    char step[STEP_ROOM];
};

// ---- The elements that are shown

static bool is_cut(const struct text_writer *text, int dim)
{
    return text->summarize && text->base.options.shape[dim] > 2 * EDGE_ITEMS;
}

// Steps to the next index that is shown in dim; false (and index 0 again) at the end.
// *gap: some were left out.
static bool next_index(struct text_writer *text, int dim, bool *gap)
{
    int64_t *index = &text->index[dim], size = text->base.options.shape[dim];
    ++*index;
    *gap = is_cut(text, dim) && *index == EDGE_ITEMS;
    if (*gap)
        *index = size - EDGE_ITEMS;
    if (*index < size)
        return true;
    *index = 0;
    return false;
}

static union element current(const struct text_writer *text)
{
    int64_t offset = 0;
    for (int i = 0; i < text->base.options.ndim; i++)
        offset += text->index[i] * text->strides[i];
    return writer_element(&text->base, offset);
}

static void see_all(struct text_writer *text)
{
    bool gap, more = text->base.count > 0;
    while (more) {
        text_format_see(&text->format, current(text));
        more = false;
        for (int i = text->base.options.ndim - 1; i >= 0 && !more; i--)
            more = next_index(text, i, &gap);
    }
    text_format_decide(&text->format);
}

// ---- Steps. Each appends to step.

static void add(struct text_writer *text, const char *piece, size_t length)
{
    memcpy(text->step + text->step_length, piece, length);
    text->step_length += length;
}

static void add_text(struct text_writer *text, const char *piece)
{
    add(text, piece, strlen(piece));
}

static void add_repeated(struct text_writer *text, char c, int count)
{
    memset(text->step + text->step_length, c, (size_t)count);
    text->step_length += (size_t)count;
}

// Between two items of a list at depth dim that is not innermost: as many newlines as it
// has dimensions inside.
static void add_separator(struct text_writer *text, int dim)
{
    add_text(text, ",");
    add_repeated(text, '\n', text->base.options.ndim - dim - 1);
    add_repeated(text, ' ', INDENT + dim + 1);
}

// Ends the lists that are complete and says how many begin with the next item.
static void end_lists(struct text_writer *text)
{
    int ndim = text->base.options.ndim;
    bool gap;
    add_text(text, "]");
    text->in_line = 0;
    for (int dim = ndim - 2; dim >= 0; dim--) {
        if (!next_index(text, dim, &gap)) {
            add_text(text, "]");
            continue;
        }
        add_separator(text, dim);
        if (gap) {
            add_text(text, "...");
            add_separator(text, dim);
        }
        text->opening = ndim - 1 - dim;
        return;
    }
    text->part = TEXT_SUFFIXES;
}

// What stands before an item of an innermost list.
static void begin_item(struct text_writer *text)
{
    add_repeated(text, '[', text->opening);
    text->opening = 0;
    if (text->in_line == text->per_line) {
        add_text(text, ",\n");
        add_repeated(text, ' ', INDENT + text->base.options.ndim);
        text->in_line = 0;
    } else if (text->in_line > 0) {
        add_text(text, ", ");
    }
    text->in_line++;
}

static void item_step(struct text_writer *text)
{
    bool gap;
    char item[TEXT_MAX_WIDTH];
    int last = text->base.options.ndim - 1;
    if (last < 0 || text->base.count == 0) {
        if (last < 0)
            add(text, item, text_format_print(&text->format, current(text), item));
        else
            add_text(text, "[]");
        text->part = TEXT_SUFFIXES;
        return;
    }
    begin_item(text);
    add(text, item, text_format_print(&text->format, current(text), item));
    bool more = next_index(text, last, &gap);
    if (gap) {
        begin_item(text);
        add_text(text, " ...");
    }
    if (!more)
        end_lists(text);
}

// The i-th suffix in torch's order (device, size, dtype, the caller's) into out; false if
// it is not shown.
static bool print_suffix(const struct text_writer *text, int i, char *out, size_t size)
{
    const struct writer_options *options = &text->base.options;
    bool empty = text->base.count == 0;
    enum dtype dtype = options->dtype;
    if (i == 0) {
        snprintf(out, size, "device='%.64s'",
                 options->device != NULL ? options->device : "cpu");
        return options->device != NULL && strcmp(options->device, "cpu") != 0;
    }
    if (i == 1) {
        size_t used = (size_t)snprintf(out, size, "size=(");
        for (int dim = 0; dim < options->ndim; dim++)
            used += (size_t)snprintf(out + used, size - used, "%s%" PRId64,
                                     dim > 0 ? ", " : "", options->shape[dim]);
        snprintf(out + used, size - used, ")");
        return empty && options->ndim != 1;
    }
    if (i == 3) {
        snprintf(out, size, "%.200s", options->suffix != NULL ? options->suffix : "");
        return options->suffix != NULL;
    }
    snprintf(out, size, "dtype=torch.%s", dtype_name(dtype));
    // Of what the elements show, float32, int64 and bool go without saying.
    return dtype != DTYPE_FLOAT32 &&
           (empty || (dtype != DTYPE_INT64 && dtype != DTYPE_BOOL));
}

static void suffix_step(struct text_writer *text)
{
    char suffix[STEP_ROOM - 64];
    if (text->suffix == MAX_SUFFIXES) {
        add_text(text, ")\n");
        text->part = TEXT_END;
        return;
    }
    if (!print_suffix(text, text->suffix++, suffix, sizeof suffix))
        return;
    // torch counts the last line two characters longer than it is until the first suffix
    // that breaks it.
    int64_t length = (int64_t)strlen(suffix);
    if (text->line_length + length + 2 > LINE_WIDTH) {
        add_text(text, ",\n");
        add_repeated(text, ' ', INDENT);
        text->line_length = INDENT + length;
    } else {
        add_text(text, ", ");
        text->line_length += length + 2;
    }
    add_text(text, suffix);
}

static void next_step(struct text_writer *text)
{
    text->step_sent = text->step_length = 0;
    if (text->part == TEXT_SUFFIXES) {
        suffix_step(text);
        return;
    }
    if (text->part == TEXT_HEAD) {
        add_text(text, "tensor(");
        text->part = TEXT_ITEMS;
    } else {
        item_step(text);
    }
    const char *newline = memrchr(text->step, '\n', text->step_length);
    int64_t after = newline != NULL ? text->step + text->step_length - newline - 1
                                    : text->line_length + (int64_t)text->step_length;
    text->line_length = after + (text->part == TEXT_SUFFIXES ? 2 : 0);
}

static size_t text_next(struct writer *writer, char *buffer, size_t size)
{
    struct text_writer *text = (struct text_writer *)writer;
    size_t used = 0;
    while (used < size) {
        if (text->step_sent == text->step_length) {
            if (text->part == TEXT_END)
                break;
            next_step(text);
        }
        size_t part = text->step_length - text->step_sent;
        if (part > size - used)
            part = size - used;
        memcpy(buffer + used, text->step + text->step_sent, part);
        text->step_sent += part;
        used += part;
    }
    return used;
}

static const struct writer_vtable text_writer_vtable = {text_next};

// How many elements are shown: edges of every dimension multiply.
static int64_t count_shown(const struct text_writer *text)
{
    int64_t shown = 1;
    for (int i = 0; i < text->base.options.ndim; i++)
        shown *= is_cut(text, i) ? 2 * EDGE_ITEMS : text->base.options.shape[i];
    return shown; // at most the elements there are
}

enum status text_writer_open(const struct writer_options *options, struct writer **out,
                             struct problem *problem)
{
    enum status status = writer_allocate(sizeof(struct text_writer), &text_writer_vtable,
                                         options, out, problem);
    if (status != STATUS_OK)
        return status;
    struct text_writer *text = (struct text_writer *)*out;
    text->summarize = (*out)->count > THRESHOLD;
    text->opening = options->ndim;
    int64_t stride = 1;
    for (int i = options->ndim - 1; i >= 0; i--) {
        text->strides[i] = stride;
        stride *= (*out)->count > 0 ? options->shape[i] : 1;
    }
    if (count_shown(text) > MAX_SHOWN) {
        free(text);
        *out = NULL;
        return problem_set(problem, STATUS_NOT_ACCEPTABLE,
                           "Even its edges alone are too many elements for text. Choose "
                           "a part with index=.");
    }
    text_format_begin(&text->format, options->dtype);
    see_all(text);
    int indent = INDENT + (options->ndim > 0 ? options->ndim - 1 : 0);
    text->per_line = (LINE_WIDTH - indent) / (text->format.width + 2);
    if (text->per_line < 1)
        text->per_line = 1;
    return STATUS_OK;
}
