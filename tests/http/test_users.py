# SPDX-License-Identifier: Apache-2.0
"""Users: tokens, name spaces of their own, quotas, rates, what is for administrators, and a users file that changes
under load. Digests are hashlib's."""
import hashlib
import json
import os
import re
import signal
import stat
import subprocess
import tempfile
import threading
import time

import numpy

from harness import DAEMON, DEVICE, Client, Server, TestCase, exchange, raw_status, wait_until

TOKENS = {name: "token-of-" + name for name in ("ann", "bob", "root", "tiny", "slow", "none")}


def user(name, **more):
    return {"name": name, "token_sha256": hashlib.sha256(TOKENS[name].encode()).hexdigest(), **more}


class UserClient(Client):
    """A client that sends a user's token with everything."""

    def __init__(self, server, name, token=None, timeout=60):
        super().__init__(server, timeout)
        self.token = token or TOKENS.get(name, name)

    def send(self, method, target, body=None, headers=None, **more):
        headers = {"Authorization": "Bearer " + self.token, **(headers or {})}
        return super().send(method, target, body, headers, **more)


class UsersFile:
    def __init__(self, users, mode=0o600):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "users.json")
        self.write(users, mode)

    def write(self, users, mode=0o600):
        text = users if isinstance(users, str) else json.dumps({"users": users})
        with open(self.path + ".new", "w") as file:
            file.write(text)
        os.chmod(self.path + ".new", mode)
        os.rename(self.path + ".new", self.path)


class UsersCase(TestCase):
    """A daemon with users for each test class."""
    USERS = [user("ann"), user("bob"), user("root", admin=True)]
    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.file = UsersFile(cls.USERS)
        cls.users_server = Server("--users", cls.file.path, *cls.FLAGS)

    @classmethod
    def tearDownClass(cls):
        cls.users_server.stop()
        cls.file.folder.cleanup()

    @property
    def server(self):
        return self.users_server

    def setUp(self):
        self.clients = {}
        self.addCleanup(lambda: [c.close() for c in self.clients.values()])

    def as_user(self, name):
        if name not in self.clients:
            self.clients[name] = UserClient(self.server, name)
        return self.clients[name]

    def reload(self, expected):
        """SIGHUP, and waits for the line in the log."""
        before = self.server.errors().count(expected)
        self.server.process.send_signal(signal.SIGHUP)
        self.assertTrue(wait_until(lambda: self.server.errors().count(expected) > before), self.server.errors())


class Tokens(UsersCase):
    def test_open_pages(self):
        client = Client(self.server)
        for path in ("/healthz", "/readyz", "/openapi.json", "/problems/quota", "/"):
            self.assertOk(client.get(path))
            self.assertOk(client.get(path, Authorization="Bearer wrong"))
        client.close()

    def test_wrong_and_missing(self):
        client = Client(self.server)
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer"},
                        {"Authorization": "Basic " + TOKENS["ann"]}, {"Authorization": TOKENS["ann"]},
                        {"Authorization": "Bearer " + TOKENS["ann"] + "x"},
                        {"Authorization": "Bearer " + user("ann")["token_sha256"]},
                        {"Authorization": "Bearer " + "x" * 20000}):
            for method, path in (("GET", "/v1/tensors"), ("PUT", "/v1/tensors/x"), ("GET", "/v1"), ("GET", "/nothing"),
                                 ("GET", "/v1/users"), ("GET", "/metrics"), ("OPTIONS", "/v1/tensors")):
                answer = client.send(method, path, b"[1]" if method == "PUT" else None, headers)
                self.assertEqual(answer.status, 401, (headers, method, path))
                self.assertEqual(answer.kind, "unauthorized")
                self.assertEqual(answer.headers["www-authenticate"], "Bearer")
        client.close()

    def test_huge_token(self):
        head = b"GET /v1/tensors HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
        got = exchange(self.server, head + b"x" * (1 << 20) + b"\r\n\r\n")
        self.assertIn(raw_status(got), (None, 400, 401, 413, 431))  # the headers end before it does
        self.assertOk(self.as_user("ann").get("/v1/tensors"))

    def test_tokens_are_not_logged(self):
        self.as_user("ann").get("/v1/tensors")
        client = UserClient(self.server, None, "wrong-horse")
        client.get("/v1/tensors")
        client.close()
        for secret in ("wrong-horse", *TOKENS.values(), user("ann")["token_sha256"]):
            self.assertNotIn(secret, self.server.errors())

    def test_new_token(self):
        done = subprocess.run([DAEMON, "token", "carol"], stdout=subprocess.PIPE, check=True)
        token, line = done.stdout.decode().splitlines()
        entry = json.loads(line)
        self.assertEqual(entry, {"name": "carol", "token_sha256": hashlib.sha256(token.encode()).hexdigest()})
        for name in ("Carol", "", "c.d", "c" * 33):
            self.assertEqual(subprocess.run([DAEMON, "token", name], stderr=subprocess.PIPE).returncode, 2)


class Spaces(UsersCase):
    """What ann has is not there for bob, by any road."""

    def setUp(self):
        super().setUp()
        self.ann, self.bob = self.as_user("ann"), self.as_user("bob")
        for client in (self.ann, self.bob):
            client.clear_names()
        self.assertOk(self.ann.put("/v1/tensors/x?device=" + DEVICE, [1.0, 2.0]), 201)
        self.assertOk(self.ann.eval("net = torch.nn.Linear(2, 2)\nn = 5"))

    def test_every_route(self):
        bob = self.bob
        self.assertProblem(bob.get("/v1/tensors/x"), 404, "not-found")
        self.assertProblem(bob.get("/v1/tensors/x.npy"), 404, "not-found")
        self.assertEqual(bob.send("HEAD", "/v1/tensors/x").status, 404)
        self.assertProblem(bob.get("/v1/tensors/x?index=0"), 404, "not-found")
        self.assertProblem(bob.get("/v1/tensors/x/meta"), 404, "not-found")
        self.assertProblem(bob.send("PATCH", "/v1/tensors/x/meta", {"readonly": True}), 404, "not-found")
        self.assertProblem(bob.post("/v1/tensors/x/to", {"dtype": "float64"}), 404, "not-found")
        self.assertProblem(bob.put("/v1/tensors/x?index=0", 5), 404, "not-found")
        self.assertProblem(bob.delete("/v1/tensors/x"), 404, "not-found")
        for name in ("x", "net", "n", "net.weight"):
            self.assertProblem(bob.delete("/v1/names/" + name), 404, "not-found")
        self.assertProblem(bob.op("add", "x", 1), 422, "undefined")
        self.assertProblem(bob.eval("x + 1"), 422, "undefined")
        self.assertProblem(bob.eval("n"), 422, "undefined")
        self.assertProblem(bob.eval("tensor('x')"), 422, "undefined")
        self.assertEqual(bob.get("/v1/tensors").json()["tensors"], [])
        self.assertEqual(bob.get("/v1/names").json()["names"], [])
        self.assertNotIn(b"x", bob.get("/v1/tensors.txt").body.split(b"\n", 1)[1])
        # Nearest names are one's own.
        self.assertNotIn("nearest", bob.op("add", "xx", 1).json())
        # Nothing of it touched ann's.
        self.assertTensor(self.ann.get("/v1/tensors/x"), [1.0, 2.0])

    def test_same_names(self):
        self.assertOk(self.bob.put("/v1/tensors/x?device=" + DEVICE, [7], **{"If-None-Match": "*"}), 201)
        self.assertOk(self.bob.op("add_", "x", 1))
        self.assertTensor(self.ann.get("/v1/tensors/x"), [1.0, 2.0])
        self.assertEqual(self.bob.delete("/v1/tensors?prefix=").json()["deleted"], 1)
        self.assertTensor(self.ann.get("/v1/tensors/x"), [1.0, 2.0])

    def test_same_tags_do_not_match(self):
        self.bob.put("/v1/tensors/x", [1.0, 2.0])
        tag = self.ann.get("/v1/tensors/x").headers["etag"]
        self.assertProblem(self.bob.put("/v1/tensors/x", [3.0], **{"If-Match": tag}), 412, "precondition")

    def test_shared_with_is_ones_own(self):
        self.ann.op("reshape", "x", [2, 1], out="view")
        self.assertEqual(self.ann.get("/v1/tensors/x/meta").json()["shared_with"], ["view"])
        self.bob.put("/v1/tensors/x", [1.0])
        self.assertEqual(self.bob.get("/v1/tensors/x/meta").json()["shared_with"], [])

    def test_memory_is_not_shown(self):
        """What ann freed is nowhere to be seen in memory that bob gets uninitialised."""
        for count in (100, 30000, 1000000):
            for _ in range(3):
                self.assertOk(self.ann.op("full", [count], 7.5, device=DEVICE, out="secret"))
                self.assertOk(self.ann.delete("/v1/tensors/secret"))
            program = "[torch.empty(%d, device='%s').abs().max().item(), np.empty(%d).max().item()]"
            answer = self.assertOk(self.bob.eval(program % (count, DEVICE, count))).json()
            self.assertEqual([row["value"] for row in answer["values"]], [0.0, 0.0])

    def test_generators(self):
        for client in (self.ann, self.bob):
            self.assertOk(client.eval("torch.manual_seed(7)\nNone"))
        first = self.ann.eval("torch.rand(3)").json()["data"]
        second = self.ann.eval("torch.rand(3)").json()["data"]
        self.assertNotEqual(first, second)
        self.assertEqual(self.bob.eval("torch.rand(3)").json()["data"], first)
        self.assertEqual(self.bob.eval("torch.rand(3)").json()["data"], second)


class Administration(UsersCase):
    USERS = [user("ann", weight=2.5, memory="1MiB", device_memory=1 << 20), user("root", admin=True)]

    def test_only_for_administrators(self):
        for method, path in (("GET", "/v1/users"), ("GET", "/v1/queue"), ("POST", "/v1/devices/cpu/empty-cache"),
                             ("POST", "/v1/devices/nothing/empty-cache")):
            self.assertProblem(self.as_user("ann").send(method, path), 403, "forbidden")
        self.assertOk(self.as_user("root").post("/v1/devices/cpu/empty-cache"))
        # In a program it does nothing for others, so that a cell runs as it stands.
        for name in ("ann", "root"):
            self.assertOk(self.as_user(name).eval("torch.cuda.empty_cache()"))
        self.assertProblem(self.as_user("root").post("/v1/devices/nothing/empty-cache"), 404, "not-found")

    def test_users(self):
        self.as_user("ann").delete("/v1/tensors?prefix=")
        self.as_user("ann").put_array("x", numpy.zeros(1000, numpy.float32))
        document = self.as_user("root").get("/v1/users").json()
        ann, root = document["users"]
        self.assertEqual((ann["name"], ann["weight"], ann["queued"], ann["running"]), ("ann", 2.5, 0, 0))
        self.assertEqual(list(ann["memory"]), self.server.devices)
        for device, row in ann["memory"].items():
            self.assertEqual(row, {"used": 4000 if device == DEVICE else 0, "reserved": 0, "limit": 1 << 20})
        self.assertEqual((root["name"], root["weight"], root["memory"]["cpu"]["limit"]), ("root", 1, None))
        self.assertGreaterEqual(ann["requests"], 2)
        self.assertEqual(ann["refused"], 0)

    def test_queue(self):
        rows = self.as_user("root").get("/v1/queue").json()["devices"]
        self.assertEqual([row["id"] for row in rows], self.server.devices)
        self.assertEqual(rows[0], {"id": "cpu", "waiting": 0, "running": 0})


class Anonymous(TestCase):
    def test_is_an_administrator(self):
        users = self.client.get("/v1/users").json()["users"]
        self.assertEqual([row["name"] for row in users], [""])
        self.assertEqual(self.client.get("/v1/queue").json()["devices"][0]["id"], "cpu")


class Quotas(UsersCase):
    USERS = [user("ann", memory="64KiB", device_memory="64KiB"), user("none", memory=0, device_memory=0), user("bob"),
             user("root", admin=True)]

    def usage(self, name):
        for row in self.as_user("root").get("/v1/users").json()["users"]:
            if row["name"] == name:
                return row["memory"][DEVICE]

    def test_over_quota(self):
        ann = self.as_user("ann")
        ann.delete("/v1/tensors?prefix=")
        self.assertOk(ann.op("zeros", [8000], device=DEVICE, out="x"))
        problem = self.assertProblem(ann.op("zeros", [9000], device=DEVICE, out="y"), 507, "quota")
        self.assertEqual((problem["required_bytes"], problem["available_bytes"]), (36000, 65536 - 32000))
        self.assertProblem(ann.op("zeros", [16385], device=DEVICE), 507, "quota")
        self.assertProblem(ann.eval("y = torch.zeros(9000, device='%s')" % DEVICE), 507, "quota")
        if DEVICE == "cpu":
            self.assertProblem(ann.put("/v1/tensors/y?dtype=float32&shape=9000", b"\0" * 36000), 507, "quota")
        # Others are not touched by it, and what was refused left nothing behind.
        self.assertOk(self.as_user("bob").op("zeros", [100000], device=DEVICE, out="x"))
        self.assertEqual(self.usage("ann"), {"used": 32000, "reserved": 0, "limit": 65536})
        ann.delete("/v1/tensors/x")
        self.assertOk(ann.op("zeros", [16384], device=DEVICE, out="y"))
        ann.delete("/v1/tensors/y")
        self.assertEqual(self.usage("ann")["used"], 0)

    def test_quota_of_zero(self):
        none = self.as_user("none")
        problem = self.assertProblem(none.op("zeros", [1], device=DEVICE, out="x"), 507, "quota")
        self.assertEqual((problem["required_bytes"], problem["available_bytes"]), (4, 0))
        self.assertProblem(none.put("/v1/tensors/x", [1.0]), 507, "quota")
        self.assertOk(none.get("/v1/tensors"))
        self.assertEqual(self.usage("none")["used"], 0)

    def test_program_values_count(self):
        self.assertProblem(self.as_user("ann").eval("a = list(range(1000000))"), 507, "quota")

    def test_waits_for_its_own(self):
        """Requests that fit one after the other wait for each other instead of being refused."""
        ann = self.as_user("ann")
        ann.delete("/v1/tensors?prefix=")
        answers = []

        def run():
            client = UserClient(self.server, "ann")
            for _ in range(20):
                answers.append(client.op("mul", [[1.0] * 40] * 40, 2, form="npy").status)
            client.close()
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # A body that holds memory does not wait: it is told to come back.
        self.assertLessEqual(set(answers), {200, 503})
        self.assertIn(200, answers)
        self.assertTrue(wait_until(lambda: self.usage("ann")["reserved"] == 0 and self.usage("ann")["used"] == 0))


class Rates(UsersCase):
    USERS = [user("slow", rate=5), user("tiny", rate=0.01), user("bob")]

    def test_flood(self):
        slow = self.as_user("slow")
        answers = [slow.get("/v1/tensors") for _ in range(30)]
        refused = [a for a in answers if a.status == 429]
        self.assertEqual([a.status for a in answers[:5]], [200] * 5)
        self.assertGreaterEqual(len(refused), 15)
        self.assertEqual({a.status for a in answers}, {200, 429})
        self.assertProblem(refused[0], 429, "rate")
        self.assertEqual(refused[0].headers["retry-after"], "1")
        self.assertEqual(refused[0].headers["ratelimit-policy"], '"requests";q=5;w=1')
        self.assertRegex(refused[0].headers["ratelimit"], r'^"requests";r=0;t=1$')
        # Bodies, too, and the connection stays.
        local = slow.connection.sock.getsockname()
        for _ in range(10):
            last = slow.put("/v1/tensors/x", [1.0] * 1000)
        self.assertEqual(slow.connection.sock.getsockname(), local)
        self.assertIn(last.status, (200, 201, 429))
        self.assertOk(self.as_user("bob").get("/v1/tensors"))
        self.assertOk(Client(self.server).get("/healthz"))

    def test_slower_than_one_a_second(self):
        tiny = self.as_user("tiny")
        tiny.get("/v1/tensors")
        answer = tiny.get("/v1/tensors")
        self.assertProblem(answer, 429, "rate")
        self.assertEqual(answer.headers["ratelimit-policy"], '"requests";q=1;w=100')
        self.assertIn(int(answer.headers["retry-after"]), range(90, 101))
        self.assertEqual(answer.json()["retry_after"], int(answer.headers["retry-after"]))


class Queue(UsersCase):
    USERS = [user("ann", max_queued=2, max_running=1), user("root", admin=True)]

    def test_queue_is_bounded(self):
        """One long program runs, two wait, the rest is told to come back; nobody is dropped."""
        answers = []
        program = "s = 0\nfor i in range(%d):\n    s += 1\ns"

        def run(count):
            client = UserClient(self.server, "ann")
            answers.append(client.eval(program % count, "keep=").status)
            client.close()
        first = threading.Thread(target=run, args=(6000000,))
        first.start()

        def row():
            return self.as_user("root").get("/v1/users").json()["users"][0]
        self.assertTrue(wait_until(lambda: row()["running"] == 1))
        rest = [threading.Thread(target=run, args=(1000,)) for _ in range(6)]
        for thread in rest:
            thread.start()
        self.assertTrue(wait_until(lambda: len(answers) >= 4 or not first.is_alive()))
        self.assertLessEqual(row()["queued"], 2)
        for thread in [first, *rest]:
            thread.join()
        self.assertEqual(sorted(answers), [200] * 3 + [503] * 4)
        self.assertTrue(wait_until(lambda: (row()["queued"], row()["running"]) == (0, 0)))


class Reload(UsersCase):
    def tearDown(self):
        self.file.write(self.USERS)
        self.reload("users read")

    def test_revoked_and_back(self):
        ann = self.as_user("ann")
        ann.put("/v1/tensors/kept", [1.0])
        self.file.write([user("bob"), user("root", admin=True)])
        self.reload("users read")
        self.assertProblem(ann.get("/v1/tensors/kept"), 401, "unauthorized")
        self.assertOk(self.as_user("bob").get("/v1/tensors"))
        names = [row["name"] for row in self.as_user("root").get("/v1/users").json()["users"]]
        self.assertIn("ann", names)  # her tensors stay until the process ends
        self.file.write([{"name": "ann", "token_sha256": hashlib.sha256(b"another").hexdigest()}, *self.USERS[1:]])
        self.reload("users read")
        self.assertProblem(ann.get("/v1/tensors/kept"), 401, "unauthorized")
        again = UserClient(self.server, None, "another")
        self.assertTensor(again.get("/v1/tensors/kept"), [1.0])
        again.delete("/v1/tensors/kept")
        again.close()

    def test_bad_files_keep_the_old_one(self):
        good = json.dumps({"users": self.USERS})
        for bad in ("", good[:-3], good + "x", '{"users": [{"name": "ann"}]}',
                    json.dumps({"users": [user("ann"), user("ann")]}), json.dumps({"users": [user("ann", colour=1)]})):
            self.file.write(bad)
            self.reload("users not read")
            self.assertOk(self.as_user("ann").get("/v1/tensors"))
        os.unlink(self.file.path)
        self.reload("users not read")
        self.assertIn("No such file", self.server.errors().splitlines()[-1])
        self.assertOk(self.as_user("ann").get("/v1/tensors"))

    def test_world_readable_is_told(self):
        self.file.write(self.USERS, 0o644)
        self.reload("can be read by everybody")
        self.assertOk(self.as_user("ann").get("/v1/tensors"))

    def test_settings_change(self):
        self.file.write([user("ann", memory=100, device_memory=100), *self.USERS[1:]])
        self.reload("users read")
        self.assertProblem(self.as_user("ann").op("zeros", [26], device=DEVICE), 507, "quota")
        self.file.write(self.USERS)
        self.reload("users read")
        self.assertOk(self.as_user("ann").op("zeros", [26], device=DEVICE))

    def test_under_load(self):
        """Requests go on while the file is read again and again: bob is never refused, carol comes and goes."""
        stop, answers, errors = threading.Event(), {"bob": set(), "ann": set()}, []

        def run(name):
            client = UserClient(self.server, name)
            try:
                while not stop.is_set():
                    answers[name].add(client.op("add", [1.0, 2.0], 1).status)
            except Exception as error:  # a dropped connection, say
                errors.append(error)
            client.close()
        threads = [threading.Thread(target=run, args=(name,)) for name in ("bob", "bob", "ann", "ann")]
        for thread in threads:
            thread.start()
        for round in range(30):
            self.file.write(self.USERS[1:] if round % 3 == 1 else self.USERS if round % 3 else self.USERS[:2] + [{}])
            self.server.process.send_signal(signal.SIGHUP)
            time.sleep(0.01)
        stop.set()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        self.assertEqual(answers["bob"], {200})
        self.assertLessEqual(answers["ann"], {200, 401})


class Start(TestCase):
    def start(self, text, mode=0o600, *flags):
        file = UsersFile(text, mode)
        self.addCleanup(file.folder.cleanup)
        return subprocess.run([DAEMON, "--devices", "cpu", "--listen", "127.0.0.1:0", "--users", file.path, *flags],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)

    def test_bad_files(self):
        for text in ("", "{}", '{"users": [{"name": "Ann"}]}', json.dumps({"users": [user("ann"), user("ann")]})):
            done = self.start(text)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(b"--users", done.stderr)
        done = self.start("{}", 0o600, "--token-file", "/dev/null")
        self.assertEqual(done.returncode, 2)

    def test_public_bind(self):
        file = UsersFile([user("ann")])
        self.addCleanup(file.folder.cleanup)
        with Server("--users", file.path, "--insecure-public", listen="0.0.0.0:0", devices="cpu") as server:
            client = UserClient(server, "ann")
            self.assertOk(client.get("/v1/tensors"))
            client.close()

    def test_world_readable(self):
        file = UsersFile([user("ann")], stat.S_IRUSR | stat.S_IROTH)
        self.addCleanup(file.folder.cleanup)
        with Server("--users", file.path, devices="cpu") as server:
            self.assertEqual(len(re.findall("can be read by everybody", server.errors())), 1)
