# SPDX-License-Identifier: Apache-2.0
"""Storms: hostile bytes, wrong arguments, many careless colleagues at once. Seeded; what is asserted after each
storm is that the daemon lives, accounts for every byte, has nothing queued and has given its descriptors back."""
import io
import json
import random
import socket
import unittest

import numpy

from harness import Client, Server, wait_until
from storm import StormCase, parse_responses, times


class Storm(StormCase):
    # ---- bytes

    def test_mutated_requests(self):
        client = Client(self.server)
        client.put("/v1/tensors/x", [1, 2, 3])
        client.close()
        body = b'{"args": ["x", 1], "out": "y"}'
        seeds = [
            b"GET /v1/tensors/x HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-npy, text/plain;q=0.5\r\n\r\n",
            b"GET /v1/tensors/x.npy?index=0:2 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-9\r\nIf-Range: \"a\"\r\n\r\n",
            b"POST /v1/ops/add HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body),
            b"POST /v1/ops/add HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1e;a=b\r\n%s\r\n0\r\nT: u\r\n\r\n"
            % body,
            b"PUT /v1/tensors/q?dtype=int32&shape=2 HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            b"Content-Length: 8\r\n\r\n12345678",
            b"HEAD /v1/tensors?prefix=x&limit=2 HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\n\r\n",
            b"DELETE /v1/tensors/y HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            b"OPTIONS /v1/tensors/x HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n",
        ]
        pieces = [b"\0", b"\r\n", b"\n", b" ", b":", b"%", b"%00", b"%2e%2e", b"\xff", b"?", b"&", b"=", b"-1", b"0x10",
                  b"99999999999999999999", b"HTTP/1.0", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 5\r\n",
                  b"Range: bytes=5-2\r\n", b"Range: bytes=-0\r\n", b"a" * 5000, b"*", b"http://localhost/v1"]

        def mutate(choose):
            for i in range(times(60)):
                data = bytearray(b"".join(choose.choices(seeds, k=choose.choice((1, 1, 1, 2, 5)))))
                for _ in range(choose.choice((0, 1, 1, 2, 6))):
                    at = choose.randrange(len(data))
                    how = choose.randrange(4)
                    if how == 0:
                        data[at] = choose.randrange(256)
                    elif how == 1:
                        data[at:at] = choose.choice(pieces)
                    elif how == 2:
                        del data[at:at + choose.choice((1, 3, 20))]
                    else:
                        del data[at:]
                    if not data:
                        data = bytearray(b"G")
                self.raw(bytes(data), choose)
        self.together(*[mutate] * 6)

    @staticmethod
    def drain(sock):
        """What comes until the end or a moment's silence."""
        got = b""
        try:
            while piece := sock.recv(65536):
                got += piece
        except OSError:
            pass
        return got

    @staticmethod
    def is_whole(got):
        try:
            parse_responses(got)
            return True
        except ValueError:
            return False

    def raw(self, data, choose):
        """Sends data in pieces; ends by a half-close, a reset or by leaving, and judges what came."""
        end = choose.randrange(4)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as sock:
            got = b""
            try:
                cut = choose.randrange(len(data) + 1)
                sock.sendall(data[:cut])
                sock.sendall(data[cut:])
                if end == 0:
                    return
                if end == 1:
                    sock.shutdown(socket.SHUT_WR)
                for patience in (0.02, 1):  # the second time for what is unfinished
                    sock.settimeout(patience)
                    got += self.drain(sock)
                    if self.is_whole(got):
                        break
            except OSError:
                pass
        if end != 1:  # after a half-close, which counts as gone, an answer may be cut off
            self.judge_raw(data, got)

    def test_mutated_bodies(self):
        client = Client(self.server)
        file = io.BytesIO()
        numpy.save(file, numpy.arange(12, dtype=numpy.float32).reshape(3, 4))
        seeds = [("PUT", "/v1/tensors/a.npy", file.getvalue()),
                 ("PUT", "/v1/tensors/a", b'{"dtype": "float32", "shape": [2, 2], "data": [[1.5, "NaN"], [-2e3, 0.1]]}'),
                 ("PUT", "/v1/tensors/a", b"[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]"),
                 ("PUT", "/v1/tensors/a.csv", b"a,b\n1,2.5\n-3e4,nan\n"),
                 ("PUT", "/v1/tensors/a?index=0:1", b"[1]"),
                 ("POST", "/v1/ops/add", b'{"args": ["b", [[1, 2], [3.5, 4]]], "kwargs": {"alpha": 2}, "out": "c"}'),
                 ("POST", "/v1/ops/cat", b'{"args": [["b", "b"], -1], "out": ["c"], "if": {"c": null}}'),
                 ("PATCH", "/v1/tensors/b/meta", b'{"name": "b", "readonly": false, "ttl": 1000, "pinned": null}'),
                 ("POST", "/v1/tensors/b/to", b'{"device": "cpu", "dtype": "float32"}')]
        pieces = [b"[", b"]", b"{", b"}", b'"', b",", b":", b"\\u0000", b"\\ud800", b"\xff\xfe", b"null", b"true",
                  b"1e400", b"-0", b"NaN", b"-Infinity", b"9223372036854775808", b"[" * 300, b" " * 70000, b"\0" * 9,
                  b"'descr': '|O'", b"999999999999,", b"<f8", b">i2", b"float16"]
        for i in range(times(700)):
            if i % 100 == 0:
                client.put("/v1/tensors/b", [[1.0, 2.0], [3.0, 4.0]])
            method, target, body = self.random.choice(seeds)
            data = bytearray(body)
            for _ in range(self.random.choice((1, 1, 2, 4))):
                at = self.random.randrange(len(data) + 1)
                how = self.random.randrange(4)
                if how == 0 and at < len(data):
                    data[at] = self.random.randrange(256)
                elif how == 1:
                    data[at:at] = self.random.choice(pieces)
                elif how == 2:
                    del data[at:at + self.random.choice((1, 3, 20))]
                else:
                    start = self.random.randrange(len(data) + 1)
                    data[at:at] = data[start:start + 10]
            self.ask(client, method, target, bytes(data))
        client.close()

    # ---- arguments

    NUMBERS = [0, 1, -1, 2, 3, -2, 31, 32, 33, 64, 2 ** 31, -2 ** 31, 2 ** 53 + 1, 2 ** 63 - 1, -2 ** 63, 2 ** 63, 2 ** 64,
               10 ** 30, 0.5, -0.0, 1e308, 1e-320, True, False]

    def argument(self, choose, kind):
        """A value that fits kind, more or less often."""
        names = ["f", "i", "b", "z", "e", "v", "s", "d32", "h"]
        wild = [None, "f", "nothing", "", [], {}, [[]], [[1, 2], [3]], {"data": [1, 2], "dtype": "int8"},
                {"data": [1e10], "dtype": "float16"}, {"dtype": "int8"}, ["f", "i"], ["f", 3], "cpu", "float32", "0:2",
                [2 ** 40, 2 ** 40], [1] * 33, [1] * 32, [-1, -1], [0, -1], *self.NUMBERS]
        if choose.random() < 0.25:
            return choose.choice(wild)
        if kind == "Tensor":
            return choose.choice(names + [2, -1, 1.5, True, [1, 2, 3], [[0.5]]])
        if kind == "Tensor[]":
            return [choose.choice(names) for _ in range(choose.choice((0, 1, 2, 3, 40)))]
        if kind in ("int[]", "int[]?"):
            return [choose.choice((-3, -2, -1, 0, 1, 2, 3, 4, 12, 2 ** 33)) for _ in range(choose.randrange(5))]
        if kind == "str":
            return choose.choice(["0", "0:2", "...", "None,0", ":,-1", "::0", "::-1", "5:", "0:99999999999999999999", "floor",
                                  "trunc", ",", "-1", "...,...", "0:1:9223372036854775807", "None," * 40])
        if kind == "bool":
            return choose.choice([True, False, 0, None])
        if kind == "dtype":
            return choose.choice(["float32", "int8", "bool", "bfloat16", "complex64", "float"])
        if kind == "device":
            return choose.choice(["cpu", "cuda:9", "cpu:1", ""])
        return choose.choice(self.NUMBERS[:12]) if choose.random() < 0.7 else choose.choice(self.NUMBERS)

    def make_operands(self, client):
        for name, array in (("f", numpy.arange(12, dtype=numpy.float32).reshape(3, 4)),
                            ("i", numpy.arange(-6, 6).reshape(3, 4)), ("b", numpy.array([True, False, True, True])),
                            ("z", numpy.array(3, numpy.int8)), ("e", numpy.zeros((0, 4), numpy.float64)),
                            ("d32", numpy.ones((1,) * 31 + (2,), numpy.float32)), ("h", numpy.ones(4, numpy.float16))):
            client.put_array(name, array)
        client.op("expand", "h", [3, 4], out="v")
        client.op("slice", "i", "1:,::2", out="s")

    def test_wrong_arguments(self):
        client = Client(self.server)
        rows = client.get("/v1/ops").json()["ops"]
        choose = self.random
        for i in range(times(1200)):
            if i % 200 == 0:
                client.delete("/v1/tensors?prefix=")
                self.make_operands(client)
            row = choose.choice(rows)
            args, kwargs = [], {}
            for parameter in row["arguments"]:
                value = self.argument(choose, parameter["type"].rstrip("?"))
                if parameter.get("keyword_only") or choose.random() < 0.2:
                    if choose.random() < 0.5:
                        kwargs[parameter["name"]] = value
                elif choose.random() < 0.9:
                    args.append(value)
            body = {"args": args}
            if kwargs:
                body["kwargs"] = kwargs
            if choose.random() < 0.4:
                body["out"] = choose.choice(["y", "f", "v", ["y"], ["y", "x"], ["y", None], ["y", "y"], [], None, 3, "torch"])
            if choose.random() < 0.05:
                body["if"] = choose.choice([{"f": None}, {"y": None}, {"y": "no"}, [], {"f": 3}])
            name = row["name"] + ("_" if row.get("in_place") and choose.random() < 0.4 else "")
            self.ask(client, "POST", "/v1/ops/%s%s" % (name, choose.choice(["", "", ".npy", "?format=text"])), body)
        client.close()

    def test_writes_that_overlap_their_source(self):
        """x[a] op= x[b] through slice views reads all before it writes, as torch does for whole operations."""
        client = Client(self.server)
        for i in range(times(60)):
            n = self.random.choice((3, 8, 100, 5000))
            x = numpy.arange(n * 2, dtype=self.random.choice((numpy.int64, numpy.float32, numpy.uint8))).reshape(2, n)
            cut = self.random.choice((1, 2))
            one, two = (":,%d:" % cut, ":,:-%d" % cut)
            parts = numpy.s_[:, cut:], numpy.s_[:, :-cut]
            if self.random.random() < 0.5:
                one, two, parts = two, one, parts[::-1]
            client.put_array("x", x)
            self.assertEqual(client.op("slice", "x", one, out="to").status, 200)
            self.assertEqual(client.op("slice", "x", two, out="source").status, 200)
            name, function = self.random.choice((("copy_", lambda a, b: b), ("add_", numpy.add), ("mul_", numpy.multiply),
                                                 ("maximum_", numpy.maximum)))
            x[parts[0]] = function(x[parts[0]], x[parts[1]].copy())
            self.assertEqual(client.op(name, "to", "source").status, 200)
            numpy.testing.assert_array_equal(client.array("x"), x)
        client.close()

    def test_writes_into_expanded_views(self):
        client = Client(self.server)
        self.make_operands(client)
        for name, args in (("add_", ["v", 1]), ("copy_", ["v", "f"]), ("fill_", ["v", 3]), ("zero_", ["v"]),
                           ("exp_", ["v"]), ("clamp_", ["v", 0])):
            answer = client.op(name, *args)
            self.assertIn(answer.status, (404, 422), (name, answer))
        self.assertEqual(client.put("/v1/tensors/v?index=0", [1, 2, 3, 4]).status, 200)
        numpy.testing.assert_array_equal(client.array("h"), [1, 2, 3, 4])
        client.close()

    # ---- many at once

    def colleague(self, choose):
        client, names = Client(self.server), ["a", "b", "c", "d"]
        big = numpy.arange(40000, dtype=numpy.int64)
        file = io.BytesIO()
        numpy.save(file, big)
        for _ in range(times(90)):
            name, other = choose.sample(names, 2)
            target = "/v1/tensors/" + name
            action = choose.randrange(17)
            if action == 0:
                self.ask(client, "PUT", target + ".npy", file.getvalue())
            elif action == 1:
                self.ask(client, "PUT", target, [[1, 2], [3, 4]])
            elif action == 2:
                self.ask(client, "PUT", target + "?index=0:2", [7, 8])
            elif action == 3:
                self.ask(client, "POST", "/v1/ops/add_", {"args": [name, 1]})
            elif action == 4:
                self.ask(client, "POST", "/v1/ops/add", {"args": [name, other], "out": choose.choice(names)})
            elif action == 5:
                self.ask(client, "POST", "/v1/ops/slice", {"args": [name, "1:"], "out": other})
            elif action == 6:
                self.ask(client, "POST", "/v1/ops/copy_", {"args": [name, other]})
            elif action == 7:
                self.ask(client, "DELETE", choose.choice([target, target, "/v1/tensors?prefix=" + name]))
            elif action == 8:
                change = choose.choice([{"name": other}, {"readonly": True}, {"readonly": False}, {"ttl": 0.01}, {"ttl": 100},
                                        {"ttl": None, "pinned": True}, {"name": other, "readonly": False}])
                self.ask(client, "PATCH", target + "/meta", change)
            elif action == 9:
                self.ask(client, "POST", target + "/to", {"dtype": choose.choice(["float64", "int64", "int32"])})
            elif action == 10:
                self.ask(client, "GET", choose.choice(["/v1/tensors", "/v1/tensors.txt", "/v1/tensors?prefix=" + name]))
            elif action == 11:
                self.ask(client, "HEAD", target)
            elif action == 12:
                answer = self.ask(client, "GET", target + ".npy", Range="bytes=%d-%d" % (choose.randrange(90), 400))
                if answer.status == 206 and len(answer.body) > 401:
                    self.faults.append(("range", answer))
            elif action == 13:
                answer = self.ask(client, "GET", target + choose.choice([".npy", ".json", ".txt", ".csv", "/meta"]))
            elif action == 14:
                self.vanish(choose, b"PUT /v1/tensors/%s.npy HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                            % (name.encode(), len(file.getvalue()), file.getvalue()[:choose.randrange(300000)]))
            elif action == 15:
                self.vanish(choose, b"GET /v1/tensors/%s.npy HTTP/1.1\r\nHost: localhost\r\n\r\n" % name.encode())
            else:
                body = json.dumps({"args": [name, other], "out": choose.choice(names)}).encode()
                self.vanish(choose, b"POST /v1/ops/matmul HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                            % (len(body), body))
        client.close()

    def vanish(self, choose, data):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=10) as sock:
            try:
                sock.sendall(data)
                if choose.random() < 0.5:
                    sock.settimeout(0.01)
                    sock.recv(choose.choice((1, 1000)))
                if choose.random() < 0.3:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            except OSError:
                pass

    def test_careless_colleagues(self):
        self.together(*[self.colleague] * 8)

    def test_a_write_shows_whole(self):
        """Readers beside one that fills: every answer holds one value only, in every format and through views."""
        client = Client(self.server)
        client.put_array("w", numpy.zeros(100000, numpy.int64))
        client.op("slice", "w", "50000:", out="half")

        def write(choose):
            own = Client(self.server)
            for i in range(times(60)):
                name = choose.choice(("fill_", "add_"))
                self.ask(own, "POST", "/v1/ops/" + name, {"args": ["w", i]})
            own.close()

        def read(choose):
            own = Client(self.server)
            for _ in range(times(25)):
                name = choose.choice(("w", "half"))
                if choose.random() < 0.5:
                    values = own.array(name)
                else:
                    values = numpy.array(own.get("/v1/tensors/%s.json" % name).json()["data"])
                if values.min() != values.max():
                    self.faults.append(("torn", name, values.min(), values.max()))
            own.close()
        self.together(write, read, read, read)
        client.close()

    def test_memory_of_all_is_contended(self):
        """Uploads and results that together exceed the limit: refused with numbers or done, and nothing is lost."""
        def work(choose):
            client = Client(self.server, timeout=100)
            for _ in range(times(5)):
                name = "m%d" % choose.randrange(6)
                size = choose.choice((1 << 20, 4 << 20, 6 << 20))
                action = choose.randrange(5)
                if action == 0:
                    self.ask(client, "PUT", "/v1/tensors/%s.raw?dtype=float32" % name, bytes(4 * size))
                elif action == 1:
                    self.ask(client, "PUT", "/v1/tensors/" + name, b"[" + b"1," * (1 << 18) + b"1]")
                elif action == 2:
                    self.ask(client, "POST", "/v1/ops/zeros", {"args": [[size]], "out": name})
                elif action == 3:
                    self.ask(client, "POST", "/v1/ops/add", {"args": [name, 1], "out": "m%d" % choose.randrange(6)})
                else:
                    self.ask(client, "DELETE", "/v1/tensors?prefix=" + name)
            client.close()
        self.together(*[work] * 6)
        client = Client(self.server)
        for body in ({"args": [[1 << 40]]}, {"args": [[1 << 27]]}):
            answer = client.post("/v1/ops/zeros", body)
            self.assertEqual((answer.status, answer.kind), (507, "out-of-memory"))
            self.assertGreater(answer.json()["required_bytes"], 256 << 20)
        client.close()

    def test_slow_and_silent_readers(self):
        client = Client(self.server)
        client.put_array("big", numpy.zeros(4 << 20, numpy.int8))
        socks = []
        for i in range(12):
            sock = socket.create_connection(("127.0.0.1", self.server.port), timeout=10)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.sendall(b"GET /v1/tensors/big.%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"npy", b"json")[i % 2])
            socks.append(sock)
        for i in range(20):
            self.assertEqual(client.put("/v1/tensors/big?index=:", b"%d" % i).status, 200)
        self.assertEqual(client.delete("/v1/tensors/big").status, 200)
        self.assertEqual(len(socks[0].recv(100)), 100)
        for sock in socks:
            sock.close()
        client.close()

    def test_many_names(self):
        client, count = Client(self.server), times(1500)
        for i in range(count):
            self.assertEqual(client.put("/v1/tensors/n%05d" % i, b"[1,2]").status, 201)
        page = client.get("/v1/tensors?limit=10000").json()
        self.assertEqual(len(page["tensors"]), min(count, 10000))
        names = ["n%05d" % i for i in range(1000)]
        answer = self.ask(client, "POST", "/v1/ops/cat", {"args": [names]})
        if answer.status == 200:
            self.assertEqual(answer.json()["shape"], [2000])
        self.assertEqual(client.delete("/v1/tensors?prefix=n").json()["deleted"], count)
        client.close()


class Stop(unittest.TestCase):
    def test_stops_cleanly_at_bad_moments(self):
        """SIGTERM beside uploads, downloads, products, pipelines; the exit status is 0 within the drain time."""
        for seed in range(times(3)):
            choose = random.Random(seed)
            server = Server("--drain-seconds", "1", "--memory", "512MiB")
            client = Client(server)
            client.put_array("m", numpy.ones((1500, 1500), numpy.float32))
            requests = [b"GET /v1/tensors/m.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
                        b"POST /v1/ops/matmul HTTP/1.1\r\nHost: localhost\r\nContent-Length: 19\r\n\r\n{\"args\":[\"m\", \"m\"]}",
                        b"PUT /v1/tensors/u.npy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 190\r\n\r\n",
                        b"PUT /v1/tensors/u HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1,",
                        b"GET /v1 HTT"]
            socks = []
            for _ in range(24):
                sock = socket.create_connection(("127.0.0.1", server.port), timeout=10)
                sock.sendall(choose.choice(requests) * choose.choice((1, 1, 3)))
                socks.append(sock)
            wait_until(lambda: False, choose.choice((0.0, 0.02, 0.2)))
            server.stop(limit=30)
            for sock in socks:
                sock.close()
            client.close()


if __name__ == "__main__":
    unittest.main()
