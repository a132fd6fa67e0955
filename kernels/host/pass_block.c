// SPDX-License-Identifier: Apache-2.0
// One block: inputs become packed arrays (in place where their memory is packed already),
// steps run over them, the result is stored. Runs on any thread, on a frame of its own.
#include "kernels/host/pass_internal.h"

// ---- Linear ranges

// The element offset of position i of the space.
static int64_t view_offset(const struct view *view, int64_t i)
{
    int64_t offset = 0;
    for (int d = view->ndim - 1; d > 0; d--) {
        offset += i % view->shape[d] * view->strides[d];
        i /= view->shape[d];
    }
    return view->ndim > 0 ? offset + i * view->strides[0] : 0;
}

char *operand_address(const struct operand *operand, int64_t start, int64_t n)
{
    if (operand->linear)
        return operand->data + start * operand->size;
    if (operand->run == 1 || start % operand->run + n > operand->run)
        return NULL;
    return operand->data + view_offset(&operand->view, start) * operand->size;
}

// Moves elements [start, start + n) between the operand and packed memory, in boxes of
// whole innermost rows where possible.
static void move_linear(const struct level *level, const struct operand *operand,
                        int64_t start, int64_t n, char *packed, bool scatter)
{
    const struct view *view = &operand->view;
    copy_function *copy = level->copies->copy[operand->size_log2];
    int last = view->ndim - 1;
    int64_t inner = last >= 0 ? view->shape[last] : 1;
    int64_t step = last >= 0 ? view->strides[last] : 1;
    int64_t row_step = last >= 1 ? view->strides[last - 1] : 0;
    int64_t row_extent = last >= 1 ? view->shape[last - 1] : 1;
    while (n > 0) {
        int64_t column = start % inner, rows = 1, columns = inner - column;
        if (column == 0 && n >= 2 * inner) {
            rows = row_extent - start / inner % row_extent;
            rows = rows < n / inner ? rows : n / inner;
        } else if (columns > n) {
            columns = n;
        }
        char *memory = operand->data + view_offset(view, start) * operand->size;
        if (scatter)
            copy(memory, row_step, step, packed, columns, 1, rows, columns);
        else
            copy(packed, columns, 1, memory, row_step, step, rows, columns);
        start += rows * columns;
        n -= rows * columns;
        packed += rows * columns * operand->size;
    }
}

void operand_scatter(const struct level *level, const struct operand *operand,
                     int64_t start, int64_t n, const void *packed)
{
    char *address = operand_address(operand, start, n);
    if (address != NULL)
        memcpy(address, packed, (size_t)(n * operand->size));
    else
        move_linear(level, operand, start, n, (char *)(uintptr_t)packed, true);
}

// slot: where packed values of the slot type may be made.
static const void *load_linear(struct frame *frame, const struct host_input *input,
                               int64_t start, int64_t n, char *slot)
{
    const struct level *level = frame->pass->level;
    if (input->kind == PASS_INDEX) {
        level->copies->iota((int64_t *)(void *)slot, start, 0, 1, 1, n);
        return slot;
    }
    const void *source = operand_address(&input->operand, start, n);
    if (source == NULL) {
        char *packed = input->widen != NULL ? frame->raw : slot;
        move_linear(level, &input->operand, start, n, packed, false);
        source = packed;
    }
    if (input->widen == NULL)
        return source;
    input->widen(slot, source, NULL, NULL, n, frame->faults);
    return slot;
}

// ---- Tiles
int64_t tile_offset(const struct host_pass *pass, const int64_t *strides, int64_t outer,
                    int64_t row, int64_t column)
{
    int last = pass->tile_ndim - 1;
    int64_t offset = column * strides[last];
    for (int d = last - 1; d > pass->tile_outer_ndim; d--) {
        offset += row % pass->tile_shape[d] * strides[d];
        row /= pass->tile_shape[d];
    }
    if (last > pass->tile_outer_ndim)
        offset += row * strides[pass->tile_outer_ndim];
    for (int d = pass->tile_outer_ndim - 1; d >= 0; d--) {
        offset += outer % pass->tile_shape[d] * strides[d];
        outer /= pass->tile_shape[d];
    }
    return offset;
}

// Rows from `row` on that lie in one row dim.
static int64_t adjacent_rows(const struct host_pass *pass, int64_t row, int64_t rows)
{
    int64_t extent = pass->tile_ndim - 1 > pass->tile_outer_ndim
                         ? pass->tile_shape[pass->tile_ndim - 2]
                         : 1;
    int64_t rest = extent - row % extent;
    return rest < rows ? rest : rows;
}

static const void *load_tile(struct frame *frame, const struct host_input *input,
                             const struct tile *tile, char *slot)
{
    const struct host_pass *pass = frame->pass;
    const struct operand *operand = &input->operand;
    const int64_t *strides = operand->tile_strides;
    int64_t row_step = pass->tile_ndim > 1 ? strides[pass->tile_ndim - 2] : 0;
    int64_t column_step = strides[pass->tile_ndim - 1];
    int64_t row = tile->row, end = tile->row + tile->rows, n = tile->rows * tile->columns;
    char *packed = input->widen != NULL ? frame->raw : slot;
    const void *source = packed;
    while (row < end) {
        int64_t rows = adjacent_rows(pass, row, end - row);
        int64_t offset = tile_offset(pass, strides, tile->outer, row, tile->column);
        const char *memory = operand->data + offset * operand->size;
        char *to = packed + (row - tile->row) * tile->columns * operand->size;
        bool adjacent = column_step == 1 && (rows == 1 || row_step == tile->columns);
        if (input->kind == PASS_INDEX)
            pass->level->copies->iota((int64_t *)(void *)to, offset, row_step,
                                      column_step, rows, tile->columns);
        else if (adjacent && rows == tile->rows)
            source = memory;
        else
            pass->level->copies->copy[operand->size_log2](
                to, tile->columns, 1, memory, row_step, column_step, rows, tile->columns);
        row += rows;
    }
    if (input->widen == NULL)
        return source;
    input->widen(slot, source, NULL, NULL, n, frame->faults);
    return slot;
}

// ---- Steps
void frame_begin(struct frame *frame, const struct host_pass *pass, int *faults)
{
    frame->pass = pass;
    frame->faults = faults;
    int64_t n = pass->block < pass->count ? pass->block : pass->count;
    for (int i = 0; i < pass->n_inputs; i++) {
        const struct host_input *input = &pass->inputs[i];
        if (!input->used || !input_is_uniform(input))
            continue;
        char *slot = frame_slot(frame, input->slot);
        union element element = input->constant;
        if (input->kind == PASS_MEMORY) {
            memcpy(element.bytes, input->operand.data, (size_t)input->operand.size);
            if (input->widen != NULL) {
                uint16_t bits = element.bits16;
                input->widen(&element.f32, &bits, NULL, NULL, 1, faults);
            }
        }
        pass->level->copies->fill[input->slot_size_log2](slot, &element, n);
        frame->registers[i] = slot;
    }
}

// Runs the steps over n packed elements.
static const void *run_steps(struct frame *frame, int64_t n, void *into)
{
    const struct host_pass *pass = frame->pass;
    const void **registers = frame->registers;
    for (int i = 0; i < pass->n_steps; i++) {
        const struct step *step = &pass->steps[i];
        void *to = frame_slot(frame, step->slot);
        if (into != NULL && step->result == pass->result)
            to = into;
        const void *a = registers[step->a];
        if (step->function != NULL) {
            step->function(to, a, registers[step->b], registers[step->c], n,
                           frame->faults);
            a = to;
        }
        if (step->round != NULL)
            step->round(to, a, NULL, NULL, n, frame->faults);
        registers[step->result] = to;
    }
    return registers[pass->result];
}

const void *evaluate_linear(struct frame *frame, int64_t start, int64_t n, void *into)
{
    const struct host_pass *pass = frame->pass;
    for (int i = 0; i < pass->n_inputs; i++) {
        const struct host_input *input = &pass->inputs[i];
        if (!input->used || input_is_uniform(input))
            continue;
        char *slot =
            into != NULL && i == pass->result ? into : frame_slot(frame, input->slot);
        frame->registers[i] = load_linear(frame, input, start, n, slot);
    }
    return run_steps(frame, n, into);
}

const void *evaluate_tile(struct frame *frame, const struct tile *tile)
{
    const struct host_pass *pass = frame->pass;
    for (int i = 0; i < pass->n_inputs; i++) {
        const struct host_input *input = &pass->inputs[i];
        if (input->used && !input_is_uniform(input))
            frame->registers[i] =
                load_tile(frame, input, tile, frame_slot(frame, input->slot));
    }
    return run_steps(frame, tile->rows * tile->columns, NULL);
}

void store_linear(struct frame *frame, const void *values, int64_t start, int64_t n)
{
    const struct host_pass *pass = frame->pass;
    char *address = operand_address(&pass->output, start, n);
    if (address == values)
        return;
    if (pass->narrow != NULL) {
        bool direct = address != NULL && !pass->stream;
        void *to = direct ? (void *)address : frame->raw;
        pass->narrow(to, values, NULL, NULL, n, frame->faults);
        if (direct)
            return;
        values = to;
    }
    if (pass->stream)
        pass->level->copies->stream(address, values, n * pass->output.size);
    else
        operand_scatter(pass->level, &pass->output, start, n, values);
}
