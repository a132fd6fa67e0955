// SPDX-License-Identifier: Apache-2.0
// One run of a program, shared by the files of POST /v1/eval:
//
//   eval.c         the stages of the run
//   eval_body.c    body and query
//   eval_order.c   what the program touches
//   eval_commit.c  what becomes of the names
//   eval_answer.c  the answer; eval_json.c in JSON
#ifndef TENSORD_API_EVAL_H
#define TENSORD_API_EVAL_H

#include "api/lang/image.h"
#include "api/lang/vm.h"
#include "api/payload.h"
#include "api/version.h"

struct input {
    const char *name; // in the body
    struct tensor *tensor;
    struct device *device; // NULL: the host
};

enum { EVAL_ANSWER_DEPTH = 64 }; // levels of containers in an answer

struct eval_source {
    const char *text; // in the request's memory
    size_t length;
};

enum eval_stage {
    EVAL_RUN,    // instructions
    EVAL_VALUES, // everything that is asked for is being computed
    EVAL_TEXT,   // the value is printed (format=text)
};

struct evaluation {
    struct code *code;       // NULL: a large source that a worker compiles
    struct eval_source late; // that one
    const char *const *keep; // NULL: all names
    int n_keep;
    int n_inputs;
    struct input *inputs;
    struct name_conditions conditions;
    enum format format;

    enum eval_stage stage;
    struct heap *heap;
    int64_t heap_reserved; // of the ledger
    struct working_generators *generators;
    struct cells *cells;
    struct thawed *thawed;
    struct vm *vm;
    struct lazy *converted; // the value in the dtype of its format, where that is another
    int64_t shown_values, shown_bytes; // of the answer in JSON
    struct text text;                  // format=text
    bool deferred;                     // a large answer left the HTTP thread
    bool limited;                      // it runs on the HTTP thread, with few steps
    bool trims;                        // torch.cuda.empty_cache()
    bool may_trim;                     // of an administrator; for others it does nothing
    bool has_text;                     // to be ended
    bool one_line_form; // curl -d: a syntax error may come from lost newlines
};

static inline bool eval_keeps(const struct evaluation *evaluation, const char *name)
{
    for (int i = 0; i < evaluation->n_keep; i++)
        if (strcmp(evaluation->keep[i], name) == 0)
            return true;
    return evaluation->keep == NULL;
}

// ---- eval_body.c: fills what the client sent, and compiles. STATUS_MALFORMED, SYNTAX,
// LIMIT ...
enum status eval_parse(struct request *request, struct evaluation *evaluation,
                       struct problem *problem);
// Compiles what eval_parse left (evaluation->late); any thread, one at a time.
enum status eval_compile_late(struct evaluation *evaluation, struct problem *problem);

// ---- eval_order.c
void eval_declare(struct request *request); // work.declare
int eval_first_device(const struct request *request, const struct program_facts *facts);

// ---- eval.c: bytes of the host that the request and its program hold.
int64_t eval_held(const struct request *request, const struct evaluation *evaluation);

// ---- eval_commit.c: binds the names the program leaves and stores the generators, in
// one step. STATUS_FORBIDDEN, CONFLICT, OUT_OF_MEMORY: nothing has happened.
enum status eval_commit(struct request *request, struct evaluation *evaluation,
                        struct problem *problem);

// ---- eval_answer.c
// Asks the cells for the elements that the answer shows (they may have to be computed).
enum status eval_want(struct request *request, struct evaluation *evaluation,
                      struct problem *problem);
// STATUS_NOT_ACCEPTABLE: the value has no form in the format.
enum status eval_check_format(const struct evaluation *evaluation,
                              struct problem *problem);
// A value before the commit, names after it. NULL with problem filled, or (memory is out)
// without.
struct http_response *eval_answer(struct request *request, struct evaluation *evaluation,
                                  struct problem *problem);
// ---- eval_json.c
struct http_response *eval_json(struct request *request, struct evaluation *evaluation,
                                struct problem *problem);
#endif
