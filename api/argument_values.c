// SPDX-License-Identifier: Apache-2.0
// What a JSON value may be in a position of each type (DESIGN "Operations"). Containers
// among the arguments are opaque to the document's parser: lists of integers and names
// are parsed here, data goes to the JSON reader.
#include "api/argument_values.h"

static const char *const type_names[] = {
    [PARAMETER_TENSOR] = "a tensor (a name, a number, a nested list or {\"data\": ...})",
    [PARAMETER_TENSORS] = "a list of tensors",
    [PARAMETER_NUMBER] = "a number",
    [PARAMETER_INT] = "an integer",
    [PARAMETER_INTS] = "an integer or a list of integers",
    [PARAMETER_FLOAT] = "a number",
    [PARAMETER_BOOL] = "true or false",
    [PARAMETER_STR] = "a string",
    [PARAMETER_DTYPE] = "the name of a dtype",
    [PARAMETER_DEVICE] = "the name of a device",
};

static const struct parameter *parameter_of(const struct binder *binder, int index)
{
    return &binder->call->row->parameters[index];
}

static enum status wrong_type(const struct binder *binder, int index,
                              struct problem *problem)
{
    const struct parameter *parameter = parameter_of(binder, index);
    return problem_set(problem, STATUS_TYPE, "The argument %s of %s is %s%s.",
                       parameter->name, binder->call->row->name,
                       type_names[parameter->type],
                       parameter->optional ? ", or null" : "");
}

// ---- Tensors

static struct operand *add_operand(struct binder *binder, enum operand_kind kind,
                                   struct problem *problem)
{
    struct call *call = binder->call;
    if (call->n_operands == CALL_MAX_OPERANDS) {
        problem_set(problem, STATUS_LIMIT, "An operation takes at most %d tensors.",
                    CALL_MAX_OPERANDS);
        return NULL;
    }
    if (call->n_operands == call->capacity) {
        int capacity = call->capacity * 4;
        struct operand *operands =
            request_allocate(binder->request, (size_t)capacity * sizeof *operands);
        if (operands == NULL) {
            problem_set(problem, STATUS_OUT_OF_MEMORY,
                        "No host memory for the arguments.");
            return NULL;
        }
        memcpy(operands, call->operands, (size_t)call->n_operands * sizeof *operands);
        call->operands = operands;
        call->capacity = capacity;
    }
    struct operand *operand = &call->operands[call->n_operands++];
    operand->kind = kind;
    operand->tensor = NULL;
    operand->device = NULL;
    return operand;
}

// The reader counts from the start of its own text: makes that the place in the body.
static void shift_position(const struct request *request, const struct json_value *value,
                           struct problem *problem)
{
    int64_t line, column;
    if (problem->line <= 0)
        return;
    json_position(request->body, value->text, &line, &column);
    if (problem->line == 1)
        problem->column += column - 1;
    problem->line += line - 1;
}

static enum status read_text(struct request *request, const struct json_value *value,
                             struct reader *reader, struct memory *memory,
                             struct tensor **out, struct device **device,
                             struct problem *problem)
{
    struct reader_result result;
    enum status status = reader_feed(reader, value->text, value->length, problem);
    if (status == STATUS_OK)
        status = reader_finish(reader, &result, problem);
    if (status == STATUS_OK && result.has_device)
        status = api_device_find(request->api, result.device, strlen(result.device),
                                 device, problem);
    if (status == STATUS_OK)
        status = memory_tensor(memory, &result, INT64_MAX, out, problem);
    return status;
}

enum status read_inline_tensor(struct request *request, const struct json_value *value,
                               struct tensor **out, struct device **device,
                               struct problem *problem)
{
    struct reader_options options = {.length = (int64_t)value->length,
                                     .max_bytes = (int64_t)value->length};
    struct memory memory = {
        .user = request->user, .api = request->api, .held = &request->held};
    struct reader_memory growth = memory_for_reader(&memory);
    struct reader *reader;
    enum status status = reader_open(FORMAT_JSON, &options, &growth, &reader, problem);
    if (status != STATUS_OK)
        return status;
    status = read_text(request, value, reader, &memory, out, device, problem);
    reader_close(reader);
    memory_free(&memory);
    if (status != STATUS_OK)
        shift_position(request, value, problem);
    return status;
}

static enum status bind_inline(struct binder *binder, const struct json_value *value,
                               struct problem *problem)
{
    struct operand *operand = add_operand(binder, OPERAND_INLINE, problem);
    if (operand == NULL)
        return problem->status;
    return read_inline_tensor(binder->request, value, &operand->tensor, &operand->device,
                              problem);
}

// A name, data, or (where numbers are allowed) a number.
static enum status bind_operand(struct binder *binder, int index,
                                const struct json_value *value, bool numbers,
                                struct problem *problem)
{
    struct operand *operand;
    switch (value->type) {
    case JSON_STRING:
        if ((operand = add_operand(binder, OPERAND_NAME, problem)) == NULL)
            return problem->status;
        operand->name = value->text;
        return STATUS_OK;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return bind_inline(binder, value, problem);
    case JSON_NUMBER:
    case JSON_TRUE:
    case JSON_FALSE:
        if (!numbers)
            break;
        if ((operand = add_operand(binder, OPERAND_NUMBER, problem)) == NULL)
            return problem->status;
        return json_scalar(value, &operand->number, problem);
    case JSON_NULL:
        break;
    }
    return wrong_type(binder, index, problem);
}

static enum status bind_tensor(struct binder *binder, int index,
                               const struct json_value *value, struct problem *problem)
{
    struct call *call = binder->call;
    call->spans[index].first = call->n_operands;
    call->spans[index].count = 1;
    call->arguments[index].kind = ARGUMENT_TENSOR;
    return bind_operand(binder, index, value, true, problem);
}

static enum status bind_list(struct binder *binder, int index, const struct json *list,
                             struct problem *problem)
{
    struct call *call = binder->call;
    struct argument *argument = &call->arguments[index];
    uint32_t count = list->values[0].count;
    argument->kind = ARGUMENT_TENSORS;
    argument->tensors.count = (int)count;
    call->spans[index].first = call->n_operands;
    call->spans[index].count = (int)count;
    argument->tensors.items =
        request_allocate(binder->request, (count + 1) * sizeof(struct node *));
    if (argument->tensors.items == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No host memory for the arguments.");
    const struct json_value *value = json_first(&list->values[0]);
    for (uint32_t i = 0; i < count; i++, value = json_next(list, value)) {
        enum status status = bind_operand(binder, index, value, false, problem);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

// ---- Integers

static enum status read_integer(const struct binder *binder, int index,
                                const struct json_value *value, int64_t *out,
                                struct problem *problem)
{
    struct scalar scalar;
    if (value->type != JSON_NUMBER)
        return wrong_type(binder, index, problem);
    enum status status = json_scalar(value, &scalar, problem);
    if (status != STATUS_OK)
        return status;
    if (scalar.kind != SCALAR_INT)
        return wrong_type(binder, index, problem);
    *out = scalar.i;
    return STATUS_OK;
}

enum status bind_rest(struct binder *binder, int index, const struct json_value *value,
                      uint32_t count, struct problem *problem)
{
    int64_t *items = request_allocate(binder->request, (count + 1) * sizeof *items);
    if (items == NULL)
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "No host memory for the arguments.");
    for (uint32_t i = 0; i < count; i++) {
        enum status status = read_integer(binder, index, value, &items[i], problem);
        if (status != STATUS_OK)
            return status;
        value = value + 1; // integers have nothing inside
    }
    struct argument *argument = &binder->call->arguments[index];
    argument->kind = ARGUMENT_INTS;
    argument->integers.count = (int)count;
    argument->integers.items = items;
    return STATUS_OK;
}

// A list that the document's parser left as it was: int[] and Tensor[].
static enum status bind_container(struct binder *binder, int index,
                                  const struct json_value *value, struct problem *problem)
{
    struct json list;
    if (value->type != JSON_ARRAY)
        return wrong_type(binder, index, problem);
    // The text is part of the request's body, which may be written.
    enum status status =
        json_parse(&list, (char *)value->text, value->length, 1, problem);
    if (status != STATUS_OK)
        shift_position(binder->request, value, problem);
    else if (parameter_of(binder, index)->type == PARAMETER_TENSORS)
        status = bind_list(binder, index, &list, problem);
    else
        status = bind_rest(binder, index, &list.values[1], list.values[0].count, problem);
    json_free(&list);
    return status;
}

// ---- The others

static enum status bind_number(struct binder *binder, int index,
                               const struct json_value *value, struct problem *problem)
{
    struct argument *argument = &binder->call->arguments[index];
    struct scalar scalar;
    if (value->type != JSON_NUMBER && value->type != JSON_TRUE &&
        value->type != JSON_FALSE)
        return wrong_type(binder, index, problem);
    enum status status = json_scalar(value, &scalar, problem);
    if (status != STATUS_OK)
        return status;
    if (parameter_of(binder, index)->type == PARAMETER_FLOAT) {
        argument->kind = ARGUMENT_FLOAT;
        argument->real = scalar.kind == SCALAR_FLOAT ? scalar.f : (double)scalar.i;
    } else {
        argument->kind = ARGUMENT_NUMBER;
        argument->number = scalar;
    }
    return STATUS_OK;
}

static enum status bind_int(struct binder *binder, int index,
                            const struct json_value *value, struct problem *problem)
{
    struct argument *argument = &binder->call->arguments[index];
    argument->kind = ARGUMENT_INT;
    return read_integer(binder, index, value, &argument->integer, problem);
}

static enum status bind_bool(struct binder *binder, int index,
                             const struct json_value *value, struct problem *problem)
{
    struct argument *argument = &binder->call->arguments[index];
    if (value->type != JSON_TRUE && value->type != JSON_FALSE)
        return wrong_type(binder, index, problem);
    argument->kind = ARGUMENT_BOOL;
    argument->boolean = value->type == JSON_TRUE;
    return STATUS_OK;
}

static enum status bind_word(struct binder *binder, int index,
                             const struct json_value *value, struct problem *problem)
{
    struct argument *argument = &binder->call->arguments[index];
    if (value->type != JSON_STRING)
        return wrong_type(binder, index, problem);
    switch (parameter_of(binder, index)->type) {
    case PARAMETER_DTYPE:
        argument->kind = ARGUMENT_DTYPE;
        if (dtype_parse(value->text, value->length, &argument->dtype))
            return STATUS_OK;
        return problem_set(problem, STATUS_DTYPE, "There is no dtype \"%.40s\".",
                           value->text);
    case PARAMETER_DEVICE:
        argument->kind = ARGUMENT_DEVICE;
        return api_device_find(binder->request->api, value->text, value->length,
                               &argument->device, problem);
    default:
        argument->kind = ARGUMENT_STR;
        argument->string.text = value->text;
        argument->string.length = value->length;
        return STATUS_OK;
    }
}

enum status bind_value(struct binder *binder, int index, const struct json_value *value,
                       struct problem *problem)
{
    const struct parameter *parameter = parameter_of(binder, index);
    if (value->type == JSON_NULL)
        return parameter->optional ? STATUS_OK : wrong_type(binder, index, problem);
    switch (parameter->type) {
    case PARAMETER_TENSOR:
        return bind_tensor(binder, index, value, problem);
    case PARAMETER_TENSORS:
        return bind_container(binder, index, value, problem);
    case PARAMETER_INTS:
        if (value->type == JSON_NUMBER)
            return bind_rest(binder, index, value, 1, problem);
        return bind_container(binder, index, value, problem);
    case PARAMETER_NUMBER:
    case PARAMETER_FLOAT:
        return bind_number(binder, index, value, problem);
    case PARAMETER_INT:
        return bind_int(binder, index, value, problem);
    case PARAMETER_BOOL:
        return bind_bool(binder, index, value, problem);
    case PARAMETER_STR:
    case PARAMETER_DTYPE:
    case PARAMETER_DEVICE:
        break;
    }
    return bind_word(binder, index, value, problem);
}
