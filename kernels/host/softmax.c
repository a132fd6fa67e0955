// SPDX-License-Identifier: Apache-2.0
// Cuts softmax into units and runs them (softmax.h). Any thread.
#include "kernels/host/softmax.h"

#include <math.h>

enum {
    MAX_COLUMNS = 256,      // of a cell
    CHUNK = 4096,           // elements worked on at a time, in L1
    LONG_CELL = 512 << 10,  // elements from which on a cell is cut into blocks
    LONG_BLOCK = 256 << 10, // elements of a block
    BUNDLE = 32 << 10,      // elements of a unit of short cells
};
_Static_assert(LONG_BLOCK % CHUNK == 0 && CHUNK % MAX_COLUMNS == 0,
               "blocks are whole chunks");

// ---- The cut
#if defined(__x86_64__)
extern const struct level_softmaxes level_softmaxes_v2, level_softmaxes_v3,
    level_softmaxes_v4;
static const struct level_softmaxes *const tables[] = {
    &level_softmaxes_v2, &level_softmaxes_v3, &level_softmaxes_v4};
#else
extern const struct level_softmaxes level_softmaxes_base;
static const struct level_softmaxes *const tables[] = {&level_softmaxes_base};
#endif

static const struct level_softmaxes *current_table(void)
{
    int i = 0;
    while (level_available(i) != level_current() && level_available(i + 1) != NULL)
        i++;
    return tables[i];
}

static double element_nanoseconds(enum dtype dtype)
{
    return dtype == DTYPE_FLOAT32 ? 2 : dtype == DTYPE_FLOAT64 ? 5 : 3;
}

// Rows of a chunk; blocks are whole chunks, so that the order of sums is that of chunks
// everywhere.
static int64_t chunk_rows(const struct softmax_cut *cut)
{
    return CHUNK / cut->columns;
}

void softmax_prepare(struct softmax_cut *cut, const struct softmax *softmax)
{
    enum dtype slot = slot_dtype(softmax->dtype);
    int64_t inner = softmax->inner, n = softmax->n;
    cut->softmax = *softmax;
    cut->functions =
        slot == DTYPE_FLOAT64 ? &current_table()->float64 : &current_table()->float32;
    cut->exp = level_current()->maps->of[slot][MAP_exp];
    cut->columns = inner < MAX_COLUMNS ? inner : MAX_COLUMNS;
    cut->column_blocks = (inner + cut->columns - 1) / cut->columns;
    cut->cells = softmax->outer * cut->column_blocks;
    cut->rows = n;
    cut->row_blocks = 1;
    cut->workspace = NULL;
    cut->workspace_bytes = 0;
    if (n > LONG_CELL / cut->columns) {
        cut->rows = chunk_rows(cut) * (LONG_BLOCK / CHUNK);
        cut->row_blocks = (n + cut->rows - 1) / cut->rows;
        cut->bundle = 1;
        cut->units = 3 * cut->cells * cut->row_blocks;
        cut->workspace_bytes =
            2 * cut->cells * cut->row_blocks * cut->columns * (int64_t)sizeof(double);
        cut->unit_nanoseconds = element_nanoseconds(softmax->dtype) * LONG_BLOCK / 3;
        return;
    }
    int64_t elements = n * cut->columns;
    cut->bundle = BUNDLE / elements < 1 ? 1 : BUNDLE / elements;
    cut->bundle = cut->bundle < cut->cells ? cut->bundle : cut->cells;
    cut->units = (cut->cells + cut->bundle - 1) / cut->bundle;
    cut->unit_nanoseconds =
        element_nanoseconds(softmax->dtype) * (double)(cut->bundle * elements) + 50;
}

int64_t softmax_together(const struct softmax_cut *cut, int64_t first)
{
    int64_t stage = cut->cells * cut->row_blocks;
    return cut->row_blocks == 1 ? cut->units - first : stage - first % stage;
}

// ---- Chunks: rows x columns of a cell, seen as a packed array of the slot type.
struct chunk {
    const struct softmax_cut *cut;
    int64_t offset; // elements before its first one
    int64_t rows, columns;
    int64_t size, slot; // bytes of an element in memory, and packed
    _Alignas(64) char buffer[CHUNK * sizeof(double)];
};

static void chunk_begin(struct chunk *chunk, const struct softmax_cut *cut, int64_t cell)
{
    int64_t column = cell % cut->column_blocks * cut->columns,
            rest = cut->softmax.inner - column;
    chunk->cut = cut;
    chunk->offset =
        cell / cut->column_blocks * cut->softmax.n * cut->softmax.inner + column;
    chunk->columns = rest < cut->columns ? rest : cut->columns;
    chunk->size = dtype_size(cut->softmax.dtype);
    chunk->slot = dtype_size(slot_dtype(cut->softmax.dtype));
}

// Moves to rows [row, row + at most a chunk's) of the rows before end.
static void chunk_move(struct chunk *chunk, int64_t from, int64_t to, int64_t end)
{
    int64_t rows = chunk_rows(chunk->cut);
    chunk->offset += (to - from) * chunk->cut->softmax.inner;
    chunk->rows = end - to < rows ? end - to : rows;
}

static bool chunk_is_packed(const struct chunk *chunk)
{
    return chunk->columns == chunk->cut->softmax.inner;
}

// The elements of memory (x or y): themselves where they are a packed array, else a copy
// in the buffer.
static const void *chunk_load(struct chunk *chunk, const void *memory)
{
    const char *from = (const char *)memory + chunk->offset * chunk->size;
    enum dtype dtype = chunk->cut->softmax.dtype;
    bool packed = chunk_is_packed(chunk);
    if (packed && chunk->size == chunk->slot)
        return from;
    int64_t lines = packed ? 1 : chunk->rows;
    int64_t length = packed ? chunk->rows * chunk->columns : chunk->columns;
    for (int64_t i = 0; i < lines; i++, from += chunk->cut->softmax.inner * chunk->size) {
        void *to = chunk->buffer + i * length * chunk->slot;
        if (chunk->size == chunk->slot)
            memcpy(to, from, (size_t)(length * chunk->size));
        else
            level_current()->casts->widen[dtype](to, from, NULL, NULL, length, &(int){0});
    }
    return chunk->buffer;
}

// Where results may be written: y itself or the buffer, from which chunk_store takes
// them.
static void *chunk_target(struct chunk *chunk)
{
    if (chunk_is_packed(chunk) && chunk->size == chunk->slot)
        return (char *)chunk->cut->softmax.y + chunk->offset * chunk->size;
    return chunk->buffer;
}

static void chunk_store(struct chunk *chunk)
{
    char *to = (char *)chunk->cut->softmax.y + chunk->offset * chunk->size;
    enum dtype dtype = chunk->cut->softmax.dtype;
    bool packed = chunk_is_packed(chunk);
    if (packed && chunk->size == chunk->slot)
        return;
    int64_t lines = packed ? 1 : chunk->rows;
    int64_t length = packed ? chunk->rows * chunk->columns : chunk->columns;
    for (int64_t i = 0; i < lines; i++, to += chunk->cut->softmax.inner * chunk->size) {
        const void *from = chunk->buffer + i * length * chunk->slot;
        if (chunk->size == chunk->slot)
            memcpy(to, from, (size_t)(length * chunk->size));
        else
            level_current()->casts->narrow[dtype](to, from, NULL, NULL, length,
                                                  &(int){0});
    }
}

// exp(x - maxima) in the chunk's target.
static void chunk_exp(struct chunk *chunk, const void *x, const void *maxima)
{
    void *to = chunk_target(chunk);
    int fault = 0;
    chunk->cut->functions->subtract(to, x, maxima, chunk->rows, chunk->columns);
    chunk->cut->exp(to, to, NULL, NULL, chunk->rows * chunk->columns, &fault);
}

// ---- Stages, over the rows [begin, end) of a cell.
union values {
    float float32[MAX_COLUMNS];
    double float64[MAX_COLUMNS];
};

static void start_maxima(union values *maxima, const struct softmax_cut *cut)
{
    for (int64_t c = 0; c < cut->columns; c++)
        if (slot_dtype(cut->softmax.dtype) == DTYPE_FLOAT64)
            maxima->float64[c] = (double)-INFINITY;
        else
            maxima->float32[c] = -INFINITY;
}

static void find_maxima(struct chunk *chunk, int64_t begin, int64_t end,
                        union values *maxima)
{
    int64_t from = begin, start = chunk->offset;
    for (int64_t row = begin; row < end; from = row, row += chunk_rows(chunk->cut)) {
        chunk_move(chunk, from, row, end);
        const void *x = chunk_load(chunk, chunk->cut->softmax.x);
        chunk->cut->functions->maximum(maxima, x, chunk->rows, chunk->columns);
    }
    chunk->offset = start;
}

// 32-bit and 64-bit exponentials stay in y, where the quotients find them; 16-bit ones
// would be rounded there.
static bool keeps_exponentials(const struct chunk *chunk)
{
    return chunk->size == chunk->slot;
}

static void find_sums(struct chunk *chunk, int64_t begin, int64_t end,
                      const union values *maxima, double *sums)
{
    int64_t from = begin, start = chunk->offset;
    for (int64_t row = begin; row < end; from = row, row += chunk_rows(chunk->cut)) {
        chunk_move(chunk, from, row, end);
        chunk_exp(chunk, chunk_load(chunk, chunk->cut->softmax.x), maxima);
        chunk->cut->functions->sum(sums, chunk_target(chunk), chunk->rows,
                                   chunk->columns);
        if (keeps_exponentials(chunk))
            chunk_store(chunk);
    }
    chunk->offset = start;
}

static void divide(struct chunk *chunk, int64_t begin, int64_t end,
                   const union values *maxima, const double *sums)
{
    int64_t from = begin, start = chunk->offset;
    for (int64_t row = begin; row < end; from = row, row += chunk_rows(chunk->cut)) {
        chunk_move(chunk, from, row, end);
        const void *values = chunk_target(chunk);
        if (keeps_exponentials(chunk))
            values = chunk_load(chunk, chunk->cut->softmax.y);
        else
            chunk_exp(chunk, chunk_load(chunk, chunk->cut->softmax.x), maxima);
        chunk->cut->functions->divide(chunk_target(chunk), values, sums, chunk->rows,
                                      chunk->columns);
        chunk_store(chunk);
    }
    chunk->offset = start;
}

// A cell of one chunk: everything without leaving L1.
static void run_small_cell(struct chunk *chunk, union values *maxima, double *sums)
{
    const struct softmax_cut *cut = chunk->cut;
    chunk_move(chunk, 0, 0, cut->softmax.n);
    const void *x = chunk_load(chunk, cut->softmax.x);
    cut->functions->maximum(maxima, x, chunk->rows, chunk->columns);
    chunk_exp(chunk, x, maxima);
    void *to = chunk_target(chunk);
    cut->functions->sum(sums, to, chunk->rows, chunk->columns);
    cut->functions->divide(to, to, sums, chunk->rows, chunk->columns);
    chunk_store(chunk);
}

static void run_cell(struct chunk *chunk, int64_t cell)
{
    const struct softmax_cut *cut = chunk->cut;
    int64_t n = cut->softmax.n;
    union values maxima;
    double sums[MAX_COLUMNS];
    chunk_begin(chunk, cut, cell);
    start_maxima(&maxima, cut);
    memset(sums, 0, (size_t)cut->columns * sizeof sums[0]);
    if (n <= chunk_rows(cut)) {
        run_small_cell(chunk, &maxima, sums);
        return;
    }
    find_maxima(chunk, 0, n, &maxima);
    find_sums(chunk, 0, n, &maxima, sums);
    divide(chunk, 0, n, &maxima, sums);
}

// ---- Long cells. Partial maxima and sums of block b of a cell stand at
// [cell][b][column], the maxima before the sums.
static double *partials(const struct softmax_cut *cut, bool sums, int64_t cell,
                        int64_t block)
{
    int64_t all = cut->cells * cut->row_blocks;
    return cut->workspace +
           ((sums ? all : 0) + cell * cut->row_blocks + block) * cut->columns;
}

static void load_maxima(const struct chunk *chunk, int64_t cell, union values *maxima)
{
    const struct softmax_cut *cut = chunk->cut;
    start_maxima(maxima, cut);
    for (int64_t block = 0; block < cut->row_blocks; block++) {
        const double *partial = partials(cut, false, cell, block);
        for (int64_t c = 0; c < chunk->columns; c++)
            if (chunk->slot == 8)
                maxima->float64[c] = fmax(maxima->float64[c], partial[c]);
            else
                maxima->float32[c] = fmaxf(maxima->float32[c], (float)partial[c]);
    }
}

static void run_block(struct chunk *chunk, int stage, int64_t cell, int64_t block)
{
    const struct softmax_cut *cut = chunk->cut;
    int64_t begin = block * cut->rows, end = begin + cut->rows;
    end = end < cut->softmax.n ? end : cut->softmax.n;
    union values maxima;
    chunk_begin(chunk, cut, cell);
    chunk->offset += begin * cut->softmax.inner;
    if (stage == 0) {
        double *to = partials(cut, false, cell, block);
        start_maxima(&maxima, cut);
        find_maxima(chunk, begin, end, &maxima);
        for (int64_t c = 0; c < chunk->columns; c++)
            to[c] = chunk->slot == 8 ? maxima.float64[c] : (double)maxima.float32[c];
        return;
    }
    load_maxima(chunk, cell, &maxima);
    if (stage == 1) {
        double *to = partials(cut, true, cell, block);
        memset(to, 0, (size_t)chunk->columns * sizeof *to);
        find_sums(chunk, begin, end, &maxima, to);
        return;
    }
    double sums[MAX_COLUMNS] = {0};
    for (int64_t b = 0; b < cut->row_blocks; b++)
        for (int64_t c = 0; c < chunk->columns; c++)
            sums[c] += partials(cut, true, cell, b)[c];
    divide(chunk, begin, end, &maxima, sums);
}

void softmax_run(const struct softmax_cut *cut, int64_t unit)
{
    struct chunk chunk;
    chunk.cut = cut;
    if (cut->row_blocks > 1) {
        int64_t stage = cut->cells * cut->row_blocks, within = unit % stage;
        run_block(&chunk, (int)(unit / stage), within / cut->row_blocks,
                  within % cut->row_blocks);
        return;
    }
    int64_t end =
        (unit + 1) * cut->bundle < cut->cells ? (unit + 1) * cut->bundle : cut->cells;
    for (int64_t cell = unit * cut->bundle; cell < end; cell++)
        run_cell(&chunk, cell);
}
