// SPDX-License-Identifier: Apache-2.0
// Shape rules: broadcasting, views, index expressions. Pure functions on layouts; any
// thread. Rules are PyTorch's (torch.broadcast_shapes, at::detail::computeStride for
// view, basic indexing).
#ifndef TENSORD_TENSOR_SHAPE_H
#define TENSORD_TENSOR_SHAPE_H

#include "tensor/tensor.h"

// Checks ndim <= 32 (STATUS_LIMIT), sizes >= 0 and that count * element_size fits int64,
// zero sizes left out (STATUS_SHAPE); *count may be NULL.
enum status shape_check(int ndim, const int64_t *shape, int element_size, int64_t *count,
                        struct problem *problem);
// "(2, 3)", "(4,)", "()"; truncated with "..." to size.
void shape_text(int ndim, const int64_t *shape, char *text, size_t size);
// C-order strides for shape.
void layout_contiguous(struct layout *layout);
bool layout_is_contiguous(const struct layout *layout);
// The broadcast of n shapes into out->shape (ndim, shape only). STATUS_SHAPE names the
// shapes.
enum status shape_broadcast(int n, const struct layout *const *layouts,
                            struct layout *out, struct problem *problem);
// in seen with that shape (strides 0 where repeated), as Tensor.expand: -1 keeps the size
// of an existing dimension. STATUS_SHAPE.
enum status layout_expand(const struct layout *in, int ndim, const int64_t *shape,
                          struct layout *out, struct problem *problem);
// Replaces one -1 in shape and checks that it has count elements. STATUS_SHAPE if it has
// not.
enum status shape_infer(int64_t count, int ndim, int64_t *shape, struct problem *problem);
// True and *out filled if in can be seen in that shape without copying (computeStride).
bool layout_view(const struct layout *in, int ndim, const int64_t *shape,
                 struct layout *out);
// dim in [-ndim, ndim) (or [-1, 0] for ndim 0) -> [0, ndim). STATUS_INDEX as torch's
// IndexError.
enum status dim_normalize(int64_t dim, int ndim, int *out, struct problem *problem);
// Parses an index expression ("0:2,:,-1", "...", "None", "::2") and applies it: out and
// *offset (elements, added to the tensor's own). Too many indices, out of range:
// STATUS_INDEX; step <= 0: STATUS_VALUE; text that is no index: STATUS_MALFORMED with
// column. Bounded by the text's length; no recursion. Slices clamp as in Python, however
// long the number; more than 32 dimensions by None are STATUS_LIMIT; an empty result has
// *offset 0.
enum status index_apply(const char *text, size_t length, const struct layout *in,
                        struct layout *out, int64_t *offset, struct problem *problem);
#endif
