#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How torch prints tensors: writes printed_tensors.inc for tests/unit/api/test_text.c.

/usr/bin/python3 tests/cases/printed_tensors.py > tests/cases/printed_tensors.inc      (made with torch 1.13.1)

A row is {dtype, ndim, {shape}, {factor, modulus, offset, scale}, n_values, {values}, text}: either the values are
listed (as bits of float64 or as int64), or element i is ((i * factor) % modulus - offset) * scale in double.
"""
import math
import struct

import torch

NAMES = {torch.bool: "BOOL", torch.uint8: "UINT8", torch.int8: "INT8", torch.int16: "INT16", torch.int32: "INT32",
         torch.int64: "INT64", torch.float16: "FLOAT16", torch.bfloat16: "BFLOAT16", torch.float32: "FLOAT32",
         torch.float64: "FLOAT64"}
INF, NAN = math.inf, math.nan


def bits(value):
    if isinstance(value, float):
        return "0x%016xU" % struct.unpack("<Q", struct.pack("<d", value))[0]
    return "0x%016xU" % (int(value) & (1 << 64) - 1)


def quote(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n    ".join('"%s\\n"' % line for line in lines)


def row(dtype, shape, rule, values, tensor):
    print("{DTYPE_%s, %d, {%s}, {%d, %d, %d, %r}, %d, {%s},\n    %s}," % (
        NAMES[dtype], len(shape), ", ".join(map(str, shape)) or "0", *rule, len(values),
        ", ".join(map(bits, values)) or "0", quote(str(tensor))))


def listed(dtype, shape, values):
    values = [float(v) if dtype.is_floating_point else v for v in values]
    exact = torch.tensor(values, dtype=torch.float64 if dtype.is_floating_point else torch.int64)
    row(dtype, shape, (0, 1, 0, 0.0), values, exact.to(dtype).reshape(shape))


def ruled(dtype, shape, factor, modulus, offset, scale):
    count = math.prod(shape)
    exact = torch.tensor([((i * factor) % modulus - offset) * scale for i in range(count)], dtype=torch.float64)
    row(dtype, shape, (factor, modulus, offset, scale), [], exact.to(dtype).reshape(shape))


def main():
    print("// SPDX-License-Identifier: Apache-2.0\n// Made by printed_tensors.py with torch %s." %
          torch.__version__.split("+")[0])
    f32, f64, i64 = torch.float32, torch.float64, torch.int64
    for dtype in NAMES:
        listed(dtype, [2, 2], [1, 0, 1, 1])
        listed(dtype, [], [1])
        listed(dtype, [0], [])
        listed(dtype, [0, 3], [])
        listed(dtype, [2, 0, 3], [])
        listed(dtype, [3, 1, 2], [0, 1, 0, 1, 1, 0])
    for dtype in (f32, f64, torch.float16, torch.bfloat16):
        listed(dtype, [3], [1.5, -2.25, 100])
        listed(dtype, [3], [0.1, 0.2, 0.3])
        listed(dtype, [4], [NAN, INF, -INF, 1])
        listed(dtype, [4], [NAN, INF, -INF, 0.5])
        listed(dtype, [3], [NAN, INF, -INF])
        listed(dtype, [2], [0, -0.0])
        listed(dtype, [2], [1e-3, 2e4])
        listed(dtype, [], [3.14159])
        listed(dtype, [], [NAN])
    for dtype in (f32, f64):
        listed(dtype, [3], [1e-5, 1, 2])
        listed(dtype, [3], [1e-5, 2e-5, 3e-5])
        listed(dtype, [3], [1000, 1, 2])
        listed(dtype, [3], [1001, 1, 2])
        listed(dtype, [2], [1e8, 3e8])
        listed(dtype, [1], [1e8])
        listed(dtype, [1], [123456792])
        listed(dtype, [2], [12345678.5, 2e7])
        listed(dtype, [2], [-1e-4, 1e-4])
        listed(dtype, [2], [0.99999, 0.00011])
        listed(dtype, [3], [-1, 2, -300])
        listed(dtype, [3], [1e30, -1e-30, 0])
        listed(dtype, [4], [1e30, NAN, -INF, 2])
        listed(dtype, [2, 2], [9999.99999, 10.5, -9999.99999, 1])
        listed(dtype, [1], [-7])
        listed(dtype, [2], [2.5, 3.5])
    listed(f64, [2], [1e300, 1])
    listed(f64, [2], [1e-300, 1e-299])
    listed(f64, [2], [-1e100, 9.99999e99])
    for shape in ([10], [11], [12], [30], [5, 13], [2, 3, 4], [2, 2, 2, 2], [1, 1, 1, 1, 1, 3], [1001], [40, 26],
                  [7, 7, 21], [2, 600], [600, 2], [1, 2000], [2000, 1]):
        for dtype, rule in ((f32, (37, 101, 50, 0.25)), (i64, (37, 1009, 500, 1.0)), (f64, (7, 1001, 0, 1e-3)),
                            (torch.uint8, (1, 256, 0, 1.0)), (torch.float16, (3, 17, 8, 100.0)),
                            (torch.bool, (1, 2, 0, 1.0))):
            ruled(dtype, shape, *rule)
    for shape in ([1000], [40, 25], [6, 200], [7, 200], [200, 6], [200, 7], [8, 1, 8, 1, 17], [3, 3, 3, 3, 3, 5]):
        ruled(f32, shape, 37, 101, 50, 0.25)
    listed(i64, [3], [-9223372036854775808, 0, 9223372036854775807])
    listed(i64, [2], [-1, 10])
    listed(torch.int8, [2], [-128, 127])
    listed(i64, [12], list(range(100000, 100012)))
    listed(i64, [14], [-10 ** 18 + i for i in range(14)])


main()
