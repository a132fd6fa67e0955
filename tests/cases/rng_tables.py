#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes rng_tables.inc from rng_reference.json: draws of PyTorch's CPU generator, as bits, for C tests.

    RNG_SEED(seed)
    RNG_DRAW(name, form, dtype, count, low, high, base, range, first, n, bits...)

Draws after a seed continue one stream. Elements first ... first + n - 1 of each have these bits (one 0 stands
for none). Needs Python alone: python3 tests/cases/rng_tables.py > tests/cases/rng_tables.inc
"""
import json
import math
import os
import re
import struct
import sys

FORMATS = {"float32": "<f", "float64": "<d", "int64": "<q", "int32": "<I", "uint8": "<B"}


def bits(value, dtype):
    return "0x" + struct.pack(FORMATS[dtype], value if dtype.startswith("float") else int(value))[::-1].hex()


def flat(values):
    return [x for v in values for x in flat(v)] if isinstance(values, list) else [values]


def draw(name, form, dtype, count, values=(), low=0.0, high=1.0, base=0, modulus=0, first=0):
    values = [bits(v, dtype) for v in flat(list(values))]
    print('RNG_DRAW("%s", RANDOM_%s, DTYPE_%s, %d, %s, %s, INT64_C(%d), UINT64_C(%d), %d, %d,\n         %s)' % (
        name, form, dtype.upper(), count, float(low).hex(), float(high).hex(), base, modulus, first, len(values),
        ", ".join(values) or "0"))


def number(text):
    assert re.fullmatch(r"[-0-9.*]+", text), text
    return eval(text, {"__builtins__": {}})


def named(text):
    """{"low": "0", "n": "10"} of "low=0,high=10,n=10 (a remark)"."""
    return dict(part.split("=") for part in text.split(" ")[0].split(","))


def fresh(seed):
    print("RNG_SEED(UINT64_C(%d))" % seed)


def linear(name, inputs, outputs, weight, offset, bias=True, dtype="float32", first=0):
    """nn.Linear: Kaiming uniform with a = sqrt(5), then a bias within 1 / sqrt(inputs)."""
    bound = math.sqrt(3.0) * (math.sqrt(2.0 / (1 + math.sqrt(5) ** 2)) / math.sqrt(inputs))
    draw(name, "UNIFORM", dtype, inputs * outputs, weight, -bound, bound, first=first)
    if bias:
        draw(name, "UNIFORM", dtype, outputs, offset, -1 / math.sqrt(inputs), 1 / math.sqrt(inputs))


def linears(seed, values):
    for name, case in values.items():
        fresh(seed)
        if name.startswith("Sequential"):
            linear(name, 3, 4, case["0.weight"], case["0.bias"])
            linear(name, 4, 2, case["2.weight"], case["2.bias"])
            continue
        options = named(name)
        inputs, outputs, dtype = int(options["in"]), int(options["out"]), options.get("dtype", "float32")
        bias = options.get("bias") != "False"
        linear(name, inputs, outputs, case.get("weight", case.get("weight_first8")), case.get("bias", []), bias, dtype)
        if "weight_last4" in case:
            fresh(seed)
            linear(name, inputs, outputs, case["weight_last4"], case["bias"], first=inputs * outputs - 4)


def step(key, values):
    """One draw of a sequence: "rand(2,3)#1", "after reseed randn(2)", "randn(1,float64)", "Linear(2,6)"."""
    name, arguments = re.search(r"(\w+)\((.*)\)", key).groups()
    dtype = "float64" if "float64" in arguments else "float32"
    sizes = [int(n) for n in re.findall(r"\d+", arguments.replace("float64", ""))]
    if name == "Linear":
        linear(key, sizes[0], sizes[1], [], [])
    elif name == "randperm":
        draw(key, "PERMUTATION", "int64", sizes[0], values)
    elif name == "randint":
        draw(key, "INTEGERS", "int64", sizes[2], values, base=sizes[0], modulus=sizes[1] - sizes[0])
    else:
        draw(key, {"rand": "UNIFORM", "randn": "NORMAL"}[name], dtype, math.prod(sizes), values)


def of_seed(seed, block):
    fresh(seed)
    draw("words", "INTEGERS", "int32", 8, block["raw_uint32_first8"], modulus=1 << 32)
    fresh(seed)
    key = "raw_uint32_draws_624_to_627 (second block, 0-based)"
    draw("words 624", "INTEGERS", "int32", 628, block[key], modulus=1 << 32, first=624)
    for family in ["rand_float32", "rand_float64", "randn_float32_lt16", "randn_float32_ge16", "randn_float64"]:
        for count, values in block[family].items():
            fresh(seed)
            draw(family, "NORMAL" if "randn" in family else "UNIFORM",
                 "float64" if "64" in family else "float32", int(count), values)
    for name, values in block["randint"].items():
        options = named(name)
        low, high = number(options["low"]), number(options["high"])
        fresh(seed)
        draw(name, "INTEGERS", options.get("dtype", "int64"), int(options["n"]), values, base=low, modulus=high - low)
    for count, values in block["randperm"].items():
        fresh(seed)
        draw("randperm", "PERMUTATION", "int64", int(count), values)
    for family, form, names in [("uniform_float32", "UNIFORM", ("from", "to")),
                                ("normal_float32", "NORMAL", ("mean", "std"))]:
        for name, values in block[family].items():
            options = named(name)
            fresh(seed)
            draw(name, form, "float32", int(options["n"]), values, number(options[names[0]]),
                 number(options[names[1]]))
    (values,) = block["bernoulli"].values()
    fresh(seed)
    draw("bernoulli", "BERNOULLI", "float32", len(values), values, 0.5)
    linears(seed, block["linear_init"])
    for sequence in block["sequences"].values():
        fresh(seed)
        for key, values in sequence.items():
            if key.startswith("after reseed"):
                fresh(seed)
            step(key, values)


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rng_reference.json")
    with open(path, encoding="utf-8") as file:
        reference = json.load(file)
    print("// SPDX-License-Identifier: Apache-2.0\n// Written by rng_tables.py.")
    for seed, block in reference["values"].items():
        of_seed(int(seed), block)


if __name__ == "__main__":
    sys.exit(main())
