// SPDX-License-Identifier: Apache-2.0
// Natives that stand in one file and in the table of another.
#ifndef TENSORD_API_LANG_BUILTINS_TABLE_H
#define TENSORD_API_LANG_BUILTINS_TABLE_H

#include "api/lang/native.h"

// builtins_number.c
native_function builtin_abs, builtin_round, builtin_divmod, builtin_pow, builtin_hex,
    builtin_oct, builtin_bin;
// builtins_sort.c: _sorted(list, keys, reverse), what the prelude's sorted ends in.
native_function builtin_sorted;

// math_integer.c
native_function math_gcd, math_lcm, math_factorial, math_comb, math_perm, math_isqrt;
// math_several.c
native_function math_fsum, math_prod, math_hypot, math_dist;
#endif
