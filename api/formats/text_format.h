// SPDX-License-Identifier: Apache-2.0
// How one element looks when torch prints a tensor: all elements that are shown decide
// together on integers, decimals or exponents, and on the width. The formats' own header.
#ifndef TENSORD_API_FORMATS_TEXT_FORMAT_H
#define TENSORD_API_FORMATS_TEXT_FORMAT_H

#include "api/formats/writer.h"

enum { TEXT_MAX_WIDTH = 32 };

struct text_format {
    enum dtype dtype;
    // What was seen: integers and bools in low and high, finite non-zero floats by sign
    // and size.
    bool seen;
    int64_t low, high;
    double least[2],
        most[2]; // absolute values of [1] negative, [0] positive ones; 0: none
    bool fractions;
    // What follows
    bool scientific;
    int width;
};

void text_format_begin(struct text_format *format, enum dtype dtype);
void text_format_see(struct text_format *format, union element element);
void text_format_decide(struct text_format *format);
// The element, right-aligned; the characters written (<= TEXT_MAX_WIDTH).
size_t text_format_print(const struct text_format *format, union element element,
                         char *out);
#endif
