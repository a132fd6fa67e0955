# SPDX-License-Identifier: Apache-2.0
"""Runs last: every route, operation and problem kind must have been hit by the tests before it."""
import os
import re
import unittest

from harness import DEVICE, ROOT, Recorder, TestCase

# Kinds that only another setup can raise, with the reason.
ELSEWHERE = {
    "cpu": {"device-fault"},      # needs a CUDA device whose faults are injected (cuda:0 run)
    "cuda:0": set(),
}
# A kind that is declared for clients' tables but that no route of this build answers with.
UNRAISED = {"not-implemented"}


def pattern(path):
    return re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)))


class Coverage(TestCase):
    def setUp(self):
        super().setUp()
        if len(Recorder.requests) < 100:
            raise unittest.SkipTest("only part of the suite ran")

    def test_routes(self):
        document = self.client.get("/openapi.json").json()
        missing = []
        for path, methods in document["paths"].items():
            route = pattern(path)
            for method in methods:
                if method in ("get", "put", "post", "patch", "delete", "head") and not any(
                        m == method.upper() and route.fullmatch(p) for m, p in Recorder.requests):
                    missing.append("%s %s" % (method.upper(), path))
        self.assertEqual(missing, [])

    def test_operations(self):
        catalogue = {row["name"] for row in self.client.get("/v1/ops").json()["ops"]}
        self.assertEqual(sorted(catalogue - Recorder.operations), [])

    def test_kinds(self):
        with open(os.path.join(ROOT, "kernels/base/problems.def")) as file:
            declared = set(re.findall(r'^PROBLEM\(\w+, "([a-z-]+)"', file.read(), re.M))
        self.assertEqual(sorted(declared - Recorder.kinds - ELSEWHERE[DEVICE] - UNRAISED), [])
