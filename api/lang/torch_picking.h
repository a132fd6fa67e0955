// SPDX-License-Identifier: Apache-2.0
// Elements picked by lists of indices, on the host: what torch_index_list.c (x[lists])
// and torch_index_write.c (x[lists] = item) share. The program's thread.
#ifndef TENSORD_API_LANG_TORCH_PICKING_H
#define TENSORD_API_LANG_TORCH_PICKING_H

#include "api/lang/torch.h"

enum { SCRATCH_MAX = 48, COLUMNS_MAX = TENSOR_MAX_NDIM };

// The indices along one dimension of the view.
struct column {
    int dim;
    const int64_t *values;
    struct layout layout; // of values
};
struct picking {
    struct vm *vm;
    struct index_view view; // of the elements as they lie on the host
    int n_columns;
    struct column columns[COLUMNS_MAX];
    struct layout result;
    int64_t n_outer, n_index, n_inner; // the result is [outer][index][inner]
    int64_t *outer, *index, *inner;    // offsets of elements
    int n_scratch;
    struct {
        void *memory;
        size_t bytes;
    } scratch[SCRATCH_MAX];
};

// Memory for count items, freed by picking_end; NULL: problem set.
void *picking_take(struct picking *picking, int64_t count, size_t size);
void picking_end(struct picking *picking);
// The elements of self on the host, and what the key picks of them. May WAIT.
enum outcome picking_begin(struct picking *picking, struct value self,
                           const struct index_key *key, const char **elements);
// Offsets of a layout's elements in C order.
void layout_enumerate(const struct layout *layout, int64_t count, int64_t *out);
#endif
