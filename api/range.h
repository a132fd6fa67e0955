// SPDX-License-Identifier: Apache-2.0
// Byte ranges (RFC 9110, 14): one range is served, several or a broken field mean the
// whole. Pure; any thread.
#ifndef TENSORD_API_RANGE_H
#define TENSORD_API_RANGE_H

#include <stdint.h>

enum range { RANGE_WHOLE, RANGE_PART, RANGE_OUTSIDE };
// Reads a Range field against length bytes. PART: [*start, *end), not empty.
enum range range_parse(const char *field, int64_t length, int64_t *start, int64_t *end);
#endif
