# SPDX-License-Identifier: Apache-2.0
"""Faults of a CUDA device, injected into the simulator: what the client is told and what keeps working. On the
host alone there is one thing to show: without a driver the daemon starts and says why, once."""
import numpy

from harness import DEVICE, Client, Server, TestCase


class NoDriver(TestCase):
    def test_starts_on_the_host(self):
        with Server(devices="all", environment={"CUDASIM_DEVICES": "0"}) as server:
            self.assertEqual(server.devices, ["cpu"])
            client = Client(server)
            self.assertOk(client.put("/v1/tensors/x", [1]), 201)
            self.assertProblem(client.put("/v1/tensors/y?device=cuda:0", [1]), 422, "device")
            client.close()
            self.assertEqual(len([line for line in server.errors().split("\n") if "CUDA" in line or "cuda" in line]), 1)


if DEVICE != "cpu":
    class Injected(TestCase):
        def start(self, fault):
            return Server(environment={"CUDASIM_FAULT": fault})

        def test_sticky_fault(self):
            # 700 is cudaErrorIllegalAddress; the tenth launch fails and the context is gone.
            with self.start("cudaLaunchKernel:10:700") as server:
                client = Client(server)
                client.put("/v1/tensors/h", [1.0])
                client.put("/v1/tensors/x?device=cuda:0", [1.0, 2.0])
                answers = [client.op("add", "x", 1, out="y") for _ in range(20)]
                self.assertProblem(answers[-1], 500, "device-fault")
                self.assertOk(client.op("add", "h", 1, out="h2"))
                row = client.get("/v1/devices/cuda:0").json()
                self.assertEqual(row["state"], "failed")
                client.close()

        def test_out_of_memory_is_no_fault(self):
            with Server(environment={"CUDASIM_MEM_MB": "64"}) as server:
                client = Client(server)
                self.assertProblem(client.op("zeros", [1 << 26], device="cuda:0", out="x"), 507, "out-of-memory")
                self.assertOk(client.op("zeros", [1 << 20], device="cuda:0", out="x"))
                client.close()

        def test_two_devices(self):
            with Server(environment={"CUDASIM_DEVICES": "2"}) as server:
                self.assertEqual(server.devices, ["cpu", "cuda:0", "cuda:1"])
                client = Client(server)
                client.put("/v1/tensors/x?device=cuda:0", [1.0, 2.0])
                self.assertOk(client.op("to", "x", device="cuda:1", out="y"))
                problem = self.assertProblem(client.op("add", "x", "y"), 422, "device")
                self.assertIn("cuda:1", str(problem["devices"]))
                self.assertTensor(client.op("add", "y", "y"), [2.0, 4.0])
                self.assertEqual(client.op("add", "y", 1).json()["device"], "cuda:1")
                client.close()

        def test_read_back_keeps_memory_low(self):
            with Server(environment={"CUDASIM_MEM_MB": "512"}) as server:
                client = Client(server)
                self.assertOk(client.op("arange", 0, 1 << 24, device="cuda:0", dtype="float32", out="x"))
                got = client.array("x")
                self.assertEqual(got[12345678], 12345678.0)
                self.assertEqual(got.shape, (1 << 24,))
                client.close()
