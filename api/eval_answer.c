// SPDX-License-Identifier: Apache-2.0
// Answers of programs: which elements they show, and every format but JSON.
#include "api/eval.h"

#include "api/lang/container.h"
#include "api/lang/operate.h"

static bool is_tensor(struct value value)
{
    return value_is_object(value, OBJECT_TENSOR);
}

enum status eval_check_format(const struct evaluation *evaluation,
                              struct problem *problem)
{
    struct value value = vm_result(evaluation->vm);
    if (evaluation->format == FORMAT_JSON || evaluation->format == FORMAT_TEXT)
        return STATUS_OK;
    const char *format = format_row(evaluation->format)->name;
    if (!is_tensor(value))
        return problem_set(
            problem, STATUS_NOT_ACCEPTABLE,
            "The program ends in %s%s: only a tensor comes as %s.",
            value.tag == VALUE_ABSENT ? "a statement" : "a value of type ",
            value.tag == VALUE_ABSENT ? "" : type_short_name(value_type(value)), format);
    return payload_check(evaluation->format,
                         lazy_layout(VALUE_AS(tensor_object, value)->lazy)->ndim,
                         problem);
}

// ---- Walking containers

static bool is_container(struct value value)
{
    return value_is_object(value, OBJECT_LIST) || value_is_object(value, OBJECT_TUPLE) ||
           value_is_object(value, OBJECT_SET) || value_is_object(value, OBJECT_DICT);
}

static enum status too_deep(struct problem *problem)
{
    return problem_set(
        problem, STATUS_LIMIT,
        "The value is nested more than %d levels deep: print it, or answer a "
        "part of it.",
        EVAL_ANSWER_DEPTH);
}

// What one value adds to the answer. Containers may hold one value many times, so their
// size in memory bounds nothing.
static enum status show(struct evaluation *evaluation, struct value value,
                        struct problem *problem)
{
    enum { MOST_VALUES = 1 << 20, MOST_BYTES = 64 << 20 };
    evaluation->shown_values++;
    if (value_is_object(value, OBJECT_STRING))
        evaluation->shown_bytes += VALUE_AS(string, value)->bytes;
    if (value_is_object(value, OBJECT_RANGE) &&
        VALUE_AS(range, value)->count <= MOST_VALUES)
        evaluation->shown_values += VALUE_AS(range, value)->count;
    int part = evaluation->limited ? 512 : 1; // of that, on the HTTP thread
    if (evaluation->shown_values <= MOST_VALUES / part &&
        evaluation->shown_bytes <= MOST_BYTES / part)
        return STATUS_OK;
    return problem_set(problem, STATUS_LIMIT,
                       "The value is too large for an answer: at most %d values in "
                       "containers and %d MiB of strings. Answer a part of it.",
                       MOST_VALUES, MOST_BYTES >> 20);
}

static enum status want(struct evaluation *evaluation, struct value value, int depth,
                        struct problem *problem)
{
    struct tensor *ignored;
    enum status status = show(evaluation, value, problem);
    if (status == STATUS_OK && is_tensor(value))
        return cells_host(evaluation->cells, VALUE_AS(tensor_object, value)->lazy,
                          &ignored, problem);
    if (status != STATUS_OK || !is_container(value))
        return status;
    if (depth == EVAL_ANSWER_DEPTH)
        return too_deep(problem);
    if (value_is_object(value, OBJECT_LIST)) {
        const struct list *list = VALUE_AS(list, value);
        for (int64_t i = 0; i < list->count && status == STATUS_OK; i++)
            status = want(evaluation, list->items[i], depth + 1, problem);
    } else if (value_is_object(value, OBJECT_TUPLE)) {
        const struct tuple *tuple = VALUE_AS(tuple, value);
        for (int64_t i = 0; i < tuple->count && status == STATUS_OK; i++)
            status = want(evaluation, tuple->items[i], depth + 1, problem);
    } else if (value_is_object(value, OBJECT_SET)) {
        int64_t position = 0;
        const struct set_entry *entry;
        while (status == STATUS_OK &&
               (entry = set_next(VALUE_AS(set, value), &position)) != NULL)
            status = want(evaluation, entry->key, depth + 1, problem);
    } else {
        int64_t position = 0;
        struct dict_entry *entry;
        while (status == STATUS_OK &&
               (entry = dict_next(VALUE_AS(dict, value), &position)) != NULL) {
            status = show(evaluation, entry->key, problem);
            if (status == STATUS_OK)
                status = want(evaluation, entry->value, depth + 1, problem);
        }
    }
    return status;
}

// A tensor as its format sends it: npy has no bfloat16.
static enum status want_converted(struct evaluation *evaluation, struct problem *problem)
{
    struct lazy *lazy = VALUE_AS(tensor_object, vm_result(evaluation->vm))->lazy;
    enum dtype wire = payload_wire_dtype(evaluation->format, lazy_dtype(lazy));
    struct tensor *ignored;
    if (evaluation->converted == NULL && wire != lazy_dtype(lazy)) {
        struct lazy_argument arguments[OP_MAX_PARAMETERS] = {
            {.kind = ARGUMENT_TENSOR, .tensor = lazy},
            {.kind = ARGUMENT_NONE},
            {.kind = ARGUMENT_DTYPE, .dtype = wire}};
        struct lazy *results[OP_MAX_RESULTS];
        int n_results;
        if (lazy_op(evaluation->cells, OP_to, false, arguments, results, &n_results,
                    problem) != STATUS_OK)
            return problem->status;
        evaluation->converted = results[0];
    }
    if (evaluation->converted == NULL)
        evaluation->converted = lazy_reference(lazy);
    return cells_host(evaluation->cells, evaluation->converted, &ignored, problem);
}

enum status eval_want(struct request *request, struct evaluation *evaluation,
                      struct problem *problem)
{
    if (evaluation->format != FORMAT_JSON)
        return want_converted(evaluation, problem);
    evaluation->shown_values = evaluation->shown_bytes = 0;
    return want(evaluation, vm_result(evaluation->vm), 0, problem);
}

// ---- Other formats

static struct http_response *text_answer(struct evaluation *evaluation,
                                         struct problem *problem)
{
    struct text *text = &evaluation->text;
    const char *printed;
    size_t length;
    vm_printed(evaluation->vm, &printed, &length);
    struct text whole;
    text_begin(&whole, NULL, 0);
    text_add(&whole, printed, length);
    if (text->length > 0) {
        if (length > 0 && printed[length - 1] != '\n')
            text_literal(&whole, "\n");
        text_add(&whole, text->data, text->length);
        text_literal(&whole, "\n");
    }
    struct http_response *response =
        whole.failed || text->failed
            ? NULL
            : http_response_copy(200, whole.data == NULL ? "" : whole.data, whole.length);
    text_end(&whole);
    return answer_header(response, "Content-Type", "text/plain; charset=utf-8");
}

static struct http_response *format_answer(struct request *request,
                                           struct evaluation *evaluation,
                                           struct problem *problem)
{
    struct lazy *lazy = VALUE_AS(tensor_object, vm_result(evaluation->vm))->lazy;
    struct payload payload = {.format = evaluation->format,
                              .shown_dtype = lazy_dtype(lazy),
                              .device = lazy_device(lazy)->id};
    struct tensor *host;
    if (cells_host(evaluation->cells, evaluation->converted, &host, problem) != STATUS_OK)
        return NULL;
    payload_pin(&payload, host);
    return payload_answer(request, 200, &payload, problem);
}

struct http_response *eval_answer(struct request *request, struct evaluation *evaluation,
                                  struct problem *problem)
{
    struct http_response *response;
    if (evaluation->format == FORMAT_JSON)
        response = eval_json(request, evaluation, problem);
    else if (evaluation->format == FORMAT_TEXT)
        response = text_answer(evaluation, problem);
    else
        response = format_answer(request, evaluation, problem);
    return answer_header(response, "Cache-Control", "no-store");
}
