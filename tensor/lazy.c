// SPDX-License-Identifier: Apache-2.0
// Lazies: views of cells, how they are read, and writes (cells.h).
#include "tensor/cells_internal.h"

#include <stddef.h>
#include <stdlib.h>

// Under a sanitizer lazies are not recycled: a use after free must be seen.
#if defined(__SANITIZE_ADDRESS__)
enum { POOLED = 0 };
#else
enum { POOLED = 1 };
#endif

// Layouts end after their last dimension; those with few are recycled.
static size_t lazy_size(int ndim)
{
    int room = ndim > POOLED_NDIM ? ndim : POOLED_NDIM;
    return offsetof(struct lazy, layout) + offsetof(struct layout, strides) +
           (size_t)room * sizeof(int64_t);
}

static struct lazy *lazy_take(struct cells *cells, int ndim)
{
    struct lazy *lazy = cells->free_lazies;
    if (!lazy || ndim > POOLED_NDIM)
        return malloc(lazy_size(ndim));
    cells->free_lazies = lazy->next;
    return lazy;
}

struct lazy *lazy_new(struct cell *cell, const struct layout *layout, int64_t offset,
                      struct problem *problem)
{
    struct cells *cells = cell->cells;
    struct lazy *lazy = lazy_take(cells, layout->ndim);
    if (!lazy) {
        problem_set(problem, STATUS_OUT_OF_MEMORY,
                    "no host memory for a value of the program");
        return NULL;
    }
    lazy->cell = cell;
    lazy->references = 1;
    lazy->offset = offset;
    lazy->count = 0;
    size_of_shape(layout->ndim, layout->shape, &lazy->count); // has been checked
    lazy->read = lazy->content = NULL;
    lazy->epoch = 0;
    lazy->host = NULL;
    lazy->host_bytes = 0;
    lazy->wanted = false;
    layout_copy(&lazy->layout, layout);
    lazy->previous = NULL;
    lazy->next = cells->lazies;
    if (lazy->next)
        lazy->next->previous = lazy;
    cells->lazies = lazy;
    cell->references++;
    return lazy;
}

struct lazy *lazy_reference(struct lazy *lazy)
{
    lazy->references++;
    return lazy;
}

void lazy_drop_host(struct lazy *lazy)
{
    if (!lazy->host)
        return;
    tensor_release(lazy->host);
    lazy->host = NULL;
    lazy->cell->cells->held[0] -= lazy->host_bytes;
    lazy->host_bytes = 0;
}

void lazy_release(struct lazy *lazy)
{
    if (!lazy || --lazy->references > 0)
        return;
    struct cells *cells = lazy->cell->cells;
    lazy_drop_host(lazy);
    cell_release(lazy->cell);
    if (lazy->next)
        lazy->next->previous = lazy->previous;
    if (lazy->previous)
        lazy->previous->next = lazy->next;
    else
        cells->lazies = lazy->next;
    if (!POOLED || lazy->layout.ndim > POOLED_NDIM) {
        free(lazy);
        return;
    }
    lazy->next = cells->free_lazies;
    cells->free_lazies = lazy;
}

// ---- What it is
enum dtype lazy_dtype(const struct lazy *lazy)
{
    return lazy->cell->dtype;
}
const struct layout *lazy_layout(const struct lazy *lazy)
{
    return &lazy->layout;
}
int64_t lazy_offset(const struct lazy *lazy)
{
    return lazy->offset;
}
int64_t lazy_count(const struct lazy *lazy)
{
    return lazy->count;
}
struct device *lazy_device(const struct lazy *lazy)
{
    return lazy->cell->device;
}
bool lazy_same_cell(const struct lazy *a, const struct lazy *b)
{
    return a->cell == b->cell;
}
int64_t lazy_storage_count(const struct lazy *lazy)
{
    return lazy->cell->count;
}

uint64_t lazy_storage_id(const struct lazy *lazy)
{
    struct cell *cell = lazy->cell;
    if (cell->id == 0)
        cell->id = cell->storage ? storage_id(cell->storage) : storage_fresh_id();
    return cell->id;
}

// ---- Views
// Whether offset and layout address only elements of a cell of count elements.
static bool lies_within(const struct layout *layout, int64_t offset, int64_t count)
{
    int64_t last = offset, reach;
    if (offset < 0)
        return false;
    for (int i = 0; i < layout->ndim; i++)
        if (layout->shape[i] == 0)
            return offset <= count;
    for (int i = 0; i < layout->ndim; i++)
        if (!size_multiply(layout->shape[i] - 1, layout->strides[i], &reach) ||
            !size_add(last, reach, &last))
            return false;
    return last < count;
}

enum status lazy_view(struct lazy *lazy, const struct layout *layout, int64_t offset,
                      struct lazy **out, struct problem *problem)
{
    enum status status = shape_check(layout->ndim, layout->shape,
                                     dtype_size(lazy->cell->dtype), NULL, problem);
    if (status != STATUS_OK)
        return status;
    if (!lies_within(layout, offset, lazy->cell->count))
        return problem_set(problem, STATUS_SHAPE,
                           "the view reaches beyond the elements of its tensor");
    *out = lazy_new(lazy->cell, layout, offset, problem);
    return *out ? STATUS_OK : problem->status;
}

// ---- Reading
static bool is_whole(const struct lazy *lazy, const struct node *content)
{
    return lazy->offset == 0 && lazy->count == content->count &&
           layout_is_contiguous(&lazy->layout) &&
           layout_same_shape(&lazy->layout, content->layout);
}

struct node *lazy_node(struct lazy *lazy, struct problem *problem)
{
    struct cells *cells = lazy->cell->cells;
    struct node *content = cell_node(lazy->cell, problem);
    if (!content)
        return NULL;
    if (lazy->read && lazy->content == content && lazy->epoch == cells->epoch)
        return lazy->read;
    struct node *node =
        is_whole(lazy, content)
            ? content
            : node_view(cells->graph, content, &lazy->layout, lazy->offset, problem);
    lazy->read = node;
    lazy->content = content;
    lazy->epoch = cells->epoch;
    return node;
}

// ---- Writing
enum status lazy_check_writable(const struct lazy *target, bool uniform,
                                struct problem *problem)
{
    if (target->cell->readonly)
        return problem_set(problem, STATUS_FORBIDDEN,
                           "the tensor is read-only (by its name or one that shares its "
                           "storage); write to a clone");
    if (!uniform && target->count > 0 && layout_overlaps_itself(&target->layout))
        return problem_set(
            problem, STATUS_VALUE,
            "an expanded tensor cannot be written: several of its elements "
            "are one place in memory; clone it first");
    return STATUS_OK;
}

// Whether a layout of as many elements as its cell has addresses each once: its strides
// are those of C order in some order of its dims.
static bool is_dense(const struct layout *layout)
{
    int64_t expected = 1;
    uint32_t seen = 0;
    for (int n = 0; n < layout->ndim; n++) {
        int next = -1;
        for (int d = 0; d < layout->ndim && next < 0; d++)
            if (!(seen >> d & 1) &&
                (layout->shape[d] == 1 || layout->strides[d] == expected))
                next = d;
        if (next < 0)
            return false;
        seen |= (uint32_t)1 << next;
        if (layout->shape[next] != 1 &&
            !size_multiply(expected, layout->shape[next], &expected))
            return false;
    }
    return true;
}

// The part of a cell that a write replaces.
struct part {
    struct layout layout;
    int64_t offset, count;
};

// Repeated elements are written once: the value is the same for them.
static void part_of(const struct lazy *target, struct part *out)
{
    layout_copy(&out->layout, &target->layout);
    out->offset = target->offset;
    out->count = target->count;
    for (int d = 0; d < out->layout.ndim; d++)
        if (out->layout.strides[d] == 0 && out->layout.shape[d] > 1) {
            out->count /= out->layout.shape[d];
            out->layout.shape[d] = 1;
        }
}

// value itself, or a copy with the part's shape.
static struct node *whole_content(struct cell *cell, const struct part *part,
                                  struct node *value, struct problem *problem)
{
    struct graph *graph = cell->cells->graph;
    if (layout_same_shape(value->layout, &part->layout))
        return value;
    const struct layout *layout =
        graph_layout(graph, part->layout.ndim, part->layout.shape, cell->dtype, problem);
    return layout ? node_clone(graph, value, layout, problem) : NULL;
}

static struct node *updated_content(struct cell *cell, const struct part *part,
                                    struct node *value, struct problem *problem)
{
    struct graph *graph = cell->cells->graph;
    if (part->count == cell->count && is_dense(&part->layout)) {
        const struct layout *flat =
            graph_layout(graph, 1, &cell->count, cell->dtype, problem);
        return flat ? node_update(graph, NULL, value, flat, &part->layout, part->offset,
                                  problem)
                    : NULL;
    }
    struct node *base = cell_node(cell, problem);
    return base ? node_update(graph, base, value, base->layout, &part->layout,
                              part->offset, problem)
                : NULL;
}

enum status lazy_write_node(struct lazy *target, struct node *value,
                            struct problem *problem)
{
    struct cell *cell = target->cell;
    struct part part;
    if (target->count == 0)
        return STATUS_OK;
    part_of(target, &part);
    bool whole = part.offset == 0 && part.count == cell->count &&
                 layout_is_contiguous(&part.layout);
    struct node *content = whole ? whole_content(cell, &part, value, problem)
                                 : updated_content(cell, &part, value, problem);
    if (!content || cell_set_node(cell, content, problem) != STATUS_OK)
        return problem->status;
    cell->written = true;
    cell->version++;
    return STATUS_OK;
}

// As PyTorch's index assignment: shapes are compared before anything else.
static enum status write(struct lazy *target, struct node *value, bool uniform,
                         struct problem *problem)
{
    struct graph *graph = target->cell->cells->graph;
    enum status status = graph_convert(graph, target->cell->dtype, &target->layout,
                                       target->cell->device, value, &value, problem);
    if (status == STATUS_OK)
        status = lazy_check_writable(target, uniform, problem);
    return status == STATUS_OK ? lazy_write_node(target, value, problem) : status;
}

enum status lazy_write(struct cells *cells, struct lazy *target, struct lazy *value,
                       struct problem *problem)
{
    (void)cells;
    struct node *node = lazy_node(value, problem);
    return node ? write(target, node, value->layout.ndim == 0, problem) : problem->status;
}

enum status lazy_write_number(struct cells *cells, struct lazy *target,
                              struct scalar value, struct problem *problem)
{
    struct node *node;
    struct graph *graph = cells_graph(cells, problem);
    if (!graph || graph_scalar(graph, value, &node, problem) != STATUS_OK)
        return problem->status;
    return write(target, node, true, problem);
}
