#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes torch_ops.inc: operations, their arguments and what torch 1.13.1 answers.

torch_case.py says how it is written down. Needs torch; the table is committed, so that tests do not.
"""
import torch

from torch_case import FLOATS, INF, INTEGERS, NAN, Ints, case, write
from torch_composed import composed_copies, composed_products, composed_reductions

T = torch.tensor


def samples(dtype, signed=True):
    if dtype == "bool":
        return T([[True, False, True], [False, False, True]])
    if dtype in FLOATS:
        return T([[1.5, -2.0, 0.25], [3.0, -0.5, 7.75]], dtype=getattr(torch, dtype))
    return T([[1, 2, 3], [100, 0, 7]], dtype=getattr(torch, dtype))


def others(dtype):
    if dtype == "bool":
        return T([[True, True, False], [False, True, True]])
    if dtype in FLOATS:
        return T([[0.5, 2.0, -0.75], [2.0, 1.5, -3.0]], dtype=getattr(torch, dtype))
    return T([[3, 1, 2], [7, 5, 2]], dtype=getattr(torch, dtype))


def arithmetic():
    everything = ["bool"] + INTEGERS + FLOATS
    for op in ["add", "mul", "eq", "ne", "lt", "le", "gt", "ge", "minimum", "maximum", "logical_and",
               "logical_or", "logical_xor"]:
        for dtype in everything:
            case(op, samples(dtype), others(dtype))
        case(op, samples("int32"), others("float32"))
        case(op, samples("float32"), others("float64").t().reshape(2, 3))
        case(op, samples("float32").t(), T([1.0, 2.0]))
        case(op, T([[1.0], [2.0]]), T([3, 4, 5]))
        case(op, T(2.5), T([1, 2]))
        case(op, T([1, 2, 3]).expand(2, 3), samples("int64"))
        case(op, T([1.0, 2.0]), T([1.0, 2.0, 3.0]), error="shape")
        case(op, torch.zeros(0, 3), torch.ones(3))
    for op in ["add", "mul", "sub", "eq", "lt", "minimum"]:
        if op != "minimum":
            case(op, samples("int32"), 2)
            case(op, samples("int32"), 2.5)
            case(op, samples("float32"), 2)
            case(op, samples("uint8"), 3)
    case("add", T([1, 2], dtype=torch.uint8), 300)
    case("add", T([True, False]), 1)
    case("add", T([True, False]), 1.5)
    case("add", T([1, 2], dtype=torch.float16), 0.1)
    # torch 1.13 rounds the number to float16 first, on the CPU; CUDA and later releases do not.
    case("mul", T([0.1, 3.0], dtype=torch.float16), 0.1, ulps=1)
    case("eq", T([0.1, 3.0], dtype=torch.float16), 0.1)
    case("mul", T([0.1, 3.0], dtype=torch.bfloat16), T(0.1))
    case("mul", T([2, 3], dtype=torch.int8), T(1000))
    case("mul", T([2, 3]), T(1.5, dtype=torch.float16))
    for dtype in everything[1:]:
        case("sub", samples(dtype), others(dtype))
        case("floor_divide", samples(dtype), others(dtype))
        case("remainder", samples(dtype), others(dtype))
        powers = others(dtype) if dtype not in FLOATS else T([2.0, 3.0, 1.0]).to(samples(dtype))
        case("pow", samples(dtype), powers, ulps=2)
        case("div", samples(dtype), others(dtype))
        case("div", samples(dtype), others(dtype), "floor")
        case("div", samples(dtype), others(dtype), "trunc")
    case("div", T([True, False]), T([True, True]))
    case("div", T([7, 8]), 2)
    case("div", T([-7.5, 7.5]), 2, "trunc")
    case("div", T([7]), 2, "up", error="value")
    case("div", T([True]), T([True]), "floor", error="dtype")
    case("floor_divide", T([True]), T([True]), error="dtype")
    case("remainder", T([True]), T([True]), error="dtype")
    case("floor_divide", T([7, 1]), 0, error="zero-division")
    case("remainder", T([7, 1]), T([2, 0]), error="zero-division")
    case("floor_divide", T([-7, 7, -7]), T([2, -2, -2]))
    case("remainder", T([-7, 7, -7]), T([2, -2, -2]))
    case("floor_divide", T([7.0, -7.5]), 0)
    case("sub", T([True]), T([1]), error="dtype")
    case("sub", T([1, 2]), True, error="dtype")
    case("sub", T([True]), T([True]), error="dtype")
    for op in ["add", "sub"]:
        case(op, samples("int32"), others("int32"), 3)
        case(op, samples("float32"), others("float32"), 0.5)
        case(op, samples("float32"), others("float32"), 2)
        case(op, samples("int32"), others("int32"), 1.0, error="dtype")
        case(op, samples("int32"), others("int32"), True, error="dtype")
        case(op, samples("float64"), others("float32"), 1)
    case("add", T([True, False]), T([False, True]), 2)
    case("add", T([True, False]), T([False, True]), True)
    case("pow", T([1, 2]), -1, error="value")
    case("pow", T([1, 2]), T([-1, -1]))
    case("pow", T([2, 4]), -1.0)
    case("pow", 2, T([1, 2, 3]))
    case("pow", T([True]), 2)
    case("pow", T([True]), T([True]), error="dtype")
    case("pow", T([1.5, -2.0]), 2)


def unary():
    for dtype in ["bool"] + INTEGERS + FLOATS:
        for op in ["sign", "logical_not"]:
            case(op, samples(dtype))
    for dtype in INTEGERS + FLOATS:
        for op in ["neg", "abs"]:
            case(op, samples(dtype))
        if dtype == "float16":  # not in torch on the CPU
            continue
        case("relu", samples(dtype))
        case("square", samples(dtype))
        for op in ["floor", "ceil", "round", "trunc"]:
            case(op, samples(dtype))
    for op in ["neg", "abs", "floor", "relu", "round"]:
        case(op, T([True]), error="dtype")
    for op in ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tan", "atan",
               "tanh", "sigmoid", "erf", "reciprocal"]:
        case(op, T([[0.5, 2.0], [1.0, 3.25]]), ulps=3)
        case(op, T([[0.5, 2.0], [1.0, 3.25]], dtype=torch.float64).t(), ulps=3)
        case(op, T([1, 2, 3]), ulps=3)
        case(op, T([True]), ulps=3)
    for dtype in ["float32", "float64"]:  # torch loses digits further below 0, and in bfloat16
        case("gelu", T([[-0.5, -0.25, 0.0], [0.75, 2.0, 6.0]], dtype=getattr(torch, dtype)), ulps=3)
    case("gelu", T([0.0, 0.75, 2.0, 6.0], dtype=torch.bfloat16), ulps=1)
    for dtype in ["bool"] + INTEGERS:
        case("gelu", samples(dtype), error="dtype")
    case("bitwise_not", T([True, False]))
    case("bitwise_not", T([1, -5]))
    case("bitwise_not", T([1, 5], dtype=torch.uint8))
    case("bitwise_not", T([1.0]), error="dtype")
    for op in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        for dtype in ["bool"] + INTEGERS:
            case(op, samples(dtype), others(dtype))
        case(op, T([True, False]), 1)
        case(op, T([1.0]), T([1.0]), error="dtype")
    case("minimum", T([1.0, NAN]), T([NAN, 1.0]))
    case("maximum", T([1.0, NAN]), T([NAN, 1.0]))


def selection():
    condition = T([[True, False, True], [False, True, False]])
    case("where", condition, samples("float32"), others("float32"))
    case("where", condition, samples("int32"), others("float32"))
    case("where", condition, samples("int32"), 2.5)
    case("where", condition, 1, 2)
    case("where", condition, 1, 2.5)
    case("where", T([True, False, True]), samples("float16"), 2.5)
    case("where", T([[1], [0]], dtype=torch.uint8), samples("int8"), others("int8"))
    case("where", T([1, 0]), T([1, 2]), T([3, 4]), error="dtype")
    case("where", T([True, False]), T([1, 2, 3]), T([3, 4, 5]), error="shape")
    for dtype in INTEGERS + FLOATS:
        if dtype == "float16":
            continue
        case("clamp", samples(dtype), 1, 3)
        case("clamp", samples(dtype), None, 2)
        case("clamp", samples(dtype), 2)
        case("clamp", samples(dtype), others(dtype), None)
    case("clamp", T([1, 5]), 1.5)
    case("clamp", T([1, 5]), T([2, 2]), T([4, 4]))
    case("clamp", T([[1.0, 5.0]]), T([[2.0], [6.0]]), None)
    case("clamp", T([1.0, 5.0]), 4, 2)
    case("clamp", T([1.0, NAN]), 2, 3)
    case("clamp", T([1.0, 2.0]), T([NAN, 0.0]), None)
    case("clamp", T([True, False]), None, 1)
    case("clamp", T([1]), error="value")
    case("clamp", T([1, 2], dtype=torch.uint8), None, 300, error="value")


def reductions():
    cube = torch.arange(24).reshape(2, 3, 4)
    for dtype in ["bool"] + INTEGERS + FLOATS:
        x = (cube % 7).to(getattr(torch, dtype))
        if dtype == "float16":
            continue
        for op in ["sum", "prod", "amin", "amax", "all", "any"]:
            if dtype == "bfloat16" and op == "prod":
                continue
            if dtype == "uint8" and op in ("all", "any"):
                continue  # torch answers uint8 here, tensord bool
            case(op, x, ulps=4)
            case(op, x, [1] if op in ("sum", "amin", "amax") else 1, ulps=4)
            case(op, x, [-1] if op in ("sum", "amin", "amax") else -1, True, ulps=4)
        case("sum", x, [0, 2], ulps=4)
        case("amax", x, [2, 0], True)
        case("min", x)
        case("max", x)
        case("min", x, 1)
        case("max", x, -1, True)
        if dtype != "bool":
            case("argmin", x)
            case("argmax", x, 0)
            case("argmax", x, 2, True)
    for dtype in FLOATS[1:]:
        x = (cube.to(torch.float64) / 4).to(getattr(torch, dtype))
        case("mean", x, ulps=4)
        case("mean", x, [1], ulps=4)
        case("mean", x, [0, -1], True, ulps=4)
    case("sum", cube.to(torch.float32).transpose(1, 2), [0], ulps=4)
    case("sum", T([1.0, 2.0]).expand(3, 2), [0])
    case("argmax", T([[1.0, 3.0], [5.0, 2.0]]).t())
    case("argmax", T([[1, 2]]), None, True)
    case("argmax", T([1.0, NAN, 3.0, NAN]))
    case("argmin", T([2, 1, 1]))
    case("min", T([1.0, NAN, 3.0]))
    case("max", T([1.0, NAN, 3.0]), 0)
    case("amax", T([[1.0, NAN], [2.0, 3.0]]), [1])
    case("sum", T([1, 2]), Ints([0, 0]), error="value")
    case("amax", T([[1, 2]]), Ints([0, 0]), error="value")
    case("sum", T([[1, 2]]), Ints([]))
    case("sum", T([1, 2]), Ints([1]), error="index")
    case("sum", T([1, 2]), Ints([-2]), error="index")
    case("sum", T(1), Ints([0]))
    case("sum", T(3.5))
    case("max", T(3.5), 0)
    case("argmax", T(3.5), -1)
    case("sum", T([1.5, 2.5]), None, None, torch.int64)
    case("sum", T([300, 2]), None, None, torch.uint8)
    case("sum", T([1, 2]), None, None, torch.bool)
    case("sum", T([1, 2]), None, None, torch.float64)
    case("sum", T([100, 100, 100], dtype=torch.int8))
    case("prod", T([1.5, 2.5]), None, None, torch.int32)
    case("prod", T([[3, 5], [7, 9]]), 0, True, torch.float32)
    case("mean", T([1, 2]), error="dtype")
    case("mean", T([1, 2]), None, None, torch.int64, error="dtype")
    case("mean", T([1, 2]), None, None, torch.float64)
    case("argmax", T([True]), error="dtype")
    empty = torch.zeros(0, 3)
    for op in ["sum", "prod", "all", "any"]:
        case(op, empty)
        case(op, empty, [0] if op == "sum" else 0)
        case(op, empty, [1] if op == "sum" else 1)
    case("mean", empty)
    case("mean", empty, [0])
    case("sum", torch.zeros(0, dtype=torch.int32))
    for op in ["amin", "amax"]:
        case(op, empty, error="value")
        case(op, empty, [0], error="index")
        case(op, empty, [1])
    for op in ["min", "max"]:
        case(op, empty, error="value")
        case(op, empty, 0, error="index")
        case(op, empty, 1)
    for op in ["argmin", "argmax"]:
        case(op, empty, error="index")
        case(op, empty, 0, error="index")
        case(op, empty, 1)
    x = T([[1.0, 2.0, 4.0], [0.5, -1.0, 80.0]])
    case("softmax", x, 0, ulps=4)
    case("softmax", x, -1, ulps=4)
    case("softmax", x.t(), 1, ulps=4)
    case("softmax", x.double(), 1, ulps=4)
    case("softmax", T(1.0), 0)
    case("softmax", T([1, 2]), 0, torch.float32, ulps=4)
    case("softmax", T([1, 2]), 0, error="dtype")
    case("softmax", T([1, 2]), 0, torch.int32, error="dtype")
    case("softmax", T([1.0, 2.0]), 1, error="index")
    case("softmax", torch.zeros(0, 3), 1)


def products():
    for dtype in ["float32", "float64", "int64", "int32", "uint8"]:
        kind = getattr(torch, dtype)
        a, b = torch.arange(6).reshape(2, 3).to(kind), torch.arange(12).reshape(3, 4).to(kind)
        case("matmul", a, b)
        case("matmul", b.t(), a.t())
        case("matmul", a[0].clone(), b)
        case("matmul", a, b.t()[1].clone())
        case("matmul", a[0].clone(), a[1].clone())
        batch = torch.arange(24).reshape(4, 2, 3).to(kind)
        case("matmul", batch, b)
        case("matmul", a, torch.arange(24).reshape(2, 3, 4).to(kind))
        case("matmul", batch, torch.arange(12).reshape(4, 3, 1).to(kind))
        case("matmul", batch.reshape(2, 2, 2, 3), torch.arange(12).reshape(2, 1, 3, 2).to(kind))
        case("matmul", batch, a[0].clone())
        case("matmul", a[0].clone(), torch.arange(24).reshape(2, 3, 4).to(kind))
    ones = torch.ones(2, 3)
    case("matmul", T([1.0, 2.0, 3.0]).expand(2, 3), ones.t())
    case("matmul", torch.ones(2, 0), torch.ones(0, 3))
    case("matmul", torch.ones(0, 3), torch.ones(3, 2))
    case("matmul", torch.ones(2, 2, 0), torch.ones(0, 3))
    case("matmul", ones, ones, error="shape")
    case("matmul", torch.ones(2, 2, 3), torch.ones(3, 3, 2), error="shape")
    case("matmul", T(1.0), ones, error="shape")
    case("matmul", ones, ones.t().double(), error="dtype")
    case("matmul", T([True]), T([True]), error="dtype")


def views():
    x = torch.arange(24).reshape(2, 3, 4)
    for shape in [[6, 4], [-1], [2, -1, 2], [24], [2, 3, 4, 1]]:
        case("reshape", x, Ints(shape))
        case("view", x, Ints(shape))
    case("reshape", x.transpose(1, 2), Ints([6, 4]))
    case("view", x[0].t(), Ints([12]), error="shape")
    case("reshape", x, Ints([5, -1]), error="shape")
    case("reshape", x, Ints([-1, -1]), error="shape")
    case("reshape", x, Ints([5]), error="shape")
    case("reshape", torch.zeros(0, 3), Ints([-1, 0]), error="shape")
    case("reshape", torch.zeros(0, 3), Ints([3, 0]))
    case("reshape", T(1), Ints([1, 1]))
    case("reshape", T([5]), Ints([]))
    case("transpose", x, 0, 2)
    case("transpose", x, -1, 1)
    case("transpose", T(1), 0, -1)
    case("transpose", x, 0, 3, error="index")
    case("permute", x, Ints([2, 0, 1]))
    case("permute", x, Ints([-1, 1, 0]))
    case("permute", x, Ints([0, 1]), error="shape")
    case("permute", x, Ints([0, 0, 1]), error="value")
    case("permute", x, Ints([0, 1, 3]), error="index")
    case("squeeze", torch.zeros(1, 2, 1))
    case("squeeze", torch.zeros(1, 2, 1), 0)
    case("squeeze", torch.zeros(1, 2, 1), 1)
    case("squeeze", T(1), 0)
    case("squeeze", torch.zeros(1, 2, 1), 3, error="index")
    for dim in [0, 1, -1, -3]:
        case("unsqueeze", torch.ones(2, 3), dim)
    case("unsqueeze", T(1), 1, error="index")
    case("flatten", x)
    case("flatten", x, 1)
    case("flatten", x, 0, 1)
    case("flatten", x.transpose(1, 2), 1)
    case("flatten", T(3))
    case("flatten", x, 2, 1, error="value")
    case("flatten", x, 5, error="index")
    case("expand", T([[1], [2]]), Ints([2, 3]))
    case("expand", T([1, 2]), Ints([3, -1]))
    case("expand", T(1), Ints([2]))
    case("expand", torch.ones(2, 3), Ints([-1, 2, 3]), error="shape")
    case("expand", torch.ones(2, 3), Ints([3]), error="shape")
    case("expand", torch.ones(2, 3), Ints([4, 3]), error="shape")
    case("contiguous", x[0].t())
    case("contiguous", x)
    case("clone", x[0].t())
    case("clone", T([1.5]).expand(3))
    case("to", x, None, torch.float32)
    case("to", T([1.5, -2.5, 300.0]), None, torch.int32)
    case("to", T([0.0, 0.5, NAN]), None, torch.bool)
    case("to", T([70000.0, 1e-9, 1.0009765]), None, torch.float16)
    case("to", x, None, torch.int64)


def joins():
    a, b = samples("float32"), others("float32")
    case("cat", [a, b])
    case("cat", [a, b], 1)
    case("cat", [a, b], -1)
    case("cat", [a, samples("int32"), b])
    case("cat", [a.t().contiguous().t(), b])
    case("cat", [T([]), a])
    case("cat", [T([], dtype=torch.float64), T([1])])
    case("cat", [T([]), T([])])
    case("cat", [torch.zeros(0, 3), a])
    case("cat", [a])
    case("cat", [], error="value")
    case("cat", [T(1)], error="shape")
    case("cat", [T([1]), T([[1]])], error="shape")
    case("cat", [torch.zeros(0, 2), a], error="shape")
    case("cat", [a, torch.ones(2, 2)], error="shape")
    case("cat", [a, b], 2, error="index")
    case("stack", [a, b])
    case("stack", [a, b], 1)
    case("stack", [a, b], -1)
    case("stack", [T(1), T(2.5)])
    case("stack", [], error="value")
    case("stack", [T([1]), T([1, 2])], error="shape")
    case("stack", [a, b], 3, error="index")


def constructors():
    case("zeros", Ints([2, 3]))
    case("ones", Ints([2]), torch.int8)
    case("zeros", Ints([]))
    case("zeros", Ints([0, 2]))
    case("zeros", Ints([-1]), error="shape")
    case("zeros", Ints([2 ** 40, 2 ** 40]), error="shape")
    for value in [True, 3, 3.5, -1.0, INF]:
        case("full", Ints([2]), value)
    case("full", Ints([2]), 2.7, torch.int32)
    case("full", Ints([2]), 3, torch.bool)
    case("full", Ints([2]), 300, torch.uint8, error="value")
    case("full", Ints([2]), 1e6, torch.float16, error="value")
    case("full", Ints([2]), 1e300, error="value")
    case("full", Ints([2]), NAN, torch.int32, error="value")
    like = T([[1, 2, 3]], dtype=torch.uint8)
    case("zeros_like", like)
    case("ones_like", like, torch.float64)
    case("full_like", like, 3.7)
    case("full_like", like, 300, error="value")
    case("full_like", like, 300, torch.int16)
    case("arange", 5)
    case("arange", 2, 7)
    case("arange", 0, 1, 0.25)
    case("arange", 5, 0, -2)
    case("arange", 5, 0, error="value")
    case("arange", 0, 5, 0, error="value")
    case("arange", 0.5, 3, 1, torch.int32)
    case("arange", 0, 3, 0.5, torch.int64, error="value")
    case("arange", 0, 3, 0.5, torch.int32, error="value")
    case("arange", 0, 3, 0.7, torch.float64)
    case("arange", True)
    case("arange", 3, None, 1, torch.bool, error="dtype")
    case("arange", 250, 260, 1, torch.uint8)
    case("arange", 0, INF, error="value")
    case("arange", 1, 2, NAN, error="value")
    case("arange", 1, 2, INF)
    case("arange", 3, None, 1, torch.float16)
    case("arange", 0)
    case("linspace", 0, 1, 5)
    case("linspace", -1, 1, 7, ulps=1)
    case("linspace", 0, 10, 4, torch.int64)
    case("linspace", 10, 0, 4, torch.int32)
    case("linspace", 3, 10, 1)
    case("linspace", 0, 1, 0)
    case("linspace", -3.3, 7.1, 9, torch.float64, ulps=2)
    case("linspace", 0, 1, 5, torch.bfloat16)
    case("linspace", 0, 1, -1, error="value")
    case("linspace", 0, 1, 5, torch.bool, error="dtype")
    case("linspace", 0, 300, 5, torch.uint8, error="value")
    for n, m in [(2, None), (3, 2), (2, 3), (0, 2), (1, 1), (4, 1)]:
        case("eye", n, m)
    case("eye", 2, None, torch.bool)
    case("eye", 2, None, torch.float16)
    case("eye", -1, error="value")


def in_place():
    case("add_", T([1.0, 2.0]), T([1, 2]))
    case("add_", T([1, 2], dtype=torch.int8), T([1, 2]))
    case("add_", T([1, 2]), 1.5, error="dtype")
    case("add_", T([1.0]), T([1.0, 2.0]), error="shape")
    case("add_", T([1.0, 2.0]), T(5))
    case("add_", T([1, 2], dtype=torch.uint8), 300)
    case("add_", T([True, False]), 1, error="dtype")
    case("add_", T([1.0]).expand(3), 1, error="value")
    case("sub_", samples("float32").t(), T([1.0, 2.0]))
    case("mul_", T([[1.0, 2.0], [3.0, 4.0]]).t(), T([[1.0, 2.0], [3.0, 4.0]]))
    case("sqrt_", T([1, 2]), error="dtype")
    case("sqrt_", T([4.0, 9.0]))
    case("div_", T([1, 2]), 2, error="dtype")
    case("floor_divide_", T([7, 8]), 2)
    case("floor_divide_", T([7, 8]), T([2, 0]), error="zero-division")
    case("eq_", T([1.0, 2.0]), T([1.0, 3.0]))
    case("logical_not_", T([1, 0]))
    case("copy_", T([1, 2]), T([1.5, 2.5]))
    case("copy_", T([[1, 2], [3, 4]]), T([7, 8]))
    case("copy_", T([1, 2]), T([[1, 2]]), error="shape")
    case("copy_", T([1, 2]), T([1, 2, 3]), error="shape")
    case("copy_", T([True]), T([2]))
    case("copy_", torch.zeros(0, 2), T([1.0, 2.0]))
    case("fill_", T([[1.0, 2.0], [3.0, 4.0]]).t(), 7)
    case("fill_", T([1, 2], dtype=torch.uint8), 300, error="value")
    case("zero_", T([1, 2]))


def main():
    for group in (arithmetic, unary, selection, reductions, products, views, joins, constructors,
                  in_place, composed_products, composed_reductions, composed_copies):
        group()
    write()


main()
