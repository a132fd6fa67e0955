// SPDX-License-Identifier: Apache-2.0
// Answers that carry elements: from host memory (borrowed, printed), or from a CUDA
// device piece by piece.
#ifndef TENSORD_API_PAYLOAD_H
#define TENSORD_API_PAYLOAD_H

#include "api/describe.h"

// What is to be sent. Elements are C-contiguous.
struct payload {
    enum format format;
    enum dtype dtype;       // of the elements
    enum dtype shown_dtype; // of the tensor they stand for: Tensor-Dtype (bfloat16
                            // travels as float32 in npy)
    int ndim;
    int64_t shape[TENSOR_MAX_NDIM];
    const char *name;    // NULL: none
    const char *device;  // of the tensor
    struct block *block; // pins the elements; NULL when there are none
    int64_t offset;      // of the first element in the block, in bytes
    const char *range;   // Range header, NULL: the whole
};

// Fills dtype, shape, block and offset from a contiguous tensor; pins it (payload_unpin).
void payload_pin(struct payload *value, const struct tensor *tensor);
void payload_unpin(struct payload *value);
// STATUS_NOT_ACCEPTABLE if the format has no form for this many dims.
enum status payload_check(enum format format, int ndim, struct problem *problem);
// The dtype in which elements of dtype travel in format.
enum dtype payload_wire_dtype(enum format format, enum dtype dtype);

// The answer with status, from host memory, with Content-Type and Tensor-* headers. Takes
// the pin in any case.
struct http_response *payload_answer(struct request *request, int status,
                                     struct payload *value, struct problem *problem);
// The same for HEAD: no elements are looked at; value->block may be NULL.
struct http_response *payload_head(struct request *request, const struct payload *value,
                                   struct problem *problem);

// Printed formats (printed.c): of several values {"values": [...]}, JSON only. Takes the
// pins in any case.
struct http_response *printed_answer(struct request *request, int status,
                                     struct payload *values, int n,
                                     struct problem *problem);

// ---- What the files share.
const char *payload_data(const struct payload *value); // NULL when there are no elements
struct payload_extent {
    char head[1024]; // npy's header
    size_t head_length;
    int64_t bytes;      // of the elements
    int64_t start, end; // of what is sent: bytes of head and elements together
    int status;
};
// The extent of an npy or raw answer after its range. STATUS_RANGE: *total is the whole
// length.
enum status payload_extent(const struct payload *value, int status,
                           struct payload_extent *out, struct problem *problem);
// Headers of every tensor answer; of an npy or raw one with its extent.
struct http_response *payload_headers(struct http_response *response,
                                      const struct payload *value,
                                      const struct payload_extent *extent);
// The answer when the range is outside: 416 with its Content-Range.
struct http_response *payload_outside(const struct payload *value);
#endif
