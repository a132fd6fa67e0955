// SPDX-License-Identifier: Apache-2.0
// One JSON value as one argument: the half of arguments.c that knows types. Nobody else
// includes this.
#ifndef TENSORD_API_ARGUMENT_VALUES_H
#define TENSORD_API_ARGUMENT_VALUES_H

#include "api/arguments.h"

struct binder {
    struct request *request;
    const struct json *json;
    struct call *call;
};

// Binds value to parameter `index` of the call.
enum status bind_value(struct binder *binder, int index, const struct json_value *value,
                       struct problem *problem);
// Binds value and the count - 1 values after it, integers all, to the int[] parameter
// `index`.
enum status bind_rest(struct binder *binder, int index, const struct json_value *value,
                      uint32_t count, struct problem *problem);
// Reads inline data (a nested list, a number, or {"data", ...}) as a tensor on the host, a
// reference of the caller's; *device: the one it names, else left alone.
enum status read_inline_tensor(struct request *request, const struct json_value *value,
                               struct tensor **out, struct device **device,
                               struct problem *problem);
#endif
