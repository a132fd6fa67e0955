// SPDX-License-Identifier: Apache-2.0
// The only file that calls the BLAS. Any thread.
#include "kernels/host/gemm.h"

#include <cblas.h>
#include <stdlib.h>

// OpenBLAS starts a thread per core when it is loaded unless its environment forbids.
// Linked statically, as the Makefile prefers, its constructor runs after this one.
__attribute__((constructor(101))) static void forbid_threads(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
}

void blas_single_threaded(void)
{
    openblas_set_num_threads(1);
}

struct blas_operand blas_operand(const void *data, int64_t row, int64_t column,
                                 int64_t rows, int64_t columns)
{
    struct blas_operand operand = {.data = data};
    operand.transposed = column != 1 && columns > 1;
    // A stride that leads nowhere must still satisfy the BLAS: at least the length of
    // what it steps over.
    if (operand.transposed)
        operand.step = column;
    else
        operand.step = rows > 1 ? row : columns;
    return operand;
}

// y = A x for a column x: A is m x k. b's elements are b_step apart, c's c_step. OpenBLAS
// multiplies y by beta even if that is 0, and then NaN stays NaN in some versions: y is
// cleared instead.
#define VECTOR_PRODUCT(letter, T)                                                        \
    static void vector_##letter(int m, int k, struct blas_operand a, const T *x,         \
                                int x_step, T *y, int y_step, bool add)                  \
    {                                                                                    \
        for (int64_t i = 0; i < m && !add; i++)                                          \
            y[i * y_step] = 0;                                                           \
        if (a.transposed)                                                                \
            cblas_##letter##gemv(CblasColMajor, CblasNoTrans, m, k, 1, a.data,           \
                                 (int)a.step, x, x_step, 1, y, y_step);                  \
        else                                                                             \
            cblas_##letter##gemv(CblasRowMajor, CblasNoTrans, m, k, 1, a.data,           \
                                 (int)a.step, x, x_step, 1, y, y_step);                  \
    }
VECTOR_PRODUCT(s, float)
VECTOR_PRODUCT(d, double)

static CBLAS_TRANSPOSE flag(struct blas_operand operand)
{
    return operand.transposed ? CblasTrans : CblasNoTrans;
}

void blas_product(enum dtype dtype, int64_t m64, int64_t n64, int64_t k64,
                  struct blas_operand a, struct blas_operand b, void *c, int64_t c_step64,
                  bool add)
{
    int m = (int)m64, n = (int)n64, k = (int)k64, c_step = (int)c_step64;
    int a_step = (int)a.step, b_step = (int)b.step;
    if (n == 1) {
        int x_step = b.transposed ? 1 : b_step;
        if (dtype == DTYPE_FLOAT64)
            vector_d(m, k, a, b.data, x_step, c, c_step, add);
        else
            vector_s(m, k, a, b.data, x_step, c, c_step, add);
    } else if (dtype == DTYPE_FLOAT64) {
        cblas_dgemm(CblasRowMajor, flag(a), flag(b), m, n, k, 1, a.data, a_step, b.data,
                    b_step, add ? 1 : 0, c, c_step);
    } else {
        cblas_sgemm(CblasRowMajor, flag(a), flag(b), m, n, k, 1, a.data, a_step, b.data,
                    b_step, add ? 1 : 0, c, c_step);
    }
}

// ---- The check at start. Odd sizes, so that the edges of the BLAS's kernels take part.
enum { CHECK_M = 37, CHECK_N = 29, CHECK_K = 41 };

static int check_value(int i, int j)
{
    return (i * 7 + j * 5) % 17 - 8;
}

static void check_expect(int64_t *expected)
{
    for (int i = 0; i < CHECK_M; i++)
        for (int j = 0; j < CHECK_N; j++) {
            int64_t sum = 0;
            for (int l = 0; l < CHECK_K; l++)
                sum += check_value(i, l) * check_value(l + 3, j);
            expected[i * CHECK_N + j] = sum;
        }
}

#define CHECK(name, T)                                                                   \
    static bool check_##name(blas_##name *product, bool transpose,                       \
                             const int64_t *expected)                                    \
    {                                                                                    \
        T a[CHECK_M * CHECK_K], b[CHECK_K * CHECK_N], c[CHECK_M * CHECK_N];              \
        for (int i = 0; i < CHECK_M; i++)                                                \
            for (int l = 0; l < CHECK_K; l++)                                            \
                a[transpose ? l * CHECK_M + i : i * CHECK_K + l] = (T)check_value(i, l); \
        for (int l = 0; l < CHECK_K; l++)                                                \
            for (int j = 0; j < CHECK_N; j++)                                            \
                b[l * CHECK_N + j] = (T)check_value(l + 3, j);                           \
        for (int i = 0; i < CHECK_M * CHECK_N; i++)                                      \
            c[i] = (T)1e30;                                                              \
        product(CblasRowMajor, transpose ? CblasTrans : CblasNoTrans, CblasNoTrans,      \
                CHECK_M, CHECK_N, CHECK_K, 1, a, transpose ? CHECK_M : CHECK_K, b,       \
                CHECK_N, 0, c, CHECK_N);                                                 \
        for (int i = 0; i < CHECK_M * CHECK_N; i++)                                      \
            if (c[i] != (T)expected[i])                                                  \
                return false;                                                            \
        return true;                                                                     \
    }
CHECK(float32, float)
CHECK(float64, double)

static void own_float32(int order, int transpose_a, int transpose_b, int m, int n, int k,
                        float alpha, const float *a, int a_step, const float *b,
                        int b_step, float beta, float *c, int c_step)
{
    cblas_sgemm((CBLAS_ORDER)order, (CBLAS_TRANSPOSE)transpose_a,
                (CBLAS_TRANSPOSE)transpose_b, m, n, k, alpha, a, a_step, b, b_step, beta,
                c, c_step);
}

static void own_float64(int order, int transpose_a, int transpose_b, int m, int n, int k,
                        double alpha, const double *a, int a_step, const double *b,
                        int b_step, double beta, double *c, int c_step)
{
    cblas_dgemm((CBLAS_ORDER)order, (CBLAS_TRANSPOSE)transpose_a,
                (CBLAS_TRANSPOSE)transpose_b, m, n, k, alpha, a, a_step, b, b_step, beta,
                c, c_step);
}

enum status blas_check(blas_float32 *float32, blas_float64 *float64,
                       struct problem *problem)
{
    float32 = float32 != NULL ? float32 : own_float32;
    float64 = float64 != NULL ? float64 : own_float64;
    int64_t expected[CHECK_M * CHECK_N];
    check_expect(expected);
    for (int transpose = 0; transpose < 2; transpose++)
        for (int wide = 0; wide < 2; wide++)
            if (!(wide ? check_float64(float64, transpose, expected)
                       : check_float32(float32, transpose, expected)))
                return problem_set(
                    problem, STATUS_DEVICE_FAULT,
                    "The BLAS library (%s) computes wrongly: a %d x %d x %d product in "
                    "float%d differs from a plain loop. Install another OpenBLAS, or "
                    "set OPENBLAS_CORETYPE to an older processor of this family.",
                    openblas_get_config(), CHECK_M, CHECK_K, CHECK_N, wide ? 64 : 32);
    return STATUS_OK;
}
