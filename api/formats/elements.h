// SPDX-License-Identifier: Apache-2.0
// Elements that arrive one by one as text (JSON, CSV), stored in the caller's memory in
// their final dtype as far as it is known. The formats' own header.
//
// Without a dtype it is found as torch.tensor does: bool if all are bools, int64 if all
// are bools and integers, else float32. What is stored so far is converted when a float
// follows integers. An integer beyond int64 needs a float beside it. With late_dtype a
// dtype may still be named at the end: numbers are then kept in 64 bits until
// elements_finish.
#ifndef TENSORD_API_FORMATS_ELEMENTS_H
#define TENSORD_API_FORMATS_ELEMENTS_H

#include "api/formats/number.h"

struct elements {
    struct reader_memory memory;
    void *data;
    int64_t count, capacity; // elements
    enum dtype stored;       // of what lies in data
    bool fixed;              // stored was given, values are converted to it
    bool late_dtype;
    bool seen_number, seen_float;
    bool seen_big; // an integer beyond int64, at big_index
    bool inexact;  // an integer lost digits when it became a float64 (late_dtype)
    int64_t big_index;
    int64_t body_length; // declared bytes of the whole body or -1
    int64_t body_read;   // bytes read so far: kept by the reader, for estimates
};

void elements_open(struct elements *elements, const struct reader_memory *memory,
                   int64_t body_length);
// Before the first element: the dtype is known.
void elements_fix(struct elements *elements, enum dtype dtype);

// STATUS_VALUE for what does not fit the dtype; STATUS_OUT_OF_MEMORY and what reserve
// says.
enum status elements_add_bool(struct elements *elements, bool value,
                              struct problem *problem);
enum status elements_add_decimal(struct elements *elements, const struct decimal *decimal,
                                 const char *text, size_t length,
                                 struct problem *problem);
// NaN or an infinity.
enum status elements_add_special(struct elements *elements, double value,
                                 struct problem *problem);

// All elements are there. With has_dtype (and not fixed) they become that dtype. On
// STATUS_VALUE *index is the element that does not fit.
enum status elements_finish(struct elements *elements, bool has_dtype, enum dtype dtype,
                            int64_t *index, struct problem *problem);
#endif
