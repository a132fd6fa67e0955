// SPDX-License-Identifier: Apache-2.0
// Included by map.c once per slot type, with T, SUFFIX, CLASS, FN, M and FINISH
// defined: the loops map_<op>_<suffix> and their table maps_<suffix>. No include guard, on purpose.
#define NAMED(name) PASTE(PASTE(map, name), SUFFIX)
#define HAS(set) PASTE(PASTE(HAS, CLASS), set)
#define PICK PASTE(PICK, CLASS)

#define MAP(name, arity, dtypes, rule, integer, floating, ...)                           \
    HAS(dtypes)                                                                          \
    (static void NAMED(name) SIGNATURE LOOP_##arity(rule, PICK(integer, floating)))
#define HELPER(name, arity, dtypes, rule, integer, floating)                             \
    HAS(dtypes)                                                                          \
    (static void NAMED(name) SIGNATURE LOOP_##arity(rule, PICK(integer, floating)))
#include "kernels/ops.def"

static map_function *const PASTE(maps, SUFFIX)[MAP_COUNT] = {
#define MAP(name, arity, dtypes, ...) HAS(dtypes)([MAP_##name] = NAMED(name), )
#define HELPER(name, arity, dtypes, ...) HAS(dtypes)([MAP_##name] = NAMED(name), )
#include "kernels/ops.def"
};

#undef NAMED
#undef HAS
#undef PICK
#undef T
#undef SUFFIX
#undef FN
#undef CLASS
#undef FINISH
