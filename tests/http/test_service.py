# SPDX-License-Identifier: Apache-2.0
"""Pages about the server itself, devices, the catalogue, problems, the contract."""
import json

from harness import DEVICE, Client, Server, TestCase


class About(TestCase):
    def test_server(self):
        document = self.client.get("/v1").json()
        self.assertEqual(document["version"], "0.1.0")
        self.assertIn("limits", document)
        self.assertOk(self.client.get("/healthz"))
        self.assertOk(self.client.get("/readyz"))
        index = self.client.get("/")
        self.assertIn("text/html", index.headers["content-type"])
        self.assertIn("frame-ancestors 'none'", index.headers["content-security-policy"])

    def test_devices(self):
        document = self.client.get("/v1/devices").json()
        self.assertEqual([row["id"] for row in document["devices"]], self.server.devices)
        self.client.put("/v1/tensors/x?device=" + DEVICE, [0.0] * 1000)
        row = self.client.get("/v1/devices/" + DEVICE).json()
        self.assertEqual(row["id"], DEVICE)
        self.assertGreaterEqual(row["memory"]["tensors"], 4000)
        self.assertGreaterEqual(row["memory"]["total"], row["memory"]["used"])
        for member in ("kind", "name", "driver", "cuda", "processes", "state"):
            self.assertIn(member, row)
        self.assertEqual(set(row["queue"]), {"length", "running"})
        self.assertProblem(self.client.get("/v1/devices/cuda:99"), 404, "not-found")

    def test_empty_cache(self):
        self.client.put("/v1/tensors/x?device=" + DEVICE, [0.0] * 300000)
        self.client.delete("/v1/tensors/x")
        self.assertOk(self.client.post("/v1/devices/%s/empty-cache" % DEVICE))
        self.assertEqual(self.client.get("/v1/devices/" + DEVICE).json()["memory"]["cached"], 0)

    def test_catalogue(self):
        rows = {row["name"]: row for row in self.client.get("/v1/ops").json()["ops"]}
        self.assertIn("softmax", rows)
        self.assertEqual(self.client.get("/v1/ops/softmax").json()["name"], "softmax")
        self.assertProblem(self.client.get("/v1/ops/softmacks"), 404, "not-found")

    def test_problem_pages(self):
        for kind in ("shape", "malformed", "out-of-memory"):
            self.assertOk(self.client.get("/problems/" + kind))
        self.assertProblem(self.client.get("/problems/nonsense"), 404, "not-found")

    def test_contract(self):
        document = self.client.get("/openapi.json").json()
        self.assertTrue(document["openapi"].startswith("3."))
        self.assertIn("/v1/tensors/{name}", document["paths"])


class Browsers(TestCase):
    def test_hosts(self):
        for host in ("localhost", "127.0.0.1", "[::1]", "localhost:8080", "LOCALHOST"):
            self.assertOk(self.client.get("/v1", Host=host))
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.nip.io"):
            self.assertProblem(self.client.get("/v1", Host=host), 421, "misdirected")

    def test_origins(self):
        own = "http://127.0.0.1:%d" % self.server.port
        self.assertOk(self.client.get("/v1", Origin=own))
        self.assertOk(self.client.get("/v1", Origin=own, Sec_Fetch_Site="cross-site"))
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
            self.assertProblem(self.client.get("/v1", Origin=origin), 403, "forbidden")
        self.assertProblem(self.client.put("/v1/tensors/x", [1], Sec_Fetch_Site="cross-site"), 403, "forbidden")
        self.assertProblem(self.client.get("/v1", Sec_Fetch_Site="same-site"), 403, "forbidden")
        self.assertOk(self.client.get("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate"))
        self.assertOk(self.client.get("/v1", Sec_Fetch_Site="same-origin"))
        answer = self.client.post("/v1/ops/zeros", b'{"args": [[2]]}', Origin="https://evil.example",
                                  Content_Type="text/plain")
        self.assertProblem(answer, 403, "forbidden")
        self.assertNotIn("access-control-allow-origin", answer.headers)

    def test_allowed_origin(self):
        with Server("--origin", "https://lab.example", "--host", "gpu.lab", devices="cpu") as server:
            client = Client(server)
            answer = client.get("/v1", Origin="https://lab.example", Host="gpu.lab")
            self.assertOk(answer)
            self.assertEqual(answer.headers["access-control-allow-origin"], "https://lab.example")
            preflight = client.send("OPTIONS", "/v1/tensors/x", None, {
                "Origin": "https://lab.example", "Access-Control-Request-Method": "PUT"})
            self.assertEqual(preflight.status, 204)
            self.assertIn("PUT", preflight.headers["access-control-allow-methods"])
            client.close()


class Command(TestCase):
    def run_daemon(self, *flags, environment=None):
        import os
        import subprocess
        from harness import DAEMON
        return subprocess.run([DAEMON, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                              env={**os.environ, **(environment or {})})

    def test_version_and_usage(self):
        self.assertEqual(self.run_daemon("--version").stdout.decode().strip(), "tensord 0.1.0")
        self.assertIn(b"--listen", self.run_daemon("--help").stdout)
        for flags in (["--nonsense"], ["--listen"], ["--memory", "lots"], ["--listen", "127.0.0.1:99999"], ["extra"]):
            done = self.run_daemon(*flags)
            self.assertEqual(done.returncode, 2, flags)
            self.assertTrue(done.stderr)

    def test_public_bind_is_refused(self):
        done = self.run_daemon("--listen", "0.0.0.0:0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"token", done.stderr)

    def test_environment(self):
        self.assertEqual(self.run_daemon("--devices", "cpu", environment={"TENSORD_LISTEN": "nonsense"}).returncode, 2)

    def test_unix_socket(self):
        import subprocess
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/tensord.sock"
            with Server(listen="unix:" + path, devices="cpu"):
                out = subprocess.run(["curl", "-sS", "--unix-socket", path, "http://localhost/v1"], check=True,
                                     stdout=subprocess.PIPE).stdout
                self.assertEqual(json.loads(out)["version"], "0.1.0")

    def test_token(self):
        import os
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "token")
            with open(path, "w") as file:
                file.write("correct-horse-battery\n")
            with Server("--token-file", path, devices="cpu") as server:
                client = Client(server)
                self.assertOk(client.get("/healthz"))
                for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"},
                               {"Authorization": "Bearer " + "x" * 5000}):
                    answer = client.send("GET", "/v1/tensors", None, header)
                    self.assertProblem(answer, 401, "unauthorized")
                    self.assertIn("Bearer", answer.headers["www-authenticate"])
                self.assertOk(client.send("GET", "/v1/tensors", None, {"Authorization": "Bearer correct-horse-battery"}))
                client.close()
                self.assertNotIn("correct-horse", server.errors())
