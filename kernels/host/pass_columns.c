// SPDX-License-Identifier: Apache-2.0
// Units of reductions whose memory is adjacent across the results: columns are added up
// side by side. A unit is a segment of a band of strips; a strip is as wide as a block
// allows, and a band takes turns among its strips, so that longer pieces of each row are
// read at a time. Runs on any thread.
#include "kernels/host/pass_internal.h"
#include "kernels/host/pass_tree.h"

struct strip {
    struct tile tile;
    struct tree tree;
    int64_t first; // output of its first column
    int64_t indices[STRIP];
    _Alignas(64) char best[STRIP * 8];
    _Alignas(64) char lanes[REDUCE_LANES * STRIP * 8];
    _Alignas(64) char stack[SEGMENT_DEPTH * STRIP * 8];
};

static int make_strips(const struct host_pass *pass, int64_t band, int64_t segment,
                       struct strip *strips)
{
    int count = 0;
    int64_t outer = band / pass->bands;
    int64_t column = band % pass->bands * BAND * pass->block_columns;
    for (; count < BAND && column < pass->tile_columns; column += pass->block_columns) {
        struct strip *strip = &strips[count++];
        int64_t rest = pass->tile_columns - column;
        int64_t columns = rest < pass->block_columns ? rest : pass->block_columns;
        strip->tile = (struct tile){outer, segment * pass->segment, column, 0, columns};
        strip->tree = (struct tree){
            pass->reducer, strip->stack, columns, columns * pass->accumulator_size, 0, 0};
        strip->first = outer * pass->tile_columns + column;
    }
    return count;
}

static void add_rows(struct frame *frame, struct strip *strip, int64_t row, int64_t rows)
{
    const struct host_pass *pass = frame->pass;
    strip->tile.row = row;
    strip->tile.rows = rows;
    const void *values = evaluate_tile(frame, &strip->tile);
    if (pass->arg_reducer != NULL)
        pass->arg_reducer->columns(strip->best, strip->indices, values, rows,
                                   strip->tile.columns, row);
    else
        pass->reducer->columns(strip->lanes, values, rows, strip->tile.columns);
}

// One leaf of every column; for arg reductions just as many rows.
static void add_leaf(struct frame *frame, struct strip *strips, int count, int64_t row,
                     int64_t end)
{
    const struct host_pass *pass = frame->pass;
    bool arg = pass->arg_reducer != NULL;
    for (int i = 0; !arg && i < count; i++)
        pass->reducer->start(strips[i].lanes, REDUCE_LANES * strips[i].tile.columns);
    for (; row < end; row += pass->block_rows) {
        int64_t rows = end - row < pass->block_rows ? end - row : pass->block_rows;
        for (int i = 0; i < count; i++)
            add_rows(frame, &strips[i], row, rows);
    }
    for (int i = 0; !arg && i < count; i++) {
        pass->reducer->fold(strips[i].lanes, strips[i].tile.columns);
        tree_push(&strips[i].tree, strips[i].lanes);
    }
}

void columns_unit(struct frame *frame, int64_t unit)
{
    const struct host_pass *pass = frame->pass;
    struct strip strips[BAND];
    int64_t segment = unit % pass->segments, row = segment * pass->segment;
    int64_t end = row + segment_length(pass, segment);
    int count = make_strips(pass, unit / pass->segments, segment, strips);
    for (int i = 0; pass->arg_reducer != NULL && i < count; i++)
        memset(strips[i].indices, -1, sizeof strips[i].indices);
    for (; row < end; row += REDUCE_LEAF)
        add_leaf(frame, strips, count, row,
                 row + REDUCE_LEAF < end ? row + REDUCE_LEAF : end);
    for (int i = 0; i < count; i++) {
        struct strip *strip = &strips[i];
        bool arg = pass->arg_reducer != NULL;
        void *accumulators = arg ? strip->best : tree_root(&strip->tree);
        deliver(frame, accumulators, arg ? strip->indices : NULL, strip->first,
                strip->tile.columns, segment);
    }
}
