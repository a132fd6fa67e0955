// SPDX-License-Identifier: Apache-2.0
// Tensors: immutable views of a storage, shared by reference count.
#include <stdlib.h>

#include "kernels/base/size.h"
#include "tensor/shape.h"

void layout_copy(struct layout *to, const struct layout *from)
{
    to->ndim = from->ndim;
    for (int i = 0; i < from->ndim; i++) {
        to->shape[i] = from->shape[i];
        to->strides[i] = from->strides[i];
    }
}

// Whether offset and layout address only elements of dtype within bytes. No elements lie
// everywhere.
static bool lies_within(int64_t offset, const struct layout *layout, int element_size,
                        int64_t bytes)
{
    int64_t last = offset, reach, end;
    for (int i = 0; i < layout->ndim; i++)
        if (layout->shape[i] == 0)
            return offset >= 0;
    for (int i = 0; i < layout->ndim; i++)
        if (!size_multiply(layout->shape[i] - 1, layout->strides[i], &reach) ||
            !size_add(last, reach, &last))
            return false;
    return size_add(last, 1, &end) && size_multiply(end, element_size, &end) &&
           end <= bytes;
}

enum status tensor_create(struct storage *storage, int64_t offset, enum dtype dtype,
                          const struct layout *layout, struct tensor **out,
                          struct problem *problem)
{
    enum status status =
        shape_check(layout->ndim, layout->shape, dtype_size(dtype), NULL, problem);
    if (status != STATUS_OK)
        return status;
    if (!lies_within(offset, layout, dtype_size(dtype), storage_bytes(storage)))
        return problem_set(problem, STATUS_SHAPE, "the view reaches beyond its storage");
    struct tensor *tensor = malloc(sizeof *tensor);
    if (!tensor)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "no host memory for a tensor's descriptor");
    atomic_init(&tensor->references, 1);
    tensor->storage = storage_reference(storage);
    tensor->offset = offset;
    tensor->dtype = dtype;
    layout_copy(&tensor->layout, layout);
    *out = tensor;
    return STATUS_OK;
}

struct tensor *tensor_reference(struct tensor *tensor)
{
    atomic_fetch_add_explicit(&tensor->references, 1, memory_order_relaxed);
    return tensor;
}

void tensor_release(struct tensor *tensor)
{
    if (!tensor ||
        atomic_fetch_sub_explicit(&tensor->references, 1, memory_order_acq_rel) != 1)
        return;
    storage_release(tensor->storage);
    free(tensor);
}

struct device *tensor_device(const struct tensor *tensor)
{
    return storage_device(tensor->storage);
}

int64_t tensor_count(const struct tensor *tensor)
{
    int64_t count = 1; // tensor_create has checked the product
    for (int i = 0; i < tensor->layout.ndim; i++)
        count *= tensor->layout.shape[i];
    return count;
}

int64_t tensor_bytes(const struct tensor *tensor)
{
    return tensor_count(tensor) * dtype_size(tensor->dtype);
}
