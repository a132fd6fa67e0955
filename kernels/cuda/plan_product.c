// SPDX-License-Identifier: Apache-2.0
// Plans of matrix products. Floats go to cuBLAS: float32 without TF32, 16-bit floats with
// float32 sums; integers to product.cu. A large product is cut into tiles of rows,
// columns and, for the largest, panels of k (which are added in order); many small ones
// into ranges of the batch. The cut follows from shape, dtype and the card's model alone.
#include "kernels/cuda/state.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_MOST = 32768, TILE_MOST = 1 << 20, PANEL_LEAST = 4096 };

struct batch_dim {
    int64_t size, a, b, c;
};

struct product_plan {
    struct plan base;
    struct gemm gemm;
    int n_outer; // batch dims walked one by one
    struct batch_dim outer[GEMM_MAX_BATCH_NDIM];
    struct batch_dim inner; // the one given to the kernel
    int64_t batch_step;     // of inner, per slice
    int64_t m_step, n_step, k_step;
    int64_t m_count, n_count, k_count, batch_count;
};

static int64_t parts(int64_t size, int64_t step)
{
    return (size + step - 1) / step;
}
static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Multiplications a multiprocessor does in a cycle.
static double rate_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FLOAT16:
    case DTYPE_BFLOAT16:
        return 1024;
    case DTYPE_FLOAT32:
        return 128;
    case DTYPE_FLOAT64:
        return 64;
    default:
        return 16;
    }
}

// Merges batch dims and picks the largest for the kernel.
static void plan_batch(struct product_plan *plan)
{
    const struct gemm *gemm = &plan->gemm;
    struct batch_dim *dims = plan->outer;
    int n = 0;
    for (int d = 0; d < gemm->batch_ndim; d++) {
        struct batch_dim dim = {gemm->batch_shape[d], gemm->a_batch[d], gemm->b_batch[d],
                                gemm->c_batch[d]};
        struct batch_dim *last = n > 0 ? &dims[n - 1] : NULL;
        if (dim.size == 1)
            continue;
        if (last && last->a == dim.a * dim.size && last->b == dim.b * dim.size &&
            last->c == dim.c * dim.size) {
            dim.size *= last->size;
            *last = dim;
        } else {
            dims[n++] = dim;
        }
    }
    int largest = 0;
    for (int d = 1; d < n; d++)
        if (dims[d].size > dims[largest].size)
            largest = d;
    plan->inner = (struct batch_dim){1, 0, 0, 0};
    if (n > 0) {
        plan->inner = dims[largest];
        for (int d = largest; d < n - 1; d++)
            dims[d] = dims[d + 1];
        n--;
    }
    plan->n_outer = n;
}

// Halves the larger side, then k, until a tile takes about one slice.
static void plan_tiles(struct product_plan *plan)
{
    const struct gemm *gemm = &plan->gemm;
    double budget = plan->base.device->slice_cycles * rate_of(gemm->dtype);
    int64_t least = plan->base.device->multiprocessors * INT64_C(16) / 64 * 64;
    least = least < 64 ? 64 : least;
    bool whole_sums = gemm->dtype == DTYPE_FLOAT16 || gemm->dtype == DTYPE_BFLOAT16;
    plan->m_step = smaller(gemm->m, TILE_MOST);
    plan->n_step = smaller(gemm->n, TILE_MOST);
    plan->k_step = smaller(gemm->k, INT64_C(1) << 30);
    while ((double)plan->m_step * (double)plan->n_step * (double)plan->k_step > budget) {
        int64_t *larger = plan->m_step > plan->n_step ? &plan->m_step : &plan->n_step;
        if (*larger > least)
            *larger = (*larger / 2 + 63) / 64 * 64;
        else if (plan->k_step > PANEL_LEAST && !whole_sums)
            plan->k_step = (plan->k_step / 2 + 63) / 64 * 64;
        else
            break;
    }
    plan->m_count = parts(gemm->m, plan->m_step);
    plan->n_count = parts(gemm->n, plan->n_step);
    plan->k_count = parts(gemm->k, plan->k_step);
    double product = (double)gemm->m * (double)gemm->n * (double)gemm->k;
    plan->batch_step = 1;
    if (plan->m_count * plan->n_count * plan->k_count == 1 && product < budget) {
        double fit = budget / product;
        plan->batch_step = fit > BATCH_MOST ? BATCH_MOST : (int64_t)fit;
    }
    plan->batch_step = smaller(plan->batch_step, plan->inner.size);
    plan->batch_count = parts(plan->inner.size, plan->batch_step);
}

// One tile of one slice: element offsets and extents.
struct tile {
    int64_t a, b, c;
    int64_t m, n, k, batch;
    bool first_panel;
};

static struct tile tile_of(const struct product_plan *plan, int64_t slice)
{
    const struct gemm *gemm = &plan->gemm;
    int64_t l = slice % plan->k_count * plan->k_step;
    slice /= plan->k_count;
    int64_t j = slice % plan->n_count * plan->n_step;
    slice /= plan->n_count;
    int64_t i = slice % plan->m_count * plan->m_step;
    slice /= plan->m_count;
    int64_t batch = slice % plan->batch_count * plan->batch_step;
    slice /= plan->batch_count;
    struct tile tile = {
        .a = i * gemm->a_row + l * gemm->a_column + batch * plan->inner.a,
        .b = l * gemm->b_row + j * gemm->b_column + batch * plan->inner.b,
        .c = i * gemm->c_row + j + batch * plan->inner.c,
        .m = smaller(plan->m_step, gemm->m - i),
        .n = smaller(plan->n_step, gemm->n - j),
        .k = smaller(plan->k_step, gemm->k - l),
        .batch = smaller(plan->batch_step, plan->inner.size - batch),
        .first_panel = l == 0,
    };
    for (int d = plan->n_outer - 1; d >= 0; d--) {
        int64_t index = slice % plan->outer[d].size;
        slice /= plan->outer[d].size;
        tile.a += index * plan->outer[d].a;
        tile.b += index * plan->outer[d].b;
        tile.c += index * plan->outer[d].c;
    }
    return tile;
}

static const void *at(const void *data, int64_t offset, enum dtype dtype)
{
    return (const char *)data + offset * dtype_size(dtype);
}

static enum status launch_integers(struct product_plan *plan, const struct tile *tile,
                                   struct problem *problem)
{
    const struct gemm *gemm = &plan->gemm;
    struct integer_product product = {
        .a = at(gemm->a, tile->a, gemm->dtype),
        .b = at(gemm->b, tile->b, gemm->dtype),
        .c = (void *)at(gemm->c, tile->c, gemm->dtype),
        .m = tile->m,
        .n = tile->n,
        .k = tile->k,
        .a_row = gemm->a_row,
        .a_column = gemm->a_column,
        .b_row = gemm->b_row,
        .b_column = gemm->b_column,
        .c_row = gemm->c_row,
        .batch = tile->batch,
        .a_batch = plan->inner.a,
        .b_batch = plan->inner.b,
        .c_batch = plan->inner.c,
        .add = !tile->first_panel,
    };
    struct cuda_device *device = plan->base.device;
    cudaError_t error =
        launch_integer_product(dtype_size(gemm->dtype), &product, device->stream);
    return fault_of(device, error, "a product", problem);
}

// A row-major operand of rows x columns as cuBLAS sees it: column-major, so transposed
// unless it is stored by columns.
static cublasOperation_t operand_of(int64_t rows, int64_t columns, int64_t row,
                                    int64_t column, int64_t *leading)
{
    if (column == 1 || columns == 1) {
        *leading = rows == 1 || row < columns ? columns : row;
        return CUBLAS_OP_N;
    }
    *leading = column < rows ? rows : column;
    return CUBLAS_OP_T;
}

static enum status launch_floats(struct product_plan *plan, const struct tile *tile,
                                 struct problem *problem)
{
    const struct gemm *gemm = &plan->gemm;
    struct cuda_device *device = plan->base.device;
    bool wide = gemm->dtype == DTYPE_FLOAT64;
    cudaDataType type = wide                           ? CUDA_R_64F
                        : gemm->dtype == DTYPE_FLOAT32 ? CUDA_R_32F
                        : gemm->dtype == DTYPE_FLOAT16 ? CUDA_R_16F
                                                       : CUDA_R_16BF;
    float one = 1, add = tile->first_panel ? 0 : 1;
    double one_wide = 1, add_wide = add;
    int64_t a_leading, b_leading;
    cublasOperation_t a_form =
        operand_of(tile->m, tile->k, gemm->a_row, gemm->a_column, &a_leading);
    cublasOperation_t b_form =
        operand_of(tile->k, tile->n, gemm->b_row, gemm->b_column, &b_leading);
    int64_t c_leading = gemm->c_row < tile->n ? tile->n : gemm->c_row;
    // c = a b by rows is c' = b' a' by columns.
    cublasStatus_t result = cublasGemmStridedBatchedEx_64(
        device->cublas, b_form, a_form, tile->n, tile->m, tile->k,
        wide ? (const void *)&one_wide : (const void *)&one,
        at(gemm->b, tile->b, gemm->dtype), type, b_leading, plan->inner.b,
        at(gemm->a, tile->a, gemm->dtype), type, a_leading, plan->inner.a,
        wide ? (const void *)&add_wide : (const void *)&add,
        (void *)at(gemm->c, tile->c, gemm->dtype), type, c_leading, plan->inner.c,
        tile->batch, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    return fault_of_cublas(device, result, "cublasGemmStridedBatchedEx", problem);
}

static enum status product_launch(struct plan *base, int64_t slice,
                                  struct problem *problem)
{
    struct product_plan *plan = (struct product_plan *)base;
    struct tile tile = tile_of(plan, slice);
    return dtype_is_float(plan->gemm.dtype) ? launch_floats(plan, &tile, problem)
                                            : launch_integers(plan, &tile, problem);
}

static void product_free(struct plan *plan)
{
    free(plan);
}

// cuBLAS takes tens of milliseconds and of megabytes to start: not before the first
// product of floats. A fixed workspace keeps its results the same from call to call.
static enum status start_cublas(struct cuda_device *device, struct problem *problem)
{
    if (device->cublas)
        return STATUS_OK;
    enum status status = STATUS_OK;
    if (!device->cublas_workspace)
        status = pool_take(device, device->cublas_workspace_bytes,
                           &device->cublas_workspace, problem);
    if (status != STATUS_OK)
        return status;
    cublasHandle_t handle = NULL;
    cublasStatus_t result = cublasCreate(&handle);
    if (result == CUBLAS_STATUS_SUCCESS)
        result = cublasSetStream(handle, device->stream);
    if (result == CUBLAS_STATUS_SUCCESS)
        result = cublasSetMathMode(
            handle, (cublasMath_t)(CUBLAS_DEFAULT_MATH |
                                   CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
    if (result == CUBLAS_STATUS_SUCCESS)
        result = cublasSetWorkspace(handle, device->cublas_workspace,
                                    (size_t)device->cublas_workspace_bytes);
    status = fault_of_cublas(device, result, "cublasCreate", problem);
    if (status == STATUS_OK)
        device->cublas = handle;
    else if (handle)
        cublasDestroy(handle);
    return status;
}

enum status plan_product_create(struct cuda_device *device, const struct gemm *gemm,
                                struct plan **out, struct problem *problem)
{
    static const struct plan_form form = {product_launch, product_free};
    if (dtype_is_float(gemm->dtype)) {
        enum status status = start_cublas(device, problem);
        if (status != STATUS_OK)
            return status;
    }
    struct product_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return fault_out_of_host_memory(device, problem);
    plan->base.device = device;
    plan->base.form = &form;
    atomic_init(&plan->base.done, 0);
    plan->gemm = *gemm;
    plan_batch(plan);
    plan_tiles(plan);
    plan->base.total = plan->m_count * plan->n_count * plan->k_count * plan->batch_count;
    for (int d = 0; d < plan->n_outer; d++)
        plan->base.total *= plan->outer[d].size;
    *out = &plan->base;
    return STATUS_OK;
}
