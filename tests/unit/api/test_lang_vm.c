// SPDX-License-Identifier: Apache-2.0
// Programs run: answers and the texts of errors as CPython has them
// (python_messages.inc), limits, names, waiting, gradients, functions that outlive their
// program.
#include "lang_vm.h"

static const struct message {
    const char *program;
    enum status status;
    const char *text, *printed;
    int line;
} messages[] = {
#include "tests/cases/python_messages.inc"
};

static void check_message(const struct message *row, int64_t slice)
{
    struct machine machine;
    const char *printed;
    size_t bytes = 0;
    machine_whole(&machine, row->program, slice);
    if (machine.status != row->status)
        fail_msg("%s\nhas status %d, not %d: %s", row->program, (int)machine.status,
                 (int)row->status, machine.problem.detail);
    const char *text =
        row->status == STATUS_OK ? machine.text.data : machine.problem.detail;
    if (row->status == STATUS_OK ? strcmp(text, row->text) != 0
                                 : strncmp(text, row->text, strlen(row->text)) != 0)
        fail_msg("%s\nsays %s, not %s", row->program, text, row->text);
    if (row->line > 0)
        assert_int_equal(machine.problem.line, row->line);
    if (machine.vm)
        vm_printed(machine.vm, &printed, &bytes);
    assert_int_equal(bytes, strlen(row->printed));
    if (bytes > 0)
        assert_memory_equal(printed, row->printed, bytes);
    machine_end(&machine);
}

static void test_messages(void **state)
{
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        check_message(&messages[i], 1 << 20);
        check_message(&messages[i], 1);
    }
}

static void test_places(void **state)
{
    struct machine machine;
    machine_whole(&machine, "x = 1\ny = [x +\n     x + 'a' + x]", 100);
    assert_int_equal(machine.status, STATUS_TYPE);
    assert_int_equal(machine.problem.line, 2);
    assert_int_equal(machine.problem.column, 6);
    machine_end(&machine);
    machine_whole(&machine, "d = 'é' + str(1)\nf = lambda: len(5)\n'é', f()", 100);
    assert_int_equal(machine.problem.line, 2);
    assert_int_equal(machine.problem.column, 13);
    assert_non_null(strstr(machine.problem.detail, "len(5)"));
    machine_end(&machine);
    // What the prelude does is told where it was called.
    assert_failure("a = 1\nmax([1, 'a'])", STATUS_TYPE,
                   "'>' not supported between instances of 'str' and 'int' (in \"max(",
                   2);
    assert_failure("def key(x):\n    return x.y\nsorted([1], key=key)", STATUS_ATTRIBUTE,
                   "'int' object has no attribute 'y'", 2);
}

static void test_nearest(void **state)
{
    struct machine machine;
    machine_whole(&machine, "counter = 1\ncuonter", 100);
    assert_int_equal(machine.status, STATUS_UNDEFINED);
    assert_string_equal(machine.problem.nearest, "counter");
    machine_end(&machine);
    machine_whole(&machine, "pirnt(1)", 100);
    assert_string_equal(machine.problem.nearest, "print");
    machine_end(&machine);
    machine_whole(&machine, "def f(value):\n    return valeu\nf(1)", 100);
    assert_string_equal(machine.problem.nearest, "value");
    machine_end(&machine);
}

// ---- Limits

static void test_steps(void **state)
{
    struct machine machine;
    machine_whole(&machine, "while True: pass", 1000);
    assert_int_equal(machine.status, STATUS_LIMIT);
    assert_int_equal(vm_steps(machine.vm), MACHINE_STEPS);
    assert_int_equal(vm_run(machine.vm, 1000), VM_FAILED);
    machine_end(&machine);
    machine_begin(&machine, "x = 0\nfor i in range(100): x += i\nx", NULL, NULL);
    assert_int_equal(vm_run(machine.vm, 0), VM_MORE);
    assert_int_equal(vm_steps(machine.vm), 0);
    assert_int_equal(vm_run(machine.vm, 10), VM_MORE);
    assert_int_equal(vm_steps(machine.vm), 10);
    machine_run(&machine, 3);
    assert_string_equal(machine.text.data, "4950");
    machine_end(&machine);
    assert_failure("list(range(10 ** 12))", STATUS_LIMIT, "", 1);
    assert_failure("[*range(10 ** 12)]", STATUS_LIMIT, "", 1);
    assert_failure("sum(x for x in range(10 ** 12))", STATUS_LIMIT, "", 1);
}

static void test_print_limit(void **state)
{
    assert_failure("while True: print('x' * 100)", STATUS_LIMIT, "the program prints", 1);
}

static void test_depth(void **state)
{
    assert_failure("def f(n): return f(n + 1)\nf(0)", STATUS_LIMIT,
                   "maximum recursion depth exceeded", 1);
    assert_answer("def f(n): return 0 if n == 0 else 1 + f(n - 1)\nf(998)", "998");
    // A generator inside a generator inside ...
    assert_failure("def f(n): return any(f(n + 1) for _ in [1])\nf(0)", STATUS_LIMIT,
                   "maximum recursion depth exceeded", 1);
    assert_failure("g = []\nfor i in range(1200): g = map(abs, g)\nlist(g)", STATUS_LIMIT,
                   "maximum recursion depth exceeded", 3);
}

static void test_memory(void **state)
{
    assert_failure("x = [0]\nwhile True: x += x", STATUS_OUT_OF_MEMORY, "", 2);
}

// ---- Generators

static void test_producers(void **state)
{
    assert_answer("g = map(abs, [-1, -2, -3])\n"
                  "a = 2 in g\n"
                  "(a, list(g))",
                  "(True, [])");
    assert_answer("a, b = map(abs, [-1, -2])\nb, *c = zip('ab', [1, 2])\n(a, b, c)",
                  "(1, ('a', 1), [('b', 2)])");
    assert_answer("x = [1]\nx += map(str, x)\nx", "[1, '1']");
    assert_answer("g = enumerate('abc')\nfor i, c in g:\n    if i == 0: break\nlist(g)",
                  "[(1, 'b'), (2, 'c')]");
    assert_answer("a = []\na.append(map(len, a))\nlen(a)", "1"); // a cycle
    assert_failure("def f(x):\n    return list(g)\ng = map(f, [1])\nlist(g)",
                   STATUS_VALUE, "generator already executing", 2);
    assert_failure("def f(x):\n    for y in g: return y\ng = map(f, [1])\nlist(g)",
                   STATUS_VALUE, "generator already executing", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),    cmocka_unit_test(test_places),
        cmocka_unit_test(test_nearest),     cmocka_unit_test(test_steps),
        cmocka_unit_test(test_print_limit), cmocka_unit_test(test_depth),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_producers),
    };
    return cmocka_run_group_tests(tests, machine_setup, machine_teardown);
}
