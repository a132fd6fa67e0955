// SPDX-License-Identifier: Apache-2.0
// matmul: dtype x shapes, and transposed operands, against sums in long double and exact
// integers; softmax.
#include "tests/conformance/conformance.h"

#include <math.h>
#include <stdio.h>

struct product {
    int a_ndim, b_ndim, ndim;
    int64_t a[4], b[4], shape[4];
    int64_t batch, m, k, n;
    bool a_shared, b_shared; // the operand is the same for every batch
};
static const struct product products[] = {
    {1, 1, 0, {7}, {7}, {0}, 1, 1, 7, 1, 0, 0},
    {2, 1, 1, {5, 7}, {7}, {5}, 1, 5, 7, 1, 0, 0},
    {1, 2, 1, {7}, {7, 3}, {3}, 1, 1, 7, 3, 0, 0},
    {2, 2, 2, {1, 1}, {1, 1}, {1, 1}, 1, 1, 1, 1, 0, 0},
    {2, 2, 2, {33, 70}, {70, 17}, {33, 17}, 1, 33, 70, 17, 0, 0},
    {2, 2, 2, {4, 0}, {0, 3}, {4, 3}, 1, 4, 0, 3, 0, 0},
    {3, 3, 3, {6, 5, 4}, {6, 4, 3}, {6, 5, 3}, 6, 5, 4, 3, 0, 0},
    {3, 2, 3, {6, 5, 4}, {4, 3}, {6, 5, 3}, 6, 5, 4, 3, 0, 1},
    {2, 3, 3, {5, 4}, {6, 4, 3}, {6, 5, 3}, 6, 5, 4, 3, 1, 0},
};
static struct scalar a_items[MAX_ELEMENTS], b_items[MAX_ELEMENTS];
static struct values got;

static bool right(const struct product *p, enum dtype dtype, int64_t batch, int64_t i,
                  int64_t j, struct scalar ours)
{
    long double sum = 0, magnitude = 0;
    unsigned __int128 integer_sum = 0;
    const struct scalar *a = a_items + (p->a_shared ? 0 : batch * p->m * p->k);
    const struct scalar *b = b_items + (p->b_shared ? 0 : batch * p->k * p->n);
    for (int64_t l = 0; l < p->k; l++) {
        struct scalar x = a[i * p->k + l], y = b[l * p->n + j];
        sum += real(x) * real(y);
        magnitude += fabsl(real(x) * real(y));
        integer_sum += (unsigned __int128)x.i * (unsigned __int128)y.i;
    }
    if (!dtype_is_float(dtype))
        return ours.i == wrap_integer((__int128)integer_sum, dtype).i;
    static const double unit[] = {[DTYPE_FLOAT16] = 0x1p-11,
                                  [DTYPE_BFLOAT16] = 0x1p-8,
                                  [DTYPE_FLOAT32] = 0x1p-22,
                                  [DTYPE_FLOAT64] = 0x1p-50};
    return fabsl(ours.f - sum) <=
           unit[dtype] * fabsl(sum) +
               0x1p-20L * magnitude * (dtype == DTYPE_FLOAT64 ? 0x1p-29L : 1);
}

static void check_product(enum dtype dtype, const struct product *p, bool transposed,
                          unsigned seed)
{
    struct problem problem;
    struct tensor *tensors[2], *results[OP_MAX_RESULTS], *turned;
    struct argument arguments[OP_MAX_PARAMETERS] = {operand(0), operand(1)};
    int n_results;
    fill(a_items, (p->a_shared ? 1 : p->batch) * p->m * p->k, dtype, seed, true);
    fill(b_items, (p->b_shared ? 1 : p->batch) * p->k * p->n, dtype, seed + 1, true);
    tensors[0] = make_tensor(dtype, p->a_ndim, p->a, a_items);
    tensors[1] = make_tensor(dtype, p->b_ndim, p->b, b_items);
    if (transposed) { // b stored by columns: a transposed view of its transpose
        static struct scalar flipped[MAX_ELEMENTS];
        int64_t shape[2] = {p->n, p->k};
        for (int64_t l = 0; l < p->k; l++)
            for (int64_t j = 0; j < p->n; j++)
                flipped[j * p->k + l] = b_items[l * p->n + j];
        turned = make_tensor(dtype, 2, shape, flipped);
        struct argument swap[OP_MAX_PARAMETERS] = {operand(0), integer(0), integer(1)};
        tensor_release(tensors[1]);
        if (run_op(OP_transpose, false, 1, &turned, swap, &tensors[1], &n_results,
                   &problem) != STATUS_OK) {
            check(false, "transpose: %s", problem.detail);
            tensors[1] = tensor_reference(turned);
        }
        tensor_release(turned);
    }
    enum status status =
        run_op(OP_matmul, false, 2, tensors, arguments, results, &n_results, &problem);
    if (dtype == DTYPE_BOOL) {
        check(status == STATUS_DTYPE, "matmul bool: not refused");
    } else if (status != STATUS_OK) {
        check(false, "matmul %s: %s", dtype_name(dtype), problem.detail);
    } else {
        read_tensor(results[0], &got);
        bool fits = got.ndim == p->ndim && got.count == p->batch * p->m * p->n &&
                    got.dtype == dtype;
        for (int d = 0; d < p->ndim && fits; d++)
            fits = got.shape[d] == p->shape[d];
        for (int64_t i = 0; i < got.count && fits; i++)
            fits = right(p, dtype, i / (p->m * p->n), i / p->n % p->m, i % p->n,
                         got.items[i]);
        check(fits, "matmul %s %lldx%lldx%lld batch %lld%s", dtype_name(dtype),
              (long long)p->m, (long long)p->k, (long long)p->n, (long long)p->batch,
              transposed ? " transposed" : "");
    }
    if (status == STATUS_OK)
        tensor_release(results[0]);
    tensor_release(tensors[0]);
    tensor_release(tensors[1]);
}

static void check_softmax(enum dtype dtype, int64_t dim)
{
    struct problem problem;
    struct tensor *tensor, *results[OP_MAX_RESULTS];
    struct argument arguments[OP_MAX_PARAMETERS] = {operand(0), integer(dim)};
    int64_t shape[3] = {4, 9, 6}, strides[3] = {54, 6, 1};
    int n_results, axis = (int)(dim < 0 ? dim + 3 : dim);
    fill(a_items, 216, dtype, 5, true);
    tensor = make_tensor(dtype, 3, shape, a_items);
    enum status status =
        run_op(OP_softmax, false, 1, &tensor, arguments, results, &n_results, &problem);
    tensor_release(tensor);
    if (!dtype_is_float(dtype)) {
        check(status == STATUS_DTYPE, "softmax %s: not refused with dtype",
              dtype_name(dtype));
        if (status == STATUS_OK)
            tensor_release(results[0]);
        return;
    }
    check(status == STATUS_OK, "softmax %s: %s", dtype_name(dtype), problem.detail);
    if (status != STATUS_OK)
        return;
    read_tensor(results[0], &got);
    bool fits = got.dtype == dtype && got.count == 216;
    for (int64_t i = 0; i < 216 && fits; i++) {
        int64_t base = i - i / strides[axis] % shape[axis] * strides[axis];
        long double sum = 0;
        for (int64_t l = 0; l < shape[axis]; l++)
            sum += expl(real(a_items[base + l * strides[axis]]));
        double exact = to_dtype(expl(real(a_items[i])) / sum, dtype).f;
        fits = ulp_distance(got.items[i].f, exact, dtype) <=
               (dtype_size(dtype) == 2 ? 1 : 4);
    }
    check(fits, "softmax %s dim %lld: a value is off", dtype_name(dtype), (long long)dim);
    tensor_release(results[0]);
}

void check_products(void)
{
    unsigned seed = 900;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
            check_product(dtype, &products[i], false, seed += 2);
            if (products[i].a_ndim == 2 && products[i].b_ndim == 2 && products[i].k > 0)
                check_product(dtype, &products[i], true, seed += 2);
        }
        for (int64_t dim = -1; dim < 2; dim++)
            check_softmax(dtype, dim);
    }
}
