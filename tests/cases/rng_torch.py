#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes rng_torch.inc: draws of PyTorch's CPU generator that rng_reference.json leaves out, in rng_tables.py's form.

The 16-bit floats, every dtype of random_(), bernoulli_() and randperm(), 64-bit integers; and long draws as

    RNG_SUM(name, form, dtype, count, low, high, base, range, sum)

with the FNV-1a hash of their bytes. Made with torch 1.13.1 (Debian 1.13.0a0, no MKL, AVX2), one thread. Needs torch;
the table is committed, so that tests do not.
"""
import warnings

import numpy
import torch

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
FLOATS = DTYPES[6:]
UNSIGNED = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}
LARGEST = {"uint8": 256, "int8": 128, "int16": 32767, "bfloat16": 257, "float16": 2049}


def elements(tensor):
    size = tensor.element_size()
    data = tensor.view(torch.uint8) if tensor.dtype != torch.bool else tensor.to(torch.uint8)
    return data.numpy().view(UNSIGNED[size])


def fnv(tensor):
    total = 0xCBF29CE484222325
    for byte in elements(tensor).tobytes():
        total = (total ^ byte) * 0x100000001B3 % (1 << 64)
    return total


def row(macro, form, dtype, tensor, low, high, base, modulus, rest):
    print('%s("%s", RANDOM_%s, DTYPE_%s, %d, %s, %s, INT64_C(%d), UINT64_C(%d), %s)' % (
        macro, form.lower(), form, dtype.upper(), tensor.numel(), float(low).hex(), float(high).hex(), base, modulus,
        rest))


def draw(form, dtype, tensor, low=0, high=1, base=0, modulus=0):
    if tensor.numel() > 100 and form == "NORMAL" and dtype != "float32":  # libm's last bits may differ
        row("RNG_DRAW", form, dtype, tensor, low, high, base, modulus, "0, 0, 0")
        return
    if tensor.numel() > 100:
        row("RNG_SUM", form, dtype, tensor, low, high, base, modulus, "UINT64_C(0x%x)" % fnv(tensor))
        return
    bits = ", ".join("0x%x" % e for e in elements(tensor).tolist())
    row("RNG_DRAW", form, dtype, tensor, low, high, base, modulus, "0, %d,\n         %s" % (tensor.numel(), bits))


def empty(dtype, count):
    return torch.empty(count, dtype=getattr(torch, dtype))


def seed(number):
    torch.manual_seed(number)
    print("RNG_SEED(UINT64_C(%d))" % number)


def floats(counts):
    for dtype in FLOATS:
        for count in counts:
            for low, high in [(0, 1), (-0.7, 0.3), (2, 5.3)]:
                draw("UNIFORM", dtype, empty(dtype, count).uniform_(low, high), low, high)
            for mean, deviation in [(0, 1), (2, 3), (0.1, 0.3)]:
                draw("NORMAL", dtype, empty(dtype, count).normal_(mean, deviation), mean, deviation)


def integers(count):
    for dtype in DTYPES:
        draw("BITS", dtype, empty(dtype, count).random_())
        if dtype != "float16":  # not in torch on the CPU
            draw("BERNOULLI", dtype, empty(dtype, count).bernoulli_(0.3), 0.3)
        if dtype != "bool":
            length = min(count, LARGEST.get(dtype, count))
            draw("PERMUTATION", dtype, torch.randperm(length, dtype=getattr(torch, dtype)))
        draw("INTEGERS", dtype, empty(dtype, count).random_(0, 2), modulus=2)
    draw("INTEGERS", "int64", empty("int64", count).random_(-2 ** 63, None))
    for dtype, low, high in [("int32", -2 ** 31, 2 ** 31 - 1), ("int64", -5, 2 ** 32 - 5), ("int64", 0, 2 ** 32 - 1),
                             ("float64", -2 ** 40, 2 ** 41), ("float16", -100, 101), ("bfloat16", -100, 101)]:
        draw("INTEGERS", dtype, empty(dtype, count).random_(low, high), base=low, modulus=high - low)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print("// SPDX-License-Identifier: Apache-2.0\n// Written by rng_torch.py with torch %s." % torch.__version__)
    for number in [0, 2 ** 40 + 5]:
        seed(number)
        floats([3, 19])
        integers(9)
    seed(3)
    floats([16384, 40007])
    integers(40007)


main()
