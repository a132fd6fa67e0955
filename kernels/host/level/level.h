// SPDX-License-Identifier: Apache-2.0
// Common to the files of this folder, which are compiled once per instruction-set level.
// Everything in them is static but one table per file, named after the level.
#ifndef TENSORD_KERNELS_HOST_LEVEL_LEVEL_H
#define TENSORD_KERNELS_HOST_LEVEL_LEVEL_H

#ifndef LEVEL
#define LEVEL base // for tools that look at one file alone
#endif

#include "kernels/host/levels.h"

// The result may be one of the operands, element for element, so that `restrict` would be
// wrong; but iterations are independent.
#if defined(__clang__)
#define IGNORE_ALIASES                                                                   \
    _Pragma("clang diagnostic ignored \"-Wpass-failed\"")                                \
        _Pragma("clang loop vectorize(assume_safety)")
#else
#define IGNORE_ALIASES _Pragma("GCC ivdep")
#endif
#endif
