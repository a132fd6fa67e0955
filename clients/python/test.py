#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python client against a real daemon (TENSORD names it)."""
import os
import sys
import unittest

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tests/http")]
import harness  # noqa: E402
import tensord  # noqa: E402


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = harness.Server(devices="cpu")
        cls.url = "http://127.0.0.1:%d" % cls.daemon.port

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def setUp(self):
        self.server = tensord.connect(self.url)
        self.addCleanup(self.server.close)
        for name in self.server.names():
            try:
                self.server.delete_name(name)
            except LookupError:  # a parameter, gone with its module
                pass

    def test_round_trip(self):
        for array in (numpy.arange(6.0).reshape(2, 3), numpy.array([2 ** 62 + 1, -1]), numpy.array([True, False]),
                      numpy.array([numpy.nan, -numpy.inf], numpy.float16), numpy.zeros((0, 2)), numpy.float32(3)):
            self.server.put("x", array)
            back = self.server.get("x")
            self.assertEqual((back.dtype, back.shape), (numpy.asarray(array).dtype, numpy.shape(array)))
            self.assertEqual(back.tobytes(), numpy.asarray(array).tobytes())

    def test_operations(self):
        self.server.put("x", numpy.array([[1.0, 2.0], [3.0, 4.0]], numpy.float32))
        self.assertEqual(self.server.op("matmul", "x", "x", out="y")["shape"], [2, 2])
        self.assertEqual(self.server.get("y", index="0").tolist(), [7.0, 10.0])
        self.assertEqual(self.server.op("add", "x", numpy.array([1.0, 2.0], numpy.float32)).tolist(), [[2.0, 4.0], [4.0, 6.0]])
        values, indices = self.server.op("max", "x", dim=0)
        self.assertEqual((values.tolist(), indices.tolist()), ([3.0, 4.0], [1, 1]))
        self.assertTrue(numpy.isnan(self.server.op("log", [-1.0])).all())
        self.assertEqual(self.server.op("add", [2 ** 60], 1).tolist(), [2 ** 60 + 1])

    def test_arrays_as_arguments(self):
        self.assertEqual(self.server.op("add", numpy.zeros((0, 3), numpy.float32), 1).shape, (0, 3))
        self.assertEqual(self.server.op("cat", [numpy.array([1.0]), numpy.array([2.0])]).tolist(), [1.0, 2.0])
        self.assertEqual(self.server.op("zeros", [2], dtype=numpy.float64).dtype, numpy.float64)

    def test_names_are_quoted(self):
        self.server.put("x", [1.0])
        for name in ("x?dtype=int8", "x y", "\u00e9", "x#", "../x", "x\r\nHost: y"):
            with self.assertRaises(tensord.Problem):
                self.server.get(name)
        self.assertEqual(self.server.get("x").tolist(), [1.0])

    def test_parts(self):
        self.server.put("x", numpy.zeros((2, 3)))
        self.server.put("x", [1.0, 2.0, 3.0], index="1,:")
        self.assertEqual(self.server.get("x").tolist(), [[0, 0, 0], [1, 2, 3]])

    def test_problems_are_pythons_own(self):
        self.server.put("x", numpy.zeros((2, 3)))
        for exception, call in [
                (LookupError, lambda: self.server.get("nothing")), (NameError, lambda: self.server.op("add", "nothing", 1)),
                (IndexError, lambda: self.server.get("x", index="5")), (ValueError, lambda: self.server.op("matmul", "x", "x")),
                (TypeError, lambda: self.server.op("add", "x")), (MemoryError, lambda: self.server.op("zeros", [2 ** 44])),
                (ZeroDivisionError, lambda: self.server.op("remainder", [1], 0)),
                (TypeError, lambda: self.server.put("y", numpy.zeros(2, complex)))]:
            with self.assertRaises(exception) as caught:
                call()
            self.assertIsInstance(caught.exception, tensord.Problem)
            self.assertTrue(str(caught.exception))

    def test_names_and_devices(self):
        for name in ("b", "a"):
            self.server.put(name, 1)
        self.server.eval("n = 3\ndef f(x): return x + n\nnet = nn.Linear(2, 1)")
        self.assertEqual(self.server.names(), {"a": "tensor", "b": "tensor", "f": "function", "n": "value",
                                               "net": "module", "net.bias": "tensor", "net.weight": "tensor"})
        self.assertEqual(list(self.server.names("n")), ["n", "net", "net.bias", "net.weight"])
        self.assertEqual(self.server.delete_name("net")["deleted"], 1)
        with self.assertRaises(LookupError):
            self.server.delete_name("net")
        self.assertEqual(self.server.delete("a")["deleted"], 1)
        self.assertEqual(self.server.describe("b")["dtype"], "int64")
        self.assertEqual(self.server.devices()[0]["id"], "cpu")

    def test_values_of_programs(self):
        for program in ("5", "2 ** 62", "-9223372036854775808", "1.5", "1e300 * 1e10", "True", "None", "'a\u00e9\\n'", "[1, (2, 'b'), []]", "{3, 4}",
                        "range(2, 11, 3)", "range(0)", "range(5, 6)", "range(3, -4, -2)", "{'a': [1.0], 'b': {}}", "(1,)"):
            got = self.server.eval(program)
            self.assertEqual((got, type(got)), (eval(program), type(eval(program))), program)
        self.assertTrue(numpy.isnan(self.server.eval("float('nan')")))
        self.assertEqual(self.server.eval("{1: 'x'}"), {"1": "x"})
        self.assertEqual(self.server.eval("[torch.float32, torch.device('cpu'), torch.ones(2, 3).shape, type(1)]"),
                         ["float32", "cpu", (2, 3), "int"])
        self.assertEqual(self.server.eval("nn.Linear(2, 1)"), "Linear(in_features=2, out_features=1, bias=True)")

    def test_tensors_of_programs(self):
        for program, expected in (("torch.ones(2, 3) * 2", numpy.full((2, 3), 2, "f4")), ("np.arange(3.0)", numpy.arange(3.0)),
                                  ("torch.tensor(2 ** 60)", numpy.int64(2 ** 60)), ("torch.zeros(0, 3)", numpy.zeros((0, 3), "f4")),
                                  ("torch.tensor([float('inf'), 0.5], dtype=torch.float16)", numpy.array([numpy.inf, 0.5], "f2")),
                                  ("torch.tensor([1.5], dtype=torch.bfloat16)", numpy.array([1.5], "f4"))):
            for form in (None, "npy"):
                got = self.server.eval(program, format=form)
                self.assertEqual((got.dtype, got.shape, got.tobytes()), (expected.dtype, expected.shape, expected.tobytes()), program)
        self.assertEqual(self.server.eval("torch.tensor([1.5, 2.0])", format="text"), "tensor([1.5000, 2.0000])\n")
        pair = self.server.eval("(torch.ones(2), {'k': torch.zeros(1)})")
        self.assertEqual((pair[0].tolist(), pair[1]["k"].tolist()), ([1, 1], [0]))

    def test_names_of_programs(self):
        left = self.server.eval("y = torch.ones(2, 3)\nk = 1")
        self.assertEqual((left["y"]["shape"], left["k"]["kind"]), ([2, 3], "value"))
        self.server.eval("a = 1\nb = 2\nc = 3", keep=["a", "c"])
        self.server.eval("d = 4", keep=[])
        self.server.eval("e = 5", keep="e")
        self.assertEqual(list(self.server.names()), ["a", "c", "e", "k", "y"])
        self.assertEqual(self.server.get("y").tolist(), [[1, 1, 1], [1, 1, 1]])

    def test_inputs(self):
        x = numpy.array([[1.0, numpy.nan], [numpy.inf, -2.0]])
        got = self.server.eval("x * k", inputs={"x": x, "k": 2})
        self.assertEqual((got.dtype, got.tobytes()), (x.dtype, (x * 2).tobytes()))
        self.assertEqual(self.server.names(), {})

    def test_printed(self):
        self.assertEqual(self.server.eval("print('a', 1)\nprint(2)\n3"), 3)
        self.assertEqual(self.server.printed, ["a 1", "2"])
        self.assertEqual(self.server.eval("4"), 4)
        self.assertEqual(self.server.printed, [])

    def test_problems_of_programs(self):
        for exception, program, line in (
                (SyntaxError, "x = 1\ny = = 2", 2), (NameError, "torhc.ones(2)", 1), (AttributeError, "x = 1\n\nx.foo", 3),
                (KeyError, "{}['a']", 1), (IndexError, "[1][2]", 1), (ZeroDivisionError, "1 / 0", 1), (TypeError, "1 + 'a'", 1),
                (OverflowError, "2 ** 64", 1), (AssertionError, "assert 1 == 2, 'no'", 1), (ValueError, "int('x')", 1),
                (SyntaxError, "class A: pass", 1), (ValueError, "torch.ones(2) + torch.ones(3)", 1), (MemoryError, "torch.ones(2 ** 44)", None)):
            with self.assertRaises(exception) as caught:
                self.server.eval(program)
            self.assertIsInstance(caught.exception, tensord.Problem)
            if line:
                self.assertEqual(caught.exception.line, line, program)
            self.assertTrue(str(caught.exception))
        with self.assertRaises(SyntaxError) as caught:
            self.server.eval("x = 1\ny = = 2")
        self.assertEqual((caught.exception.lineno, caught.exception.text), (2, "y = = 2"))
        with self.assertRaises(NameError) as caught:
            self.server.eval("pritn(1)")
        self.assertEqual(caught.exception.nearest, "print")


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print("%d passed, %d failed" % (outcome.testsRun - failed, failed))
    sys.exit(1 if failed else 0)
