// SPDX-License-Identifier: Apache-2.0
// The parser against CPython's (tests/cases/python_syntax.inc): the trees of what both
// accept, the lines of what both refuse; what only the language refuses, by hand; limits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/lang/parser.h"
#include "api/lang/program.h"
#include "tests/unit/api/syntax_dump.h"

// Parses a copy of exactly so many bytes; the dump (to be freed) or NULL.
static char *parse_bytes(const char *source, size_t bytes, bool is_prelude,
                         struct problem *problem)
{
    struct arena arena;
    struct syntax *tree = NULL;
    struct dump dump = {.formatted = 0};
    char *copy = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, source, bytes);
    assert_true(arena_open(&arena));
    problem_clear(problem);
    enum status status = parse_program(copy, bytes, is_prelude, &arena, &tree, problem);
    free(copy); // the tree does not point into the source
    assert_int_equal(status, problem->status);
    if (status == STATUS_OK) {
        assert_non_null(tree);
        text_begin(&dump.text, NULL, 0);
        dump_node(&dump, tree);
        text_add(&dump.text, "", 1);
        assert_false(dump.text.failed);
    }
    arena_close(&arena);
    return status == STATUS_OK ? dump.text.data : NULL;
}

static void test_trees(void **state)
{
    static const struct {
        const char *source;
        size_t bytes;
        const char *dump;
    } cases[] = {
#define ACCEPTED(source, bytes, dump) {source, bytes, dump},
#define REFUSED(source, bytes, line)
#include "tests/cases/python_syntax.inc"
#undef ACCEPTED
#undef REFUSED
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem problem;
        char *dump = parse_bytes(cases[i].source, cases[i].bytes, false, &problem);
        if (dump == NULL || strcmp(dump, cases[i].dump) != 0) {
            print_message("%s\n  CPython: %s\n  here:    %s\n", cases[i].source,
                          cases[i].dump, dump ? dump : problem.detail);
            failures++;
        }
        free(dump);
    }
    assert_int_equal(failures, 0);
}

static void test_refused_as_in_python(void **state)
{
    static const struct {
        const char *source;
        size_t bytes;
        int line;
    } cases[] = {
#define ACCEPTED(source, bytes, dump)
#define REFUSED(source, bytes, line) {source, bytes, line},
#include "tests/cases/python_syntax.inc"
#undef ACCEPTED
#undef REFUSED
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem problem;
        char *dump = parse_bytes(cases[i].source, cases[i].bytes, false, &problem);
        if (dump || problem.status != STATUS_SYNTAX || problem.line != cases[i].line ||
            problem.column < 1) {
            print_message("%s\n  CPython: line %d\n  here:    line %d, %s\n",
                          cases[i].source, cases[i].line, (int)problem.line,
                          dump ? dump : problem.detail);
            failures++;
        }
        free(dump);
    }
    assert_int_equal(failures, 0);
}

// ---- What Python has and the language does not, and what is said of mistakes

static const struct refusal {
    const char *source, *message; // a part of the detail
    int line, column;
} refusals[] = {
    {"class A:\n  pass", "class is not part of the language near \"class A:\"", 1, 1},
    {"try:\n  x\nexcept E:\n  y", "try is not part of the language", 1, 1},
    {"x\nexcept E: y", "try is not part of the language", 2, 1},
    {"raise ValueError", "raise is not part of the language", 1, 1},
    {"def f():\n  global x", "global is not part of the language", 2, 3},
    {"def f():\n  nonlocal x", "nonlocal is not part of the language", 2, 3},
    {"async def f(): pass", "async is not part of the language", 1, 1},
    {"[x async for x in y]", "async is not part of the language", 1, 4},
    {"x = await y", "await is not part of the language", 1, 5},
    {"def f():\n  yield 1", "yield is not part of the language", 2, 3},
    {"def f():\n  x = yield", "yield is not part of the language", 2, 7},
    {"def f(): return (yield)", "yield is not part of the language", 1, 18},
    {"@a\ndef f(): pass", "decorators are not part of the language", 1, 1},
    {"(x := 1)", ":= is not part of the language", 1, 4},
    {"if x := f(): pass", ":= is not part of the language", 1, 6},
    {"f(x := 1)", ":= is not part of the language", 1, 5},
    {"a[x := 1]", ":= is not part of the language", 1, 5},
    {"match x:\n  case 1: pass", "match is not part of the language", 1, 1},
    {"match (x):\n  case 1: pass", "match is not part of the language", 1, 1},
    {"import os", "os cannot be imported: the modules are torch", 1, 8},
    {"import torch, os.path", "os.path cannot be imported", 1, 15},
    {"from torch.optim import SGD", "torch.optim cannot be imported", 1, 6},
    {"from __future__ import annotations", "__future__ cannot be imported", 1, 6},
    {"import numpy.linalg as la", "numpy.linalg cannot be imported", 1, 8},
    {"import torch.nn.functional.functional.functional.functional.functional.relu",
     "cannot be imported", 1, 8},
    {"from . import x", "relative imports are not part of the language", 1, 6},
    {"from ... import x", "relative imports are not part of the language", 1, 6},
    {"from torch import *", "import of * is not part of the language", 1, 19},
    {"x.__class__", "dunder names are not part of the language", 1, 3},
    {"__import__('os')", "dunder names are not part of the language", 1, 1},
    {"__name__", "dunder names are not part of the language", 1, 1},
    {"__version__ = 1", "dunder names are not part of the language", 1, 1},
    {"f(__x__=1)", "dunder names are not part of the language", 1, 3},
    {"def __f__(): pass", "dunder names are not part of the language", 1, 5},
    {"def f(__x__): pass", "dunder names are not part of the language", 1, 7},
    {"lambda __x__: 1", "dunder names are not part of the language", 1, 8},
    {"import math as __m__", "dunder names are not part of the language", 1, 16},
    {"from torch import __version__", "expected 'as'", 1, 30},
    {"b'x'", "bytes literals are not part of the language", 1, 1},
    {"x = rb'x'", "bytes literals are not part of the language", 1, 5},
    {"1j", "complex numbers are not part of the language", 1, 1},
    {"x = 1.5e3J", "complex numbers are not part of the language", 1, 5},
    {"'\\N{DASH}'", "\\N is not part of the language", 1, 2},
    {"f'{a}\\N{DASH}'", "\\N is not part of the language", 1, 6},
    {"'\\ud800'", "surrogates are not characters", 1, 2},
    {"'é\\udfff'", "surrogates are not characters", 1, 3},
    {"print x", "missing parentheses in call to 'print'", 1, 1},
    {"print \"a\"", "missing parentheses in call to 'print'", 1, 1},
    {"if x = 1: pass", "did you mean '=='?", 1, 6},
    {"while x = 1: pass", "did you mean '=='?", 1, 9},
    {"f(x) = 1", "cannot assign to a function call; did you mean '=='", 1, 1},
    {"x = 1\nelse if y: pass", "there is no 'if' or loop that this 'else' belongs to", 2,
     1},
    {"if x: y\nelse if z: w", "'else if' is written 'elif'", 2, 6},
    {"if x\n  y", "expected ':'", 1, 5},
    {"for x in y\n  z", "expected ':'", 1, 11},
    {"def f()\n  z", "expected ':'", 1, 8},
    {"for x in y:\nz", "expected an indented block after 'for' on line 1", 2, 1},
    {"if x:\n  y\nelse:\nz", "expected an indented block after 'else' on line 3", 4, 1},
    {"x\n  y", "unexpected indent", 2, 3},
    {"if x:\n    y\n  z", "unindent does not match any outer indentation level", 3, 3},
    {"if x:\n        y\n\tz", "inconsistent use of tabs and spaces", 3, 2},
    {"x = (1,\ny = 2", "'(' was never closed", 1, 5},
    {"x = [1, 2", "'[' was never closed", 1, 5},
    {"f(a, {b: c)", "')' does not close the '{' that was opened on line 1, column 6", 1,
     11},
    {"x = 1)", "unmatched ')'", 1, 6},
    {"x = 'abc", "this string has no end quote", 1, 5},
    {"x = '''abc\ny\n", "this triple-quoted string has no end (looked for until line 3)",
     1, 5},
    {"x = “a”", "U+201C is a curly quote", 1, 5},
    {"x = ‘a’", "U+2018 is a curly quote", 1, 5},
    {"x = 1\xC2\xA0+ 2", "U+00A0 is a non-breaking space", 1, 6},
    {"x = a – b", "U+2013 is a dash", 1, 7},
    {"x = a ? b : c", "? is not a character of the language", 1, 7},
    {"x = !a", "! is no operator; write not", 1, 5},
    {"a && b", "&& is no operator; write and", 1, 4},
    {"a || b", "|| is no operator; write or", 1, 4},
    {"del f()", "cannot delete a function call", 1, 5},
    {"f(a=1, b)", "a positional argument follows a keyword argument", 1, 8},
    {"f(a=1, a=2)", "keyword argument repeated: a", 1, 8},
    {"f(True=1)", "a keyword cannot be the name of an argument", 1, 3},
    {"def f(a, b, a): pass", "parameter a stands twice", 1, 13},
    {"def f(a=1, b): pass", "a parameter without a default follows one with a default", 1,
     12},
    {"return 1", "'return' outside of a function", 1, 1},
    {"for x in y: pass\nbreak", "'break' outside of a loop", 2, 1},
    {"for x in y:\n  def f(): continue", "'continue' outside of a loop", 2, 12},
    {"012", "octal ones start with 0o", 1, 1},
    {"x = 1 y = 2", "invalid syntax near \"y = 2\"", 1, 7},
    {"f(a b)", "is a comma missing here? near \"b)\"", 1, 5},
    {"héé = 1 é", "invalid syntax near \"é\"", 1, 9},
    {"f'{}'", "f-string: an expression is missing", 1, 4},
    {"f'é{a!x}'", "f-string: 'r', 's' or 'a' must follow '!'", 1, 6},
    {"f'''a\n{b c}'''", "invalid syntax", 2, 4},
    {"x = \\ 1", "behind the \\ that continues the line", 1, 5},
    {"y = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa = (bbb) 1",
     "invalid syntax near \"1\"", 1, 68},
    {"x = 1 ééééééééééééééééééééééééééééééééééééééééééééé",
     "near \"éééééééééééééééééééééééééééééééééééééééé...\"", 1, 7},
};

static void test_refusals(void **state)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *refusal = &refusals[i];
        struct problem problem;
        char *dump =
            parse_bytes(refusal->source, strlen(refusal->source), false, &problem);
        if (dump || problem.status != STATUS_SYNTAX ||
            strstr(problem.detail, refusal->message) == NULL ||
            problem.line != refusal->line || problem.column != refusal->column) {
            print_message("%s\n  wanted: %d:%d %s\n  here:   %d:%d %s\n", refusal->source,
                          refusal->line, refusal->column, refusal->message,
                          (int)problem.line, (int)problem.column, problem.detail);
            failures++;
        }
        free(dump);
    }
    assert_int_equal(failures, 0);
}

static void test_bytes_that_are_no_text(void **state)
{
    static const struct {
        const char *source;
        size_t bytes;
        const char *message;
        int line, column;
    } cases[] = {
        {"x\0y", 3, "byte 2 of the program is NUL", 1, 2},
        {"\0", 1, "byte 1 of the program is NUL", 1, 1},
        {"x = 1\n'\xFF'", 9, "byte 8 of the program (0xff) is not UTF-8", 2, 2},
        {"\xC3", 1, "byte 1 of the program (0xc3) is not UTF-8", 1, 1},
        {"\xC0\x80", 2, "(0xc0) is not UTF-8", 1, 1},
        {"\xE0\x80\x80", 3, "(0xe0) is not UTF-8", 1, 1},
        {"\xED\xA0\x80", 3, "(0xed) is not UTF-8", 1, 1},
        {"\xF4\x90\x80\x80", 4, "(0xf4) is not UTF-8", 1, 1},
        {"# é\x80", 5, "byte 5 of the program (0x80) is not UTF-8", 1, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem problem;
        assert_null(parse_bytes(cases[i].source, cases[i].bytes, false, &problem));
        assert_int_equal(problem.status, STATUS_SYNTAX);
        assert_non_null(strstr(problem.detail, cases[i].message));
        assert_int_equal(problem.line, cases[i].line);
        assert_int_equal(problem.column, cases[i].column);
    }
}

// ---- The prelude

static void test_prelude(void **state)
{
    struct problem problem;
    const char *source = "def f(x):\n  for y in x: yield y\n  yield\n  __secret__(1)";
    char *dump = parse_bytes(source, strlen(source), true, &problem);
    assert_non_null(dump);
    assert_non_null(strstr(dump, "Yield@2:15+7(Name@2:21+1(y))]"));
    assert_non_null(strstr(dump, "Yield@3:3+5(-)"));
    assert_non_null(strstr(dump, "Name@4:3+10(__secret__)"));
    free(dump);
    assert_null(parse_bytes("yield 1", 7, true, &problem));
    assert_non_null(strstr(problem.detail, "'yield' outside of a function"));
    source = "def f(): x = yield 1";
    assert_null(parse_bytes(source, strlen(source), true, &problem));
}

// ---- Limits. before, `count` times unit, middle, `count` times close.

static enum status parse_repeated(const char *before, const char *unit, int count,
                                  const char *middle, const char *close)
{
    struct problem problem;
    struct text source;
    text_begin(&source, NULL, 0);
    text_string(&source, before);
    for (int i = 0; i < count; i++)
        text_string(&source, unit);
    text_string(&source, middle);
    for (int i = 0; i < count; i++)
        text_string(&source, close);
    assert_false(source.failed);
    free(parse_bytes(source.data, source.length, false, &problem));
    text_end(&source);
    return problem.status;
}

static void test_nesting(void **state)
{
    static const struct {
        const char *before, *unit, *middle, *close;
        int levels; // so many are accepted, one more is not
    } cases[] = {
        {"", "(", "x", ")", PROGRAM_MAX_NESTING},
        {"", "[", "", "]", PROGRAM_MAX_NESTING},
        {"", "{1:", "x", "}", PROGRAM_MAX_NESTING},
        {"", "f(", "x", ")", PROGRAM_MAX_NESTING},
        {"", "x[", "y", "]", PROGRAM_MAX_NESTING},
        {"", "-", "x", "", PROGRAM_MAX_NESTING},
        {"", "not ", "x", "", PROGRAM_MAX_NESTING},
        {"", "lambda:", "x", "", PROGRAM_MAX_NESTING},
        {"", "a**", "x", "", PROGRAM_MAX_NESTING},
        {"", "a if b else ", "x", "", PROGRAM_MAX_NESTING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int more = 0; more < 2; more++)
            assert_int_equal(parse_repeated(cases[i].before, cases[i].unit,
                                            cases[i].levels + more, cases[i].middle,
                                            cases[i].close),
                             more ? STATUS_LIMIT : STATUS_OK);
    }
}

static void test_blocks_nest(void **state)
{
    for (int levels = PROGRAM_MAX_NESTING; levels <= PROGRAM_MAX_NESTING + 1; levels++) {
        struct problem problem;
        struct text source;
        text_begin(&source, NULL, 0);
        for (int i = 0; i <= levels; i++) {
            for (int space = 0; space < i; space++)
                text_literal(&source, " ");
            if (i < levels)
                text_literal(&source, "if x:\n");
            else
                text_literal(&source, "pass");
        }
        free(parse_bytes(source.data, source.length, false, &problem));
        assert_int_equal(problem.status,
                         levels > PROGRAM_MAX_NESTING ? STATUS_LIMIT : STATUS_OK);
        text_end(&source);
    }
}

// What associates to the left may be as long as it likes.
static void test_long_is_not_deep(void **state)
{
    static const char *const units[] = {"+x",
                                        "-x*y",
                                        " and x",
                                        " or x",
                                        "<x",
                                        " not in x",
                                        ",x",
                                        "\nx",
                                        " is x",
                                        "==x",
                                        ";x",
                                        "|x&y^z<<1+2",
                                        "\nif x: y\nelif z: w\nx"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        assert_int_equal(parse_repeated("x", units[i], 20000, "", ""), STATUS_OK);
    }
    assert_int_equal(parse_repeated("'a'", " f'{x}' 'b'", 20000, "", ""), STATUS_OK);
    assert_int_equal(parse_repeated("f'", "{x:{y}}{{", 20000, "'", ""), STATUS_OK);
    assert_int_equal(parse_repeated("if x: y\n", "elif x: y\n", 20000, "", ""),
                     STATUS_OK);
    assert_int_equal(parse_repeated("[x", " for x in y if z", 20000, "]", ""), STATUS_OK);
    assert_int_equal(parse_repeated("x", ".y", 900, "", ""), STATUS_OK);
    assert_int_equal(parse_repeated("x", ".y", 1100, "", ""), STATUS_LIMIT);
    assert_int_equal(parse_repeated("x", "()", 1100, "", ""), STATUS_LIMIT);
}

static void test_large_integers(void **state)
{
    static const char *const cases[] = {"18446744073709551616", "0x1_0000_0000_0000_0000",
                                        "0o2000000000000000000000",
                                        "99999999999999999999999999999999999999999"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct problem problem;
        assert_null(parse_bytes(cases[i], strlen(cases[i]), false, &problem));
        assert_int_equal(problem.status, STATUS_OVERFLOW);
        assert_int_equal(problem.line, 1);
        assert_int_equal(problem.column, 1);
    }
}

// Every prefix of every accepted source either parses or fails with a place in it.
static void test_truncated(void **state)
{
    static const struct {
        const char *source;
        size_t bytes;
    } cases[] = {
#define ACCEPTED(source, bytes, dump) {source, bytes},
#define REFUSED(source, bytes, line) {source, bytes},
#include "tests/cases/python_syntax.inc"
#undef ACCEPTED
#undef REFUSED
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t bytes = 0; bytes < cases[i].bytes; bytes++) {
            struct problem problem;
            free(parse_bytes(cases[i].source, bytes, false, &problem));
            if (problem.status != STATUS_OK) {
                assert_true(problem.line >= 1 && problem.column >= 1);
                assert_true(problem.column <= (int64_t)bytes + 2);
                assert_true(problem.detail[0] != '\0');
            }
        }
    }
}

static void test_names_are_one(void **state)
{
    static const char source[] =
        "a = b\na + longer_name_than_eight\nlonger_name_than_eight";
    struct arena arena;
    struct syntax *tree;
    struct problem problem;
    assert_true(arena_open(&arena));
    assert_int_equal(
        parse_program(source, sizeof source - 1, false, &arena, &tree, &problem),
        STATUS_OK);
    struct syntax **statements = tree->body.items;
    const struct syntax_name *a = statements[0]->assign.targets.items[0]->name;
    const struct syntax *sum = statements[1]->value;
    assert_int_equal(tree->body.count, 3);
    assert_string_equal(a->text, "a");
    assert_int_equal(a->index, 0);
    assert_int_equal(statements[0]->assign.value->name->index, 1);
    assert_ptr_equal(sum->chain.operands[0]->name, a);
    assert_ptr_equal(sum->chain.operands[1]->name, statements[2]->value->name);
    assert_int_equal(statements[2]->value->name->index, 2);
    assert_int_equal(sum->height, 2);
    assert_int_equal(tree->height, 4);
    arena_close(&arena);
}

static void test_excerpt(void **state)
{
    static const char source[] =
        "first\nsécond line that is longer than forty characters";
    struct syntax_place place = {2, 1, 6, sizeof source - 1};
    char text[64];
    syntax_excerpt(source, sizeof source - 1, place, text, sizeof text);
    assert_string_equal(text, "sécond line that is longer than forty ch...");
    syntax_excerpt(source, sizeof source - 1, place, text, 6);
    assert_string_equal(text, "s...");
    place.end = 9;
    syntax_excerpt(source, sizeof source - 1, place, text, sizeof text);
    assert_string_equal(text, "sé");
    place = (struct syntax_place){1, 1, 0, 20};
    syntax_excerpt(source, sizeof source - 1, place, text, sizeof text);
    assert_string_equal(text, "first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_refused_as_in_python),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bytes_that_are_no_text),
        cmocka_unit_test(test_prelude),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_blocks_nest),
        cmocka_unit_test(test_long_is_not_deep),
        cmocka_unit_test(test_large_integers),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_names_are_one),
        cmocka_unit_test(test_excerpt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
