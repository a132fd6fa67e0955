// SPDX-License-Identifier: Apache-2.0
// Statements that jump: if, for, while, break, continue, return, with, assert. Jumps out
// of a block leave the stack as the block found it; the code behind such a jump is never
// reached, and the height is set back for it. Any thread.
#include <string.h>

#include "api/lang/compile_internal.h"

static int height(const struct compiler *compiler)
{
    return compiler->emitter->height;
}

// Jumps there if the condition does not hold: -1 if it always does.
static int32_t compile_condition(struct compiler *compiler,
                                 const struct syntax *condition)
{
    if (condition->kind == SYNTAX_TRUE)
        return -1;
    if (condition->kind == SYNTAX_UNARY && condition->unary.op == SYNTAX_NOT) {
        compile_expression(compiler, condition->unary.operand);
        return emit_jump(compiler, OPCODE_if_true, &condition->place);
    }
    compile_expression(compiler, condition);
    return emit_jump(compiler, OPCODE_if_false, &condition->place);
}

void compile_if(struct compiler *compiler, const struct syntax *statement)
{
    struct jump *ends = NULL;
    const struct syntax_list *otherwise = &statement->choice.otherwise;
    for (int i = 0; i < statement->choice.count; i++) {
        const struct syntax_branch *branch = &statement->choice.branches[i];
        int32_t skip = compile_condition(compiler, branch->condition);
        compile_body(compiler, &branch->body);
        if (i + 1 < statement->choice.count || otherwise->count > 0)
            jumps_add(compiler, &ends, emit_jump(compiler, OPCODE_jump, NULL));
        if (skip >= 0)
            patch(compiler, skip);
    }
    compile_body(compiler, otherwise);
    jumps_patch(compiler, ends);
}

static void loop_begin(struct compiler *compiler, struct block *block, bool has_iterator)
{
    *block = (struct block){.outer = compiler->emitter->blocks,
                            .is_loop = true,
                            .has_iterator = has_iterator,
                            .start = emit_here(compiler)};
    compiler->emitter->blocks = block;
}

static void loop_end(struct compiler *compiler, struct block *block,
                     const struct syntax *statement)
{
    compiler->emitter->blocks = block->outer;
    compile_body(compiler, &statement->loop.otherwise);
    jumps_patch(compiler, block->breaks);
}

void compile_for(struct compiler *compiler, const struct syntax *statement)
{
    struct block block;
    const struct syntax *iterable = statement->loop.iterable;
    compile_expression(compiler, iterable);
    emit(compiler, OPCODE_iterate, 0, &iterable->place);
    loop_begin(compiler, &block, true);
    int32_t end = emit_jump(compiler, OPCODE_for, &iterable->place);
    compile_store(compiler, statement->loop.target);
    compile_body(compiler, &statement->loop.body);
    emit(compiler, OPCODE_loop, (uint32_t)block.start, NULL);
    patch(compiler, end);
    emit_height(compiler, height(compiler) - 1); // the iterator is gone
    loop_end(compiler, &block, statement);
}

void compile_while(struct compiler *compiler, const struct syntax *statement)
{
    struct block block;
    loop_begin(compiler, &block, false);
    int32_t end = compile_condition(compiler, statement->loop.iterable);
    compile_body(compiler, &statement->loop.body);
    emit(compiler, OPCODE_loop, (uint32_t)block.start, NULL);
    if (end >= 0)
        patch(compiler, end);
    loop_end(compiler, &block, statement);
}

// break and continue. The parser has seen to it that there is a loop.
void compile_jump_out(struct compiler *compiler, const struct syntax *statement)
{
    int before = height(compiler);
    struct block *block = compiler->emitter->blocks;
    for (; block && !block->is_loop; block = block->outer) {
        emit(compiler, OPCODE_leave, (uint32_t)block->height, NULL);
        emit(compiler, OPCODE_pop, 0, NULL);
    }
    if (!block) {
        compile_fail(compiler, STATUS_SYNTAX, "break or continue outside of a loop");
        return;
    }
    if (statement->kind == SYNTAX_CONTINUE) {
        emit(compiler, OPCODE_loop, (uint32_t)block->start, NULL);
    } else {
        if (block->has_iterator)
            emit(compiler, OPCODE_pop, 0, NULL);
        jumps_add(compiler, &block->breaks, emit_jump(compiler, OPCODE_jump, NULL));
    }
    emit_height(compiler, before);
}

void compile_return(struct compiler *compiler, const struct syntax *statement)
{
    if (statement->value)
        compile_expression(compiler, statement->value);
    else
        emit(compiler, OPCODE_none, 0, NULL);
    int before = height(compiler) - 1;
    for (const struct block *block = compiler->emitter->blocks; block;
         block = block->outer)
        if (!block->is_loop)
            emit(compiler, OPCODE_leave, (uint32_t)block->height, NULL);
    emit(compiler, OPCODE_return, 0, &statement->place);
    emit_height(compiler, before);
}

// The contexts there are, by the last name of what is called: torch.no_grad().
static bool is_context(const struct syntax *context)
{
    static const char *const names[] = {"no_grad", "inference_mode", "enable_grad",
                                        "set_grad_enabled"};
    const struct syntax *callee =
        context->kind == SYNTAX_CALL ? context->call.callee : NULL;
    const struct syntax_name *name = NULL;
    if (callee && callee->kind == SYNTAX_NAME)
        name = callee->name;
    else if (callee && callee->kind == SYNTAX_ATTRIBUTE)
        name = callee->attribute.name;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name->text, names[i]) == 0)
            return true;
    return false;
}

// Items are nested: each is a block of its own.
static void compile_with_item(struct compiler *compiler, const struct syntax *statement,
                              int item)
{
    if (item == statement->with.count) {
        compile_body(compiler, &statement->with.body);
        return;
    }
    const struct syntax_with_item *with = &statement->with.items[item];
    struct block block = {.outer = compiler->emitter->blocks, .height = height(compiler)};
    if (!is_context(with->context)) {
        compile_refuse(compiler, &with->context->place,
                       "with takes torch.no_grad(), torch.inference_mode() and their "
                       "like, nothing else,");
        return;
    }
    compile_expression(compiler, with->context);
    emit(compiler, OPCODE_with, 0, &with->context->place);
    compiler->emitter->blocks = &block;
    if (with->target) {
        emit(compiler, OPCODE_none, 0, NULL);
        compile_store(compiler, with->target);
    }
    compile_with_item(compiler, statement, item + 1);
    compiler->emitter->blocks = block.outer;
    emit(compiler, OPCODE_leave, (uint32_t)block.height, NULL);
    emit(compiler, OPCODE_pop, 0, NULL);
}

enum { WITH_MAX_ITEMS = 100 };

void compile_with(struct compiler *compiler, const struct syntax *statement)
{
    if (statement->with.count > WITH_MAX_ITEMS)
        compile_fail(compiler, STATUS_LIMIT, "a with statement has too many items");
    else
        compile_with_item(compiler, statement, 0);
}

void compile_assert(struct compiler *compiler, const struct syntax *statement)
{
    const struct syntax *condition = statement->assertion.condition,
                        *message = statement->assertion.message;
    int before = height(compiler);
    compile_expression(compiler, condition);
    int32_t holds = emit_jump(compiler, OPCODE_if_true, &condition->place);
    if (message)
        compile_expression(compiler, message);
    emit_effect(compiler, OPCODE_assert, message != NULL, 0, &statement->place);
    patch(compiler, holds);
    emit_height(compiler, before);
}
