# SPDX-License-Identifier: Apache-2.0
"""Runs an operation in torch and writes it down with what torch answers.

One case a line, parts separated by "|": the operation (name_ in place), the tolerance in units of
the last place, an argument per parameter of the signature in kernels/ops.def, "=" and the results,
or "!" and the problem kind that fits torch's exception.

  t float32 2x3 T v v ...   a tensor in logical order; T: stored with other strides, E: expanded
                            from one row, -: in C order
  n i 3                     a Python number (b, i, f)
  i 3   l 1,2   b 1   s text   d float32   -   L (tensors separated by &)
"""
import os
import re
import sys

import torch

INF, NAN = float("inf"), float("nan")
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
METHODS = {"view", "expand", "to", "clone", "contiguous", "copy_", "fill_", "zero_", "reshape",
           "permute", "transpose", "flatten", "repeat"}
lines = []


class Ints(list):
    """An int[] argument."""


def read_signatures():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../kernels/ops.def")
    with open(path) as file:
        text = re.sub(r"^//.*$", "", file.read(), flags=re.M)
    rows = {}
    row = r"^(?:MAP|REDUCE|CUSTOM|VIEW)\((\w+),(.*?)\"((?:Tensor|int|Number)[^\"]*)\""
    for match in re.finditer(row, text, flags=re.M | re.S):
        keyword, parameters = False, []
        for part in match[3].split(", "):
            if part == "*":
                keyword = True
                continue
            kind, name = part.split(" ")
            parameters.append((kind.rstrip("?"), name.split("=")[0], keyword))
        rows[match[1]] = parameters
    return rows


SIGNATURES = read_signatures()


def dtype_text(dtype):
    return str(dtype).split(".")[1]


def number_text(value):
    if isinstance(value, bool):
        return "b %d" % value
    if isinstance(value, int):
        return "i %d" % value
    return "f %s" % (repr(value))


def element_text(value):
    return repr(value) if isinstance(value, float) else str(int(value))


def tensor_text(x):
    flag = "-"
    if not x.is_contiguous():
        flag = "E" if 0 in x.stride() else "T"
    shape = "x".join(str(n) for n in x.shape) or "0d"
    values = [element_text(v) for v in x.reshape(-1).tolist()]
    return " ".join(["t", dtype_text(x.dtype), shape, flag] + values)


def argument_text(kind, value):
    if value is None:
        return "-"
    if kind == "Tensor":
        return tensor_text(value) if isinstance(value, torch.Tensor) else "n " + number_text(value)
    if kind == "Tensor[]":
        return "L " + "&".join(tensor_text(v) for v in value)
    if kind == "Number":
        return "n " + number_text(value)
    if kind == "int[]":
        return "l " + ",".join(str(v) for v in value)
    return {"int": "i %s", "bool": "b %d", "str": "s %s", "dtype": "d %s"}[kind] % (
        dtype_text(value) if kind == "dtype" else value)


def call(op, values):
    in_place = op.endswith("_") and op not in SIGNATURES
    parameters = SIGNATURES[op[:-1] if in_place else op]
    positional = [v for (kind, name, keyword), v in zip(parameters, values) if not keyword]
    named = {name: v for (kind, name, keyword), v in zip(parameters, values)
             if keyword and v is not None}
    while positional and positional[-1] is None:
        positional.pop()
    if in_place or op in METHODS:
        return getattr(positional[0], op)(*positional[1:], **named)
    if op in ("sum", "mean", "amin", "amax", "prod", "all", "any", "min", "max", "argmin", "argmax"):
        keywords = dict(zip(["dim", "keepdim"], positional[1:]))
        keywords = {k: v for k, v in keywords.items() if v is not None}
        if op in ("prod", "all", "any", "min", "max") and "dim" not in keywords:
            keywords.pop("keepdim", None)
        return getattr(torch, op)(positional[0], **keywords, **named)
    if op == "arange" and len(positional) > 1 and positional[1] is None:
        return torch.arange(0, positional[0], positional[2], **named)
    return getattr(torch if hasattr(torch, op) else torch.nn.functional, op)(*positional, **named)


def case(op, *values, error=None, ulps=0):
    name = op[:-1] if op.endswith("_") and op not in SIGNATURES else op
    parameters = SIGNATURES[name]
    values = list(values) + [None] * (len(parameters) - len(values))
    text = [op, str(ulps)] + [argument_text(kind, v) for (kind, _, _), v in zip(parameters, values)]
    values = [v.clone() if i == 0 and isinstance(v, torch.Tensor) and v.is_contiguous() else v
              for i, v in enumerate(values)]
    try:
        result = call(op, values)
    except (RuntimeError, IndexError, ValueError, TypeError) as problem:
        if error is None:
            raise
        if isinstance(problem, IndexError) and error != "index":
            raise AssertionError("%s: IndexError and not %s" % (text, error))
        if "ZeroDivisionError" in str(problem) and error != "zero-division":
            raise AssertionError("%s: %s" % (text, problem))
        lines.append("|".join(text + ["!", error]))
        return
    if error is not None:
        raise AssertionError("%s: torch answers %s" % (text, result))
    results = [result] if isinstance(result, torch.Tensor) else list(result)
    lines.append("|".join(text + ["="] + [tensor_text(r.contiguous()) for r in results]))


def write():
    out = ["// SPDX-License-Identifier: Apache-2.0",
           "// Written by torch_ops.py with torch %s." % torch.__version__]
    out += ['"%s",' % line for line in lines]
    sys.stdout.write("\n".join(out) + "\n")
