#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes promotion.inc from torch.result_type and torch.can_cast (made with torch 1.13.1).

Each row: the dtype of a tensor with dimensions, of a 0-d tensor, the kind of a Python number, the result. An absent
operand is -1. Needs torch; the table is committed, so that tests do not.
"""
import sys

import torch

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
NUMBERS = [("SCALAR_BOOL", True), ("SCALAR_INT", 3), ("SCALAR_FLOAT", 2.5)]


def symbol(name):
    return "DTYPE_" + name.upper()


def of(name, shape):
    return torch.ones(shape, dtype=getattr(torch, name))


def results():
    for dimensioned in [None] + DTYPES:
        for dimensionless in [None] + DTYPES:
            for number in [None] + NUMBERS:
                operands = [of(dimensioned, (2,))] if dimensioned else []
                operands += [of(dimensionless, ())] if dimensionless else []
                operands += [number[1]] if number else []
                if not operands:
                    continue
                if len(operands) == 1:
                    operands *= 2
                if len(operands) == 3:  # result_type takes two operands
                    continue
                dtype = torch.result_type(*operands)
                yield dimensioned, dimensionless, number, str(dtype).split(".")[1]


def main():
    out = ["// SPDX-License-Identifier: Apache-2.0",
           "// Written by promotion.py with torch %s." % torch.__version__,
           "#ifdef PROMOTION_ROW"]
    for a, b, number, result in results():
        out.append("PROMOTION_ROW(%s, %s, %s, %s)" % (
            symbol(a) if a else "-1", symbol(b) if b else "-1", number[0] if number else "-1", symbol(result)))
    out += ["#endif", "#ifdef CAN_CAST_ROW"]
    for a in DTYPES:
        for b in DTYPES:
            out.append("CAN_CAST_ROW(%s, %s, %d)" % (
                symbol(a), symbol(b), torch.can_cast(getattr(torch, a), getattr(torch, b))))
    out.append("#endif")
    sys.stdout.write("\n".join(out) + "\n")


main()
