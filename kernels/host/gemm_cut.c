// SPDX-License-Identifier: Apache-2.0
// Cuts a product into tiles and panels. All constants are by dtype; what is measured at
// run time (the time of a unit) decides only how many units make a slice.
//
// Why these shapes (OpenBLAS, one thread, square products): strips of about 256 rows and
// up to 1536 columns run at 0.95 to 0.98 of the uncut product, 512 x 512 tiles at 0.91 to
// 0.94, 16-row panels at 0.3. Panels of 512 in k cost nothing beside.
#include "kernels/host/gemm_cut.h"

#include <limits.h>

#include "kernels/host/levels.h"

enum {
    MAX_COLUMNS = 1536, // of a tile
    COLUMN_TARGET = 1024,
    ROW_TARGET = 256,
    VECTOR_TILE =
        256 << 10,      // elements of a that one tile of a matrix-vector product reads
    VECTOR_ROWS = 4096, // of such a tile, if a is stored column by column
    MAX_VECTOR_PANEL = 256 << 10,
    PACK_LIMIT = 1 << 20, // elements of converted tiles, a thread
    INTEGER_ROWS = 128,
    INTEGER_COLUMNS = 256,
};
static const double SHARE_FLOPS = 2e7; // below, a product is one tile
static const double TILE_FLOPS = 4e6;
static const double SHORT_DEPTH =
    32; // writing an element of c costs as much as so many of k
static const double BUNDLE_NANOSECONDS = 1e5;

// The tables of every level, from the lowest, as level_available counts them.
#if defined(__x86_64__)
extern const struct level_products level_products_v2, level_products_v3,
    level_products_v4;
extern const struct level_tinies level_tinies_v2, level_tinies_v3, level_tinies_v4;
static const struct level_products *const products[] = {
    &level_products_v2, &level_products_v3, &level_products_v4};
static const struct level_tinies *const tinies[] = {&level_tinies_v2, &level_tinies_v3,
                                                    &level_tinies_v4};
#else
extern const struct level_products level_products_base;
extern const struct level_tinies level_tinies_base;
static const struct level_products *const products[] = {&level_products_base};
static const struct level_tinies *const tinies[] = {&level_tinies_base};
#endif

static int level_position(void)
{
    int i = 0;
    while (level_available(i) != level_current() && level_available(i + 1) != NULL)
        i++;
    return i;
}

// Arithmetic operations a nanosecond on one core, roughly; and elements of a
// matrix-vector product.
struct speed {
    double flops, elements;
};
static struct speed speed_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT32:
        return (struct speed){80, 2.5};
    case DTYPE_FLOAT64:
        return (struct speed){40, 1.25};
    case DTYPE_INT64:
        return (struct speed){5, 1};
    case DTYPE_INT32:
        return (struct speed){20, 2};
    case DTYPE_INT16:
    case DTYPE_INT8:
    case DTYPE_UINT8:
        return (struct speed){40, 2};
    default:
        return (struct speed){60, 1.5};
    }
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}
// extent in `parts` equal parts, each a multiple of `unit` but the last.
static int64_t part(int64_t extent, int64_t parts, int64_t unit)
{
    return smaller(extent, divide_up(divide_up(extent, larger(parts, 1)), unit) * unit);
}

// A row times a matrix becomes the transposed matrix times a column.
static void turn_row(struct gemm *g)
{
    const void *row = g->a;
    int64_t row_step = g->a_column;
    if (g->m != 1 || g->n == 1)
        return;
    g->m = g->n;
    g->n = 1;
    g->a = g->b;
    g->a_row = g->b_column;
    g->a_column = g->b_row;
    g->b = row;
    g->b_row = row_step;
    g->b_column = 1;
    g->c_row = 1;
    for (int d = 0; d < g->batch_ndim; d++) {
        int64_t step = g->a_batch[d];
        g->a_batch[d] = g->b_batch[d];
        g->b_batch[d] = step;
    }
}

// Strides that lead nowhere get values that fit the BLAS and the tests for 1.
static void normalize_strides(struct gemm *g)
{
    if (g->k == 1) {
        g->a_column = 1;
        g->b_row = g->n;
    }
    if (g->m == 1) {
        g->a_row = g->a_column == 1 ? g->k : 1;
        g->c_row = g->n;
    }
}

// Can the BLAS step through a matrix with these strides?
static bool fits_blas(int64_t row, int64_t column, int64_t rows, int64_t columns)
{
    if (column == 1 || columns == 1)
        return row <= INT_MAX && (rows == 1 || row >= columns);
    return row == 1 && column <= INT_MAX && column >= rows;
}

static enum gemm_method method_of(const struct gemm *g)
{
    if (g->m <= GEMM_TINY_EXTENT && g->n <= GEMM_TINY_EXTENT && g->k <= GEMM_TINY_EXTENT)
        return GEMM_TINY;
    if (!dtype_is_float(g->dtype))
        return GEMM_INTEGER;
    bool wide = g->dtype == DTYPE_FLOAT32 || g->dtype == DTYPE_FLOAT64;
    bool fits = fits_blas(g->a_row, g->a_column, g->m, g->k) &&
                fits_blas(g->b_row, g->b_column, g->k, g->n) && g->c_row <= INT_MAX;
    return wide && fits ? GEMM_BLAS : GEMM_PACKED;
}

// ---- Tiles
static void tile_vector(struct gemm_cut *cut)
{
    const struct gemm *g = &cut->gemm;
    bool by_columns = g->a_column != 1;
    cut->tile_n = 1;
    if (by_columns) {
        cut->tile_m = part(g->m, divide_up(g->m, VECTOR_ROWS), 16);
        cut->panel = smaller(g->k, larger(256, 4 * VECTOR_TILE / cut->tile_m));
    } else {
        cut->panel = smaller(g->k, MAX_VECTOR_PANEL);
        cut->tile_m = part(g->m, divide_up(g->m * cut->panel, VECTOR_TILE), 16);
    }
}

static void tile_rectangle(struct gemm_cut *cut)
{
    const struct gemm *g = &cut->gemm;
    double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    double flops = 2 * m * n * (k + SHORT_DEPTH);
    // Rows and columns a tile needs so that a call of the BLAS pays.
    int64_t rows = larger(ROW_TARGET, (int64_t)(TILE_FLOPS / (2 * n * k)));
    int64_t columns = larger(ROW_TARGET, (int64_t)(TILE_FLOPS / (2 * m * k)));
    cut->tile_m = g->m;
    cut->tile_n = g->n;
    if (flops < SHARE_FLOPS)
        return;
    if (g->n > MAX_COLUMNS)
        cut->tile_n = part(g->n, divide_up(g->n, larger(COLUMN_TARGET, columns)), 64);
    else if (g->m < ROW_TARGET / 2 && g->n >= 2 * columns)
        cut->tile_n = part(g->n, g->n / columns, 64);
    if (g->m >= 2 * rows) // an even number of strips, so that two threads end together
        cut->tile_m = part(g->m, (g->m + rows) / (2 * rows) * 2, 16);
    else if (g->m >= rows / 2 || (g->m >= 32 && flops >= 10 * SHARE_FLOPS))
        cut->tile_m = part(g->m, 2, 16);
}

static void tile_integer(struct gemm_cut *cut)
{
    const struct gemm *g = &cut->gemm;
    cut->tile_m = part(g->m, divide_up(g->m, INTEGER_ROWS), 4);
    cut->tile_n = part(g->n, divide_up(g->n, INTEGER_COLUMNS), 64);
}

// Panels of k such that one takes about as long as `nanoseconds`, once the whole of k
// takes more than twice that.
static void cut_depth(struct gemm_cut *cut, double nanoseconds, int64_t least)
{
    const struct gemm *g = &cut->gemm;
    double flops = 2.0 * (double)cut->tile_m * (double)cut->tile_n * (double)g->k;
    double panels = flops / (speed_of(g->dtype).flops * nanoseconds);
    cut->panel = g->k;
    if (panels > 2)
        cut->panel = larger(part(g->k, (int64_t)panels, 64), smaller(least, g->k));
    if (cut->method == GEMM_PACKED)
        cut->panel =
            smaller(cut->panel, larger(64, PACK_LIMIT / (cut->tile_m + cut->tile_n)));
}

static void cut_tiles(struct gemm_cut *cut)
{
    const struct gemm *g = &cut->gemm;
    if (cut->method == GEMM_TINY) {
        cut->tile_m = g->m;
        cut->tile_n = g->n;
        cut->panel = g->k;
    } else if (g->n == 1) {
        tile_vector(cut);
        if (cut->method == GEMM_PACKED)
            cut->panel = smaller(cut->panel, larger(64, PACK_LIMIT / cut->tile_m));
    } else if (cut->method == GEMM_INTEGER) {
        tile_integer(cut);
        cut_depth(cut, 2e6, 256);
    } else {
        tile_rectangle(cut);
        cut_depth(cut, 3.4e6, g->dtype == DTYPE_FLOAT64 ? 256 : 384);
    }
}

static double estimate_item(const struct gemm_cut *cut)
{
    const struct gemm *g = &cut->gemm;
    struct speed speed = speed_of(g->dtype);
    double a = (double)cut->tile_m * (double)cut->panel,
           product = a * (double)cut->tile_n;
    if (cut->method == GEMM_TINY)
        return 10 + product;
    return 100 + (g->n == 1 ? a / speed.elements : 2 * product / speed.flops);
}

struct gemm_scratch gemm_scratch(const struct gemm_cut *cut, int thread, int64_t member)
{
    int64_t slot = dtype_size(slot_dtype(cut->gemm.dtype));
    struct gemm_scratch scratch = {
        .a_bytes = divide_up(cut->tile_m * cut->panel * slot, 64) * 64,
        .b_bytes = divide_up(cut->panel * cut->tile_n * slot, 64) * 64,
        .c_bytes = divide_up(cut->tile_m * cut->tile_n * slot, 64) * 64,
    };
    int64_t owner = cut->panels > 1 ? member : thread;
    if (cut->workspace != NULL) {
        scratch.a = cut->workspace + thread * (scratch.a_bytes + scratch.b_bytes);
        scratch.b = scratch.a + scratch.a_bytes;
        scratch.c = cut->workspace + cut->group * (scratch.a_bytes + scratch.b_bytes) +
                    owner * scratch.c_bytes;
    }
    return scratch;
}

void gemm_prepare(struct gemm_cut *cut, const struct gemm *gemm, int threads)
{
    cut->gemm = *gemm;
    struct gemm *g = &cut->gemm;
    turn_row(g);
    normalize_strides(g);
    cut->method = method_of(g);
    cut_tiles(cut);
    cut->rows = divide_up(g->m, cut->tile_m);
    cut->columns = divide_up(g->n, cut->tile_n);
    cut->panels = divide_up(g->k, cut->panel);
    cut->items = cut->rows * cut->columns;
    for (int d = 0; d < g->batch_ndim; d++)
        cut->items *= g->batch_shape[d];
    cut->group = threads;
    cut->products = products[level_position()];
    cut->tinies = tinies[level_position()];
    double item = estimate_item(cut);
    cut->bundle = 1;
    if (cut->panels == 1)
        cut->bundle =
            larger(1, smaller(cut->items, (int64_t)(BUNDLE_NANOSECONDS / item)));
    cut->units = divide_up(cut->items, cut->bundle) * cut->panels;
    cut->unit_nanoseconds = item * (double)cut->bundle;
    cut->workspace = NULL;
    cut->workspace_bytes = 0;
    if (cut->method == GEMM_PACKED) {
        struct gemm_scratch scratch = gemm_scratch(cut, 0, 0);
        cut->workspace_bytes =
            threads * (scratch.a_bytes + scratch.b_bytes + scratch.c_bytes);
    }
}
