// SPDX-License-Identifier: Apache-2.0
// For the tests of cells: short words for lazies, on top of graph_fixture.h.
#ifndef TENSORD_TESTS_TENSOR_CELLS_FIXTURE_H
#define TENSORD_TESTS_TENSOR_CELLS_FIXTURE_H

#include "graph_fixture.h"

#include "tensor/cells.h"

static inline struct cells *cells_new(void)
{
    struct problem problem;
    struct cells *cells;
    assert_int_equal(cells_create(&fixture.context, &cells, &problem), STATUS_OK);
    return cells;
}

static inline struct lazy *import(struct cells *cells, struct tensor *tensor)
{
    struct problem problem;
    struct lazy *lazy;
    assert_int_equal(cells_import(cells, tensor, false, &lazy, &problem), STATUS_OK);
    return lazy;
}

static inline struct lazy *literal(struct cells *cells, enum dtype dtype, int ndim,
                                   const int64_t *shape, const double *values)
{
    struct problem problem;
    struct layout layout = {.ndim = ndim};
    struct lazy *lazy;
    char bytes[8 * 64];
    int64_t count = 1;
    for (int i = 0; i < ndim; i++)
        count *= layout.shape[i] = shape[i];
    assert_true(count <= 64);
    for (int64_t i = 0; i < count; i++) {
        union element element = scalar_to_element(
            dtype_is_float(dtype) ? number(values[i]) : whole((int64_t)values[i]), dtype,
            NULL);
        memcpy(bytes + i * dtype_size(dtype), &element, (size_t)dtype_size(dtype));
    }
    assert_int_equal(cells_literal(cells, dtype, &layout, bytes, &lazy, &problem),
                     STATUS_OK);
    return lazy;
}

static inline struct lazy_argument lazy_of(struct lazy *lazy)
{
    return (struct lazy_argument){.kind = ARGUMENT_TENSOR, .tensor = lazy};
}
static inline struct lazy_argument lazy_number(struct scalar value)
{
    return (struct lazy_argument){
        .kind = ARGUMENT_TENSOR, .is_number = true, .number = value};
}
static inline struct lazy_argument lazy_int(int64_t value)
{
    return (struct lazy_argument){.kind = ARGUMENT_INT, .integer = value};
}
static inline struct lazy_argument lazy_real(double value)
{
    return (struct lazy_argument){.kind = ARGUMENT_FLOAT, .real = value};
}
static inline struct lazy_argument lazy_ints(int count, const int64_t *items)
{
    return (struct lazy_argument){.kind = ARGUMENT_INTS,
                                  .integers = {.count = count, .items = items}};
}

// "add" or "add_" on arguments that fill the signature from the left. NULL: problem set.
static inline struct lazy *try_lazy(struct cells *cells, const char *name, int n,
                                    const struct lazy_argument *given,
                                    struct problem *problem)
{
    struct lazy_argument arguments[OP_MAX_PARAMETERS];
    struct lazy *results[OP_MAX_RESULTS];
    int n_results;
    enum op op;
    bool in_place;
    if (!op_find(name, strlen(name), &op, &in_place, NULL))
        fail_msg("no operation %s", name);
    for (int i = 0; i < OP_MAX_PARAMETERS; i++)
        arguments[i] = i < n ? given[i] : (struct lazy_argument){.kind = ARGUMENT_NONE};
    if (lazy_op(cells, op, in_place, arguments, results, &n_results, problem) !=
        STATUS_OK)
        return NULL;
    for (int i = 1; i < n_results; i++)
        lazy_release(results[i]);
    return results[0];
}

static inline struct lazy *lazy_call(struct cells *cells, const char *name, int n,
                                     const struct lazy_argument *given)
{
    struct problem problem;
    struct lazy *lazy = try_lazy(cells, name, n, given, &problem);
    if (!lazy)
        fail_msg("%s: %s", name, problem.detail);
    return lazy;
}

static inline struct lazy *lazy_slice(struct cells *cells, struct lazy *x,
                                      const char *index)
{
    return lazy_call(
        cells, "slice", 2,
        (struct lazy_argument[]){
            lazy_of(x), {.kind = ARGUMENT_STR, .string = {index, strlen(index)}}});
}

static inline struct lazy *lazy_two(struct cells *cells, const char *name, struct lazy *a,
                                    struct lazy *b)
{
    return lazy_call(cells, name, 2, (struct lazy_argument[]){lazy_of(a), lazy_of(b)});
}

static inline struct lazy *lazy_with(struct cells *cells, const char *name,
                                     struct lazy *a, struct scalar b)
{
    return lazy_call(cells, name, 2,
                     (struct lazy_argument[]){lazy_of(a), lazy_number(b)});
}

static inline enum status try_flush(struct cells *cells, struct problem *problem)
{
    struct executor *executor;
    enum status status = cells_flush_begin(cells, &executor, problem);
    if (status != STATUS_OK || !executor)
        return status;
    status = run_executor(executor, problem);
    return status == STATUS_OK ? cells_flush_end(cells, problem) : status;
}

static inline void flush(struct cells *cells)
{
    struct problem problem;
    if (try_flush(cells, &problem) != STATUS_OK)
        fail_msg("flush: %s", problem.detail);
    assert_false(cells_dirty(cells));
}

// The elements on the host, borrowed.
static inline struct tensor *on_host(struct cells *cells, struct lazy *lazy)
{
    struct problem problem;
    struct tensor *tensor;
    assert_int_equal(cells_host(cells, lazy, &tensor, &problem), STATUS_OK);
    if (!tensor) {
        assert_true(cells_dirty(cells));
        flush(cells);
        assert_int_equal(cells_host(cells, lazy, &tensor, &problem), STATUS_OK);
    }
    assert_non_null(tensor);
    return tensor;
}

static inline void check_lazy(struct cells *cells, struct lazy *lazy,
                              const double *values)
{
    check_values(on_host(cells, lazy), values);
}

// What the api does at the end: the writes are swapped in.
static inline void commit(struct cells *cells)
{
    struct problem problem;
    struct registry_write *writes;
    int count;
    flush(cells);
    assert_int_equal(cells_writes(cells, &writes, &count, &problem), STATUS_OK);
    for (int i = 0; i < count; i++)
        storage_swap(writes[i].storage, writes[i].block);
    free(writes);
    cells_store_generators(cells);
}
#endif
