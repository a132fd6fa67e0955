// SPDX-License-Identifier: Apache-2.0
// The builder of matmul: torch.matmul's shapes on top of one batched product (device.h,
// struct gemm).
#include <inttypes.h>

#include "tensor/graph_internal.h"

// An operand as a matrix with batch dimensions.
struct matrix {
    struct node *node;
    int64_t rows, columns, row, column; // extents and strides
    int batch_ndim;
    int64_t batch_shape[TENSOR_MAX_NDIM], batch_strides[TENSOR_MAX_NDIM];
};

static enum status check_operands(struct build *build, const struct node *a,
                                  const struct node *b)
{
    if (a->layout->ndim == 0 || b->layout->ndim == 0)
        return problem_set(build->problem, STATUS_SHAPE,
                           "matmul(): both tensors need at least one dimension");
    if (a->dtype != b->dtype)
        return problem_set(
            build->problem, STATUS_DTYPE,
            "matmul(): both tensors must have the same dtype, not %s and %s; convert one "
            "with to",
            dtype_name((enum dtype)a->dtype), dtype_name((enum dtype)b->dtype));
    if (!dtype_in((enum dtype)a->dtype, build->row->dtypes))
        return problem_set(build->problem, STATUS_DTYPE,
                           "matmul() is not defined for dtype %s",
                           dtype_name((enum dtype)a->dtype));
    return operands_same_device(
        build, 2, (struct node *const[]){(struct node *)a, (struct node *)b});
}

// Brings the strides of an extent of 1 to values that need no copy; true if one stride is
// 1 and the other at least the extent.
static bool matrix_normalize(struct matrix *matrix)
{
    if (matrix->rows == 1 && matrix->columns == 1)
        matrix->row = matrix->column = 1;
    else if (matrix->columns == 1 && matrix->row >= 1)
        matrix->column = 1;
    else if (matrix->rows == 1 && matrix->column >= 1)
        matrix->row = 1;
    if (matrix->rows == 1 && matrix->column == 1) {
        matrix->row = matrix->columns;
        return true;
    }
    if (matrix->columns == 1 && matrix->row == 1) {
        matrix->column = matrix->rows;
        return true;
    }
    return (matrix->column == 1 && matrix->row >= matrix->columns) ||
           (matrix->row == 1 && matrix->column >= matrix->rows);
}

// vector_as_row: what a 1-D operand is.
static void matrix_of(struct node *node, bool vector_as_row, struct matrix *out)
{
    const struct layout *layout = node->layout;
    out->node = node;
    out->batch_ndim = layout->ndim > 2 ? layout->ndim - 2 : 0;
    for (int i = 0; i < out->batch_ndim; i++) {
        out->batch_shape[i] = layout->shape[i];
        out->batch_strides[i] = layout->strides[i];
    }
    int last = layout->ndim - 1;
    if (layout->ndim == 1) {
        out->rows = vector_as_row ? 1 : layout->shape[0];
        out->columns = vector_as_row ? layout->shape[0] : 1;
        out->row = out->column = layout->strides[0];
        return;
    }
    out->rows = layout->shape[last - 1];
    out->columns = layout->shape[last];
    out->row = layout->strides[last - 1];
    out->column = layout->strides[last];
}

static enum status refuse_shapes(struct build *build, const struct node *a,
                                 const struct node *b)
{
    if (a->layout->ndim <= 2 && b->layout->ndim == 2)
        return problem_set(build->problem, STATUS_SHAPE,
                           "mat1 and mat2 shapes cannot be multiplied (%" PRId64
                           "x%" PRId64 " and %" PRId64 "x%" PRId64 ")",
                           a->layout->ndim == 2 ? a->layout->shape[0] : 1,
                           a->layout->shape[a->layout->ndim - 1], b->layout->shape[0],
                           b->layout->shape[1]);
    char first[80], second[80];
    shape_text(a->layout->ndim, a->layout->shape, first, sizeof first);
    shape_text(b->layout->ndim, b->layout->shape, second, sizeof second);
    return problem_set(build->problem, STATUS_SHAPE,
                       "matmul(): shapes %s and %s cannot be multiplied", first, second);
}

// The broadcast of the batch dimensions, with both operands' strides over it.
static bool broadcast_batch(const struct matrix *a, const struct matrix *b,
                            struct layout *batch, int64_t *a_strides, int64_t *b_strides)
{
    batch->ndim = a->batch_ndim > b->batch_ndim ? a->batch_ndim : b->batch_ndim;
    for (int i = 0; i < batch->ndim; i++) {
        int ai = i - (batch->ndim - a->batch_ndim),
            bi = i - (batch->ndim - b->batch_ndim);
        int64_t a_size = ai >= 0 ? a->batch_shape[ai] : 1,
                b_size = bi >= 0 ? b->batch_shape[bi] : 1;
        if (a_size != b_size && a_size != 1 && b_size != 1)
            return false;
        batch->shape[i] = a_size == 1 ? b_size : a_size;
        a_strides[i] = a_size == 1 ? 0 : a->batch_strides[ai];
        b_strides[i] = b_size == 1 ? 0 : b->batch_strides[bi];
    }
    return true;
}

// Fills the batch dims of gemm, joining those that both operands step through evenly.
// False if too many are left.
static bool collapse_batch(const struct layout *batch, const int64_t *a_strides,
                           const int64_t *b_strides, struct gemm *gemm)
{
    int n = 0;
    int64_t matrix = gemm->m * gemm->n;
    for (int i = 0; i < batch->ndim; i++) {
        int64_t size = batch->shape[i];
        if (size == 1)
            continue;
        if (n > 0 && gemm->a_batch[n - 1] == a_strides[i] * size &&
            gemm->b_batch[n - 1] == b_strides[i] * size) {
            n--;
            gemm->batch_shape[n] *= size;
        } else if (n == GEMM_MAX_BATCH_NDIM) {
            return false;
        } else {
            gemm->batch_shape[n] = size;
        }
        gemm->a_batch[n] = a_strides[i];
        gemm->b_batch[n] = b_strides[i];
        n++;
    }
    gemm->batch_ndim = n;
    for (int i = n - 1; i >= 0; i--) {
        gemm->c_batch[i] = matrix;
        matrix *= gemm->batch_shape[i];
    }
    return true;
}

// The operand repeated over the whole batch, as one contiguous block.
static struct node *spread(struct build *build, const struct matrix *matrix,
                           const struct layout *batch)
{
    int64_t shape[TENSOR_MAX_NDIM];
    int ndim = batch->ndim;
    for (int i = 0; i < ndim; i++)
        shape[i] = batch->shape[i];
    shape[ndim++] = matrix->rows;
    shape[ndim++] = matrix->columns;
    const struct layout *layout = graph_layout(
        build->graph, ndim, shape, (enum dtype)matrix->node->dtype, build->problem);
    return layout ? node_clone(build->graph, matrix->node, layout, build->problem) : NULL;
}

static enum status make_contiguous(struct build *build, struct matrix *matrix,
                                   bool vector_as_row)
{
    if (matrix_normalize(matrix))
        return STATUS_OK;
    struct node *copy = node_contiguous(build->graph, matrix->node, build->problem);
    if (!copy)
        return build->problem->status;
    matrix_of(copy, vector_as_row, matrix);
    matrix_normalize(matrix);
    return STATUS_OK;
}

// The result's shape: a 1-D operand's dimension is gone.
static const struct layout *result_layout(struct build *build, const struct layout *batch,
                                          const struct matrix *a, const struct matrix *b)
{
    int64_t shape[TENSOR_MAX_NDIM];
    int ndim = batch->ndim;
    for (int i = 0; i < ndim; i++)
        shape[i] = batch->shape[i];
    if (a->node->layout->ndim > 1)
        shape[ndim++] = a->rows;
    if (b->node->layout->ndim > 1)
        shape[ndim++] = b->columns;
    return graph_layout(build->graph, ndim, shape, (enum dtype)a->node->dtype,
                        build->problem);
}

// A batch of a that lies row after row, against one b, is one taller product.
static void fold_batch(struct gemm *gemm)
{
    for (int i = gemm->batch_ndim - 1; i >= 0; i--) {
        if (gemm->b_batch[i] != 0 || gemm->a_column != 1 ||
            gemm->a_batch[i] != gemm->m * gemm->a_row)
            return;
        gemm->m *= gemm->batch_shape[i];
        gemm->batch_ndim = i;
    }
}

static struct node *multiply(struct build *build, struct matrix *a, struct matrix *b,
                             const struct layout *batch, int64_t *a_strides,
                             int64_t *b_strides, const struct layout *layout)
{
    struct gemm gemm = {.dtype = (enum dtype)a->node->dtype,
                        .m = a->rows,
                        .n = b->columns,
                        .k = a->columns,
                        .c_row = b->columns};
    if (!collapse_batch(batch, a_strides, b_strides, &gemm)) {
        a->node = spread(build, a, batch);
        b->node = a->node ? spread(build, b, batch) : NULL;
        if (!b->node)
            return NULL;
        matrix_of(a->node, true, a);
        matrix_of(b->node, false, b);
        matrix_normalize(a);
        matrix_normalize(b);
        collapse_batch(batch, a->batch_strides, b->batch_strides, &gemm);
    }
    gemm.a_row = a->row;
    gemm.a_column = a->column;
    gemm.b_row = b->row;
    gemm.b_column = b->column;
    fold_batch(&gemm);
    return node_gemm(build->graph, a->node, b->node, &gemm, layout, build->problem);
}

enum status build_matmul(struct build *build)
{
    struct node *left = build_tensor(build, 0),
                *right = left ? build_tensor(build, 1) : NULL;
    if (!right)
        return build->problem->status;
    enum status status = check_operands(build, left, right);
    if (status != STATUS_OK)
        return status;
    struct matrix a, b;
    struct layout batch;
    int64_t a_strides[TENSOR_MAX_NDIM], b_strides[TENSOR_MAX_NDIM];
    matrix_of(left, true, &a);
    matrix_of(right, false, &b);
    if (a.columns != b.rows || !broadcast_batch(&a, &b, &batch, a_strides, b_strides))
        return refuse_shapes(build, left, right);
    const struct layout *layout = result_layout(build, &batch, &a, &b);
    if (!layout)
        return build->problem->status;
    int64_t count = 0;
    size_of_shape(layout->ndim, layout->shape, &count);
    if (count == 0 || a.columns == 0)
        return build_result(build, node_fill(build->graph, (union element){.i64 = 0},
                                             (enum dtype)left->dtype, layout,
                                             left->device, build->problem));
    if ((status = make_contiguous(build, &a, true)) != STATUS_OK ||
        (status = make_contiguous(build, &b, false)) != STATUS_OK)
        return status;
    broadcast_batch(&a, &b, &batch, a_strides, b_strides);
    return build_result(build,
                        multiply(build, &a, &b, &batch, a_strides, b_strides, layout));
}
