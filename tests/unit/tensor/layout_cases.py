#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes layout_cases.inc: index expressions, reshapes and broadcasts with the answers NumPy gives.

Every array is a strided view of arange, so that its values are the addresses of its elements and a result
is described by its shape and a checksum of its values in C order: sum of (i + 1) * value[i] modulo 2**64.
Where torch differs from NumPy on purpose, the expectation is torch's: steps must be positive (VALUE).
"""
import random

import numpy as np
from numpy.lib.stride_tricks import as_strided

rng = random.Random(20)
MAX = 2 ** 63 - 1


def checksum(array):
    values = np.ascontiguousarray(array).reshape(-1).tolist()
    return sum((i + 1) * v for i, v in enumerate(values)) % 2 ** 64


def braces(numbers):
    return "{%s}" % (", ".join(str(n) for n in numbers) or "0")


def layout(array):
    return "{%d, %s, %s}" % (array.ndim, braces(array.shape), braces(s // 8 for s in array.strides))


def result(array):
    return "%d, %s, %dull" % (array.ndim, braces(array.shape), checksum(array))


def random_array():
    """arange, seen through transposes, steps, size-1 and repeated dimensions; sometimes empty or 0-d."""
    shape = [rng.choice([1, 2, 3, 4, 5, 7] if rng.random() > 0.04 else [0]) for _ in range(rng.randrange(5))]
    array = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    array = array.transpose(rng.sample(range(array.ndim), array.ndim)) if rng.random() < 0.5 else array
    if array.ndim and rng.random() < 0.4:
        cut = rng.randrange(array.ndim)
        array = array[(slice(None),) * cut + (slice(rng.randrange(2), None, rng.randrange(1, 3)),)]
    if rng.random() < 0.15:
        array = np.broadcast_to(array, (2,) + array.shape)
    return as_strided(array, array.shape, array.strides)  # a plain view


def base_offset(array):
    """The address of the first element, which the C side adds."""
    return int(array.reshape(-1)[0]) if array.size else 0


def random_number(size):
    kind = rng.random()
    if kind < 0.03:
        return rng.choice(["9223372036854775807", "-9223372036854775808", "9223372036854775808",
                           "-99999999999999999999", "123456789012345678901234567890"])
    return str(rng.randint(-size - 2, size + 2))


def random_item(size):
    kind = rng.random()
    if kind < 0.3:
        return str(rng.randint(-size, size - 1)) if size and rng.random() < 0.93 else random_number(size)
    parts = [random_number(size) if rng.random() < 0.6 else "" for _ in range(2)]
    if rng.random() < 0.4:
        parts.append(rng.choice(["", "1", "2", "3", "2", "0", "-1", "9223372036854775807"]))
    return ":".join(parts)


def random_text(array):
    items = [random_item(array.shape[d]) for d in range(rng.randint(0, array.ndim))]
    if rng.random() < 0.04:
        items.append(":")
    if rng.random() < 0.35 or not items:
        items.insert(rng.randint(0, len(items)), "...")
    while rng.random() < 0.2:
        items.insert(rng.randint(0, len(items)), "None")
    space = lambda: " " * (rng.random() < 0.1)
    text = ",".join(space() + item + space() for item in items)
    return text + ("," if rng.random() < 0.05 else "")


def index_cases(count):
    for _ in range(count):
        array, text = random_array(), None
        text = random_text(array)
        index = eval("np.index_exp[%s]" % text)
        steps = [i.step for i in index if isinstance(i, slice)]
        try:
            answer, status = np.asarray(array[index]), "STATUS_OK"
        except IndexError:
            answer, status = np.zeros(()), "STATUS_INDEX"
        except ValueError:
            answer, status = np.zeros(()), "STATUS_VALUE"
        if any(s is not None and s <= 0 for s in steps):
            if status == "STATUS_INDEX":
                continue  # two errors in one text: which comes first is nobody's contract
            answer, status = np.zeros(()), "STATUS_VALUE"
        yield 'INDEX_CASE("%s", %s, %d, %s, %s)' % (
            text, layout(array), base_offset(array), status,
            result(answer) if status == "STATUS_OK" else "0, {0}, 0")


def random_factors(number):
    if number == 0:
        return rng.sample([0] + [rng.randint(1, 4) for _ in range(2)], 3)
    factors = []
    while number > 1:
        divisors = [d for d in range(2, number + 1) if number % d == 0]
        factors.append(rng.choice(divisors))
        number //= factors[-1]
    for _ in range(rng.randrange(3)):
        factors.insert(rng.randint(0, len(factors)), 1)
    return factors


def view_cases(count):
    for _ in range(count):
        array = random_array()
        shape = random_factors(array.size)
        if len(shape) > 5:
            continue
        view = array.view()
        try:
            view.shape = shape
            fits = 1
        except AttributeError:
            fits = 0
        yield "VIEW_CASE(%s, %d, %d, %s, %d, %dull)" % (
            layout(array), base_offset(array), len(shape), braces(shape), fits,
            checksum(array.reshape(shape)))


def broadcast_cases(count):
    for _ in range(count):
        full = [rng.choice([1, 2, 3, 4]) for _ in range(rng.randrange(5))]
        shapes = []
        for _ in range(3):
            shape = [1 if rng.random() < 0.4 else n for n in full[rng.randint(0, len(full)):]]
            if shape and rng.random() < 0.1:
                shape[rng.randrange(len(shape))] = rng.choice([0, 5])
            shapes.append(shape)
        try:
            answer, status = np.broadcast_shapes(*map(tuple, shapes)), "STATUS_OK"
        except ValueError:
            answer, status = (), "STATUS_SHAPE"
        yield "BROADCAST_CASE({%s}, %s, %d, %s)" % (
            ", ".join("{%d, %s, {0}}" % (len(s), braces(s)) for s in shapes), status, len(answer), braces(answer))


def expand_cases(count):
    for _ in range(count):
        array = random_array()
        target = [n if n != 1 or rng.random() < 0.3 else rng.choice([0, 1, 2, 3]) for n in array.shape]
        if target and rng.random() < 0.15:
            target[rng.randrange(len(target))] = rng.choice([1, 2, 6])
        target = [rng.choice([1, 2, 3]) for _ in range(rng.randrange(2))] + target
        try:
            answer, status = np.broadcast_to(array, target), "STATUS_OK"
        except ValueError:
            answer, status = np.zeros(()), "STATUS_SHAPE"
        yield "EXPAND_CASE(%s, %d, %d, %s, %s, %dull)" % (
            layout(array), base_offset(array), len(target), braces(target), status,
            checksum(answer) if status == "STATUS_OK" else 0)


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Written by layout_cases.py with NumPy; do not edit.")
    for name, cases in (("INDEX", index_cases(400)), ("VIEW", view_cases(250)),
                        ("BROADCAST", broadcast_cases(120)), ("EXPAND", expand_cases(120))):
        print("#ifdef %s_CASE" % name)
        for case in cases:
            print(case)
        print("#endif")


main()
