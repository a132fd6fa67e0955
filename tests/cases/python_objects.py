#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python_objects.inc: what CPython 3.11 makes of operators, items and methods on its objects.

Each row is ROW(kind, a, b, expected) of texts. kind is an operator ("+", "+=", "<", "in", "get", "hash" ...) or "chain": b is
then a list of calls and item assignments made on a one after the other, and expected their results and what a has become.
Values are written as CPython does, but floats as %.17g with an f behind, dicts and sets in the order of iteration. A failure
is !kind: text; integers beyond 64 bits are !overflow.
"""
import operator
import random
import sys

KINDS = {TypeError: "type", ValueError: "value", ZeroDivisionError: "zero-division", IndexError: "index", KeyError: "key",
         OverflowError: "overflow", AttributeError: "attribute", RuntimeError: "value"}
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
          "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
          "<<": operator.lshift, ">>": operator.rshift, "@": operator.matmul}
IN_PLACE = {"+=": operator.iadd, "*=": operator.imul, "|=": operator.ior, "&=": operator.iand, "-=": operator.isub,
            "^=": operator.ixor, "**=": operator.ipow}
COMPARE = {"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge}
UNARY = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "len": len, "bool": bool, "hash": hash,
         "iter": list, "abs": abs, "reversed": lambda x: list(reversed(x))}
rows = []
rng = random.Random(20240501)


class Wide(Exception):
    pass


def text(value):
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        if not -2 ** 63 <= value < 2 ** 63:
            raise Wide
        return str(value)
    if isinstance(value, float):
        return "nanf" if value != value else "%.17gf" % value
    if isinstance(value, complex):
        raise ValueError("complex")
    if isinstance(value, str):
        assert not set("'\\\n\"") & set(value)
        return "'%s'" % value
    if isinstance(value, list):
        return "[%s]" % ", ".join(map(text, value))
    if isinstance(value, tuple):
        return "(%s%s)" % (", ".join(map(text, value)), "," if len(value) == 1 else "")
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (text(k), text(v)) for k, v in value.items())
    if isinstance(value, set):
        return "{%s}" % ", ".join(map(text, value)) if value else "set()"
    if isinstance(value, range):
        return "range(%s, %s, %s)" % tuple(map(text, (value.start, value.stop, value.step)))
    if isinstance(value, slice):
        return "slice(%s, %s, %s)" % (text(value.start), text(value.stop), text(value.step))
    for kind, name in ((type({}.keys()), "keys"), (type({}.items()), "items"), (type({}.values()), "values")):
        if isinstance(value, kind):
            return name + text(dict(value.mapping))
    raise AssertionError(type(value))


def failure(error):
    if isinstance(error, Wide):
        return "!overflow"
    detail = str(error)
    return "!%s: %s" % (next(KINDS[t] for t in type(error).__mro__ if t in KINDS), detail)


def attempt(function):
    try:
        return text(function())
    except (Wide, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RuntimeError) as error:
        return failure(error)


def get(a, key):
    return a[key]


def contains(a, b):
    return a in b


FUNCTIONS = {**BINARY, **COMPARE, "get": get, "in": contains, **UNARY}


def copy_of(value):
    if isinstance(value, (list, dict)):
        return value.copy()
    if isinstance(value, set):  # as the test makes it: element by element
        made = set()
        for item in value:
            made.add(item)
        return made
    if isinstance(value, (type({}.keys()), type({}.items()))):
        return getattr(dict(value.mapping), "keys" if isinstance(value, type({}.keys())) else "items")()
    return value


def add(kind, a, b=None):
    written = text(a), text(b)
    a, b = copy_of(a), copy_of(b)
    if kind in UNARY:
        expected = attempt(lambda: UNARY[kind](a))
    elif kind in IN_PLACE:
        expected = attempt(lambda: IN_PLACE[kind](a, b))
        if not expected.startswith("!"):
            expected += " | " + attempt(lambda: a)
    else:
        expected = attempt(lambda: FUNCTIONS[kind](a, b))
    rows.append((kind,) + written + (expected,))


def call(value, name, arguments):
    if name == "set":
        value[arguments[0]] = arguments[1]
        return None
    if name == "del":
        del value[arguments[0]]
        return None
    return getattr(value, name)(*arguments)


def chain(a, calls):
    written = text(a), text([(name,) + arguments for name, arguments in calls])
    a = copy_of(a)
    results = [attempt(lambda: call(a, name, tuple(map(copy_of, arguments)))) for name, arguments in calls]
    rows.append(("chain",) + written + ("; ".join(results) + " | " + text(a),))


# ---- Numbers

INTEGERS = [0, 1, -1, 2, -2, 3, -3, 7, 10, 63, 64, 65, 255, 10 ** 9, -10 ** 9, 3037000499, 3037000500, 2 ** 31, 2 ** 32,
            2 ** 53, 2 ** 53 + 1, -2 ** 53 - 1, 2 ** 62, -2 ** 62, 2 ** 63 - 1, -2 ** 63, 2 ** 63 - 2, -2 ** 63 + 1,
            9007199254740993, 123456789012345678, -987654321987654321, True, False]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 0.3, -0.3, 7.5, -7.5, 1e16, 9007199254740992.0,
          9223372036854775808.0, -9223372036854775808.0, 1e300, -1e300, 1e-300, 5e-324, 1.7976931348623157e308,
          float("inf"), float("-inf"), float("nan"), 2.0 ** 0.5, 1024.0, -1e-20, 3.0000000000000004]


def numbers():
    pairs = [(a, b) for a in INTEGERS for b in INTEGERS]
    for kind in BINARY:
        if kind == "@":
            continue
        for a, b in rng.sample(pairs, 45):
            if abs(b) > 2000 and (kind == "**" and abs(a) > 1 or kind == "<<" and a):
                b = rng.randrange(-70, 70)
            add(kind, a, b)
    for _ in range(150):
        a, b = (rng.randrange(-2 ** rng.randrange(1, 64), 2 ** rng.randrange(1, 64)) for _ in range(2))
        for kind in ("/", "//", "%"):
            add(kind, a, b)
    mixed = [(a, b) for a in FLOATS for b in FLOATS + INTEGERS] + [(a, b) for a in INTEGERS for b in FLOATS]
    for kind in ("+", "-", "*", "/", "//", "%", "**", "&", "<<"):
        for a, b in rng.sample(mixed, 60 if kind in ("//", "%", "**") else 20):
            add(kind, a, b)
    for _ in range(150):
        a, b = (rng.choice([-1, 1]) * rng.random() * 10.0 ** rng.randrange(-5, 6) for _ in range(2))
        add("//", a, b)
        add("%", a, b)
    for kind in COMPARE:
        for a, b in rng.sample(mixed, 40):
            add(kind, a, b)
    for a in INTEGERS + FLOATS:
        for kind in ("neg", "pos", "invert", "abs", "bool"):
            add(kind, a)
        if a == a:
            add("hash", a)
    for _ in range(80):
        add("hash", rng.choice([-1, 1]) * rng.random() * 10.0 ** rng.randrange(-30, 30))
        add("hash", rng.randrange(-2 ** 63, 2 ** 63))
        add("hash", tuple(rng.choice(INTEGERS + [0.5, 2.5, (1, 2), ()]) for _ in range(rng.randrange(0, 5))))
    for n in (5, -5, 0, 255, -2 ** 63, 2 ** 63 - 1, True):
        chain(n, [("bit_length", ()), ("bit_count", ()), ("conjugate", ()), ("as_integer_ratio", ())])
    for f in (0.0, 1.5, -2.25, 0.1, 3.0, 1e18, 2.0 ** -62, float("inf"), float("nan"), -7.0):
        chain(f, [("is_integer", ()), ("as_integer_ratio", ()), ("conjugate", ())])


# ---- Sequences

def bound():
    return rng.choice([None, None] + list(range(-8, 9)) + [-100, 100, 2 ** 63 - 1, -2 ** 63])


def some_slice():
    return slice(bound(), bound(), rng.choice([None, None, 1, 2, 3, -1, -2, -3, 0, 100, -100, -2 ** 63, 2 ** 63 - 1]))


def sequences():
    for _ in range(160):
        size = rng.randrange(0, 8)
        a = rng.choice([list(range(10, 10 + size)), tuple(range(size)), "abcdefgh"[:size], "aéz日b😀c"[:size],
                        range(3, 3 + 2 * size, 2), range(20, 20 - 3 * size, -3)])
        add("get", a, some_slice())
        add("get", a, rng.randrange(-9, 9))
    for _ in range(120):
        a = list(range(rng.randrange(0, 8)))
        items = rng.choice([[], [90], [91, 92], (93, 94, 95), "xy", range(4), {"k": 1}, {7}, 5, None])
        chain(a, [("set", (some_slice(), items))])
        chain(a, [("del", (some_slice(),))])
        chain(a, [("del", (rng.randrange(-9, 9),)), ("set", (rng.randrange(-9, 9), 99))])
    for key in ("a", 1.0, None, (1,), [1]):
        for a in ([1], (1,), "a", range(3), {1: 2}, {1}, 5, None):
            add("get", a, key)
            chain(a, [("set", (key, 1)), ("del", (key,))])
    values = [[1, 2], [], (1, 2), (), "ab", "", "日本", 3, 0, -1, True, 2.5, None, {1}, {1: 2}, range(3)]
    for kind in ("+", "*", "-", "|", "@", "+=", "*=", "|=", "**="):
        for a, b in rng.sample([(a, b) for a in values for b in values if not isinstance(a, str) or kind != "%"], 60):
            add(kind, a, b)
    for a in values:
        for kind in ("neg", "invert", "len", "bool", "iter", "reversed"):
            if not (kind == "reversed" and isinstance(a, set)):
                add(kind, a)
        for b in values:
            add(rng.choice(list(COMPARE)), a, b)
            add("in", a, b)
    nested = [[1, [2, 3]], [1, [2, 3.0]], [[1], 2], [1], [1, 2, 3], (1, (2,)), (1, (3,)), ["a", "b"], ["a", 1],
              [float("nan")], [[], ()], {1: [2]}, {1.0: [2]}, {1: [3]}, {(1, 2)}, {(1.0, 2)}]
    for a in nested:
        for b in nested:
            add("==", a, b)
            add(rng.choice(["<", "<=", ">", ">=", "!="]), a, b)


def list_call():
    n = rng.randrange(-6, 6)
    return rng.choice([("append", (n,)), ("extend", ([n, n],)), ("extend", ("ab",)), ("insert", (n, 5)), ("remove", (n,)), ("pop", ()),
                       ("pop", (n,)), ("index", (n,)), ("index", (n, 1)), ("index", (n, -3, 4)), ("count", (n,)), ("reverse", ()),
                       ("copy", ()), ("clear", ()), ("extend", (5,)), ("index", (2.0,))])


def dict_call():
    n = rng.choice([1, 2, 3, 4, 5, 6, "a", "b", 1.0, True, (1, 2)])
    return rng.choice([("get", (n,)), ("get", (n, 7)), ("pop", (n,)), ("pop", (n, None)), ("popitem", ()), ("setdefault", (n, 9)),
                       ("setdefault", (n,)), ("update", ({n: 1, 8: 2},)), ("update", ([(n, 3), ("c", 4)],)), ("copy", ()),
                       ("set", (n, 11)), ("set", (n, 12)), ("del", (n,)), ("keys", ()), ("values", ()), ("items", ()),
                       ("update", ([5],)), ("update", (["abc"],)), ("update", (5,)), ("get", ([],)), ("fromkeys", ((n, 1),))])


def methods():
    for _ in range(120):
        chain([rng.randrange(-3, 4) for _ in range(rng.randrange(0, 7))], [list_call() for _ in range(6)])
    for _ in range(120):
        chain({n: n for n in rng.sample([1, 2, 3, 4, "a"], rng.randrange(0, 5))}, [dict_call() for _ in range(10)])
    for a in ((1, 2, 1), (), (1, (2,))):
        chain(a, [("count", (1,)), ("index", (1,)), ("index", (1, 1)), ("index", (9,)), ("index", ((2,),))])
    for a in (range(10), range(0, 10, 3), range(5, 0, -2), range(0), range(-2 ** 63, 2 ** 63 - 1, 2 ** 62)):
        chain(a, [("count", (3,)), ("index", (3,)), ("index", (4,)), ("count", (3.0,)), ("index", ("a",)), ("index", (0,))])
        for n in (0, 3, -1, 5.0, 2.5, "a", None, -2 ** 62, 2 ** 62):
            add("in", n, a)
        add("iter", a)
        add("reversed", a)
        add("hash" if len(a) > 1 else "len", a)
    for _ in range(40):
        a = some_slice()
        if a.step != -2 ** 63:  # is -2**63 + 1 here
            chain(a, [("indices", (rng.randrange(0, 10),))])
    views = [{1: 1, 2: 2}.keys(), {1: 1}.keys(), {}.keys(), {1: 1, 2: 3}.items(), {1: 1}.items(), {1, 2}, {(1, 1)}, [1, 5], {3: 4}]
    for a in views:
        for b in views:
            for kind in ("&", "|", "-", "^", "==", "<=", ">"):
                if not isinstance(a, list) or not isinstance(b, list):
                    add(kind, a, b)


# ---- Sets: the order of iteration

def integers(spread, count):
    return [rng.randrange(-spread, spread) for _ in range(rng.randrange(0, count))]


def made_set(spread, count):
    made = set()
    for n in integers(spread, count):
        made.add(n)
    return made


def set_call(spread):
    n = rng.randrange(-spread, spread)
    other = rng.choice([made_set(spread, 12), made_set(spread, 40), integers(spread, 20), {k: 0 for k in integers(spread, 20)},
                        range(n, n + 9), tuple(integers(spread, 5))])
    name = rng.choice(["add", "add", "add", "discard", "remove", "pop", "pop", "clear", "copy", "union", "update", "intersection",
                       "intersection_update", "difference", "difference_update", "symmetric_difference",
                       "symmetric_difference_update", "issubset", "issuperset", "isdisjoint"])
    if name in ("add", "discard", "remove"):
        return name, (n,)
    if name in ("pop", "copy") or (name == "clear" and rng.random() < 0.2):
        return name, ()
    if name == "clear":
        return "add", (n * 8,)
    if name in ("union", "update", "intersection", "difference", "difference_update") and rng.random() < 0.3:
        return name, (other, made_set(spread, 9))
    return name, (other,)


def sets():
    for _ in range(60):
        spread = rng.choice([4, 10, 30, 100, 10 ** 6, 2 ** 62])
        a, b = made_set(spread, rng.choice([5, 12, 40])), made_set(spread, rng.choice([5, 12, 40]))
        for kind in ("|", "&", "-", "^", rng.choice(["|=", "&=", "-=", "^="]), rng.choice(["<=", "<", "==", ">"])):
            add(kind, a, b)
        chain(set(), [("add", (n,)) for n in integers(spread, 30)] + [("copy", ()), ("union", ())])
    for _ in range(80):
        spread = rng.choice([5, 20, 100, 10 ** 6])
        chain(set(integers(spread, 30)) if rng.random() < 0.1 else set(), [set_call(spread) for _ in range(12)])
    for _ in range(20):  # places that were deleted are used again
        calls = []
        for _ in range(25):
            calls.append((rng.choice(["add", "add", "discard"]), (8 * rng.randrange(0, 6) + rng.randrange(0, 2),)))
        chain(set(), calls)
    for a in ({1.0, 2}, {True}, {0.5, 1.5, 2.5, 3.5}, {(1, 2), (2, 1), (1, 1)}, {(n, n + 1) for n in range(12)}):
        add("iter", a)
        chain(a, [("add", (1,)), ("add", (1.0,)), ("pop", ())])
    chain(set(), [("pop", ()), ("remove", (1,)), ("add", ([],)), ("union", (5,)), ("update", ([[]],)), ("issubset", (5,))])


def main():
    numbers()
    sequences()
    methods()
    sets()
    out = ["// SPDX-License-Identifier: Apache-2.0", "// Written by python_objects.py with CPython %s." % sys.version.split()[0]]
    seen = set()
    for row in rows:
        if row not in seen:
            seen.add(row)
            out.append("ROW(%s)" % ", ".join('"%s"' % part.replace("\\", "\\\\").replace('"', '\\"') for part in row))
    sys.stdout.write("\n".join(out) + "\n")


main()
