// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a program: what the parser makes and the compiler walks.
//
// Everything lies in the arena given to parse_program and is never changed after it.
// Names are interned: one struct syntax_name for each spelling, so that equal pointers
// mean equal names. Texts are terminated and may hold NUL within (strings). Lists are
// arrays; what associates to the left or to nothing (sums, products, comparisons, and/or,
// elif, clauses of comprehensions) is one node with many operands, so long programs are
// not deep trees: no node is higher than SYNTAX_MAX_HEIGHT, and a walk may recurse by
// height.
//
// Who checks what. The parser refuses whatever is wrong in a form by itself: bad targets,
// refused constructs and names (dunders), arguments and parameters in a wrong order or
// twice, starred expressions out of place, imports of unknown modules. It also refuses
// return outside of a function, break and continue outside of a loop, yield outside of a
// function of the prelude. Scopes (which name is local, free, global) are the compiler's,
// and whether a `with` may stand at all is found out when it runs.
#ifndef TENSORD_API_LANG_SYNTAX_H
#define TENSORD_API_LANG_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYNTAX_MAX_HEIGHT = 1000 };

// Where a piece of source is: line and column from 1, the column in characters; first
// byte and the byte after the last. Parentheses around an expression do not count to it,
// those of a tuple, generator, call do. Statements with a block end with its last
// statement.
struct syntax_place {
    int32_t line, column;
    uint32_t start, end;
};

struct syntax_name {
    const char *text; // terminated, UTF-8
    uint32_t bytes;
    uint32_t index; // 0, 1, 2 ... in the order of first appearance in the program
};

struct syntax;
struct syntax_list {
    int count;
    struct syntax **items;
};

enum syntax_kind {
    // Statements
    SYNTAX_MODULE,     // body
    SYNTAX_EXPRESSION, // value
    SYNTAX_ASSIGN,     // targets = value: a = b = value has two targets, from the left
    SYNTAX_AUGMENTED,  // augmented: target is NAME, ATTRIBUTE or INDEX
    SYNTAX_ANNOTATED,  // annotated: target as above
    SYNTAX_DELETE,     // targets, each NAME, ATTRIBUTE, INDEX or a TUPLE or LIST of such
    SYNTAX_DEF,        // function
    SYNTAX_IF,         // branches
    SYNTAX_FOR,        // loop
    SYNTAX_WHILE,      // loop, without target
    SYNTAX_BREAK,
    SYNTAX_CONTINUE,
    SYNTAX_RETURN, // value, or NULL
    SYNTAX_PASS,
    SYNTAX_ASSERT, // assertion
    SYNTAX_WITH,   // with
    SYNTAX_IMPORT, // imports
    SYNTAX_YIELD,  // value, or NULL (prelude only)
    // Expressions
    SYNTAX_NAME,   // name
    SYNTAX_INT,    // integer: 0 to 2^64-1. -9223372036854775808 is MINUS of 2^63: whoever
                   // compiles UNARY folds it
    SYNTAX_FLOAT,  // number
    SYNTAX_STRING, // string: all parts of an implicit concatenation joined
    SYNTAX_FSTRING, // elements: STRING (not empty) and FORMAT, never two STRINGs in a row
    SYNTAX_FORMAT,  // format: {value!conversion:spec}, only in an FSTRING
    SYNTAX_NONE,
    SYNTAX_TRUE,
    SYNTAX_FALSE,
    SYNTAX_ELLIPSIS,
    SYNTAX_TUPLE,              // elements, may hold STARRED
    SYNTAX_LIST,               // elements, may hold STARRED
    SYNTAX_SET,                // elements (at least one), may hold STARRED
    SYNTAX_DICT,               // dict
    SYNTAX_LIST_COMPREHENSION, // comprehension
    SYNTAX_SET_COMPREHENSION,  // comprehension
    SYNTAX_DICT_COMPREHENSION, // comprehension, with key
    SYNTAX_GENERATOR,          // comprehension
    SYNTAX_ATTRIBUTE,          // attribute
    SYNTAX_CALL,               // call
    SYNTAX_INDEX,       // index: object[key]; key may be SLICE or TUPLE with SLICEs
    SYNTAX_SLICE,       // slice, only within the key of an INDEX
    SYNTAX_UNARY,       // unary
    SYNTAX_BINARY,      // chain, operators SYNTAX_ADD to SYNTAX_POWER
    SYNTAX_COMPARE,     // chain, operators SYNTAX_EQ to SYNTAX_NOT_IN
    SYNTAX_AND,         // elements, at least two
    SYNTAX_OR,          // elements, at least two
    SYNTAX_CONDITIONAL, // conditional
    SYNTAX_LAMBDA,      // function, with value instead of body
    SYNTAX_STARRED,     // value: *value in a display, an index, a target, never elsewhere
    SYNTAX_KIND_COUNT
};

enum syntax_operator {
    SYNTAX_ADD,
    SYNTAX_SUBTRACT,
    SYNTAX_MULTIPLY,
    SYNTAX_DIVIDE,
    SYNTAX_FLOOR_DIVIDE,
    SYNTAX_REMAINDER,
    SYNTAX_MATMUL,
    SYNTAX_LEFT_SHIFT,
    SYNTAX_RIGHT_SHIFT,
    SYNTAX_BIT_AND,
    SYNTAX_BIT_OR,
    SYNTAX_BIT_XOR,
    SYNTAX_POWER,
    SYNTAX_EQ,
    SYNTAX_NE,
    SYNTAX_LT,
    SYNTAX_LE,
    SYNTAX_GT,
    SYNTAX_GE,
    SYNTAX_IS,
    SYNTAX_IS_NOT,
    SYNTAX_IN,
    SYNTAX_NOT_IN,
    SYNTAX_MINUS, // unary from here
    SYNTAX_PLUS,
    SYNTAX_INVERT,
    SYNTAX_NOT,
    SYNTAX_OPERATOR_COUNT
};

// The modules that can be imported. torch.nn is an attribute of torch, and so on.
enum syntax_module {
    SYNTAX_MODULE_TORCH,
    SYNTAX_MODULE_TORCH_NN,
    SYNTAX_MODULE_TORCH_NN_FUNCTIONAL,
    SYNTAX_MODULE_TORCH_CUDA,
    SYNTAX_MODULE_NUMPY,
    SYNTAX_MODULE_MATH,
    SYNTAX_MODULE_COUNT
};
const char *syntax_module_name(enum syntax_module module); // "torch.nn.functional"
const char *syntax_operator_text(enum syntax_operator op); // "+", "not in", "not"

enum syntax_parameter_kind { // in this order in every signature
    SYNTAX_POSITIONAL_ONLY,  // before a /
    SYNTAX_POSITIONAL,       // by position or keyword
    SYNTAX_REST,             // *args, at most one
    SYNTAX_KEYWORD_ONLY,     // behind * or *args
    SYNTAX_KEYWORDS,         // **kwargs, at most one
};
struct syntax_parameter {
    enum syntax_parameter_kind kind;
    struct syntax_place place; // of the name
    const struct syntax_name *name;
    struct syntax *default_value; // or NULL. Annotations are dropped.
};
struct syntax_function {
    const struct syntax_name *name; // NULL: lambda
    int n_parameters;
    struct syntax_parameter *parameters;
    struct syntax_list body; // def
    struct syntax *value;    // lambda, else NULL
};

struct syntax_branch {
    struct syntax *condition;
    struct syntax_list body;
};
struct syntax_with_item {
    struct syntax *context;
    struct syntax *target; // after `as`, or NULL
};
struct syntax_import { // one name is bound
    struct syntax_place place;
    enum syntax_module module;
    const struct syntax_name *attribute; // of the module; NULL: the module itself
    const struct syntax_name *bound;
};
enum syntax_argument_kind {
    SYNTAX_ARGUMENT_POSITIONAL,
    SYNTAX_ARGUMENT_STAR,    // *value, may stand among positional ones and after keywords
    SYNTAX_ARGUMENT_KEYWORD, // name=value
    SYNTAX_ARGUMENT_KEYWORDS, // **value
};
struct syntax_argument { // in the order of the source, which is that of evaluation save
                         // that * is evaluated before the keywords that precede it
    enum syntax_argument_kind kind;
    struct syntax_place place;
    const struct syntax_name *name; // KEYWORD only
    struct syntax *value;
};
struct syntax_clause { // for target in iterable if condition if condition ...
    struct syntax *target, *iterable;
    struct syntax_list conditions;
};

struct syntax {
    uint8_t kind;    // enum syntax_kind
    uint16_t height; // 1 for a leaf
    struct syntax_place place;
    union {
        struct syntax_list body;     // MODULE
        struct syntax_list elements; // TUPLE LIST SET FSTRING AND OR
        struct syntax *value;        // EXPRESSION RETURN YIELD STARRED
        struct {
            struct syntax_list targets;
            struct syntax *value;
        } assign; // ASSIGN; DELETE has no value
        struct {
            enum syntax_operator op;
            struct syntax *target, *value;
        } augmented;
        struct {
            struct syntax *target;
            struct syntax *annotation; // Python evaluates it outside of functions
            struct syntax *value;      // or NULL: nothing is assigned
            bool parenthesised;        // (x): int, which does not make x a local name
        } annotated;
        struct syntax_function *function; // DEF LAMBDA
        struct {
            int count; // if, elif ...
            struct syntax_branch *branches;
            struct syntax_list otherwise;
        } choice; // IF
        struct {
            struct syntax *target;   // FOR: as of an assignment
            struct syntax *iterable; // FOR: iterable; WHILE: condition
            struct syntax_list body, otherwise;
        } loop;
        struct {
            struct syntax *condition, *message; // message may be NULL
        } assertion;
        struct {
            int count;
            struct syntax_with_item *items;
            struct syntax_list body;
        } with;
        struct {
            int count;
            struct syntax_import *items;
        } imports;
        const struct syntax_name *name; // NAME
        uint64_t integer;
        double number;
        struct {
            const char *text; // terminated
            size_t bytes;
        } string;
        struct {
            struct syntax *value;
            char conversion; // 'r', 's', 'a' or 0. f"{x=}" is STRING "x=" and, without
                             // a spec or conversion of its own, conversion 'r'
            struct syntax *spec; // FSTRING, or NULL
        } format;
        struct {
            int count;
            struct syntax **keys; // NULL: **value
            struct syntax **values;
        } dict;
        struct {
            struct syntax *key;     // DICT_COMPREHENSION, else NULL
            struct syntax *element; // or value of a dict
            int count;
            struct syntax_clause *clauses;
        } comprehension;
        struct {
            struct syntax *object;
            const struct syntax_name *name;
            struct syntax_place place; // of the name alone
        } attribute;
        struct {
            struct syntax *callee;
            int count;
            struct syntax_argument *arguments;
        } call;
        struct {
            struct syntax *object, *key;
        } index;
        struct {
            struct syntax *start, *stop, *step; // NULL where absent
        } slice;
        struct {
            enum syntax_operator op;
            struct syntax *operand;
        } unary;
        // operands[0] operators[0] operands[1] operators[1] ...: BINARY takes them from
        // the left; ** has always two operands.
        struct {
            int count; // of operands, at least two
            struct syntax **operands;
            const uint8_t *operators; // enum syntax_operator, count - 1
        } chain;
        struct {
            struct syntax *condition, *value, *otherwise;
        } conditional;
    };
};
#endif
