// SPDX-License-Identifier: Apache-2.0
// Signatures of natives: parsed at the first call, kept with the native for all threads;
// and arguments bound to their slots. A signature that does not parse is a programming
// error; its native then takes no call (a unit test parses them all).
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "api/lang/vm_internal.h"

static _Atomic(struct signature *) parsed_signatures;

static const char *skip_blanks(const char *text)
{
    while (*text == ' ')
        text++;
    return text;
}

struct native *native_find(struct native *table, const char *name, size_t length)
{
    for (; table->name; table++)
        if (strncmp(table->name, name, length) == 0 && table->name[length] == '\0')
            return table;
    return NULL;
}

// One word of a signature; false if it makes no sense.
static bool parse_parameter(struct signature *signature, const char *text, size_t length,
                            bool *behind_star)
{
    bool star = false, keywords = false;
    struct signature_parameter parameter = {0};
    if (length == 1 && *text == '/') {
        signature->n_positional_only = signature->n;
        return true;
    }
    if (length == 1 && *text == '*')
        return *behind_star = true;
    for (; length > 0 && (*text == '~' || *text == '*'); text++, length--) {
        parameter.iterated |= *text == '~';
        keywords |= *text == '*' && star;
        star |= *text == '*';
    }
    if (length > 0 && text[length - 1] == '=') {
        parameter.optional = true;
        length--;
    }
    if (length == 0 || signature->n == NATIVE_MAX_SLOTS)
        return false;
    parameter.name = text;
    parameter.length = (int)length;
    if (keywords)
        signature->keywords = signature->n;
    else if (star)
        signature->rest = signature->n;
    else if (!*behind_star)
        signature->n_positional++;
    *behind_star |= star;
    signature->parameters[signature->n++] = parameter;
    return true;
}

static struct signature *parse(const struct native *native)
{
    struct signature *signature = calloc(1, sizeof *signature);
    if (!signature)
        return NULL;
    signature->rest = signature->keywords = -1;
    signature->native = (struct native *)native;
    bool behind_star = false;
    const char *text = skip_blanks(native->signature);
    while (*text) {
        size_t length = strcspn(text, ",");
        size_t end = length;
        while (end > 0 && text[end - 1] == ' ')
            end--;
        if (!parse_parameter(signature, text, end, &behind_star)) {
            free(signature);
            return NULL;
        }
        text = skip_blanks(text + length + (text[length] == ','));
    }
    return signature;
}

const struct signature *signature_of(const struct native *native)
{
    struct native *owner = (struct native *)native; // the cache is the one mutable part
    const struct signature *known =
        atomic_load_explicit(&owner->parsed, memory_order_acquire);
    if (known)
        return known;
    struct signature *made = parse(native);
    if (!made)
        return NULL;
    if (!atomic_compare_exchange_strong(&owner->parsed, &known, made)) {
        free(made); // another thread was first
        return known;
    }
    made->next = atomic_load(&parsed_signatures);
    while (!atomic_compare_exchange_weak(&parsed_signatures, &made->next, made))
        ;
    return made;
}

void signatures_free(void)
{
    struct signature *signature = atomic_exchange(&parsed_signatures, NULL);
    while (signature) {
        struct signature *next = signature->next;
        atomic_store(&signature->native->parsed, NULL);
        free(signature);
        signature = next;
    }
}

// ---- Binding

static int is_method(const struct signature *signature)
{
    const struct signature_parameter *first = signature->parameters;
    return signature->n > 0 && first->length == 4 && memcmp(first->name, "self", 4) == 0;
}

// "takes exactly one argument (2 given)", without self.
static int raise_count(struct vm *vm, const struct signature *signature, int given)
{
    int least = 0, most = signature->n_positional;
    for (int i = 0; i < most; i++)
        least += !signature->parameters[i].optional;
    int self = is_method(signature), count = (given > most ? most : least) - self;
    const char *name = signature->native->name;
    given -= self;
    if (most == self)
        return vm_raise(vm, STATUS_TYPE, "%s() takes no arguments (%d given)", name,
                        given);
    if (least == most && count == 1)
        return vm_raise(vm, STATUS_TYPE, "%s() takes exactly one argument (%d given)",
                        name, given);
    return vm_raise(vm, STATUS_TYPE, "%s() takes %s %d argument%s (%d given)", name,
                    least == most         ? "exactly"
                    : given > most - self ? "at most"
                                          : "at least",
                    count, count == 1 ? "" : "s", given);
}

static int find_slot(const struct signature *signature, const struct string *name)
{
    for (int i = signature->n_positional_only; i < signature->n; i++)
        if (i != signature->rest && i != signature->keywords &&
            signature->parameters[i].length == name->bytes &&
            memcmp(signature->parameters[i].name, name->text, (size_t)name->bytes) == 0)
            return i;
    return -1;
}

static int raise_keyword(struct vm *vm, const struct signature *signature,
                         const struct string *name)
{
    const char *function = signature->native->name;
    if (signature->n_positional_only == signature->n)
        return vm_raise(vm, STATUS_TYPE, "%s() takes no keyword arguments", function);
    return vm_raise(vm, STATUS_TYPE, "'%s' is an invalid keyword argument for %s()",
                    name->text, function);
}

static int bind_keywords(struct vm *vm, const struct signature *signature,
                         const struct call *call, struct value *slots, int *drain)
{
    for (int k = 0; k < call->n_named; k++) {
        struct string *name = call->names[k];
        struct value value = call->arguments[call->n + k];
        int slot = find_slot(signature, name);
        if (slot < 0 && signature->keywords < 0)
            return raise_keyword(vm, signature, name);
        if (slot < 0) {
            if (dict_set(vm->heap, VALUE_AS(dict, slots[signature->keywords]),
                         value_of(name), value, &vm->problem) != STATUS_OK)
                return OUTCOME_ERROR;
            continue;
        }
        if (slots[slot].tag != VALUE_ABSENT)
            return vm_raise(vm, STATUS_TYPE,
                            "argument for %s() given by name ('%s') and position (%d)",
                            signature->native->name, name->text, slot + 1);
        slots[slot] = value;
        if (signature->parameters[slot].iterated &&
            value_is_object(value, OBJECT_PRODUCER))
            *drain = call->n + k;
    }
    return OUTCOME_OK;
}

// The tuple of *rest and the dict of **keywords.
static int bind_gathered(struct vm *vm, const struct signature *signature,
                         const struct call *call, int taken, struct value *slots)
{
    if (signature->rest >= 0) {
        struct tuple *rest =
            tuple_new(vm->heap, call->n - taken, call->arguments + taken, &vm->problem);
        if (!rest)
            return OUTCOME_ERROR;
        slots[signature->rest] = value_of(rest);
    }
    if (signature->keywords >= 0) {
        struct dict *keywords = dict_new(vm->heap, &vm->problem);
        if (!keywords)
            return OUTCOME_ERROR;
        slots[signature->keywords] = value_of(keywords);
    }
    return OUTCOME_OK;
}

// The first argument that is to be iterated and is a producer, among those by position.
static void find_producer(const struct signature *signature, const struct call *call,
                          int *drain)
{
    for (int i = 0; i < call->n; i++) {
        int slot = i < signature->n_positional ? i : signature->rest;
        if (slot >= 0 && signature->parameters[slot].iterated &&
            value_is_object(call->arguments[i], OBJECT_PRODUCER)) {
            *drain = i;
            return;
        }
    }
}

int bind_native(struct vm *vm, const struct signature *signature, const struct call *call,
                struct value *slots, int *drain)
{
    int taken = call->n < signature->n_positional ? call->n : signature->n_positional;
    for (int i = 0; i < signature->n; i++)
        slots[i] = i < taken ? call->arguments[i] : (struct value){.tag = VALUE_ABSENT};
    if (call->n > taken && signature->rest < 0)
        return raise_count(vm, signature, call->n);
    if (bind_gathered(vm, signature, call, taken, slots) != OUTCOME_OK ||
        bind_keywords(vm, signature, call, slots, drain) != OUTCOME_OK)
        return OUTCOME_ERROR;
    for (int i = 0; i < signature->n; i++) {
        const struct signature_parameter *parameter = &signature->parameters[i];
        if (slots[i].tag != VALUE_ABSENT || parameter->optional)
            continue;
        if (call->n_named == 0 && i < signature->n_positional)
            return raise_count(vm, signature, call->n);
        return vm_raise(vm, STATUS_TYPE, "%s() missing required argument '%.*s' (pos %d)",
                        signature->native->name, parameter->length, parameter->name,
                        i + 1);
    }
    find_producer(signature, call, drain);
    return OUTCOME_OK;
}
