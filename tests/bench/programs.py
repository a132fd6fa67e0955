# SPDX-License-Identifier: Apache-2.0
"""The rows of POST /v1/eval: small programs, loops, and fused chains on 10^7 elements. All of ours are measured end to
end, through the socket; the peers compute in a process of their own (eager.py, fused.c) and take turns with it."""
import json
import os
import sys

import numpy

from measure import HERE, PEER_ENVIRONMENT, Lines, Wire, at_least, at_most, not_measured, npy

ELEMENTS = 10 ** 7
STATEMENT = "y = y * 0.5 + b\n"
DESCENT = """w = torch.zeros(10)
for step in range(1000):
    error = x @ w - y
    gradient = x.T @ error / 100
    w = w - 0.1 * gradient
"""


def best_in_turns(rounds, **measures):
    """Each measure's least over rounds in which all take turns."""
    found = {}
    for _ in range(rounds):
        for name, measure in measures.items():
            seconds = measure()
            found[name] = min(seconds, found.get(name, seconds))
    return found


class Eager:
    """NumPy and torch in a process of their own; has(job) is False where the library is missing."""

    def __init__(self):
        self.lines = Lines([sys.executable, os.path.join(HERE, "eager.py")], PEER_ENVIRONMENT)

    def has(self, job):
        return self.lines.ask(job) != "none"

    def seconds(self, job):
        return float(self.lines.ask(job))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.__exit__()


class Programs:
    """Rows of Bench: it has tensord(), wrk() and tool()."""

    def small_programs(self):
        with self.tensord() as ours:
            for name in "aby":
                ours.request("PUT", "/v1/tensors/" + name, "[1.0, 2.0, 3.0]")
            rates = {}
            for _ in range(8):
                for key, program in (("add", None), ("program", "y = a + b"), ("statement", STATEMENT), ("hundred", STATEMENT * 100)):
                    rate = self.wrk(ours, 8, 1, program)[0]
                    rates[key] = max(rate, rates.get(key, rate))
            print("    8 connections: add %.0f/s, program %.0f/s, 100 statements %.0f/s" % (
                rates["add"], rates["program"], rates["hundred"]))
            at_least("1-line program on 3 elements / POST add, 8 connections", rates["program"] / rates["add"], 0.85)
            at_least("100 statements in one program / in 100 requests", 100 * rates["hundred"] / rates["statement"], 20)

    def descent(self):
        what = "1,000 steps of gradient descent by hand / torch eager"
        random = numpy.random.default_rng(0)
        x = random.standard_normal((100, 10)).astype(numpy.float32)
        y = random.standard_normal(100).astype(numpy.float32)
        exact = numpy.linalg.lstsq(x.astype(float), y.astype(float), rcond=None)[0]
        with self.tensord() as ours, Eager() as eager:
            if not eager.has("torch descent"):
                not_measured(what, "torch is not installed")
                return
            ours.request("PUT", "/v1/tensors/x", npy(x))
            ours.request("PUT", "/v1/tensors/y", npy(y))
            wire = Wire(ours, "/v1/eval?keep=w", DESCENT)
            found = best_in_turns(10, ours=wire.seconds, torch=lambda: eager.seconds("torch descent"))
            wire.close()
            w = json.loads(ours.request("GET", "/v1/tensors/w")[1])["data"]
            assert numpy.allclose(w, exact, atol=1e-3), (w, exact)
            print("    tensord %.2f ms, torch %.2f ms" % (found["ours"] * 1e3, found["torch"] * 1e3))
            at_least(what, found["torch"] / found["ours"], 1)

    def chains(self):
        """relu(a*b+c) and a+b on 10^7 float32 with two threads."""
        random = numpy.random.default_rng(0)
        with self.tensord("--threads", "2") as ours, Eager() as eager, \
                Lines([self.tool("fused"), str(ELEMENTS), "2"]) as fused:
            for name in "abc":
                ours.request("PUT", "/v1/tensors/" + name, npy(random.standard_normal(ELEMENTS).astype(numpy.float32)))
            torch = eager.has("torch add")
            for name, program, limits in (("relu(a*b+c)", "z = torch.relu(a * b + c)", (3.5, 10)), ("a+b", "z = a + b", (2, 2))):
                wire = Wire(ours, "/v1/eval", program)
                job = "chain" if "relu" in name else "add"
                measures = {"ours": lambda: min(wire.seconds() for _ in range(5)), "numpy": lambda: eager.seconds("numpy " + job)}
                if torch:
                    measures["torch"] = lambda: eager.seconds("torch " + job)
                if job == "chain":
                    measures["C"] = lambda: float(fused.ask(""))
                found = best_in_turns(8, **measures)
                wire.close()
                print("    %s on 10^7: %s ns an element" % (name, ", ".join(
                    "%s %.3f" % (key, value / ELEMENTS * 1e9) for key, value in found.items())))
                if job == "chain":
                    at_most("%s, 10^7 float32, 2 threads, time / fused C loop" % name, found["ours"] / found["C"], 1.3)
                at_least("%s, 10^7 float32, 2 threads / numpy" % name, found["numpy"] / found["ours"], limits[0])
                what = "%s, 10^7 float32, 2 threads / torch eager" % name
                if torch:
                    at_least(what, found["torch"] / found["ours"], limits[1])
                else:
                    not_measured(what, "torch is not installed")
