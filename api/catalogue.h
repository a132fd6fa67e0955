// SPDX-License-Identifier: Apache-2.0
// The operation table as JSON, for /v1/ops and /openapi.json.
#ifndef TENSORD_API_CATALOGUE_H
#define TENSORD_API_CATALOGUE_H

#include "api/text.h"
#include "kernels/ops.h"

void catalogue_write(struct text *text, const struct op_row *row);
#endif
