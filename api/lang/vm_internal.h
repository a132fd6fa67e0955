// SPDX-License-Identifier: Apache-2.0
// What the files of the virtual machine share.
//
//   vm.c         a machine's life, what natives ask of it
//   vm_run.c     the loop; the instructions that are inlined into it (vm_hot.h)
//   vm_values.c  instructions on values: operators, containers, items, attributes
//   vm_flow.c    instructions on variables and flow
//   vm_text.c    f-strings; how an error is told
//   globals.c    the names of the program
//   frame.c      frames and producers
//   call.c       calls; bind.c: arguments to slots; signature.c: natives' signatures
//   prelude.c    builtins written in the language
//
// A frame is one activation of a code: its slots, then its own stack. Frames are counted
// memory of the heap, pooled by the machine. A producer (generator) owns its frame while
// it is suspended and while it runs.
//
// Instructions. Each is a function run_<opcode>(vm, frame, argument); frame->pc points
// behind it already. OUTCOME_WAIT and OUTCOME_AGAIN run it once more, so it looks
// at its operands first, acts, and pops last. Only one instruction of the whole machine
// is under way at any time.
#ifndef TENSORD_API_LANG_VM_INTERNAL_H
#define TENSORD_API_LANG_VM_INTERNAL_H

#include "api/lang/code.h"
#include "api/lang/container.h"
#include "api/lang/operate.h"
#include "api/lang/prelude.h"
#include "api/lang/vm.h"
#include "tensor/cells.h"

// What instructions return beside enum outcome.
enum {
    OUTCOME_FRAME = OUTCOME_WAIT + 1, // done; vm->frame is another one
    OUTCOME_AGAIN,                    // a producer is drained first: then once more
    OUTCOME_PAUSE,                    // done; the cells should be flushed
    OUTCOME_END,                      // of the program
};

// A global name as this program sees it.
struct global {
    const struct string *name;
    struct value value;   // what a load gives; ABSENT: not looked up, or nothing there
    struct global *chain; // of the bucket
    bool looked_up;       // the user's names have been asked
    bool changed;         // assigned or deleted by the program
    bool builtin;         // value is a builtin: not the program's and not the user's
};
// The global names of one unit, by number, as far as they were met.
struct link {
    struct link *next;
    struct unit *unit; // a reference
    struct global *globals[];
};

enum delivery {
    DELIVER_VALUE, // return pushes on the caller's stack
    DELIVER_ITEM,  // to the FOR the caller stands behind
    DELIVER_LIST,  // every item goes to `items`, which then replaces *home
};
struct frame {
    struct frame *caller; // in the pool: the next one
    const struct code *code;
    const uint32_t *pc;
    struct value *top; // the next free place
    const struct value *constants;
    struct global **globals;
    struct producer *producer; // whose frame this is (borrowed), or NULL
    struct list *items;        // DELIVER_LIST: a reference
    struct value *home;        // where the drained producer lies: in the caller's stack
    enum delivery delivery;
    struct value slots[]; // n_slots, then the stack
};
struct producer {
    struct object object;
    struct frame *frame; // NULL: it has come to its end
    bool running;
};

enum { VM_STRIDE = 128 }; // instructions between two looks at limits and cells
enum { FRAME_UNIT = 128, FRAME_POOLS = 16, PRINT_BUFFER = 256 };
struct vm {
    struct heap *heap;
    struct cells *cells;
    struct frame *frame; // that runs; NULL at the end
    struct frame *pools[FRAME_POOLS];
    int depth;
    bool grad_enabled;
    enum vm_state state;
    int64_t steps; // done, what vm_spend counted included
    int64_t spent; // by vm_spend since the loop looked
    struct vm_options options;
    struct arena arena;
    struct code *program;
    struct value result;
    struct text printed;
    struct link *links;
    struct global **buckets;
    int64_t n_buckets, n_globals;
    struct global **changed; // in the order of their first change
    int64_t n_changed, changed_capacity;
    // Arguments of the call under way, where they are not on the stack in order.
    struct value *scratch;
    struct string **scratch_names;
    int64_t scratch_capacity;
    struct problem problem;
    char print_buffer[PRINT_BUFFER];
};

// A call: `arguments` holds those by position, then those by name.
struct call {
    struct value function;
    int n, n_named;
    const struct value *arguments;
    struct string *const *names;
    struct frame *frame; // of the caller
    struct value *pop;   // where its stack ends once the call is done
    struct dict *named;  // CALL_SPREAD: where arguments by name come from, else NULL
    struct list *listed; // and those by position
};

// ---- vm_run.c. Runs until so many steps are done, or an outcome but OK.
int vm_loop(struct vm *vm, int fuel);

// ---- vm_text.c. The instruction of the program that runs, a mark for vm_locate; context: a
// machine.
const void *vm_place(void *context);

// ---- Instructions. Those of vm_hot.h are static there, with these out of line:
int raise_unbound(struct vm *vm, struct frame *frame, uint32_t slot);
int compare_values(struct vm *vm, struct frame *frame, uint32_t op);
int for_next(struct vm *vm, struct frame *frame, uint32_t end);
#define OPCODE(name, effect, doc)                                                        \
    int run_##name(struct vm *vm, struct frame *frame, uint32_t n);
#define HOT_OPCODE(name, effect, doc)
#include "api/lang/opcodes.def"
#undef OPCODE

// ---- frame.c. A frame for code, not running yet: slots empty, stack empty. NULL:
// problem.
struct frame *frame_new(struct vm *vm, const struct code *code);
// Releases what it holds and gives it back.
void frame_free(struct vm *vm, struct frame *frame);
// Makes it the running one.
int frame_enter(struct vm *vm, struct frame *frame, enum delivery delivery);
// Ends the running frame, whose result is a reference handed over.
int frame_return(struct vm *vm, struct frame *frame, struct value result);
// Suspends the running producer, whose item is a reference handed over.
int frame_yield(struct vm *vm, struct frame *frame, struct value item);
struct producer *producer_new(struct vm *vm, struct frame *frame);
// For the heap: releases what a producer holds.
void producer_clear(struct heap *heap, struct producer *producer);
// Runs a producer until its next item for the FOR behind which frame stands.
int producer_resume(struct vm *vm, struct frame *frame, struct producer *producer);
// Runs the producer in *home to its end and puts a list of its items there:
// OUTCOME_AGAIN.
int producer_drain(struct vm *vm, struct frame *frame, struct value *home);
void frames_free(struct vm *vm); // all of them, and the pools

// ---- globals.c
struct global *global_named(struct vm *vm, const struct string *name); // NULL: problem
struct global **globals_of(struct vm *vm, struct unit *unit);          // NULL: problem
int push_global(struct vm *vm, struct frame *frame, uint32_t n);  // what run_global does
int global_store(struct vm *vm, struct frame *frame, uint32_t n); // pops
int global_delete(struct vm *vm, struct frame *frame, uint32_t n);
// STATUS_UNDEFINED with the nearest of the names that are visible.
int raise_undefined(struct vm *vm, const char *name, size_t length);

// ---- call.c
// Calls. OK: *call->pop has the result and the stack ends behind it.
int call_run(struct vm *vm, struct call *call);

// ---- bind.c
// Arguments to the slots of a new frame of the function (references are taken).
int bind_function(struct vm *vm, const struct call *call, struct frame *frame);

// ---- signature.c
struct signature_parameter {
    const char *name; // in the native's text
    int length;
    bool optional, iterated;
};
struct signature {
    struct signature *next; // of all that were parsed
    struct native *native;
    int n_positional_only, n_positional; // positional: all of them; they come first
    int rest, keywords;                  // slots of *rest and **keywords, -1: none
    int n;                               // slots
    struct signature_parameter parameters[NATIVE_MAX_SLOTS];
};
const struct signature *signature_of(const struct native *native);
void signatures_free(void);
// Borrowed arguments to slots; those of *rest and **keywords are new references, or
// ABSENT after an error. A producer in an iterated place: *drain is its place among the
// arguments, else -1.
int bind_native(struct vm *vm, const struct signature *signature, const struct call *call,
                struct value *slots, int *drain);
int raise_too_many(struct vm *vm, const char *name, int least, int most, int given,
                   int n_named_only);
// "f() missing 2 required positional arguments: 'x' and 'y'".
int raise_missing(struct vm *vm, const char *name, const char *kind, int count,
                  const char *const *names);

// ---- vm_text.c
// Adds the position of the running instruction and its text to the problem.
void error_locate(struct vm *vm);
#endif
