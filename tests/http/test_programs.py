# SPDX-License-Identifier: Apache-2.0
"""Small programs in the subset of Python: POST /v1/eval answers what CPython says (tests/cases/python_programs.py).

A test method per group of programs; a failure names the program, what was expected and what came.
"""
import json
import math
import os

from harness import ROOT, TestCase

TABLE = os.path.join(ROOT, "tests/cases/python_programs.json")


def same_float(expected, got, ulp):
    if not isinstance(expected, float) or not isinstance(got, float):
        return type(expected) is type(got) and expected == got      # "NaN" and the infinities are strings
    if ulp:
        return abs(expected - got) <= ulp * math.ulp(expected)
    return repr(expected) == repr(got)


def same(expected, got, ulp=0):
    """Whether an answer is the expected one: types, values, order of items; sets marked unordered in any order."""
    if not isinstance(got, dict) or set(expected) - {"unordered"} != set(got):
        return False
    if expected.get("printed") != got.get("printed") or expected.get("type") != got.get("type"):
        return False
    if "items" in expected:
        return list(expected["items"]) == list(got["items"]) and all(
            same(value, got["items"][key], ulp) for key, value in expected["items"].items())
    if "values" in expected:
        ours, theirs = expected["values"], got["values"]
        if expected.get("unordered"):
            ours, theirs = sorted(ours, key=json.dumps), sorted(theirs, key=json.dumps)
        return len(ours) == len(theirs) and all(same(a, b, ulp) for a, b in zip(ours, theirs))
    if expected.get("type") == "float":
        return same_float(expected["value"], got["value"], ulp)
    return type(expected.get("value")) is type(got.get("value")) and expected.get("value") == got.get("value")


class Programs(TestCase):
    def setUp(self):
        super().setUp()
        self.client.clear_names()

    def check_answer(self, row, answer):
        """A line that says what is wrong, or None."""
        if "error" in row:
            if answer.kind != row["error"] or not 400 <= answer.status < 500:
                return "expected %s, got %d %s" % (row["error"], answer.status, answer.body.decode())
            line = answer.json().get("line")
            if row.get("line") and line != row["line"]:
                return "expected line %s, got %s" % (row["line"], line)
            return None
        if answer.status != 200:
            return "expected %s, got %d %s" % (row["expected"], answer.status, answer.body.decode())
        got = answer.json()
        if "type" not in row["expected"]:
            if got.pop("names", None) != {}:
                return "expected no names, got %s" % answer.body.decode()
        if not same(row["expected"], got, row.get("ulp", 0)):
            return "expected %s, got %s" % (json.dumps(row["expected"]), json.dumps(got))
        return None

    def check(self, rows):
        for row in rows:
            with self.subTest(id=row["id"], source=row["source"]):
                wrong = self.check_answer(row, self.client.eval(row["source"], "keep="))
                if wrong:
                    self.fail("%s\n%s\n%s" % (row["id"], row["source"], wrong))
                if "text" in row and not row.get("ulp"):  # digits of the last place
                    answer = self.client.eval(row["source"], "keep=&format=text")
                    self.assertEqual((answer.status, answer.body.decode()), (200, row["text"]), row["id"])


def add_tests():
    with open(TABLE) as file:
        groups = {}
        for row in json.load(file):
            groups.setdefault(row["id"].rsplit("-", 1)[0], []).append(row)
    for group, rows in groups.items():
        def test(self, rows=rows):
            self.check(rows)
        setattr(Programs, "test_" + group.replace("-", "_"), test)


add_tests()
