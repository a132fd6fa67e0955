// SPDX-License-Identifier: Apache-2.0
// npy files: a version 1 header, then the elements. bfloat16, which npy does not have, is
// widened exactly to float32 on the way. One thread at a time.
#include "api/formats/writer.h"

enum { NPY_HEADER_MAX = 1024 };

struct npy_writer {
    struct writer base;
    size_t header_length;
    int64_t sent; // bytes of header and elements
    char header[NPY_HEADER_MAX];
};

static size_t copy_header(struct npy_writer *npy, char *buffer, size_t size)
{
    size_t part = npy->header_length - (size_t)npy->sent;
    if (part > size)
        part = size;
    memcpy(buffer, npy->header + npy->sent, part);
    npy->sent += (int64_t)part;
    return part;
}

// Whole elements, as float32.
static size_t widen_bfloat16(const struct npy_writer *npy, int64_t offset, char *buffer,
                             size_t size)
{
    const char *data = npy->base.options.data;
    size_t count = size / sizeof(float);
    for (size_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, data + offset / 2 + (int64_t)i * 2, sizeof bits);
        uint32_t word = (uint32_t)bits << 16;
        memcpy(buffer + i * 4, &word, sizeof word);
    }
    return count * sizeof(float);
}

static size_t npy_next(struct writer *writer, char *buffer, size_t size)
{
    struct npy_writer *npy = (struct npy_writer *)writer;
    size_t used = 0;
    if (npy->sent < (int64_t)npy->header_length)
        used = copy_header(npy, buffer, size);
    int64_t offset = npy->sent - (int64_t)npy->header_length,
            left = writer->length - npy->sent;
    if (offset < 0 || left == 0)
        return used;
    size_t part = size - used;
    if ((int64_t)part > left)
        part = (size_t)left;
    if (writer->options.dtype == DTYPE_BFLOAT16)
        part = widen_bfloat16(npy, offset, buffer + used, part);
    else
        memcpy(buffer + used, (const char *)writer->options.data + offset, part);
    npy->sent += (int64_t)part;
    return used + part;
}

static const struct writer_vtable npy_writer_vtable = {npy_next};

enum status npy_writer_open(const struct writer_options *options, struct writer **out,
                            struct problem *problem)
{
    enum status status = writer_allocate(sizeof(struct npy_writer), &npy_writer_vtable,
                                         options, out, problem);
    if (status != STATUS_OK)
        return status;
    struct npy_writer *npy = (struct npy_writer *)*out;
    int64_t bytes,
        size = options->dtype == DTYPE_BFLOAT16 ? 4 : dtype_size(options->dtype);
    npy->header_length =
        npy_header(options->dtype, options->ndim, options->shape, npy->header);
    if (!size_multiply((*out)->count, size, &bytes) ||
        !size_add(bytes, (int64_t)npy->header_length, &bytes)) {
        writer_close(*out);
        *out = NULL;
        return problem_set(problem, STATUS_SHAPE, "The tensor is too large for npy.");
    }
    (*out)->length = options->header_only ? (int64_t)npy->header_length : bytes;
    return STATUS_OK;
}
