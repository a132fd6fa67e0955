// SPDX-License-Identifier: Apache-2.0
// Elements of a CUDA device on their way to a client, 4 MiB at a time, so that a tensor
// of any size needs no second copy on the host. The first piece is read before the answer
// begins: a fault of the device is still told.
#ifndef TENSORD_API_READBACK_H
#define TENSORD_API_READBACK_H

#include "api/payload.h"

struct readback;

// For an npy or raw value whose block is on a device; takes the pin in any case. NULL
// with problem filled: STATUS_RANGE among others. HTTP thread or a worker.
struct readback *readback_open(struct request *request, struct payload *value,
                               struct problem *problem);
int readback_device(const struct readback *readback);
// Copies the next piece. The device's worker.
enum status readback_copy(struct readback *readback, struct problem *problem);
// The answer; takes the readback, also when it returns NULL (memory is out).
struct http_response *readback_answer(struct readback *readback);
void readback_free(struct readback *readback); // NULL is ignored
#endif
