// SPDX-License-Identifier: Apache-2.0
// Elements from host memory that are lent as they are: npy and raw; and what all tensor
// answers have in common.
#include "api/payload.h"

#include "api/range.h"
#include "kernels/base/size.h"

enum {
    SMALL_COPY = 32 << 10
}; // up to this size copying is cheaper than a second system call

void payload_pin(struct payload *value, const struct tensor *tensor)
{
    value->dtype = tensor->dtype;
    value->ndim = tensor->layout.ndim;
    memcpy(value->shape, tensor->layout.shape,
           (size_t)value->ndim * sizeof value->shape[0]);
    value->block = storage_pin(tensor->storage);
    value->offset = tensor->offset * dtype_size(tensor->dtype);
}

void payload_unpin(struct payload *value)
{
    block_release(value->block);
    value->block = NULL;
}

enum status payload_check(enum format format, int ndim, struct problem *problem)
{
    if (format != FORMAT_CSV || ndim <= 2)
        return STATUS_OK;
    return problem_set(
        problem, STATUS_NOT_ACCEPTABLE,
        "CSV holds up to 2 dimensions and this tensor has %d; take npy or json.", ndim);
}

enum dtype payload_wire_dtype(enum format format, enum dtype dtype)
{
    return format == FORMAT_NPY && dtype == DTYPE_BFLOAT16 ? DTYPE_FLOAT32 : dtype;
}

const char *payload_data(const struct payload *value)
{
    if (value->block == NULL || value->block->data == NULL)
        return NULL;
    return (const char *)value->block->data + value->offset;
}

// ---- npy and raw

enum status payload_extent(const struct payload *value, int status,
                           struct payload_extent *out, struct problem *problem)
{
    int64_t count = 0;
    out->head_length = value->format == FORMAT_NPY ? npy_header(value->dtype, value->ndim,
                                                                value->shape, out->head)
                                                   : 0;
    if (!size_of_shape(value->ndim, value->shape, &count) ||
        !size_multiply(count, dtype_size(value->dtype), &out->bytes))
        return problem_set(problem, STATUS_SHAPE, "The shape is too large.");
    int64_t total = out->bytes + (int64_t)out->head_length;
    out->start = 0;
    out->end = total;
    out->status = status;
    if (value->range == NULL)
        return STATUS_OK;
    switch (range_parse(value->range, total, &out->start, &out->end)) {
    case RANGE_WHOLE:
        return STATUS_OK;
    case RANGE_PART:
        out->status = 206;
        return STATUS_OK;
    case RANGE_OUTSIDE:
        break;
    }
    return problem_set(problem, STATUS_RANGE, "The representation has %lld bytes.",
                       (long long)total);
}

static struct http_response *content_range(struct http_response *response,
                                           const struct payload_extent *extent)
{
    char buffer[80];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "bytes ");
    text_integer(&text, extent->start);
    text_literal(&text, "-");
    text_integer(&text, extent->end - 1);
    text_literal(&text, "/");
    text_integer(&text, extent->bytes + (int64_t)extent->head_length);
    text_add(&text, "", 1);
    return answer_header(response, "Content-Range", buffer);
}

struct http_response *payload_outside(const struct payload *value)
{
    struct payload whole = *value;
    struct payload_extent extent;
    struct problem problem;
    char buffer[48];
    struct text text;
    whole.range = NULL;
    if (payload_extent(&whole, 200, &extent, &problem) != STATUS_OK)
        return problem_answer(&problem, 0);
    problem_set(&problem, STATUS_RANGE, "The representation has %lld bytes.",
                (long long)extent.end);
    text_begin(&text, buffer, sizeof buffer);
    text_literal(&text, "bytes */");
    text_integer(&text, extent.end);
    text_add(&text, "", 1);
    return answer_header(problem_answer(&problem, 0), "Content-Range", buffer);
}

struct http_response *payload_headers(struct http_response *response,
                                      const struct payload *value,
                                      const struct payload_extent *extent)
{
    response =
        answer_header(response, "Content-Type", format_row(value->format)->media_type);
    response = answer_tensor_headers(response, value->shown_dtype, value->ndim,
                                     value->shape, value->device);
    if (extent != NULL && extent->status == 206)
        response = content_range(response, extent);
    return response;
}

static void release_block(void *block)
{
    block_release(block);
}

static struct http_response *binary_answer(int status, struct payload *value,
                                           struct problem *problem)
{
    struct payload_extent extent;
    if (payload_extent(value, status, &extent, problem) != STATUS_OK) {
        payload_unpin(value);
        if (problem->status != STATUS_RANGE)
            return NULL;
        problem_clear(problem);
        return payload_outside(value);
    }
    int64_t head_end = (int64_t)extent.head_length, start = extent.start,
            end = extent.end;
    int64_t head_count = start < head_end ? (end < head_end ? end : head_end) - start : 0;
    int64_t first = start > head_end ? start - head_end : 0,
            last = end > head_end ? end - head_end : 0;
    const char *data = payload_data(value);
    struct http_response *response;
    if (end - start <= SMALL_COPY) {
        char buffer[SMALL_COPY];
        if (head_count > 0)
            memcpy(buffer, extent.head + start, (size_t)head_count);
        if (last > first)
            memcpy(buffer + head_count, data + first, (size_t)(last - first));
        response = http_response_copy(extent.status, buffer, (size_t)(end - start));
        payload_unpin(value);
    } else {
        response = http_response_borrow(
            extent.status, extent.head + start, (size_t)head_count, data + first,
            (size_t)(last - first), release_block, value->block);
        if (response == NULL)
            payload_unpin(value);
        value->block = NULL;
    }
    return payload_headers(response, value, &extent);
}

static bool is_binary(const struct payload *value)
{
    return value->format == FORMAT_NPY || value->format == FORMAT_RAW;
}

struct http_response *payload_answer(struct request *request, int status,
                                     struct payload *value, struct problem *problem)
{
    return is_binary(value) ? binary_answer(status, value, problem)
                            : printed_answer(request, status, value, 1, problem);
}

static int64_t no_content(void *context, int64_t position, char *buffer, size_t size)
{
    return HTTP_READ_END;
}

struct http_response *payload_head(struct request *request, const struct payload *value,
                                   struct problem *problem)
{
    struct payload_extent extent;
    struct payload whole = *value;
    int64_t length = -1;
    whole.range = NULL; // a range is for GET
    if (is_binary(value)) {
        if (payload_extent(&whole, 200, &extent, problem) != STATUS_OK)
            return NULL;
        length = extent.end;
    }
    struct http_response *response =
        http_response_stream(200, length, no_content, NULL, NULL);
    return payload_headers(response, value, is_binary(value) ? &extent : NULL);
}
