// SPDX-License-Identifier: Apache-2.0
// A stand-in for cuBLAS: the strided batched product in plain loops, on the handle's
// stream. 16-bit inputs are widened, summed in float, rounded once.
#include <algorithm>
#include <vector>

#include "include/cublas_v2.h"
#include "sim.h"

extern "C" float float16_to_float(uint16_t bits);
extern "C" uint16_t float16_from_float(float value);

using namespace cudasim;

struct cublasContext {
    cudaStream_t stream = nullptr;
    void *workspace = nullptr;
};

namespace
{
size_t size_of(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

float brain_to_float(uint16_t bits)
{
    uint32_t word = uint32_t(bits) << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}
uint16_t brain_from_float(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    if ((word & 0x7FFFFFFFu) > 0x7F800000u)
        return static_cast<uint16_t>(word >> 16 | 0x40);
    return static_cast<uint16_t>((word + 0x7FFFu + (word >> 16 & 1)) >> 16);
}

template <class F> F get(const void *data, int64_t i, cudaDataType type)
{
    if (type == CUDA_R_64F)
        return static_cast<F>(static_cast<const double *>(data)[i]);
    if (type == CUDA_R_32F)
        return static_cast<F>(static_cast<const float *>(data)[i]);
    uint16_t bits = static_cast<const uint16_t *>(data)[i];
    return type == CUDA_R_16F ? float16_to_float(bits) : brain_to_float(bits);
}
template <class F> void put(void *data, int64_t i, cudaDataType type, F value)
{
    if (type == CUDA_R_64F)
        static_cast<double *>(data)[i] = value;
    else if (type == CUDA_R_32F)
        static_cast<float *>(data)[i] = static_cast<float>(value);
    else
        static_cast<uint16_t *>(data)[i] =
            type == CUDA_R_16F ? float16_from_float(static_cast<float>(value))
                               : brain_from_float(static_cast<float>(value));
}

// A column-major matrix of the call; rows and columns as stored.
struct matrix {
    const void *data;
    cudaDataType type;
    bool transposed;
    int64_t rows, columns, leading;
    long long stride;

    // Bytes from the first element of the batch to the end of its last.
    size_t extent(int64_t batch) const
    {
        return static_cast<size_t>((batch - 1) * stride + (columns - 1) * leading +
                                   rows) *
               size_of(type);
    }
    bool valid(int64_t batch) const
    {
        return rows >= 1 && columns >= 1 && leading >= rows && is_device_address(data) &&
               locate(data, extent(batch)) == place::inside;
    }
    // Element (i, j) of the operand, transposed if it is.
    int64_t at(int64_t i, int64_t j) const
    {
        return transposed ? j + i * leading : i + j * leading;
    }
};

template <class F>
void multiply(const matrix &a, const matrix &b, const matrix &c, int64_t m, int64_t n,
              int64_t k, int64_t item, F alpha, F beta)
{
    std::vector<F> left(static_cast<size_t>(m * k)), column(static_cast<size_t>(m));
    const char *from_a = static_cast<const char *>(real_address(a.data)) +
                         item * a.stride * size_of(a.type);
    const char *from_b = static_cast<const char *>(real_address(b.data)) +
                         item * b.stride * size_of(b.type);
    char *to_c =
        static_cast<char *>(real_address(c.data)) + item * c.stride * size_of(c.type);
    for (int64_t l = 0; l < k; l++)
        for (int64_t i = 0; i < m; i++)
            left[static_cast<size_t>(l * m + i)] = get<F>(from_a, a.at(i, l), a.type);
    for (int64_t j = 0; j < n; j++) {
        std::fill(column.begin(), column.end(), F(0));
        for (int64_t l = 0; l < k; l++) {
            F factor = get<F>(from_b, b.at(l, j), b.type);
            const F *from = &left[static_cast<size_t>(l * m)];
            F *to = column.data();
            for (int64_t i = 0; i < m; i++)
                to[i] += from[i] * factor;
        }
        for (int64_t i = 0; i < m; i++) {
            F value = alpha * column[static_cast<size_t>(i)];
            if (beta != 0)
                value += beta * get<F>(to_c, c.at(i, j), c.type);
            put<F>(to_c, c.at(i, j), c.type, value);
        }
    }
}

cublasStatus_t enter_cublas(cublasHandle_t handle, const char *api)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    cudaError_t error = enter(api);
    return error == cudaSuccess                 ? CUBLAS_STATUS_SUCCESS
           : error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                                : CUBLAS_STATUS_EXECUTION_FAILED;
}
} // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t *out)
{
    cublasContext nothing;
    cublasStatus_t status = enter_cublas(&nothing, "cublasCreate");
    if (status == CUBLAS_STATUS_SUCCESS)
        *out = new cublasContext;
    return status;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    cublasStatus_t status = enter_cublas(handle, "cublasSetStream");
    if (status == CUBLAS_STATUS_SUCCESS)
        handle->stream = stream;
    return status;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    cublasStatus_t status = enter_cublas(handle, "cublasSetWorkspace");
    if (status == CUBLAS_STATUS_SUCCESS && bytes > 0 &&
        locate(workspace, bytes) != place::inside)
        return CUBLAS_STATUS_INVALID_VALUE;
    return status;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t)
{
    return enter_cublas(handle, "cublasSetMathMode");
}

const char *cublasGetStatusName(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
        return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    }
    return "unknown";
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t a_form, cublasOperation_t b_form, int64_t m,
    int64_t n, int64_t k, const void *alpha, const void *a_data, cudaDataType a_type,
    int64_t a_leading, long long a_stride, const void *b_data, cudaDataType b_type,
    int64_t b_leading, long long b_stride, const void *beta, void *c_data,
    cudaDataType c_type, int64_t c_leading, long long c_stride, int64_t batch,
    cublasComputeType_t compute, cublasGemmAlgo_t)
{
    cublasStatus_t status = enter_cublas(handle, "cublasGemmStridedBatchedEx");
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    bool wide = compute == CUBLAS_COMPUTE_64F;
    if (a_type != b_type || a_type != c_type || wide != (a_type == CUDA_R_64F) ||
        (!wide && compute != CUBLAS_COMPUTE_32F))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    bool a_turned = a_form != CUBLAS_OP_N, b_turned = b_form != CUBLAS_OP_N;
    matrix a = {a_data,           a_type,    a_turned, a_turned ? k : m,
                a_turned ? m : k, a_leading, a_stride};
    matrix b = {b_data,           b_type,    b_turned, b_turned ? n : k,
                b_turned ? k : n, b_leading, b_stride};
    matrix c = {c_data, c_type, false, m, n, c_leading, c_stride};
    if (batch < 1 || !handle->stream || !a.valid(batch) || !b.valid(batch) ||
        !c.valid(batch))
        return CUBLAS_STATUS_INVALID_VALUE;
    double alpha_value =
        wide ? *static_cast<const double *>(alpha) : *static_cast<const float *>(alpha);
    double beta_value =
        wide ? *static_cast<const double *>(beta) : *static_cast<const float *>(beta);
    int device = device_of_stream(handle->stream);
    cudaError_t error = enqueue(handle->stream, [=] {
        for (int64_t item = 0; item < batch && !is_broken(device); item++) {
            if (wide)
                multiply<double>(a, b, c, m, n, k, item, alpha_value, beta_value);
            else
                multiply<float>(a, b, c, m, n, k, item, static_cast<float>(alpha_value),
                                static_cast<float>(beta_value));
        }
    });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // extern "C"
