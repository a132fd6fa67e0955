// SPDX-License-Identifier: Apache-2.0
// Values as printed text: JSON, CSV, text; of several values a JSON list.
#include "api/pieces.h"

static enum status add_values(struct pieces *pieces, struct payload *values, int n,
                              struct problem *problem)
{
    if (n == 1)
        return pieces_payload(pieces, &values[0], false, 0, problem);
    enum status status = STATUS_OK;
    for (int i = 0; i < n && status == STATUS_OK; i++) {
        if (i == 0)
            pieces_literal(pieces, "{\"values\": [\n");
        else
            pieces_literal(pieces, ",\n");
        status = pieces_payload(pieces, &values[i], false, 0, problem);
    }
    pieces_literal(pieces, "]}\n");
    return status;
}

struct http_response *printed_answer(struct request *request, int status,
                                     struct payload *values, int n,
                                     struct problem *problem)
{
    struct pieces *pieces = pieces_create(request, problem);
    bool added = pieces != NULL && add_values(pieces, values, n, problem) == STATUS_OK;
    for (int i = 0; i < n; i++)
        payload_unpin(&values[i]); // those that were not taken
    if (!added) {
        pieces_free(pieces);
        return NULL;
    }
    struct http_response *response = pieces_answer(pieces, status);
    if (n == 1)
        return payload_headers(response, &values[0], NULL);
    return answer_header(response, "Content-Type", "application/json");
}
