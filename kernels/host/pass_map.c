// SPDX-License-Identifier: Apache-2.0
// Units of passes without a reduction: one block each. Runs on any thread.
#include "kernels/host/pass_internal.h"

static void linear_unit(struct frame *frame, int64_t unit)
{
    const struct host_pass *pass = frame->pass;
    int64_t offset = unit % pass->pieces * pass->piece;
    int64_t n = pass->run - offset < pass->piece ? pass->run - offset : pass->piece;
    int64_t start = unit / pass->pieces * pass->run + offset;
    bool straight = pass->narrow == NULL && !pass->stream;
    void *into = straight ? operand_address(&pass->output, start, n) : NULL;
    store_linear(frame, evaluate_linear(frame, start, n, into), start, n);
}

static void tile_unit(struct frame *frame, int64_t unit)
{
    const struct host_pass *pass = frame->pass;
    const struct operand *output = &pass->output;
    copy_function *copy = pass->level->copies->copy[output->size_log2];
    int64_t column_block = unit % pass->column_blocks;
    int64_t row_block = unit / pass->column_blocks % pass->row_blocks;
    struct tile tile = {.outer = unit / pass->column_blocks / pass->row_blocks,
                        .row = row_block * pass->block_rows,
                        .column = column_block * pass->block_columns};
    int64_t rows = pass->tile_rows - tile.row, columns = pass->tile_columns - tile.column;
    tile.rows = rows < pass->block_rows ? rows : pass->block_rows;
    tile.columns = columns < pass->block_columns ? columns : pass->block_columns;

    const int64_t *to_steps = output->tile_strides + pass->tile_ndim - 2;
    int64_t offset =
        tile_offset(pass, output->tile_strides, tile.outer, tile.row, tile.column);
    char *to = output->data + offset * output->size;
    const struct host_input *input = &pass->inputs[pass->result % PASS_MAX_INPUTS];
    if (pass->copy && input->kind == PASS_MEMORY && !input->operand.uniform) {
        const int64_t *from_steps = input->operand.tile_strides + pass->tile_ndim - 2;
        int64_t from = tile_offset(pass, input->operand.tile_strides, tile.outer,
                                   tile.row, tile.column);
        copy(to, to_steps[0], to_steps[1],
             input->operand.data + from * input->operand.size, from_steps[0],
             from_steps[1], tile.rows, tile.columns);
        return;
    }
    const void *values = evaluate_tile(frame, &tile);
    if (pass->narrow != NULL) {
        pass->narrow(frame->raw, values, NULL, NULL, tile.rows * tile.columns,
                     frame->faults);
        values = frame->raw;
    }
    copy(to, to_steps[0], to_steps[1], values, tile.columns, 1, tile.rows, tile.columns);
}

void map_unit(struct frame *frame, int64_t unit)
{
    if (frame->pass->mode == MODE_TILES)
        tile_unit(frame, unit);
    else
        linear_unit(frame, unit);
}
