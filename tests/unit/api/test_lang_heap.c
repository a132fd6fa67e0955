// SPDX-License-Identifier: Apache-2.0
// The heap of programs: what it admits, how structures of any depth and cycles go, and
// that walks over nested values are bounded in depth and in length.
#include "tests/unit/api/lang_objects.h"

enum { MEMORY = 64 << 20 };

// ---- The heap

static void test_memory_is_admitted(void **state)
{
    struct machine machine;
    machine_open(&machine, 1 << 20, INT64_MAX);
    struct value text = text_value(&machine, "0123456789"), result;
    assert_fails(
        &machine,
        value_binary(machine.vm, BINARY_MUL, false, text, value_int(10000000), &result),
        STATUS_OUT_OF_MEMORY, "the test admits no more");
    assert_fails(
        &machine,
        value_binary(machine.vm, BINARY_MUL, false, text, value_int(INT64_MAX), &result),
        STATUS_OUT_OF_MEMORY, NULL);
    struct list *list = list_new(machine.heap, 0, NULL, vm_problem(machine.vm));
    while (list_append(machine.heap, list, text, vm_problem(machine.vm)))
        assert_true(list->count < 1 << 20);
    assert_int_equal(problem_of(&machine)->status, STATUS_OUT_OF_MEMORY);
    assert_true(list->count > 10000);
    assert_true(heap_granted(machine.heap) <= 1 << 20);
    assert_int_equal(heap_granted(machine.heap), machine.granted);
    value_release(value_of(list));
    value_release(text);
    // What was released is used again without asking.
    int64_t granted = machine.granted;
    for (int i = 0; i < 1000; i++)
        value_release(
            value_of(list_new(machine.heap, 20000, NULL, vm_problem(machine.vm))));
    assert_true(machine.granted <= 1 << 20 && machine.granted >= granted);
    machine_close(&machine);
}

static void test_sizes_beyond_memory(void **state)
{
    struct machine machine;
    machine_open(&machine, INT64_MAX, INT64_MAX);
    struct value list = value_read(&machine, "[1, 2, 3]"),
                 tuple = value_read(&machine, "(1,)");
    struct value result;
    static const int64_t times[] = {INT64_MAX, INT64_MAX / 2, (int64_t)1 << 60,
                                    (int64_t)1 << 57};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            assert_int_equal(value_binary(machine.vm, BINARY_MUL, in_place, list,
                                          value_int(times[i]), &result),
                             OUTCOME_ERROR);
            assert_int_equal(value_binary(machine.vm, BINARY_MUL, in_place, tuple,
                                          value_int(times[i]), &result),
                             OUTCOME_ERROR);
        }
    }
    assert_int_equal(VALUE_AS(list, list)->count, 3);
    value_release(list);
    value_release(tuple);
    machine_close(&machine);
}

static void test_steps_bound_copies(void **state)
{
    struct machine machine;
    machine_open(&machine, MEMORY, 10000);
    struct value list = value_read(&machine, "[1, 2]"), result;
    assert_fails(
        &machine,
        value_binary(machine.vm, BINARY_MUL, false, list, value_int(1000000), &result),
        STATUS_LIMIT, NULL);
    value_release(list);
    machine_close(&machine);
}

// Lists in lists, deeper than the C stack could follow.
static void test_deep_structures_go(void **state)
{
    struct machine machine;
    machine_open(&machine, (int64_t)1 << 30, INT64_MAX);
    struct value inner = value_none();
    for (int i = 0; i < 1000000; i++) {
        struct value outer;
        if (i % 2 == 0)
            outer = value_of(list_new(machine.heap, 1, &inner, vm_problem(machine.vm)));
        else
            outer = value_of(tuple_new(machine.heap, 1, &inner, vm_problem(machine.vm)));
        value_release(inner);
        inner = outer;
    }
    value_release(inner);
    machine_close(&machine);
}

static void test_cycles_end_with_the_heap(void **state)
{
    struct machine machine;
    machine_open(&machine, MEMORY, INT64_MAX);
    struct problem *problem = vm_problem(machine.vm);
    struct value list = value_read(&machine, "[[1], 'ab', (2, 3)]");
    struct value dict = value_read(&machine, "{1: [2]}");
    assert_true(list_append(machine.heap, VALUE_AS(list, list), list, problem));
    assert_true(list_append(machine.heap, VALUE_AS(list, list), dict, problem));
    assert_int_equal(
        dict_set(machine.heap, VALUE_AS(dict, dict), value_int(5), list, problem),
        STATUS_OK);
    struct box *box = heap_object(machine.heap, OBJECT_BOX, sizeof *box, problem);
    struct tuple *closure = tuple_new(machine.heap, 1, NULL, problem);
    struct function *function =
        heap_object(machine.heap, OBJECT_FUNCTION, sizeof *function, problem);
    function->code = code_reference(machine.program);
    function->closure = closure;
    closure->items[0] = value_of(box);
    box->value = value_of(function); // a function that knows itself
    struct value iterator;
    assert_int_equal(value_iterate(machine.vm, list, &iterator), OUTCOME_OK);
    assert_true(list_append(machine.heap, VALUE_AS(list, list), iterator, problem));
    value_release(iterator);
    value_release(list);
    value_release(dict);
    machine_close(&machine); // the sanitizer counts
}

// What a function of another program returned may be a constant of its code, which nobody
// counts: it is there as long as the heap, though the function is not.
static void test_constants_outlive_functions(void **state)
{
    struct machine machine;
    struct problem problem;
    struct code *code;
    machine_open(&machine, MEMORY, INT64_MAX);
    static const char source[] = "x = 'abcdef'";
    assert_int_equal(program_compile(source, strlen(source), false, &code, &problem),
                     STATUS_OK);
    struct value constant = value_none();
    for (int i = 0; i < code->unit->n_constants; i++)
        if (value_is_object(code->unit->constants[i], OBJECT_STRING))
            constant = code->unit->constants[i];
    assert_true(value_is_object(constant, OBJECT_STRING));
    struct value list = value_of(list_new(machine.heap, 1, &constant, &problem));
    assert_true(list_append(machine.heap, VALUE_AS(list, list), list, &problem));
    for (int i = 0; i < 3; i++) {
        struct function *function =
            heap_object(machine.heap, OBJECT_FUNCTION, sizeof *function, &problem);
        function->code = code_reference(code);
        value_release(value_of(function));
    }
    code_release(code);
    assert_string_equal(VALUE_AS(string, VALUE_AS(list, list)->items[0])->text, "abcdef");
    value_release(list);
    machine_close(&machine);
}

// ---- Depth

static struct value nest(struct machine *machine, enum object_kind kind, int depth)
{
    struct value inner = value_int(1);
    for (int i = 0; i < depth; i++) {
        void *outer =
            kind == OBJECT_LIST
                ? (void *)list_new(machine->heap, 1, &inner, vm_problem(machine->vm))
                : (void *)tuple_new(machine->heap, 1, &inner, vm_problem(machine->vm));
        value_release(inner);
        inner = value_of(outer);
    }
    return inner;
}

static void test_depth_is_bounded(void **state)
{
    struct machine machine;
    bool equal;
    uint64_t hash;
    struct value result;
    machine_open(&machine, MEMORY, INT64_MAX);
    struct value a = nest(&machine, OBJECT_LIST, 150),
                 b = nest(&machine, OBJECT_LIST, 150);
    assert_int_equal(value_equal(machine.vm, a, b, &equal), OUTCOME_OK);
    assert_true(equal);
    struct value c = nest(&machine, OBJECT_LIST, 300),
                 d = nest(&machine, OBJECT_LIST, 300);
    assert_fails(&machine, value_equal(machine.vm, c, d, &equal), STATUS_LIMIT,
                 "maximum recursion depth exceeded in comparison");
    assert_fails(&machine, value_compare(machine.vm, COMPARE_LT, c, d, &result),
                 STATUS_LIMIT, NULL);
    struct value shallow = nest(&machine, OBJECT_TUPLE, 150);
    struct value deep = nest(&machine, OBJECT_TUPLE, 300);
    assert_int_equal(value_hash(shallow, &hash, vm_problem(machine.vm)), STATUS_OK);
    assert_int_equal(value_hash(deep, &hash, vm_problem(machine.vm)), STATUS_LIMIT);
    // Lists that contain themselves.
    struct value x = value_read(&machine, "[1]"), y = value_read(&machine, "[1]");
    assert_true(list_append(machine.heap, VALUE_AS(list, x), y, vm_problem(machine.vm)));
    assert_true(list_append(machine.heap, VALUE_AS(list, y), x, vm_problem(machine.vm)));
    assert_fails(&machine, value_equal(machine.vm, x, y, &equal), STATUS_LIMIT, NULL);
    struct value all[] = {a, b, c, d, shallow, deep, x, y};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        value_release(all[i]);
    machine_close(&machine);
}

// t = (t, t) a hundred times is 2^100 items to whoever walks it.
static void test_shared_structures_are_bounded(void **state)
{
    struct machine machine;
    uint64_t hash;
    bool equal;
    machine_open(&machine, MEMORY, 1000000);
    struct value twin[2] = {value_int(1), value_int(1)};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 100; i++) {
            struct value pair[] = {twin[k], twin[k]};
            struct value next =
                value_of(tuple_new(machine.heap, 2, pair, vm_problem(machine.vm)));
            value_release(twin[k]);
            twin[k] = next;
        }
    }
    assert_int_equal(value_hash(twin[0], &hash, vm_problem(machine.vm)), STATUS_LIMIT);
    assert_fails(&machine, value_equal(machine.vm, twin[0], twin[1], &equal),
                 STATUS_LIMIT, NULL);
    value_release(twin[0]);
    value_release(twin[1]);
    machine_close(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_admitted),
        cmocka_unit_test(test_sizes_beyond_memory),
        cmocka_unit_test(test_steps_bound_copies),
        cmocka_unit_test(test_deep_structures_go),
        cmocka_unit_test(test_cycles_end_with_the_heap),
        cmocka_unit_test(test_constants_outlive_functions),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_shared_structures_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
