// SPDX-License-Identifier: Apache-2.0
// The cache of compiled programs: the same text is the same code, nothing else is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/programs.h"

static struct code *compiled(struct programs *programs, const char *source, size_t bytes)
{
    struct code *code;
    struct problem problem;
    assert_int_equal(programs_compile(programs, source, bytes, &code, &problem),
                     STATUS_OK);
    return code;
}

static void the_same_text_is_the_same_code(void **state)
{
    struct programs programs = {0};
    struct code *first = compiled(&programs, "x + y", 5);
    struct code *again = compiled(&programs, "x + y", 5);
    struct code *other = compiled(&programs, "x + z", 5), *shorter;
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, other);
    shorter = compiled(&programs, "x + y", 1);
    assert_string_equal(program_facts(shorter)->reads[0], "x");
    assert_int_equal(program_facts(shorter)->n_reads, 1);
    programs_clear(&programs); // what was given out stays
    assert_int_equal(program_facts(first)->n_reads, 2);
    code_release(first);
    code_release(again);
    code_release(other);
    code_release(shorter);
}

static void long_and_wrong_programs_are_not_kept(void **state)
{
    struct programs programs = {0};
    char source[PROGRAMS_SOURCE_MAX + 1];
    struct code *code;
    struct problem problem;
    memset(source, ' ', sizeof source);
    source[0] = '1';
    code_release(compiled(&programs, source, sizeof source));
    assert_int_equal(programs_compile(&programs, "x +", 3, &code, &problem),
                     STATUS_SYNTAX);
    for (int i = 0; i < PROGRAMS_KEPT; i++)
        assert_null(programs.kept[i]);
}

static void many_programs_take_each_others_places(void **state)
{
    struct programs programs = {0};
    for (int i = 0; i < 4 * PROGRAMS_KEPT; i++) {
        char source[] = {'_', (char)('a' + i % 26), (char)('a' + i / 26)};
        struct code *code = compiled(&programs, source, sizeof source);
        assert_memory_equal(program_facts(code)->reads[0], source, sizeof source);
        code_release(code);
    }
    programs_clear(&programs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_text_is_the_same_code),
        cmocka_unit_test(long_and_wrong_programs_are_not_kept),
        cmocka_unit_test(many_programs_take_each_others_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
