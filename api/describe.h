// SPDX-License-Identifier: Apache-2.0
// Descriptions of tensors: the JSON object of a binding, and the headers that go with
// every tensor.
#ifndef TENSORD_API_DESCRIBE_H
#define TENSORD_API_DESCRIBE_H

#include "api/request.h"

// Appends the description of a binding.
enum status describe(const struct request *request, struct text *text,
                     const struct binding *binding, struct problem *problem);
// The object of a binding of any kind: {"name", "kind", ...}; a tensor's description with
// its kind, or type, parameters of a module, version and attributes.
enum status describe_name(const struct request *request, struct text *text,
                          const struct binding *binding, struct problem *problem);
// The answer to a request that bound or changed name: its description. The change is
// made, so that a failure here cannot be told as one: without memory the answer is NULL,
// which closes the connection.
struct http_response *describe_answer(const struct request *request, int status,
                                      const char *name);
// Adds Tensor-Dtype, Tensor-Shape and Tensor-Device.
struct http_response *answer_tensor_headers(struct http_response *response,
                                            enum dtype dtype, int ndim,
                                            const int64_t *shape, const char *device);
#endif
