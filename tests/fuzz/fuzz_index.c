// SPDX-License-Identifier: Apache-2.0
// Index expressions: whatever the text, a view that is accepted lies inside the tensor.
// The first byte chooses the tensor's shape.
#include "tests/fuzz/fuzz.h"
#include "tensor/shape.h"

#include <stdlib.h>

static void choose_layout(uint8_t choice, struct layout *layout)
{
    static const struct {
        int ndim;
        int64_t shape[6];
    } shapes[] = {{0, {0}},       {1, {5}},          {2, {3, 4}},
                  {3, {2, 0, 3}}, {4, {1, 7, 2, 5}}, {6, {2, 3, 2, 1, 2, 3}}};
    size_t i = choice % (sizeof shapes / sizeof *shapes);
    layout->ndim = shapes[i].ndim;
    for (int k = 0; k < layout->ndim; k++)
        layout->shape[k] = shapes[i].shape[k];
    layout_contiguous(layout);
    if (choice & 0x80 && layout->ndim > 0) { // an expanded dimension
        layout->shape[0] = INT64_MAX / 1000;
        layout->strides[0] = 0;
    }
}

// One past the last element that layout reaches from offset; 0 without elements.
static int64_t reach(const struct layout *layout, int64_t offset)
{
    int64_t last = offset;
    for (int i = 0; i < layout->ndim; i++) {
        FUZZ_REQUIRE(layout->shape[i] >= 0 && layout->strides[i] >= 0);
        if (layout->shape[i] == 0)
            return 0;
        int64_t step;
        if (layout->strides[i] == 0)
            continue;
        FUZZ_REQUIRE(size_multiply(layout->shape[i] - 1, layout->strides[i], &step));
        FUZZ_REQUIRE(size_add(last, step, &last));
    }
    return last + 1;
}

int fuzz_index(const uint8_t *data, size_t size)
{
    struct layout in, out;
    struct problem problem;
    int64_t offset = 0;
    if (size == 0)
        return 0;
    choose_layout(data[0], &in);
    char *text = NULL;
    if (size > 1) { // a copy whose end is the end of the allocation
        text = malloc(size - 1);
        FUZZ_REQUIRE(text != NULL);
        memcpy(text, data + 1, size - 1);
    }
    enum status status =
        index_apply(text != NULL ? text : "", size - 1, &in, &out, &offset, &problem);
    if (status == STATUS_OK) {
        FUZZ_REQUIRE(out.ndim >= 0 && out.ndim <= TENSOR_MAX_NDIM && offset >= 0);
        FUZZ_REQUIRE(reach(&out, offset) <= reach(&in, 0));
    } else {
        FUZZ_REQUIRE(problem.status == status && problem.detail[0] != '\0');
        int http = problem_kind(status)->http_status;
        FUZZ_REQUIRE(http >= 400 && http < 500);
    }
    free(text);
    return 0;
}
