// SPDX-License-Identifier: Apache-2.0
// PUT /v1/tensors/{name}: the body goes through a format's reader into a block as it
// arrives. It takes effect at its last byte. HTTP thread; what needs computing then is
// work (work.h).
#ifndef TENSORD_API_UPLOAD_H
#define TENSORD_API_UPLOAD_H

#include <stddef.h>

#include "kernels/base/problem.h"

struct request;
struct upload;

// The headers are in: checks all that can be refused before the body is sent.
enum status upload_begin(struct request *request, struct problem *problem);
enum status upload_data(struct request *request, const char *bytes, size_t count,
                        struct problem *problem);
void upload_free(struct upload *upload); // NULL is ignored; its memory is the request's
#endif
