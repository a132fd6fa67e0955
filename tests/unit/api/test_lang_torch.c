// SPDX-License-Identifier: Apache-2.0
// torch and NumPy in programs: every program of tests/cases/torch_programs.inc prints
// what torch and NumPy print, or fails with the kind of problem that is written there.
#include "torch_fixture.h"

#include "api/lang/torch.h"

static const struct {
    const char *source, *result, *kind;
} programs[] = {
#include "tests/cases/torch_programs.inc"
};

// Spaces and line breaks are part of what is compared; the report shows both in full.
static bool run_one(size_t i)
{
    struct outcome_text out;
    fixture_run(programs[i].source, &out);
    const char *kind = out.status == STATUS_OK ? NULL : problem_kind(out.status)->kind;
    bool same = programs[i].kind == NULL
                    ? kind == NULL && (programs[i].result == NULL ||
                                       strcmp(out.result.data, programs[i].result) == 0)
                    : kind != NULL && strcmp(kind, programs[i].kind) == 0;
    if (!same)
        print_error("---- %s\n==== expected\n%s\n==== got %s %s\n%s\n",
                    programs[i].source,
                    programs[i].kind ? programs[i].kind : programs[i].result,
                    kind ? kind : "", kind ? out.problem.detail : "", out.result.data);
    fixture_end(&out);
    return same;
}

static void test_programs(void **state)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        wrong += !run_one(i);
    assert_int_equal(wrong, 0);
}

// Every table has room for what is added to it, and finds what it holds.
static void check_members(const struct members *members)
{
    assert_in_range(members->count, 1, MEMBERS_MAX - 1);
    for (int i = 0; i < members->count; i++)
        assert_ptr_equal(
            members_find(members, members->items[i].name, members->items[i].length),
            &members->items[i]);
    assert_null(members_find(members, "no such name", 12));
}

static void test_members(void **state)
{
    check_members(tensor_members());
    check_members(array_members());
    for (int i = 0; i < NAMESPACE_COUNT; i++)
        check_members(namespace_members((enum namespace)i));
    assert_string_equal(members_nearest(tensor_members(), "reshap", 6), "reshape");
    assert_string_equal(members_nearest(tensor_members(), "sofmax", 6), "softmax");
    assert_null(members_nearest(tensor_members(), "no such name at all", 19));
}

// The right name is told apart from the text.
static void test_nearest(void **state)
{
    struct outcome_text out;
    fixture_run("torch.zeros(2).reshpae(1, 2)", &out);
    assert_int_equal(out.status, STATUS_ATTRIBUTE);
    assert_string_equal(out.problem.nearest, "reshape");
    fixture_end(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_programs),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
