# SPDX-License-Identifier: Apache-2.0
"""What programs leave behind: names of every kind over requests, views, versions, modules over HTTP; and that a
program that fails leaves nothing."""
import threading

import numpy

from harness import DEVICE, Client
from test_eval import EvalCase


class Names(EvalCase):
    def listed(self):
        return {entry["name"]: entry["kind"] for entry in self.client.get("/v1/names").json()["names"]}

    def test_kinds(self):
        self.value("t = torch.ones(2)\nn = 5\ns = 'a'\nl = [1, t]\ndef f(x): return x + n\nnet = nn.Linear(2, 1)\nno = None", "")
        listed = self.listed()
        expected = {"t": "tensor", "n": "value", "s": "value", "l": "value", "f": "function", "net": "module", "no": "value"}
        self.assertEqual({name: kind for name, kind in listed.items() if name in expected}, expected)
        self.assertEqual({n for n in listed if n not in expected} - {"net.weight", "net.bias"}, set())

    def test_list(self):
        self.value("b = 1\na = 2\nc = torch.ones(1)", "")
        document = self.client.get("/v1/names").json()
        self.assertEqual([entry["name"] for entry in document["names"]], ["a", "b", "c"])
        self.assertEqual([e["name"] for e in self.client.get("/v1/names?prefix=b").json()["names"]], ["b"])
        page = self.client.get("/v1/names?limit=2").json()
        self.assertEqual([entry["name"] for entry in page["names"]], ["a", "b"])
        self.assertEqual([e["name"] for e in self.client.get(page["next"]).json()["names"]], ["c"])
        self.assertEqual([t["name"] for t in self.client.get("/v1/tensors").json()["tensors"]], ["c"])

    def test_delete(self):
        self.value("n = 1\nx = torch.ones(2)\ndef f(): return 1\nnet = nn.Linear(1, 1)", "")
        for name in ("n", "x", "f", "net"):
            self.assertGreaterEqual(self.assertOk(self.client.delete("/v1/names/" + name)).json()["deleted"], 1, name)
            self.fails(name, "undefined")
            self.assertProblem(self.client.delete("/v1/names/" + name), 404, "not-found")
        self.assertEqual(self.listed(), {})
        self.assertProblem(self.client.get("/v1/tensors/net.weight"), 404, "not-found")

    def test_values_are_no_tensors(self):
        self.value("n = 5", "")
        self.assertIn(self.client.get("/v1/tensors/n").kind, ("not-found", "type"))
        self.assertEqual(self.client.put("/v1/tensors/n", [1.0, 2.0]).status in (200, 201), True)
        self.assertEqual(self.value("n")["data"], [1.0, 2.0])

    def test_persistence(self):
        self.value("n = 2 ** 60\nx = 0.1\ns = 'h\u00e9\\x00'\nb = True\nnone = None\nt = (1, [2, {'a': 3}])\nst = {3, 1}", "")
        for program, expected in (("n", "1152921504606846976"), ("x + 0.2", 0.1 + 0.2), ("s", "h\u00e9\0"), ("b", True), ("none", None),
                                  ("t[1][1]['a']", 3), ("str(st)", "{1, 3}"), ("repr(t)", "(1, [2, {'a': 3}])")):
            self.assertEqual(self.number(program), expected, program)

    def test_aliases_stay_aliases(self):
        self.value("a = []\nb = a\nd = {'l': a}", "")
        self.assertEqual(self.client.eval("a.append(1)\nb", "format=text").body, b"[1]\n")
        self.assertEqual(self.text("(a, b, d, a is b, d['l'] is a)"), "([1], [1], {'l': [1]}, True, True)\n")
        self.client.eval("b.append(2)")
        self.assertEqual(self.text("(a, d)"), "([1, 2], {'l': [1, 2]})\n")
        self.client.eval("a = [9]")
        self.assertEqual(self.text("(a, b)"), "([9], [1, 2])\n")

    def test_globals_are_mutable(self):
        self.client.eval("log = []\ndef note(x):\n    log.append(x)\n    return len(log)")
        self.assertEqual(self.client.eval("note('a')").json()["value"], 1)
        self.assertEqual(self.client.eval("note('b')").json()["value"], 2)
        self.assertEqual(self.text("log"), "['a', 'b']\n")

    def test_functions(self):
        self.client.eval("def make(n):\n    count = [n]\n    def step(by=1, *, twice=False):\n        count[0] += by * (2 if twice else 1)\n"
                         "        return count[0]\n    return step\nstep = make(10)\nsquare = lambda v: v * v")
        self.assertEqual([self.client.eval(p).json()["value"] for p in ("step()", "step(5)", "step(twice=True)", "square(7)")], [11, 16, 18, 49])
        self.client.eval("k = 1\ndef g(): return k")
        self.client.eval("k = 2")
        self.assertEqual(self.number("g()"), 2)
        self.client.delete("/v1/names/k")
        document = self.fails("g()", "undefined")
        self.assertIn("k", document["detail"])

    def test_memo_persists(self):
        self.client.eval("def f(x, acc=[]):\n    acc.append(x)\n    return acc")
        self.client.eval("f(1)")
        self.client.eval("f(2)")
        self.assertEqual(self.text("f(3)"), "[1, 2, 3]\n")

    def test_keep(self):
        document = self.value("x = 1\ny = 2\nz = torch.ones(1)", "keep=y,z")
        self.assertEqual(set(document["names"]), {"y", "z"})
        self.assertEqual(set(self.listed()), {"y", "z"})
        self.value("y = 5\nw = 6", "keep=")
        self.assertEqual(self.text("y"), "2\n")
        self.fails("w", "undefined")

    def test_del(self):
        self.value("a = 1\nb = torch.ones(1)", "")
        self.assertOk(self.client.eval("del a, b"))
        self.assertEqual(self.listed(), {})
        self.fails("del a", "undefined")

    def test_what_stays_in_its_program(self):
        self.assertOk(self.client.eval("d = torch.device('cpu')\nt = torch.float32\nc = type(1)\ne = enumerate([1])\nn = 1"))
        self.assertEqual(self.listed(), {"n": "value"})

    def test_names_that_cannot_be(self):
        for program in ("torch = 1", "np = 1", "nn = 1", "F = 1"):
            self.assertTrue(400 <= self.client.eval(program).status < 500, program)

    def test_tensor_function(self):
        for name in ("a.b-c", "run-1.loss", "x"):
            self.client.put_array(name, numpy.arange(3.0))
            self.assertEqual(self.value("tensor('%s') + 1" % name)["data"], [1.0, 2.0, 3.0])
        self.assertEqual(self.value("n = 'a.b' + '-c'\ntensor(n).sum()")["data"], 3.0)
        self.fails("tensor('nothing')", "undefined")
        self.assertEqual(self.value("tensor(5)")["data"], 5)  # what is no name is torch.tensor's

    def test_operations_win_under_torch(self):
        self.value("sum = 3\nrelu = 4", "")
        self.assertEqual(self.number("sum + relu"), 7)
        self.assertEqual(self.value("torch.sum(torch.ones(3))")["data"], 3.0)

    def test_shadowed_builtin_comes_back(self):
        self.client.eval("len = 5")
        self.assertEqual(self.number("len"), 5)
        self.client.delete("/v1/names/len")
        self.assertEqual(self.number("len('abc')"), 3)


class Conditions(EvalCase):
    def etag(self, name):
        return self.client.get("/v1/tensors/%s/meta" % name).json()["etag"]

    def test_if_version(self):
        self.client.put("/v1/tensors/x", [1.0])
        body = {"program": "x += 1", "if": {"x": self.etag("x")}}
        self.assertOk(self.client.post("/v1/eval", body))
        self.assertProblem(self.client.post("/v1/eval", body), 412, "precondition")
        self.assertEqual(self.client.array("x").tolist(), [2.0])

    def test_if_null(self):
        body = {"program": "y = torch.zeros(1)", "if": {"y": None}}
        self.assertOk(self.client.post("/v1/eval", body))
        self.assertProblem(self.client.post("/v1/eval", body), 412, "precondition")

    def test_versions(self):
        self.client.put("/v1/tensors/x", [1.0, 2.0])
        first = self.etag("x")
        self.client.eval("x + 1", "keep=")
        self.assertEqual(self.etag("x"), first)
        self.client.eval("x[0] = 5")
        second = self.etag("x")
        self.assertNotEqual(second, first)
        self.client.eval("x = x + 1")
        self.assertNotEqual(self.etag("x"), second)


class Writes(EvalCase):
    def test_what_was_read_before_a_write(self):
        self.assertEqual(self.value("x = torch.zeros(3)\ny = x + 1\nx[0] = 9\ny")["data"], [1.0, 1.0, 1.0])
        self.assertEqual(self.value("x = torch.zeros(3)\nx[0] = 9\ny = x + 1\ny")["data"], [10.0, 1.0, 1.0])
        self.assertEqual(self.value("x = torch.arange(4.)\ny = x[1:]\nx += 10\ny")["data"], [11.0, 12.0, 13.0])
        self.assertEqual(self.value("x = torch.arange(4.)\ny = x[1:] * 1\nx += 10\ny")["data"], [1.0, 2.0, 3.0])

    def test_overlapping_slices(self):
        self.assertEqual(self.value("x = torch.arange(4.)\nx[1:] = x[:-1]\nx")["data"], [0.0, 0.0, 1.0, 2.0])
        self.assertEqual(self.value("x = torch.arange(4.)\nx[:-1] = x[1:]\nx")["data"], [1.0, 2.0, 3.0, 3.0])
        self.assertEqual(self.value("x = torch.arange(4.)\nx[1:] += x[:-1]\nx")["data"], [0.0, 1.0, 3.0, 5.0])
        self.client.put_array("x", numpy.arange(1000.0))
        self.client.eval("x[1:] = x[:-1]")
        self.assertEqual(self.client.array("x").tolist(), [0.0, *range(999)])

    def test_views_stay_tied(self):
        self.client.put_array("x", numpy.zeros(4))
        self.client.eval("y = x[1:3]\nz = x.reshape(2, 2).T")
        self.client.eval("y[0] = 5")
        self.assertEqual(self.client.array("x").tolist(), [0, 5, 0, 0])
        self.assertEqual(self.client.array("z").tolist(), [[0, 0], [5, 0]])
        self.client.put("/v1/tensors/z?index=0,1", 7.0)
        self.assertEqual(self.client.array("x").tolist(), [0, 5, 7, 0])
        self.assertEqual(self.client.array("y").tolist(), [5, 7])
        self.client.eval("x = x + 1")                     # rebinds: old views keep the old storage
        self.client.eval("y.zero_()")
        self.assertEqual(self.client.array("x").tolist(), [1, 6, 8, 1])
        self.assertEqual(self.client.array("z").tolist(), [[0, 0], [0, 0]])

    def test_tensors_in_containers_stay_tied(self):
        self.client.eval("w = torch.zeros(2)\nl = [w, w[1:]]")
        self.client.eval("l[1][0] = 3")
        self.assertEqual(self.value("w")["data"], [0.0, 3.0])
        self.client.delete("/v1/names/w")
        self.assertEqual(self.value("l[0]")["data"], [0.0, 3.0])

    def test_numpy_shares_memory(self):
        self.assertEqual(self.value("t = torch.ones(3)\na = t.numpy()\nt.add_(1)\na")["data"], [2.0, 2.0, 2.0])
        self.assertEqual(self.value("t = torch.ones(3)\na = t.numpy()\na[0] = 5\nt")["data"], [5.0, 1.0, 1.0])

    def test_augmented_on_the_device(self):
        self.client.put_array("x", numpy.zeros(3))
        etag = self.client.get("/v1/tensors/x/meta").json()["etag"]
        self.client.eval("for i in range(5):\n    x += i")
        self.assertEqual(self.client.array("x").tolist(), [10.0] * 3)
        meta = self.client.get("/v1/tensors/x/meta").json()
        self.assertEqual(meta["device"], DEVICE)
        self.assertNotEqual(meta["etag"], etag)

    def test_readonly(self):
        self.client.put_array("x", numpy.zeros(3))
        self.client.send("PATCH", "/v1/tensors/x/meta", b'{"readonly": true}', {"Content-Type": "application/merge-patch+json"})
        self.assertProblem(self.client.eval("x += 1"), 403, "forbidden")
        self.assertProblem(self.client.eval("y = x[1:]\ny[0] = 1"), 403, "forbidden")
        self.assertEqual(self.client.array("x").tolist(), [0, 0, 0])


class Failing(EvalCase):
    """A program that fails changes nothing: names, values, versions, memory, generators."""

    def test_names_and_values(self):
        self.client.put_array("x", numpy.arange(3.0))
        self.client.eval("n = 1\nl = [1]\nd = {'a': [2]}\ndef f(): return 1\nb = l")
        etag = self.client.get("/v1/tensors/x/meta").json()["etag"]
        used = self.client.get("/v1/devices").json()["devices"]
        for program in ("n = 2\n1 / 0", "new = 1\n1 / 0", "l.append(2)\n1 / 0", "d['a'].append(3)\nd['b'] = 1\n1 / 0", "del n\n1 / 0",
                        "x[0] = 9\n1 / 0", "x += 1\nx.sum().item()\n1 / 0", "x = torch.ones(1000)\n1 / 0", "def f(): return 2\n1 / 0",
                        "b = [5]\n1 / 0", "big = torch.ones(100000)\nbig.sum().item()\n1 / 0", "del x\n1 / 0",
                        "x.fill_(5)\ntorch.tensor([1]) // 0", "l[0] = x\nassert False", "net = nn.Linear(2, 2)\n1 / 0"):
            self.assertTrue(400 <= self.client.eval(program).status < 500, program)
        self.assertEqual(self.text("(n, l, d, f(), b is l)"), "(1, [1], {'a': [2]}, 1, True)\n")
        self.assertEqual(self.client.array("x").tolist(), [0.0, 1.0, 2.0])
        self.assertEqual(self.client.get("/v1/tensors/x/meta").json()["etag"], etag)
        self.assertEqual({e["name"] for e in self.client.get("/v1/names").json()["names"]}, {"x", "n", "l", "d", "f", "b"})
        after = self.client.get("/v1/devices").json()["devices"]
        self.assertEqual([d["memory"]["tensors"] for d in after], [d["memory"]["tensors"] for d in used])

    def test_generators(self):
        for device in {"cpu", DEVICE}:
            draw = "torch.rand(3, device='%s')" % device
            self.client.eval("torch.manual_seed(3)")
            expected = [self.value(draw, "")["data"], self.value(draw, "")["data"]]
            self.client.eval("torch.manual_seed(3)")
            self.assertEqual(self.value(draw, "")["data"], expected[0])
            self.fails("a = %s\ntorch.manual_seed(9)\n1 / 0" % draw, "zero-division")
            self.fails("%s\ntorch.arange(3) // 0" % draw, "zero-division")
            self.assertEqual(self.value(draw, "")["data"], expected[1])

    def test_printed_lines_are_lost(self):
        answer = self.client.eval("print('seen')\n1 / 0")
        self.assertNotIn(b"seen", answer.body)


class Together(EvalCase):
    def race(self, program, n=8, times=10):
        def post():
            client = Client(self.server)
            for _ in range(times):
                statuses.append(client.eval(program).status)
            client.close()
        statuses = []
        threads = [threading.Thread(target=post) for _ in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses, [200] * (n * times))
        return n * times

    def test_tensor(self):
        self.client.put_array("x", numpy.zeros(100))
        n = self.race("x += 1")
        self.assertEqual(self.client.array("x").tolist(), [float(n)] * 100)

    def test_rebinding(self):
        self.client.put_array("x", numpy.zeros(100))
        n = self.race("x = x + 1")
        self.assertEqual(self.client.array("x").tolist(), [float(n)] * 100)

    def test_numbers_and_lists(self):
        self.client.eval("k = 0\nlog = []")
        n = self.race("k += 1\nlog.append(k)")
        self.assertEqual(self.number("k"), n)
        self.assertEqual([v["value"] for v in self.value("log")["values"]], list(range(1, n + 1)))

    def test_through_a_function(self):
        self.client.eval("state = {'n': 0}\ndef bump():\n    state['n'] += 1")
        n = self.race("bump()")
        self.assertEqual(self.number("state['n']"), n)

    def test_through_tensor(self):
        self.client.put_array("a.b", numpy.zeros(3))
        n = self.race("t = tensor('a' + '.b')\nt += 1\ndel t")
        self.assertEqual(self.client.array("a.b").tolist(), [float(n)] * 3)

    def test_draws_are_distinct(self):
        draws, lock = [], threading.Lock()

        def post():
            client = Client(self.server)
            for _ in range(10):
                data = client.eval("torch.rand(2, dtype=torch.float64)", "keep=").json()["data"]
                with lock:
                    draws.append(tuple(data))
            client.close()
        threads = [threading.Thread(target=post) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(draws), len(set(draws))), (60, 60))


class Modules(EvalCase):
    def setUp(self):
        super().setUp()
        self.client.eval("torch.manual_seed(0)\nnet = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))")

    def test_parameters_over_http(self):
        meta = self.client.get("/v1/tensors/net.0.weight/meta").json()
        self.assertEqual((meta["shape"], meta["dtype"]), ([4, 3], "float32"))
        weight = self.client.array("net.0.weight")
        self.assertEqual(self.value("net[0].weight")["data"], self.client.get("/v1/tensors/net.0.weight").json()["data"])
        self.assertOk(self.client.put("/v1/tensors/net.0.weight", (weight * 0 + 2).tolist()))
        self.assertEqual(self.value("net[0].weight.sum().item()")["value"], 24.0)
        self.assertOk(self.client.put("/v1/tensors/net.0.bias?index=1:3", [7.0, 8.0]))
        self.assertEqual(self.value("net[0].bias[1:3]")["data"], [7.0, 8.0])
        self.assertEqual(self.value("tensor('net.0.bias')[2]")["data"], 8.0)

    def test_parameters_are_fixed(self):
        self.assertProblem(self.client.put("/v1/tensors/net.0.weight", [[1.0, 2.0]]), 422, "shape")
        self.assertProblem(self.client.put("/v1/tensors/net.2.bias", [1, 2]), 422, "dtype")
        self.assertProblem(self.client.put("/v1/tensors/net.2.bias?dtype=float64", [1.0, 2.0]), 422, "dtype")
        self.assertProblem(self.client.delete("/v1/tensors/net.0.weight"), 409, "conflict")
        self.assertProblem(self.client.delete("/v1/names/net.0.weight"), 409, "conflict")
        self.assertEqual(self.client.get("/v1/tensors/net.0.weight").status, 200)

    def test_module_over_tensors(self):
        self.client.put("/v1/tensors/m.weight", [[1.0]])
        self.assertProblem(self.client.eval("m = nn.Linear(1, 1)"), 409, "conflict")
        self.assertEqual(self.client.array("m.weight").tolist(), [[1.0]])
        self.fails("m", "undefined")
        self.assertOk(self.client.eval("other = nn.Linear(1, 1)"))

    def test_names_under_a_module(self):
        self.assertOk(self.client.delete("/v1/names/net"))
        for name in ("net.0.weight", "net.0.bias", "net.2.weight"):
            self.assertProblem(self.client.get("/v1/tensors/" + name), 404, "not-found")

    def test_calls_over_requests(self):
        x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        self.client.put("/v1/tensors/x", x.tolist())
        w0, b0, w2, b2 = [self.client.array("net." + n) for n in ("0.weight", "0.bias", "2.weight", "2.bias")]
        expected = numpy.maximum(x @ w0.T + b0, 0) @ w2.T + b2
        numpy.testing.assert_allclose(self.value("net(x)")["data"], expected, rtol=1e-5, atol=1e-6)
        numpy.testing.assert_allclose(self.value("F.relu(F.linear(x, net[0].weight, net[0].bias))")["data"],
                                      numpy.maximum(x @ w0.T + b0, 0), rtol=1e-5, atol=1e-6)
        self.fails("net(x.T)", "shape")

    def test_structure(self):
        self.assertEqual(self.text("list(net.state_dict())"), "['0.weight', '0.bias', '2.weight', '2.bias']\n")
        self.assertEqual(self.text("[tuple(p.shape) for p in net.parameters()]"), "[(4, 3), (4,), (2, 4), (2,)]\n")
        self.assertEqual(self.text("(len(net), net[1], net[-1].in_features)"), "(3, ReLU(), 4)\n")
        self.assertEqual(self.text("(net.training, net.eval().training, net.train().training)"), "(True, False, True)\n")
        self.assertEqual(self.text("net"), "Sequential(\n  (0): Linear(in_features=3, out_features=4, bias=True)\n  (1): ReLU()\n"
                                           "  (2): Linear(in_features=4, out_features=2, bias=True)\n)\n")
        self.assertEqual(self.text("net[0].weight.requires_grad"), "True\n")

    def test_load_state_dict(self):
        self.client.eval("torch.manual_seed(5)\nother = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))")
        self.assertEqual(self.number("torch.equal(other[0].weight, net[0].weight)"), False)
        self.assertOk(self.client.eval("other.load_state_dict(net.state_dict())", "format=text"))
        self.assertEqual(self.number("torch.equal(other[0].weight, net[0].weight)"), True)
        self.assertEqual(self.number("other[0].weight.data_ptr() == net[0].weight.data_ptr()"), False)

    def test_in_place_needs_no_grad(self):
        self.assertTrue(400 <= self.client.eval("net[0].weight += 1").status < 500)
        before = self.client.array("net.0.weight")
        self.assertOk(self.client.eval("with torch.no_grad():\n    net[0].weight += 1"))
        numpy.testing.assert_allclose(self.client.array("net.0.weight"), before + 1, rtol=1e-6)

    def test_module_in_a_container(self):
        self.client.eval("zoo = {'a': net}")
        self.client.eval("with torch.no_grad():\n    zoo['a'][2].bias.fill_(3)")
        self.assertEqual(self.client.array("net.2.bias").tolist(), [3.0, 3.0])
