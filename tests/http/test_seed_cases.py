# SPDX-License-Identifier: Apache-2.0
"""The truth table tests/cases/seed_cases.json: what torch gives for every capability that people start with.

Each snippet is posted as it stands, with a last line that reads `out`; every member of what is expected is looked at:
value, type, dtype, shape, device, requires_grad, kind of error, rules in words, and printed forms with format=text.
A daemon without a device is held to expected_without_gpu where a case has it, and one with one or two devices to
`expected`.
"""
import json
import os
import re
import unittest

import numpy

from harness import DEVICE, PREFIX, ROOT, Client, Server

with open(os.path.join(ROOT, "tests/cases/seed_cases.json")) as file:
    CASES = {case["id"]: case for case in json.load(file)["cases"]}

VERSION = r"\d+\.\d+(\.\d+)?\w*"
# Values that the table describes in words.
DESCRIBED = {"version string": VERSION, "CUDA version string": VERSION, "any version string": VERSION,
             "1.13.0a0 here": r"1\.13\.\w+"}
RANGES = {"any in [0,1)": (0.0, 1.0), "1 + y elementwise, so in [1,2)": (1.0, 2.0)}
KNOWN = {"kind", "value", "type", "torch_prints", "numpy_prints", "values", "dtype", "shape", "device", "items",
         "requires_grad", "error_kind", "rule", "meaning", "torch_type", "torch_message", "note"}
SHELL = {"S01", "S26", "S124"}     # what nvidia-smi shows is GET /v1/devices here
# Where the answer depends on how many devices there are; `expected` is for one.
WITH_DEVICES = {
    "S07": lambda n: {"kind": "value", "value": n},
    "S10": lambda n: {"kind": "list", "items": [{"kind": "device", "value": "cuda:%d" % i} for i in range(n)]},
}


def flat(data):
    return [x for part in data for x in flat(part)] if isinstance(data, list) else [data]


def shape_of(data):
    return [len(data)] + (shape_of(data[0]) if data else []) if isinstance(data, list) else []


class Cases:
    """What the classes below have in common; n_devices is theirs."""
    n_devices = 0

    @classmethod
    def setUpClass(cls):
        # A GPU run without the simulator has one device that is sure to be there.
        if cls.n_devices and not PREFIX and (DEVICE == "cpu" or cls.n_devices > 1):
            raise unittest.SkipTest("%d devices need the simulator (the cuda:0 run)" % cls.n_devices)
        environment = {"CUDASIM_DEVICES": str(cls.n_devices)} if cls.n_devices else {}
        devices = ["cpu"] + ["cuda:%d" % i for i in range(cls.n_devices)]
        cls.server = Server(environment=environment, devices=",".join(devices))
        cls.client = Client(cls.server)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.stop()

    def expected_of(self, case):
        if self.n_devices == 0:
            return case.get("expected_without_gpu", case["expected"])
        if case["id"] in WITH_DEVICES:
            return WITH_DEVICES[case["id"]](self.n_devices)
        return case["expected"]

    def read(self, case, expression="out", query="keep="):
        return self.client.eval(case["torch_snippet"] + "\n" + expression + "\n", query)

    # ---- Values
    def match_tensor(self, expected, got, where):
        if expected["kind"] == "ndarray":
            self.assertEqual(got["type"], "ndarray", where)
        else:
            self.assertNotIn("type", got, where)
        self.assertEqual((got["dtype"], got["shape"]), (expected["dtype"], expected["shape"]), where)
        if "device" in expected:
            self.assertEqual(got["device"], expected["device"], where)
        if "values" not in expected:
            return
        values, data = expected["values"], got["data"]
        self.assertEqual(shape_of(data), expected["shape"], where)
        if isinstance(values, str):
            low, high = RANGES[values]
            self.assertTrue(all(low <= x < high for x in flat(data)), (where, data))
            self.assertGreater(len(set(flat(data))), 1, (where, data))
            return
        for want, have in zip(flat(values), flat(data)):
            self.assertIs(type(have), type(want), where)
            if isinstance(want, float):
                have = float(numpy.dtype(expected["dtype"]).type(have))  # digits are the shortest of the dtype
                self.assertLessEqual(abs(want - have), 1e-6 * abs(want), where)
            else:
                self.assertEqual(want, have, where)

    def match_value(self, expected, got, where):
        value = expected["value"]
        if value in DESCRIBED:
            self.assertEqual(got["type"], "str", where)
            self.assertRegex(got["value"], re.compile(r"\A" + DESCRIBED[value]), where)
            return
        kind = expected.get("type") or ("none" if value is None else type(value).__name__)
        self.assertEqual((got["type"], got["value"]), (kind, value), where)

    def match(self, expected, got, where):
        self.assertEqual(set(expected) - KNOWN, set(), where)
        kind = expected["kind"]
        if kind in ("tensor", "ndarray"):
            self.match_tensor(expected, got, where)
        elif kind == "value":
            self.match_value(expected, got, where)
        elif kind in ("device", "dtype"):
            self.assertEqual((got["type"], got["value"]), (kind, expected["value"]), where)
        elif kind == "shape":
            self.assertEqual((got["type"], got["value"]), ("size", expected["value"]), where)
        elif kind == "list":
            sequence = "tuple" if expected.get("torch_prints", "").startswith("(") else "list"
            self.assertEqual((got["type"], len(got["values"])), (sequence, len(expected["items"])), where)
            for i, item in enumerate(expected["items"]):
                self.match(item, got["values"][i], "%s[%d]" % (where, i))
        else:
            self.assertEqual((kind, got["type"]), ("object", "dict"), where)
            self.assertEqual(list(got["items"]), list(expected["items"]), where)
            for key, item in expected["items"].items():
                self.match(item, got["items"][key], "%s[%r]" % (where, key))

    def parts(self, expected, path="out"):
        """Every node of what is expected, with the expression that reads it."""
        yield path, expected
        items = expected.get("items", [])
        for key, item in items.items() if isinstance(items, dict) else enumerate(items):
            yield from self.parts(item, "%s[%r]" % (path, key))

    # ---- One case
    def check_error(self, case, expected, answer):
        self.assertEqual((answer.kind, answer.status), (expected["error_kind"], 422), answer)
        self.assertTrue(answer.json()["detail"], answer)

    def check_gradients(self, case, expected):
        tensors = [(path, part) for path, part in self.parts(expected) if part["kind"] == "tensor"]
        if tensors:
            answer = self.read(case, "[%s]" % ", ".join(path + ".requires_grad" for path, _ in tensors))
            self.assertEqual(answer.status, 200, answer)
            got = [value["value"] for value in answer.json()["values"]]
            self.assertEqual(got, [part.get("requires_grad", False) for _, part in tensors], case["id"])

    def check_prints(self, case, expected):
        for path, part in self.parts(expected):
            text = part.get("torch_prints", part.get("numpy_prints"))
            if text is None and part["kind"] == "value" and "type" in part:
                text = repr(part["value"])
            if text is not None:
                answer = self.read(case, path, "keep=&format=text")
                self.assertEqual((answer.status, answer.body.decode()), (200, text + "\n"), path)

    def check(self, case):
        expected = self.expected_of(case)
        answer = self.read(case)
        if expected["kind"] == "error":
            self.check_error(case, expected, answer)
            return
        self.assertEqual(answer.status, 200, answer)
        self.match(expected, answer.json(), case["id"])
        self.check_gradients(case, expected)
        self.check_prints(case, expected)

    def test_cases(self):
        for case in CASES.values():
            if case["id"] in SHELL:
                continue
            with self.subTest(id=case["id"], what=case["what"], snippet=case["torch_snippet"]):
                self.check(case)

    def test_snippets_stand_alone(self):
        """Posted without a line of ours: the names they make are the answer, or the same kind of error."""
        for case in CASES.values():
            with self.subTest(id=case["id"], snippet=case["torch_snippet"]):
                expected = self.expected_of(case)
                answer = self.client.eval(case["torch_snippet"], "keep=")
                if expected["kind"] == "error":
                    self.check_error(case, expected, answer)
                else:
                    self.assertEqual((answer.status, answer.json()), (200, {"names": {}}), answer)

    # ---- Rules that the table gives in words
    def test_rows_are_equal(self):
        """S18: both rows are w0+w1+w2+b."""
        answer = self.read(CASES["S18"], "[out, net[0].weight, net[0].bias]")
        self.assertEqual(answer.status, 200, answer)
        out, weight, bias = [value["data"] for value in answer.json()["values"]]
        self.assertEqual(out[0], out[1])
        self.assertAlmostEqual(out[0][0], sum(weight[0]) + bias[0], delta=1e-6)

    def test_sum_of_ones_and_random(self):
        """S14: the result is 1 + y."""
        if self.n_devices:
            answer = self.read(CASES["S14"], "(out == 1 + y_gpu).all().item()")
            self.assertEqual(answer.json().get("value"), True, answer)

    def test_to_the_same_device_is_no_copy(self):
        """S128 without a GPU."""
        answer = self.read(CASES["S128"], "out is t")
        self.assertEqual(answer.json()["value"], self.n_devices == 0, answer)

    def test_data_parallel(self):
        """S24 with a module on the GPU: the batch is split over all of them and gathered on the first; the values are
        those of one run. (With its parameters on the host the module is called as without a GPU: the case itself.)"""
        if not self.n_devices:
            return
        snippet = CASES["S24"]["torch_snippet"]
        self.assertIn("x = torch.arange(12.).reshape(4, 3)", snippet)
        moved = snippet.replace("reshape(4, 3)", "reshape(4, 3).to('cuda')\nnet.to('cuda')")
        items = CASES["S24"]["expected"]["items"]
        answer = self.client.eval(moved + "\nout\n", "keep=")
        self.assertEqual(answer.status, 200, answer)
        got = answer.json()["values"]
        for i in (0, 1):
            self.match_tensor({**items[i], "device": "cuda:0"}, got[i], "S24[%d]" % i)
        self.assertEqual([value["value"] for value in got[2]["values"]], list(range(self.n_devices)))

    def test_devices_are_described(self):
        """S01, S26, S124: what nvidia-smi shows; without a GPU an empty list of GPUs and no error."""
        answer = self.client.get("/v1/devices")
        self.assertEqual(answer.status, 200, answer)
        listed = answer.json()["devices"]
        cuda = [device for device in listed if device["kind"] == "cuda"]
        self.assertEqual(len(cuda), self.n_devices, listed)
        self.assertIn("cpu", [device["id"] for device in listed])
        for device in cuda:
            self.assertTrue(device["name"], device)
            self.assertGreater(device["memory"]["total"], 0)
            self.assertGreaterEqual(device["memory"]["used"], 0)
            self.assertIsInstance(device["processes"], list)
            self.assertTrue(device["driver"], device)
            self.assertRegex(str(device["cuda"]), VERSION)


class WithoutDevice(Cases, unittest.TestCase):
    def test_table_is_whole(self):
        self.assertEqual(sorted(CASES), sorted("S%02d" % n for n in range(1, 133)))
        self.assertEqual({i for i, case in CASES.items() if case["torch_snippet"].startswith("# shell")}, SHELL)


class WithOneDevice(Cases, unittest.TestCase):
    n_devices = 1


class WithTwoDevices(Cases, unittest.TestCase):
    n_devices = 2
