// SPDX-License-Identifier: Apache-2.0
// What the files of the compiler share. A program goes twice over its syntax tree:
//
//   scope.c, scope_walk.c   which name is what: scopes with their symbols, and the facts
//   facts.c                 what the program touches (program.h)
//   compile.c               program_compile; a function's code from beginning to end
//   compile_emit.c          instructions, positions, jumps
//   compile_constant.c      constants and names of the unit
//   compile_statement.c, compile_flow.c, compile_target.c    statements
//   compile_expression.c, compile_display.c, compile_call.c, compile_function.c
//
// A failure (memory, a limit) is kept in compiler.problem; whoever emits goes on without
// effect, and program_compile looks at the end. Recursion is bounded by the height of
// the tree (SYNTAX_MAX_HEIGHT). Everything but the unit lies in the tree's arena.
#ifndef TENSORD_API_LANG_COMPILE_INTERNAL_H
#define TENSORD_API_LANG_COMPILE_INTERNAL_H

#include "api/lang/code.h"
#include "api/lang/operate.h"
#include "api/lang/syntax.h"

// ---- Scopes. A comprehension is a scope whose variables lie in the frame of its host:
// the function (or program, or generator) around it. A name that a function inside uses
// is boxed; each host between has a symbol of its own for it, whose slot holds the box.
// Names of the top level are no symbols: they are global.
enum scope_kind { SCOPE_PROGRAM, SCOPE_FUNCTION, SCOPE_GENERATOR, SCOPE_COMPREHENSION };
struct symbol {
    const struct syntax_name *name;
    struct scope *scope;
    struct symbol *shadowed; // of the same name in a scope around, while entered
    struct symbol *next;     // of the scope
    struct symbol *source;   // a captured one: the symbol in the host around; else NULL
    int32_t slot;
    bool boxed;
};
struct scope {
    enum scope_kind kind;
    const void *node; // struct syntax or syntax_function
    struct scope *parent, *host;
    struct scope *children, **last_child, *next, *cursor;
    struct symbol *symbols, **last_symbol;   // its own, in the order of their slots
    struct symbol *captures, **last_capture; // hosts: of hosts around
    int32_t n_slots, n_captures;             // hosts
};

// What is known of a name, by its index.
struct name_info {
    const struct syntax_name *name;
    struct symbol *symbol;     // the innermost one of the scopes that are entered
    struct string *string;     // in the unit, or NULL
    int32_t global, attribute; // numbers in the unit, + 1; 0: none yet
    bool is_read, is_written, is_certain, is_attribute;
};

// ---- Code being made
struct block { // what a statement lies in, within its function
    struct block *outer;
    bool is_loop, has_iterator;
    int height;    // WITH: where on the stack its value is
    int32_t start; // LOOP
    struct jump *breaks;
};
struct jump { // an instruction whose argument is not known yet
    struct jump *next;
    int32_t instruction;
};
struct emitter {
    struct emitter *outer;
    struct scope *host, *scope;
    const char *qualified; // NULL: the program
    uint32_t *instructions;
    int32_t n, capacity;
    struct code_position *positions;
    int32_t n_positions, positions_capacity;
    int height, most; // of the stack
    struct block *blocks;
};
struct array { // of the unit, growing in the tree's arena
    void *items;
    int32_t n, capacity;
};
struct compiler {
    struct arena *tree;
    struct unit *unit;
    struct problem *problem;
    bool failed;
    struct name_info *names;
    uint32_t n_names, n_named; // room; those that are there
    struct array constants, attributes, globals, codes, calls; // their items
    int32_t *constant_table;                                   // hash: number + 1
    int32_t constant_table_size;
    struct emitter *emitter;
    struct scope *scope;  // during the first walk
    int conditional;      // the first walk is inside of something that may not run
    struct array tensors; // constant names given to tensor()
    int32_t n_attributes_seen;
};
enum { DISPLAY_CHUNK = 64 };

// ---- compile.c
void compile_fail(struct compiler *compiler, enum status status, const char *text);
// STATUS_SYNTAX at a place, with its text.
void compile_refuse(struct compiler *compiler, const struct syntax_place *place,
                    const char *text);
void *compile_take(struct compiler *compiler, size_t size); // of the tree's arena, zeroed
// Room for one more item; false after a failure.
bool array_grow(struct compiler *compiler, struct array *array, size_t item);
struct name_info *name_of(struct compiler *compiler, const struct syntax_name *name);

// ---- scope.c
struct scope *scope_new(struct compiler *compiler, enum scope_kind kind,
                        const void *node);
// Its symbols are the innermost of their names until scope_leave.
void scope_enter(struct compiler *compiler, struct scope *scope);
void scope_leave(struct compiler *compiler, struct scope *scope);
void scope_declare(struct compiler *compiler, struct scope *scope,
                   const struct syntax_name *name);
// The symbol of a name in the frame of host, or NULL: it is global. The first walk calls
// it for every use, so that symbols are boxed and captured.
struct symbol *scope_resolve(struct compiler *compiler, struct scope *host,
                             const struct syntax_name *name);
// After the walk of a host: captured boxes lie behind all other slots.
void scope_complete(struct scope *host);
// The child for a node, in the second walk.
struct scope *scope_child(struct scope *scope, const void *node);
// The first walk: the tree of scopes, and facts.
struct scope *scope_program(struct compiler *compiler, const struct syntax *program);

// ---- scope_walk.c, scope_statement.c: parts of the first walk
void walk_expression(struct compiler *compiler, const struct syntax *node);
void walk_body(struct compiler *compiler, const struct syntax_list *body);
void walk_function(struct compiler *compiler, const struct syntax_function *function);
void walk_target(struct compiler *compiler, const struct syntax *target);
void declare_target(struct compiler *compiler, struct scope *scope,
                    const struct syntax *target);
void declare_body(struct compiler *compiler, struct scope *scope,
                  const struct syntax_list *body);

// ---- facts.c
void facts_read(struct compiler *compiler, const struct syntax_name *name);
void facts_write(struct compiler *compiler, const struct syntax_name *name);
void facts_attribute(struct compiler *compiler, const struct syntax_name *name);
// A call whose callee is tensor or x.tensor.
void facts_call(struct compiler *compiler, const struct syntax *call);
bool facts_is_tensor(const struct syntax_name *name);
void facts_finish(struct compiler *compiler, const struct syntax *program);

// ---- compile_emit.c. place NULL: the instruction cannot fail.
void emit(struct compiler *compiler, enum opcode opcode, uint32_t argument,
          const struct syntax_place *place);
void emit_effect(struct compiler *compiler, enum opcode opcode, uint32_t argument,
                 int effect, const struct syntax_place *place);
// A jump forward; patched to where the next instruction will be.
int32_t emit_jump(struct compiler *compiler, enum opcode opcode,
                  const struct syntax_place *place);
void patch(struct compiler *compiler, int32_t instruction);
int32_t emit_here(const struct compiler *compiler);
void emit_height(struct compiler *compiler, int height); // at a label
void jumps_add(struct compiler *compiler, struct jump **jumps, int32_t instruction);
void jumps_patch(struct compiler *compiler, struct jump *jumps);

// ---- compile_constant.c: numbers in the unit
uint32_t constant_number(struct compiler *compiler, struct value value);
uint32_t constant_text(struct compiler *compiler, const char *text, size_t bytes);
uint32_t attribute_number(struct compiler *compiler, const struct syntax_name *name);
uint32_t global_number(struct compiler *compiler, const struct syntax_name *name);
struct string *name_string(struct compiler *compiler, const struct syntax_name *name);
void emit_value(struct compiler *compiler, struct value value);
void emit_text(struct compiler *compiler, const char *text, size_t bytes);

// ---- Statements and expressions: an expression leaves its value on the stack.
void compile_body(struct compiler *compiler, const struct syntax_list *body);
void compile_statement(struct compiler *compiler, const struct syntax *statement);
void compile_if(struct compiler *compiler, const struct syntax *statement);
void compile_for(struct compiler *compiler, const struct syntax *statement);
void compile_while(struct compiler *compiler, const struct syntax *statement);
void compile_jump_out(struct compiler *compiler, const struct syntax *statement);
void compile_return(struct compiler *compiler, const struct syntax *statement);
void compile_with(struct compiler *compiler, const struct syntax *statement);
void compile_assert(struct compiler *compiler, const struct syntax *statement);
void compile_assign(struct compiler *compiler, const struct syntax *statement);
void compile_augmented(struct compiler *compiler, const struct syntax *statement);
void compile_annotated(struct compiler *compiler, const struct syntax *statement);
void compile_delete(struct compiler *compiler, const struct syntax *target);
void compile_store(struct compiler *compiler, const struct syntax *target); // pops
void compile_store_name(struct compiler *compiler, const struct syntax_name *name,
                        const struct syntax_place *place);
void compile_load_name(struct compiler *compiler, const struct syntax_name *name,
                       const struct syntax_place *place);
void compile_expression(struct compiler *compiler, const struct syntax *node);
void compile_operator(struct compiler *compiler, enum syntax_operator op, bool in_place,
                      const struct syntax_place *place);
void compile_list(struct compiler *compiler, const struct syntax *node);
void compile_tuple(struct compiler *compiler, const struct syntax *node);
void compile_set(struct compiler *compiler, const struct syntax *node);
void compile_dict(struct compiler *compiler, const struct syntax *node);
void compile_fstring(struct compiler *compiler, const struct syntax *node);
void compile_call(struct compiler *compiler, const struct syntax *node);
void compile_comprehension(struct compiler *compiler, const struct syntax *node);
void compile_generator(struct compiler *compiler, const struct syntax *node);
// Pushes the function; its name, if it has one, is stored by the statement.
void compile_function(struct compiler *compiler, const struct syntax_function *function,
                      const struct syntax_place *place);
// Clauses from the first on; add(context) is called where the element is to be computed.
void compile_clauses(struct compiler *compiler, const struct syntax *node,
                     void (*add)(struct compiler *, const struct syntax *, int depth));
// A host's code: begun, then finished to a number in the unit's codes.
void function_begin(struct compiler *compiler, struct emitter *emitter,
                    struct scope *host, const char *name);
struct code *function_end(struct compiler *compiler, const char *name);
uint32_t code_number(struct compiler *compiler, struct code *code);
// Pushes the tuple of boxes that a host inside captures; false if it captures none.
bool compile_closure(struct compiler *compiler, const struct scope *host);
#endif
