// SPDX-License-Identifier: Apache-2.0
// The lexer alone: tokens and their places, lines and indentation, numbers, characters,
// names and marks. How tokens make programs is tested with the parser.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "api/lang/lexer.h"
#include "api/text.h"

static const char *kind_text(enum token_kind kind)
{
    static const char *const names[] = {"FAILED", "END", "NEWLINE", "INDENT", "DEDENT",
                                        "NAME",   "INT", "FLOAT",   "STRING"};
    return kind <= TOKEN_STRING ? names[kind] : token_text(kind);
}

// All tokens with spaces between them, places added if wanted: "NAME@1:1+3".
static void list_tokens(const char *source, size_t bytes, bool places, struct text *out,
                        struct problem *problem)
{
    static struct lexer lexer;
    struct arena arena;
    struct token token = {.kind = TOKEN_FAILED};
    assert_true(arena_open(&arena));
    problem_clear(problem);
    if (lexer_open(&lexer, source, (uint32_t)bytes, &arena, problem)) {
        do {
            char place[64];
            lexer_next(&lexer, &token);
            text_string(out, out->length > 0 ? " " : "");
            text_string(out, kind_text(token.kind));
            snprintf(place, sizeof place, "@%d:%d+%u", (int)token.place.line,
                     (int)token.place.column,
                     (unsigned)(token.place.end - token.place.start));
            text_string(out, places ? place : "");
        } while (token.kind != TOKEN_END && token.kind != TOKEN_FAILED);
        enum token_kind last = token.kind;
        lexer_next(&lexer, &token); // the end, like a failure, lasts
        assert_int_equal(token.kind, last);
    }
    assert_int_equal(token.kind == TOKEN_FAILED, problem->status != STATUS_OK);
    text_add(out, "", 1);
    arena_close(&arena);
}

static void assert_tokens(const char *source, size_t bytes, bool places,
                          const char *expected)
{
    char buffer[512];
    struct text text;
    struct problem problem;
    text_begin(&text, buffer, sizeof buffer);
    list_tokens(source, bytes, places, &text, &problem);
    assert_string_equal(text.data, expected);
    text_end(&text);
}

static void test_tokens(void **state)
{
    static const char *const cases[][2] = {
        {"", "END"},
        {"\n\n# comment\n", "END"},
        {"x", "NAME NEWLINE END"},
        {"x\n", "NAME NEWLINE END"},
        {"x \t\f y", "NAME NAME NEWLINE END"},
        {"x # y", "NAME NEWLINE END"},
        {"x;y", "NAME ; NAME NEWLINE END"},
        {"a**=b//c", "NAME **= NAME // NAME NEWLINE END"},
        {"a<<=b>>=c->d", "NAME <<= NAME >>= NAME -> NAME NEWLINE END"},
        {"a<=b>=c!=d==e:=f", "NAME <= NAME >= NAME != NAME == NAME := NAME NEWLINE END"},
        {"+-*/%@&|^~<>", "+ - * / % @ & | ^ ~ < > NEWLINE END"},
        {"+=-=*=/=%=@=&=|=^=//=", "+= -= *= /= %= @= &= |= ^= //= NEWLINE END"},
        {"** *** ****", "** ** * ** ** NEWLINE END"},
        {". .. ... ....", ". . . ... ... . NEWLINE END"},
        {"x.1.2", "NAME FLOAT FLOAT NEWLINE END"},
        {"if x:\n  y\nz",
         "if NAME : NEWLINE INDENT NAME NEWLINE DEDENT NAME NEWLINE END"},
        {"a\n  b\n    c\n", "NAME NEWLINE INDENT NAME NEWLINE INDENT NAME NEWLINE DEDENT "
                            "DEDENT END"},
        {"a\n  b\n\n   \n # c\n  d",
         "NAME NEWLINE INDENT NAME NEWLINE NAME NEWLINE DEDENT "
         "END"},
        {"(a\n  b\n)\nc", "( NAME NAME ) NEWLINE NAME NEWLINE END"},
        {"a\\\n  b", "NAME NAME NEWLINE END"},
        {"a\\\r\nb\\\rc", "NAME NAME NAME NEWLINE END"},
        {"a\r\nb\rc\n", "NAME NEWLINE NAME NEWLINE NAME NEWLINE END"},
        {"\xEF\xBB\xBFx", "NAME NEWLINE END"},
        {"'a' \"b\" '''c\n''' r'\\' f''", "STRING STRING STRING STRING FAILED"},
        {"rb 'x'", "NAME STRING NEWLINE END"},
        {"bu'x'", "NAME STRING NEWLINE END"},
        {"Fr'x' rF'y' U'z'", "STRING STRING STRING NEWLINE END"},
        {"ifx elif _if iff", "NAME elif NAME NAME NEWLINE END"},
        {"none None true True", "NAME None NAME True NEWLINE END"},
        {"match case type _", "NAME NAME NAME NAME NEWLINE END"},
        {"été 变量 ñ1 ª µ", "NAME NAME NAME NAME NAME NEWLINE END"},
        {"1if 2else", "INT if INT else NEWLINE END"},
        {"a\n\tb\n        c", "NAME NEWLINE INDENT NAME NEWLINE FAILED"},
        {"a\n\t b\n\t c", "NAME NEWLINE INDENT NAME NEWLINE NAME NEWLINE DEDENT END"},
        {"x$", "NAME FAILED"},
        {"(]", "( FAILED"},
        {")", "FAILED"},
        {"(", "( FAILED"},
        {"x \\", "NAME FAILED"},
        {"x \\\n", "NAME FAILED"},
        {"\x0B", "FAILED"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_tokens(cases[i][0], strlen(cases[i][0]), false, cases[i][1]);
}

static void test_places(void **state)
{
    static const char *const cases[][2] = {
        {"x = 10", "NAME@1:1+1 =@1:3+1 INT@1:5+2 NEWLINE@1:7+0 END@1:7+0"},
        {"é += 'ü' # ö\ny", "NAME@1:1+2 +=@1:3+2 STRING@1:6+4 NEWLINE@1:13+0 NAME@2:1+1 "
                            "NEWLINE@2:2+0 END@2:2+0"},
        {"a '''b\né''' c", "NAME@1:1+1 STRING@1:3+10 NAME@2:6+1 NEWLINE@2:7+0 END@2:7+0"},
        {"(\r\n a\r b)", "(@1:1+1 NAME@2:2+1 NAME@3:2+1 )@3:3+1 NEWLINE@3:4+0 END@3:4+0"},
        {"\xEF\xBB\xBFx", "NAME@1:1+1 NEWLINE@1:2+0 END@1:2+0"},
        {"a\n\t b", "NAME@1:1+1 NEWLINE@1:2+0 INDENT@2:3+0 NAME@2:3+1 NEWLINE@2:4+0 "
                    "DEDENT@2:4+0 END@2:4+0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_tokens(cases[i][0], strlen(cases[i][0]), true, cases[i][1]);
}

static struct token first_token(const char *source, struct arena *arena,
                                struct problem *problem)
{
    static struct lexer lexer;
    struct token token = {.kind = TOKEN_FAILED};
    problem_clear(problem);
    assert_true(lexer_open(&lexer, source, (uint32_t)strlen(source), arena, problem));
    lexer_next(&lexer, &token);
    return token;
}

static void test_numbers(void **state)
{
    static const struct {
        const char *source;
        double value;
    } floats[] = {
        {"1.", 1.0},
        {".5", 0.5},
        {"1e3", 1000.0},
        {"1_0.2_5", 10.25},
        {"1E-2", 0x1.47ae147ae147bp-7},
        {"0.1", 0x1.999999999999ap-4},
        {"00.5", 0.5},
        {"1e400", __builtin_inf()},
        {"5e-324", 0x1p-1074},
        {"9007199254740993.0", 9007199254740992.0},
        {"1.00000000000000011102230246251565404236316680908203125", 1.0},
        {"1.00000000000000011102230246251565404236316680908203126", 0x1.0000000000001p0}};
    static const struct {
        const char *source;
        uint64_t value;
    } integers[] = {{"0", 0},
                    {"0_0", 0},
                    {"42", 42},
                    {"1_000", 1000},
                    {"0xFf", 255},
                    {"0X_a", 10},
                    {"0o17", 15},
                    {"0b1_01", 5},
                    {"18446744073709551615", UINT64_MAX},
                    {"0xFFFFFFFFFFFFFFFF", UINT64_MAX}};
    struct arena arena;
    struct problem problem;
    assert_true(arena_open(&arena));
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        struct token token = first_token(floats[i].source, &arena, &problem);
        assert_int_equal(token.kind, TOKEN_FLOAT);
        assert_memory_equal(&token.number, &floats[i].value, sizeof token.number);
        assert_int_equal(token.place.end, strlen(floats[i].source));
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        struct token token = first_token(integers[i].source, &arena, &problem);
        assert_int_equal(token.kind, TOKEN_INT);
        assert_int_equal(token.integer, integers[i].value);
        assert_int_equal(token.place.end, strlen(integers[i].source));
    }
    arena_close(&arena);
}

static void test_strings(void **state)
{
    struct arena arena;
    struct problem problem;
    assert_true(arena_open(&arena));
    struct token token = first_token("rF'''a\n\\''b''' c", &arena, &problem);
    assert_int_equal(token.kind, TOKEN_STRING);
    assert_true(token.string.raw && token.string.formatted);
    assert_int_equal(token.string.start, 5);
    assert_int_equal(token.string.end, 11);
    assert_int_equal(token.string.line, 1);
    assert_int_equal(token.string.column, 6);
    token = first_token("'\\\n'", &arena, &problem);
    assert_false(token.string.raw || token.string.formatted);
    assert_int_equal(token.string.end - token.string.start, 2);
    arena_close(&arena);
}

// Every operator and every keyword is found again, and nothing more of it.
static void test_tables(void **state)
{
    for (unsigned kind = TOKEN_LEFT_PAREN; kind < TOKEN_KIND_COUNT; kind++) {
        const char *text = token_text((enum token_kind)kind);
        assert_true(strlen(text) > 0);
        if (kind >= TOKEN_FIRST_KEYWORD) {
            assert_int_equal(token_keyword(text, (uint32_t)strlen(text)), kind);
            assert_int_equal(token_keyword(text, (uint32_t)strlen(text) - 1) == kind, 0);
        } else {
            int b = text[1] ? text[1] : -1, c = text[1] && text[2] ? text[2] : -1;
            assert_int_equal(token_operator(text[0], b, c), kind);
        }
    }
    assert_int_equal(token_keyword("continued", 9), TOKEN_NAME);
    assert_int_equal(token_keyword("{", 1), TOKEN_NAME);
    assert_int_equal(token_operator('$', -1, -1), TOKEN_FAILED);
    assert_int_equal(token_operator('!', ' ', '='), TOKEN_FAILED);
    assert_int_equal(token_operator(-1, -1, -1), TOKEN_FAILED);
}

static void test_letters(void **state)
{
    static const uint32_t letters[] = {0xAA,   0xB5,   0xBA,   0xC0,    0xFF,
                                       0x3B1,  0x416,  0x5D0,  0x628,   0x905,
                                       0x3042, 0x4E2D, 0xAC00, 0x1D400, 0x20000};
    static const uint32_t others[] = {0x80,   0xA0,   0xAB,   0xD7,   0xF7,   0x2003,
                                      0x200B, 0x2013, 0x2018, 0x201D, 0x2026, 0x20AC,
                                      0x2212, 0x2264, 0x3000, 0x3002, 0xE000, 0xFEFF,
                                      0xFF08, 0xFF0C, 0x1F600};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        assert_true(lexer_is_letter(letters[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(lexer_is_letter(others[i]));
}

static void test_names(void **state)
{
    enum { COUNT = 5000 };
    static const struct syntax_name *found[COUNT];
    struct arena arena;
    struct names names;
    char text[32];
    assert_true(arena_open(&arena));
    names_open(&names, &arena);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            int bytes =
                snprintf(text, sizeof text, "%s%d", i % 2 ? "n" : "longer_name_", i);
            const struct syntax_name *name = names_intern(&names, text, (uint32_t)bytes);
            assert_non_null(name);
            assert_string_equal(name->text, text);
            assert_int_equal(name->bytes, bytes);
            assert_int_equal(name->index, i);
            if (round > 0)
                assert_ptr_equal(name, found[i]);
            found[i] = name;
        }
    }
    assert_false(names_mark(found[0], 1));
    assert_false(names_mark(found[1], 1));
    assert_true(names_mark(found[0], 1));
    assert_false(names_mark(found[0], 2));
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_tables),  cmocka_unit_test(test_letters),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
