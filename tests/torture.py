#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Torture: for each of a list of requests the 1st, 2nd, 3rd ... allocation of the daemon fails, until the request gets
through without one failing. Whatever happens, the daemon must live and answer the next request. A refusal leaves exactly
the memory and the tensors of before; a connection that closed without an answer leaves those or the whole success's.
"""
import argparse
import http.client
import mmap
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMIT = 2000  # allocations of one request; more would mean that it never gets through


def build_shim(folder):
    path = os.path.join(folder, "fail_malloc.so")
    subprocess.run([os.environ.get("CC", "gcc"), "-std=c17", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared", "-o", path,
                    os.path.join(ROOT, "tests/torture/fail_malloc.c")], check=True)
    return path


class Control:
    """The shim's two numbers."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(bytes(4096))
        self.file = open(path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), 4096)

    def arm(self, countdown):
        self.memory[0:16] = struct.pack("<qq", countdown, 0)

    def disarm(self):
        """How many allocations failed since arm."""
        failed = struct.unpack("<q", self.memory[8:16])[0]
        self.memory[0:16] = bytes(16)
        return failed


def requests(device):
    import io
    import numpy
    file = io.BytesIO()
    numpy.save(file, numpy.arange(12, dtype=numpy.float32).reshape(3, 4))
    big = io.BytesIO()
    numpy.save(big, numpy.zeros((1 << 20,), numpy.float32))
    json = {"Content-Type": "application/json"}
    place = "?device=" + device
    yield "PUT", "/v1/tensors/t.npy" + place, file.getvalue(), {}
    yield "PUT", "/v1/tensors/t.npy" + place, big.getvalue(), {}
    yield "PUT", "/v1/tensors/t" + place, b"[[1, 2], [3, 4.5]]", json
    yield "PUT", "/v1/tensors/t.csv" + place, b"1,2\n3,4\n", {}
    yield "PUT", "/v1/tensors/x?index=0,:", b"[9, 9, 9, 9]", json
    for target in ("/v1/tensors/x", "/v1/tensors/x.npy", "/v1/tensors/x.txt", "/v1/tensors/x.csv", "/v1/tensors/x.npy?index=:,1",
                   "/v1/tensors/x/meta", "/v1/tensors", "/v1/devices", "/v1/ops", "/openapi.json", "/v1", "/nothing"):
        yield "GET", target, None, {}
    for name, body in (("add", b'{"args": ["x", 1], "out": "t"}'), ("matmul", b'{"args": ["x", "y"]}'),
                       ("softmax", b'{"args": ["x", 1], "out": "t"}'), ("sum", b'{"args": ["x"], "kwargs": {"dim": 0}}'),
                       ("max", b'{"args": ["x", 1], "out": ["t", "u"]}'), ("add_", b'{"args": ["x", [1, 2, 3, 4]]}'),
                       ("transpose", b'{"args": ["x", 0, 1], "out": "t"}'), ("cat", b'{"args": [["x", "x"]], "out": "t"}'),
                       ("add", b'{"args": ["x", "no"]}')):
        yield "POST", "/v1/ops/" + name, body, json
    text = {"Content-Type": "text/plain"}
    for program in (b"t = x @ y + 1\nx[0] = 9\nt.sum()", b"torch.manual_seed(3)\nt = torch.randn(20)\nu = [t, {'a': (1, 2.5)}]",
                    b"def f(n, *a, k=2, **q):\n    return [i * k for i in range(n) if i % 2]\ns = f'{f(9)!r:>30}'.split()\n[s, sorted(s, reverse=True)]",
                    b"net = nn.Sequential(nn.Linear(4, 3), nn.ReLU())\nnet.state_dict()", b"no + 1", b"x = = 1",
                    b"f = lambda v: v + 1\ng = [f]\ng.append(g)\n", b"t = x // 0"):
        yield "POST", "/v1/eval", program, text
    yield "POST", "/v1/eval?format=text", b"x * 2", text
    yield "POST", "/v1/eval?format=npy&keep=", b"t = x * 2\nt", text
    yield "POST", "/v1/eval", b'{"program": "t = v + x[0]", "inputs": {"v": [1, 2, 3, 4]}, "if": {"t": null}}', json
    yield "GET", "/v1/names", None, {}
    yield "GET", "/v1/users", None, {}
    yield "GET", "/v1/queue", None, {}
    yield "DELETE", "/v1/names/x", None, {}
    yield "POST", "/v1/tensors/x/to", b'{"dtype": "float32"}', json
    yield "PATCH", "/v1/tensors/x/meta", b'{"pinned": true}', json
    yield "POST", "/v1/devices/%s/empty-cache" % device, None, {}


class Daemon:
    def __init__(self, build, device, shim, control_path, prefix):
        environment = {**os.environ, "TORTURE_FILE": control_path}
        command = [os.path.join(build, "tensord"), "--listen", "127.0.0.1:0", "--devices", "cpu" if device == "cpu" else "all"]
        self.errors = tempfile.TemporaryFile()
        # The shim goes to the daemon alone, not to the shell that starts it under the simulator.
        self.process = subprocess.Popen(prefix + ["env", "LD_PRELOAD=" + shim] + command, stdout=subprocess.PIPE,
                                        stderr=self.errors, env=environment)
        ready = self.process.stdout.readline().decode()
        self.port = int(ready.split("127.0.0.1:")[1].split(",")[0])

    def send(self, method, target, body=None, headers=None):
        """(status, body), or (None, b"") if the connection was closed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, ConnectionError):
            return None, b""
        finally:
            connection.close()

    def state(self, device):
        """What must be as before: the bytes of tensors on each device and the names."""
        import json
        status, body = self.send("GET", "/v1/devices")
        if status != 200:
            self.errors.seek(0)
            raise RuntimeError("GET /v1/devices answers %s (the daemon %s): %s" % (
                status, self.process.poll(), self.errors.read()[-2000:].decode(errors="replace")))
        devices = json.loads(body)["devices"]
        names = [row["name"] for row in json.loads(self.send("GET", "/v1/names")[1])["names"]]
        return [row["memory"]["tensors"] for row in devices], names


def prepare(daemon, device):
    """x and y as every request expects them, and no other name."""
    import json
    for row in json.loads(daemon.send("GET", "/v1/names")[1])["names"]:
        if "." not in row["name"] and row["kind"] != "tensor":
            daemon.send("DELETE", "/v1/names/" + row["name"])
    daemon.send("DELETE", "/v1/tensors?prefix=")
    daemon.send("PUT", "/v1/tensors/x?device=" + device, b"[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]")
    daemon.send("PUT", "/v1/tensors/y?device=" + device, b"[[1], [2], [3], [4]]")


def torment(daemon, control, device, request):
    """One request with the n-th allocation failing, for every n. A list of complaints."""
    method, target, body, headers = request
    prepare(daemon, device)
    daemon.send(method, target, body, headers)
    success = daemon.state(device)
    for n in range(1, LIMIT):
        if os.environ.get("TORTURE_VERBOSE"):
            print(method, target, n, flush=True)
        prepare(daemon, device)
        before = daemon.state(device)
        control.arm(n)
        status, _ = daemon.send(method, target, body, headers)
        failed = control.disarm()
        if daemon.process.poll() is not None:
            daemon.errors.seek(0)
            return ["the daemon died (allocation %d): %s" % (n, daemon.errors.read()[-2000:].decode(errors="replace"))]
        after = daemon.state(device)
        if after != before and (status is None and after != success or status is not None and status >= 400):
            return ["allocation %d: refused with %s, but %r became %r" % (n, status, before, after)]
        if failed and status is not None and status >= 400 and status not in (400, 404, 422, 500, 503, 507):
            return ["allocation %d: status %d" % (n, status)]
        if not failed:
            return []
    return ["did not get through after %d allocations" % LIMIT]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    passed = failed = 0
    devices = [("cpu", [])]
    if os.path.exists(os.path.join(build, "cudasim/libtensord_cuda.so")):
        os.environ["CUDASIM_BUILD"] = build
        devices.append(("cuda:0", [os.path.join(ROOT, "tests/cudasim/run")]))
    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(folder)
        for device, prefix in devices:
            control = Control(os.path.join(folder, "control"))
            daemon = Daemon(build, device, shim, os.path.join(folder, "control"), prefix)
            for request in requests(device):
                complaints = torment(daemon, control, device, request)
                for complaint in complaints:
                    print("%s %s on %s: %s" % (request[0], request[1], device, complaint))
                passed, failed = passed + (not complaints), failed + bool(complaints)
                if daemon.process.poll() is not None:
                    daemon = Daemon(build, device, shim, os.path.join(folder, "control"), prefix)
            daemon.process.terminate()
            if daemon.process.wait(60) != 0:
                print("the daemon did not end well on", device)
                failed += 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
