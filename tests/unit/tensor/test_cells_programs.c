// SPDX-License-Identifier: Apache-2.0
// Random programs of views, writes and reads against torch (tests/cases/torch_cells.py
// says how they are written), on the host and on a device, reading where they read and
// only at the end.
#include "cells_fixture.h"

#include "tensor/shape.h"

static const char *const programs[] = {
#include "tests/cases/torch_cells.inc"
};

enum { VARIABLES = 64, WORDS = 80 };

struct machine {
    struct cells *cells;
    struct device *device;
    bool late; // only the reads after the last other statement count
    const char *text;
    struct lazy *variables[VARIABLES];
    int n_imported;
    struct tensor *imported[VARIABLES];
    struct lazy *views[VARIABLES]; // of the imported ones
    enum status failed;            // of the statement before
    struct problem problem;
};

struct words {
    int n;
    char *items[WORDS];
};

// Cuts *text at the next separator; the part before it. NULL at the end.
static char *cut(char **text, char separator)
{
    char *part = *text, *end = part ? strchr(part, separator) : NULL;
    if (end)
        *end = '\0';
    *text = end ? end + 1 : NULL;
    return part;
}

static void split(char *text, struct words *out)
{
    out->n = 0;
    for (char *word; (word = cut(&text, ' ')) != NULL;)
        out->items[out->n++] = word;
}

static int64_t integer(const char *text)
{
    return strtoll(text, NULL, 10);
}

static struct lazy *variable(struct machine *m, const char *word)
{
    struct lazy *lazy = m->variables[integer(word)];
    if (!lazy)
        fail_msg("%s: no variable %s", m->text, word);
    return lazy;
}

static struct lazy_argument operand(struct machine *m, const char *word)
{
    return word[0] == '#' ? lazy_number(whole(integer(word + 1)))
                          : lazy_of(variable(m, word));
}

static int parse_shape(const char *text, int64_t *shape)
{
    int ndim = 0;
    while (strcmp(text, "0d") != 0) {
        char *end;
        shape[ndim++] = strtoll(text, &end, 10);
        if (*end == '\0')
            break;
        text = end + 1;
    }
    return ndim;
}

struct content {
    enum dtype dtype;
    int ndim;
    int64_t shape[8];
    double values[64];
};

static void parse_content(const struct words *words, int first, struct content *out)
{
    assert_true(
        dtype_parse(words->items[first], strlen(words->items[first]), &out->dtype));
    out->ndim = parse_shape(words->items[first + 1], out->shape);
    for (int i = first + 2; i < words->n; i++)
        out->values[i - first - 2] = strtod(words->items[i], NULL);
}

static struct lazy *moved(struct machine *m, struct lazy *lazy)
{
    struct lazy *there =
        lazy_call(m->cells, "to", 2,
                  (struct lazy_argument[]){
                      lazy_of(lazy), {.kind = ARGUMENT_DEVICE, .device = m->device}});
    lazy_release(lazy);
    return there;
}

static void make(struct machine *m, const struct words *words)
{
    struct content content;
    struct lazy **to = &m->variables[integer(words->items[1])];
    parse_content(words, 2, &content);
    if (words->items[0][0] == 'n') {
        *to = moved(m, literal(m->cells, content.dtype, content.ndim, content.shape,
                               content.values));
        return;
    }
    struct tensor *tensor =
        tensor_on(m->device, content.dtype, content.ndim, content.shape, content.values);
    *to = import(m->cells, tensor);
    m->imported[m->n_imported] = tensor;
    m->views[m->n_imported++] = lazy_reference(*to);
}

static void parse_integers(char *text, int64_t *items, struct lazy_argument *out)
{
    int n = 0;
    for (char *word; (word = cut(&text, ',')) != NULL;)
        items[n++] = integer(word);
    *out = lazy_ints(n, items);
}

static void view(struct machine *m, const struct words *words)
{
    struct lazy_argument arguments[3] = {lazy_of(variable(m, words->items[2]))};
    int64_t items[8];
    const char *op = words->items[3];
    int n = words->n - 3;
    if (strcmp(op, "slice") == 0)
        arguments[1] = (struct lazy_argument){
            .kind = ARGUMENT_STR, .string = {words->items[4], strlen(words->items[4])}};
    else if (strcmp(op, "transpose") == 0 || strcmp(op, "unsqueeze") == 0)
        for (int i = 1; i < n; i++)
            arguments[i] = lazy_int(integer(words->items[3 + i]));
    else if (n > 1)
        parse_integers(words->items[4], items, &arguments[1]);
    m->variables[integer(words->items[1])] = lazy_call(m->cells, op, n, arguments);
}

static void operate(struct machine *m, const struct words *words)
{
    bool in_place = words->items[0][0] == 'i';
    int at = in_place ? 1 : 2;
    char name[32];
    snprintf(name, sizeof name, "%s%s", words->items[at], in_place ? "_" : "");
    struct lazy_argument arguments[2] = {operand(m, words->items[at + 1]),
                                         operand(m, words->items[at + 2])};
    if (in_place) // the order of words is op y z
        arguments[0] = lazy_of(variable(m, words->items[2]));
    struct lazy *result = try_lazy(m->cells, name, 2, arguments, &m->problem);
    if (!result)
        m->failed = m->problem.status;
    else if (in_place)
        lazy_release(result);
    else
        m->variables[integer(words->items[1])] = result;
}

static void write_statement(struct machine *m, const struct words *words)
{
    struct lazy *target = variable(m, words->items[1]);
    const char *word = words->items[2];
    enum status status =
        word[0] == '#'
            ? lazy_write_number(m->cells, target, whole(integer(word + 1)), &m->problem)
            : lazy_write(m->cells, target, variable(m, word), &m->problem);
    if (status != STATUS_OK)
        m->failed = status;
}

static void read_statement(struct machine *m, const struct words *words)
{
    struct content want;
    parse_content(words, 2, &want);
    struct tensor *got = on_host(m->cells, variable(m, words->items[1]));
    if (got->dtype != want.dtype || got->layout.ndim != want.ndim)
        fail_msg("%s: %s has another dtype or rank", m->text, words->items[1]);
    check_shape(&got->layout, want.ndim, want.shape);
    assert_true(layout_is_contiguous(&got->layout));
    for (int64_t i = 0; i < tensor_count(got); i++)
        if (tensor_get(got, i) != want.values[i])
            fail_msg("element %d of %s is %g and not %g: %s", (int)i, words->items[1],
                     tensor_get(got, i), want.values[i], m->text);
}

static void drop(struct machine *m, const char *word)
{
    lazy_release(variable(m, word));
    m->variables[integer(word)] = NULL;
}

static void run_statement(struct machine *m, struct words *words, bool last)
{
    char kind = words->items[0][0];
    if (m->failed != STATUS_OK && kind != '!')
        fail_msg("%s: %s", m->text, m->problem.detail);
    switch (kind) {
    case 'n':
    case 'b':
        make(m, words);
        break;
    case 'v':
        view(m, words);
        break;
    case 'o':
    case 'i':
        operate(m, words);
        break;
    case 'w':
        write_statement(m, words);
        break;
    case 'd':
        drop(m, words->items[1]);
        break;
    case 'f':
        if (!m->late)
            flush(m->cells);
        break;
    case 'r':
        if (!m->late || last)
            read_statement(m, words);
        break;
    case '!':
        if (m->failed == STATUS_OK ||
            strcmp(problem_kind(m->failed)->kind, words->items[1]) != 0)
            fail_msg("%s: not refused with %s", m->text, words->items[1]);
        m->failed = STATUS_OK;
        break;
    default:
        fail_msg("%s: what is %s?", m->text, words->items[0]);
    }
}

// After the commit the existing tensors show what their lazies showed.
static void check_commit(struct machine *m)
{
    for (int i = 0; i < m->n_imported; i++) {
        struct tensor *shown = on_host(m->cells, m->views[i]);
        for (int64_t j = 0; j < tensor_count(shown); j++)
            if (tensor_get(shown, j) != tensor_get(m->imported[i], j))
                fail_msg("%s: import %d differs after the commit", m->text, i);
    }
}

static void run_program(const char *text, struct device *device, bool late)
{
    struct machine *m = calloc(1, sizeof *m);
    m->cells = cells_new();
    m->device = device;
    m->late = late;
    m->text = text;
    char *copy = strdup(text), *rest = copy;
    const char *end = text; // where the reads at the end begin
    for (const char *at = text; (at = strchr(at, ';')) != NULL; at++)
        if (at[1] != 'r')
            end = at + 2;
    for (char *statement; (statement = cut(&rest, ';')) != NULL;) {
        struct words words;
        bool last = text + (statement - copy) >= end;
        split(statement, &words);
        run_statement(m, &words, last);
    }
    commit(m->cells);
    check_commit(m);
    for (int i = 0; i < VARIABLES; i++)
        lazy_release(m->variables[i]);
    for (int i = 0; i < m->n_imported; i++)
        lazy_release(m->views[i]);
    cells_free(m->cells);
    for (int i = 0; i < m->n_imported; i++)
        tensor_release(m->imported[i]);
    free(copy);
    free(m);
    if (fixture_used(0) != 0)
        fail_msg("%s: leaves %d", text, (int)fixture_used(0));
    assert_int_equal(fixture_used(1), 0);
}

static void run_all(int device, bool late)
{
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        run_program(programs[i], fixture.table[device], late);
}

static void test_on_the_host(void **state)
{
    run_all(0, false);
}

static void test_late_reads(void **state)
{
    run_all(0, true);
}

static void test_on_a_device(void **state)
{
    run_all(1, false);
    run_all(1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_the_host),
        cmocka_unit_test(test_late_reads),
        cmocka_unit_test(test_on_a_device),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
