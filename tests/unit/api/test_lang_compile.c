// SPDX-License-Identifier: Apache-2.0
// What the compiler says about a program: facts, refusals, the size of what it makes.
#include "lang_vm.h"

static struct code *compiled(const char *source)
{
    struct problem problem;
    struct code *code = NULL;
    if (program_compile(source, strlen(source), false, &code, &problem) != STATUS_OK)
        fail_msg("%s\n%s", source, problem.detail);
    return code;
}

// Names separated by blanks, in the order of their first appearance.
static void assert_names(const char *source, int count, const char *const *names,
                         const char *expected)
{
    char text[512] = "";
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                   i > 0 ? " " : "", names[i]);
    if (strcmp(text, expected) != 0)
        fail_msg("%s\nhas %s, not %s", source, text, expected);
}

static void test_reads_and_writes(void **state)
{
    static const char *const rows[][3] = {
        {"y = x + 1", "x", "y"},
        {"x += 1", "x", "x"},
        {"x = 1\nx + 1", "", "x"}, // certain
        {"if c: x = 1\nx", "c x", "x"},
        {"for i in r: x = i\nx", "i r x", "i x"},
        {"while a: b = 1\nelse: c = 2\nc", "a c", "b c"},
        {"def f(a, b=d): return a + e\nf(1)", "d e", "f"},
        {"def f():\n    x = 1\n    return x\nx", "x", "f"},
        {"def f():\n    return y\ny = 1\nf()", "y", "f y"},
        {"y = 1\ndef f():\n    return y\nf()", "", "y f"},
        {"[a for a in b if c]", "b c", ""},
        {"[a for a in b for d in a]\nd", "b d", ""},
        {"f(a for a in b)", "f b", ""},
        {"lambda q: q + w", "w", ""},
        {"a, (b, *c) = d", "d", "a b c"},
        {"a.b = c\na[d] = e\ndel f, g[0]", "a c d e g", "f"},
        {"x: int = 5", "int", "x"},
        {"import torch\nfrom torch import nn\nimport numpy as np\nnp.ones(2)", "", ""},
        {"torch.sum(np.x) + F.relu(nn.y)", "", ""},
        {"f'{a:{b}} {c!r}'", "a b c", ""},
        {"f(*a, b=c, **d)", "f a c d", ""},
        {"{k: v, **m}", "k v m", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct code *code = compiled(rows[i][0]);
        const struct program_facts *facts = program_facts(code);
        assert_names(rows[i][0], facts->n_reads, facts->reads, rows[i][1]);
        assert_names(rows[i][0], facts->n_writes, facts->writes, rows[i][2]);
        code_release(code);
    }
}

static void test_tensors(void **state)
{
    static const struct {
        const char *source, *tensors;
        bool dynamic;
    } rows[] = {
        {"tensor('a.b') + tensor(\"ann:x\")", "a.b ann:x", false},
        {"tensor(name)", "", true},
        {"t = tensor", "", true},
        {"torch.tensor([1, 2])", "", false},
        {"tensor([[1.0]], dtype=torch.float32)", "", false},
        {"tensor(-1)", "", false},
        {"torch.tensor('x')", "", false},
        {"tensor(*a)", "", true},
        {"f = torch.tensor", "", true},
        {"from torch import tensor as t", "", true},
        {"tensor(f'{a}')", "", true},
        {"def f(): return tensor('in')", "in", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct code *code = compiled(rows[i].source);
        const struct program_facts *facts = program_facts(code);
        assert_names(rows[i].source, facts->n_tensors, facts->tensors, rows[i].tensors);
        if (facts->dynamic != rows[i].dynamic)
            fail_msg("%s is%s dynamic", rows[i].source, facts->dynamic ? "" : " not");
        code_release(code);
    }
}

static void test_other_facts(void **state)
{
    struct code *code = compiled("x.add_(y.T).sum()\nx.T");
    const struct program_facts *facts = program_facts(code);
    assert_names("attributes", facts->n_attributes, facts->attributes, "add_ T sum");
    assert_int_equal(facts->n_statements, 2);
    assert_true(facts->ends_in_expression);
    assert_false(facts->loops);
    code_release(code);
    static const char *const loops[] = {"for i in x: pass", "[a for a in b]", "lambda: 0",
                                        "while x: pass", "def f(): pass"};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        code = compiled(loops[i]);
        assert_true(program_facts(code)->loops);
        code_release(code);
    }
    code = compiled("x = 1\nif x: y = x");
    assert_false(program_facts(code)->ends_in_expression);
    assert_int_equal(program_facts(code)->n_statements, 2);
    code_release(code);
}

static void test_refused(void **state)
{
    assert_failure("x = 1\nwith open('f') as f: pass", STATUS_SYNTAX, "with takes", 2);
    assert_failure("with x: pass", STATUS_SYNTAX, "with takes", 1);
    assert_failure("\ng = (n for n in range(3))", STATUS_SYNTAX, "a generator expression",
                   2);
    assert_failure("return 1", STATUS_SYNTAX, "", 1);
    assert_failure("break", STATUS_SYNTAX, "", 1);
    assert_failure("for i in x:\n    def f():\n        continue", STATUS_SYNTAX, "", 3);
    assert_failure("def f():\n    yield 1", STATUS_SYNTAX, "", 2);
}

// Displays, calls and f-strings of any length need a low stack.
static void test_heights(void **state)
{
    static const char *const rows[][3] = {
        {"[", "1,", "]"},    {"(", "1,", ")"},        {"{", "1,", "}"},
        {"{", "1:2,", "}"},  {"print(", "1,", ")"},   {"f'", "{x}", "'"},
        {"x = ", "1+", "1"}, {"x = ", "a and ", "b"}, {"x = ", "a < ", "b"},
    };
    enum { COUNT = 3000 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text text;
        text_begin(&text, NULL, 0);
        text_string(&text, rows[i][0]);
        for (int k = 0; k < COUNT; k++)
            text_string(&text, rows[i][1]);
        text_string(&text, rows[i][2]);
        text_add(&text, "", 1);
        struct code *code = compiled(text.data);
        assert_in_range(code->stack_size, 1, 200);
        code_release(code);
        text_end(&text);
    }
    assert_answer(
        "len([" // 130 elements, with a starred one in the middle
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,*'abc',"
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1])",
        "130");
}

static void test_shared_constants(void **state)
{
    struct code *code =
        compiled("a = 'text'; b = 'text'; c = 1.5; d = 1.5; e = -0.0; f = 0.0");
    assert_int_equal(code->unit->n_constants, 4);
    code_release(code);
}

static void test_references(void **state)
{
    struct code *code = compiled("def f(): return 'kept'\nf");
    struct code *inner = code_reference(code->unit->codes[0]);
    code_release(code);
    assert_string_equal(code_name(inner), "f");
    assert_int_equal(inner->unit->source_bytes, 24);
    code_release(inner);
    code_release(NULL);
}

static void test_disassembly(void **state)
{
    struct code *code = compiled("x + 1");
    struct text text;
    text_begin(&text, NULL, 0);
    code_disassemble(code, &text);
    text_add(&text, "", 1);
    assert_string_equal(text.data, "0 global 0\n1 integer 1\n2 add 0\n3 end 1\n");
    text_end(&text);
    code_release(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_and_writes), cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_other_facts),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_heights),          cmocka_unit_test(test_shared_constants),
        cmocka_unit_test(test_references),       cmocka_unit_test(test_disassembly),
    };
    return cmocka_run_group_tests(tests, machine_setup, machine_teardown);
}
