// SPDX-License-Identifier: Apache-2.0
// Conformance: every operation of the table on one device, against oracles written
// independently in double (or exact integers). One process, one device, one thread (which
// plays the device's worker).
#ifndef TESTS_CONFORMANCE_H
#define TESTS_CONFORMANCE_H

#include "tensor/executor.h"

enum { MAX_ELEMENTS = 20000 };

// Elements as Python numbers, C order: exact for every dtype.
struct values {
    enum dtype dtype;
    int ndim;
    int64_t shape[TENSOR_MAX_NDIM];
    int64_t count;
    struct scalar items[MAX_ELEMENTS];
};

// The device under test and what a request needs.
extern struct device *host, *device;

// ---- run.c
void open_devices(const char *id);
void close_devices(void);
// A tensor with these values on the device (scalars converted to dtype); the caller's
// reference.
struct tensor *make_tensor(enum dtype dtype, int ndim, const int64_t *shape,
                           const struct scalar *items);
// The elements of a tensor, read back through graph_materialize.
void read_tensor(struct tensor *tensor, struct values *out);
// Runs one operation; arguments refer to tensors through TENSOR(). Results are the
// caller's references. Returns the status.
enum status run_op(enum op op, bool in_place, int n_tensors,
                   struct tensor *const *tensors, const struct argument *arguments,
                   struct tensor **results, int *n_results, struct problem *problem);
// In `arguments` given to run_op: stands for tensors[i].
struct argument operand(int i);
struct argument operands(int count); // Tensor[]: all of them
struct argument number(struct scalar scalar);
struct argument integer(int64_t value);
struct argument integers(int count, const int64_t *items);
struct argument boolean(bool value);

// ---- check.c
extern int passed, failed;
// Counts one check; prints the first few failures. label and detail are printf-like
// pieces of the line.
void check(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Remembers that op was exercised; report_unexercised fails for rows that never were.
void exercised(enum op op);
void report_unexercised(void);
// Distance in units in the last place of dtype between two floats (0 for equal and both
// NaN; huge otherwise).
int64_t ulp_distance(double a, double b, enum dtype dtype);
// value rounded or wrapped to dtype by PyTorch's rules, as a number again.
struct scalar to_dtype(long double value, enum dtype dtype);
struct scalar wrap_integer(__int128 value, enum dtype dtype);
// Pseudo-random values with edge cases for a dtype; the same for the same seed. tame:
// small multiples of 1/4, no zeros.
void fill(struct scalar *items, int64_t count, enum dtype dtype, unsigned seed,
          bool tame);
static inline struct scalar of_int(int64_t i)
{
    return (struct scalar){SCALAR_INT, i, 0};
}
static inline struct scalar of_float(double f)
{
    return (struct scalar){SCALAR_FLOAT, 0, f};
}
static inline struct scalar of_bool(bool b)
{
    return (struct scalar){SCALAR_BOOL, b, 0};
}
// The number as a long double.
long double real(struct scalar scalar);

// ---- one file per family
void check_maps(void);
void check_reductions(void);
void check_products(void);
void check_rest(void); // views, joining, constructors, selections
void check_composed(void);
#endif
