// SPDX-License-Identifier: Apache-2.0
// The handlers of routes.def, declared from its rows. Each answers its request or starts
// its work; it runs on the HTTP thread when the whole body is in.
#ifndef TENSORD_API_HANDLERS_H
#define TENSORD_API_HANDLERS_H

struct request;

#define ROUTE(method, pattern, handler, body, parameters, doc)                           \
    void handle_##handler(struct request *request);
#include "api/routes.def"
#endif
