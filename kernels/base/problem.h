// SPDX-License-Identifier: Apache-2.0
// Status codes and the caller-owned problem that explains one.
//
// Every fallible function returns an enum status (STATUS_OK is 0) and takes a `struct
// problem *` as its last parameter, which it fills exactly when it returns something
// else. Nothing is thread-local: a request crosses threads and carries its problem along.
// `problem` may not be NULL.
#ifndef TENSORD_KERNELS_BASE_PROBLEM_H
#define TENSORD_KERNELS_BASE_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

enum status {
    STATUS_OK = 0,
#define PROBLEM(symbol, kind, http, title, meaning) STATUS_##symbol,
#include "kernels/base/problems.def"
#undef PROBLEM
    STATUS_COUNT
};

enum { PROBLEM_DETAIL_MAX = 512, PROBLEM_TEXT_MAX = 192 };

// Only `status` and `detail` are always meaningful. Empty strings, zero lines and
// negative byte counts are not reported.
struct problem {
    enum status status;
    char detail[PROBLEM_DETAIL_MAX]; // one or two sentences: what is wrong and what to do
    char pointer[PROBLEM_TEXT_MAX];  // JSON pointer into the body
    char nearest[PROBLEM_TEXT_MAX];  // the nearest right name
    char shapes[PROBLEM_TEXT_MAX];   // "(2, 3) (4,)"
    char dtypes[PROBLEM_TEXT_MAX];   // "float32 int64"
    char devices[PROBLEM_TEXT_MAX];  // "cpu cuda:0"
    int64_t line, column;            // from 1, column in characters
    int64_t required_bytes, available_bytes;
    int retry_after; // seconds, with 503 and 507
};

struct problem_kind {
    const char *kind; // last segment of the type URI
    int http_status;
    const char *title;
    const char *meaning;
};

// An empty problem. Cheap: only the first byte of each text is written.
void problem_clear(struct problem *problem);

// Clears, then sets status and detail (printf-like; the format is always a literal) and
// returns status. Detail is truncated at a UTF-8 boundary. Client bytes in arguments are
// printed as they are: the API escapes them when it writes the document.
enum status problem_set(struct problem *problem, enum status status, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));

// The registry row of a status (not STATUS_OK).
const struct problem_kind *problem_kind(enum status status);
#endif
