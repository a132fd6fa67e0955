// SPDX-License-Identifier: Apache-2.0
// Forms of a call that an operation's row does not have: max(x, y), arange(end=3), the
// sizes and defaults of NumPy. Found by the operation's name, once. The program's thread.
#include "api/lang/torch.h"

struct source { // of a call, as it came
    int n, n_keywords;
    const struct value *arguments;
    struct string *const *keywords;
};
typedef enum outcome overload(struct call *call, const struct source *source);
static overload *overloads[OP_COUNT];

static enum outcome collect(struct call *call, const struct source *source)
{
    return call_collect(call, source->n, source->arguments, source->n_keywords,
                        source->keywords);
}

static void become(struct call *call, enum op op)
{
    call->op = op;
    call->row = op_row(op);
}

static struct value keyword(const struct source *source, const char *name)
{
    for (int i = 0; i < source->n_keywords; i++)
        if (strcmp(source->keywords[i]->text, name) == 0)
            return source->arguments[source->n + i];
    return (struct value){.tag = VALUE_ABSENT};
}

static struct value *given(struct call *call, const char *name)
{
    int index = parameter_index(call->row, name);
    return index < 0 ? NULL : &call->given[index];
}

static bool is_absent(const struct value *value)
{
    return value == NULL || value->tag == VALUE_ABSENT || value->tag == VALUE_NONE;
}

static void set_default(struct call *call, const char *name, struct value value)
{
    struct value *place = given(call, name);
    if (place != NULL && is_absent(place))
        *place = value;
}

// ---- max and min: of two tensors; np's have no indices.

static enum outcome extremum(struct call *call, const struct source *source, bool max)
{
    bool two = (source->n >= 2 && value_is_tensor(source->arguments[1])) ||
               keyword(source, "other").tag != VALUE_ABSENT;
    if (call->numpy)
        become(call, max ? OP_amax : OP_amin);
    else if (two)
        become(call, max ? OP_maximum : OP_minimum);
    return collect(call, source);
}

static enum outcome overload_max(struct call *call, const struct source *source)
{
    return extremum(call, source, true);
}

static enum outcome overload_min(struct call *call, const struct source *source)
{
    return extremum(call, source, false);
}

// ---- Creation

// arange(end=3), and np's dtype.
static enum outcome overload_arange(struct call *call, const struct source *source)
{
    enum outcome outcome = collect(call, source);
    struct value *start = given(call, "start"), *end = given(call, "end");
    if (outcome != OUTCOME_OK)
        return outcome;
    if (start->tag == VALUE_ABSENT && !is_absent(end)) {
        *start = *end;
        *end = value_none();
    }
    bool floats = false;
    for (int i = 0; i < 3; i++)
        floats |= call->given[i].tag == VALUE_FLOAT ||
                  (value_is_tensor(call->given[i]) &&
                   dtype_is_float(lazy_dtype(tensor_of(call->given[i])->lazy)));
    if (call->numpy)
        set_default(call, "dtype", value_dtype(floats ? DTYPE_FLOAT64 : DTYPE_INT64));
    return OUTCOME_OK;
}

// np creates float64. Its dtype may also stand behind the shape.
static enum outcome overload_wide(struct call *call, const struct source *source)
{
    bool dtype_second = call->numpy && source->n == 2 && source->n_keywords == 0 &&
                        (value_names_dtype(source->arguments[1]) ||
                         value_is_object(source->arguments[1], OBJECT_STRING));
    struct source shape = *source;
    shape.n -= dtype_second;
    enum outcome outcome = collect(call, &shape);
    if (outcome == OUTCOME_OK && dtype_second)
        set_default(call, "dtype", source->arguments[1]);
    if (outcome != OUTCOME_OK || !call->numpy)
        return outcome;
    set_default(call, "dtype", value_dtype(DTYPE_FLOAT64));
    if (call->op == OP_linspace)
        set_default(call, "steps", value_int(50));
    return OUTCOME_OK;
}

static enum outcome overload_full(struct call *call, const struct source *source)
{
    enum outcome outcome = collect(call, source);
    struct value *fill = given(call, "fill_value");
    if (outcome != OUTCOME_OK || fill == NULL)
        return outcome;
    if (call->numpy && value_is_number(*fill))
        set_default(call, "dtype", value_dtype(numpy_default(torch_scalar_of(*fill))));
    else if (value_is_tensor(*fill))
        set_default(call, "dtype", value_dtype(lazy_dtype(tensor_of(*fill)->lazy)));
    return OUTCOME_OK;
}

// ---- Random numbers

// randint(high, size) beside randint(low, high, size).
static enum outcome overload_randint(struct call *call, const struct source *source)
{
    enum { MOST = 16 };
    struct value shifted[MOST] = {value_int(0)};
    const struct value *items;
    int64_t count;
    int n = source->n, total = n + source->n_keywords;
    bool size_second = n == 2 && sequence_items(source->arguments[1], &items, &count);
    bool only_high = n == 1 && keyword(source, "high").tag == VALUE_ABSENT;
    if ((!size_second && !only_high) || total >= MOST) {
        enum outcome outcome = collect(call, source);
        if (outcome == OUTCOME_OK && n == 0)
            set_default(call, "low", value_int(0));
        return outcome;
    }
    memcpy(shifted + 1, source->arguments, (size_t)total * sizeof *shifted);
    return call_collect(call, n + 1, shifted, source->n_keywords, source->keywords);
}

static enum outcome overload_normal(struct call *call, const struct source *source)
{
    enum outcome outcome = collect(call, source);
    if (outcome == OUTCOME_OK) {
        set_default(call, "mean", value_float(0));
        set_default(call, "std", value_float(1));
    }
    return outcome;
}

// ---- Statistics

// std(x, False), std(x, unbiased=False), std(x, correction=0); np's ddof is 0.
static enum outcome overload_spread(struct call *call, const struct source *source)
{
    struct value unbiased = {.tag = VALUE_ABSENT};
    struct source rest = *source;
    struct string *names[8] = {NULL};
    struct value values[16];
    if (source->n + source->n_keywords > 16 || source->n_keywords > 8)
        return collect(call, source);
    memcpy(values, source->arguments,
           (size_t)(source->n + source->n_keywords) * sizeof *values);
    if (source->n == 2 && source->arguments[1].tag == VALUE_BOOL && !call->numpy) {
        unbiased = source->arguments[1];
        values[1] = value_none();
    }
    int kept = 0;
    for (int i = 0; i < source->n_keywords; i++) {
        const char *name = source->keywords[i]->text;
        struct value value = source->arguments[source->n + i];
        if ((strcmp(name, "correction") == 0 || strcmp(name, "ddof") == 0) &&
            value_is_integer(value) && (value.i == 0 || value.i == 1)) {
            unbiased = value_bool(value.i == 1);
            continue;
        }
        values[source->n + kept] = value;
        names[kept++] = source->keywords[i];
    }
    rest.arguments = values;
    rest.keywords = names;
    rest.n_keywords = kept;
    enum outcome outcome = collect(call, &rest);
    if (unbiased.tag == VALUE_ABSENT && call->numpy)
        unbiased = value_bool(false);
    if (outcome == OUTCOME_OK && unbiased.tag != VALUE_ABSENT)
        set_default(call, "unbiased", unbiased);
    return outcome;
}

// x.norm("fro") is x.norm().
static enum outcome overload_norm(struct call *call, const struct source *source)
{
    enum outcome outcome = collect(call, source);
    struct value *p = given(call, "p");
    if (outcome == OUTCOME_OK && p != NULL && value_is_object(*p, OBJECT_STRING)) {
        if (strcmp(VALUE_AS(string, *p)->text, "fro") != 0)
            return vm_raise(call->vm, STATUS_NOT_IMPLEMENTED,
                            "norm(): of the named norms only \"fro\" is implemented");
        p->tag = VALUE_ABSENT;
    }
    if (outcome == OUTCOME_OK && p != NULL && p->tag == VALUE_NONE)
        p->tag = VALUE_ABSENT;
    return outcome;
}

// softmax(x) without a dimension: torch.nn.functional's choice.
static enum outcome overload_softmax(struct call *call, const struct source *source)
{
    enum outcome outcome = collect(call, source);
    if (outcome != OUTCOME_OK || !value_is_tensor(call->given[0]))
        return outcome;
    int ndim = lazy_layout(tensor_of(call->given[0])->lazy)->ndim;
    set_default(call, "dim", value_int(ndim == 0 || ndim == 1 || ndim == 3 ? 0 : 1));
    return OUTCOME_OK;
}

// ---- The tables

static const struct {
    const char *name;
    overload *function;
} table[] = {
    {"max", overload_max},         {"min", overload_min},
    {"arange", overload_arange},   {"range", overload_arange},
    {"zeros", overload_wide},      {"ones", overload_wide},
    {"eye", overload_wide},        {"linspace", overload_wide},
    {"full", overload_full},       {"rand", overload_wide},
    {"randn", overload_wide},      {"randint", overload_randint},
    {"normal", overload_normal},   {"std", overload_spread},
    {"var", overload_spread},      {"norm", overload_norm},
    {"softmax", overload_softmax}, {"log_softmax", overload_softmax},
};

void torch_prepare_overloads(void)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        enum op op;
        bool in_place;
        if (op_find(table[i].name, strlen(table[i].name), &op, &in_place, NULL))
            overloads[op] = table[i].function;
    }
}

enum outcome call_overload(struct call *call, int n, int n_keywords,
                           const struct value *arguments, struct string *const *keywords)
{
    const struct source source = {n, n_keywords, arguments, keywords};
    overload *function = overloads[call->op];
    return function != NULL && !call->in_place ? function(call, &source)
                                               : collect(call, &source);
}
