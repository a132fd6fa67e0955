// SPDX-License-Identifier: Apache-2.0
// The answer in JSON: a tensor as the JSON value, other values as {"type", ...},
// containers with an answer for each element; without a value the names that were bound.
// Tensors are printed while they are sent.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "api/describe.h"
#include "api/eval.h"
#include "api/lang/container.h"
#include "api/lang/operate.h"
#include "api/pieces.h"

enum { LARGE_INTEGER = 53 };

static bool is_tensor(struct value value)
{
    return value_is_object(value, OBJECT_TENSOR);
}

static bool is_container(struct value value)
{
    return value_is_object(value, OBJECT_LIST) || value_is_object(value, OBJECT_TUPLE) ||
           value_is_object(value, OBJECT_SET) || value_is_object(value, OBJECT_DICT);
}

struct answering {
    struct request *request;
    struct evaluation *evaluation;
    struct pieces *pieces;
    struct problem *problem;
};

static void add(struct answering *to, const char *text)
{
    pieces_text(to->pieces, text, strlen(text));
}

static void add_text(struct answering *to, struct text *text)
{
    if (!text->failed)
        pieces_text(to->pieces, text->data, text->length);
    text_end(text);
}

static void add_quoted(struct answering *to, const char *string, size_t length)
{
    char buffer[256];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    text_quoted(&text, string, length);
    add_text(to, &text);
}

static enum status answer_tensor(struct answering *to, const struct tensor_object *object,
                                 bool opened)
{
    struct payload payload = {.format = FORMAT_JSON,
                              .shown_dtype = lazy_dtype(object->lazy),
                              .device = lazy_device(object->lazy)->id};
    struct tensor *host;
    enum status status =
        cells_host(to->evaluation->cells, object->lazy, &host, to->problem);
    if (status != STATUS_OK)
        return status;
    if (host == NULL)
        return problem_set(to->problem, STATUS_VALUE, "A value was not computed.");
    payload_pin(&payload, host);
    bool prefixed = opened || object->is_array || object->requires_grad;
    if (prefixed && !opened)
        add(to, "{");
    if (object->is_array)
        add(to, "\"type\": \"ndarray\", ");
    if (object->requires_grad)
        add(to, "\"requires_grad\": true, ");
    return pieces_payload(to->pieces, &payload, false, prefixed, to->problem);
}

static void answer_integer(struct answering *to, int64_t i)
{
    char buffer[48];
    bool large =
        i > ((int64_t)1 << LARGE_INTEGER) - 1 || i < -(((int64_t)1 << LARGE_INTEGER) - 1);
    snprintf(buffer, sizeof buffer, large ? "\"%" PRId64 "\"" : "%" PRId64, i);
    add(to, buffer);
}

static void answer_float(struct answering *to, double f)
{
    char buffer[40];
    if (isnan(f) || isinf(f)) {
        add(to, isnan(f) ? "\"NaN\"" : f > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    union element element = {.f64 = f};
    buffer[print_element(element, DTYPE_FLOAT64, buffer)] = '\0';
    add(to, buffer);
}

// A value's text by repr or str, quoted. These kinds need no elements.
static enum status answer_repr(struct answering *to, struct value value, bool as_str)
{
    char buffer[256];
    struct text text;
    text_begin(&text, buffer, sizeof buffer);
    enum outcome outcome = as_str ? value_str(to->evaluation->vm, value, &text)
                                  : value_repr(to->evaluation->vm, value, &text);
    if (outcome != OUTCOME_OK) {
        text_end(&text);
        if (outcome == OUTCOME_WAIT)
            return problem_set(to->problem, STATUS_VALUE, "A value was not computed.");
        *to->problem = *vm_problem(to->evaluation->vm);
        return to->problem->status;
    }
    add_quoted(to, text.data, text.length);
    text_end(&text);
    return STATUS_OK;
}

static enum status answer_scalar(struct answering *to, struct value value)
{
    switch ((enum value_tag)value.tag) {
    case VALUE_ABSENT:
    case VALUE_NONE:
        add(to, "\"type\": \"none\", \"value\": null");
        return STATUS_OK;
    case VALUE_BOOL:
        add(to, value.i ? "\"type\": \"bool\", \"value\": true"
                        : "\"type\": \"bool\", \"value\": false");
        return STATUS_OK;
    case VALUE_INT:
        add(to, "\"type\": \"int\", \"value\": ");
        answer_integer(to, value.i);
        return STATUS_OK;
    case VALUE_FLOAT:
        add(to, "\"type\": \"float\", \"value\": ");
        answer_float(to, value.f);
        return STATUS_OK;
    case VALUE_WIDE:
        add(to, "\"type\": \"int\", \"value\": ");
        return answer_repr(to, value, false);
    case VALUE_DTYPE:
        add(to, "\"type\": \"dtype\", \"value\": \"");
        add(to, dtype_name((enum dtype)value.i));
        add(to, "\"");
        return STATUS_OK;
    case VALUE_DEVICE:
        add(to, "\"type\": \"device\", \"value\": ");
        return answer_repr(to, value, true);
    case VALUE_TYPE:
        add(to, "\"type\": \"type\", \"value\": \"");
        add(to, type_name((enum type)value.i));
        add(to, "\"");
        return STATUS_OK;
    case VALUE_NATIVE:
    case VALUE_OP:
        add(to, "\"type\": \"function\", \"text\": ");
        return answer_repr(to, value, false);
    default:
        break;
    }
    add(to, "\"type\": ");
    const char *type = type_short_name(value_type(value));
    if (value_is_object(value, OBJECT_MODULE) || value.tag == VALUE_NAMESPACE)
        type = "module";
    if (value_is_object(value, OBJECT_BOUND))
        type = "function";
    add_quoted(to, type, strlen(type));
    add(to, ", \"text\": ");
    return answer_repr(to, value, false);
}

static enum status answer_value(struct answering *to, struct value value, int depth,
                                bool opened);

static enum status answer_sequence(struct answering *to, const struct value *items,
                                   int64_t count, int depth)
{
    enum status status = STATUS_OK;
    for (int64_t i = 0; i < count && status == STATUS_OK; i++) {
        if (i > 0)
            add(to, ", ");
        status = answer_value(to, items[i], depth + 1, false);
    }
    return status;
}

static enum status answer_set(struct answering *to, const struct set *set, int depth)
{
    enum status status = STATUS_OK;
    int64_t position = 0, n = 0;
    const struct set_entry *entry;
    while (status == STATUS_OK && (entry = set_next(set, &position)) != NULL) {
        if (n++ > 0)
            add(to, ", ");
        status = answer_value(to, entry->key, depth + 1, false);
    }
    return status;
}

static enum status answer_dict(struct answering *to, const struct dict *dict, int depth)
{
    enum status status = STATUS_OK;
    int64_t position = 0, n = 0;
    const struct dict_entry *entry;
    while (status == STATUS_OK && (entry = dict_next(dict, &position)) != NULL) {
        if (n++ > 0)
            add(to, ", ");
        status = answer_repr(to, entry->key, true);
        add(to, ": ");
        if (status == STATUS_OK)
            status = answer_value(to, entry->value, depth + 1, false);
    }
    return status;
}

static enum status answer_range(struct answering *to, const struct range *range)
{
    enum { MOST = 1 << 20 };
    if (range->count > MOST)
        return problem_set(to->problem, STATUS_LIMIT,
                           "A range of %" PRId64 " numbers is no answer: at most %d.",
                           range->count, MOST);
    for (int64_t i = 0; i < range->count; i++) {
        add(to, i > 0 ? ", {\"type\": \"int\", \"value\": "
                      : "{\"type\": \"int\", \"value\": ");
        answer_integer(to, range->start + i * range->step);
        add(to, "}");
    }
    return STATUS_OK;
}

static enum status answer_container(struct answering *to, struct value value, int depth)
{
    enum status status;
    bool is_size =
        value_is_object(value, OBJECT_TUPLE) && VALUE_AS(tuple, value)->is_size;
    if (value_is_object(value, OBJECT_DICT)) {
        add(to, "\"type\": \"dict\", \"items\": {");
        status = answer_dict(to, VALUE_AS(dict, value), depth);
        add(to, "}");
        return status;
    }
    if (is_size) { // a shape: its sizes
        const struct tuple *size = VALUE_AS(tuple, value);
        add(to, "\"type\": \"size\", \"value\": [");
        for (int64_t i = 0; i < size->count; i++) {
            if (i > 0)
                add(to, ", ");
            answer_integer(to, size->items[i].i);
        }
        add(to, "]");
        return STATUS_OK;
    }
    add(to, "\"type\": \"");
    add(to, value_is_object(value, OBJECT_RANGE)   ? "range"
            : value_is_object(value, OBJECT_LIST)  ? "list"
            : value_is_object(value, OBJECT_TUPLE) ? "tuple"
                                                   : "set");
    add(to, "\", \"values\": [");
    if (value_is_object(value, OBJECT_RANGE))
        status = answer_range(to, VALUE_AS(range, value));
    else if (value_is_object(value, OBJECT_LIST))
        status = answer_sequence(to, VALUE_AS(list, value)->items,
                                 VALUE_AS(list, value)->count, depth);
    else if (value_is_object(value, OBJECT_TUPLE))
        status = answer_sequence(to, VALUE_AS(tuple, value)->items,
                                 VALUE_AS(tuple, value)->count, depth);
    else
        status = answer_set(to, VALUE_AS(set, value), depth);
    add(to, "]");
    return status;
}

// opened: the object's brace, and members before these, are there.
static enum status answer_value(struct answering *to, struct value value, int depth,
                                bool opened)
{
    if (depth == EVAL_ANSWER_DEPTH)
        return problem_set(to->problem, STATUS_LIMIT,
                           "The value is nested more than %d levels deep.",
                           EVAL_ANSWER_DEPTH);
    if (is_tensor(value))
        return answer_tensor(to, VALUE_AS(tensor_object, value), opened);
    if (!opened)
        add(to, "{");
    enum status status = STATUS_OK;
    if (value_is_object(value, OBJECT_STRING)) {
        const struct string *string = VALUE_AS(string, value);
        add(to, "\"type\": \"str\", \"value\": ");
        add_quoted(to, string->text, (size_t)string->bytes);
    } else if (is_container(value) || value_is_object(value, OBJECT_RANGE)) {
        status = answer_container(to, value, depth);
    } else {
        status = answer_scalar(to, value);
    }
    add(to, "}");
    return status;
}

// "printed": [...], with what follows it.
static void answer_printed(struct answering *to, const char *text, size_t length)
{
    const char *end = text + length;
    add(to, "\"printed\": [");
    for (bool first = true; text < end; first = false) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (line_end == NULL)
            line_end = end;
        if (!first)
            add(to, ", ");
        add_quoted(to, text, (size_t)(line_end - text));
        text = line_end + 1;
    }
    add(to, "], ");
}

static enum status answer_names(struct answering *to)
{
    struct evaluation *evaluation = to->evaluation;
    int64_t position = 0, n = 0;
    struct vm_name name;
    enum status status = STATUS_OK;
    add(to, "\"names\": {");
    while (status == STATUS_OK && vm_next_name(evaluation->vm, &position, &name)) {
        struct binding binding;
        if (name.value.tag == VALUE_ABSENT || !eval_keeps(evaluation, name.name->text) ||
            !registry_lookup_any(to->request->user->space, name.name->text, &binding))
            continue;
        char buffer[1024];
        struct text text;
        text_begin(&text, buffer, sizeof buffer);
        status = describe_name(to->request, &text, &binding, to->problem);
        binding_release(&binding);
        if (n++ > 0)
            add(to, ", ");
        add_quoted(to, name.name->text, (size_t)name.name->bytes);
        add(to, ": ");
        add_text(to, &text);
    }
    add(to, "}}");
    return status;
}

struct http_response *eval_json(struct request *request, struct evaluation *evaluation,
                                struct problem *problem)
{
    struct answering to = {.request = request,
                           .evaluation = evaluation,
                           .pieces = pieces_create(request, problem),
                           .problem = problem};
    if (to.pieces == NULL)
        return NULL;
    struct value value = vm_result(evaluation->vm);
    const char *printed;
    size_t length;
    enum status status;
    vm_printed(evaluation->vm, &printed, &length);
    bool opened = length > 0 || value.tag == VALUE_ABSENT;
    if (opened)
        add(&to, "{");
    if (length > 0)
        answer_printed(&to, printed, length);
    if (value.tag == VALUE_ABSENT)
        status = answer_names(&to);
    else
        status = answer_value(&to, value, 0, opened);
    if (status != STATUS_OK) {
        pieces_free(to.pieces);
        return NULL;
    }
    if (!is_tensor(value))
        add(&to, "\n"); // a tensor's JSON ends in one
    struct http_response *response =
        answer_header(pieces_answer(to.pieces, 200), "Content-Type", "application/json");
    if (!is_tensor(value))
        return response;
    const struct lazy *lazy = VALUE_AS(tensor_object, value)->lazy;
    return answer_tensor_headers(response, lazy_dtype(lazy), lazy_layout(lazy)->ndim,
                                 lazy_layout(lazy)->shape, lazy_device(lazy)->id);
}
