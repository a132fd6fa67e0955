// SPDX-License-Identifier: Apache-2.0
// Softmax on the host (struct softmax of kernels/device.h), cut into units that any
// thread may run.
//
// x is seen as cells: for one outer index, up to 256 neighbouring inner columns over all
// n rows. Per column: the maximum, the sum of exp(x - maximum) in float64, and exp(x -
// maximum) / sum in float32 or float64; 16-bit floats are rounded once, at the end. A
// unit is a bundle of cells; or, where a cell is long, one block of its rows in one of
// three stages (maxima, sums, quotients), with the partial results in the workspace. The
// cut, and with it the order of every sum, follows from the shape alone. The exponential
// is the one of the operation `exp`.
//
// Threads: a prepared softmax is immutable but for its workspace, in which units write
// their own places.
#ifndef TENSORD_KERNELS_HOST_SOFTMAX_H
#define TENSORD_KERNELS_HOST_SOFTMAX_H

#include "kernels/device.h"
#include "kernels/host/levels.h"

struct level_softmax;

struct softmax_cut {
    struct softmax softmax;
    const struct level_softmax *functions;
    map_function *exp;
    int64_t columns, column_blocks; // of a cell; cells side by side in an outer index
    int64_t cells;
    int64_t rows,
        row_blocks; // rows of a block; blocks of a cell: 1 unless cells are long
    int64_t bundle; // cells a unit runs
    int64_t units;
    double unit_nanoseconds; // estimated, on one core
    int64_t workspace_bytes; // 0 unless cells are long
    double *workspace;       // the caller sets it before units run
};

void softmax_prepare(struct softmax_cut *cut, const struct softmax *softmax);
// How many units from `first` on may run at the same time, in any order; units before it
// have finished.
int64_t softmax_together(const struct softmax_cut *cut, int64_t first);
void softmax_run(const struct softmax_cut *cut, int64_t unit);

// ---- level/softmax.c: on packed arrays of rows x columns of float32 or float64.
struct level_softmax {
    // maxima[c] = the larger of it and every x[r][c]; NaN is passed over.
    void (*maximum)(void *maxima, const void *x, int64_t rows, int64_t columns);
    // to[r][c] = x[r][c] - maxima[c]; to may be x.
    void (*subtract)(void *to, const void *x, const void *maxima, int64_t rows,
                     int64_t columns);
    // sums[c] += the sum over r of x[r][c].
    void (*sum)(double *sums, const void *x, int64_t rows, int64_t columns);
    // to[r][c] = x[r][c] / (the type of x)sums[c]; to may be x.
    void (*divide)(void *to, const void *x, const double *sums, int64_t rows,
                   int64_t columns);
};
struct level_softmaxes {
    struct level_softmax float32, float64;
};
#endif
