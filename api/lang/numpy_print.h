// SPDX-License-Identifier: Apache-2.0
// What numpy_print.c (arrays) and numpy_digits.c (one float) share.
#ifndef TENSORD_API_LANG_NUMPY_PRINT_H
#define TENSORD_API_LANG_NUMPY_PRINT_H

#include "kernels/base/dtype.h"

enum { NUMPY_NUMBER_ROOM = 400 };
// "12.5", "0.001", "3.": at most `precision` digits behind the point (-1: all). Finite
// elements; out has NUMPY_NUMBER_ROOM bytes and is terminated; the length.
int numpy_print_positional(union element element, enum dtype dtype, int precision,
                           char *out);
// "1.25e+10", "2.e-05": at least two digits of exponent.
int numpy_print_scientific(union element element, enum dtype dtype, int precision,
                           char *out);
// A NumPy scalar: "6.0", "1e+20", "nan".
int numpy_print_scalar_float(union element element, enum dtype dtype, char *out);
#endif
