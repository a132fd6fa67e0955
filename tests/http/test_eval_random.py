# SPDX-License-Identifier: Apache-2.0
"""Random numbers in programs: torch's own on `cpu`, from tests/cases/rng_reference.json, which also says what is
exact and what is within a tolerance."""
import json
import os
import re

import numpy

from harness import ROOT
from test_eval import EvalCase

with open(os.path.join(ROOT, "tests/cases/rng_reference.json")) as file:
    SEEDS = json.load(file)["values"]


def keywords(text):
    """ "low=0,high=2**31,n=5 (a remark)" as {"low": "0", ...}"""
    return dict(part.split("=") for part in re.sub(r" \(.*", "", text).split(","))


class Random(EvalCase):
    def draw(self, seed, expression):
        return self.value("torch.manual_seed(%s)\n%s" % (seed, expression))

    def exact(self, seed, expression, expected, dtype="float32"):
        document = self.draw(seed, expression)
        self.assertEqual(document["dtype"], dtype, expression)
        got = numpy.array(document["data"]).astype(dtype)
        numpy.testing.assert_array_equal(got, numpy.array(expected).astype(dtype), "seed %s: %s" % (seed, expression))

    def each(self, key, check):
        """check(seed, arguments, expected) for everything the file has under key."""
        for seed, blocks in SEEDS.items():
            for arguments, expected in blocks.get(key, {}).items():
                with self.subTest(seed=seed, key=key, arguments=arguments):
                    check(seed, arguments, expected)

    def test_rand(self):
        self.each("rand_float32", lambda seed, n, expected: self.exact(seed, "torch.rand(%s)" % n, expected))
        self.each("rand_float64", lambda seed, n, expected: self.exact(
            seed, "torch.rand(%s, dtype=torch.float64)" % n, expected, "float64"))

    def test_randn(self):
        def double(seed, n, expected):
            got = self.draw(seed, "torch.randn(%s, dtype=torch.float64)" % n)
            numpy.testing.assert_allclose(got["data"], expected, rtol=1e-14, atol=1e-15)
        for key in ("randn_float32_lt16", "randn_float32_ge16"):
            self.each(key, lambda seed, n, expected: self.exact(seed, "torch.randn(%s)" % n, expected))
        self.each("randn_float64", double)

    def test_randint(self):
        def check(seed, text, expected):
            given = keywords(text)
            dtype = given.get("dtype", "int64")
            self.exact(seed, "torch.randint(%s, %s, (%s,), dtype=torch.%s)" % (
                given["low"], given["high"], given["n"], dtype), expected, dtype)
        self.each("randint", check)

    def test_randperm(self):
        self.each("randperm", lambda seed, n, expected: self.exact(seed, "torch.randperm(%s)" % n, expected, "int64"))

    def test_uniform(self):
        def check(seed, text, expected):
            given = keywords(text)
            self.exact(seed, "torch.empty(%s).uniform_(%s, %s)" % (given["n"], given["from"], given["to"]), expected)
        self.each("uniform_float32", check)

    def test_normal(self):
        def check(seed, text, expected):
            given = keywords(text)
            for form in ("torch.normal(%(mean)s., %(std)s., (%(n)s,))", "torch.empty(%(n)s).normal_(%(mean)s, %(std)s)"):
                got = numpy.array(self.draw(seed, form % given)["data"])
                numpy.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6, err_msg=form % given)
        self.each("normal_float32", check)

    def check_sequential(self, seed, expected):
        names = sorted(expected)
        module = "net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))\n"
        answer = self.draw(seed, module + "[net.state_dict()[k] for k in %r]" % names)
        for name, value in zip(names, answer["values"]):
            numpy.testing.assert_array_equal(numpy.float32(value["data"]), numpy.float32(expected[name]), name)

    def test_linear(self):
        parts = {"weight": ".weight", "bias": ".bias", "weight_first8": ".weight.flatten()[:8]",
                 "weight_last4": ".weight.flatten()[-4:]"}

        def check(seed, text, expected):
            if text.startswith("Sequential"):
                self.check_sequential(seed, expected)
                return
            given = keywords(text)
            dtype = given.get("dtype", "float32")
            module = "nn.Linear(%s, %s, bias=%s, dtype=torch.%s)" % (
                given["in"], given["out"], given.get("bias", "True"), dtype)
            for name, values in expected.items():
                self.exact(seed, module + parts[name], values, dtype)
        self.each("linear_init", check)

    def test_sequences(self):
        def check(seed, title, draws):
            calls, expected = [], []
            for call, values in draws.items():
                call = re.sub(r"#\d+$", "", call).replace("float64", "dtype=torch.float64")
                if call.startswith("after reseed "):
                    calls.append("torch.manual_seed(%s) and None" % seed)
                    expected.append(None)
                    call = call.split(" ")[-1]
                calls.append(("nn." if call.startswith("Linear") else "torch.") + call)
                expected.append(values if isinstance(values, list) else None)
            got = self.draw(seed, "[%s]" % ", ".join(calls))["values"]
            for call, want, have in zip(calls, expected, got):
                if want is not None:
                    data = numpy.array(have["data"]).astype(have["dtype"]).ravel()
                    numpy.testing.assert_array_equal(data, numpy.array(want).astype(have["dtype"]), title + ": " + call)
        self.each("sequences", check)

    def test_seeds(self):
        first = self.draw(42, "torch.rand(3)")["data"]
        self.assertNotEqual(self.value("torch.rand(3)", "")["data"], first)         # goes on
        self.assertEqual(self.draw(2 ** 32 + 42, "torch.rand(3)")["data"], first)   # the engine takes the low 32 bits
        self.assertEqual(self.draw(-1, "torch.rand(3)")["data"], self.draw(2 ** 64 - 1, "torch.rand(3)")["data"])
        for seed in ("2 ** 64", "-2 ** 63 - 1", "18446744073709551616"):
            self.assertIn(self.client.eval("torch.manual_seed(%s)" % seed, "keep=").kind, ("overflow", "value"))
        self.assertEqual(self.value("torch.manual_seed(1)"), {"type": "none", "value": None})
