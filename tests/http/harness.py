# SPDX-License-Identifier: Apache-2.0
"""The HTTP tests' ground: a daemon of their own, a client over a real socket, and coverage.

One daemon serves a whole test module run (SHARED); tests that need special flags start their own Server. Every
answer passes through Recorder, which remembers the routes, operations and problem kinds that were hit;
test_zz_coverage.py fails for rows that never were.
"""
import http.client
import io
import json
import os
import re
import select
import signal
import socket
import subprocess
import time
import unittest

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DAEMON = os.environ.get("TENSORD", os.path.join(ROOT, "build/tensord"))
PREFIX = os.environ.get("TENSORD_PREFIX", "").split()
DEVICE = os.environ.get("TENSORD_TEST_DEVICE", "cpu")
DATA = os.path.join(ROOT, "tests/data")


class Recorder:
    """What has been hit so far: (method, path) pairs, operation names, problem kinds."""
    requests, operations, kinds = set(), set(), set()

    @classmethod
    def record(cls, method, target, answer):
        path = target.split("?")[0]
        cls.requests.add((method, path))
        match = re.fullmatch(r"/v1/ops/([^/]+)", path)
        if match and method == "POST" and answer.status < 300:
            cls.operations.add(match[1])
        if answer.headers.get("content-type", "").startswith("application/problem+json") and answer.body:
            cls.kinds.add(json.loads(answer.body)["type"].rsplit("/", 1)[1])


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {}
        for name, value in headers:
            self.headers[name.lower()] = value

    def json(self):
        return json.loads(self.body)

    def npy(self):
        return numpy.load(io.BytesIO(self.body))

    @property
    def kind(self):
        """The problem's kind, or None."""
        if not self.headers.get("content-type", "").startswith("application/problem+json"):
            return None
        return self.json()["type"].rsplit("/", 1)[1]

    def __repr__(self):
        return "<%d %r %r>" % (self.status, self.headers, self.body[:300])


class Server:
    """A daemon on a free port. stop() demands a clean exit."""

    def __init__(self, *flags, environment=None, listen="127.0.0.1:0", devices=None):
        if devices is None:
            devices = "cpu" if DEVICE == "cpu" else "all"
        self.log = open("/tmp/tensord-test-%d-%d.log" % (os.getpid(), id(self)), "w+b")
        prefix = PREFIX if devices != "cpu" else []
        self.process = subprocess.Popen(
            prefix + [DAEMON, "--listen", listen, "--devices", devices, *flags],
            stdout=subprocess.PIPE, stderr=self.log, env={**os.environ, **(environment or {})})
        ready, _, _ = select.select([self.process.stdout], [], [], 60)
        self.ready = self.process.stdout.readline().decode() if ready else ""
        match = re.search(r"listening on (?:http://([^,\s]+):(\d+)|unix:(\S+)), devices (.*)", self.ready)
        if not match:
            self.process.kill()
            raise RuntimeError("no ready line: %r\n%s" % (self.ready, self.errors()))
        self.host, self.unix, self.devices = match[1], match[3], match[4].split()
        self.port = int(match[2]) if match[2] else 0

    def errors(self):
        self.log.flush()
        with open(self.log.name, "rb") as file:
            return file.read().decode(errors="replace")

    def memory(self, field="VmRSS"):
        """Bytes of a field of /proc/PID/status."""
        with open("/proc/%d/status" % self.process.pid) as file:
            return int(re.search(field + r":\s+(\d+) kB", file.read())[1]) * 1024

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def stop(self, limit=60):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(limit)
        errors = self.errors()
        self.process.stdout.close()
        self.log.close()
        os.unlink(self.log.name)
        if code != 0 or "Sanitizer" in errors or "runtime error" in errors:
            raise RuntimeError("exit status %d\n%s" % (code, errors))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.stop()
        else:
            self.process.kill()
            self.process.wait()


class Client:
    """One keep-alive connection. Paths are sent as they are."""

    def __init__(self, server, timeout=60):
        self.server = server
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)

    def send(self, method, target, body=None, headers=None, **more):
        headers = {**(headers or {}), **{k.replace("_", "-"): v for k, v in more.items()}}
        if isinstance(body, (dict, list, int, float, bool)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        self.connection.request(method, target, body, headers)
        got = self.connection.getresponse()
        answer = Answer(got.status, got.getheaders(), got.read())
        Recorder.record(method, target, answer)
        return answer

    def get(self, target, **headers):
        return self.send("GET", target, **headers)

    def put(self, target, body, **headers):
        return self.send("PUT", target, body, **headers)

    def post(self, target, body=None, **headers):
        return self.send("POST", target, body, **headers)

    def delete(self, target, **headers):
        return self.send("DELETE", target, **headers)

    def op(self, name, *args, **options):
        """POST /v1/ops/{name}; keyword arguments but out, condition and form are kwargs of the operation."""
        body = {"args": list(args)}
        for key, member in (("out", "out"), ("condition", "if")):
            if key in options:
                body[member] = options.pop(key)
        form = options.pop("form", None)
        if options:
            body["kwargs"] = options
        return self.post("/v1/ops/" + name + ("?format=" + form if form else ""), body)

    def eval(self, program, query=""):
        """POST /v1/eval with a program as plain text; query like "keep=&format=text"."""
        target = "/v1/eval" + ("?" + query if query else "")
        return self.post(target, program.encode(), Content_Type="text/plain; charset=utf-8")

    def clear_names(self):
        """Frees everything that is named: modules and values too, which DELETE /v1/tensors leaves."""
        for entry in self.get("/v1/names?limit=10000").json()["names"]:
            self.delete("/v1/names/" + entry["name"])

    def put_array(self, name, array, query=""):
        """Uploads a NumPy array as npy to the device under test."""
        file = io.BytesIO()
        numpy.save(file, array)
        target = "/v1/tensors/%s.npy?device=%s%s" % (name, DEVICE, query)
        answer = self.put(target, file.getvalue())
        assert answer.status in (200, 201), answer
        return answer

    def array(self, name, query=""):
        answer = self.get("/v1/tensors/%s.npy%s" % (name, query))
        assert answer.status == 200, answer
        return answer.npy()

    def close(self):
        self.connection.close()


def exchange(server, data, shut=False, timeout=10):
    """Sends raw bytes and reads until the server closes or is silent for a moment; the bytes that came."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as sock:
        sock.sendall(data)
        if shut:
            sock.shutdown(socket.SHUT_WR)
        got = b""
        sock.settimeout(timeout)
        try:
            while True:
                piece = sock.recv(65536)
                if not piece:
                    break
                got += piece
                sock.settimeout(0.5)
        except socket.timeout:
            pass
        return got


def raw_status(got):
    """The status code of raw response bytes."""
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", got)
    return int(match[1]) if match else None


def record_raw(got):
    """Records the problem kind of a raw answer."""
    match = re.search(rb'"type": "/problems/([a-z-]+)"', got)
    if match:
        Recorder.kinds.add(match[1].decode())


def wait_until(condition, limit=10.0):
    """Polls condition; False when the limit has passed."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


class Shared:
    server = None

    @classmethod
    def get(cls):
        if cls.server is None:
            cls.server = Server()
        return cls.server


class TestCase(unittest.TestCase):
    """Each test starts with no tensors on the shared daemon and a fresh connection."""

    @property
    def server(self):
        return Shared.get()

    def setUp(self):
        self.client = Client(self.server)
        self.client.delete("/v1/tensors?prefix=")
        self.addCleanup(self.client.close)

    def assertProblem(self, answer, status, kind):
        self.assertEqual((answer.status, answer.kind), (status, kind), answer)
        document = answer.json()
        self.assertEqual(document["status"], status)
        self.assertTrue(document["title"] and document["detail"], document)
        return document

    def assertOk(self, answer, status=200):
        self.assertEqual(answer.status, status, answer)
        return answer

    def assertTensor(self, answer, values, dtype=None):
        """A JSON answer with these values (exactly) and dtype."""
        self.assertEqual(answer.status, 200, answer)
        document = answer.json()
        self.assertEqual(document["data"], values)
        if dtype:
            self.assertEqual(document["dtype"], dtype)
        return document
