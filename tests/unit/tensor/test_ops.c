// SPDX-License-Identifier: Apache-2.0
// Every builder against torch: the cases of tests/cases/torch_ops.inc (their syntax:
// torch_case.py) on the host device, each also with its tensor operands on a second
// device. And every row of ops.def must have been hit.
#include "graph_fixture.h"

enum { CASE_PARTS = 16, CASE_TENSORS = 8 };

static const char *const cases[] = {
#include "tests/cases/torch_ops.inc"
};

static bool hit[OP_COUNT];

// One case taken apart; parts point into `text`.
struct parsed {
    char *text;
    int n_parts;
    char *parts[CASE_PARTS];
    struct device *device;
    struct graph *graph;
    int n_made;
    struct tensor *made[CASE_TENSORS]; // released at the end
    int64_t integers[OP_MAX_PARAMETERS][8];
    struct node *nodes[CASE_TENSORS];
};

// Cuts *text at the next separator; the part before it.
static char *cut(char **text, char separator)
{
    char *part = *text, *end = part ? strchr(part, separator) : NULL;
    if (end)
        *end = '\0';
    *text = end ? end + 1 : NULL;
    return part;
}

static void parse_shape(const char *text, struct layout *layout)
{
    layout->ndim = 0;
    while (strcmp(text, "0d") != 0) {
        char *end;
        layout->shape[layout->ndim++] = strtoll(text, &end, 10);
        if (*end == '\0')
            break;
        text = end + 1;
    }
}

// Strides by the flag: T puts the first dim innermost, E repeats it.
static int64_t parse_strides(char flag, struct layout *layout)
{
    int64_t stride = 1;
    layout_contiguous(layout);
    if (flag == 'T')
        for (int d = 0; d < layout->ndim; d++) {
            layout->strides[d] = stride;
            stride *= layout->shape[d];
        }
    int64_t count = 1;
    for (int d = 0; d < layout->ndim; d++)
        count *= flag == 'E' && d == 0 ? 1 : layout->shape[d];
    if (flag == 'E')
        layout->strides[0] = 0;
    return count;
}

static struct scalar parse_scalar(const char *text)
{
    struct scalar scalar = {.kind = text[0] == 'b' ? SCALAR_BOOL : SCALAR_INT};
    if (text[0] == 'f')
        return number(strtod(text + 2, NULL));
    scalar.i = strtoll(text + 2, NULL, 10);
    return scalar;
}

// "t float32 2x3 T v v ..."
static struct tensor *parse_tensor(char *text, struct device *device)
{
    enum dtype dtype;
    struct layout layout;
    cut(&text, ' ');
    char *name = cut(&text, ' ');
    assert_true(dtype_parse(name, strlen(name), &dtype));
    parse_shape(cut(&text, ' '), &layout);
    int64_t count = parse_strides(cut(&text, ' ')[0], &layout);
    struct tensor *tensor = tensor_with_layout(device, dtype, &layout, count);
    for (int64_t i = 0; i < tensor_count(tensor); i++) {
        char *value = cut(&text, ' ');
        assert_non_null(value);
        tensor_set(tensor, i,
                   dtype_is_float(dtype) ? number(strtod(value, NULL))
                                         : whole(strtoll(value, NULL, 10)));
    }
    return tensor;
}

static struct node *make_source(struct parsed *parsed, char *text)
{
    struct tensor *tensor = parse_tensor(text, parsed->device);
    assert_true(parsed->n_made < CASE_TENSORS);
    parsed->made[parsed->n_made++] = tensor;
    return source(parsed->graph, tensor);
}

static void parse_integers(char *text, int64_t *items, struct argument *out)
{
    out->kind = ARGUMENT_INTS;
    out->integers.count = 0;
    out->integers.items = items;
    while (text && *text)
        items[out->integers.count++] = strtoll(cut(&text, ','), NULL, 10);
}

static void parse_tensors(struct parsed *parsed, char *text, struct argument *out)
{
    out->kind = ARGUMENT_TENSORS;
    out->tensors.count = 0;
    out->tensors.items = parsed->nodes;
    while (text && *text)
        parsed->nodes[out->tensors.count++] = make_source(parsed, cut(&text, '&'));
}

static void parse_argument(struct parsed *parsed, int index,
                           const struct parameter *parameter, struct argument *out)
{
    char *text = parsed->parts[2 + index];
    switch (text[0]) {
    case '-':
        out->kind = ARGUMENT_NONE;
        break;
    case 't':
        *out = tensor_argument(make_source(parsed, text));
        break;
    case 'n':
        if (parameter->type == PARAMETER_TENSOR)
            *out = tensor_argument(scalar_node(parsed->graph, parse_scalar(text + 2)));
        else
            *out = (struct argument){.kind = ARGUMENT_NUMBER,
                                     .number = parse_scalar(text + 2)};
        break;
    case 'i':
        *out = int_argument(strtoll(text + 2, NULL, 10));
        break;
    case 'b':
        *out = (struct argument){.kind = ARGUMENT_BOOL, .boolean = text[2] == '1'};
        break;
    case 's':
        *out = (struct argument){.kind = ARGUMENT_STR,
                                 .string = {text + 2, strlen(text + 2)}};
        break;
    case 'd':
        out->kind = ARGUMENT_DTYPE;
        assert_true(dtype_parse(text + 2, strlen(text + 2), &out->dtype));
        break;
    case 'l':
        parse_integers(text + 2, parsed->integers[index], out);
        break;
    case 'L':
        parse_tensors(parsed, text + 2, out);
        break;
    default:
        fail_msg("cannot read %s", text);
    }
}

// Units of the last place of want in dtype, as a distance.
static double unit_of(double want, enum dtype dtype)
{
    static const int digits[DTYPE_COUNT] = {[DTYPE_FLOAT16] = 10,
                                            [DTYPE_BFLOAT16] = 7,
                                            [DTYPE_FLOAT32] = 23,
                                            [DTYPE_FLOAT64] = 52};
    int exponent;
    frexp(want, &exponent);
    return want == 0 ? ldexp(1, -digits[dtype]) : ldexp(1, exponent - 1 - digits[dtype]);
}

static void check_equal(const struct tensor *got, const struct tensor *want, int ulps,
                        const char *text)
{
    if (got->dtype != want->dtype)
        fail_msg("%s: dtype %s", text, dtype_name(got->dtype));
    char shape[256];
    shape_text(got->layout.ndim, got->layout.shape, shape, sizeof shape);
    bool same = got->layout.ndim == want->layout.ndim;
    for (int d = 0; same && d < want->layout.ndim; d++)
        same = got->layout.shape[d] == want->layout.shape[d];
    if (!same)
        fail_msg("%s: shape %s", text, shape);
    for (int64_t i = 0; i < tensor_count(want); i++) {
        double a = tensor_get(got, i), b = tensor_get(want, i);
        bool close = a == b || (isnan(a) && isnan(b));
        if (!close && ulps > 0 && dtype_is_float(want->dtype) && isfinite(b))
            close = fabs(a - b) <= ulps * unit_of(b, want->dtype);
        if (!close)
            fail_msg("%s: element %d is %.17g and not %.17g", text, (int)i, a, b);
    }
}

static enum status run_case(struct parsed *parsed, enum op op, bool in_place,
                            int n_arguments, struct node **nodes, int *n,
                            struct tensor **results, struct problem *problem)
{
    struct argument arguments[OP_MAX_PARAMETERS];
    for (int i = 0; i < n_arguments; i++)
        parse_argument(parsed, i, &op_row(op)->parameters[i], &arguments[i]);
    enum status status =
        graph_op(parsed->graph, op, in_place, arguments, nodes, n, problem);
    return status == STATUS_OK ? try_run(parsed->graph, true, *n, nodes, results, problem)
                               : status;
}

static void check_case(const char *original, struct device *device)
{
    struct parsed parsed = {
        .text = strdup(original), .device = device, .graph = graph_new()};
    char *rest = parsed.text;
    while (rest && parsed.n_parts < CASE_PARTS)
        parsed.parts[parsed.n_parts++] = cut(&rest, '|');
    enum op op;
    bool in_place;
    assert_true(op_find(parsed.parts[0], strlen(parsed.parts[0]), &op, &in_place, NULL));
    hit[op] = true;
    int n_arguments = op_row(op)->n_parameters, n = 0;
    char **expected = &parsed.parts[2 + n_arguments];
    struct node *nodes[OP_MAX_RESULTS];
    struct tensor *results[OP_MAX_RESULTS];
    struct problem problem = {.status = STATUS_OK};
    enum status status =
        run_case(&parsed, op, in_place, n_arguments, nodes, &n, results, &problem);
    if (expected[0][0] == '!') {
        if (status == STATUS_OK || strcmp(problem_kind(status)->kind, expected[1]) != 0)
            fail_msg("%s: answers %s (%s)", original,
                     status == STATUS_OK ? "a value" : problem_kind(status)->kind,
                     problem.detail);
        assert_true(strlen(problem.detail) > 0);
    } else {
        if (status != STATUS_OK)
            fail_msg("%s: %s", original, problem.detail);
        assert_int_equal(n, parsed.n_parts - 3 - n_arguments);
        for (int i = 0; i < n; i++) {
            struct tensor *want = parse_tensor(expected[1 + i], fixture.table[0]);
            check_equal(results[i], want, (int)strtol(parsed.parts[1], NULL, 10),
                        original);
            tensor_release(want);
            tensor_release(results[i]);
        }
    }
    graph_free(parsed.graph);
    for (int i = 0; i < parsed.n_made; i++)
        tensor_release(parsed.made[i]);
    free(parsed.text);
}

static void test_against_torch(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_case(cases[i], fixture.table[0]);
}

static void test_on_another_device(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_case(cases[i], fixture.table[1]);
}

// The index expressions have a test of their own (test_index.c); here the operation's
// road.
static void test_slice(void **state)
{
    struct graph *graph = graph_new();
    struct tensor *x = tensor_of(DTYPE_INT64, SHAPE(2, 3), VALUES(0, 1, 2, 3, 4, 5));
    struct argument arguments[2] = {tensor_argument(source(graph, x)),
                                    {.kind = ARGUMENT_STR, .string = {"1,::2", 5}}};
    struct tensor *part = run(graph, op(graph, "slice", 2, arguments));
    check_shape(&part->layout, SHAPE(2));
    check_values(part, VALUES(3, 5));
    assert_ptr_equal(part->storage, x->storage);
    tensor_release(part);
    graph_free(graph);
    tensor_release(x);
    hit[OP_slice] = true;
}

static void test_every_row_was_hit(void **state)
{
    for (int i = 0; i < OP_COUNT; i++) // random ones: test_generators.c
        if (!hit[i] && !op_draws((enum op)i))
            fail_msg("no case for %s", op_row((enum op)i)->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_torch),
        cmocka_unit_test(test_on_another_device),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_every_row_was_hit),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
