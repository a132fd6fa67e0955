// SPDX-License-Identifier: Apache-2.0
// Tables of names: the members of namespaces, tensors and arrays, found by hash. Filled
// once (torch_prepare), read-only afterwards, from any thread.
#include "api/lang/nearest.h"
#include "api/lang/torch.h"

#include <pthread.h>
#include <stdlib.h>


static struct members spaces[NAMESPACE_COUNT], tensor_table, array_table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t hash_name(const char *name, size_t length)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash ^ hash >> 15;
}

const struct member *members_find(const struct members *members, const char *name,
                                  size_t length)
{
    uint32_t slot = hash_name(name, length) % MEMBERS_SLOTS;
    for (; members->slots[slot] != 0; slot = (slot + 1) % MEMBERS_SLOTS) {
        const struct member *member = &members->items[members->slots[slot] - 1];
        if (member->length == length && memcmp(member->name, name, length) == 0)
            return member;
    }
    return NULL;
}

void members_add(struct members *members, const char *name, struct value value,
                 property_function *property)
{
    size_t length = strlen(name);
    if (members->count == MEMBERS_MAX || members_find(members, name, length) != NULL)
        return;
    uint32_t slot = hash_name(name, length) % MEMBERS_SLOTS;
    while (members->slots[slot] != 0)
        slot = (slot + 1) % MEMBERS_SLOTS;
    members->items[members->count++] = (struct member){
        .name = name, .length = length, .value = value, .property = property};
    members->slots[slot] = (int16_t)members->count;
}

void members_add_natives(struct members *members, struct native *table)
{
    for (; table->name != NULL; table++)
        members_add(members, table->name, value_native(table), NULL);
}

const struct native *native_in(struct native *table, const char *name)
{
    while (table->name != NULL && strcmp(table->name, name) != 0)
        table++;
    return table->name != NULL ? table : NULL;
}

// ---- Nearest names

const char *members_nearest(const struct members *members, const char *name,
                            size_t length)
{
    struct nearest nearest;
    nearest_begin(&nearest, name, length);
    for (int i = 0; i < members->count; i++)
        nearest_offer(&nearest, members->items[i].name, members->items[i].length);
    return nearest.name;
}

enum outcome members_missing(struct vm *vm, const struct members *members,
                             const char *owner, const struct string *name)
{
    int shown = name->bytes > 60 ? 60 : (int)name->bytes;
    const char *nearest = members_nearest(members, name->text, (size_t)name->bytes);
    if (nearest == NULL)
        return vm_raise(vm, STATUS_ATTRIBUTE, "%s has no attribute '%.*s'", owner, shown,
                        name->text);
    vm_raise(vm, STATUS_ATTRIBUTE, "%s has no attribute '%.*s'. Did you mean '%s'?",
             owner, shown, name->text, nearest);
    struct problem *problem = vm_problem(vm);
    size_t length = strlen(nearest);
    memcpy(problem->nearest, nearest, length + 1); // at most NEAREST_MAX
    return OUTCOME_ERROR;
}

// ---- The tables

static void prepare(void)
{
    torch_prepare_grad();
    torch_prepare_overloads();
    torch_fill_tensor(&tensor_table, &array_table);
    torch_fill_spaces(spaces);
}

void torch_prepare(void)
{
    pthread_once(&once, prepare);
}

const struct members *tensor_members(void)
{
    torch_prepare();
    return &tensor_table;
}

const struct members *array_members(void)
{
    torch_prepare();
    return &array_table;
}

const struct members *namespace_members(enum namespace name)
{
    torch_prepare();
    return &spaces[name];
}
