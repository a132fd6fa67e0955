// SPDX-License-Identifier: Apache-2.0
// Hashes and equality of keys. Numbers hash by value modulo 2^61 - 1, tuples by the
// xxHash lanes of their items, both as CPython's, since the order of a set follows from
// them; strings hash by a function of our own (CPython's is random in every process), the
// rest by identity. A key of nested tuples may share them, so that it is far larger than
// it looks: the walk is bounded in depth and length. Any thread.
#include <math.h>

#include "api/lang/container.h"
#include "api/lang/number.h"
#include "api/lang/sequence.h"
#include "api/lang/sets.h"
#include "api/lang/strings.h"

enum { MAX_DEPTH = 200, MAX_ITEMS = 1000000, PRIME_BITS = 61 };
static const uint64_t prime = ((uint64_t)1 << PRIME_BITS) - 1;

// The one hash that CPython reserves for errors is left out.
static uint64_t usable(int64_t hash)
{
    return (uint64_t)(hash == -1 ? -2 : hash);
}

static uint64_t hash_integer(int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int64_t rest = (int64_t)(size % prime);
    return usable(value < 0 ? -rest : rest);
}

// value = mantissa * 2^exponent, and 2^61 is 1 modulo the prime: a power of two rotates.
static uint64_t hash_float(double value)
{
    static const uint64_t of_infinity = 314159;
    if (isinf(value))
        return value > 0 ? of_infinity : (uint64_t) - (int64_t)of_infinity;
    if (isnan(value))
        return of_infinity + 1;
    int exponent;
    uint64_t bits = (uint64_t)(int64_t)ldexp(frexp(fabs(value), &exponent), 53);
    exponent = (exponent - 53) % PRIME_BITS;
    if (exponent < 0)
        exponent += PRIME_BITS;
    unsigned __int128 turned = (unsigned __int128)bits << exponent;
    int64_t rest = (int64_t)(uint64_t)(turned % prime);
    return usable(value < 0 ? -rest : rest);
}

static uint64_t hash_identity(const void *pointer)
{
    uintptr_t address = (uintptr_t)pointer; // the low bits are 0
    return usable((int64_t)(address >> 4 | address << 60));
}

static uint64_t mix_immediate(struct value value)
{
    uint64_t flags =
        value.tag == VALUE_OP ? value.flags : 0; // a dtype's say how it prints
    uint64_t hash = ((uint64_t)value.tag * 31 + flags + 1) * 0x9E3779B97F4A7C15u;
    return usable((int64_t)(hash ^ (uint64_t)value.i * 0xC2B2AE3D27D4EB4Fu));
}

struct walk {
    int64_t items;
    struct problem *problem;
};
static enum status hash_value(struct walk *walk, struct value key, int depth,
                              uint64_t *hash);

static uint64_t lane(uint64_t accumulated, uint64_t hash)
{
    accumulated += hash * 14029467366897019727u;
    accumulated = accumulated << 31 | accumulated >> 33;
    return accumulated * 11400714785074694791u;
}

static uint64_t lanes_end(uint64_t accumulated, int64_t count)
{
    accumulated += (uint64_t)count ^ (2870177450012600261u ^ 3527539u);
    return accumulated == UINT64_MAX ? 1546275796u : accumulated;
}

static enum status hash_tuple(struct walk *walk, const struct tuple *tuple, int depth,
                              uint64_t *hash)
{
    uint64_t accumulated = 2870177450012600261u;
    if (depth >= MAX_DEPTH)
        return problem_set(walk->problem, STATUS_LIMIT,
                           "a key is nested deeper than %d levels", MAX_DEPTH);
    walk->items += tuple->count;
    if (walk->items > MAX_ITEMS)
        return problem_set(walk->problem, STATUS_LIMIT, "a key has more than %d items",
                           MAX_ITEMS);
    for (int64_t i = 0; i < tuple->count; i++) {
        uint64_t item;
        enum status status = hash_value(walk, tuple->items[i], depth + 1, &item);
        if (status != STATUS_OK)
            return status;
        accumulated = lane(accumulated, item);
    }
    *hash = lanes_end(accumulated, tuple->count);
    return STATUS_OK;
}

// As the tuple (count, start, step), with None for what does not matter.
static uint64_t hash_range(const struct range *range)
{
    uint64_t none = mix_immediate(value_none());
    uint64_t accumulated = lane(2870177450012600261u, hash_integer(range->count));
    accumulated = lane(accumulated, range->count > 0 ? hash_integer(range->start) : none);
    accumulated = lane(accumulated, range->count > 1 ? hash_integer(range->step) : none);
    return lanes_end(accumulated, 3);
}

static enum status unhashable(struct walk *walk, struct value key)
{
    return problem_set(walk->problem, STATUS_TYPE, "unhashable type: '%s'",
                       type_short_name(value_type(key)));
}

static enum status hash_object(struct walk *walk, struct value key, int depth,
                               uint64_t *hash)
{
    switch ((enum object_kind)key.object->kind) {
    case OBJECT_STRING:
        *hash = string_hash(VALUE_AS(string, key));
        return STATUS_OK;
    case OBJECT_TUPLE:
        return hash_tuple(walk, VALUE_AS(tuple, key), depth, hash);
    case OBJECT_RANGE:
        *hash = hash_range(VALUE_AS(range, key));
        return STATUS_OK;
    case OBJECT_BOUND: {
        const struct bound *bound = VALUE_AS(bound, key);
        *hash = mix_immediate(bound->function) ^
                (bound->self.tag == VALUE_OBJECT ? hash_identity(bound->self.object)
                                                 : mix_immediate(bound->self));
        return STATUS_OK;
    }
    case OBJECT_LIST:
    case OBJECT_DICT:
    case OBJECT_SET:
    case OBJECT_SLICE:
        return unhashable(walk, key);
    case OBJECT_VIEW:
        if (value_type(key) != TYPE_dict_values)
            return unhashable(walk, key);
        break;
    case OBJECT_TENSOR:
        if (VALUE_AS(tensor_object, key)->is_array)
            return unhashable(walk, key);
        break;
    default:
        break;
    }
    *hash = hash_identity(key.object);
    return STATUS_OK;
}

static enum status hash_value(struct walk *walk, struct value key, int depth,
                              uint64_t *hash)
{
    switch ((enum value_tag)key.tag) {
    case VALUE_BOOL:
    case VALUE_INT:
        *hash = hash_integer(key.i);
        return STATUS_OK;
    case VALUE_WIDE:
        *hash = (uint64_t)key.i % prime;
        return STATUS_OK;
    case VALUE_FLOAT:
        *hash = hash_float(key.f);
        return STATUS_OK;
    case VALUE_OBJECT:
        return hash_object(walk, key, depth, hash);
    default:
        *hash = mix_immediate(key);
        return STATUS_OK;
    }
}

enum status value_hash(struct value key, uint64_t *hash, struct problem *problem)
{
    struct walk walk = {.problem = problem};
    return hash_value(&walk, key, 0, hash);
}

enum outcome key_hash(struct vm *vm, struct value key, uint64_t *hash)
{
    struct walk walk = {.problem = vm_problem(vm)};
    int64_t cost = 0;
    if (value_is_object(key, OBJECT_STRING))
        cost = VALUE_AS(string, key)->bytes / 256;
    if (hash_value(&walk, key, 0, hash) != STATUS_OK)
        return OUTCOME_ERROR;
    cost += walk.items / 2;
    return cost > 4 ? vm_spend(vm, cost) : OUTCOME_OK;
}

// ---- Equality of keys (both have been hashed: depth and length are bounded)

static bool same_ranges(const struct range *a, const struct range *b)
{
    return a->count == b->count && (a->count < 1 || a->start == b->start) &&
           (a->count < 2 || a->step == b->step);
}

static bool same_tuples(const struct tuple *a, const struct tuple *b)
{
    if (a->count != b->count)
        return false;
    for (int64_t i = 0; i < a->count; i++)
        if (!value_same_key(a->items[i], b->items[i]))
            return false;
    return true;
}

bool value_same_key(struct value a, struct value b)
{
    if (value_identical(a, b))
        return true;
    if (value_is_arithmetic(a) && value_is_arithmetic(b))
        return number_compare(a, b) == 0;
    if (a.tag != VALUE_OBJECT || b.tag != VALUE_OBJECT ||
        a.object->kind != b.object->kind)
        return false;
    switch ((enum object_kind)a.object->kind) {
    case OBJECT_STRING:
        return string_is(VALUE_AS(string, a), VALUE_AS(string, b)->text,
                         (size_t)VALUE_AS(string, b)->bytes);
    case OBJECT_TUPLE:
        return same_tuples(VALUE_AS(tuple, a), VALUE_AS(tuple, b));
    case OBJECT_RANGE:
        return same_ranges(VALUE_AS(range, a), VALUE_AS(range, b));
    case OBJECT_BOUND:
        return value_identical(VALUE_AS(bound, a)->self, VALUE_AS(bound, b)->self) &&
               value_identical(VALUE_AS(bound, a)->function,
                               VALUE_AS(bound, b)->function);
    default:
        return false;
    }
}
