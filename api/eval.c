// SPDX-License-Identifier: Apache-2.0
// POST /v1/eval: a program. It is compiled when its body is there; when its turn has come
// the machine runs it, slice by slice, on the HTTP thread or on workers. Whenever
// elements are needed, an executor computes what is alive, on the devices concerned.
//
// A run holds its values, so it does not wait for memory that others hold (work.h); what
// it leaves behind is committed at the end, whole or not at all.
#include "api/eval.h"

#include "api/handlers.h"
#include "api/lang/operate.h"
#include "api/work.h"
#include "kernels/base/size.h"

enum {
    INLINE_LIMIT =
        4000, // steps of a program on the HTTP thread, those of its natives included
    INLINE_IMAGE = 64 << 10, // bytes of a stored value thawed there
    FREE_HEAP = 256 << 10,   // of a program, uncounted: most need no more
    HEAP_STEP = 1 << 20,
    MAX_PRINT = 16 << 20, // bytes of printed lines
};

// ---- The program's surroundings

int64_t eval_held(const struct request *request, const struct evaluation *evaluation)
{
    return request->held + evaluation->heap_reserved +
           (evaluation->cells != NULL ? cells_held(evaluation->cells, 0) : 0);
}

static enum status grow_heap(void *context, int64_t bytes, struct problem *problem)
{
    struct request *request = context;
    struct evaluation *evaluation = request->state;
    int64_t needed;
    if (!size_add(heap_granted(evaluation->heap), bytes, &needed))
        return problem_set(problem, STATUS_OUT_OF_MEMORY,
                           "The program's values are too large.");
    needed -= FREE_HEAP + evaluation->heap_reserved;
    if (needed <= 0)
        return STATUS_OK;
    int64_t more = (needed + HEAP_STEP - 1) / HEAP_STEP * HEAP_STEP;
    switch (ledger_reserve_more(request->user->account, 0, more,
                                eval_held(request, evaluation), problem)) {
    case ADMISSION_READY:
        evaluation->heap_reserved += more;
        return STATUS_OK;
    case ADMISSION_NEVER:
        return problem->status;
    case ADMISSION_WAIT:
        break;
    }
    problem_set(
        problem, STATUS_QUEUE_FULL,
        "Running requests hold the memory that the program's values need; send it "
        "again in a moment.");
    problem->retry_after = 1;
    return STATUS_QUEUE_FULL;
}

static enum status import_tensor(struct evaluation *evaluation, struct tensor *tensor,
                                 bool readonly, unsigned flags, struct value *out,
                                 struct problem *problem)
{
    struct tensor_object *object =
        heap_object(evaluation->heap, OBJECT_TENSOR, sizeof *object, problem);
    if (object == NULL)
        return problem->status;
    enum status status =
        cells_import(evaluation->cells, tensor, readonly, &object->lazy, problem);
    object->requires_grad = flags & NAME_REQUIRES_GRAD;
    object->is_array = flags & NAME_IS_ARRAY;
    object->is_parameter = flags & NAME_IS_PARAMETER;
    *out = value_of(object);
    if (status != STATUS_OK)
        value_release(*out);
    return status;
}

static enum status import_input(struct evaluation *evaluation, const struct input *input,
                                struct value *out, struct problem *problem)
{
    enum status status = import_tensor(evaluation, input->tensor, false, 0, out, problem);
    if (status != STATUS_OK || input->device == NULL || input->device->is_host)
        return status;
    struct tensor_object *object = VALUE_AS(tensor_object, *out);
    struct lazy_argument arguments[OP_MAX_PARAMETERS] = {
        {.kind = ARGUMENT_TENSOR, .tensor = object->lazy},
        {.kind = ARGUMENT_DEVICE, .device = input->device}};
    struct lazy *results[OP_MAX_RESULTS];
    int n_results;
    status =
        lazy_op(evaluation->cells, OP_to, false, arguments, results, &n_results, problem);
    if (status != STATUS_OK) {
        value_release(*out);
        return status;
    }
    lazy_release(object->lazy);
    object->lazy = results[0];
    return STATUS_OK;
}

// What a name that is not the program's own means.
static enum status look_up(void *context, struct vm *vm, const char *name, size_t length,
                           struct value *out, struct problem *problem)
{
    struct request *request = context;
    struct evaluation *evaluation = request->state;
    struct name_space *space = request->user->space;
    struct binding binding;
    enum status status;
    *out = (struct value){.tag = VALUE_ABSENT};
    for (int i = 0; i < evaluation->n_inputs; i++)
        if (strcmp(evaluation->inputs[i].name, name) == 0)
            return import_input(evaluation, &evaluation->inputs[i], out, problem);
    if (length > NAME_MAX_LENGTH || !registry_lookup_any(space, name, &binding))
        return STATUS_OK;
    if (binding.object != NULL && evaluation->limited &&
        image_size(binding.object) > INLINE_IMAGE)
        status = problem_set(problem, STATUS_LIMIT, "A worker thaws the value.");
    else if (binding.object != NULL)
        status = thaw(evaluation->thawed, name, binding.object, out, problem);
    else
        status = import_tensor(evaluation, binding.tensor,
                               binding.readonly ||
                                   registry_readonly(space, binding.tensor->storage),
                               binding.flags, out, problem);
    binding_release(&binding);
    return status;
}

static const char *nearest_of_user(void *context, const char *name)
{
    struct request *request = context;
    struct binding binding;
    struct problem problem;
    if (registry_find(request->user->space, name, &binding, &problem) == STATUS_OK) {
        binding_release(&binding);
        return NULL;
    }
    size_t size = strlen(problem.nearest) + 1;
    char *copy = size > 1 ? request_allocate(request, size) : NULL;
    return copy != NULL ? memcpy(copy, problem.nearest, size) : NULL;
}

static void note_trim(void *context)
{
    struct request *request = context;
    struct evaluation *evaluation = request->state;
    evaluation->trims = evaluation->may_trim;
}

static enum status open_machine(struct request *request, struct evaluation *evaluation,
                                struct problem *problem)
{
    struct api *api = request->api;
    struct heap_options heap = {.grow = grow_heap, .context = request};
    enum status status = heap_create(&heap, &evaluation->heap, problem);
    if (status == STATUS_OK)
        status =
            working_create(request->user->generators, &evaluation->generators, problem);
    struct graph_context context = {.devices = api->options.devices,
                                    .n_devices = api->options.n_devices,
                                    .account = request->user->account,
                                    .generators = evaluation->generators};
    if (status == STATUS_OK)
        status = cells_create(&context, &evaluation->cells, problem);
    if (status == STATUS_OK)
        status = thawed_create(evaluation->heap, evaluation->cells, request->user->space,
                               &evaluation->thawed, problem);
    struct vm_options options = {
        .heap = evaluation->heap,
        .cells = evaluation->cells,
        .max_steps = evaluation->limited ? INLINE_LIMIT : api->options.max_steps,
        .max_print = MAX_PRINT,
        .lookup = look_up,
        .empty_cache = note_trim,
        .nearest = nearest_of_user,
        .context = request};
    if (status == STATUS_OK)
        status = vm_create(&options, evaluation->code, &evaluation->vm, problem);
    return status;
}

// ---- The run

static enum status eval_prepare(struct request *request, struct problem *problem)
{
    struct evaluation *evaluation = request->state;
    enum status status = name_conditions_check(request, &evaluation->conditions, problem);
    evaluation->limited =
        request->inlined && request->api->options.max_steps > INLINE_LIMIT;
    if (status == STATUS_OK && evaluation->code != NULL)
        status = open_machine(request, evaluation, problem);
    return status;
}

// What eval_prepare leaves of a large source. MORE: a worker's work.
static enum advance compile(struct request *request, struct evaluation *evaluation,
                            struct problem *problem)
{
    if (request->inlined)
        return ADVANCE_MORE;
    evaluation->limited = false;
    enum status status = eval_compile_late(evaluation, problem);
    if (status == STATUS_OK)
        status = open_machine(request, evaluation, problem);
    return status == STATUS_OK ? ADVANCE_DONE : ADVANCE_FAILED;
}

static void close_machine(struct request *request, struct evaluation *evaluation)
{
    if (evaluation->has_text)
        text_end(&evaluation->text);
    evaluation->has_text = false;
    lazy_release(evaluation->converted);
    evaluation->converted = NULL;
    vm_free(evaluation->vm);
    evaluation->vm = NULL;
    thawed_clear(evaluation->thawed);
    if (evaluation->heap != NULL)
        heap_free(evaluation->heap);
    evaluation->heap = NULL;
    thawed_free(evaluation->thawed);
    evaluation->thawed = NULL;
    if (evaluation->cells != NULL)
        cells_free(evaluation->cells);
    evaluation->cells = NULL;
    working_free(evaluation->generators);
    evaluation->generators = NULL;
    if (evaluation->heap_reserved > 0)
        ledger_unreserve(request->user->account, 0, evaluation->heap_reserved);
    evaluation->heap_reserved = 0;
}

// A native or an answer turned out to be more than the HTTP thread may do at one go.
// Nothing outside the program has changed, so that a worker begins it again.
static enum advance begin_again(struct request *request, struct evaluation *evaluation,
                                struct problem *problem)
{
    close_machine(request, evaluation);
    problem_clear(problem);
    evaluation->stage = EVAL_RUN;
    evaluation->trims = false;
    request->prepared = false;
    return ADVANCE_MORE;
}

static bool is_too_much(const struct evaluation *evaluation,
                        const struct problem *problem)
{
    return evaluation->limited && problem->status == STATUS_LIMIT;
}

// An executor for what must be computed now. DONE: there is nothing.
static enum advance flush(struct request *request, struct evaluation *evaluation,
                          struct problem *problem)
{
    if (cells_flush_begin(evaluation->cells, &request->executor, problem) != STATUS_OK)
        return ADVANCE_FAILED;
    if (request->executor == NULL)
        return ADVANCE_DONE;
    bool holds = false;
    for (int i = 0; i < request->api->options.n_devices; i++) {
        int64_t held =
            i == 0 ? eval_held(request, evaluation) : cells_held(evaluation->cells, i);
        executor_set_held(request->executor, i, held);
        holds = holds || held > 0;
    }
    request->holds_memory = holds;
    return ADVANCE_EXECUTE;
}

static enum advance run(struct request *request, struct evaluation *evaluation,
                        int64_t steps, struct problem *problem)
{
    for (;;) {
        switch (vm_run(evaluation->vm, steps)) {
        case VM_MORE:
            return ADVANCE_MORE;
        case VM_FAILED:
            *problem = *vm_problem(evaluation->vm);
            return ADVANCE_FAILED;
        case VM_DONE:
            evaluation->stage = EVAL_VALUES;
            return ADVANCE_DONE;
        case VM_WAIT:
            break;
        }
        enum advance advance = flush(request, evaluation, problem);
        if (advance != ADVANCE_DONE)
            return advance;
    }
}

// Everything alive, and what the answer shows, until nothing is left to compute.
static enum advance finish_values(struct request *request, struct evaluation *evaluation,
                                  int64_t steps, struct problem *problem)
{
    if (eval_check_format(evaluation, problem) != STATUS_OK)
        return ADVANCE_FAILED;
    if (evaluation->format == FORMAT_TEXT) {
        evaluation->stage = EVAL_TEXT;
        return ADVANCE_DONE;
    }
    if (eval_want(request, evaluation, problem) != STATUS_OK)
        return ADVANCE_FAILED;
    if (cells_dirty(evaluation->cells))
        return flush(request, evaluation, problem);
    // A large answer is written by a worker, not by the thread that serves everybody.
    int64_t cost = evaluation->shown_values + evaluation->shown_bytes / 16;
    if (cost <= steps || evaluation->deferred)
        return ADVANCE_DONE;
    evaluation->deferred = true;
    return ADVANCE_MORE;
}

// What torch's REPL would show; asks again when it needs elements.
static enum advance print_value(struct request *request, struct evaluation *evaluation,
                                struct problem *problem)
{
    struct value value = vm_result(evaluation->vm);
    if (evaluation->has_text)
        text_end(&evaluation->text);
    text_begin(&evaluation->text, NULL, 0);
    evaluation->has_text = true;
    enum outcome outcome = OUTCOME_OK;
    if (value.tag != VALUE_ABSENT && value.tag != VALUE_NONE)
        outcome = value_repr(evaluation->vm, value, &evaluation->text);
    if (outcome == OUTCOME_ERROR) {
        *problem = *vm_problem(evaluation->vm);
        return ADVANCE_FAILED;
    }
    return outcome == OUTCOME_WAIT || cells_dirty(evaluation->cells)
               ? flush(request, evaluation, problem)
               : ADVANCE_DONE;
}

static enum advance eval_advance(struct request *request, int64_t steps,
                                 struct problem *problem)
{
    struct evaluation *evaluation = request->state;
    if (request->executor != NULL) {
        executor_free(request->executor);
        request->executor = NULL;
        request->executed = false;
        if (cells_flush_end(evaluation->cells, problem) != STATUS_OK)
            return ADVANCE_FAILED;
    }
    if (evaluation->code == NULL) {
        enum advance compiled = compile(request, evaluation, problem);
        if (compiled != ADVANCE_DONE)
            return compiled;
    }
    if (evaluation->limited && !request->inlined) { // a worker goes on with it
        evaluation->limited = false;
        vm_set_max_steps(evaluation->vm, request->api->options.max_steps);
    }
    enum advance advance = ADVANCE_DONE;
    if (evaluation->stage == EVAL_RUN)
        advance = run(request, evaluation, steps, problem);
    if (advance == ADVANCE_DONE && evaluation->stage == EVAL_VALUES)
        advance = finish_values(request, evaluation, steps, problem);
    if (advance == ADVANCE_DONE && evaluation->stage == EVAL_TEXT)
        advance = print_value(request, evaluation, problem);
    if (advance == ADVANCE_FAILED && is_too_much(evaluation, problem))
        return begin_again(request, evaluation, problem);
    return advance;
}

static struct http_response *eval_complete(struct request *request,
                                           struct problem *problem)
{
    struct evaluation *evaluation = request->state;
    struct http_response *response = NULL;
    bool has_value = vm_result(evaluation->vm).tag != VALUE_ABSENT ||
                     evaluation->format != FORMAT_JSON;
    if (has_value) { // what may fail comes before the commit
        response = eval_answer(request, evaluation, problem);
        if (response == NULL && problem->status == STATUS_OK)
            problem_set(problem, STATUS_OUT_OF_MEMORY, "No host memory for the answer.");
        if (response == NULL)
            return NULL;
    }
    if (eval_commit(request, evaluation, problem) != STATUS_OK) {
        if (response != NULL)
            http_response_free(response);
        return NULL;
    }
    if (evaluation->trims)
        api_trim_devices(request->api, request->task.lane);
    if (has_value)
        return response;
    response = eval_answer(request, evaluation, problem);
    if (response == NULL)
        problem_clear(problem); // it is done: see describe_answer
    return response;
}

static void eval_explain(const struct request *request, struct problem *problem)
{
    const struct evaluation *evaluation = request->state;
    if (evaluation->vm != NULL && problem->status != STATUS_CANCELLED)
        vm_locate(evaluation->vm, executor_mark(request->executor), problem);
}

static void free_parsed(struct evaluation *evaluation)
{
    for (int i = 0; i < evaluation->n_inputs; i++)
        tensor_release(evaluation->inputs[i].tensor);
    evaluation->n_inputs = 0;
    code_release(evaluation->code);
    evaluation->code = NULL;
}

static void eval_release(struct request *request)
{
    struct evaluation *evaluation = request->state;
    close_machine(request, evaluation);
    free_parsed(evaluation);
}

static const struct work eval_work = {.prepare = eval_prepare,
                                      .advance = eval_advance,
                                      .complete = eval_complete,
                                      .explain = eval_explain,
                                      .release = eval_release,
                                      .declare = eval_declare};

void handle_eval(struct request *request)
{
    struct evaluation *evaluation = request_allocate(request, sizeof *evaluation);
    if (evaluation == NULL) {
        request_fail(request);
        return;
    }
    memset(evaluation, 0, sizeof *evaluation);
    evaluation->may_trim = request->user->settings.admin;
    request->state = evaluation;
    if (eval_parse(request, evaluation, &request->problem) != STATUS_OK) {
        free_parsed(evaluation);
        request_fail(request);
        return;
    }
    int device = evaluation->code == NULL
                     ? 0
                     : eval_first_device(request, program_facts(evaluation->code));
    work_start(request, &eval_work, device);
}
