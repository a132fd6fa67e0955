// SPDX-License-Identifier: Apache-2.0
// The body and the query of POST /v1/eval: the program's text, its inputs, its
// conditions, the names to keep; and the compilation. HTTP thread.
#include <stdio.h>

#include "api/argument_values.h"
#include "api/body.h"
#include "api/document.h"
#include "api/eval.h"
#include "api/negotiate.h"
#include "api/work.h"

enum {
    BILLED_SOURCE = 8 << 10, // compiling so many bytes is worth billing
    LATE_SOURCE = 32 << 10,  // and more than these leave the HTTP thread
};

static enum status parse_input(struct request *request, struct evaluation *evaluation,
                               const struct json_value *name,
                               const struct json_value *value, struct problem *problem)
{
    struct input *input = &evaluation->inputs[evaluation->n_inputs];
    enum status status = name_check(name->text, name->length, problem);
    if (status != STATUS_OK)
        return status;
    *input = (struct input){.name = name->text};
    if (value->type == JSON_STRING || value->type == JSON_NULL)
        return problem_set(problem, STATUS_MALFORMED,
                           "The input %.60s is a number, a nested list or an object with "
                           "data.",
                           name->text);
    status = read_inline_tensor(request, value, &input->tensor, &input->device, problem);
    evaluation->n_inputs += status == STATUS_OK;
    return status;
}

static enum status parse_inputs(struct request *request, struct evaluation *evaluation,
                                const struct json *json, const struct json_value *value,
                                struct problem *problem)
{
    if (value == NULL)
        return STATUS_OK;
    if (value->type != JSON_OBJECT)
        return problem_set(problem, STATUS_MALFORMED,
                           "inputs is an object: {\"x\": [1, 2, 3]}.");
    evaluation->inputs =
        request_allocate(request, value->count * sizeof *evaluation->inputs);
    if (evaluation->inputs == NULL) {
        *problem = request->problem;
        return problem->status;
    }
    const struct json_value *name = json_first(value);
    for (uint32_t i = 0; i < value->count; i++) {
        const struct json_value *data = json_next(json, name);
        enum status status = parse_input(request, evaluation, name, data, problem);
        if (status != STATUS_OK)
            return status;
        name = json_next(json, data);
    }
    return STATUS_OK;
}

// Does the body, an object, have the member "program"? Only looks.
static bool names_program(const struct request *request)
{
    static const char member[] = "\"program\"";
    const char *body = request->body;
    int64_t blank = 0;
    while (blank < request->body_length && strchr(" \t\r\n", body[blank]) != NULL &&
           body[blank] != '\0')
        blank++;
    return blank < request->body_length && body[blank] == '{' &&
           memmem(body, (size_t)request->body_length, member, sizeof member - 1) != NULL;
}

static enum status parse_document(struct request *request, struct evaluation *evaluation,
                                  const struct json *json, struct eval_source *source,
                                  struct problem *problem)
{
    static const char *const names[] = {"program", "inputs", "if"};
    const struct json_value *values[3];
    enum status status =
        document_members(json, &json->values[0], 3, names, values, problem);
    if (status != STATUS_OK)
        return status;
    if (values[0] == NULL)
        return problem_set(problem, STATUS_MALFORMED,
                           "The member program is missing: {\"program\": \"x + 1\"}.");
    status = document_string(values[0], "program", problem);
    if (status == STATUS_OK)
        *source = (struct eval_source){values[0]->text, values[0]->length};
    if (status == STATUS_OK)
        status = parse_inputs(request, evaluation, json, values[1], problem);
    if (status == STATUS_OK)
        status = name_conditions_parse(request, json, values[2], &evaluation->conditions,
                                       problem);
    return status;
}

// JSON if Content-Type says so, or if an object names a program; else the body is the
// text. Parsing changes the body, so a text that only looks like JSON is parsed in a
// copy.
static enum status parse_body(struct request *request, struct evaluation *evaluation,
                              struct eval_source *source, struct problem *problem)
{
    bool is_json = body_is_json(request);
    *source = (struct eval_source){request->body, (size_t)request->body_length};
    if (!is_json && !names_program(request))
        return STATUS_OK;
    char *copy = NULL;
    size_t size = (size_t)request->body_length;
    if (!is_json) {
        copy = request_allocate(request, size + 1);
        if (copy == NULL) {
            *problem = request->problem;
            return problem->status;
        }
        memcpy(copy, request->body, size);
    }
    struct json json;
    enum status status = document_parse(request, &json, 2, problem);
    if (status == STATUS_OK)
        status = parse_document(request, evaluation, &json, source, problem);
    else if (copy != NULL) {
        *source = (struct eval_source){copy, size};
        problem_clear(problem);
        status = STATUS_OK;
    }
    json_free(&json);
    return status;
}

static enum status parse_keep(struct request *request, struct evaluation *evaluation,
                              struct problem *problem)
{
    const char *text = request->query.values[QUERY_KEEP];
    if (text == NULL)
        return STATUS_OK;
    size_t length = strlen(text), n = 1;
    for (const char *c = text; *c != '\0'; c++)
        n += *c == ',';
    char *copy = request_allocate(request, length + 1);
    const char **names = request_allocate(request, n * sizeof *names);
    if (copy == NULL || names == NULL) {
        *problem = request->problem;
        return problem->status;
    }
    memcpy(copy, text, length + 1);
    evaluation->keep = names;
    for (char *at = copy; length > 0; at++) {
        size_t size = strcspn(at, ",");
        bool last = at[size] == '\0';
        enum status status = name_check(at, size, problem);
        if (status != STATUS_OK)
            return status;
        at[size] = '\0';
        names[evaluation->n_keep++] = at;
        if (last)
            break;
        at += size;
    }
    return STATUS_OK;
}

// curl's -d takes the newlines out of a file: a program that then does not parse gets a
// hint.
static void add_form_hint(struct problem *problem)
{
    size_t length = strlen(problem->detail);
    snprintf(
        problem->detail + length, sizeof problem->detail - length,
        " (The program came as one line of form data: curl's -d @file drops newlines, "
        "--data-binary @file does not.)");
}

static enum status check_code(const struct evaluation *evaluation,
                              const struct eval_source *source, enum status status,
                              struct problem *problem)
{
    if (status == STATUS_SYNTAX && evaluation->one_line_form &&
        memchr(source->text, '\n', source->length) == NULL)
        add_form_hint(problem);
    if (status == STATUS_OK && program_facts(evaluation->code)->n_statements == 0)
        status = problem_set(problem, STATUS_SYNTAX,
                             "The program has no statements: curl "
                             "localhost:8080/v1/eval -d 'y = x + 1'.");
    return status;
}

enum status eval_compile_late(struct evaluation *evaluation, struct problem *problem)
{
    const struct eval_source *source = &evaluation->late;
    enum status status =
        program_compile(source->text, source->length, false, &evaluation->code, problem);
    return check_code(evaluation, source, status, problem);
}

// A large source takes too long for the thread that serves everybody: a worker's work.
static enum status compile(struct request *request, struct evaluation *evaluation,
                           const struct eval_source *source, struct problem *problem)
{
    if ((int64_t)source->length > request->api->options.max_source)
        return problem_set(problem, STATUS_LIMIT,
                           "The program has %zu bytes and may have %lld (--max-source).",
                           source->length, (long long)request->api->options.max_source);
    evaluation->one_line_form = body_is_form(request);
    if (source->length > LATE_SOURCE) {
        evaluation->late = *source;
        return STATUS_OK;
    }
    bool large = source->length >= BILLED_SOURCE;
    int64_t start = large ? work_clock() : 0;
    enum status status = programs_compile(&request->api->programs, source->text,
                                          source->length, &evaluation->code, problem);
    if (large)
        work_bill(request, work_clock() - start);
    return check_code(evaluation, source, status, problem);
}

enum status eval_parse(struct request *request, struct evaluation *evaluation,
                       struct problem *problem)
{
    struct eval_source source;
    enum status status = parse_body(request, evaluation, &source, problem);
    if (status == STATUS_OK)
        status = parse_keep(request, evaluation, problem);
    if (status == STATUS_OK)
        status = negotiate_format(request->query.values[QUERY_FORMAT],
                                  request_header(request, "Accept"), negotiate_writable(),
                                  &evaluation->format, problem);
    if (status == STATUS_OK)
        status = compile(request, evaluation, &source, problem);
    return status;
}
