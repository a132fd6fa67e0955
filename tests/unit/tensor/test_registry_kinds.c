// SPDX-License-Identifier: Apache-2.0
// Names of other kinds than tensors, and modules whose parameters come and go with them.
// The rules are those at the head of registry.h.
#include "house.h"

struct thing {
    struct named named;
    int *freed;
};

static void thing_free(struct named *named)
{
    struct thing *thing = (struct thing *)named;
    ++*thing->freed;
    free(thing);
}

static struct named *make(enum name_kind kind, int *freed)
{
    struct thing *thing = calloc(1, sizeof *thing);
    assert_non_null(thing);
    thing->named.kind = kind;
    thing->named.free = thing_free;
    thing->freed = freed;
    atomic_init(&thing->named.references, 1);
    return &thing->named;
}

static enum status commit(struct house *h, int n, const struct registry_change *changes)
{
    struct problem problem;
    struct registry_commit commit = {.n_changes = n, .changes = changes};
    return registry_commit(h->space, &commit, &problem);
}

static void put_object(struct house *h, const char *name, enum name_kind kind, int *freed)
{
    struct named *named = make(kind, freed);
    struct registry_change change = {.name = name, .object = named};
    assert_int_equal(commit(h, 1, &change), STATUS_OK);
    named_release(named);
}

// Binds module `net` with these parameters, each a tensor of 8 bytes.
static enum status put_module(struct house *h, int n, const char *const *names,
                              int *freed)
{
    struct registry_change changes[4] = {{.name = "net"}};
    changes[0].object = make(NAME_MODULE, freed);
    for (int i = 0; i < n; i++)
        changes[i + 1] =
            (struct registry_change){.name = names[i],
                                     .tensor = fixture_tensor(&h->fixture, 8),
                                     .parameter = true};
    enum status status = commit(h, n + 1, changes);
    named_release(changes[0].object);
    for (int i = 0; i < n; i++)
        tensor_release(changes[i + 1].tensor);
    return status;
}

static bool bound(struct house *h, const char *name)
{
    struct binding binding;
    if (!registry_lookup_any(h->space, name, &binding))
        return false;
    binding_release(&binding);
    return true;
}

static void test_a_value_is_no_tensor(void **state)
{
    struct house h;
    struct binding binding;
    struct problem problem;
    int freed = 0;
    house_open(&h);
    put_object(&h, "f", NAME_FUNCTION, &freed);
    assert_false(registry_lookup(h.space, "f", &binding));
    assert_int_equal(registry_find(h.space, "f", &binding, &problem), STATUS_UNDEFINED);
    assert_non_null(strstr(problem.detail, "function"));
    assert_true(registry_lookup_any(h.space, "f", &binding));
    assert_int_equal(binding.kind, NAME_FUNCTION);
    assert_null(binding.tensor);
    assert_int_equal(freed, 0);
    put_bytes(&h, "f", 16);     // rebinds
    assert_int_equal(freed, 0); // the binding above still holds it
    binding_release(&binding);
    assert_int_equal(freed, 1);
    assert_true(exists(&h, "f"));
    put_object(&h, "f", NAME_VALUE, &freed);
    assert_int_equal(fixture_used(&h.fixture), 0); // the tensor went
    house_close(&h);
    assert_int_equal(freed, 2);
}

static void test_lists_by_kind(void **state)
{
    struct house h;
    struct binding *bindings;
    struct problem problem;
    int freed = 0, count;
    bool more;
    house_open(&h);
    put_object(&h, "a", NAME_VALUE, &freed);
    put_bytes(&h, "b", 8);
    put_object(&h, "c", NAME_FUNCTION, &freed);
    put_bytes(&h, "d", 8);
    assert_int_equal(registry_list(h.space, 1 << NAME_TENSOR, "", NULL, 1, &bindings,
                                   &count, &more, &problem),
                     STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(bindings[0].name, "b");
    assert_true(more);
    binding_array_free(bindings, count);
    assert_int_equal(registry_list(h.space, 1 << NAME_TENSOR, "", "b", 9, &bindings,
                                   &count, &more, &problem),
                     STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(bindings[0].name, "d");
    assert_false(more);
    binding_array_free(bindings, count);
    assert_int_equal(registry_list(h.space, ALL_NAMES, "", NULL, 9, &bindings, &count,
                                   &more, &problem),
                     STATUS_OK);
    assert_int_equal(count, 4);
    binding_array_free(bindings, count);
    house_close(&h);
    assert_int_equal(freed, 2);
}

static void test_parameters_come_and_go_with_their_module(void **state)
{
    struct house h;
    int freed = 0;
    house_open(&h);
    assert_int_equal(put_module(&h, 2, (const char *[]){"net.w", "net.b"}, &freed),
                     STATUS_OK);
    struct binding w = find(&h, "net.w");
    assert_true(w.parameter);
    binding_release(&w);
    // Bound anew with other parameters: the stale one goes.
    assert_int_equal(put_module(&h, 2, (const char *[]){"net.w", "net.x"}, &freed),
                     STATUS_OK);
    assert_int_equal(freed, 1);
    assert_true(bound(&h, "net.w"));
    assert_true(bound(&h, "net.x"));
    assert_false(bound(&h, "net.b"));
    // Deleted: all go.
    struct registry_change deletion = {.name = "net"};
    assert_int_equal(commit(&h, 1, &deletion), STATUS_OK);
    assert_int_equal(freed, 2);
    assert_int_equal(registry_count(h.space), 0);
    // Replaced by a tensor: all go, too.
    assert_int_equal(put_module(&h, 1, (const char *[]){"net.w"}, &freed), STATUS_OK);
    put_bytes(&h, "net", 8);
    assert_int_equal(registry_count(h.space), 1);
    assert_int_equal(fixture_used(&h.fixture), 8);
    house_close(&h);
    assert_int_equal(freed, 3);
}

static void test_parameters_belong_to_their_module(void **state)
{
    struct house h;
    struct problem problem;
    int freed = 0;
    int64_t count, bytes;
    house_open(&h);
    assert_int_equal(put_module(&h, 1, (const char *[]){"net.w"}, &freed), STATUS_OK);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    const struct registry_change refused[] = {
        {.name = "net.w", .tensor = tensor},     // bound by somebody else
        {.name = "net.w"},                       // deleted
        {.name = "net.other", .tensor = tensor}, // a name below the module
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_int_equal(commit(&h, 1, &refused[i]), STATUS_CONFLICT);
    assert_int_equal(registry_rename(h.space, "net.w", "v", &problem), STATUS_CONFLICT);
    put(&h, "v", tensor);
    assert_int_equal(registry_rename(h.space, "v", "net.v", &problem), STATUS_CONFLICT);
    assert_int_equal(registry_delete_prefix(h.space, "net", &count, &bytes, &problem),
                     STATUS_CONFLICT);
    assert_true(bound(&h, "net.w"));
    assert_false(bound(&h, "net.other"));
    tensor_release(tensor);
    house_close(&h);
}

static void test_a_module_does_not_take_names(void **state)
{
    struct house h;
    int freed = 0;
    house_open(&h);
    put_bytes(&h, "net.w", 8);
    assert_int_equal(put_module(&h, 1, (const char *[]){"net.w"}, &freed),
                     STATUS_CONFLICT);
    assert_int_equal(freed, 1);
    assert_false(bound(&h, "net"));
    struct binding w = find(&h, "net.w");
    assert_false(w.parameter);
    binding_release(&w);
    house_close(&h);
}

static void test_flags_go_with_the_binding(void **state)
{
    struct house h;
    house_open(&h);
    struct tensor *tensor = fixture_tensor(&h.fixture, 8);
    struct registry_change change = {
        .name = "x", .tensor = tensor, .flags = NAME_REQUIRES_GRAD | NAME_IS_ARRAY};
    assert_int_equal(commit(&h, 1, &change), STATUS_OK);
    struct binding x = find(&h, "x");
    assert_int_equal(x.flags, NAME_REQUIRES_GRAD | NAME_IS_ARRAY);
    binding_release(&x);
    put(&h, "x", tensor); // by a request that knows nothing of them
    x = find(&h, "x");
    assert_int_equal(x.flags, 0);
    binding_release(&x);
    tensor_release(tensor);
    house_close(&h);
}

// A stored value that holds a tensor keeps its memory settled, with or without names.
static void test_holding_a_storage_settles_it(void **state)
{
    struct house h;
    house_open(&h);
    struct tensor *tensor = fixture_tensor(&h.fixture, 64);
    assert_int_equal(fixture_settled(&h.fixture), 0);
    storage_hold(tensor->storage);
    assert_int_equal(fixture_settled(&h.fixture), 64);
    put(&h, "x", tensor);
    assert_int_equal(fixture_settled(&h.fixture), 64);
    put(&h, "x", NULL);
    assert_int_equal(fixture_settled(&h.fixture), 64);
    storage_drop(tensor->storage);
    assert_int_equal(fixture_settled(&h.fixture), 0);
    tensor_release(tensor);
    house_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value_is_no_tensor),
        cmocka_unit_test(test_lists_by_kind),
        cmocka_unit_test(test_parameters_come_and_go_with_their_module),
        cmocka_unit_test(test_parameters_belong_to_their_module),
        cmocka_unit_test(test_a_module_does_not_take_names),
        cmocka_unit_test(test_flags_go_with_the_binding),
        cmocka_unit_test(test_holding_a_storage_settles_it),
    };
    return cmocka_run_group_tests_name("registry_kinds", tests, NULL, NULL);
}
