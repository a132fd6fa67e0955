# SPDX-License-Identifier: Apache-2.0
"""Cases of operations that are made of others, for torch_ops.py."""
import torch

from torch_case import INF, Ints, case

T = torch.tensor


def composed_products():
    for dtype in ["int64", "float32", "float64"]:
        kind = getattr(torch, dtype)
        a, b = torch.arange(6).reshape(2, 3).to(kind), torch.arange(12).reshape(3, 4).to(kind)
        case("mm", a, b)
        case("mm", b.t(), a.t())
        case("mv", a, a[1].clone())
        case("dot", a[0].clone(), a[1].clone())
        case("bmm", torch.arange(12).reshape(2, 2, 3).to(kind), torch.arange(24).reshape(2, 3, 4).to(kind))
        case("outer", a[0].clone(), b[1].clone())
    case("outer", T([1, 2]), T([0.5, 1.5]))
    case("outer", T([True, False]), T([3, 4]))
    case("outer", T([[1]]), T([1]), error="shape")
    case("mm", T([1.0]), T([[1.0]]), error="shape")
    case("mm", T([[1.0]]), T([1.0]), error="shape")
    case("mm", torch.ones(3, 2), torch.ones(3, 2), error="shape")
    case("mm", torch.ones(2, 2), torch.ones(2, 2, dtype=torch.float64), error="dtype")
    case("bmm", torch.ones(2, 2), torch.ones(2, 2, 2), error="shape")
    case("bmm", torch.ones(2, 2, 2), torch.ones(1, 2, 2), error="shape")
    case("mv", torch.ones(2), torch.ones(2), error="shape")
    case("mv", torch.ones(2, 3), torch.ones(2), error="shape")
    case("dot", torch.ones(2), torch.ones(3), error="shape")
    case("dot", torch.ones(2, 1), torch.ones(2), error="shape")
    x, weight = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(4, 3) - 5
    case("linear", x, weight)
    case("linear", x, weight, T([1.0, -1.0, 0.5, 2.0]))
    case("linear", x[0].clone(), weight, T([1.0, -1.0, 0.5, 2.0]))
    case("linear", torch.arange(12.0).reshape(2, 2, 3), weight)
    case("linear", x, weight.t().contiguous().t())
    case("linear", x, weight.t(), error="shape")
    case("linear", x, weight, T([1.0, 2.0]), error="shape")
    case("linear", x, weight.to(torch.float64), error="dtype")


def composed_reductions():
    x = torch.tensor([[[0.5, -1.25, 3.0], [2.0, 7.5, -4.0]], [[1.0, 1.0, 1.5], [0.0, -2.5, 8.0]]])
    for kind in [torch.float32, torch.float64]:
        y = x.to(kind)
        for op in ["var", "std"]:
            case(op, y, ulps=2)
            case(op, y, [1], ulps=2)
            case(op, y, [0, 2], False, ulps=2)
            case(op, y, [-1], True, True, ulps=2)
        for p in [2, 1, 0, 3, INF, -INF, 0.5]:
            case("norm", y, p, ulps=4)
            case("norm", y, p, [1], ulps=4)
            case("norm", y, p, [0, -1], True, ulps=4)
        case("log_softmax", y, 1, ulps=4)
        case("log_softmax", y.transpose(0, 2), -1, ulps=4)
    for op in ["var", "std"]:
        case(op, T([3.0]))
        case(op, T([3.0]), None, False)
        case(op, T([1, 2]), error="dtype")
        case(op, x, [3], error="index")
    case("norm", T([]))
    case("norm", T([1, 2]), error="dtype")
    case("norm", x, 2, [5], error="index")
    case("log_softmax", T([1.0, 1000.0]), 0)
    case("log_softmax", T([1, 2]), 0, torch.float32, ulps=2)
    case("log_softmax", T([1, 2]), 0, error="dtype")
    case("log_softmax", torch.zeros(2, 0), 1)
    case("log_softmax", x, 3, error="index")


def composed_copies():
    x = torch.arange(12).reshape(3, 4)
    for op in ["tril", "triu"]:
        for diagonal in [None, -1, 1, 5, -5]:
            case(op, x, diagonal)
        case(op, torch.arange(18.0).reshape(2, 3, 3), 1)
        case(op, x.t())
        case(op, x > 3)
        case(op, torch.zeros(0, 3))
        case(op, T([1.0]), error="index")
    case("t", x)
    case("t", T([1, 2]))
    case("t", T(5))
    case("t", torch.ones(1, 1, 1), error="shape")
    case("repeat", x, Ints([2, 1]))
    case("repeat", x, Ints([2, 1, 3]))
    case("repeat", x.t(), Ints([1, 2]))
    case("repeat", T(3), Ints([2, 2]))
    case("repeat", T(3), Ints([]))
    case("repeat", x, Ints([0, 2]))
    case("repeat", T([1, 2]), Ints([3]))
    case("repeat", x, Ints([2]), error="shape")
    case("repeat", x, Ints([2, -1]), error="value")
    case("tile", x, Ints([2]))
    case("tile", x, Ints([2, 1, 1]))
    case("tile", T([[1], [2]]), Ints([2, 3]))
    case("range", 1, 5)
    case("range", 0, 1, 0.25)
    case("range", 5, 0, -2)
    case("range", 1, 4, 1, torch.int64)
    case("range", 0, 1, 0.3, torch.float64)
    case("range", 1, 1)
    case("range", 5, 0, error="value")
    case("range", 0, 5, 0, error="value")
    case("clamp_", T([1.0, 5.0]), 2, 3)
    case("clamp_", T([1, 5]), None, T([2, 2]))
    case("clamp_", T([1, 5]), 1.5, error="dtype")
    case("clamp_", T([1.0]), error="value")
