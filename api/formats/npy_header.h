// SPDX-License-Identifier: Apache-2.0
// The dictionary in an npy file's header. The formats' own header.
#ifndef TENSORD_API_FORMATS_NPY_HEADER_H
#define TENSORD_API_FORMATS_NPY_HEADER_H

#include "api/formats/format.h"

struct npy_dictionary {
    enum dtype dtype;
    bool big_endian;
    bool fortran_order;
    int ndim;
    int64_t shape[FORMAT_MAX_NDIM];
};

// Parses the Python literal {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }:
// the three keys in any order, each once, nothing else. STATUS_MALFORMED, STATUS_DTYPE
// (with advice), STATUS_LIMIT (too many dimensions), STATUS_SHAPE (a size beyond int64).
enum status npy_dictionary_parse(const char *text, size_t length,
                                 struct npy_dictionary *out, struct problem *problem);
#endif
