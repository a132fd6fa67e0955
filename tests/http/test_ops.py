# SPDX-License-Identifier: Apache-2.0
"""POST /v1/ops/{op}: every operation once with values from NumPy or by hand, arguments in all their forms, and
the ways to get them wrong. The breadth of dtypes and shapes is tests/conformance's."""

import math

import numpy

from harness import DEVICE, TestCase

X = numpy.array([[-2.5, -1.0, -0.0], [0.5, 1.5, 3.0]], numpy.float32)
Y = numpy.array([[2.0, -3.0, 1.0], [0.25, 2.0, -1.5]], numpy.float32)
I = numpy.array([[7, -7, 3], [0, 12, -5]], numpy.int64)
J = numpy.array([[2, 2, -2], [5, 5, 3]], numpy.int64)
P = numpy.array([0.25, 1.0, 2.0, 10.0], numpy.float32)

UNARY = {
    "neg": numpy.negative, "abs": numpy.abs, "sign": numpy.sign, "floor": numpy.floor, "ceil": numpy.ceil,
    "round": numpy.round, "trunc": numpy.trunc, "exp": numpy.exp, "expm1": numpy.expm1, "sin": numpy.sin,
    "cos": numpy.cos, "tan": numpy.tan, "tanh": numpy.tanh, "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "square": numpy.square, "reciprocal": numpy.reciprocal, "exp2": numpy.exp2, "atan": numpy.arctan,
    "erf": numpy.vectorize(math.erf), "gelu": numpy.vectorize(lambda x: x * math.erfc(-x / math.sqrt(2)) / 2),
    "relu": lambda x: numpy.maximum(x, 0), "logical_not": numpy.logical_not,
}
POSITIVE = {"log": numpy.log, "log1p": numpy.log1p, "log2": numpy.log2, "log10": numpy.log10, "sqrt": numpy.sqrt,
            "rsqrt": lambda x: 1 / numpy.sqrt(x)}
BINARY = {
    "add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "div": numpy.divide,
    "floor_divide": numpy.floor_divide, "remainder": numpy.remainder, "eq": numpy.equal, "ne": numpy.not_equal,
    "lt": numpy.less, "le": numpy.less_equal, "gt": numpy.greater, "ge": numpy.greater_equal,
    "logical_and": numpy.logical_and, "logical_or": numpy.logical_or, "logical_xor": numpy.logical_xor,
    "minimum": numpy.minimum, "maximum": numpy.maximum,
}
BITS = {"bitwise_and": numpy.bitwise_and, "bitwise_or": numpy.bitwise_or, "bitwise_xor": numpy.bitwise_xor}


class Case(TestCase):
    def setUp(self):
        super().setUp()
        for name, array in (("x", X), ("y", Y), ("i", I), ("j", J), ("p", P)):
            self.client.put_array(name, array)

    def result(self, name, *args, **kwargs):
        answer = self.client.op(name, *args, form="npy", **kwargs)
        self.assertEqual(answer.status, 200, answer)
        return answer.npy()

    def close(self, got, expected, exact=False):
        expected = numpy.asarray(expected)
        self.assertEqual(got.shape, expected.shape)
        if exact:
            numpy.testing.assert_array_equal(got, expected)
        else:
            numpy.testing.assert_allclose(got, expected, rtol=3e-7, atol=1e-30)


class Elementwise(Case):
    def test_unary(self):
        for name, oracle in UNARY.items():
            self.close(self.result(name, "x"), oracle(X.astype(float)))
        for name, oracle in POSITIVE.items():
            self.close(self.result(name, "p"), oracle(P.astype(float)))

    def test_binary(self):
        for name, oracle in BINARY.items():
            self.close(self.result(name, "x", "y"), oracle(X.astype(float), Y.astype(float)))
            if name != "div":
                self.close(self.result(name, "i", "j"), oracle(I, J), exact=True)
        for name, oracle in BITS.items():
            self.close(self.result(name, "i", "j"), oracle(I, J), exact=True)
        self.close(self.result("bitwise_not", "i"), ~I, exact=True)
        self.close(self.result("pow", "p", 2), P.astype(float) ** 2)
        self.close(self.result("pow", "i", 3), I ** 3, exact=True)

    def test_signed_zero_and_nan(self):
        self.client.put("/v1/tensors/n", '["NaN", 1.0, -0.0]')
        self.assertTensor(self.client.op("maximum", "n", 0.5), ["NaN", 1.0, 0.5])
        self.assertTensor(self.client.op("minimum", "n", 0.5), ["NaN", 0.5, -0.0])
        self.assertTensor(self.client.op("relu", "n"), ["NaN", 1.0, -0.0])
        self.assertTensor(self.client.op("eq", "n", "n"), [False, True, True])
        self.assertTensor(self.client.op("max", "n"), "NaN")
        self.assertTensor(self.client.op("argmax", "n"), 0)

    def test_alpha_and_rounding_mode(self):
        self.close(self.result("add", "x", "y", alpha=2), X + 2 * Y)
        self.close(self.result("sub", "x", "y", alpha=0.5), X - 0.5 * Y)
        self.close(self.result("div", "i", "j", rounding_mode="floor"), I // J, exact=True)
        self.close(self.result("div", "i", "j", rounding_mode="trunc"), numpy.trunc(I / J).astype(int), exact=True)
        self.assertProblem(self.client.op("div", "i", "j", rounding_mode="up"), 422, "value")

    def test_where_and_clamp(self):
        self.client.op("gt", "x", 0, out="m")
        self.close(self.result("where", "m", "x", "y"), numpy.where(X > 0, X, Y), exact=True)
        self.close(self.result("where", "m", "x", -1), numpy.where(X > 0, X, -1), exact=True)
        self.close(self.result("clamp", "x", -1, 1), numpy.clip(X, -1, 1), exact=True)
        self.close(self.result("clamp", "x", min=0), numpy.maximum(X, 0), exact=True)
        self.close(self.result("clamp", "x", max=0.5), numpy.minimum(X, 0.5), exact=True)

    def test_softmax(self):
        e = numpy.exp(X.astype(float) - X.max(1, keepdims=True))
        self.close(self.result("softmax", "x", 1), e / e.sum(1, keepdims=True))
        e = numpy.exp(X.astype(float) - X.max(0, keepdims=True))
        self.close(self.result("softmax", "x", -2), e / e.sum(0, keepdims=True))

    def test_composed(self):
        wide = X.astype(float)
        shifted = wide - wide.max(1, keepdims=True)
        got = self.result("log_softmax", "x", 1)
        numpy.testing.assert_allclose(got, shifted - numpy.log(numpy.exp(shifted).sum(1, keepdims=True)), rtol=1e-6)
        self.close(self.result("var", "x"), wide.var(ddof=1))
        self.close(self.result("std", "x", [1], False), wide.std(axis=1))
        self.close(self.result("norm", "x"), numpy.linalg.norm(wide))
        self.close(self.result("norm", "x", 1, [0]), numpy.abs(wide).sum(0))
        self.close(self.result("tril", "x"), numpy.tril(X), exact=True)
        self.close(self.result("triu", "x", 1), numpy.triu(X, 1), exact=True)
        self.close(self.result("t", "x"), X.T, exact=True)
        self.close(self.result("repeat", "x", 2, 1, 2), numpy.tile(X, (2, 1, 2)), exact=True)
        self.close(self.result("tile", "x", [2]), numpy.tile(X, 2), exact=True)
        self.close(self.result("range", 1, 2, 0.5), [1, 1.5, 2], exact=True)
        self.client.op("clamp_", "x", 0, 1)
        self.close(self.result("clone", "x"), numpy.clip(X, 0, 1), exact=True)

    def test_products_by_rank(self):
        self.client.put_array("xt", numpy.ascontiguousarray(X.T))
        self.close(self.result("mm", "xt", "y"), X.T.astype(float) @ Y)
        self.close(self.result("linear", "x", "y", [10.0, 20.0]), X.astype(float) @ Y.T + [10, 20])
        self.client.put_array("v", X[0])
        self.close(self.result("mv", "y", "v"), Y.astype(float) @ X[0])
        self.close(self.result("dot", "v", "v"), X[0].astype(float) @ X[0])
        self.close(self.result("outer", "v", "p"), numpy.outer(X[0], P), exact=True)
        self.client.put_array("b", numpy.stack([X, Y]))
        self.client.put_array("c", numpy.stack([Y.T, X.T]))
        self.close(self.result("bmm", "b", "c"), numpy.stack([X, Y]).astype(float) @ numpy.stack([Y.T, X.T]))
        answer = self.client.op("mm", "x", "y")
        self.assertProblem(answer, 422, "shape")
        self.assertIn("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", answer.json()["detail"])

    def test_promotion(self):
        self.assertEqual(self.client.op("add", "i", 1).json()["dtype"], "int64")
        self.assertEqual(self.client.op("add", "i", 1.5).json()["dtype"], "float32")
        self.assertEqual(self.client.op("div", "i", 2).json()["dtype"], "float32")
        self.client.put("/v1/tensors/u?dtype=uint8&device=" + DEVICE, [1, 255])
        self.assertTensor(self.client.op("add", "u", 1), [2, 0], "uint8")
        self.client.put("/v1/tensors/h?dtype=float16&device=" + DEVICE, [1.0, 2.0])
        self.assertEqual(self.client.op("mul", "h", 3.0).json()["dtype"], "float16")
        self.client.put("/v1/tensors/d?dtype=float64&device=" + DEVICE, [1.0, 2.0])
        self.assertEqual(self.client.op("mul", "h", "d").json()["dtype"], "float64")

    def test_zero_division(self):
        for name in ("floor_divide", "remainder"):
            self.assertProblem(self.client.op(name, "j", 0), 422, "zero-division")
            self.assertProblem(self.client.op(name, "j", "i"), 422, "zero-division")
        self.assertTensor(self.client.op("div", "p", 0), ["Infinity"] * 4)

    def test_in_place(self):
        self.assertOk(self.client.op("add_", "x", 1))
        self.close(self.client.array("x"), X + 1, exact=True)
        self.assertOk(self.client.op("mul_", "x", "y"))
        self.close(self.client.array("x"), (X + 1) * Y, exact=True)
        self.assertProblem(self.client.op("add_", "i", 1.5), 422, "dtype")
        self.assertOk(self.client.op("fill_", "i", 4))
        self.assertOk(self.client.op("copy_", "j", "i"))
        self.close(self.client.array("j"), I * 0 + 4, exact=True)
        self.assertOk(self.client.op("zero_", "i"))
        self.close(self.client.array("i"), I * 0, exact=True)
        self.client.put_array("row", numpy.ones((1, 3), numpy.float32))
        self.assertProblem(self.client.op("add_", "row", "y"), 422, "shape")


class Reductions(Case):
    def test_all(self):
        x = X.astype(float)
        for dim in (None, 0, 1, -1):
            more = {} if dim is None else {"dim": dim}
            for name, oracle in (("sum", numpy.sum), ("prod", numpy.prod), ("mean", numpy.mean), ("amin", numpy.min),
                                 ("amax", numpy.max)):
                self.close(self.result(name, "x", **more), oracle(x, axis=dim))
            for name, oracle in (("argmin", numpy.argmin), ("argmax", numpy.argmax)):
                self.close(self.result(name, "x", **more), oracle(x, axis=dim), exact=True)
            for name, oracle in (("all", numpy.all), ("any", numpy.any)):
                self.close(self.result(name, "x", **more), oracle(x, axis=dim), exact=True)
        self.close(self.result("sum", "x", dim=[0, 1], keepdim=True), [[x.sum()]])
        self.close(self.result("sum", "i", dim=0), I.sum(0), exact=True)
        self.assertEqual(self.client.op("sum", "i", dtype="float64").json()["dtype"], "float64")

    def test_max_with_dim_gives_two(self):
        answer = self.client.op("max", "x", 1)
        values, indices = answer.json()["values"]
        self.assertEqual((values["data"], indices["data"]), ([0.0, 3.0], [2, 2]))
        self.assertOk(self.client.op("min", "x", 1, out=["v", "k"]))
        self.close(self.client.array("v"), X.min(1), exact=True)
        self.close(self.client.array("k"), X.argmin(1), exact=True)
        self.assertOk(self.client.op("max", "x", 1, out=[None, "only"]))
        self.close(self.client.array("only"), X.argmax(1), exact=True)
        self.close(self.result("max", "x"), X.max(), exact=True)
        self.close(self.result("min", "x"), X.min(), exact=True)

    def test_empty(self):
        self.client.put_array("e", numpy.zeros((0, 3), numpy.float32))
        self.assertTensor(self.client.op("sum", "e"), 0.0)
        self.assertTensor(self.client.op("prod", "e", dim=0), [1.0, 1.0, 1.0])
        self.assertTensor(self.client.op("mean", "e"), "NaN")
        self.assertTensor(self.client.op("all", "e"), True)
        self.assertTensor(self.client.op("any", "e"), False)
        self.assertIn(self.client.op("max", "e").kind, ("value", "index"))

    def test_refused(self):
        self.assertProblem(self.client.op("mean", "i"), 422, "dtype")
        self.assertProblem(self.client.op("sum", "x", dim=2), 422, "index")
        self.assertIn(self.client.op("sum", "x", dim=[0, 0]).kind, ("value", "index"))


class Products(Case):
    def test_matmul(self):
        generator = numpy.random.default_rng(3)
        for a, b in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
                     ((5, 1, 2, 3), (4, 3, 2)), ((2, 0), (0, 3)), ((70, 65), (65, 33))):
            left, right = generator.standard_normal(a), generator.standard_normal(b)
            self.client.put_array("a", left)
            self.client.put_array("b", right)
            numpy.testing.assert_allclose(self.result("matmul", "a", "b"), left @ right, rtol=1e-12, atol=1e-12)

    def test_transposed(self):
        self.client.op("transpose", "x", 0, 1, out="t")
        self.close(self.result("matmul", "x", "t"), X.astype(float) @ X.T.astype(float))
        self.close(self.result("matmul", "t", "y"), X.T.astype(float) @ Y.astype(float))

    def test_integers(self):
        self.client.op("transpose", "j", 0, 1, out="t")
        self.close(self.result("matmul", "i", "t"), I @ J.T, exact=True)

    def test_refused(self):
        problem = self.assertProblem(self.client.op("matmul", "x", "y"), 422, "shape")
        self.assertIn("shapes", problem)
        self.assertProblem(self.client.op("matmul", "x", "i"), 422, "dtype")


class Views(Case):
    def test_values(self):
        base = numpy.arange(24, dtype=numpy.int32).reshape(2, 3, 4)
        self.client.put_array("b", base)
        for name, args, expected in [
                ("reshape", [[4, -1]], base.reshape(4, 6)), ("reshape", [3, 8], base.reshape(3, 8)),
                ("view", [[6, 4]], base.reshape(6, 4)), ("transpose", [0, -1], base.swapaxes(0, 2)),
                ("permute", [[2, 0, 1]], base.transpose(2, 0, 1)), ("permute", [2, 0, 1], base.transpose(2, 0, 1)),
                ("unsqueeze", [1], base[:, None]), ("flatten", [], base.reshape(-1)), ("flatten", [1], base.reshape(2, 12)),
                ("slice", ["1,::2,-1"], base[1, ::2, -1]), ("contiguous", [], base)]:
            self.assertOk(self.client.op(name, "b", *args, out="v"))
            self.close(self.client.array("v"), expected, exact=True)
        self.client.op("unsqueeze", "p", 0, out="row")
        self.assertOk(self.client.op("expand", "row", [3, -1], out="wide"))
        self.close(self.client.array("wide"), numpy.broadcast_to(P, (3, 4)), exact=True)
        self.assertEqual(self.client.get("/v1/tensors/wide/meta").json()["strides"][0], 0)
        self.assertOk(self.client.op("squeeze", "row", out="s"))
        self.assertEqual(self.client.get("/v1/tensors/s/meta").json()["shape"], [4])

    def test_share_storage(self):
        self.client.op("reshape", "x", [3, 2], out="r")
        self.client.op("add_", "x", 1)
        self.close(self.client.array("r"), (X + 1).reshape(3, 2), exact=True)
        self.client.op("transpose", "x", 0, 1, out="t")
        self.client.op("reshape", "t", [6], out="copy")
        self.client.op("zero_", "x")
        self.close(self.client.array("copy"), (X + 1).T.reshape(6), exact=True)

    def test_view_is_refused_where_torch_refuses(self):
        self.client.op("transpose", "x", 0, 1, out="t")
        problem = self.assertProblem(self.client.op("view", "t", [6], out="v"), 422, "shape")
        self.assertIn("reshape", problem["detail"])
        self.assertProblem(self.client.op("view", "x", [4, 2]), 422, "shape")
        self.assertProblem(self.client.op("expand", "x", [2, 4]), 422, "shape")
        self.assertIn(self.client.op("permute", "x", [0, 0]).kind, ("value", "index", "shape"))


class Joining(Case):
    def test_cat_and_stack(self):
        self.close(self.result("cat", ["x", "y"]), numpy.concatenate([X, Y]), exact=True)
        self.close(self.result("cat", ["x", "y"], dim=1), numpy.concatenate([X, Y], 1), exact=True)
        self.close(self.result("stack", ["x", "y"], -1), numpy.stack([X, Y], -1), exact=True)
        self.assertEqual(self.client.op("cat", ["x", "i"]).json()["dtype"], "float32")
        self.client.put_array("one", numpy.zeros((1, 2), numpy.float32))
        self.assertProblem(self.client.op("cat", ["x", "one"]), 422, "shape")
        self.assertIn(self.client.op("cat", []).kind, ("value", "type", "shape"))

    def test_clone_and_to(self):
        self.client.op("clone", "x", out="c")
        self.client.op("zero_", "x")
        self.close(self.client.array("c"), X, exact=True)
        self.close(self.result("to", "i", dtype="float64"), I.astype(float), exact=True)
        self.assertEqual(self.client.op("to", "c", device="cpu").json()["device"], "cpu")


class Constructors(Case):
    def made(self, name, *args, **kwargs):
        return self.result(name, *args, device=DEVICE, **kwargs)

    def test_values(self):
        self.close(self.made("zeros", [2, 3]), numpy.zeros((2, 3)), exact=True)
        self.close(self.made("ones", [2]), numpy.ones(2), exact=True)
        self.close(self.made("full", [2, 2], 7), numpy.full((2, 2), 7), exact=True)
        self.close(self.made("arange", 5), numpy.arange(5), exact=True)
        self.close(self.made("arange", 1, 10, 3), numpy.arange(1, 10, 3), exact=True)
        self.close(self.made("arange", 0, 1, 0.25), numpy.arange(0, 1, 0.25), exact=True)
        self.close(self.made("linspace", 0, 1, 5), numpy.linspace(0, 1, 5), exact=True)
        self.close(self.made("eye", 2, 3), numpy.eye(2, 3), exact=True)
        self.close(self.result("zeros_like", "x"), X * 0, exact=True)
        self.close(self.result("ones_like", "i"), I * 0 + 1, exact=True)
        self.close(self.result("full_like", "x", 2.5), X * 0 + 2.5, exact=True)

    def test_dtypes(self):
        self.assertEqual(self.made("zeros", [1]).dtype, numpy.float32)
        self.assertEqual(self.made("arange", 3).dtype, numpy.int64)
        self.assertEqual(self.made("arange", 3.0).dtype, numpy.float32)
        self.assertEqual(self.made("full", [1], True).dtype, numpy.bool_)
        self.assertEqual(self.made("zeros", [1], dtype="int8").dtype, numpy.int8)

    def test_refused(self):
        self.assertIn(self.client.op("zeros", [-1]).kind, ("shape", "value"))
        self.assertIn(self.client.op("zeros", [2 ** 62, 4]).kind, ("shape", "value", "out-of-memory"))
        self.assertProblem(self.client.op("zeros", [2 ** 40]), 507, "out-of-memory")
        self.assertIn(self.client.op("arange", 0, 10, 0).kind, ("value",))
        self.assertProblem(self.client.op("zeros", [1], device="cuda:99"), 422, "device")
        self.assertProblem(self.client.op("zeros", [1], dtype="int9"), 422, "dtype")


class Arguments(Case):
    def test_inline_tensors(self):
        self.assertTensor(self.client.op("add", "p", [1, 2, 3, 4]), [1.25, 3.0, 5.0, 14.0])
        self.assertTensor(self.client.op("add", {"data": [1, 2], "dtype": "int8"}, 1), [2, 3], "int8")
        self.assertTensor(self.client.op("matmul", [[1.0, 2.0]], [[3.0], [4.0]]), [[11.0]])
        answer = self.client.post("/v1/ops/mul", b'{"args": [[1.5, NaN], Infinity]}')
        self.assertTensor(answer, ["Infinity", "NaN"])

    def test_binding(self):
        self.assertProblem(self.client.op("add", "x"), 422, "type")
        self.assertProblem(self.client.op("add", "x", "y", "p"), 422, "type")
        problem = self.assertProblem(self.client.op("add", "x", "y", alfa=2), 422, "type")
        self.assertEqual(problem.get("nearest"), "alpha")
        self.assertProblem(self.client.op("add", "x", "y", other="y"), 422, "type")
        self.assertProblem(self.client.op("softmax", "x", "one"), 422, "type")
        self.assertProblem(self.client.op("reshape", "x", ["a"]), 422, "type")
        self.assertOk(self.client.post("/v1/ops/add", {"kwargs": {"input": "x", "other": 1}}))

    def test_names(self):
        problem = self.assertProblem(self.client.op("add", "x", "yy"), 422, "undefined")
        self.assertEqual(problem.get("nearest"), "y")
        self.assertProblem(self.client.op("add", "x", 1, out="9z"), 422, "name")
        self.assertProblem(self.client.post("/v1/ops/ad", {"args": ["x", 1]}), 404, "not-found")

    def test_bodies(self):
        post = lambda body: self.client.post("/v1/ops/add", body)
        for body in (b"", b"[]", b"{", b'{"args": ["x", 1]', b'{"args": ["x", 1], "args": []}', b'{"argz": []}', b"null",
                     b'{"args": {"x": 1}}', b'{"args": ["x", 1], "kwargs": []}', b'{"args": ["\xff", 1]}', b"[" * 5000):
            self.assertProblem(post(body), 400, "malformed")
        self.assertIn(post(b'{"args": ["x", 1' + b"0" * 400 + b"]}").kind, ("value",))
        self.assertIn(post(b'{"args": ["x", ' + b"[" * 3000 + b"]" * 3000 + b"]}").kind, ("malformed", "limit", "value"))
        self.assertIn(post({"args": ["x", 1], "out": 3}).status, (400, 422))
        self.assertIn(post({"args": ["x", 1], "out": ["a", "b"]}).status, (400, 422))

    def test_shapes_do_not_fit(self):
        problem = self.assertProblem(self.client.op("add", "x", "p"), 422, "shape")
        self.assertIn("(2, 3)", str(problem["shapes"]))

    def test_other_formats(self):
        self.assertEqual(self.client.op("add", "p", 1, form="csv").body, b"1.25\n2.0\n3.0\n11.0\n")
        self.assertEqual(self.client.op("eq", "p", 1, form="text").body.decode().split("(")[0], "tensor")
        answer = self.client.op("add", "p", 1)
        self.assertEqual(answer.headers["cache-control"].split(",")[0], "no-store")

    def test_same_device(self):
        if DEVICE == "cpu":
            return self.assertEqual(self.client.op("add", "x", "y", out="z").json()["device"], "cpu")
        self.client.put("/v1/tensors/host", [[1.0, 2.0, 3.0]])
        problem = self.assertProblem(self.client.op("add", "x", "host"), 422, "device")
        self.assertIn("cpu", str(problem["devices"]))
        self.assertIn("cuda:0", str(problem["devices"]))


class Random(Case):
    """Draws follow the user's generators; their values are tests/unit/tensor/test_generators.c's."""

    def test_constructors(self):
        first, second = (self.result("rand", 2, 50, device=DEVICE) for _ in range(2))
        self.assertEqual((first.shape, first.dtype), ((2, 50), numpy.float32))
        self.assertTrue((first >= 0).all() and (first < 1).all() and (first != second).any())
        self.assertLess(abs(self.result("randn", 1000, device=DEVICE).mean()), 0.2)
        numbers = self.result("randint", -2, 3, [200], device=DEVICE)
        self.assertEqual((numbers.dtype, set(numbers.tolist())), (numpy.int64, {-2, -1, 0, 1, 2}))
        self.assertEqual(sorted(self.result("randperm", 20, device=DEVICE).tolist()), list(range(20)))
        self.assertLess(abs(self.result("normal", 100, 1, [500], device=DEVICE).mean() - 100), 1)
        self.assertProblem(self.client.op("randint", 3, 3, [2]), 422, "value")
        self.assertProblem(self.client.op("rand", 2, dtype="int64"), 422, "dtype")

    def test_like(self):
        self.assertEqual(self.result("rand_like", "x").shape, X.shape)
        self.assertEqual(self.result("randn_like", "x", dtype="float64").dtype, numpy.float64)
        self.assertTrue((self.result("randint_like", "i", 5) < 5).all())
        self.assertEqual(set(self.result("bernoulli", [0.0, 1.0]).tolist()), {0.0, 1.0})
        kept = self.result("dropout", "p", 0.5)
        self.assertTrue(((kept == 0) | (kept == 2 * P)).all())
        self.close(self.result("dropout", "p", training=False), P, exact=True)

    def test_in_place(self):
        self.client.op("uniform_", "x", 5, 6)
        self.assertTrue(((self.result("clone", "x") >= 5) & (self.result("clone", "x") < 6)).all())
        self.client.op("normal_", "x", 50, 0.1)
        self.assertTrue((abs(self.result("clone", "x") - 50) < 2).all())
        self.client.op("random_", "i", 3)
        self.assertTrue((self.result("clone", "i") < 3).all())
        self.client.op("bernoulli_", "x", 1.0)
        self.close(self.result("clone", "x"), numpy.ones_like(X), exact=True)
        self.assertProblem(self.client.op("uniform_", "i"), 422, "dtype")
