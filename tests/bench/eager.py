#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user would otherwise run in Python: reads a job a line ("torch chain") and answers its best seconds of a few
runs, or "none" where the library is missing. Two threads, as the daemon beside it."""
import sys
import time

import numpy

try:
    import torch
    torch.set_num_threads(2)
except ImportError:
    torch = None
ELEMENTS = 10 ** 7
random = numpy.random.default_rng(0)
arrays = [random.standard_normal(ELEMENTS).astype(numpy.float32) for _ in range(3)]
x = random.standard_normal((100, 10)).astype(numpy.float32)
y = random.standard_normal(100).astype(numpy.float32)


def numpy_chain():
    a, b, c = arrays
    return numpy.maximum(a * b + c, 0)


def numpy_add():
    return arrays[0] + arrays[1]


def torch_chain():
    a, b, c = tensors
    return torch.relu(a * b + c)


def torch_add():
    return tensors[0] + tensors[1]


def torch_descent():
    data, target = torch.from_numpy(x), torch.from_numpy(y)
    w = torch.zeros(10)
    for _ in range(1000):
        error = data @ w - target
        gradient = data.T @ error / 100
        w = w - 0.1 * gradient
    return w


JOBS = {"numpy chain": numpy_chain, "numpy add": numpy_add}
if torch:
    tensors = [torch.from_numpy(a) for a in arrays]
    JOBS.update({"torch chain": torch_chain, "torch add": torch_add, "torch descent": torch_descent})


def measure(job):
    least = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        job()
        least = min(least, time.perf_counter() - start)
    return least


for line in sys.stdin:
    found = JOBS.get(line.strip())
    print("%.9f" % measure(found) if found else "none", flush=True)
