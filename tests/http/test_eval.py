# SPDX-License-Identifier: Apache-2.0
"""POST /v1/eval, the route: bodies, answers of every type, formats, errors with their place, limits. What programs
mean is test_programs.py's, what they leave behind test_eval_names.py's."""
import http.client
import io

import numpy

from harness import DEVICE, Client, Server, TestCase

FORM = "application/x-www-form-urlencoded"


class EvalCase(TestCase):
    def setUp(self):
        super().setUp()
        self.client.clear_names()
        self.addCleanup(self.client.clear_names)

    def value(self, program, query="keep="):
        """The answer's document, of a program that must succeed."""
        answer = self.client.eval(program, query)
        self.assertEqual(answer.status, 200, (program, answer))
        return answer.json()

    def number(self, program):
        return self.value(program)["value"]

    def text(self, program):
        answer = self.client.eval(program, "keep=&format=text")
        self.assertEqual(answer.status, 200, (program, answer))
        return answer.body.decode()

    def fails(self, program, kind, status=422, query="keep="):
        return self.assertProblem(self.client.eval(program, query), status, kind)


class Bodies(EvalCase):
    def post(self, body, content_type, query="keep="):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        self.addCleanup(connection.close)
        connection.putrequest("POST", "/v1/eval?" + query)
        if content_type:
            connection.putheader("Content-Type", content_type)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def test_text_in_any_type(self):
        for content_type in (None, FORM, "text/plain", "text/plain; charset=utf-8", "application/octet-stream",
                             "text/x-python"):
            status, body = self.post(b"x = 20\nx + 1", content_type)
            self.assertEqual((status, '"value": 21' in body), (200, True), (content_type, body))

    def test_form_is_never_decoded(self):
        status, body = self.post(b"'a+b%20c&d=e'", FORM)
        self.assertIn('"a+b%20c&d=e"', body)
        self.assertEqual(status, 200)

    def test_json(self):
        for headers in ({"Content-Type": "application/json"}, {"Content-Type": FORM}, {}):
            answer = self.client.send("POST", "/v1/eval?keep=", b'{"program": "1 + 1"}', headers)
            self.assertEqual((answer.status, answer.json()), (200, {"type": "int", "value": 2}), headers)

    def test_a_dict_is_a_program(self):
        answer = self.value("{'a': 1}")
        self.assertEqual(answer, {"type": "dict", "items": {"a": {"type": "int", "value": 1}}})
        status, body = self.post(b'{"a": 1}', FORM)
        self.assertEqual(status, 200, body)

    def test_inputs(self):
        answer = self.client.post("/v1/eval?keep=", {"program": "x * 2", "inputs": {"x": [1, 2, 3]}})
        self.assertTensor(answer, [2, 4, 6], "int64")
        answer = self.client.post("/v1/eval", {"program": "y = x * w", "inputs": {
            "x": {"data": [1, 2], "dtype": "float64"}, "w": {"data": [1, 2, 3, 4], "shape": [2, 2], "dtype": "float32"}}})
        self.assertOk(answer)
        self.assertEqual(self.client.array("y").tolist(), [[1, 4], [3, 8]])
        self.assertEqual(self.client.array("y").dtype, numpy.float64)
        for name in ("x", "w"):     # inputs live for one program
            self.assertProblem(self.client.get("/v1/tensors/" + name), 404, "not-found")
            self.fails(name, "undefined")

    def test_input_shadows_a_name(self):
        self.client.put("/v1/tensors/x", [7.0])
        answer = self.client.post("/v1/eval?keep=", {"program": "x + 1", "inputs": {"x": [1.0]}})
        self.assertTensor(answer, [2.0])
        self.assertEqual(self.client.array("x").tolist(), [7.0])

    def test_malformed(self):
        for body in (b"[1]", b'"x"', b"{}", b'{"a": 1}', b'{"program": 1}', b'{"program": "1", "more": 2}',
                     b'{"program": "1", "inputs": []}', b'{"program": "1", "inputs": {"x": null}}', b'{"program": "1"',
                     b'{"program": "1", "program": "2"}', b""):
            answer = self.client.send("POST", "/v1/eval", body, {"Content-Type": "application/json"})
            self.assertTrue(400 <= answer.status < 500 and answer.kind in ("malformed", "value", "syntax", "type"),
                            (body, answer))

    def test_bad_input_names(self):
        for name in ("1x", "torch", "for", "a b", ""):
            answer = self.client.post("/v1/eval", {"program": "1", "inputs": {name: [1]}})
            self.assertIn(answer.kind, ("name", "malformed"), (name, answer))

    def test_refused_types(self):
        for content_type in ("multipart/form-data; boundary=x", "image/png", "application/x-npy"):
            answer = self.client.send("POST", "/v1/eval", b"1 + 1", {"Content-Type": content_type})
            self.assertProblem(answer, 415, "media-type")
        answer = self.client.send("POST", "/v1/eval", b"1 + 1", {"Content-Encoding": "gzip"})
        self.assertProblem(answer, 415, "media-type")

    def test_no_statements(self):
        for program in ("", " ", "\n\n", "# only a comment", "\t\n  # c\n", "\ufeff"):
            answer = self.client.eval(program)
            self.assertEqual((answer.status, answer.kind in ("syntax", "malformed")), (400, True), (program, answer))

    def test_one_line_form_hint(self):
        status, body = self.post(b"x = 1y = 2", FORM)
        self.assertEqual(status, 400, body)
        self.assertIn("--data-binary @", body)
        self.assertIn("-d @", body)
        for program, content_type in ((b"x = 1\ny = = 2", FORM), (b"x = 1y = 2", "text/plain")):
            status, body = self.post(program, content_type)
            self.assertEqual((status, "--data-binary" in body), (400, False), body)

    def test_hostile_bytes(self):
        for body in (b"x = '\xff'", b"\xc3", b"x\x00y", b"\x00", b"'a\x00b'", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"1\x1a"):
            status, answer = self.post(body, "text/plain")
            self.assertTrue(status == 400 and "/problems/" in answer, (body, status, answer))

    def test_query(self):
        for query in ("keep=a&keep=b", "foo=1", "format=nothing", "keep=a,,b", "keep=1x", "keep=torch"):
            answer = self.client.eval("a = 1", query)
            self.assertTrue(400 <= answer.status < 500, (query, answer))
            self.fails("a", "undefined")

    def test_methods(self):
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            answer = self.client.send(method, "/v1/eval")
            self.assertProblem(answer, 405, "method")
            self.assertIn("POST", answer.headers["allow"])


class Answers(EvalCase):
    def test_scalars(self):
        for program, kind, value in (
                ("41 + 1", "int", 42), ("2 ** 53 - 1", "int", 9007199254740991), ("2 ** 53", "int", "9007199254740992"),
                ("-2 ** 60", "int", "-1152921504606846976"), ("0.1 + 0.2", "float", 0.1 + 0.2), ("1e22", "float", 1e22),
                ("float('nan')", "float", "NaN"), ("-float('inf')", "float", "-Infinity"), ("'h\u00e9\\n\"'", "str", "h\u00e9\n\""),
                ("True", "bool", True), ("None", "none", None), ("torch.float32", "dtype", "float32"),
                ("torch.half", "dtype", "float16"), ("torch.device('cuda:1')", "device", "cuda:1"),
                ("torch.device('cpu')", "device", "cpu"), ("torch.zeros(2, 3).shape", "size", [2, 3]),
                ("torch.tensor(5).size()", "size", []), ("type(3)", "type", "int"), ("type(torch.ones(1))", "type", "torch.Tensor")):
            self.assertEqual(self.value(program), {"type": kind, "value": value}, program)

    def test_float_keeps_its_point(self):
        self.assertIn(b'"value": 3.0', self.client.eval("3.0", "keep=").body)

    def test_containers(self):
        one = {"type": "int", "value": 1}
        a = {"type": "str", "value": "a"}
        for program, expected in (
                ("[1, 'a']", {"type": "list", "values": [one, a]}), ("(1, 'a')", {"type": "tuple", "values": [one, a]}),
                ("{1}", {"type": "set", "values": [one]}), ("range(1, 2)", {"type": "range", "values": [one]}),
                ("[[1], ()]", {"type": "list", "values": [{"type": "list", "values": [one]}, {"type": "tuple", "values": []}]}),
                ("{'a': 1, 2: (1,), None: 'a'}", {"type": "dict", "items": {
                    "a": one, "2": {"type": "tuple", "values": [one]}, "None": a}})):
            self.assertEqual(self.value(program), expected, program)

    def test_tensors(self):
        document = self.value("torch.tensor([[1, 2], [3, 4]]) * 2")
        self.assertEqual((document["dtype"], document["shape"], document["device"], document["data"]),
                         ("int64", [2, 2], "cpu", [[2, 4], [6, 8]]))
        self.assertNotIn("type", document)
        self.assertEqual(self.value("torch.tensor(2.5)")["data"], 2.5)
        inside = self.value("[torch.tensor([1.0]), 'a', {'t': torch.tensor([True])}]")["values"]
        self.assertEqual((inside[0]["data"], inside[0]["dtype"]), ([1.0], "float32"))
        self.assertEqual(inside[2]["items"]["t"]["data"], [True])
        self.assertEqual(self.value("torch.tensor([float('nan'), float('inf')])")["data"], ["NaN", "Infinity"])

    def test_arrays(self):
        document = self.value("np.arange(3.0)")
        self.assertEqual((document["type"], document["dtype"], document["shape"], document["data"]),
                         ("ndarray", "float64", [3], [0.0, 1.0, 2.0]))

    def test_functions_and_modules(self):
        for program, kind, text in (("def f(a): return a\nf", "function", "f"), ("lambda: 1", "function", "lambda"),
                                    ("nn.Linear(2, 1)", "module", "Linear(in_features=2, out_features=1, bias=True)"),
                                    ("nn.Sequential(nn.Linear(2, 3), nn.ReLU())", "module",
                                     "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): ReLU()\n)")):
            document = self.value(program)
            self.assertEqual((document["type"], set(document)), (kind, {"type", "text"}), document)
            if kind == "module":
                self.assertEqual(document["text"], text)
            else:
                self.assertIn(text, document["text"])

    def test_several_results(self):
        document = self.value("torch.max(torch.tensor([[1.0, 5.0], [7.0, 2.0]]), dim=1)")
        self.assertEqual([v["data"] for v in document["values"]], [[5.0, 7.0], [1, 0]])

    def test_printed(self):
        self.assertEqual(self.value("print('a')\nprint(1, 2)\n5"), {"type": "int", "value": 5, "printed": ["a", "1 2"]})
        self.assertEqual(self.value("print('a', end='')\nprint('b')")["printed"], ["ab"])
        self.assertEqual(self.value("print('a\\nb')\nx = 1"), {"names": {}, "printed": ["a", "b"]})
        self.assertEqual(self.value("print(torch.tensor([1.0, 2.0]))")["printed"], ["tensor([1., 2.])"])
        self.assertEqual(self.value("print(torch.ones(2, 2))")["printed"], ["tensor([[1., 1.],", "        [1., 1.]])"])
        self.assertNotIn("printed", self.value("1"))

    def test_names(self):
        document = self.value("y = torch.ones(2, 3)\nn = 3\nz = y.T", "")
        self.assertEqual(list(document), ["names"])
        self.assertEqual(set(document["names"]), {"y", "n", "z"})
        described = document["names"]["y"]
        self.assertEqual((described["dtype"], described["shape"], described["device"], described["bytes"]),
                         ("float32", [2, 3], "cpu", 24))
        self.assertEqual(described["etag"], self.client.get("/v1/tensors/y/meta").json()["etag"])
        self.assertEqual(described["shared_with"], ["z"])

    def test_an_expression_stores_too(self):
        self.assertEqual(self.value("k = 4\nk + 1", "")["value"], 5)
        self.assertEqual(self.number("k"), 4)

    def test_headers(self):
        answer = self.client.eval("torch.ones(2)", "keep=")
        self.assertEqual(answer.headers["content-type"].split(";")[0], "application/json")
        self.assertEqual(answer.headers["cache-control"], "no-store")
        self.assertEqual((answer.headers["tensor-dtype"], answer.headers["tensor-shape"]), ("float32", "(2)"))
        self.assertTrue(answer.body.endswith(b"\n"))
        self.assertNotIn("tensor-dtype", self.client.eval("5", "keep=").headers)


class Formats(EvalCase):
    def test_text(self):
        for program, text in (("5", "5\n"), ("'a'", "'a'\n"), ("None", ""), ("x = 1", ""), ("print('a')", "a\n"),
                              ("print('a')\n[1, 'b']", "a\n[1, 'b']\n"), ("torch.tensor([1.0, 2.5])", "tensor([1.0000, 2.5000])\n"),
                              ("torch.float32", "torch.float32\n"), ("torch.device('cuda', 1)", "device(type='cuda', index=1)\n"),
                              ("torch.ones(2, 3).shape", "torch.Size([2, 3])\n"), ("type(1)", "<class 'int'>\n"),
                              ("np.arange(3.0)", "array([0., 1., 2.])\n"), ("nn.Linear(2, 1)",
                                                                           "Linear(in_features=2, out_features=1, bias=True)\n"),
                              ("[torch.tensor(1), np.array([1, 2])]", "[tensor(1), array([1, 2])]\n"),
                              ("torch.max(torch.tensor([[1., 5.]]), dim=1)",
                               "torch.return_types.max(\nvalues=tensor([5.]),\nindices=tensor([1]))\n")):
            self.assertEqual(self.text(program), text, program)
        answer = self.client.eval("5", "format=text")
        self.assertEqual(answer.headers["content-type"], "text/plain; charset=utf-8")

    def test_npy_and_raw(self):
        answer = self.client.eval("torch.arange(6).reshape(2, 3)", "keep=&format=npy")
        self.assertEqual(answer.headers["content-type"], "application/x-npy")
        self.assertEqual(numpy.load(io.BytesIO(answer.body)).tolist(), [[0, 1, 2], [3, 4, 5]])
        answer = self.client.eval("torch.arange(6).reshape(2, 3).T", "keep=&format=npy")
        self.assertEqual(answer.npy().tolist(), [[0, 3], [1, 4], [2, 5]])
        answer = self.client.eval("torch.tensor([1.0, 2.0], dtype=torch.float16)", "keep=&format=raw")
        self.assertEqual((answer.body, answer.headers["tensor-dtype"], answer.headers["tensor-shape"]),
                         (numpy.array([1, 2], "<f2").tobytes(), "float16", "(2)"))
        answer = self.client.eval("torch.tensor([[1, 2], [3, 4]])", "keep=&format=csv")
        self.assertEqual(answer.body, b"1,2\n3,4\n")

    def test_accept(self):
        for accept, kind in (("application/x-npy", "application/x-npy"), ("text/plain", "text/plain; charset=utf-8"),
                             ("application/json", "application/json"), ("*/*", "application/json")):
            answer = self.client.post("/v1/eval?keep=", b"torch.ones(2)", Accept=accept, Content_Type="text/plain")
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, kind), accept)

    def test_not_a_tensor(self):
        for form in ("npy", "raw", "csv"):
            for program in ("5", "[torch.ones(2)]", "x = torch.ones(2)", "'a'", "None"):
                self.assertProblem(self.client.eval(program, "keep=&format=" + form), 406, "not-acceptable")

    def test_not_acceptable_changes_nothing(self):
        self.assertProblem(self.client.eval("q = 5\nq", "format=npy"), 406, "not-acceptable")
        self.fails("q", "undefined")


class Errors(EvalCase):
    def test_place(self):
        for program, kind, status, line, column in (
                ("x = = 1", "syntax", 400, 1, 5), ("x = 1\ny = 2\nz = q + 1", "undefined", 422, 3, 5),
                ("x = 1\nx.foo", "attribute", 422, 2, None), ("x = [1]\n\nx[5]", "index", 422, 3, None),
                ("'h\u00e9' + zz", "undefined", 422, 1, 8), ("def f():\n    return 1 / 0\nf()", "zero-division", 422, 2, None),
                ("x = torch.ones(2)\ny = torch.ones(3)\nx + y", "shape", 422, 3, None), ("try:\n    pass\nexcept: pass", "syntax", 400, 1, 1),
                ("x = 1\nclass A: pass", "syntax", 400, 2, 1), ("assert 1 == 2, 'no'", "assertion", 422, 1, None),
                ("x = {}\nx['k']", "key", 422, 2, None), ("1 + 'a'", "type", 422, 1, None), ("2 ** 70", "overflow", 422, 1, None)):
            document = self.fails(program, kind, status)
            self.assertEqual(document["line"], line, (program, document))
            self.assertGreaterEqual(document["column"], 1)
            if column:
                self.assertEqual(document["column"], column, (program, document))

    def test_refused_constructs_are_named(self):
        for program, word in (("class A: pass", "class"), ("import os", "os"), ("x = yield 1", "yield"), ("try:\n  x\nexcept: y", "try"),
                              ("raise x", "raise"), ("with open('a') as f: pass", "with"), ("async def f(): pass", "async"),
                              ("def f():\n    global x", "global"), ("(y := 1)", ":="), ("x.__class__", "__class__")):
            self.assertIn(word, self.fails(program, "syntax", 400)["detail"], program)

    def test_dunders_are_refused_at_run_time_too(self):
        for program in ("'{0.__class__}'.format(1)", "'{a.__dict__}'.format(a=1)", "'{0[__class__]}'.format(1)"):
            answer = self.client.eval(program, "keep=")
            self.assertTrue(400 <= answer.status < 500, (program, answer))

    def test_nearest(self):
        for program, kind, nearest in (
                ("lenght = 5\nlenghth + 1", "undefined", "lenght"), ("torch.onse(2)", "attribute", "ones"), ("sofmax(torch.ones(2), 0)", "undefined", "softmax"),
                ("'a'.uper()", "attribute", "upper"), ("torch.ones(2).reshap(1, 2)", "attribute", "reshape"), ("[].apend(1)", "attribute", "append"),
                ("pritn(1)", "undefined", "print"), ("math.sqr(2)", "attribute", "sqrt"), ("torch.ones(2, dtpye=torch.int64)", "type", "dtype")):
            self.assertEqual(self.fails(program, kind).get("nearest"), nearest, program)
        self.client.put("/v1/tensors/weights", [1.0])
        self.assertEqual(self.fails("weigths", "undefined").get("nearest"), "weights")

    def test_tensor_kinds(self):
        for program, kind in (
                ("torch.ones(2) + torch.ones(3)", "shape"), ("torch.ones(2, 3) @ torch.ones(2, 3)", "shape"), ("torch.arange(3)[3]", "index"),
                ("torch.arange(3).mean()", "dtype"), ("torch.ones(2).foo", "attribute"), ("torch.nothing(1)", "attribute"),
                ("torch.ones(2, device='cuda:9')", "device"), ("torch.tensor([1, 2]).item()", "value"), ("torch.device('foo')", "value"),
                ("bool(torch.ones(2))", "value"), ("torch.arange(6)[::-1]", "value"), ("torch.tensor([1]) // 0", "zero-division"),
                ("torch.tensor([1]) % 0", "zero-division"), ("torch.tensor([1], requires_grad=True)", "dtype"),
                ("x = torch.ones(2, dtype=torch.int64)\nx += 1.5", "dtype"), ("torch.arange(6.).view(4)", "shape")):
            self.fails(program, kind)

    def test_late_faults_have_a_place(self):
        """Elements are computed at the end; the problem names the line that asked for them."""
        document = self.fails("x = torch.tensor([1, 2])\ny = x + 1\nz = y // torch.tensor([1, 0])\nw = z * 2\nw", "zero-division")
        self.assertEqual((document["line"], "y // torch.tensor" in document["detail"]), (3, True), document)
        document = self.fails("def f(v):\n    return v % 0\nf(torch.tensor(3))\n5", "zero-division")
        self.assertEqual((document["line"], document["column"]), (2, 12), document)
        document = self.fails("a = torch.ones(3)\nb = torch.zeros(10**12)\nc = a + 1", "out-of-memory", status=507)
        self.assertEqual(document["line"], 2, document)

    def test_unused_values_fail_too(self):
        self.fails("torch.tensor([1]) // 0\n5", "zero-division")
        self.fails("x = torch.tensor([1]) % torch.tensor([0])\n5", "zero-division")
        self.fails("def f():\n    torch.arange(3) // 0\n    return 1\nf()", "zero-division")
        self.fails("torch.ones(2) + torch.ones(3)\n5", "shape")


class Limits(EvalCase):
    def test_nesting(self):
        for left, right in (("(", ")"), ("[", "]"), ("{1: ", "}"), ("-", ""), ("not ", ""), ("lambda: ", ""), ("f(", ")")):
            document = self.assertProblem(self.client.eval(left * 5000 + "1" + right * 5000, "keep="), 422, "limit")
            self.assertIn("nest", document["detail"])
        deep = "".join("%sif 1:\n" % ("    " * n) for n in range(150)) + "    " * 150 + "x = 1\n"
        self.assertOk(self.client.eval(deep, "keep="))
        self.assertOk(self.client.eval("(" * 150 + "1" + ")" * 150, "keep="))
        self.assertOk(self.client.eval(" + ".join(["1"] * 1000), "keep="))

    def test_unbalanced_depths(self):
        for program in ("(" * 100000, "[" * 100000, "{" * 100000, "a." * 100000, "x = " * 100000, "not " * 100000, "f'{" * 50000,
                        "if 1:" * 10000, "1 if 1 else " * 50000, "lambda:" * 50000, "**" * 50000, "a[" * 50000):
            answer = self.client.eval(program, "keep=")
            self.assertIn(answer.kind, ("syntax", "limit"), (program[:20], answer))

    def test_source_size(self):
        self.assertOk(self.client.eval("#" * 1_000_000 + "\n5", "keep="))
        answer = self.client.eval("#" * 1_100_000 + "\n5", "keep=")
        self.assertIn((answer.status, answer.kind), ((413, "too-large"), (422, "limit")), answer)
        answer = self.client.post("/v1/eval", {"program": "#" * 1_100_000 + "\n5"})
        self.assertIn((answer.status, answer.kind), ((413, "too-large"), (422, "limit")), answer)

    def test_large_things(self):
        programs = ("'a' * 10 ** 15", "[0] * 10 ** 15", "(1,) * 2 ** 62", "x = 'ab'\nfor i in range(60): x += x", "list(range(10 ** 15))",
                    "x = [1]\nfor v in x: x.append(v)", "f'{1:{10 ** 9}}'", "'%*d' % (10 ** 12, 1)", "'a'.ljust(10 ** 15)", "torch.ones(10 ** 15)",
                    "torch.zeros(2 ** 40, 2 ** 40)", "[[0] * 10 ** 6 for i in range(10 ** 9)]", "sum(i for i in range(10 ** 12))",
                    "'a'.replace('', 'b' * 10 ** 6) * 10 ** 9", "tuple(range(10 ** 12))", "sorted(range(10 ** 12))", "print('a' * 10 ** 8)")
        with Server("--max-steps", "3000000", "--memory", "200M", devices="cpu") as server:
            client = Client(server)
            for program in programs:
                answer = client.eval(program, "keep=")
                self.assertIn(answer.kind, ("limit", "out-of-memory", "quota", "overflow", "value", "shape"), (program, answer))
                self.assertEqual(client.eval("1 + 1", "keep=").json()["value"], 2, program)
            self.assertEqual(client.get("/v1/names").json()["names"], [])
            client.close()

    def test_steps(self):
        with Server("--max-steps", "10000", devices="cpu") as server:
            client = Client(server)
            for program in ("while True: pass", "for i in range(10 ** 12): x = i", "def f(n): return f(n - 1) + f(n - 2) if n > 1 else n\nf(60)",
                            "[i for i in range(10 ** 9)]", "sum(i for i in range(10 ** 9))", "x = 0\nwhile x < 10 ** 9: x += 1", "max(range(10 ** 9))",
                            "10 ** 9 + 1 in [i for i in range(10 ** 6)]", "list(map(abs, range(10 ** 9)))", "all(True for _ in range(10 ** 9))"):
                document = self.assertProblem(client.eval(program), 422, "limit")
                self.assertIn("steps", document["detail"], program)
            self.assertEqual(client.eval("s = 0\nfor i in range(100): s += i\ns").json()["value"], 4950)
            self.assertEqual([n["name"] for n in client.get("/v1/names").json()["names"]], ["i", "s"])
            client.close()

    def test_source_flag(self):
        with Server("--max-source", "1K", devices="cpu") as server:
            client = Client(server)
            self.assertEqual(client.eval("#" * 900 + "\n5").status, 200)
            answer = client.eval("#" * 1200 + "\n5")
            self.assertIn((answer.status, answer.kind), ((413, "too-large"), (422, "limit")), answer)
            client.close()

    def test_nesting_flag(self):
        with Server("--max-nesting", "5", devices="cpu") as server:
            client = Client(server)
            self.assertEqual(client.eval("(((1)))").json()["value"], 1)
            self.assertProblem(client.eval("((((((1))))))"), 422, "limit")
            client.close()

    def test_recursion(self):
        self.assertEqual(self.number("def f(n): return 0 if n == 0 else 1 + f(n - 1)\nf(900)"), 900)
        self.fails("def f(n): return f(n + 1)\nf(0)", "limit")
        self.fails("f = lambda: [f() for _ in range(1)]\nf()", "limit")


class Device(EvalCase):
    """Programs on the device under test."""

    def test_arithmetic(self):
        self.client.put_array("x", numpy.arange(5, dtype=numpy.float32))
        document = self.value("relu(x - 2) * 3 + x.sum()")
        self.assertEqual((document["data"], document["device"]), ([10.0, 10.0, 10.0, 13.0, 16.0], DEVICE))

    def test_branch_on_a_value(self):
        self.client.put_array("x", numpy.arange(5, dtype=numpy.float32))
        program = "n = 0\nwhile x.sum() > 1:\n    x = x / 2\n    n += 1\n(n, x.max().item())"
        self.assertEqual([v["value"] for v in self.value(program)["values"]], [4, 0.25])

    def test_gradient_descent_by_hand(self):
        generator = numpy.random.default_rng(1)
        x, w = generator.standard_normal((50, 3)), numpy.array([[1.0], [-2.0], [0.5]])
        self.client.put_array("x", x)
        self.client.put_array("y", x @ w)
        program = ("w = torch.zeros(3, 1, dtype=torch.float64, device=x.device)\nfor step in range(300):\n"
                   "    e = x @ w - y\n    w -= 0.1 * (x.T @ e) / len(x)\nprint(f'{(e * e).mean():.6f}')\nw")
        document = self.value(program)
        numpy.testing.assert_allclose(document["data"], w, atol=1e-6)
        self.assertEqual((document["device"], document["printed"]), (DEVICE, ["0.000000"]))
