// SPDX-License-Identifier: Apache-2.0
// Runs the units of a product (gemm.h); gemm_cut.c chose them. Any thread.
#include "kernels/host/gemm.h"
#include "kernels/host/gemm_cut.h"
#include "kernels/host/levels.h"

// ---- Which tile and panel a unit is.
struct place {
    int64_t item; // counts tiles of all batches: batch, row, column
    int64_t panel;
    int64_t member; // of its group
};

// With panels, units go group by group; in a group panel by panel, in a panel item by
// item.
static struct place place_of(const struct gemm_cut *cut, int64_t unit)
{
    if (cut->panels == 1)
        return (struct place){unit * cut->bundle, 0, 0};
    int64_t per_group = cut->group * cut->panels, first = unit / per_group * cut->group;
    int64_t members = cut->items - first < cut->group ? cut->items - first : cut->group;
    int64_t rest = unit % per_group;
    return (struct place){first + rest % members, rest / members, rest % members};
}

int64_t gemm_together(const struct gemm_cut *cut, int64_t first)
{
    if (cut->panels == 1)
        return cut->units - first;
    struct place place = place_of(cut, first);
    int64_t members = cut->items - (place.item - place.member);
    return (members < cut->group ? members : cut->group) - place.member;
}

// ---- Batches: pointers of one index, moved along with it.
struct batch {
    int64_t index[GEMM_MAX_BATCH_NDIM];
    const char *a, *b;
    char *c;
};

static void batch_seek(const struct gemm *g, int64_t batch, struct batch *out)
{
    int64_t size = dtype_size(g->dtype), a = 0, b = 0, c = 0;
    for (int d = g->batch_ndim - 1; d >= 0; d--) {
        out->index[d] = batch % g->batch_shape[d];
        batch /= g->batch_shape[d];
        a += out->index[d] * g->a_batch[d];
        b += out->index[d] * g->b_batch[d];
        c += out->index[d] * g->c_batch[d];
    }
    out->a = (const char *)g->a + a * size;
    out->b = (const char *)g->b + b * size;
    out->c = (char *)g->c + c * size;
}

static void batch_next(const struct gemm *g, struct batch *at)
{
    int64_t size = dtype_size(g->dtype);
    for (int d = g->batch_ndim - 1; d >= 0; d--) {
        at->a += g->a_batch[d] * size;
        at->b += g->b_batch[d] * size;
        at->c += g->c_batch[d] * size;
        if (++at->index[d] < g->batch_shape[d])
            return;
        at->index[d] = 0;
        at->a -= g->a_batch[d] * g->batch_shape[d] * size;
        at->b -= g->b_batch[d] * g->batch_shape[d] * size;
        at->c -= g->c_batch[d] * g->batch_shape[d] * size;
    }
}

// ---- One tile, one panel of k.
struct tile {
    int64_t m, n, k;
    const char *a, *b;
    char *c;
    bool first, last; // panel
};

static void run_blas(const struct gemm *g, const struct tile *tile)
{
    struct blas_operand a =
        blas_operand(tile->a, g->a_row, g->a_column, tile->m, tile->k);
    struct blas_operand b =
        blas_operand(tile->b, g->b_row, g->b_column, tile->k, tile->n);
    blas_product(g->dtype, tile->m, tile->n, tile->k, a, b, tile->c,
                 tile->m > 1 ? g->c_row : tile->n, !tile->first);
}

static void run_integer(const struct gemm_cut *cut, const struct tile *tile)
{
    const struct gemm *g = &cut->gemm;
    struct product_operand a = {tile->a, g->a_row, g->a_column},
                           b = {tile->b, g->b_row, g->b_column};
    int size_log2 = __builtin_ctz((unsigned)dtype_size(g->dtype));
    cut->products->integer[size_log2](tile->m, tile->n, tile->k, a, b, tile->c, g->c_row,
                                      !tile->first);
}

// n elements in memory to what the product computes in (widen), or back.
static void convert(enum dtype dtype, bool widen, void *to, const void *from, int64_t n)
{
    const struct level_casts *casts = level_current()->casts;
    int fault = 0;
    if (dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT64)
        memcpy(to, from, (size_t)(n * dtype_size(dtype)));
    else
        (widen ? casts->widen : casts->narrow)[dtype](to, from, NULL, NULL, n, &fault);
}

// A matrix of rows x columns, converted, packed along the stride that is 1.
static struct blas_operand pack(enum dtype dtype, void *to, const char *from, int64_t row,
                                int64_t column, int64_t rows, int64_t columns)
{
    if (columns == 1 && row == 1) {
        convert(dtype, true, to, from, rows);
        return (struct blas_operand){to, 1, false};
    }
    bool transposed = column != 1 && columns > 1;
    int64_t lines = transposed ? columns : rows, length = transposed ? rows : columns;
    int64_t step = transposed ? column : row;
    int64_t size = dtype_size(dtype), slot = dtype_size(slot_dtype(dtype));
    bool adjacent = (transposed ? row : column) == 1 || length == 1;
    for (int64_t i = 0; i < lines; i++) {
        if (adjacent)
            convert(dtype, true, (char *)to + i * length * slot, from + i * step * size,
                    length);
        for (int64_t j = 0; j < length && !adjacent; j++)
            convert(dtype, true, (char *)to + (i * length + j) * slot,
                    from + (i * step + j * row) * size, 1);
    }
    return (struct blas_operand){to, length, transposed};
}

static void run_packed(const struct gemm_cut *cut, const struct tile *tile, int thread,
                       int64_t member)
{
    const struct gemm *g = &cut->gemm;
    struct gemm_scratch scratch = gemm_scratch(cut, thread, member);
    enum dtype slot = slot_dtype(g->dtype);
    struct blas_operand a =
        pack(g->dtype, scratch.a, tile->a, g->a_row, g->a_column, tile->m, tile->k);
    struct blas_operand b =
        pack(g->dtype, scratch.b, tile->b, g->b_row, g->b_column, tile->k, tile->n);
    blas_product(slot, tile->m, tile->n, tile->k, a, b, scratch.c, tile->n, !tile->first);
    if (!tile->last)
        return;
    int64_t size = dtype_size(g->dtype), line = tile->n * dtype_size(slot);
    if (g->c_row == tile->n)
        convert(g->dtype, false, tile->c, scratch.c, tile->m * tile->n);
    else
        for (int64_t i = 0; i < tile->m; i++)
            convert(g->dtype, false, tile->c + i * g->c_row * size, scratch.c + i * line,
                    tile->n);
}

static void run_item(const struct gemm_cut *cut, const struct batch *batch,
                     int64_t within, const struct place *place, int thread)
{
    const struct gemm *g = &cut->gemm;
    int64_t size = dtype_size(g->dtype);
    int64_t i = within / cut->columns * cut->tile_m,
            j = within % cut->columns * cut->tile_n;
    int64_t l = place->panel * cut->panel;
    struct tile tile = {
        .m = g->m - i < cut->tile_m ? g->m - i : cut->tile_m,
        .n = g->n - j < cut->tile_n ? g->n - j : cut->tile_n,
        .k = g->k - l < cut->panel ? g->k - l : cut->panel,
        .a = batch->a + (i * g->a_row + l * g->a_column) * size,
        .b = batch->b + (l * g->b_row + j * g->b_column) * size,
        .c = batch->c + (i * g->c_row + j) * size,
        .first = place->panel == 0,
        .last = place->panel == cut->panels - 1,
    };
    if (cut->method == GEMM_BLAS)
        run_blas(g, &tile);
    else if (cut->method == GEMM_PACKED)
        run_packed(cut, &tile, thread, place->member);
    else if (cut->method == GEMM_INTEGER)
        run_integer(cut, &tile);
    else
        cut->tinies->of[g->dtype](g, tile.a, tile.b, tile.c);
}

void gemm_run(const struct gemm_cut *cut, int64_t unit, int thread)
{
    struct place place = place_of(cut, unit);
    int64_t tiles = cut->rows * cut->columns, within = place.item % tiles;
    int64_t end =
        place.item + cut->bundle < cut->items ? place.item + cut->bundle : cut->items;
    struct batch batch;
    batch_seek(&cut->gemm, place.item / tiles, &batch);
    for (int64_t item = place.item; item < end; item++) {
        run_item(cut, &batch, within, &place, thread);
        if (++within == tiles) {
            within = 0;
            batch_next(&cut->gemm, &batch);
        }
    }
}
