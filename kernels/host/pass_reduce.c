// SPDX-License-Identifier: Apache-2.0
// Units of passes with a reduction whose blocks are rows, the results, and the
// combination of segments. Runs on any thread; reduce_finish on one, when all units have
// run.
#include "kernels/host/pass_internal.h"
#include "kernels/host/pass_tree.h"

enum {
    FINISH_DEPTH = 48,
    FINISH_CHUNK = 32, // outputs combined at a time
};

// ---- Results

// Stores the outputs [first, first + n), n <= MAX_BLOCK. accumulators are changed.
static void store_results(struct frame *frame, void *accumulators, const int64_t *indices,
                          int64_t first, int64_t n)
{
    const struct host_pass *pass = frame->pass;
    const struct level_casts *casts = pass->level->casts;
    _Alignas(64) char converted[MAX_BLOCK * 8];
    enum dtype from = pass->reducer->accumulator, to = slot_dtype(pass->output_dtype);
    const void *values = accumulators;
    if (pass->arg_reducer != NULL) {
        from = DTYPE_INT64;
        values = indices;
    } else {
        pass->reducer->finish(accumulators, n);
    }
    if (pass->reduce == PASS_MEAN) {
        if (from == DTYPE_INT64)
            casts->cast[DTYPE_FLOAT64][DTYPE_INT64](accumulators, accumulators, NULL,
                                                    NULL, n, frame->faults);
        from = DTYPE_FLOAT64;
        double *means = accumulators;
        for (int64_t i = 0; i < n; i++)
            means[i] /= (double)pass->reduced;
    }
    if (from != to) {
        casts->cast[to][from](converted, values, NULL, NULL, n, frame->faults);
        values = converted;
    }
    store_linear(frame, values, first, n);
}

void deliver(struct frame *frame, void *accumulators, const int64_t *indices,
             int64_t first, int64_t n, int64_t segment)
{
    const struct host_pass *pass = frame->pass;
    if (pass->segments == 1) {
        store_results(frame, accumulators, indices, first, n);
        return;
    }
    int64_t at = segment * pass->kept + first;
    memcpy(pass->partials + at * pass->accumulator_size, accumulators,
           (size_t)(n * pass->accumulator_size));
    if (indices != NULL)
        memcpy(pass->partial_indices + at, indices, (size_t)n * sizeof *indices);
}

int64_t segment_length(const struct host_pass *pass, int64_t segment)
{
    int64_t rest = pass->reduced - segment * pass->segment;
    return rest < pass->segment ? rest : pass->segment;
}

// ---- Rows
static void *push_leaves(const struct host_pass *pass, struct tree *tree,
                         const char *values, int64_t n)
{
    int size = dtype_size(pass->result_dtype);
    _Alignas(64) char leaves[MAX_BLOCK / REDUCE_LEAF * 8];
    int64_t whole = n / REDUCE_LEAF, rest = n % REDUCE_LEAF;
    pass->reducer->rows(leaves, values, whole, REDUCE_LEAF);
    if (rest > 0)
        pass->reducer->rows(leaves + whole * pass->accumulator_size,
                            values + whole * REDUCE_LEAF * size, 1, rest);
    for (int64_t i = 0; i < whole + (rest > 0); i++)
        tree_push(tree, leaves + i * pass->accumulator_size);
    return tree->stack;
}

// `rows` whole rows, in one block.
static void whole_rows(struct frame *frame, int64_t first, int64_t rows)
{
    const struct host_pass *pass = frame->pass;
    _Alignas(64) char accumulators[MAX_BLOCK * 8], stack[8 * 8];
    int64_t indices[MAX_BLOCK], n = pass->reduced;
    const char *values = evaluate_linear(frame, first * n, rows * n, NULL);
    if (pass->arg_reducer != NULL) {
        memset(indices, -1, (size_t)rows * sizeof *indices);
        pass->arg_reducer->rows(accumulators, indices, values, rows, n, 0);
    } else if (n <= REDUCE_LEAF) {
        pass->reducer->rows(accumulators, values, rows, n);
    } else {
        for (int64_t r = 0; r < rows; r++) {
            struct tree tree = {pass->reducer, stack, 1, pass->accumulator_size, 0, 0};
            push_leaves(pass, &tree, values + r * n * dtype_size(pass->result_dtype), n);
            memcpy(accumulators + r * pass->accumulator_size, tree_root(&tree),
                   (size_t)pass->accumulator_size);
        }
    }
    deliver(frame, accumulators, pass->arg_reducer != NULL ? indices : NULL, first, rows,
            0);
}

// One segment of one row, block by block.
static void row_segment(struct frame *frame, int64_t row, int64_t segment)
{
    const struct host_pass *pass = frame->pass;
    _Alignas(64) char stack[SEGMENT_DEPTH * 8], best[8];
    struct tree tree = {pass->reducer, stack, 1, pass->accumulator_size, 0, 0};
    int64_t index = -1, first = segment * pass->segment;
    int64_t end = first + segment_length(pass, segment);
    for (int64_t i = first; i < end; i += pass->block) {
        int64_t n = end - i < pass->block ? end - i : pass->block;
        const void *values = evaluate_linear(frame, row * pass->reduced + i, n, NULL);
        if (pass->arg_reducer != NULL)
            pass->arg_reducer->rows(best, &index, values, 1, n, i);
        else
            push_leaves(pass, &tree, values, n);
    }
    if (pass->arg_reducer != NULL)
        deliver(frame, best, &index, row, 1, segment);
    else
        deliver(frame, tree_root(&tree), NULL, row, 1, segment);
}

static void rows_unit(struct frame *frame, int64_t unit)
{
    const struct host_pass *pass = frame->pass;
    if (pass->reduced > pass->block) {
        row_segment(frame, unit / pass->segments, unit % pass->segments);
        return;
    }
    int64_t first = unit * pass->rows_per_unit, rest = pass->kept - first;
    whole_rows(frame, first, rest < pass->rows_per_unit ? rest : pass->rows_per_unit);
}

void reduce_unit(struct frame *frame, int64_t unit)
{
    if (frame->pass->mode == MODE_COLUMNS)
        columns_unit(frame, unit);
    else
        rows_unit(frame, unit);
}

// ---- Segments
static void finish_arg(struct frame *frame, int64_t first, int64_t n)
{
    const struct host_pass *pass = frame->pass;
    char *best = pass->partials + first * pass->accumulator_size;
    int64_t *indices = pass->partial_indices + first;
    for (int64_t s = 1; s < pass->segments; s++)
        pass->arg_reducer->merge(best, indices,
                                 best + s * pass->kept * pass->accumulator_size,
                                 indices + s * pass->kept, n);
    store_results(frame, best, indices, first, n);
}

static void finish_sum(struct frame *frame, int64_t first, int64_t n)
{
    const struct host_pass *pass = frame->pass;
    _Alignas(64) char stack[FINISH_DEPTH * FINISH_CHUNK * 8];
    struct tree tree = {pass->reducer, stack, n, n * pass->accumulator_size, 0, 0};
    for (int64_t s = 0; s < pass->segments; s++)
        tree_push(&tree,
                  pass->partials + (s * pass->kept + first) * pass->accumulator_size);
    store_results(frame, tree_root(&tree), NULL, first, n);
}

void reduce_finish(struct frame *frame)
{
    const struct host_pass *pass = frame->pass;
    for (int64_t first = 0; first < pass->kept; first += FINISH_CHUNK) {
        int64_t rest = pass->kept - first, n = rest < FINISH_CHUNK ? rest : FINISH_CHUNK;
        if (pass->arg_reducer != NULL)
            finish_arg(frame, first, n);
        else
            finish_sum(frame, first, n);
    }
}
