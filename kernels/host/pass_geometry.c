// SPDX-License-Identifier: Apache-2.0
// From shapes and strides to blocks, units and spans. Nothing here changes a result: a
// reduction's tree is fixed by the number of reduced elements (pass.h), and segments are
// whole subtrees of it. Runs once per pass.
#include "kernels/host/pass_internal.h"

enum {
    SPAN_BYTES = 192 << 10,   // traffic of a span
    SPAN_NANOSECONDS = 60000, // its arithmetic
    STREAM_BYTES = 8 << 20,   // outputs beyond this are written past the cache
    TILE_SIDE = 32,           // of a square tile of MAX_BLOCK elements
    MOST_PARTIALS = 1 << 18,
};

static int64_t minimum(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t maximum(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}
// The largest power of two <= value (>= 1).
static int64_t power_below(int64_t value)
{
    int64_t power = 1;
    while (power <= value / 2)
        power *= 2;
    return power;
}

void operand_prepare(struct operand *operand, int ndim, const int64_t *shape,
                     const int64_t *strides)
{
    struct view *view = &operand->view;
    int count = 0; // built from the innermost dim, then reversed
    for (int d = ndim - 1; d >= 0; d--) {
        if (shape[d] == 1)
            continue;
        int last = count - 1;
        if (count > 0 && strides[d] == view->strides[last] * view->shape[last]) {
            view->shape[last] *= shape[d];
            continue;
        }
        view->shape[count] = shape[d];
        view->strides[count++] = strides[d];
    }
    for (int i = 0; i < count / 2; i++) {
        int64_t size = view->shape[i], stride = view->strides[i];
        view->shape[i] = view->shape[count - 1 - i];
        view->strides[i] = view->strides[count - 1 - i];
        view->shape[count - 1 - i] = size;
        view->strides[count - 1 - i] = stride;
    }
    view->ndim = count;
    operand->linear = count == 0 || (count == 1 && view->strides[0] == 1);
    operand->uniform = count == 1 && view->strides[0] == 0;
    operand->run =
        count > 0 && view->strides[count - 1] == 1 ? view->shape[count - 1] : 1;
}

// ---- Common dims, for tiles: dims that continue each other for every operand merged.
struct space {
    int ndim, kept_ndim;
    int64_t shape[PASS_MAX_NDIM];
    int n_operands; // inputs, then the output of a map
    int64_t strides[PASS_MAX_INPUTS + 1][PASS_MAX_NDIM];
};

static void index_strides(const struct pass *pass, int64_t *strides)
{
    int64_t stride = 1;
    for (int d = pass->ndim - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= pass->shape[d];
    }
}

static void space_prepare(struct space *space, const struct pass *pass)
{
    static const int64_t zeros[PASS_MAX_NDIM];
    const int64_t *strides[PASS_MAX_INPUTS + 1];
    int64_t linear[PASS_MAX_NDIM];
    index_strides(pass, linear);
    int kept = pass->ndim - pass->n_reduced;
    space->n_operands = pass->n_inputs + (pass->n_reduced == 0);
    for (int i = 0; i < pass->n_inputs; i++) {
        enum pass_input_kind kind = pass->inputs[i].kind;
        strides[i] = kind == PASS_MEMORY  ? pass->inputs[i].strides
                     : kind == PASS_INDEX ? linear
                                          : zeros;
    }
    strides[pass->n_inputs] = pass->output_strides;
    space->ndim = space->kept_ndim = 0;
    for (int d = 0; d < pass->ndim; d++) {
        if (pass->shape[d] == 1)
            continue;
        bool first_reduced = d >= kept && space->ndim == space->kept_ndim;
        bool merges = space->ndim > 0 && !first_reduced;
        for (int i = 0; merges && i < space->n_operands; i++)
            merges = space->strides[i][space->ndim - 1] == strides[i][d] * pass->shape[d];
        if (!merges)
            space->shape[space->ndim++] = 1;
        space->shape[space->ndim - 1] *= pass->shape[d];
        for (int i = 0; i < space->n_operands; i++)
            space->strides[i][space->ndim - 1] = strides[i][d];
        if (d < kept)
            space->kept_ndim = space->ndim;
    }
}

// Lays the dims of tiles out: outer ones, then rows [row_first, row_end), then column.
static void tile_dims(struct host_pass *out, const struct space *space, int row_first,
                      int row_end, int column)
{
    int order[PASS_MAX_NDIM], n = 0;
    for (int d = 0; d < space->ndim; d++)
        if ((d < row_first || d >= row_end) && d != column)
            order[n++] = d;
    out->tile_outer_ndim = n;
    out->tile_rows = 1;
    for (int d = row_first; d < row_end; d++) {
        order[n++] = d;
        out->tile_rows *= space->shape[d];
    }
    order[n++] = column;
    out->tile_columns = space->shape[column];
    out->tile_ndim = n;
    for (int i = 0; i < n; i++) {
        out->tile_shape[i] = space->shape[order[i]];
        for (int j = 0; j < out->n_inputs; j++)
            out->inputs[j].operand.tile_strides[i] = space->strides[j][order[i]];
        if (space->n_operands > out->n_inputs)
            out->output.tile_strides[i] = space->strides[out->n_inputs][order[i]];
    }
}

// Bytes that an element costs in memory traffic.
static int64_t traffic(const struct host_pass *out)
{
    int64_t bytes = out->reduce == PASS_NO_REDUCE ? out->output.size : 0;
    for (int i = 0; i < out->n_inputs; i++)
        if (out->inputs[i].kind == PASS_MEMORY && !out->inputs[i].operand.uniform)
            bytes += out->inputs[i].operand.size;
    return maximum(bytes, 1);
}

// Elements of a span.
static int64_t span_elements(const struct host_pass *out)
{
    int64_t by_time = (int64_t)(SPAN_NANOSECONDS / out->cost);
    return maximum(minimum(SPAN_BYTES / traffic(out), by_time), MIN_BLOCK);
}

static void set_units(struct host_pass *out, int64_t units, int64_t elements_per_unit)
{
    out->units = units;
    out->units_per_span =
        minimum(maximum(span_elements(out) / maximum(elements_per_unit, 1), 1), units);
    out->spans = divide_up(units, out->units_per_span);
}

// ---- Maps
static const struct operand *strided_operand(const struct host_pass *out, int i)
{
    const struct operand *operand =
        i < out->n_inputs ? &out->inputs[i].operand : &out->output;
    if (i < out->n_inputs && out->inputs[i].kind != PASS_MEMORY)
        return NULL;
    return operand->linear || operand->uniform ? NULL : operand;
}

// Blocks that do not cross the rows of strided operands, if these are long: they are used
// in place.
static void linear_prepare(struct host_pass *out)
{
    int64_t run = out->count;
    for (int i = 0; i <= out->n_inputs; i++) {
        const struct operand *operand = strided_operand(out, i);
        if (operand == NULL)
            continue;
        int64_t inner = operand->view.shape[operand->view.ndim - 1];
        if (inner >= MIN_BLOCK && run % inner == 0)
            run = inner;
    }
    out->mode = MODE_LINEAR;
    out->run = run;
    out->pieces = divide_up(run, out->block);
    out->piece = run == out->count ? out->block : divide_up(run, out->pieces);
    set_units(out, out->count / run * out->pieces, out->piece);
}

// The dim an operand is adjacent in, if that is not the innermost one and both are long
// enough for tiles.
static int crossing_dim(const struct space *space)
{
    int last = space->ndim - 1;
    for (int i = 0; last > 0 && i < space->n_operands; i++) {
        const int64_t *strides = space->strides[i];
        if (strides[last] < 8 || space->shape[last] < TILE_SIDE / 2)
            continue;
        for (int d = last - 1; d >= 0; d--)
            if (strides[d] > 0 && strides[d] < 8 && strides[d] * 8 <= strides[last] &&
                space->shape[d] >= TILE_SIDE / 2)
                return d;
    }
    return -1;
}

static bool tiles_prepare(struct host_pass *out, const struct pass *pass)
{
    struct space space;
    int strided = 0;
    for (int i = 0; i <= out->n_inputs; i++)
        strided += strided_operand(out, i) != NULL;
    if (strided == 0)
        return false;
    space_prepare(&space, pass);
    int row = crossing_dim(&space);
    if (row < 0)
        return false;
    tile_dims(out, &space, row, row + 1, space.ndim - 1);
    out->mode = MODE_TILES;
    int64_t side = out->block >= MAX_BLOCK ? TILE_SIDE : TILE_SIDE / 2;
    out->block_columns = minimum(side, out->tile_columns);
    out->block_rows = minimum(out->block / out->block_columns, out->tile_rows);
    out->row_blocks = divide_up(out->tile_rows, out->block_rows);
    out->column_blocks = divide_up(out->tile_columns, out->block_columns);
    int64_t outer = out->count / out->tile_rows / out->tile_columns;
    set_units(out, outer * out->row_blocks * out->column_blocks,
              out->block_rows * out->block_columns);
    return true;
}

static void decide_stream(struct host_pass *out)
{
    out->stream = out->output.linear && out->count > STREAM_BYTES / out->output.size;
    for (int i = 0; i < out->n_inputs; i++)
        if (out->inputs[i].kind == PASS_MEMORY &&
            out->inputs[i].operand.data == out->output.data)
            out->stream = false; // in place: the lines are in the cache
}

// ---- Reductions
static const struct level_reducer *choose_reducer(const struct host_pass *out)
{
    static const enum reducer kinds[] = {
        [PASS_SUM] = REDUCER_SUM,    [PASS_PROD] = REDUCER_PROD,
        [PASS_MEAN] = REDUCER_SUM,   [PASS_MIN] = REDUCER_MIN,
        [PASS_MAX] = REDUCER_MAX,    [PASS_ALL] = REDUCER_MIN,
        [PASS_ANY] = REDUCER_MAX,    [PASS_ARGMIN] = REDUCER_MIN,
        [PASS_ARGMAX] = REDUCER_MAX,
    };
    return out->level->reducers->of[kinds[out->reduce]][out->result_dtype];
}

// Whether the elements of a column lie further apart than those of a row in most of the
// memory that is read.
static bool columns_are_adjacent(const struct space *space, const struct host_pass *out)
{
    int column = space->kept_ndim - 1, row = space->ndim - 1, votes = 0;
    if (column < 0 || row <= column || space->shape[column] < 2)
        return false;
    for (int i = 0; i < out->n_inputs; i++) {
        if (out->inputs[i].kind != PASS_MEMORY)
            continue;
        int64_t across = space->strides[i][column], along = space->strides[i][row];
        votes += (across < along) - (along < across);
    }
    return votes > 0;
}

// Cuts the reduced extent into whole subtrees of about `length` elements; longer ones if
// combining them at the end would take long.
static void set_segments(struct host_pass *out, int64_t length, int64_t columns)
{
    length = power_below(length);
    while (length * columns < LONGEST_SEGMENT &&
           divide_up(out->reduced, length) > MOST_PARTIALS / out->kept + 1)
        length *= 2;
    out->segment = minimum(length, out->reduced);
    out->segments = divide_up(out->reduced, out->segment);
}

static void columns_prepare(struct host_pass *out, const struct space *space)
{
    tile_dims(out, space, space->kept_ndim, space->ndim, space->kept_ndim - 1);
    out->mode = MODE_COLUMNS;
    int64_t widest = out->block / (2 * REDUCE_LANES); // as STRIP, for smaller blocks
    out->column_blocks = divide_up(out->tile_columns, widest);
    out->block_columns = divide_up(out->tile_columns, out->column_blocks);
    out->block_rows = minimum(power_below(out->block / out->block_columns), REDUCE_LEAF);
    out->bands = divide_up(out->column_blocks, BAND);
    int64_t width = minimum(BAND, out->column_blocks) * out->block_columns;
    set_segments(out, maximum(span_elements(out) / width, REDUCE_LEAF), width);
    int64_t outer = out->kept / out->tile_columns;
    set_units(out, outer * out->bands * out->segments, out->segment * width);
}

static void rows_prepare(struct host_pass *out)
{
    bool strided = false;
    for (int i = 0; i < out->n_inputs; i++)
        strided |= strided_operand(out, i) != NULL;
    out->mode = MODE_ROWS;
    out->rows_per_unit = maximum(out->block / out->reduced, 1);
    if (strided && out->reduced >= MIN_BLOCK)
        out->rows_per_unit = 1; // a row at a time is often used in place
    set_segments(out, maximum(span_elements(out), PASS_REDUCE_BLOCK), 1);
    set_units(out, divide_up(out->kept, out->rows_per_unit) * out->segments,
              out->segment * out->rows_per_unit);
}

static void reduction_prepare(struct host_pass *out, const struct pass *pass)
{
    struct space space;
    bool arg = pass->reduce == PASS_ARGMIN || pass->reduce == PASS_ARGMAX;
    const struct level_reducers *reducers = out->level->reducers;
    out->reducer = choose_reducer(out);
    out->accumulator_size = dtype_size(out->reducer->accumulator);
    out->arg_reducer = NULL;
    if (arg)
        out->arg_reducer = pass->reduce == PASS_ARGMIN
                               ? reducers->minimum[out->result_dtype]
                               : reducers->maximum[out->result_dtype];
    space_prepare(&space, pass);
    if (columns_are_adjacent(&space, out))
        columns_prepare(out, &space);
    else
        rows_prepare(out);
}

void pass_geometry_prepare(struct host_pass *out, const struct pass *pass)
{
    out->kept = out->reduced = 1;
    for (int d = 0; d < pass->ndim; d++) {
        if (d < pass->ndim - pass->n_reduced)
            out->kept *= pass->shape[d];
        else
            out->reduced *= pass->shape[d];
    }
    out->count = out->kept * out->reduced;
    int64_t comfortable = ARENA_COMFORT / ((int64_t)out->n_slots * out->slot_bytes + 1);
    out->block =
        maximum(minimum(power_below(maximum(comfortable, 1)), MAX_BLOCK), MIN_BLOCK);
    out->segments = 1;
    out->partials = NULL;
    out->partial_indices = NULL;
    out->stream = false;
    if (out->reduce != PASS_NO_REDUCE) {
        reduction_prepare(out, pass);
        return;
    }
    decide_stream(out);
    if (!tiles_prepare(out, pass))
        linear_prepare(out);
}
