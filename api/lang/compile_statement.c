// SPDX-License-Identifier: Apache-2.0
// Statements, save those that jump (compile_flow.c). Any thread.
#include <string.h>

#include "api/lang/compile_internal.h"

void compile_body(struct compiler *compiler, const struct syntax_list *body)
{
    for (int i = 0; i < body->count && !compiler->failed; i++)
        compile_statement(compiler, body->items[i]);
}

static void compile_import(struct compiler *compiler, const struct syntax *statement)
{
    for (int i = 0; i < statement->imports.count; i++) {
        const struct syntax_import *import = &statement->imports.items[i];
        const char *name = syntax_module_name(import->module);
        struct value module = torch_import(name, strlen(name));
        if (module.tag == VALUE_ABSENT) {
            compile_fail(compiler, STATUS_NOT_IMPLEMENTED,
                         "the module that is imported is not there");
            return;
        }
        emit_value(compiler, module);
        if (import->attribute)
            emit(compiler, OPCODE_attribute,
                 attribute_number(compiler, import->attribute), &import->place);
        compile_store_name(compiler, import->bound, &import->place);
    }
}

// What a constant would leave on the stack is nobody's.
static bool is_idle(const struct syntax *value)
{
    switch ((enum syntax_kind)value->kind) {
    case SYNTAX_STRING: // a docstring
    case SYNTAX_INT:
    case SYNTAX_FLOAT:
    case SYNTAX_NONE:
    case SYNTAX_TRUE:
    case SYNTAX_FALSE:
    case SYNTAX_ELLIPSIS:
        return true;
    default:
        return false;
    }
}

static void compile_def(struct compiler *compiler, const struct syntax *statement)
{
    const struct syntax_function *function = statement->function;
    compile_function(compiler, function, &statement->place);
    compile_store_name(compiler, function->name, &statement->place);
}

void compile_statement(struct compiler *compiler, const struct syntax *statement)
{
    switch ((enum syntax_kind)statement->kind) {
    case SYNTAX_EXPRESSION:
        if (is_idle(statement->value))
            break;
        compile_expression(compiler, statement->value);
        emit(compiler, OPCODE_pop, 0, NULL);
        break;
    case SYNTAX_ASSIGN:
        compile_assign(compiler, statement);
        break;
    case SYNTAX_AUGMENTED:
        compile_augmented(compiler, statement);
        break;
    case SYNTAX_ANNOTATED:
        compile_annotated(compiler, statement);
        break;
    case SYNTAX_DELETE:
        for (int i = 0; i < statement->assign.targets.count; i++)
            compile_delete(compiler, statement->assign.targets.items[i]);
        break;
    case SYNTAX_DEF:
        compile_def(compiler, statement);
        break;
    case SYNTAX_IF:
        compile_if(compiler, statement);
        break;
    case SYNTAX_FOR:
        compile_for(compiler, statement);
        break;
    case SYNTAX_WHILE:
        compile_while(compiler, statement);
        break;
    case SYNTAX_BREAK:
    case SYNTAX_CONTINUE:
        compile_jump_out(compiler, statement);
        break;
    case SYNTAX_RETURN:
        compile_return(compiler, statement);
        break;
    case SYNTAX_ASSERT:
        compile_assert(compiler, statement);
        break;
    case SYNTAX_WITH:
        compile_with(compiler, statement);
        break;
    case SYNTAX_IMPORT:
        compile_import(compiler, statement);
        break;
    case SYNTAX_YIELD:
        if (statement->value)
            compile_expression(compiler, statement->value);
        else
            emit(compiler, OPCODE_none, 0, NULL);
        emit(compiler, OPCODE_yield, 0, &statement->place);
        break;
    default:
        break; // PASS
    }
}
