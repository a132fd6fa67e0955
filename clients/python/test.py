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
        self.server.request("DELETE", "/v1/tensors?prefix=")

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
        self.assertEqual(self.server.names(), ["a", "b"])
        self.assertEqual(self.server.delete("a")["deleted"], 1)
        self.assertEqual(self.server.describe("b")["dtype"], "int64")
        self.assertEqual(self.server.devices()[0]["id"], "cpu")


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=0).result
    failed = len(outcome.failures) + len(outcome.errors)
    print("%d passed, %d failed" % (outcome.testsRun - failed, failed))
    sys.exit(1 if failed else 0)
