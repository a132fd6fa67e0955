// SPDX-License-Identifier: Apache-2.0
// The tree of host/pass.h above its leaves.
#ifndef TENSORD_KERNELS_HOST_PASS_TREE_H
#define TENSORD_KERNELS_HOST_PASS_TREE_H

#include "kernels/host/levels.h"

// A binary tree built from its leaves, left to right, like a binary counter: the stack
// holds one complete subtree for each bit set in count. Elements are vectors of `width`
// accumulators.
struct tree {
    const struct level_reducer *reducer;
    char *stack;
    int64_t width, bytes; // bytes of a vector
    int64_t leaves;
    int depth;
};

static inline void tree_push(struct tree *tree, const void *vector)
{
    memcpy(tree->stack + tree->depth * tree->bytes, vector, (size_t)tree->bytes);
    tree->depth++;
    tree->leaves++;
    for (int64_t bit = 1; (tree->leaves & bit) == 0; bit *= 2) {
        char *right = tree->stack + --tree->depth * tree->bytes;
        tree->reducer->merge(right - tree->bytes, right, tree->width);
    }
}

// The root: incomplete subtrees are added from the right to the left.
static inline void *tree_root(struct tree *tree)
{
    while (tree->depth > 1) {
        char *right = tree->stack + --tree->depth * tree->bytes;
        tree->reducer->merge(right - tree->bytes, right, tree->width);
    }
    return tree->stack;
}
#endif
