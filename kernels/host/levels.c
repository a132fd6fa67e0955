// SPDX-License-Identifier: Apache-2.0
// Chooses the instruction-set level. The choice is one atomic pointer, made at the first
// call.
#include "kernels/host/levels.h"

#include <stdatomic.h>
#include <stdlib.h>

#define LEVEL_ROW(level)                                                                 \
    {                                                                                    \
#level, &level_maps_##level, &level_casts_##level, &level_copies_##level,        \
            &level_reducers_##level                                                      \
    }

static const struct level levels[] = {
#if defined(__x86_64__)
    LEVEL_ROW(v2),
    LEVEL_ROW(v3),
    LEVEL_ROW(v4),
#else
    LEVEL_ROW(base),
#endif
};
enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };

#if defined(__clang__) // does not know the levels' names yet
#define SUPPORTS_V3                                                                      \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&                  \
     __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
#define SUPPORTS_V4                                                                      \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&          \
     __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&         \
     __builtin_cpu_supports("avx512vl"))
#else
#define SUPPORTS_V3 __builtin_cpu_supports("x86-64-v3")
#define SUPPORTS_V4 __builtin_cpu_supports("x86-64-v4")
#endif

static _Atomic(const struct level *) current;

// How many of the levels, from the lowest, this processor and its system can run.
static int count_available(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!SUPPORTS_V3)
        return 1;
    if (!SUPPORTS_V4)
        return 2;
#endif
    return LEVEL_COUNT;
}

const struct level *level_available(int i)
{
    return i >= 0 && i < count_available() ? &levels[i] : NULL;
}

const struct level *level_current(void)
{
    const struct level *level = atomic_load_explicit(&current, memory_order_relaxed);
    if (level != NULL)
        return level;
    const char *wanted = getenv("TENSORD_CPU_LEVEL");
    level = &levels[count_available() - 1];
    for (int i = 0; wanted != NULL && i < count_available(); i++)
        if (strcmp(levels[i].name, wanted) == 0)
            level = &levels[i];
    atomic_store_explicit(&current, level, memory_order_relaxed);
    return level;
}

void level_select(const struct level *level)
{
    atomic_store_explicit(&current, level, memory_order_relaxed);
}
