// SPDX-License-Identifier: Apache-2.0
// A syntax tree as text, in the form that tests/cases/python_syntax.py makes of
// CPython's: Kind@line:column+bytes(parts). Within f-strings there are no places
// (CPython's are not those of the source there).
#ifndef TENSORD_TESTS_UNIT_API_SYNTAX_DUMP_H
#define TENSORD_TESTS_UNIT_API_SYNTAX_DUMP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/lang/syntax.h"
#include "api/text.h"

struct dump {
    struct text text;
    int formatted;
};

static void dump_node(struct dump *dump, const struct syntax *node);

static void dump_word(struct dump *dump, const char *word)
{
    text_string(&dump->text, word);
}

static void dump_number(struct dump *dump, const char *format, unsigned long long number)
{
    char buffer[40];
    snprintf(buffer, sizeof buffer, strcmp(format, "x") == 0 ? "%016llx" : "%llu",
             number);
    dump_word(dump, buffer);
}

static void dump_bytes(struct dump *dump, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char b = (unsigned char)bytes[i];
        char buffer[8];
        bool plain = b > 32 && b < 127 && strchr("\"\\()[]", b) == NULL;
        snprintf(buffer, sizeof buffer, plain ? "%c" : "\\x%02x", b);
        dump_word(dump, buffer);
    }
}

static void dump_list(struct dump *dump, struct syntax_list list)
{
    dump_word(dump, "[");
    for (int i = 0; i < list.count; i++) {
        dump_word(dump, i > 0 ? " " : "");
        dump_node(dump, list.items[i]);
    }
    dump_word(dump, "]");
}

static void dump_place(struct dump *dump, struct syntax_place place)
{
    char buffer[80];
    if (dump->formatted > 0)
        return;
    snprintf(buffer, sizeof buffer, "@%d:%d+%u", (int)place.line, (int)place.column,
             (unsigned)(place.end - place.start));
    dump_word(dump, buffer);
}

// Name, place and the opening parenthesis.
static void dump_open(struct dump *dump, const char *name, const struct syntax *node)
{
    dump_word(dump, name);
    dump_place(dump, node->place);
    dump_word(dump, "(");
}

// A node of this name with these parts; NULL ends them.
static void dump_parts(struct dump *dump, const char *name, const struct syntax *node,
                       int count, const struct syntax *const *parts)
{
    dump_open(dump, name, node);
    for (int i = 0; i < count; i++) {
        dump_word(dump, i > 0 ? " " : "");
        dump_node(dump, parts[i]);
    }
    dump_word(dump, ")");
}
#define DUMP_PARTS(dump, name, node, ...)                                                \
    dump_parts(dump, name, node,                                                         \
               (int)(sizeof((const struct syntax *[]){__VA_ARGS__}) / sizeof(void *)),   \
               (const struct syntax *[]){__VA_ARGS__})

static void dump_lists(struct dump *dump, const char *name, const struct syntax *node,
                       struct syntax_list list)
{
    dump_open(dump, name, node);
    dump_list(dump, list);
    dump_word(dump, ")");
}

static void dump_parameters(struct dump *dump, const struct syntax_function *function)
{
    static const char *const kinds[] = {"/", "a", "*", "k", "**"};
    dump_word(dump, "[");
    for (int i = 0; i < function->n_parameters; i++) {
        const struct syntax_parameter *parameter = &function->parameters[i];
        dump_word(dump, i > 0 ? " " : "");
        dump_word(dump, kinds[parameter->kind]);
        dump_word(dump, parameter->name->text);
        dump_word(dump, "=");
        dump_node(dump, parameter->default_value);
    }
    dump_word(dump, "] ");
}

static void dump_function(struct dump *dump, const struct syntax *node)
{
    const struct syntax_function *function = node->function;
    dump_open(dump, node->kind == SYNTAX_DEF ? "Def" : "Lambda", node);
    if (node->kind == SYNTAX_DEF) {
        dump_word(dump, function->name->text);
        dump_word(dump, " ");
    }
    dump_parameters(dump, function);
    if (node->kind == SYNTAX_DEF)
        dump_list(dump, function->body);
    else
        dump_node(dump, function->value);
    dump_word(dump, ")");
}

static void dump_assignment(struct dump *dump, const struct syntax *node)
{
    if (node->kind == SYNTAX_AUGMENTED) {
        dump_open(dump, "Aug", node);
        dump_word(dump, syntax_operator_text(node->augmented.op));
        dump_word(dump, " ");
        dump_node(dump, node->augmented.target);
        dump_word(dump, " ");
        dump_node(dump, node->augmented.value);
    } else if (node->kind == SYNTAX_ANNOTATED) {
        bool simple =
            node->annotated.target->kind == SYNTAX_NAME && !node->annotated.parenthesised;
        dump_open(dump, "Ann", node);
        dump_word(dump, simple ? "1 " : "0 ");
        dump_node(dump, node->annotated.target);
        dump_word(dump, " ");
        dump_node(dump, node->annotated.annotation);
        dump_word(dump, " ");
        dump_node(dump, node->annotated.value);
    } else {
        dump_open(dump, "Assign", node);
        dump_list(dump, node->assign.targets);
        dump_word(dump, " ");
        dump_node(dump, node->assign.value);
    }
    dump_word(dump, ")");
}

static void dump_if(struct dump *dump, const struct syntax *node)
{
    dump_open(dump, "If", node);
    for (int i = 0; i < node->choice.count; i++) {
        dump_node(dump, node->choice.branches[i].condition);
        dump_word(dump, " ");
        dump_list(dump, node->choice.branches[i].body);
        dump_word(dump, " ");
    }
    dump_list(dump, node->choice.otherwise);
    dump_word(dump, ")");
}

static void dump_loop(struct dump *dump, const struct syntax *node)
{
    dump_open(dump, node->kind == SYNTAX_FOR ? "For" : "While", node);
    if (node->kind == SYNTAX_FOR) {
        dump_node(dump, node->loop.target);
        dump_word(dump, " ");
    }
    dump_node(dump, node->loop.iterable);
    dump_word(dump, " ");
    dump_list(dump, node->loop.body);
    dump_word(dump, " ");
    dump_list(dump, node->loop.otherwise);
    dump_word(dump, ")");
}

static void dump_with(struct dump *dump, const struct syntax *node)
{
    dump_open(dump, "With", node);
    for (int i = 0; i < node->with.count; i++) {
        dump_word(dump, i > 0 ? " " : "[");
        dump_node(dump, node->with.items[i].context);
        dump_word(dump, " as ");
        dump_node(dump, node->with.items[i].target);
    }
    dump_word(dump, "] ");
    dump_list(dump, node->with.body);
    dump_word(dump, ")");
}

static void dump_import(struct dump *dump, const struct syntax *node)
{
    dump_open(dump, "Import", node);
    for (int i = 0; i < node->imports.count; i++) {
        const struct syntax_import *import = &node->imports.items[i];
        dump_word(dump, i > 0 ? " " : "");
        dump_word(dump, syntax_module_name(import->module));
        dump_word(dump, ".");
        dump_word(dump, import->attribute ? import->attribute->text : "-");
        dump_word(dump, "=");
        dump_word(dump, import->bound->text);
    }
    dump_word(dump, ")");
}

static void dump_chain(struct dump *dump, const struct syntax *node)
{
    dump_open(dump, node->kind == SYNTAX_BINARY ? "Binary" : "Compare", node);
    for (int i = 0; i < node->chain.count; i++) {
        if (i > 0) {
            dump_word(dump, " ");
            dump_word(dump, syntax_operator_text(node->chain.operators[i - 1]));
            dump_word(dump, " ");
        }
        dump_node(dump, node->chain.operands[i]);
    }
    dump_word(dump, ")");
}

static void dump_call(struct dump *dump, const struct syntax *node)
{
    static const char *const marks[] = {"", "*", "", "**"};
    dump_open(dump, "Call", node);
    dump_node(dump, node->call.callee);
    for (int i = 0; i < node->call.count; i++) {
        const struct syntax_argument *argument = &node->call.arguments[i];
        dump_word(dump, " ");
        dump_word(dump, marks[argument->kind]);
        if (argument->kind == SYNTAX_ARGUMENT_KEYWORD) {
            dump_word(dump, argument->name->text);
            dump_word(dump, "=");
        }
        dump_node(dump, argument->value);
    }
    dump_word(dump, ")");
}

static void dump_dict(struct dump *dump, const struct syntax *node)
{
    dump_word(dump, "Dict");
    dump_place(dump, node->place);
    for (int i = 0; i < node->dict.count; i++) {
        dump_word(dump, i > 0 ? " " : "(");
        dump_node(dump, node->dict.keys[i]);
        dump_word(dump, ":");
        dump_node(dump, node->dict.values[i]);
    }
    dump_word(dump, node->dict.count > 0 ? ")" : "");
}

static void dump_comprehension(struct dump *dump, const char *name,
                               const struct syntax *node)
{
    dump_open(dump, name, node);
    dump_node(dump, node->comprehension.key);
    dump_word(dump, " ");
    dump_node(dump, node->comprehension.element);
    for (int i = 0; i < node->comprehension.count; i++) {
        const struct syntax_clause *clause = &node->comprehension.clauses[i];
        dump_word(dump, " for ");
        dump_node(dump, clause->target);
        dump_word(dump, " ");
        dump_node(dump, clause->iterable);
        dump_word(dump, " ");
        dump_list(dump, clause->conditions);
    }
    dump_word(dump, ")");
}

static void dump_format(struct dump *dump, const struct syntax *node)
{
    char conversion[2] = {node->format.conversion ? node->format.conversion : '-', '\0'};
    dump_open(dump, "Format", node);
    dump_node(dump, node->format.value);
    dump_word(dump, " ");
    dump_word(dump, conversion);
    dump_word(dump, " ");
    dump_node(dump, node->format.spec);
    dump_word(dump, ")");
}

static void dump_leaf(struct dump *dump, const struct syntax *node)
{
    unsigned long long bits = 0;
    switch (node->kind) {
    case SYNTAX_NAME:
        dump_open(dump, "Name", node);
        dump_bytes(dump, node->name->text, node->name->bytes);
        break;
    case SYNTAX_INT:
        dump_open(dump, "Int", node);
        dump_number(dump, "u", node->integer);
        break;
    case SYNTAX_FLOAT:
        dump_open(dump, "Float", node);
        memcpy(&bits, &node->number, sizeof bits);
        dump_number(dump, "x", bits);
        break;
    default:
        dump_open(dump, "Str", node);
        dump_word(dump, "\"");
        dump_bytes(dump, node->string.text, node->string.bytes);
        dump_word(dump, "\"");
    }
    dump_word(dump, ")");
}

static void dump_unary(struct dump *dump, const struct syntax *node)
{
    dump_open(dump, "Unary", node);
    dump_word(dump, syntax_operator_text(node->unary.op));
    dump_word(dump, " ");
    dump_node(dump, node->unary.operand);
    dump_word(dump, ")");
}

static void dump_attribute(struct dump *dump, const struct syntax *node)
{
    dump_open(dump, "Attr", node);
    dump_node(dump, node->attribute.object);
    dump_word(dump, " ");
    dump_word(dump, node->attribute.name->text);
    dump_word(dump, ")");
}

static void dump_statement(struct dump *dump, const struct syntax *node)
{
    switch (node->kind) {
    case SYNTAX_MODULE:
        dump_list(dump, node->body);
        break;
    case SYNTAX_EXPRESSION:
        DUMP_PARTS(dump, "Expr", node, node->value);
        break;
    case SYNTAX_RETURN:
        DUMP_PARTS(dump, "Return", node, node->value);
        break;
    case SYNTAX_YIELD:
        DUMP_PARTS(dump, "Yield", node, node->value);
        break;
    case SYNTAX_ASSERT:
        DUMP_PARTS(dump, "Assert", node, node->assertion.condition,
                   node->assertion.message);
        break;
    case SYNTAX_DELETE:
        dump_lists(dump, "Del", node, node->assign.targets);
        break;
    case SYNTAX_IF:
        dump_if(dump, node);
        break;
    case SYNTAX_FOR:
    case SYNTAX_WHILE:
        dump_loop(dump, node);
        break;
    case SYNTAX_WITH:
        dump_with(dump, node);
        break;
    case SYNTAX_IMPORT:
        dump_import(dump, node);
        break;
    case SYNTAX_DEF:
        dump_function(dump, node);
        break;
    default:
        dump_assignment(dump, node);
    }
}

static void dump_expression(struct dump *dump, const struct syntax *node)
{
    static const char *const names[SYNTAX_KIND_COUNT] = {
        [SYNTAX_TUPLE] = "Tuple",
        [SYNTAX_LIST] = "List",
        [SYNTAX_SET] = "Set",
        [SYNTAX_AND] = "And",
        [SYNTAX_OR] = "Or",
        [SYNTAX_FSTRING] = "FString",
        [SYNTAX_LIST_COMPREHENSION] = "ListComp",
        [SYNTAX_SET_COMPREHENSION] = "SetComp",
        [SYNTAX_DICT_COMPREHENSION] = "DictComp",
        [SYNTAX_GENERATOR] = "Generator",
    };
    switch (node->kind) {
    case SYNTAX_FSTRING: // the place of the outermost is printed
        dump_word(dump, names[node->kind]);
        dump_place(dump, node->place);
        dump->formatted++;
        dump_word(dump, "(");
        dump_list(dump, node->elements);
        dump_word(dump, ")");
        dump->formatted--;
        break;
    case SYNTAX_FORMAT:
        dump_format(dump, node);
        break;
    case SYNTAX_TUPLE:
    case SYNTAX_LIST:
    case SYNTAX_SET:
    case SYNTAX_AND:
    case SYNTAX_OR:
        dump_lists(dump, names[node->kind], node, node->elements);
        break;
    case SYNTAX_DICT:
        dump_dict(dump, node);
        break;
    case SYNTAX_LIST_COMPREHENSION:
    case SYNTAX_SET_COMPREHENSION:
    case SYNTAX_DICT_COMPREHENSION:
    case SYNTAX_GENERATOR:
        dump_comprehension(dump, names[node->kind], node);
        break;
    case SYNTAX_ATTRIBUTE:
        dump_attribute(dump, node);
        break;
    case SYNTAX_CALL:
        dump_call(dump, node);
        break;
    case SYNTAX_INDEX:
        DUMP_PARTS(dump, "Index", node, node->index.object, node->index.key);
        break;
    case SYNTAX_SLICE:
        DUMP_PARTS(dump, "Slice", node, node->slice.start, node->slice.stop,
                   node->slice.step);
        break;
    case SYNTAX_UNARY:
        dump_unary(dump, node);
        break;
    case SYNTAX_BINARY:
    case SYNTAX_COMPARE:
        dump_chain(dump, node);
        break;
    case SYNTAX_CONDITIONAL:
        DUMP_PARTS(dump, "Cond", node, node->conditional.condition,
                   node->conditional.value, node->conditional.otherwise);
        break;
    case SYNTAX_LAMBDA:
        dump_function(dump, node);
        break;
    case SYNTAX_STARRED:
        DUMP_PARTS(dump, "Starred", node, node->value);
        break;
    default:
        dump_leaf(dump, node);
    }
}

static void dump_node(struct dump *dump, const struct syntax *node)
{
    static const char *const words[SYNTAX_KIND_COUNT] = {
        [SYNTAX_PASS] = "Pass",         [SYNTAX_BREAK] = "Break",
        [SYNTAX_CONTINUE] = "Continue", [SYNTAX_NONE] = "None",
        [SYNTAX_TRUE] = "True",         [SYNTAX_FALSE] = "False",
        [SYNTAX_ELLIPSIS] = "Ellipsis",
    };
    if (node == NULL) {
        dump_word(dump, "-");
    } else if (words[node->kind]) {
        dump_word(dump, words[node->kind]);
        dump_place(dump, node->place);
    } else if (node->kind < SYNTAX_NAME) {
        dump_statement(dump, node);
    } else {
        dump_expression(dump, node);
    }
}
#endif
