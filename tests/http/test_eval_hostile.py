# SPDX-License-Identifier: Apache-2.0
"""Programs that mean harm: each is refused with a clear problem or carried out within its bounds, changes nothing
when it fails, and leaves no memory behind. The daemon runs with small limits, so that they are met soon."""
import json
import socket
import threading

from harness import Client, Server, TestCase, wait_until

MODULES = "import torch.nn as nn\n"


class HostileCase(TestCase):
    private = None

    @property
    def server(self):
        return self.private

    @classmethod
    def setUpClass(cls):
        cls.private = Server("--memory", "256MiB", "--max-steps", "3000000", devices="cpu")

    @classmethod
    def tearDownClass(cls):
        cls.private.stop()

    def setUp(self):
        super().setUp()
        self.client.clear_names()

    def tensors(self):
        return self.client.get("/v1/devices").json()["devices"][0]["memory"]["tensors"]

    def value(self, program, query="keep="):
        answer = self.client.eval(program, query)
        self.assertEqual(answer.status, 200, (program, answer))
        return answer.json()

    def fails(self, program, *kinds, query="keep="):
        answer = self.client.eval(program, query)
        self.assertIn(answer.kind, kinds, (program[:200], answer))
        return answer.json()


class Bounded(HostileCase):
    """Nothing takes longer, or more, than its limit."""

    def test_source(self):
        for program in ("(" * 5000, "[" * 5000 + "]" * 5000, "-" * 5000 + "1", "not " * 5000 + "1",
                        "lambda:" * 5000 + "1", "2" + "**1" * 5000, "a" + ".b" * 5000, "f" + "()" * 5000,
                        "1 if 1 else " * 5000 + "1", "(" * 5000 + "a," + ")" * 5000 + "=1", "#" * (2 << 20)):
            self.fails(program, "limit")
        for program in (b"1\0", b"'\xff'", b"'\xed\xa0\x80'", b"'\xc0\x80'", b"\xff\xfe1\0", b"'\xf4\x90\x80\x80'"):
            answer = self.client.post("/v1/eval", program)
            self.assertProblem(answer, 400, "syntax")

    def test_large_sources_are_compiled_all_the_same(self):
        # Beyond some size a worker compiles: with the same answers and the same places of errors.
        filler = "x = 1\n" * 20000
        self.assertEqual(self.value(filler + "x + 41")["value"], 42)
        problem = self.fails(filler + "1 +", "syntax")
        self.assertEqual(problem["line"], 20001)
        problem = self.fails(filler + "1 / 0", "zero-division")
        self.assertEqual((problem["line"], problem["column"]), (20001, 1))
        self.fails("# nothing\n" * 10000, "syntax")
        one_line = self.client.post("/v1/eval", b"a = 1 " * 10000,
                                    Content_Type="application/x-www-form-urlencoded")
        self.assertIn("--data-binary", self.assertProblem(one_line, 400, "syntax")["detail"])
        document = {"program": filler + "y", "inputs": {"y": [1, 2]}}
        self.assertTensor(self.client.post("/v1/eval?keep=", document), [1, 2])

    def test_numbers(self):
        for program in ("2 ** 10**9", "x = 3\nx ** 10**9", "1 << 10**9", "9" * 1000, "int('9' * 1000)",
                        "(-9223372036854775807 - 1) // -1", "abs(-9223372036854775807 - 1)", "int(1e300)",
                        "import math\nmath.factorial(10**9)"):
            self.fails(program, "overflow", "limit")

    def test_growth(self):
        for program in ("x = 'a'\nwhile 1: x = x + x", "x = [1]\nwhile 1: x = x + x", "'x' * 10**10",
                        "[0] * 10**12", "x = []\nwhile 1: x.append(1)", "list(range(10**12))", "a, *b = range(10**12)",
                        "import math\nmath.prod(range(10**12))", "f'{1:{10**9}}'", "'%1000000000d' % 1",
                        "'a'.ljust(10**10)", "('a' * 10**5).replace('a', 'b' * 10**5)", "while 1: print('x' * 1000)",
                        "sum(range(10**12))", "while 1: pass", "[[i for i in range(10**6)] for j in range(10**6)]",
                        "torch.zeros(10**12)", "torch.ones(3).repeat(10**12)", "s = '\"'\nfor i in range(40): s = repr(s)"):
            self.fails(program, "limit", "out-of-memory")

    def test_recursion(self):
        for program in ("def f(n): return f(n + 1)\nf(0)", "(lambda x: x(x))(lambda x: x(x))",
                        "def f(x): return list(map(f, [x]))\nf(1)", "def f(x): return sorted([x], key=f)\nf(1)"):
            self.fails(program, "limit")

    def test_sharing_containers(self):
        """A container that holds another twice, 40 times over: small in memory, endless as text."""
        nest = "x = [1]\nfor i in range(40): x = [x, x]\n"
        for last in ("x", "repr(x)", "print(x)", "f'{x}'", "str((x,))"):
            self.fails(nest + last, "limit")
        self.fails(nest.replace("[", "(").replace("]", ",)") + "{x: 1}\n", "limit")
        self.fails(nest + "y = [1]\nfor i in range(40): y = [y, y]\nx == y", "limit")
        self.fails("range(10**9)", "limit")
        self.fails("'x' * (100 << 20)", "limit", "out-of-memory")
        self.fails("s = 'x' * 10**6\n[s] * 1000", "limit")
        self.fails("s = 'x' * 10**6\n{s + str(i): s for i in range(40)}", "limit")
        self.assertEqual(len(self.value("list(range(50000))")["values"]), 50000)

    def test_cycles(self):
        self.fails("a = []\na.append(a)\na", "limit")
        self.assertEqual(self.value("a = []\na.append(a)\nrepr(a)")["value"], "[[...]]")
        self.fails("a = []\na.append(a)\nb = []\nb.append(b)\na == b", "limit")
        self.fails("a = []\na.append(a)\ntorch.tensor(a)", "limit", "value")
        self.assertOk(self.client.eval("a = []\na.append(a)\nb = [a]"))
        self.assertEqual(self.value("a[0] is a and b[0] is a")["value"], True)

    def test_deep_values_are_kept(self):
        self.assertOk(self.client.eval("a = []\nfor i in range(100000): a = [a]"))
        self.assertEqual(self.value("n = 0\nwhile a:\n a = a[0]\n n += 1\nn")["value"], 100000)
        self.assertOk(self.client.eval("def mk(g): return lambda: g\nf = 1\nfor i in range(20000): f = mk(f)"))
        self.assertEqual(self.value("for i in range(20000): f = f()\nf")["value"], 1)


class Modules(HostileCase):
    def test_depth_is_counted_from_the_root(self):
        grow = "net = nn.Sequential()\ntip = net\nfor i in range(%d):\n n = nn.Sequential()\n tip.append(n)\n tip = n\n"
        for last in ("net.train()", "net(torch.ones(1))", "print(net)", "len(list(net.parameters()))"):
            self.fails(MODULES + grow % 100000 + last, "limit")
        self.value(MODULES + grow % 20 + "net.train()\nnet(torch.ones(1))")

    def test_cycles(self):
        for program in ("net = nn.Sequential()\nnet.append(net)",
                        "a = nn.Sequential()\nb = nn.Sequential(a)\na.append(b)",
                        "a = nn.ModuleList()\na.append(nn.Sequential(nn.ReLU()))\na.extend([a])"):
            self.fails(MODULES + program, "limit", "value")

    def test_sharing(self):
        nest = MODULES + "net = nn.Sequential(nn.Linear(1, 1))\nfor i in range(30): net = nn.Sequential(net, net)\n"
        for last in ("net(torch.ones(1))", "net.train()", "net.eval()", "net.to(torch.float64)", "net.state_dict()",
                     "len(list(net.parameters()))", "print(net)", "net.load_state_dict({})"):
            self.fails(nest + last, "limit", "out-of-memory")
        answer = self.client.eval(nest)
        self.assertIn(answer.kind, ("limit", "out-of-memory"), answer)

    def test_many_layers(self):
        self.value(MODULES + "net = nn.Sequential(*[nn.ReLU()] * 10000)\nnet(torch.ones(2))")
        self.assertOk(self.client.eval(MODULES + "net = nn.Sequential(*[nn.Linear(1, 1) for i in range(500)])"))
        self.assertEqual(self.value("net.to(torch.float64)\nnet(torch.ones(1, dtype=torch.float64)).shape")["value"], [1])

    def test_parameters_go_with_their_module(self):
        self.assertOk(self.client.eval(MODULES + "net = nn.Linear(2, 2)"))
        patch = self.client.send("PATCH", "/v1/tensors/net.weight/meta", {"ttl": 1})
        self.assertProblem(patch, 409, "conflict")
        self.assertOk(self.client.send("PATCH", "/v1/tensors/net.weight/meta", {"ttl": None}))

    def test_read_only_is_seen_through_modules_and_containers(self):
        self.assertOk(self.client.eval(MODULES + "net = nn.Linear(2, 2)\nx = torch.zeros(3)\nL = [x, {'x': x[1:]}]"))
        for name in ("net.weight", "x"):
            self.assertOk(self.client.send("PATCH", "/v1/tensors/%s/meta" % name, {"readonly": True}))
        for program in ("net.weight.data.fill_(3)", "L[0].add_(1)", "L[1]['x'][0] = 1", "x += 1"):
            self.fails(program, "forbidden", query="")
        self.assertTensor(self.client.get("/v1/tensors/x"), [0.0, 0.0, 0.0])
        self.assertOk(self.client.send("PATCH", "/v1/tensors/x/meta", {"readonly": False}))
        self.assertOk(self.client.eval("L[0].add_(1)"))
        self.assertTensor(self.client.get("/v1/tensors/x"), [1.0, 1.0, 1.0])


class Nothing(HostileCase):
    """A failing program changes nothing."""
    BODIES = ("x[0] = 99", "y.mul_(3)", "n = 7", "L[1].append(4)", "d['b'] = 1", "net.eval()", "net.to(torch.float64)",
              "net.weight.data.fill_(0)", "del x", "del net", "x = torch.ones(10**6)", "torch.manual_seed(7)",
              "f = 5", "k = x.numpy()\nk[0] = 4", "d.clear()", "x.requires_grad_(True)", "q = [torch.ones(10**5)] * 3")
    FAILURES = ("1 / 0", "nobody", "torch.zeros(10**12) + 1", "torch.tensor([1]) // torch.tensor([0])", "[][1]",
                "print('x' * 10**8)", "a = 1\nfor i in range(70): a = [a]\na")

    def state(self):
        names = self.client.get("/v1/names").body + self.client.get("/v1/tensors").body
        return names, self.tensors()

    def values(self):
        return self.client.eval("[x, y, n, L, d, net.state_dict(), net.training, f(1)]", "keep=").body

    def test_names_values_memory(self):
        self.assertOk(self.client.eval(
            MODULES + "x = torch.arange(6.)\ny = x[1:3]\nn = 5\nL = [1, [x]]\nd = {'a': x}\nnet = nn.Linear(2, 2)\n"
            "def f(a): return a + n\n"))
        state, values = self.state(), self.values()
        for body in self.BODIES:
            for failure in self.FAILURES:
                answer = self.client.eval(body + "\n" + failure)
                self.assertGreaterEqual(answer.status, 400, (body, failure, answer))
                self.assertEqual(self.state(), state, (body, failure))
            self.assertEqual(self.values(), values, body)

    def test_generators(self):
        self.value("torch.manual_seed(1)")
        first, second = self.value("torch.rand(4)")["data"], self.value("torch.randn(5)")["data"]
        self.value("torch.manual_seed(1)")
        self.assertEqual(self.value("torch.rand(4)")["data"], first)
        for program in ("torch.rand(7)\n1 / 0", "torch.manual_seed(9)\ntorch.rand(3)\n[][0]", "torch.randperm(5) + 'a'",
                        MODULES + "nn.Linear(3, 3)\nassert 0"):
            self.assertEqual(self.client.eval(program).status, 422, program)
        self.assertEqual(self.value("torch.randn(5)")["data"], second)

    def test_what_cannot_be_kept_beside_its_own_heap_is_too_large(self):
        # The program itself holds the memory: sending it again would not help.
        self.fails("x = [1.5] * (8 << 20)", "out-of-memory", query="")

    def test_everything_goes_with_its_names(self):
        self.assertOk(self.client.eval(
            MODULES + "x = torch.ones(1000)\nL = [x[i:] for i in range(100)]\nL.append(L)\nnet = nn.Linear(9, 9)\n"
            "def f(): return L\ns = 'a' * 100000"))
        self.assertGreater(self.tensors(), 0)
        self.client.clear_names()
        self.assertEqual(self.tensors(), 0)


class Company(HostileCase):
    def send(self, program):
        connection = socket.create_connection(("127.0.0.1", self.server.port))
        body = program.encode()
        connection.sendall(b"POST /v1/eval HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        return connection

    def test_vanishing_clients(self):
        for program in ("while 1: pass", "L = [torch.ones(10**6) for i in range(20)]\nwhile 1: pass",
                        "x = torch.rand(10**6)\nwhile 1: x = torch.sin(x) + 1", "torch.ones(3).expand(10**15, 3).sum()",
                        "L = []\nwhile 1: L.append([1] * 1000)"):
            connection = self.send(program)
            wait_until(lambda: self.tensors() > 0, 0.1)
            connection.close()
            self.assertTrue(wait_until(lambda: self.tensors() == 0), program)
        self.assertEqual(self.client.get("/v1/names").json()["names"], [])

    def test_increments(self):
        self.assertOk(self.client.eval("x = torch.zeros(2)\nn = 0\nL = []"))
        programs = ("x += 1\nn += 1\nL.append(1)", "x.add_(1)\nn = n + 1\nL = L + [1]")
        failed = []

        def work(i):
            client = Client(self.server)
            for _ in range(10):
                answer = client.eval(programs[i % 2])
                if answer.status != 200:
                    failed.append(answer)
            client.close()
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual([v["value"] for v in self.value("[int(x[0]), n, len(L)]")["values"]], [80, 80, 80])

    def test_json_bodies(self):
        for body in ({"program": 1}, {"program": None}, {}, [], {"program": "x", "inputs": [1]},
                     {"program": "x", "inputs": {"x": "a"}}, {"program": "1", "foo": 2}, {"program": "1", "if": 5},
                     {"program": "1", "if": {"x": 5}}, {"program": "a\0b"}):
            self.assertProblem(self.client.post("/v1/eval", json.dumps(body), Content_Type="application/json"), 400,
                               "malformed")
        for name in ("1x", "for", "torch", "a" * 129):
            self.assertProblem(self.client.post("/v1/eval", {"program": "1", "inputs": {name: 1}}), 422, "name")
