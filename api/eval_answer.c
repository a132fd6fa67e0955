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

static enum status want(struct evaluation *evaluation, struct value value, int depth,
                        struct problem *problem)
{
    struct tensor *ignored;
    if (is_tensor(value))
        return cells_host(evaluation->cells, VALUE_AS(tensor_object, value)->lazy,
                          &ignored, problem);
    if (!is_container(value))
        return STATUS_OK;
    if (depth == EVAL_ANSWER_DEPTH)
        return too_deep(problem);
    enum status status = STATUS_OK;
    if (value_is_object(value, OBJECT_LIST)) {
        const struct list *list = VALUE_AS(list, value);
        for (int64_t i = 0; i < list->count && status == STATUS_OK; i++)
            status = want(evaluation, list->items[i], depth + 1, problem);
    } else if (value_is_object(value, OBJECT_TUPLE)) {
        const struct tuple *tuple = VALUE_AS(tuple, value);
        for (int64_t i = 0; i < tuple->count && status == STATUS_OK; i++)
            status = want(evaluation, tuple->items[i], depth + 1, problem);
    } else if (value_is_object(value, OBJECT_DICT)) {
        int64_t position = 0;
        struct dict_entry *entry;
        while (status == STATUS_OK &&
               (entry = dict_next(VALUE_AS(dict, value), &position)) != NULL)
            status = want(evaluation, entry->value, depth + 1, problem);
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
