// SPDX-License-Identifier: Apache-2.0
// Several operations in a row, for functions that are made of them. A pool holds the
// values in between; after the first failure every call gives NULL, so that callers look
// once. The program's thread.
#include "api/lang/torch.h"

struct lazy *pool_keep(struct pool *pool, struct lazy *lazy)
{
    if (lazy == NULL || pool->count == POOL_MAX) {
        if (lazy != NULL)
            vm_raise(pool->vm, STATUS_LIMIT, "too many operations in one function");
        lazy_release(lazy);
        pool->failed = true;
        return NULL;
    }
    return pool->items[pool->count++] = lazy;
}

void pool_release(struct pool *pool)
{
    while (pool->count > 0)
        lazy_release(pool->items[--pool->count]);
}

// One operation; its first result.
struct lazy *pool_call(struct pool *pool, enum op op,
                       const struct lazy_argument *arguments)
{
    struct lazy *results[OP_MAX_RESULTS];
    int n_results;
    if (pool->failed || lazy_op(vm_cells(pool->vm), op, false, arguments, results,
                                &n_results, vm_problem(pool->vm)) != STATUS_OK) {
        pool->failed = true;
        return NULL;
    }
    for (int i = 1; i < n_results; i++)
        lazy_release(results[i]);
    return pool_keep(pool, results[0]);
}

struct lazy *pool_map(struct pool *pool, enum op op, int n, struct lazy *const *operands)
{
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    for (int i = 0; i < n; i++) {
        arguments[i].kind = ARGUMENT_TENSOR;
        arguments[i].tensor = operands[i];
        pool->failed |= operands[i] == NULL;
    }
    return pool_call(pool, op, arguments);
}

struct lazy *pool_one(struct pool *pool, enum op op, struct lazy *a)
{
    return pool_map(pool, op, 1, &a);
}

struct lazy *pool_two(struct pool *pool, enum op op, struct lazy *a, struct lazy *b)
{
    struct lazy *operands[] = {a, b};
    return pool_map(pool, op, 2, operands);
}

struct lazy *pool_scalar(struct pool *pool, enum op op, struct lazy *a,
                         struct scalar number)
{
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    arguments[0].kind = arguments[1].kind = ARGUMENT_TENSOR;
    arguments[0].tensor = a;
    arguments[1].is_number = true;
    arguments[1].number = number;
    pool->failed |= a == NULL;
    return pool_call(pool, op, arguments);
}

struct lazy *pool_number(struct pool *pool, enum op op, struct lazy *a, double number)
{
    return pool_scalar(pool, op, a, (struct scalar){.kind = SCALAR_FLOAT, .f = number});
}

struct lazy *pool_reduce(struct pool *pool, enum op op, struct lazy *a, int n_dims,
                         const int64_t *dims, bool keep)
{
    const struct op_row *row = op_row(op);
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    int dim = parameter_index(row, "dim"), keepdim = parameter_index(row, "keepdim");
    arguments[0].kind = ARGUMENT_TENSOR;
    arguments[0].tensor = a;
    pool->failed |= a == NULL;
    if (dims != NULL && row->parameters[dim].type == PARAMETER_INT) {
        arguments[dim].kind = ARGUMENT_INT;
        arguments[dim].integer = dims[0];
    } else if (dims != NULL) {
        arguments[dim].kind = ARGUMENT_INTS;
        arguments[dim].integers.count = n_dims;
        arguments[dim].integers.items = dims;
    }
    if (keepdim >= 0) {
        arguments[keepdim].kind = ARGUMENT_BOOL;
        arguments[keepdim].boolean = keep;
    }
    return pool_call(pool, op, arguments);
}

struct lazy *pool_cast(struct pool *pool, struct lazy *a, enum dtype dtype,
                       struct device *device)
{
    const struct op_row *row = op_row(OP_to);
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {{.kind = ARGUMENT_NONE}};
    if (a == NULL || pool->failed) {
        pool->failed = true;
        return NULL;
    }
    bool moves = device != NULL && device != lazy_device(a);
    if (dtype == lazy_dtype(a) && !moves)
        return a;
    arguments[0].kind = ARGUMENT_TENSOR;
    arguments[0].tensor = a;
    struct lazy_argument *to = &arguments[parameter_index(row, "dtype")];
    to->kind = ARGUMENT_DTYPE;
    to->dtype = dtype;
    if (moves) {
        to = &arguments[parameter_index(row, "device")];
        to->kind = ARGUMENT_DEVICE;
        to->device = device;
    }
    return pool_call(pool, OP_to, arguments);
}

struct lazy *pool_view(struct pool *pool, struct lazy *a, const struct layout *layout,
                       int64_t offset)
{
    struct lazy *view;
    if (a == NULL || pool->failed ||
        lazy_view(a, layout, offset, &view, vm_problem(pool->vm)) != STATUS_OK) {
        pool->failed = true;
        return NULL;
    }
    return pool_keep(pool, view);
}

enum outcome pool_end(struct pool *pool, struct lazy *value, struct flavor flavor,
                      struct value *result)
{
    enum outcome outcome =
        pool->failed || value == NULL
            ? OUTCOME_ERROR
            : torch_wrap(pool->vm, lazy_reference(value), flavor, result);
    pool_release(pool);
    return outcome;
}
