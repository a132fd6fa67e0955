// SPDX-License-Identifier: Apache-2.0
// The heap and its limits, depth, cycles, hashes, strings, attributes: what a hostile
// program could do to the objects it is made of.
#include "tests/unit/api/lang_objects.h"

enum { MEMORY = 64 << 20 };

// ---- Numbers

static void test_wide_integers(void **state)
{
    struct machine machine;
    struct value result, wide = {.tag = VALUE_WIDE, .i = INT64_MIN}; // 2^63
    uint64_t hash, other;
    bool truth;
    machine_open(&machine, MEMORY, INT64_MAX);
    for (int op = BINARY_ADD; op <= BINARY_RSHIFT; op++)
        assert_fails(&machine,
                     value_binary(machine.vm, (enum binary_op)op, false, wide,
                                  value_int(1), &result),
                     STATUS_OVERFLOW, NULL);
    assert_fails(&machine, value_unary(machine.vm, UNARY_NEG, wide, &result),
                 STATUS_OVERFLOW, NULL);
    assert_int_equal(value_truth(machine.vm, wide, &truth), OUTCOME_OK);
    assert_true(truth);
    assert_int_equal(number_compare(wide, value_int(INT64_MAX)), 1);
    assert_int_equal(number_compare(value_int(-1), wide), -1);
    assert_int_equal(number_compare(wide, value_float(0x1p63)), 0);
    assert_int_equal(number_compare(wide, value_float(0x1p64)), -1);
    assert_int_equal(number_compare(value_float(-1), wide), -1);
    assert_int_equal(value_hash(wide, &hash, vm_problem(machine.vm)), STATUS_OK);
    assert_int_equal(value_hash(value_float(0x1p63), &other, vm_problem(machine.vm)),
                     STATUS_OK);
    assert_int_equal(hash, other); // hash(2**63) == 4
    assert_int_equal(hash, 4);
    struct value list = value_read(&machine, "[1, 2]");
    assert_fails(&machine, value_get_item(machine.vm, list, wide, &result), STATUS_INDEX,
                 NULL);
    assert_fails(&machine,
                 value_binary(machine.vm, BINARY_MUL, false, list, wide, &result),
                 STATUS_OVERFLOW, NULL);
    value_release(list);
    machine_close(&machine);
}

static void test_identity(void **state)
{
    assert_true(value_identical(value_float(NAN), value_float(NAN)));
    assert_false(value_identical(value_float(0.0), value_float(-0.0)));
    assert_false(value_identical(value_int(1), value_bool(true)));
    assert_false(value_identical(value_int(1), value_float(1)));
    assert_true(value_identical(value_none(), value_none()));
}

// ---- Strings

static void test_characters(void **state)
{
    char text[4];
    int length;
    static const uint32_t codes[] = {0,     'a',    0x7F,    0x80,    0x7FF,
                                     0x800, 0xFFFF, 0x10000, 0x10FFFF};
    static const int lengths[] = {1, 1, 1, 2, 2, 3, 3, 4, 4};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        assert_int_equal(utf8_encode(codes[i], text), lengths[i]);
        assert_int_equal(utf8_decode(text, &length), codes[i]);
        assert_int_equal(length, lengths[i]);
    }
}

static void test_string_positions(void **state)
{
    struct machine machine;
    machine_open(&machine, MEMORY, INT64_MAX);
    struct value value = text_value(&machine, "aéz日b😀c");
    const struct string *string = VALUE_AS(string, value);
    static const int64_t offsets[] = {0, 1, 3, 4, 7, 8, 12, 13};
    assert_int_equal(string->characters, 7);
    assert_int_equal(string->bytes, 13);
    for (int64_t i = 0; i <= 7; i++) {
        assert_int_equal(string_offset(string, i), offsets[i]);
        assert_int_equal(string_index(string, offsets[i]), i);
    }
    value_release(value);
    // A string may hold NUL.
    struct value nul = value_of(
                     string_new(machine.heap, "a\0b", 3, vm_problem(machine.vm))),
                 result;
    assert_int_equal(value_get_item(machine.vm, nul, value_int(1), &result), OUTCOME_OK);
    assert_int_equal(VALUE_AS(string, result)->bytes, 1);
    assert_int_equal(VALUE_AS(string, result)->text[0], 0);
    value_release(nul);
    value_release(result);
    // An immortal one belongs to who made it.
    struct string *constant = string_new(NULL, "xyz", 3, vm_problem(machine.vm));
    assert_null(object_heap(&constant->object));
    value_release(value_reference(value_of(constant)));
    assert_string_equal(constant->text, "xyz");
    free(constant);
    machine_close(&machine);
}

static void test_text_keys(void **state)
{
    struct machine machine;
    machine_open(&machine, MEMORY, INT64_MAX);
    struct dict *dict = dict_new(machine.heap, vm_problem(machine.vm));
    char name[80];
    assert_int_equal(dict_find_text(dict, "a", 1).tag, VALUE_ABSENT);
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "%0*d", i % 64 + 1, i);
        struct value key = text_value(&machine, name);
        assert_int_equal(
            dict_set(machine.heap, dict, key, value_int(i), vm_problem(machine.vm)),
            STATUS_OK);
        value_release(key);
    }
    for (int i = 1999; i >= 0; i--) {
        snprintf(name, sizeof name, "%0*d", i % 64 + 1, i);
        struct value found = dict_find_text(dict, name, strlen(name));
        assert_int_equal(found.tag, VALUE_INT);
        // Longer numbers than their width repeat: "10" of 10 wide 11 is a name of its
        // own.
        assert_int_equal(found.i, i);
    }
    assert_int_equal(dict_find_text(dict, "nothing", 7).tag, VALUE_ABSENT);
    value_release(value_of(dict));
    machine_close(&machine);
}

// ---- Containers that live long

static void test_dict_at_work(void **state)
{
    enum { KEYS = 50000 };
    struct machine machine;
    struct value removed;
    machine_open(&machine, MEMORY, INT64_MAX);
    struct problem *problem = vm_problem(machine.vm);
    struct dict *dict = dict_new(machine.heap, problem);
    for (int round = 0; round < 3; round++) {
        for (int64_t i = 0; i < KEYS; i++)
            assert_int_equal(
                dict_set(machine.heap, dict, value_int(i), value_int(-i), problem),
                STATUS_OK);
        for (int64_t i = 0; i < KEYS; i += 1 + round) {
            assert_int_equal(dict_remove(dict, value_int(i), &removed, problem),
                             STATUS_OK);
            assert_int_equal(removed.i, -i);
        }
        assert_int_equal(dict->count, KEYS - (KEYS + round) / (1 + round));
    }
    // A queue: as many come as go. The memory does not grow.
    int64_t granted = heap_granted(machine.heap);
    for (int64_t i = 0; i < 4 * KEYS; i++) {
        assert_int_equal(
            dict_set(machine.heap, dict, value_int(KEYS + i), value_none(), problem),
            STATUS_OK);
        assert_int_equal(dict_remove(dict, value_int(KEYS + i), &removed, problem),
                         STATUS_OK);
        assert_int_not_equal(removed.tag, VALUE_ABSENT);
    }
    assert_true(heap_granted(machine.heap) <= granted + (8 << 20));
    dict_clear(machine.heap, dict);
    assert_int_equal(dict->count, 0);
    assert_int_equal(dict_set(machine.heap, dict, value_int(1), value_none(), problem),
                     STATUS_OK);
    assert_int_equal(dict->count, 1);
    value_release(value_of(dict));
    machine_close(&machine);
}

static void test_set_after_clear(void **state)
{
    struct machine machine;
    bool has;
    struct value key;
    machine_open(&machine, MEMORY, INT64_MAX);
    struct problem *problem = vm_problem(machine.vm);
    struct set *set = VALUE_AS(set, value_read(&machine, "{1, 2, 3, 40}"));
    set_clear(machine.heap, set);
    assert_int_equal(set_has(set, value_int(1), &has, problem), STATUS_OK);
    assert_false(has);
    assert_int_equal(set_remove(set, value_int(1), &has, problem), STATUS_OK);
    assert_false(has);
    set_pop(set, &key);
    assert_int_equal(key.tag, VALUE_ABSENT);
    assert_int_equal(set_add(machine.heap, set, value_int(7), problem), STATUS_OK);
    assert_int_equal(set->count, 1);
    assert_int_equal(set->table_size, 8);
    value_release(value_of(set));
    machine_close(&machine);
}

static void test_change_while_iterating(void **state)
{
    struct machine machine;
    struct value iterator, item;
    machine_open(&machine, MEMORY, INT64_MAX);
    struct problem *problem = vm_problem(machine.vm);
    struct value dict = value_read(&machine, "{1: 1, 2: 2}"),
                 set = value_read(&machine, "{1, 2}");
    struct value list = value_read(&machine, "[1, 2]");
    assert_int_equal(value_iterate(machine.vm, dict, &iterator), OUTCOME_OK);
    assert_int_equal(iterator_next(machine.vm, VALUE_AS(iterator, iterator), &item),
                     OUTCOME_OK);
    assert_int_equal(
        dict_set(machine.heap, VALUE_AS(dict, dict), value_int(3), item, problem),
        STATUS_OK);
    assert_fails(&machine, iterator_next(machine.vm, VALUE_AS(iterator, iterator), &item),
                 STATUS_VALUE, "dictionary changed size during iteration");
    value_release(iterator);
    assert_int_equal(value_iterate(machine.vm, set, &iterator), OUTCOME_OK);
    set_clear(machine.heap, VALUE_AS(set, set));
    assert_fails(&machine, iterator_next(machine.vm, VALUE_AS(iterator, iterator), &item),
                 STATUS_VALUE, "Set changed size during iteration");
    value_release(iterator);
    // A list may grow under its iterator, and shrink; once it has ended, it has.
    assert_int_equal(value_iterate(machine.vm, list, &iterator), OUTCOME_OK);
    struct iterator *walk = VALUE_AS(iterator, iterator);
    for (int64_t i = 1; i <= 2; i++) {
        assert_int_equal(iterator_next(machine.vm, walk, &item), OUTCOME_OK);
        assert_int_equal(item.i, i);
    }
    assert_true(list_append(machine.heap, VALUE_AS(list, list), value_int(3), problem));
    assert_int_equal(iterator_next(machine.vm, walk, &item), OUTCOME_OK);
    assert_int_equal(item.i, 3);
    assert_int_equal(iterator_next(machine.vm, walk, &item), OUTCOME_OK);
    assert_int_equal(item.tag, VALUE_ABSENT);
    assert_true(list_append(machine.heap, VALUE_AS(list, list), value_int(4), problem));
    assert_int_equal(iterator_next(machine.vm, walk, &item), OUTCOME_OK);
    assert_int_equal(item.tag, VALUE_ABSENT);
    value_release(iterator);
    value_release(dict);
    value_release(set);
    value_release(list);
    machine_close(&machine);
}

// ---- Types and attributes

static void test_types(void **state)
{
    assert_string_equal(type_name(TYPE_Tensor), "torch.Tensor");
    assert_string_equal(type_short_name(TYPE_Tensor), "Tensor");
    assert_string_equal(type_short_name(TYPE_int), "int");
    assert_true(type_is_subtype(TYPE_bool, TYPE_int));
    assert_false(type_is_subtype(TYPE_int, TYPE_bool));
    assert_true(type_is_subtype(TYPE_Parameter, TYPE_object));
    assert_true(type_is_subtype(TYPE_Size, TYPE_tuple));
    assert_int_equal(type_base(TYPE_object), TYPE_object);
    assert_int_equal(value_type(value_bool(true)), TYPE_bool);
    assert_int_equal(value_type(value_none()), TYPE_NoneType);
}

static void assert_attribute_fails(struct machine *machine, const char *value,
                                   const char *name, const char *detail,
                                   const char *nearest)
{
    struct value self = value_read(machine, value), text = text_value(machine, name),
                 result;
    assert_fails(machine,
                 value_get_attribute(machine->vm, self, VALUE_AS(string, text), &result),
                 STATUS_ATTRIBUTE, detail);
    assert_string_equal(problem_of(machine)->nearest, nearest);
    value_release(self);
    value_release(text);
}

static void test_missing_attributes(void **state)
{
    struct machine machine;
    machine_open(&machine, MEMORY, INT64_MAX);
    assert_attribute_fails(&machine, "[1]", "apend",
                           "'list' object has no attribute 'apend'", "append");
    assert_attribute_fails(&machine, "[1]", "srot",
                           "'list' object has no attribute 'srot'", "sort");
    assert_attribute_fails(&machine, "range(0, 3, 1)", "strat",
                           "'range' object has no attribute 'strat'", "start");
    assert_attribute_fails(&machine, "5", "foo", "'int' object has no attribute 'foo'",
                           "");
    assert_attribute_fails(&machine, "None", "x",
                           "'NoneType' object has no attribute 'x'", "");
    assert_attribute_fails(&machine, "{1: 2}", "item",
                           "'dict' object has no attribute 'item'", "items");
    assert_attribute_fails(&machine, "1.5f", "numerator",
                           "'float' object has no attribute 'numerator'", "");
    machine_close(&machine);
}

static void test_fields(void **state)
{
    static const char *const fields[] = {"values", "indices", NULL};
    struct machine machine;
    struct value result;
    machine_open(&machine, MEMORY, INT64_MAX);
    struct value pair = value_read(&machine, "(7, 8)"),
                 name = text_value(&machine, "indices");
    VALUE_AS(tuple, pair)->fields = fields;
    assert_int_equal(
        value_get_attribute(machine.vm, pair, VALUE_AS(string, name), &result),
        OUTCOME_OK);
    assert_int_equal(result.i, 8);
    assert_fails(
        &machine,
        value_set_attribute(machine.vm, pair, VALUE_AS(string, name), value_none()),
        STATUS_ATTRIBUTE, NULL);
    struct record *record =
        heap_object(machine.heap, OBJECT_RECORD,
                    sizeof *record + 2 * sizeof(struct value), vm_problem(machine.vm));
    record->type_text = "_CudaDeviceProperties";
    record->count = 2;
    record->fields = fields;
    record->items[1] = value_int(80);
    assert_int_equal(value_get_attribute(machine.vm, value_of(record),
                                         VALUE_AS(string, name), &result),
                     OUTCOME_OK);
    assert_int_equal(result.i, 80);
    value_release(value_of(record));
    value_release(pair);
    value_release(name);
    machine_close(&machine);
}

// A method taken from its type gets whatever receiver the program likes.
static void test_foreign_receivers(void **state)
{
    static const struct {
        enum type type;
        struct native *methods;
    } tables[] = {
        {TYPE_list, list_methods},   {TYPE_tuple, tuple_methods},
        {TYPE_dict, dict_methods},   {TYPE_set, set_methods},
        {TYPE_range, range_methods}, {TYPE_slice, slice_methods},
        {TYPE_float, float_methods}, {TYPE_int, int_methods},
        {TYPE_str, str_methods},     {TYPE_dict_keys, view_methods},
    };
    static const char *const receivers[] = {"None", "5", "2.5f", "'a'", "[1]", "{1: 1}"};
    struct machine machine;
    machine_open(&machine, MEMORY, INT64_MAX);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const struct native *native = tables[t].methods; native->name; native++) {
            struct value name = text_value(&machine, native->name);
            struct value type = {.tag = VALUE_TYPE, .i = tables[t].type};
            for (size_t r = 0; r < sizeof receivers / sizeof *receivers; r++) {
                struct value arguments[6], result;
                for (int i = 0; i < 6; i++)
                    arguments[i] = value_read(&machine, receivers[r]);
                // str.maketrans has no receiver.
                bool own = value_type(arguments[0]) == tables[t].type ||
                           strncmp(native->signature, "self", 4) != 0;
                for (int n = 0; n <= 6; n++) {
                    enum outcome outcome = call_method(
                        &machine, type, VALUE_AS(string, name), n, arguments, &result);
                    assert_int_not_equal(outcome, OUTCOME_WAIT);
                    assert_true(own || outcome == OUTCOME_ERROR);
                    if (outcome == OUTCOME_OK)
                        value_release(result);
                }
                for (int i = 0; i < 6; i++)
                    value_release(arguments[i]);
            }
            value_release(name);
        }
    }
    machine_close(&machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_integers),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_string_positions),
        cmocka_unit_test(test_text_keys),
        cmocka_unit_test(test_dict_at_work),
        cmocka_unit_test(test_set_after_clear),
        cmocka_unit_test(test_change_while_iterating),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_missing_attributes),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_foreign_receivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
