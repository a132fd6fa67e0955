# SPDX-License-Identifier: Apache-2.0
"""What the bench's files share: rows with targets, processes under test, requests on a raw socket."""
import http.client
import io
import os
import re
import socket
import subprocess
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# A current torch and numpy choose their own kernels; what was set for old OpenBLAS builds stays off for peers.
PEER_ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}


class Missed:
    count = 0


def row(what, value, unit, target, met):
    Missed.count += not met
    print("%-58s %10.3g %-6s target %-10s %s" % (what, value, unit, target, "ok" if met else "MISSED"), flush=True)


def at_least(what, value, target, unit="x"):
    row(what, value, unit, ">= %g" % target, value >= target)


def at_most(what, value, target, unit="x"):
    row(what, value, unit, "<= %g" % target, value <= target)


def not_measured(what, why):
    print("%-58s not measured: %s" % (what, why), flush=True)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


class Process:
    """A server under test, ended on exit."""

    def __init__(self, command, port, probe=None, ready=None, environment=None):
        self.port = port
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        if ready:
            self.process.stdout.readline()
        for _ in range(600 if probe else 0):
            try:
                if self.request("GET", probe)[0] == 200:
                    break
            except OSError:
                time.sleep(0.1)

    def request(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def peak(self):
        """VmHWM in bytes since the last reset."""
        with open("/proc/%d/status" % self.process.pid) as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) << 10

    def reset_peak(self):
        with open("/proc/%d/clear_refs" % self.process.pid, "w") as file:
            file.write("5")

    def processor_seconds(self):
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Wire:
    """A connection that sends one prepared request again and again, so that the client's own work is small."""

    def __init__(self, server, path, body):
        self.sock = socket.create_connection(("127.0.0.1", server.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.bytes = ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (
            path, len(body), body)).encode()

    def seconds(self):
        """Of one request."""
        start = time.perf_counter()
        self.sock.sendall(self.bytes)
        got = self.sock.recv(65536)
        while b"\r\n\r\n" not in got or len(got) < self.length(got):
            got += self.sock.recv(65536)
        seconds = time.perf_counter() - start
        if not got.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(got.decode(errors="replace"))
        return seconds

    @staticmethod
    def length(got):
        head, _ = got.split(b"\r\n\r\n", 1)
        return len(head) + 4 + int(re.search(rb"(?i)content-length: *(\d+)", head)[1])

    def close(self):
        self.sock.close()


class Lines:
    """A process that answers each line on its input with a line: jobs measured in a process of their own."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
