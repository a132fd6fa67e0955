// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: op x dtype x shape class. The oracle of a map is one row here,
// written in double precision (or exact integers) from the operation's definition.
#include "tests/conformance/conformance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef long double real_function(long double a, long double b);
typedef __int128 integer_function(__int128 a, __int128 b);

#define REAL(name, expression)                                                           \
    static long double name(long double a, long double b)                                \
    {                                                                                    \
        (void)a, (void)b;                                                                \
        return expression;                                                               \
    }
#define INTEGER(name, expression)                                                        \
    static __int128 name(__int128 a, __int128 b)                                         \
    {                                                                                    \
        (void)a, (void)b;                                                                \
        return expression;                                                               \
    }

static __int128 floor_quotient(__int128 a, __int128 b)
{
    __int128 q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}
static __int128 int_power(__int128 a, __int128 b)
{
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    unsigned __int128 result = 1;
    for (__int128 i = 0; i < b % 4096; i++)
        result *= (unsigned __int128)a;
    return (__int128)result;
}
static long double gelu_of(long double a)
{
    return a * (erfcl(-a * sqrtl(0.5L)) / 2);
}
static long double least(long double a, long double b)
{
    return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
}
static long double greatest(long double a, long double b)
{
    return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
}

REAL(r_add, a + b)
REAL(r_sub, a - b)
REAL(r_mul, a *b) REAL(r_div, a / b) REAL(r_floor_divide, floorl(a / b))
    REAL(r_remainder, a - floorl(a / b) * b) REAL(r_pow, powl(a, b)) REAL(r_neg, -a) REAL(
        r_abs, fabsl(a)) REAL(r_sign, a > 0   ? 1
                                      : a < 0 ? -1
                                              : 0) REAL(r_eq, a == b) REAL(r_ne, a != b)
        REAL(r_lt, a < b) REAL(r_le, a <= b) REAL(r_gt, a > b) REAL(r_ge, a >= b) REAL(
            r_and,
            a != 0 && b != 0) REAL(r_or, a != 0 || b != 0)
            REAL(r_xor, (a != 0) != (b != 0)) REAL(r_not, a == 0) REAL(
                r_exp, expl(a)) REAL(r_expm1, expm1l(a))
                REAL(r_log, logl(a)) REAL(r_log1p, log1pl(a)) REAL(r_log2, log2l(a)) REAL(
                    r_sqrt,
                    sqrtl(a)) REAL(r_rsqrt,
                                   1 / sqrtl(a)) REAL(r_sin, sinl(a))
                    REAL(r_cos, cosl(a)) REAL(r_tan, tanl(a)) REAL(r_tanh, tanhl(a)) REAL(
                        r_sigmoid, 1 / (1 + expl(-a))) REAL(r_square, a *a)
                        REAL(r_reciprocal, 1 / a) REAL(r_exp2, exp2l(a)) REAL(
                            r_log10,
                            log10l(a)) REAL(r_atan, atanl(a))
                            REAL(r_erf, erfl(a)) REAL(r_gelu, gelu_of(a)) REAL(
                                r_relu,
                                a < 0 ? 0
                                      : a) REAL(r_floor, floorl(a))
                                REAL(r_ceil, ceill(a)) REAL(r_round, rintl(a)) REAL(
                                    r_trunc,
                                    truncl(a)) INTEGER(i_add, a + b) INTEGER(i_sub, a - b)
                                    INTEGER(
                                        i_mul,
                                        (__int128)((unsigned __int128)a *(
                                            unsigned __int128)b)) INTEGER(i_floor_divide,
                                                                          floor_quotient(
                                                                              a, b))
                                        INTEGER(
                                            i_remainder,
                                            a - floor_quotient(a, b) *
                                                    b) INTEGER(i_pow, int_power(a, b))
                                            INTEGER(i_neg, -a) INTEGER(
                                                i_abs,
                                                a < 0 ? -a
                                                      : a) INTEGER(i_sign,
                                                                   (a > 0) -
                                                                       (a < 0))
                                                INTEGER(i_eq, a == b) INTEGER(
                                                    i_ne, a != b) INTEGER(i_lt, a < b)
                                                    INTEGER(i_le, a <= b) INTEGER(
                                                        i_gt, a > b) INTEGER(i_ge, a >= b)
                                                        INTEGER(i_and, a &b) INTEGER(
                                                            i_or, a | b) INTEGER(i_xor,
                                                                                 a ^ b)
                                                            INTEGER(i_not, ~a) INTEGER(
                                                                i_square,
                                                                (__int128)((
                                                                    unsigned __int128)a
                                                                               *(unsigned __int128)
                                                                                   a))
                                                                INTEGER(
                                                                    i_relu,
                                                                    a > 0
                                                                        ? a
                                                                        : 0) INTEGER(i_same,
                                                                                     a)
                                                                    INTEGER(
                                                                        i_min, a < b ? a
                                                                                     : b)
                                                                        INTEGER(
                                                                            i_max,
                                                                            a > b ? a
                                                                                  : b)

                                                                            enum result {
                                                                                SAME,
                                                                                FLOATING,
                                                                                TRUTH
                                                                            };
struct oracle {
    enum op op;
    int arity;
    enum result result;
    real_function *real;       // NULL: not for floats
    integer_function *integer; // NULL: through real
    int ulp;                   // allowed distance; 0: exact
    bool tame;                 // only small values without zeros (divisors, exponents)
};

static const struct oracle oracles[] = {
    {OP_add, 2, SAME, r_add, i_add, 0, 0},
    {OP_sub, 2, SAME, r_sub, i_sub, 0, 0},
    {OP_mul, 2, SAME, r_mul, i_mul, 0, 0},
    {OP_div, 2, FLOATING, r_div, NULL, 0, 0},
    {OP_floor_divide, 2, SAME, r_floor_divide, i_floor_divide, 0, 1},
    {OP_remainder, 2, SAME, r_remainder, i_remainder, 0, 1},
    {OP_pow, 2, SAME, r_pow, i_pow, 2, 1},
    {OP_neg, 1, SAME, r_neg, i_neg, 0, 0},
    {OP_abs, 1, SAME, r_abs, i_abs, 0, 0},
    {OP_sign, 1, SAME, r_sign, i_sign, 0, 0},
    {OP_eq, 2, TRUTH, r_eq, i_eq, 0, 0},
    {OP_ne, 2, TRUTH, r_ne, i_ne, 0, 0},
    {OP_lt, 2, TRUTH, r_lt, i_lt, 0, 0},
    {OP_le, 2, TRUTH, r_le, i_le, 0, 0},
    {OP_gt, 2, TRUTH, r_gt, i_gt, 0, 0},
    {OP_ge, 2, TRUTH, r_ge, i_ge, 0, 0},
    {OP_logical_and, 2, TRUTH, r_and, NULL, 0, 0},
    {OP_logical_or, 2, TRUTH, r_or, NULL, 0, 0},
    {OP_logical_xor, 2, TRUTH, r_xor, NULL, 0, 0},
    {OP_logical_not, 1, TRUTH, r_not, NULL, 0, 0},
    {OP_bitwise_and, 2, SAME, NULL, i_and, 0, 0},
    {OP_bitwise_or, 2, SAME, NULL, i_or, 0, 0},
    {OP_bitwise_xor, 2, SAME, NULL, i_xor, 0, 0},
    {OP_bitwise_not, 1, SAME, NULL, i_not, 0, 0},
    {OP_exp, 1, FLOATING, r_exp, NULL, 2, 0},
    {OP_expm1, 1, FLOATING, r_expm1, NULL, 2, 0},
    {OP_log, 1, FLOATING, r_log, NULL, 2, 0},
    {OP_log1p, 1, FLOATING, r_log1p, NULL, 2, 0},
    {OP_log2, 1, FLOATING, r_log2, NULL, 2, 0},
    {OP_sqrt, 1, FLOATING, r_sqrt, NULL, 0, 0},
    {OP_rsqrt, 1, FLOATING, r_rsqrt, NULL, 2, 0},
    {OP_sin, 1, FLOATING, r_sin, NULL, 2, 0},
    {OP_cos, 1, FLOATING, r_cos, NULL, 2, 0},
    {OP_tan, 1, FLOATING, r_tan, NULL, 2, 0},
    {OP_tanh, 1, FLOATING, r_tanh, NULL, 2, 0},
    {OP_sigmoid, 1, FLOATING, r_sigmoid, NULL, 2, 0},
    {OP_erf, 1, FLOATING, r_erf, NULL, 2, 0},
    {OP_gelu, 1, SAME, r_gelu, NULL, 6, 0}, // float64 is as good as libm's erfc
    {OP_exp2, 1, FLOATING, r_exp2, NULL, 2, 0},
    {OP_log10, 1, FLOATING, r_log10, NULL, 2, 0},
    {OP_atan, 1, FLOATING, r_atan, NULL, 2, 0},
    {OP_square, 1, SAME, r_square, i_square, 0, 0},
    {OP_reciprocal, 1, FLOATING, r_reciprocal, NULL, 0, 0},
    {OP_relu, 1, SAME, r_relu, i_relu, 0, 0},
    {OP_floor, 1, SAME, r_floor, i_same, 0, 0},
    {OP_ceil, 1, SAME, r_ceil, i_same, 0, 0},
    {OP_round, 1, SAME, r_round, i_same, 0, 0},
    {OP_trunc, 1, SAME, r_trunc, i_same, 0, 0},
    {OP_minimum, 2, SAME, least, i_min, 0, 0},
    {OP_maximum, 2, SAME, greatest, i_max, 0, 0},
};

// Shape classes: two operands' shapes; the result is their broadcast.
struct shapes {
    const char *name;
    int a_ndim, b_ndim;
    int64_t a[8], b[8];
};
static const struct shapes classes[] = {
    {"0-d", 0, 0, {0}, {0}},
    {"1-d", 1, 1, {37}, {37}},
    {"long", 1, 1, {5003}, {5003}},
    {"empty", 2, 2, {3, 0}, {3, 0}},
    {"outer", 2, 2, {13, 1}, {1, 29}},
    {"row", 2, 1, {7, 65}, {65}},
    {"0-d operand", 2, 0, {5, 9}, {0}},
    {"8-d", 8, 8, {2, 1, 3, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 3, 1, 2}},
};

static struct scalar a_items[MAX_ELEMENTS], b_items[MAX_ELEMENTS];
static struct values got;

// Offset of the result's index i in an operand of that shape (C order, broadcast).
static int64_t source_index(int64_t i, int ndim, const int64_t *shape, int operand_ndim,
                            const int64_t *operand_shape)
{
    int64_t offset = 0, stride = 1;
    for (int d = ndim - 1, o = operand_ndim - 1; d >= 0; d--, o--) {
        int64_t position = i % shape[d];
        i /= shape[d];
        if (o >= 0) {
            offset += operand_shape[o] == 1 ? 0 : position * stride;
            stride *= operand_shape[o];
        }
    }
    return offset;
}

static struct scalar expected(const struct oracle *oracle, enum dtype dtype,
                              enum dtype result, struct scalar a, struct scalar b)
{
    if (!dtype_is_float(dtype) && oracle->integer != NULL && result != DTYPE_FLOAT32) {
        if (dtype == DTYPE_BOOL && oracle->op == OP_bitwise_not)
            return of_bool(!a.i);
        return wrap_integer(oracle->integer(a.i, b.i), result);
    }
    if (oracle->result == FLOATING) { // integers become float32 first
        a = to_dtype(real(a), dtype_is_float(dtype) ? dtype : DTYPE_FLOAT32);
        b = to_dtype(real(b), dtype_is_float(dtype) ? dtype : DTYPE_FLOAT32);
    }
    return to_dtype(oracle->real(real(a), real(b)), result);
}

static bool agree(struct scalar ours, struct scalar theirs, enum dtype dtype, int ulp)
{
    if (!dtype_is_float(dtype))
        return ours.kind == theirs.kind && ours.i == theirs.i;
    // A long double rounded to float64 has been rounded twice.
    return ulp_distance(ours.f, theirs.f, dtype) <=
           (dtype == DTYPE_FLOAT64 && ulp == 0 ? 1 : ulp);
}

static void compare(const struct oracle *oracle, enum dtype dtype,
                    const struct shapes *shapes)
{
    const char *name = op_row(oracle->op)->name;
    enum dtype result = oracle->result == TRUTH ? DTYPE_BOOL
                        : oracle->result == FLOATING && !dtype_is_float(dtype)
                            ? DTYPE_FLOAT32
                            : dtype;
    bool right = got.dtype == result;
    int64_t wrong = -1;
    for (int64_t i = 0; i < got.count && right; i++) {
        struct scalar a =
            a_items[source_index(i, got.ndim, got.shape, shapes->a_ndim, shapes->a)];
        struct scalar b =
            b_items[oracle->arity == 1 ? 0
                                       : source_index(i, got.ndim, got.shape,
                                                      shapes->b_ndim, shapes->b)];
        if (!agree(got.items[i], expected(oracle, dtype, result, a, b), result,
                   oracle->ulp)) {
            right = false;
            wrong = i;
            check(false, "%s %s %s: f(%.9Lg, %.9Lg) = %.9Lg, expected %.9Lg", name,
                  dtype_name(dtype), shapes->name, real(a), real(b), real(got.items[i]),
                  real(expected(oracle, dtype, result, a, b)));
        }
    }
    if (wrong < 0)
        check(right, "%s %s %s: dtype %s, expected %s", name, dtype_name(dtype),
              shapes->name, dtype_name(got.dtype), dtype_name(result));
}

static bool takes(const struct oracle *oracle, enum dtype dtype)
{
    // The public dtypes by PyTorch's rules: bool is refused by sub, neg and the rounding
    // family.
    static const enum op refuse_bool[] = {
        OP_sub,  OP_neg,   OP_floor_divide, OP_remainder, OP_pow,   OP_abs,
        OP_relu, OP_floor, OP_ceil,         OP_round,     OP_trunc, OP_square};
    if (dtype_is_float(dtype) ? oracle->real == NULL : oracle->op == OP_gelu)
        return false;
    for (size_t i = 0; i < sizeof refuse_bool / sizeof *refuse_bool; i++)
        if (dtype == DTYPE_BOOL && oracle->op == refuse_bool[i])
            return false;
    return true;
}

static void check_one(const struct oracle *oracle, enum dtype dtype,
                      const struct shapes *shapes, unsigned seed)
{
    struct problem problem;
    struct tensor *tensors[2], *results[OP_MAX_RESULTS];
    struct argument arguments[OP_MAX_PARAMETERS] = {operand(0)};
    int n_results;
    int64_t a_count = 1, b_count = 1;
    for (int i = 0; i < shapes->a_ndim; i++)
        a_count *= shapes->a[i];
    for (int i = 0; i < shapes->b_ndim; i++)
        b_count *= shapes->b[i];
    fill(a_items, a_count, dtype, seed, oracle->tame);
    fill(b_items, b_count, dtype, seed + 1, oracle->tame);
    if (oracle->op == OP_pow && !dtype_is_float(dtype))
        for (int64_t i = 0; i < b_count;
             i++) // tensor exponents may be negative; keep them small
            b_items[i].i = b_items[i].i < 0 ? -(b_items[i].i % 3) : b_items[i].i;
    tensors[0] = make_tensor(dtype, shapes->a_ndim, shapes->a, a_items);
    tensors[1] = make_tensor(dtype, shapes->b_ndim, shapes->b, b_items);
    if (oracle->arity == 2)
        arguments[1] = operand(1);
    enum status status = run_op(oracle->op, false, oracle->arity, tensors, arguments,
                                results, &n_results, &problem);
    if (!takes(oracle, dtype)) {
        check(status == STATUS_DTYPE, "%s %s: not refused with dtype",
              op_row(oracle->op)->name, dtype_name(dtype));
    } else if (status != STATUS_OK) {
        check(false, "%s %s %s: %s", op_row(oracle->op)->name, dtype_name(dtype),
              shapes->name, problem.detail);
    } else {
        read_tensor(results[0], &got);
        compare(oracle, dtype, shapes);
    }
    if (status == STATUS_OK)
        tensor_release(results[0]);
    tensor_release(tensors[0]);
    tensor_release(tensors[1]);
}

// The long class costs most on simulated devices: only float32 and int64 take it there.
static bool wanted(const struct shapes *shapes, enum dtype dtype)
{
    return strcmp(shapes->name, "long") != 0 || device->is_host || dtype == DTYPE_FLOAT32;
}

void check_maps(void)
{
    unsigned seed = 1;
    for (size_t o = 0; o < sizeof oracles / sizeof *oracles; o++)
        for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
            for (size_t s = 0; s < sizeof classes / sizeof *classes; s++)
                if (wanted(&classes[s], dtype))
                    check_one(&oracles[o], dtype, &classes[s], seed += 2);
}
