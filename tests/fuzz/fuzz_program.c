// SPDX-License-Identifier: Apache-2.0
// Programs, up to the syntax tree: any bytes give a tree that keeps its promises (places
// in the source, heights that bound a walk, no holes), or a problem with a place in the
// source. What parses also parses twice in a row, and then has twice the statements.
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "api/lang/parser.h"

struct walk {
    size_t size; // of the source
    int parent;  // height of the node above
};

static void check_node(struct walk walk, const struct syntax *node);

static void check_optional(struct walk walk, const struct syntax *node)
{
    if (node != NULL)
        check_node(walk, node);
}

static void check_list(struct walk walk, struct syntax_list list, int least)
{
    FUZZ_REQUIRE(list.count >= least && (list.count == 0 || list.items != NULL));
    for (int i = 0; i < list.count; i++)
        check_node(walk, list.items[i]);
}

static void check_name(const struct syntax_name *name)
{
    FUZZ_REQUIRE(name != NULL && name->bytes > 0 && strlen(name->text) == name->bytes);
}

static void check_function(struct walk walk, const struct syntax *node)
{
    const struct syntax_function *function = node->function;
    int last = 0;
    for (int i = 0; i < function->n_parameters; i++) {
        const struct syntax_parameter *parameter = &function->parameters[i];
        check_name(parameter->name);
        check_optional(walk, parameter->default_value);
        FUZZ_REQUIRE((int)parameter->kind >= last);
        last = (int)parameter->kind;
    }
    FUZZ_REQUIRE((node->kind == SYNTAX_LAMBDA) == (function->value != NULL));
    check_optional(walk, function->value);
    check_list(walk, function->body, node->kind == SYNTAX_DEF);
}

static void check_block(struct walk walk, const struct syntax *node)
{
    switch (node->kind) {
    case SYNTAX_IF:
        FUZZ_REQUIRE(node->choice.count >= 1);
        for (int i = 0; i < node->choice.count; i++) {
            check_node(walk, node->choice.branches[i].condition);
            check_list(walk, node->choice.branches[i].body, 1);
        }
        check_list(walk, node->choice.otherwise, 0);
        break;
    case SYNTAX_FOR:
    case SYNTAX_WHILE:
        FUZZ_REQUIRE((node->kind == SYNTAX_FOR) == (node->loop.target != NULL));
        check_optional(walk, node->loop.target);
        check_node(walk, node->loop.iterable);
        check_list(walk, node->loop.body, 1);
        check_list(walk, node->loop.otherwise, 0);
        break;
    case SYNTAX_WITH:
        FUZZ_REQUIRE(node->with.count >= 1);
        for (int i = 0; i < node->with.count; i++) {
            check_node(walk, node->with.items[i].context);
            check_optional(walk, node->with.items[i].target);
        }
        check_list(walk, node->with.body, 1);
        break;
    default:
        check_function(walk, node);
    }
}

static void check_statement(struct walk walk, const struct syntax *node)
{
    switch (node->kind) {
    case SYNTAX_MODULE:
        check_list(walk, node->body, 0);
        break;
    case SYNTAX_EXPRESSION:
        check_node(walk, node->value);
        break;
    case SYNTAX_RETURN:
    case SYNTAX_YIELD:
        check_optional(walk, node->value);
        break;
    case SYNTAX_ASSIGN:
        check_node(walk, node->assign.value);
        check_list(walk, node->assign.targets, 1);
        break;
    case SYNTAX_DELETE:
        check_list(walk, node->assign.targets, 1);
        break;
    case SYNTAX_AUGMENTED:
        check_node(walk, node->augmented.target);
        check_node(walk, node->augmented.value);
        break;
    case SYNTAX_ANNOTATED:
        check_node(walk, node->annotated.target);
        check_node(walk, node->annotated.annotation);
        check_optional(walk, node->annotated.value);
        break;
    case SYNTAX_ASSERT:
        check_node(walk, node->assertion.condition);
        check_optional(walk, node->assertion.message);
        break;
    case SYNTAX_IMPORT:
        FUZZ_REQUIRE(node->imports.count >= 1);
        for (int i = 0; i < node->imports.count; i++)
            check_name(node->imports.items[i].bound);
        break;
    case SYNTAX_BREAK:
    case SYNTAX_CONTINUE:
    case SYNTAX_PASS:
        break;
    default:
        check_block(walk, node);
    }
}

static void check_text(struct walk walk, const struct syntax *node)
{
    if (node->kind == SYNTAX_STRING) {
        FUZZ_REQUIRE(node->string.text[node->string.bytes] == '\0');
        FUZZ_REQUIRE(node->string.bytes <= walk.size);
        return;
    }
    if (node->kind == SYNTAX_FORMAT) {
        check_node(walk, node->format.value);
        check_optional(walk, node->format.spec);
        return;
    }
    check_list(walk, node->elements, 0);
    for (int i = 0; i < node->elements.count; i++) {
        bool text = node->elements.items[i]->kind == SYNTAX_STRING;
        FUZZ_REQUIRE(text || node->elements.items[i]->kind == SYNTAX_FORMAT);
        FUZZ_REQUIRE(!text || node->elements.items[i]->string.bytes > 0);
        FUZZ_REQUIRE(!text || i == 0 ||
                     node->elements.items[i - 1]->kind == SYNTAX_FORMAT);
    }
}

static void check_several(struct walk walk, const struct syntax *node)
{
    switch (node->kind) {
    case SYNTAX_DICT:
        for (int i = 0; i < node->dict.count; i++) {
            check_optional(walk, node->dict.keys[i]);
            check_node(walk, node->dict.values[i]);
        }
        break;
    case SYNTAX_BINARY:
    case SYNTAX_COMPARE:
        FUZZ_REQUIRE(node->chain.count >= 2);
        for (int i = 0; i < node->chain.count; i++)
            check_node(walk, node->chain.operands[i]);
        for (int i = 0; i < node->chain.count - 1; i++)
            FUZZ_REQUIRE((node->chain.operators[i] <= SYNTAX_POWER) ==
                         (node->kind == SYNTAX_BINARY));
        break;
    case SYNTAX_CALL:
        check_node(walk, node->call.callee);
        for (int i = 0; i < node->call.count; i++)
            check_node(walk, node->call.arguments[i].value);
        break;
    default: // comprehensions
        FUZZ_REQUIRE(node->comprehension.count >= 1);
        check_optional(walk, node->comprehension.key);
        check_node(walk, node->comprehension.element);
        for (int i = 0; i < node->comprehension.count; i++) {
            check_node(walk, node->comprehension.clauses[i].target);
            check_node(walk, node->comprehension.clauses[i].iterable);
            check_list(walk, node->comprehension.clauses[i].conditions, 0);
        }
    }
}

static void check_expression(struct walk walk, const struct syntax *node)
{
    switch (node->kind) {
    case SYNTAX_NAME:
        check_name(node->name);
        break;
    case SYNTAX_INT:
    case SYNTAX_FLOAT:
    case SYNTAX_NONE:
    case SYNTAX_TRUE:
    case SYNTAX_FALSE:
    case SYNTAX_ELLIPSIS:
        break;
    case SYNTAX_STRING:
    case SYNTAX_FSTRING:
    case SYNTAX_FORMAT:
        check_text(walk, node);
        break;
    case SYNTAX_TUPLE:
    case SYNTAX_LIST:
        check_list(walk, node->elements, 0);
        break;
    case SYNTAX_SET:
    case SYNTAX_AND:
    case SYNTAX_OR:
        check_list(walk, node->elements, node->kind == SYNTAX_SET ? 1 : 2);
        break;
    case SYNTAX_ATTRIBUTE:
        check_node(walk, node->attribute.object);
        check_name(node->attribute.name);
        break;
    case SYNTAX_INDEX:
        check_node(walk, node->index.object);
        check_node(walk, node->index.key);
        break;
    case SYNTAX_SLICE:
        check_optional(walk, node->slice.start);
        check_optional(walk, node->slice.stop);
        check_optional(walk, node->slice.step);
        break;
    case SYNTAX_UNARY:
        check_node(walk, node->unary.operand);
        break;
    case SYNTAX_CONDITIONAL:
        check_node(walk, node->conditional.condition);
        check_node(walk, node->conditional.value);
        check_node(walk, node->conditional.otherwise);
        break;
    case SYNTAX_LAMBDA:
        check_function(walk, node);
        break;
    case SYNTAX_STARRED:
        check_node(walk, node->value);
        break;
    default:
        check_several(walk, node);
    }
}

static void check_node(struct walk walk, const struct syntax *node)
{
    FUZZ_REQUIRE(node != NULL && node->kind < SYNTAX_KIND_COUNT);
    FUZZ_REQUIRE(node->height >= 1 && node->height < walk.parent);
    FUZZ_REQUIRE(node->place.line >= 1 && node->place.column >= 1);
    FUZZ_REQUIRE(node->place.start <= node->place.end && node->place.end <= walk.size);
    walk.parent = node->height;
    if (node->kind < SYNTAX_NAME)
        check_statement(walk, node);
    else
        check_expression(walk, node);
}

static int64_t lines_of(const uint8_t *data, size_t size)
{
    int64_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n' || data[i] == '\r';
    return lines;
}

static void check_problem(enum status status, const struct problem *problem,
                          const uint8_t *data, size_t size)
{
    FUZZ_REQUIRE(status == STATUS_SYNTAX || status == STATUS_LIMIT ||
                 status == STATUS_OVERFLOW);
    FUZZ_REQUIRE(status == problem->status && problem->detail[0] != '\0');
    FUZZ_REQUIRE(problem->line >= 1 && problem->line <= lines_of(data, size));
    FUZZ_REQUIRE(problem->column >= 1 && problem->column <= (int64_t)size + 1);
}

// The number of statements, -1 if it does not parse.
static int parse(const uint8_t *data, size_t size, bool is_prelude)
{
    struct arena arena;
    struct problem problem;
    struct syntax *tree = NULL;
    FUZZ_REQUIRE(arena_open(&arena));
    problem_clear(&problem);
    enum status status =
        parse_program((const char *)data, size, is_prelude, &arena, &tree, &problem);
    int count = -1;
    if (status == STATUS_OK) {
        FUZZ_REQUIRE(tree != NULL && tree->kind == SYNTAX_MODULE);
        check_node((struct walk){size, SYNTAX_MAX_HEIGHT + 1}, tree);
        count = tree->body.count;
    } else {
        check_problem(status, &problem, data, size);
    }
    arena_close(&arena);
    return count;
}

int fuzz_program(const uint8_t *data, size_t size)
{
    int count = parse(data, size, false);
    FUZZ_REQUIRE(parse(data, size, true) >= count);
    if (count < 0 || (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0))
        return 0;
    uint8_t *twice = malloc(2 * size + 1);
    FUZZ_REQUIRE(twice != NULL);
    if (size > 0) {
        memcpy(twice, data, size);
        memcpy(twice + size + 1, data, size);
    }
    twice[size] = '\n';
    FUZZ_REQUIRE(parse(twice, 2 * size + 1, false) == 2 * count);
    free(twice);
    return 0;
}
