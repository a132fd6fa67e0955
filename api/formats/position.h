// SPDX-License-Identifier: Apache-2.0
// Where in a text body a reader is, for problems: line and column from 1, columns in
// characters of UTF-8. The formats' own header.
#ifndef TENSORD_API_FORMATS_POSITION_H
#define TENSORD_API_FORMATS_POSITION_H

#include "kernels/base/problem.h"

#include <stddef.h>
#include <string.h>

struct position {
    int64_t line, column;
};

// Moves past count bytes of text. Counts whole pieces, so that the parser itself need
// not; a sum of bytes over a short block is a loop that compilers turn into vector code.
static inline void position_advance(struct position *position, const char *text,
                                    size_t count)
{
    enum { BLOCK = 240 };
    const char *newline = memrchr(text, '\n', count), *end = text + count;
    for (const char *p = text; newline != NULL && p <= newline;) {
        const char *stop = newline + 1 - p > BLOCK ? p + BLOCK : newline + 1;
        uint8_t lines = 0;
        for (; p < stop; p++)
            lines += *p == '\n';
        position->line += lines;
    }
    if (newline != NULL)
        position->column = 1;
    for (const char *p = newline != NULL ? newline + 1 : text; p < end;) {
        const char *stop = end - p > BLOCK ? p + BLOCK : end;
        uint8_t characters = 0;
        for (; p < stop; p++)
            characters += (int8_t)*p > -65; // 0x80 to 0xBF continue a character
        position->column += characters;
    }
}

// Says in problem that it is at `at` in a piece of text that begins at position.
static inline void position_report(struct position position, const char *text,
                                   const char *at, struct problem *problem)
{
    position_advance(&position, text, (size_t)(at - text));
    problem->line = position.line;
    problem->column = position.column;
}
#endif
