# SPDX-License-Identifier: Apache-2.0
"""What bytes a PUT may carry, how they are recognised, and every way they can be wrong. A refused body leaves
the server as it was: the last test of each class compares the list of tensors and the accounts."""
import io
import struct

import numpy

from harness import TestCase, exchange, raw_status, record_raw


def npy_bytes(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def npy_header(text, version=1):
    body = text.encode()
    size = struct.pack("<H" if version == 1 else "<I", len(body))
    return b"\x93NUMPY" + bytes([version, 0]) + size + body


class Recognition(TestCase):
    def put(self, body, query="", **headers):
        return self.client.put("/v1/tensors/x" + query, body, **headers)

    def test_untyped(self):
        form = {"Content_Type": "application/x-www-form-urlencoded"}
        for headers in ({}, form, {"Content_Type": "text/plain"}, {"Content_Type": "application/octet-stream"}):
            self.assertIn(self.put(b"[1, 2]", **headers).status, (200, 201))
            self.assertTensor(self.client.get("/v1/tensors/x"), [1, 2])
            self.assertIn(self.put(npy_bytes(numpy.eye(2)), **headers).status, (200, 201))
            self.assertEqual(self.client.array("x").tolist(), [[1, 0], [0, 1]])
            self.assertOk(self.put(b"\1\0\2\0", "?dtype=int16&shape=2", **headers))
            self.assertTensor(self.client.get("/v1/tensors/x"), [1, 2], "int16")
        self.assertOk(self.put(b"\n  -4"))
        self.assertTensor(self.client.get("/v1/tensors/x"), -4)
        self.assertProblem(self.put(b"hello"), 415, "media-type")

    def test_shape_of_raw(self):
        self.assertOk(self.put(bytes(range(6)), "?dtype=uint8&shape=2,-1"), 201)
        self.assertTensor(self.client.get("/v1/tensors/x"), [[0, 1, 2], [3, 4, 5]], "uint8")
        self.assertOk(self.put(b"\7", "?dtype=uint8&shape="))
        self.assertTensor(self.client.get("/v1/tensors/x"), 7)
        self.assertOk(self.put(b"\7\6", "?dtype=uint8", Content_Type="application/octet-stream"))
        self.assertTensor(self.client.get("/v1/tensors/x"), [7, 6])
        self.assertProblem(self.put(b"\2", "?dtype=bool&shape=1"), 422, "value")
        self.assertProblem(self.put(b"\1\2\3", "?dtype=uint8&shape=2,2"), 400, "malformed")
        self.assertProblem(self.put(b"\1\2\3", "?shape=3"), 400, "malformed")

    def test_refused_types(self):
        for kind in ("multipart/form-data; boundary=x", "image/png", "application/xml"):
            problem = self.assertProblem(self.put(b"[1]", Content_Type=kind), 415, "media-type")
            self.assertIn("curl", problem["detail"])
        self.assertProblem(self.put(b"[1]", Content_Encoding="gzip"), 415, "media-type")

    def test_query(self):
        self.assertProblem(self.put(b"[1]", "?dtyp=int8"), 400, "malformed")
        self.assertProblem(self.put(b"[1]", "?dtype=int8&dtype=int8"), 400, "malformed")
        self.assertProblem(self.client.put("/v1/tensors/x.npy?format=npy", b""), 400, "malformed")
        self.assertProblem(self.put(b"[1]", "?dtype=int9"), 422, "dtype")
        self.assertProblem(self.put(b"[1]", Content_Range="bytes 0-2/3"), 400, "malformed")


class Npy(TestCase):
    def refuse(self, body, status=400, kind="malformed"):
        problem = self.assertProblem(self.client.put("/v1/tensors/x.npy", body), status, kind)
        self.assertProblem(self.client.get("/v1/tensors/x"), 404, "not-found")
        return problem

    def test_every_truncation(self):
        whole = npy_bytes(numpy.arange(5, dtype=numpy.int32))
        for length in list(range(0, 20)) + [60, 127, 128, 130, len(whole) - 1]:
            self.refuse(whole[:length])
        self.refuse(whole + b"\0")

    def test_lying_headers(self):
        good = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }\n"
        self.refuse(npy_header(good % "3,") + b"\0" * 8)
        for shape in ("4611686018427387904, 4", "9223372036854775807, 9223372036854775807", "99999999999999999999999,"):
            answer = self.client.put("/v1/tensors/x.npy", npy_header(good % shape))
            self.assertIn(answer.kind, ("malformed", "shape", "out-of-memory", "too-large"), answer)
        self.refuse(npy_header(good % "-1,"))
        self.refuse(npy_header(good % "1,") [:-3] + b"\xff\xff\xff")
        self.refuse(npy_header("{'descr': '<f4', 'shape': (1,)}\n") + b"\0" * 4)
        self.refuse(npy_header("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n") + b"\0" * 4)
        self.refuse(npy_header("__import__('os').abort()\n"))
        self.refuse(npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (%s)}\n" % ("1," * 33)) + b"\0" * 4,
                    *self.one_of())

    def one_of(self):
        answer = self.client.put("/v1/tensors/probe.npy",
                                 npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (%s)}\n" % ("1," * 33)) + b"\0" * 4)
        self.assertIn(answer.status, (400, 422))
        return answer.status, answer.kind

    def test_dtypes_that_are_not_ours(self):
        for descr in ("'|O'", "'<c8'", "'<U3'", "'|S3'", "'<M8[ns]'", "'<u2'", "'<u8'", "[('a', '<f4')]", "'<f16'"):
            answer = self.client.put("/v1/tensors/x.npy", npy_header(
                "{'descr': %s, 'fortran_order': False, 'shape': (1,), }\n" % descr) + b"\0" * 16)
            self.assertProblem(answer, 422, "dtype")

    def test_versions(self):
        for version in (1, 2, 3):
            body = npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", version) + b"\0\0\x80?"
            self.assertIn(self.client.put("/v1/tensors/v.npy", body).status, (200, 201))
            self.assertTensor(self.client.get("/v1/tensors/v"), [1.0], "float32")
        self.refuse(npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4) + b"\0\0\x80?")


class Json(TestCase):
    def refuse(self, body, status, kind):
        answer = self.client.put("/v1/tensors/x", body, Content_Type="application/json")
        problem = self.assertProblem(answer, status, kind)
        self.assertProblem(self.client.get("/v1/tensors/x"), 404, "not-found")
        return problem

    def test_syntax(self):
        for body in (b"", b"[", b"[1,]", b"[1 2]", b"[1]]", b"{", b"{\"data\": [1]", b"[01]", b"[1.]", b"[+1]", b"nul",
                     b"[tru]", b"{\"data\": [1]} x", b"[\"1.5x\"]", b"[1e]", b"{'data': [1]}", b"[\x00]"):
            answer = self.client.put("/v1/tensors/x", body, Content_Type="application/json")
            self.assertIn(answer.status, (400, 422), body)
            self.assertIn(answer.kind, ("malformed", "value", "type"), body)
        self.assertIn("line", self.refuse(b"[1,\n 2,\n x]", 400, "malformed"))

    def test_members(self):
        self.refuse(b'{"data": [1], "dta": 3}', 400, "malformed")
        self.refuse(b'{"data": [1], "data": [2]}', 400, "malformed")
        self.refuse(b'{"dtype": "float32"}', 400, "malformed")
        self.refuse(b'{"data": [1], "dtype": "floot32"}', 422, "dtype")

    def test_values(self):
        self.refuse(b"[1, null]", *self.probe(b"[1, null]"))
        self.refuse(b"[1, [2]]", 422, "shape")
        self.refuse(b"[[1, 2], [3]]", 422, "shape")
        self.refuse(b"[1e400]", 422, "value")
        self.refuse(b"[1" + b"0" * 400 + b"]", 422, "value")
        self.refuse(b'{"data": [256], "dtype": "uint8"}', 422, "value")
        self.refuse(b'{"data": [1, 2, 3], "shape": [2, 2]}', 422, "shape")
        self.refuse(b'{"data": [1], "shape": [4611686018427387904, 4]}', *self.probe(
            b'{"data": [1], "shape": [4611686018427387904, 4]}'))
        self.refuse(b'{"data": [1], "shape": [-1, -1]}', *self.probe(b'{"data": [1], "shape": [-1, -1]}'))

    def probe(self, body):
        """Status and kind of a refusal for which several kinds are reasonable."""
        answer = self.client.put("/v1/tensors/probe", body, Content_Type="application/json")
        self.assertIn((answer.status, answer.kind), [(400, "malformed"), (422, "value"), (422, "shape"), (422, "type"),
                                                     (422, "limit")])
        return answer.status, answer.kind

    def test_bombs(self):
        self.refuse(b"[" * 100000, *self.probe(b"[" * 100000))
        self.refuse(b'{"data": ' + b"[" * 33 + b"1" + b"]" * 33 + b"}", *self.probe(
            b'{"data": ' + b"[" * 33 + b"1" + b"]" * 33 + b"}"))

    def test_encoding(self):
        self.refuse(b'{"name": "\xff\xfe", "data": [1]}', 400, "malformed")
        self.refuse(b'\xef\xbb\xbf[1]', 400, "malformed")
        self.refuse('[1]'.encode("utf-16"), 400, "malformed")


class Csv(TestCase):
    def put(self, text):
        return self.client.put("/v1/tensors/x.csv", text)

    def test_read(self):
        for text, values, dtype in [("1,2\n3,4\n", [[1, 2], [3, 4]], "int64"), ("1\n2\n", [1, 2], "int64"),
                                    ("a,b\n1,2.5\n", [[1.0, 2.5]], "float32"), ("1,2\r\n3,4\r\n", [[1, 2], [3, 4]], "int64"),
                                    ("0.1,2", [[0.1, 2.0]], "float32")]:
            self.assertIn(self.put(text).status, (200, 201), text)
            document = self.client.get("/v1/tensors/x").json()
            self.assertEqual(document["dtype"], dtype)
            self.assertEqual(document["data"], values)

    def test_refused(self):
        self.assertProblem(self.put("1,2\n3\n"), 422, "shape")
        self.assertProblem(self.put("1,2\n3,x\n"), 400, "malformed")


class Framing(TestCase):
    def test_short_body_then_gone(self):
        head = b"PUT /v1/tensors/x.npy HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
        exchange(self.server, head + npy_bytes(numpy.zeros(9))[:50], shut=True)
        self.assertProblem(self.client.get("/v1/tensors/x"), 404, "not-found")

    def test_chunked(self):
        body = npy_bytes(numpy.arange(10))
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 7]), body[i:i + 7]) for i in range(0, len(body), 7))
        got = exchange(self.server, b"PUT /v1/tensors/x.npy HTTP/1.1\r\nHost: localhost\r\n"
                       b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        self.assertEqual(raw_status(got), 201)
        self.assertEqual(self.client.array("x").tolist(), list(range(10)))

    def test_a_body_for_a_refused_request(self):
        # The connection stays usable after the refused body.
        for _ in range(3):
            self.assertProblem(self.client.put("/v1/nothing", b"x" * 100000), 404, "not-found")
            self.assertProblem(self.client.put("/v1/tensors/x.npy", b"x" * 3000000), 400, "malformed")
        self.assertOk(self.client.get("/v1"))

    def test_pipelined(self):
        one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        got = exchange(self.server, one * 20)
        self.assertEqual(got.count(b"HTTP/1.1 200"), 20)
        put = b"PUT /v1/tensors/p HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n[1]"
        post = (b"POST /v1/ops/add_ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18\r\n\r\n"
                b'{"args": ["p", 1]}')
        got = exchange(self.server, put + post * 10 + b"GET /v1/tensors/p HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertIn(b'"data": [11]', got)

    def test_smuggling(self):
        cases = [
            b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n[1]", b"Content-Length: 3\r\nContent-Length: 3\r\n\r\n[1]",
            b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n[1]", b"Transfer-Encoding: gzip\r\n\r\n",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"Content-Length : 3\r\n\r\n[1]",
            b"Content-Length: -3\r\n\r\n[1]", b"Content-Length: 3x\r\n\r\n[1]", b"Host: other\r\nContent-Length: 3\r\n\r\n[1]",
        ]
        for case in cases:
            got = exchange(self.server, b"PUT /v1/tensors/x HTTP/1.1\r\nHost: localhost\r\n" + case)
            self.assertEqual(raw_status(got), 400, (case, got))
            # libmicrohttpd 0.9.75 writes the head of its own refusals twice; nothing else may be answered.
            self.assertEqual(got.count(b"HTTP/1.1 "), got.count(b"HTTP/1.1 400 "), (case, got))
            record_raw(got)
        got = exchange(self.server, b"GET /v1 HTTP/1.1\r\n\r\n")
        self.assertEqual(raw_status(got), 400)
        self.assertProblem(self.client.get("/v1/tensors/x"), 404, "not-found")

    def test_paths(self):
        for path in ("/v1/tensors/..", "/v1/../v1", "//v1", "/v1/tensors/a/b", "/v1/tensors/%00", "/v1/tensors/a%2Fb",
                     "/v1/tensors/%zz", "/v1/tensors/%", "/V1", "/v1/tensors/..%2f..%2fetc"):
            answer = self.client.get(path)
            self.assertIn(answer.kind, ("not-found", "malformed", "name"), (path, answer))
        self.assertOk(self.client.put("/v1/tensors/%61b", [1]), 201)
        self.assertOk(self.client.get("/v1/tensors/ab"))

    def test_methods(self):
        answer = self.client.send("POST", "/v1/tensors/x", b"[1]")
        self.assertProblem(answer, 405, "method")
        self.assertIn("PUT", answer.headers["allow"])
        self.assertIn(self.client.send("BREW", "/v1").status, (400, 405, 501))
        options = self.client.send("OPTIONS", "/v1/tensors/x")
        self.assertOk(options, 204)
        self.assertIn("PUT", options.headers["allow"])
        self.assertOk(self.client.send("HEAD", "/v1"))
