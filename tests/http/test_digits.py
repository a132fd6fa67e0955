# SPDX-License-Identifier: Apache-2.0
"""The README's first screen: 1,797 handwritten digits classified with six requests.

The expected figure, 1746 right of 1797, is what NumPy gives for the same files: argmax(x / 16 @ w + b) == y.
"""
import os
import subprocess
import tempfile

import numpy

from harness import DATA, DEVICE, TestCase


def load(name):
    return numpy.load(os.path.join(DATA, "digits_%s.npy" % name))


class Digits(TestCase):
    def test_job(self):
        client = self.client
        for name in "xwby":
            with open(os.path.join(DATA, "digits_%s.npy" % name), "rb") as file:
                answer = client.put("/v1/tensors/%s.npy?device=%s" % (name, DEVICE), file.read())
            self.assertOk(answer, 201)
        self.assertOk(client.op("div", "x", 16, out="scaled"))
        self.assertOk(client.op("matmul", "scaled", "w", out="z"))
        self.assertOk(client.op("add", "z", "b", out="logits"))
        self.assertOk(client.op("argmax", "logits", dim=1, out="guess"))
        self.assertOk(client.op("eq", "guess", "y", out="right"))
        answer = client.op("sum", "right")
        self.assertTensor(answer, 1746, "int64")
        expected = load("x").astype(numpy.float32) / numpy.float32(16) @ load("w") + load("b")
        numpy.testing.assert_allclose(client.array("logits"), expected, rtol=1e-4, atol=1e-4)
        guess = client.array("guess")
        self.assertEqual(guess.dtype, numpy.int64)
        self.assertEqual((guess == load("y")).sum(), 1746)
        self.assertEqual(client.get("/v1/tensors/z/meta").json()["device"], DEVICE)

    def test_curl(self):
        base = "http://127.0.0.1:%d" % self.server.port
        curl = lambda *args: subprocess.run(["curl", "-sS", "--fail-with-body", *args], check=True,
                                            stdout=subprocess.PIPE, cwd=DATA).stdout
        for name in "xwby":
            curl("-T", "digits_%s.npy" % name, base + "/v1/tensors/")
        self.assertEqual(self.client.get("/v1/tensors/digits_x/meta").json()["shape"], [1797, 64])
        curl(base + "/v1/ops/div", "-d", '{"args": ["digits_x", 16], "out": "scaled"}')
        curl(base + "/v1/ops/matmul", "-d", '{"args": ["scaled", "digits_w"], "out": "z"}')
        curl(base + "/v1/ops/add", "-d", '{"args": ["z", "digits_b"], "out": "logits"}')
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["curl", "-sSO", base + "/v1/tensors/logits.npy"], check=True, cwd=folder)
            logits = numpy.load(os.path.join(folder, "logits.npy"))
        self.assertEqual(int((logits.argmax(1) == load("y")).sum()), 1746)
