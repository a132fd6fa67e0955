// SPDX-License-Identifier: Apache-2.0
// What surrounds a program while it runs: the user's names, natives that wait, gradients,
// functions that come from another program.
#include "lang_vm.h"

// ---- Names: one value of the user's, and how often it was asked for.

struct user {
    const char *name;
    struct value value;
    int asked;
};

static enum status user_lookup(void *context, struct vm *vm, const char *name,
                               size_t length, struct value *out, struct problem *problem)
{
    struct user *user = context;
    if (strlen(user->name) == length && memcmp(user->name, name, length) == 0) {
        user->asked++;
        *out = value_reference(user->value);
    }
    return STATUS_OK;
}

static void test_names(void **state)
{
    struct user user = {.name = "x", .value = value_int(7)};
    struct machine machine;
    struct vm_name name;
    int64_t at = 0;
    machine_begin(&machine,
                  "b = x + x\na = x\ndel a\nc = len\nx += 1\ndel c\nprint(b)\nx",
                  user_lookup, &user);
    machine_run(&machine, 2);
    assert_string_equal(machine.text.data, "8");
    assert_int_equal(user.asked, 1);
    static const char *const names[] = {"b", "a", "c", "x"};
    static const bool gone[] = {false, true, true, false};
    for (int i = 0; i < 4; i++) {
        assert_true(vm_next_name(machine.vm, &at, &name));
        assert_string_equal(name.name->text, names[i]);
        assert_int_equal(name.value.tag == VALUE_ABSENT, gone[i]);
    }
    assert_false(vm_next_name(machine.vm, &at, &name));
    machine_end(&machine);
}

static void test_deleted(void **state)
{
    struct user user = {.name = "x", .value = value_int(7)};
    struct machine machine;
    machine_begin(&machine, "del x\nx", user_lookup, &user);
    machine_run(&machine, 100);
    assert_int_equal(machine.status, STATUS_UNDEFINED);
    machine_end(&machine);
    // Behind a deleted name the builtin shows again; it is not the program's.
    user.name = "len";
    machine_begin(&machine, "a = len\ndel len\n(a, len([1, 2]))", user_lookup, &user);
    machine_run(&machine, 100);
    assert_string_equal(machine.text.data, "(7, 2)");
    struct vm_name name;
    int64_t at = 1;
    assert_true(vm_next_name(machine.vm, &at, &name));
    assert_string_equal(name.name->text, "len");
    assert_int_equal(name.value.tag, VALUE_ABSENT);
    machine_end(&machine);
}

static void test_lookup_by_text(void **state)
{
    struct user user = {.name = "any.name", .value = value_int(7)};
    struct machine machine;
    struct value value;
    machine_begin(&machine, "1", user_lookup, &user);
    assert_int_equal(vm_lookup(machine.vm, "any.name", 8, &value), OUTCOME_OK);
    assert_int_equal(value.i, 7);
    assert_int_equal(vm_lookup(machine.vm, "any.name", 8, &value), OUTCOME_OK);
    assert_int_equal(user.asked, 1);
    assert_int_equal(vm_lookup(machine.vm, "other", 5, &value), OUTCOME_OK);
    assert_int_equal(value.tag, VALUE_ABSENT);
    machine_end(&machine);
}

// ---- Waiting: a native that has to be called again.

static int waits, calls;

static enum outcome probe(struct vm *vm, struct value *slots, struct value *result)
{
    calls++;
    if (waits > 0) {
        waits--;
        return OUTCOME_WAIT;
    }
    if (slots[1].tag != VALUE_ABSENT && value_is_object(slots[1], OBJECT_LIST))
        *result = value_int(VALUE_AS(list, slots[1])->count);
    else
        *result = value_reference(slots[0]);
    return OUTCOME_OK;
}

static struct native probe_native[] = {
    {.name = "probe", .signature = "value, ~items=, *rest", .function = probe},
    {.name = NULL},
};

static void test_wait(void **state)
{
    struct user user = {
        .name = "probe",
        .value = {.tag = VALUE_NATIVE, .native = probe_native},
    };
    struct machine machine;
    waits = 3;
    calls = 0;
    machine_begin(&machine,
                  "def f():\n    print('once')\n    return 5\nprobe(f(), 0, 1, 2)",
                  user_lookup, &user);
    for (int i = 0; i < 3; i++)
        assert_int_equal(vm_run(machine.vm, 1000), VM_WAIT);
    machine_run(&machine, 1000);
    assert_string_equal(machine.text.data, "5");
    assert_int_equal(calls, 4);
    const char *printed;
    size_t bytes;
    vm_printed(machine.vm, &printed, &bytes);
    assert_int_equal(bytes, 5);
    machine_end(&machine);
}

static void test_drain(void **state)
{
    struct user user = {
        .name = "probe",
        .value = {.tag = VALUE_NATIVE, .native = probe_native},
    };
    static const char *const programs[] = {
        "probe(1, (x for x in range(30)))",
        "probe(1, items=(x for x in range(30)))",
        "probe(*[1, map(abs, range(30))])",
        "probe(1, **{'items': zip(range(30))})",
        "def f(): return probe(1, (i for i in range(5) for j in range(6)))\nf()",
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct machine machine;
        waits = 1;
        machine_begin(&machine, programs[i], user_lookup, &user);
        machine_run(&machine, 4);
        assert_int_equal(machine.status, STATUS_OK);
        assert_string_equal(machine.text.data, "30");
        machine_end(&machine);
    }
}

// ---- Gradients

static enum outcome make_context(struct vm *vm, struct value *slots, struct value *result)
{
    struct record *record =
        heap_object(vm_heap(vm), OBJECT_RECORD, sizeof *record, vm_problem(vm));
    if (!record)
        return OUTCOME_ERROR;
    record->type_text = "torch.autograd.grad_mode.no_grad";
    *result = value_of(record);
    return OUTCOME_OK;
}

static enum outcome grad(struct vm *vm, struct value *slots, struct value *result)
{
    *result = value_bool(vm_grad_enabled(vm));
    return OUTCOME_OK;
}

static struct native grad_natives[] = {
    {.name = "no_grad", .signature = "", .function = make_context},
    {.name = "grad", .signature = "", .function = grad},
    {.name = NULL},
};

static enum status grad_lookup(void *context, struct vm *vm, const char *name,
                               size_t length, struct value *out, struct problem *problem)
{
    const struct native *native = native_find(grad_natives, name, length);
    if (native)
        *out = (struct value){.tag = VALUE_NATIVE, .native = native};
    return STATUS_OK;
}

static void test_with(void **state)
{
    static const char *const programs[][2] = {
        {"with no_grad() as x: a = grad()\n(a, grad(), x)", "(False, True, None)"},
        {"def f():\n    with no_grad(), no_grad():\n        return grad()\n(f(), grad())",
         "(False, True)"},
        {"for i in range(3):\n    with no_grad():\n        if i == 1: break\n(i, grad())",
         "(1, True)"},
        {"a = []\nfor i in range(3):\n    with no_grad():\n        if i < 2: continue\n"
         "        a.append(grad())\n    a.append(grad())\na",
         "[False, True]"},
        {"def f():\n    for i in range(3):\n        with no_grad():\n"
         "            for j in range(3):\n                if j: return i, j\n"
         "(f(), grad())",
         "((0, 1), True)"},
        {"with no_grad():\n    with no_grad(): pass\n    a = grad()\n(a, grad())",
         "(False, True)"},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct machine machine;
        machine_begin(&machine, programs[i][0], grad_lookup, NULL);
        machine_run(&machine, 5);
        assert_int_equal(machine.status, STATUS_OK);
        assert_string_equal(machine.text.data, programs[i][1]);
        machine_end(&machine);
    }
    struct machine machine;
    machine_begin(&machine, "no_grad = abs\nwith no_grad(5): pass", grad_lookup, NULL);
    machine_run(&machine, 5);
    assert_int_equal(machine.status, STATUS_TYPE);
    assert_int_equal(machine.problem.line, 2);
    machine_end(&machine);
}

// ---- A function of one program in another: its globals are the caller's.

static void test_kept_function(void **state)
{
    struct machine maker, user_machine;
    machine_whole(&maker,
                  "def f(a, b=2):\n    def g(): return a + b + z\n    return g()\n"
                  "def broken():\n\n    return 1 / 0\n[f, broken]",
                  100);
    const struct list *made = VALUE_AS(list, vm_result(maker.vm));
    // Only its code goes on living.
    struct code *code = code_reference(VALUE_AS(function, made->items[0])->code);
    struct value defaults[] = {value_int(2)};
    struct code *broken = code_reference(VALUE_AS(function, made->items[1])->code);
    machine_end(&maker);
    static const char *const programs[] = {"z = 10\nf(1)", "\n\n\nz = 1\nf()"};
    for (int i = 0; i < 2; i++) {
        struct user user = {.name = "f"};
        machine_begin(&user_machine, programs[i], user_lookup, &user);
        struct function *function = heap_object(user_machine.heap, OBJECT_FUNCTION,
                                                sizeof *function, &user_machine.problem);
        assert_non_null(function);
        function->code = code_reference(i == 0 ? code : broken);
        function->defaults =
            i == 0 ? tuple_new(user_machine.heap, 1, defaults, &user_machine.problem)
                   : NULL;
        user.value = value_of(function);
        machine_run(&user_machine, 2);
        if (i == 0)
            assert_string_equal(user_machine.text.data, "13");
        else
            assert_int_equal(user_machine.problem.line, 6); // of its own source
        value_release(user.value);
        machine_end(&user_machine);
    }
    code_release(code);
    code_release(broken);
}

// ---- Every native's signature can be read.

static void test_signatures(void **state)
{
    struct native *tables[] = {str_methods,       list_methods,  tuple_methods,
                               dict_methods,      set_methods,   range_methods,
                               int_methods,       float_methods, slice_methods,
                               builtin_functions, math_functions};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (struct native *native = tables[i]; native->name; native++)
            if (!signature_of(native))
                fail_msg("%s(%s)", native->name, native->signature);
    for (int type = 0; type < TYPE_COUNT; type++) {
        const struct native *native = type_constructor((enum type)type);
        if (native)
            assert_non_null(signature_of(native));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),          cmocka_unit_test(test_deleted),
        cmocka_unit_test(test_lookup_by_text), cmocka_unit_test(test_wait),
        cmocka_unit_test(test_drain),          cmocka_unit_test(test_with),
        cmocka_unit_test(test_kept_function),  cmocka_unit_test(test_signatures),
    };
    return cmocka_run_group_tests(tests, machine_setup, machine_teardown);
}
