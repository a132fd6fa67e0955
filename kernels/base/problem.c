// SPDX-License-Identifier: Apache-2.0
// The registry of problem kinds and the one function that fills a problem.
#include "kernels/base/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct problem_kind kinds[STATUS_COUNT] = {
#define PROBLEM(symbol, kind, http, title, meaning)                                                \
    [STATUS_##symbol] = {kind, http, title, meaning},
#include "kernels/base/problems.def"
#undef PROBLEM
};

void problem_clear(struct problem *problem)
{
    problem->status = STATUS_OK;
    problem->detail[0] = problem->pointer[0] = problem->nearest[0] = '\0';
    problem->shapes[0] = problem->dtypes[0] = problem->devices[0] = '\0';
    problem->line = problem->column = 0;
    problem->required_bytes = problem->available_bytes = -1;
    problem->retry_after = 0;
}

// Drops a UTF-8 sequence that truncation cut in half at the end of text.
static void drop_partial_character(char *text, size_t length)
{
    size_t start = length;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length - (start - 1) < need)
        text[start - 1] = '\0';
}

enum status problem_set(struct problem *problem, enum status status, const char *format, ...)
{
    va_list arguments;
    problem_clear(problem);
    problem->status = status;
    va_start(arguments, format);
    int length = vsnprintf(problem->detail, sizeof problem->detail, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof problem->detail)
        drop_partial_character(problem->detail, strlen(problem->detail));
    return status;
}

const struct problem_kind *problem_kind(enum status status)
{
    return &kinds[status];
}
