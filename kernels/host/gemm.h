// SPDX-License-Identifier: Apache-2.0
// Matrix products on the host (struct gemm of kernels/device.h), cut into units that any
// thread may run.
//
// The cut. A product is cut into tiles of c, of a few milliseconds at most, and where k
// is long each tile into panels of k, added up in order. Tiles, panels and the method
// follow from m, n, k, dtype and which strides are 1 alone: never from threads, load or
// batch. So the bits do not depend on them either.
//
//   TINY     m, n, k <= 8: plain loops, the sum over k in order
//   BLAS     float32, float64: cblas_?gemm on the operands as they are, ?gemv where m or
//            n is 1
//   PACKED   float16, bfloat16: tiles converted to float32, the BLAS's product, one
//            rounding at the end; also matrices whose rows lie further apart than the
//            BLAS can count (2^31 elements)
//   INTEGER  own kernels, wrapping (level/product.c)
//
// Threads: a prepared product is immutable while units run. The OpenBLAS is told to use
// one thread; the parallelism is that of tiles.
#ifndef TENSORD_KERNELS_HOST_GEMM_H
#define TENSORD_KERNELS_HOST_GEMM_H

#include "kernels/device.h"

struct level_products;
struct level_tinies;

enum gemm_method { GEMM_TINY, GEMM_BLAS, GEMM_PACKED, GEMM_INTEGER };

struct gemm_cut {
    // A row times a matrix has become the matrix's transpose times a column.
    struct gemm gemm;
    enum gemm_method method;
    int64_t tile_m, tile_n, panel; // extents
    int64_t rows, columns, panels; // how many
    int64_t items;                 // tiles of all batches
    int64_t bundle;                // items a unit runs; 1 if there are panels
    int group;                     // items whose panels run side by side
    int64_t units;
    double unit_nanoseconds;               // estimated, on one core
    const struct level_products *products; // of the level when it was prepared
    const struct level_tinies *tinies;
    // PACKED: per thread the converted tiles of a and b; per thread or, with panels, per
    // item of the group the float32 sums.
    int64_t workspace_bytes;
    char *workspace; // the caller sets it before units run; 64-byte aligned
};

// Cuts a product for a pool of so many threads (which decides no bits).
void gemm_prepare(struct gemm_cut *cut, const struct gemm *gemm, int threads);
// How many units from `first` on may run at the same time, in any order; units before it
// have finished.
int64_t gemm_together(const struct gemm_cut *cut, int64_t first);
// thread: below `threads`, different for units that run at the same time.
void gemm_run(const struct gemm_cut *cut, int64_t unit, int thread);

// ---- gemm_blas.c
// One product of the BLAS: c = a b, or c += a b if add. transposed: the operand is stored
// column by column.
struct blas_operand {
    const void *data;
    int64_t step; // elements between rows (columns, if transposed)
    bool transposed;
};
void blas_product(enum dtype dtype, int64_t m, int64_t n, int64_t k,
                  struct blas_operand a, struct blas_operand b, void *c, int64_t c_step,
                  bool add);
// How the BLAS sees a matrix of rows x columns with these strides.
struct blas_operand blas_operand(const void *data, int64_t row, int64_t column,
                                 int64_t rows, int64_t columns);

typedef void blas_float32(int order, int transpose_a, int transpose_b, int m, int n,
                          int k, float alpha, const float *a, int a_step, const float *b,
                          int b_step, float beta, float *c, int c_step);
typedef void blas_float64(int order, int transpose_a, int transpose_b, int m, int n,
                          int k, double alpha, const double *a, int a_step,
                          const double *b, int b_step, double beta, double *c,
                          int c_step);
// Compares small products of these functions (NULL: the BLAS's own) with plain loops.
// STATUS_DEVICE_FAULT if they differ: integers of a few digits, so that every right
// answer is the same.
enum status blas_check(blas_float32 *float32, blas_float64 *float64,
                       struct problem *problem);
// Makes the BLAS compute on the calling thread alone. Before it is used.
void blas_single_threaded(void);

// ---- level/tiny.c: one whole product with m, n, k <= GEMM_TINY_EXTENT. The pointers
// replace those of gemm.
enum { GEMM_TINY_EXTENT = 8 };
typedef void tiny_product(const struct gemm *gemm, const char *a, const char *b, char *c);
struct level_tinies {
    tiny_product *of[DTYPE_COUNT];
};

// ---- level/product.c: c = a b or c += a b, wrapping, by log2 of the element size.
// Strides in elements.
struct product_operand {
    const void *data;
    int64_t row, column;
};
typedef void integer_product(int64_t m, int64_t n, int64_t k, struct product_operand a,
                             struct product_operand b, void *c, int64_t c_row, bool add);
struct level_products {
    integer_product *integer[4];
};
#endif
