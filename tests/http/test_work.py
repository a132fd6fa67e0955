# SPDX-License-Identifier: Apache-2.0
"""Order, fairness between connections, full queues, memory, vanishing and slow clients, draining."""
import io
import json
import resource
import signal
import socket
import threading
import time

import numpy

from harness import DEVICE, Client, Server, TestCase, exchange, raw_status, wait_until


def npy_of(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def heavy(client, size=900, name="m"):
    """Leaves a square matrix under name."""
    client.put_array(name, numpy.random.default_rng(0).standard_normal((size, size)).astype(numpy.float32))


class Order(TestCase):
    def test_increments_from_many_connections(self):
        self.client.put_array("n", numpy.zeros(3, numpy.int64))

        def work():
            client = Client(self.server)
            for _ in range(50):
                assert client.op("add_", "n", 1).status == 200
            client.close()
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertTensor(self.client.get("/v1/tensors/n"), [400, 400, 400])

    def test_a_reader_waits_for_pending_outputs(self):
        heavy(self.client)
        size = 300 if DEVICE != "cpu" else 900
        self.client.op("slice", "m", "0:%d,0:%d" % (size, size), out="s")
        other = Client(self.server)
        body = json.dumps({"args": ["s", "s"], "out": "z"}).encode()
        with socket.create_connection(("127.0.0.1", self.server.port)) as sock:
            sock.sendall(b"POST /v1/ops/matmul HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                         % (len(body), body))
            time.sleep(0.005)
            answer = other.get("/v1/tensors/z/meta")
            sock.recv(65536)
        if answer.status == 404:  # the GET overtook the POST on its own connection: ask again
            answer = other.get("/v1/tensors/z/meta")
        self.assertEqual(answer.json()["shape"], [size, size])
        other.close()

    def test_views_are_tied_across_connections(self):
        self.client.put_array("a", numpy.zeros(1000, numpy.int64))
        self.client.op("view", "a", [10, 100], out="b")
        one, two = Client(self.server), Client(self.server)

        def work(client, name):
            for _ in range(60):
                assert client.op("add_", name, 1).status == 200
        threads = [threading.Thread(target=work, args=pair) for pair in ((one, "a"), (two, "b"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.client.op("amin", "a").json()["data"], 120)
        self.assertEqual(self.client.op("amax", "b").json()["data"], 120)
        one.close()
        two.close()


class Fair(TestCase):
    def test_small_requests_beside_a_large_product(self):
        size = 4000 if DEVICE == "cpu" else 500
        heavy(self.client, size)
        done = []
        other = Client(self.server, timeout=120)
        thread = threading.Thread(target=lambda: done.append(other.op("matmul", "m", "m", out="big")))
        self.client.put_array("s", numpy.zeros(3, numpy.float32))
        thread.start()
        time.sleep(0.02)
        served = 0
        while not done and served < 5:
            self.assertOk(self.client.op("add", "s", 1, out="t"))
            served += 1
        overtook = not done
        thread.join()
        self.assertEqual(done[0].status, 200)
        self.assertTrue(overtook, "the product ended before five small requests")
        other.close()


class Bounded(TestCase):
    def test_queue_full(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
        with Server(devices="cpu") as server:
            client = Client(server)
            client.op("ones", [3000, 3000], out="m")
            sockets, statuses = [], []
            body = b'{"args": ["m", "m"], "out": "q"}'
            head = b"POST /v1/ops/matmul HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
            for _ in range(1500):
                sock = socket.create_connection(("127.0.0.1", server.port))
                sock.sendall(head + body)
                sockets.append(sock)
            length = lambda: client.get("/v1/devices/cpu").json()["queue"]["length"]
            self.assertTrue(wait_until(lambda: length() >= 1000), length())
            answer = client.op("matmul", "m", "m", out="q")
            self.assertProblem(answer, 503, "queue-full")
            self.assertGreaterEqual(int(answer.headers["retry-after"]), 1)
            for sock in sockets:
                sock.close()
            # Closed connections may still wait to be accepted, so that the queue can be empty for a moment only.
            idle = {"length": 0, "running": 0}
            polls = []

            def stays_empty():
                polls.append(client.get("/v1/devices/cpu").json()["queue"] == idle)
                return len(polls) >= 50 and all(polls[-50:])
            self.assertTrue(wait_until(stays_empty, 120), "the queue does not empty")
            client.close()

    def test_body_limit(self):
        with Server("--max-body", "1MiB", devices="cpu") as server:
            client = Client(server)
            self.assertProblem(client.put("/v1/tensors/x", b"[" + b"1," * 600000 + b"1]"), 413, "too-large")
            self.assertOk(client.put("/v1/tensors/x", [1]), 201)
            got = exchange(server, b"PUT /v1/tensors/y HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                           + (b"10000\r\n" + b"[" + b" " * 65535 + b"\r\n") * 20 + b"0\r\n\r\n")
            self.assertEqual(raw_status(got), 413)
            client.close()


class Memory(TestCase):
    def test_what_never_fits(self):
        with Server("--memory", "64MiB", devices="cpu") as server:
            client = Client(server)
            problem = self.assertProblem(client.op("zeros", [1 << 26], out="x"), 507, "out-of-memory")
            self.assertEqual(problem["required_bytes"], 1 << 28)
            self.assertLessEqual(problem["available_bytes"], 64 << 20)
            self.assertOk(client.op("zeros", [12 << 20], out="half"))
            self.assertProblem(client.op("add", "half", 1, out="other"), 507, "out-of-memory")
            used = client.get("/v1/devices/cpu").json()["memory"]["tensors"]
            self.assertEqual(used, 48 << 20)
            self.assertOk(client.delete("/v1/tensors/half"))
            self.assertOk(client.op("zeros", [12 << 20], out="other"))
            header = (b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,), }")
            answer = client.put("/v1/tensors/y.npy", header.ljust(127) + b"\n")
            self.assertIn(answer.kind, ("out-of-memory", "too-large", "malformed"))
            client.close()

    def test_a_request_does_not_wait_for_its_own_memory(self):
        mib = 1 << 20
        with Server("--memory", "100MiB", devices="cpu") as server:
            client = Client(server, timeout=30)
            # 40 MiB of body and 80 MiB of result never fit together, though nothing else is there.
            answer = client.put("/v1/tensors/x.raw?dtype=float32&device=cpu", bytes(40 * mib))
            self.assertOk(answer, 201)
            client.delete("/v1/tensors/x")
            file = npy_of(numpy.zeros(10 * mib, numpy.float32))
            self.assertProblem(client.put("/v1/tensors/x.npy?dtype=float64", file), 507, "out-of-memory")
            answer = client.post("/v1/ops/add", '{"args": [{"data": [%s], "dtype": "float64"}, 1], "out": "x"}'
                                 % ",".join(["1.5"] * 3000000))
            self.assertIn((answer.status, answer.kind), [(200, None), (507, "out-of-memory"), (413, "too-large")])
            client.delete("/v1/tensors?prefix=")
            self.assertEqual(client.get("/v1/devices/cpu").json()["memory"]["tensors"], 0)
            client.close()

    def test_two_that_need_each_others_memory(self):
        with Server("--memory", "100MiB", devices="cpu") as server:
            file = npy_of(numpy.zeros(7 << 20, numpy.float32))  # 28 MiB, 56 MiB as float64
            statuses = []

            def work(name):
                client = Client(server, timeout=60)
                answer = client.put("/v1/tensors/%s.npy?dtype=float64" % name, file)
                if answer.status == 503:
                    self.assertGreaterEqual(int(answer.headers["retry-after"]), 1)
                statuses.append(answer.status)
                client.close()
            for _ in range(3):
                threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                client = Client(server)
                client.delete("/v1/tensors?prefix=")
                client.close()
            self.assertEqual(len(statuses), 6)
            self.assertLessEqual(set(statuses), {200, 201, 503, 507})
            self.assertIn(201, statuses)

    def test_failures_leave_the_accounts_alone(self):
        self.client.put_array("x", numpy.ones((100, 100), numpy.float32))
        before = self.client.get("/v1/devices/" + DEVICE).json()["memory"]["tensors"]
        for _ in range(20):
            for answer in (self.client.op("matmul", "x", [1.0, 2.0]), self.client.op("floor_divide", "x", "nope"),
                           self.client.put("/v1/tensors/y.npy", b"\x93NUMPY\x01"), self.client.op("view", "x", [3]),
                           self.client.op("add", "x", 1, out="9"), self.client.put("/v1/tensors/y", b"[1, [2]]"),
                           self.client.op("remainder", {"data": [1], "dtype": "int64"}, 0, out="z")):
                self.assertGreaterEqual(answer.status, 400)
        self.assertEqual(self.client.get("/v1/devices/" + DEVICE).json()["memory"]["tensors"], before)
        names = [row["name"] for row in self.client.get("/v1/tensors").json()["tensors"]]
        self.assertEqual(names, ["x"])


class Gone(TestCase):
    def test_vanishing_clients_leave_nothing(self):
        with Server(devices="cpu") as server:
            client = Client(server)
            client.op("ones", [1500, 1500], out="m")
            used = lambda: client.get("/v1/devices/cpu").json()["memory"]["tensors"]
            before, descriptors = used(), server.descriptors()
            body = b'{"args": ["m", "m"], "out": "q%d"}'
            for i in range(40):
                with socket.create_connection(("127.0.0.1", server.port)) as sock:
                    one = body % i
                    sock.sendall(b"POST /v1/ops/matmul HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(one))
                    sock.sendall(one[:len(one) if i % 2 else 5])
                    time.sleep(0.002 * (i % 5))
            for i in range(20):
                with socket.create_connection(("127.0.0.1", server.port)) as sock:
                    sock.sendall(b"GET /v1/tensors/m.npy HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    sock.recv(1000 * i + 1)
            quiet = lambda: client.get("/v1/devices/cpu").json()["queue"] == {"length": 0, "running": 0}
            self.assertTrue(wait_until(quiet, 60))
            client.delete("/v1/tensors?prefix=q")
            self.assertTrue(wait_until(lambda: used() == before and server.descriptors() <= descriptors, 20),
                            (used(), before, server.descriptors(), descriptors))
            client.close()

    def test_slow_sender_is_closed(self):
        with Server("--idle-seconds", "1", devices="cpu") as server:
            start = time.monotonic()
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as sock:
                sock.sendall(b"PUT /v1/tensors/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n[1")
                self.assertEqual(sock.recv(10), b"")
            self.assertLess(time.monotonic() - start, 15)

    def test_slow_reader_blocks_no_writer(self):
        array = numpy.arange(8 << 20, dtype=numpy.float32)
        self.client.put_array("x", array)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            sock.sendall(b"GET /v1/tensors/x.raw HTTP/1.1\r\nHost: localhost\r\n\r\n")
            got = sock.recv(65536)
            self.assertOk(self.client.op("zero_", "x"))
            self.assertTensor(self.client.op("amax", "x"), 0.0)
            if DEVICE != "cpu":
                return
            while len(got) < array.nbytes + got.index(b"\r\n\r\n") + 4:
                got += sock.recv(1 << 20)
        body = got.split(b"\r\n\r\n", 1)[1]
        self.assertEqual(body, array.tobytes())


class Drain(TestCase):
    def test_running_work_ends_first(self):
        server = Server(devices="cpu")
        client = Client(server)
        client.op("ones", [2500, 2500], out="m")
        answers = []
        other = Client(server)
        thread = threading.Thread(target=lambda: answers.append(other.op("matmul", "m", "m", out="z")))
        thread.start()
        self.assertTrue(wait_until(lambda: client.get("/v1/devices/cpu").json()["queue"]["running"] == 1))
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: client.get("/readyz").status == 503, 2)
        answer = client.op("add", "m", 1, out="t")
        self.assertProblem(answer, 503, "draining")
        self.assertIn("retry-after", answer.headers)
        thread.join()
        self.assertEqual(answers[0].status, 200)
        client.close()
        other.close()
        self.assertEqual(server.process.wait(30), 0)
        server.stop()

    def test_what_lasts_longer_is_cancelled(self):
        server = Server("--drain-seconds", "0", devices="cpu")
        client = Client(server)
        client.op("ones", [6000, 6000], out="m")
        answers = []
        thread = threading.Thread(target=lambda: answers.append(client.op("matmul", "m", "m", out="z")))
        thread.start()
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        thread.join()
        self.assertProblem(answers[0], 409, "cancelled")
        client.close()
        server.stop()
