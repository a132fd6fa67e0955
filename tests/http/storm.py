# SPDX-License-Identifier: Apache-2.0
"""The ground of test_storm.py: a daemon of its own, the judge of answers, and what must be true after a storm."""
import json
import os
import random
import re
import threading
import unittest

from harness import Client, Server, wait_until

SEED = int(os.environ.get("TENSORD_STORM_SEED", "2"))
SCALE = float(os.environ.get("TENSORD_STORM_SCALE", "1"))  # more of everything, for a longer search
KINDS = {"malformed": 400, "forbidden": 403, "not-found": 404, "method": 405, "not-acceptable": 406,
         "conflict": 409, "cancelled": 409, "precondition": 412, "too-large": 413, "media-type": 415, "range": 416,
         "misdirected": 421, "shape": 422, "dtype": 422, "value": 422, "index": 422, "device": 422,
         "undefined": 422, "type": 422, "zero-division": 422, "overflow": 422, "name": 422, "limit": 422,
         "not-implemented": 501, "queue-full": 503, "draining": 503, "out-of-memory": 507}
OF_THE_SERVER = {"queue-full", "draining", "out-of-memory"}


def times(count):
    return max(1, int(count * SCALE))


def holdings(client):
    """Bytes of the distinct storages behind all names, by device."""
    seen, total, after = set(), {}, "/v1/tensors?limit=10000"
    while after:
        page = client.get(after).json()
        for tensor in page["tensors"]:
            group = min([tensor["name"], *tensor["shared_with"]])
            if group not in seen:
                seen.add(group)
                total[tensor["device"]] = total.get(tensor["device"], 0) + tensor["storage_bytes"]
        after = page["next"]
    return total


def chunks(got):
    """A chunked body at the start of got, and how many bytes it took."""
    at, body = 0, b""
    while True:
        match = re.compile(rb"([0-9A-Fa-f]+)\r\n").match(got, at)
        if not match:
            raise ValueError("no chunk: %r" % got[at:at + 100])
        length = int(match[1], 16)
        body += got[match.end():match.end() + length]
        at = match.end() + length + 2
        if got[at - 2:at] != b"\r\n":
            raise ValueError("an unfinished chunk: %r" % got[-100:])
        if length == 0:
            return body, at


def parse_responses(got):
    """Splits raw bytes into (status, headers, body); ValueError where they are no HTTP responses."""
    responses = []
    while got:
        head, separator, rest = got.partition(b"\r\n\r\n")
        if not separator:
            raise ValueError("an unfinished head: %r" % head[:200])
        lines = head.split(b"\r\n")
        match = re.fullmatch(rb"HTTP/1\.[01] (\d{3}) [ -~]*", lines[0])
        if not match:
            raise ValueError("no status line: %r" % lines[0][:200])
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon or not re.fullmatch(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
                raise ValueError("no header: %r" % line)
            headers[name.decode().lower()] = value.strip().decode()
        status = int(match[1])
        if status == 100:
            got = rest
            continue
        if rest.startswith(b"HTTP/1.") or not rest:  # of a HEAD
            length = 0
        elif headers.get("transfer-encoding") == "chunked":
            body, length = chunks(rest)
            responses.append((status, headers, body))
            got = rest[length:]
            continue
        else:
            length = int(headers.get("content-length", "0"))
        responses.append((status, headers, rest[:length]))
        got = rest[length:]
    return responses


class StormCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--idle-seconds", "5", "--memory", "256MiB")
        client = Client(cls.server)
        client.get("/v1")
        client.close()
        wait_until(lambda: False, 0.1)
        cls.quiet = cls.server.descriptors()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        self.random = random.Random(SEED)
        self.lock = threading.Lock()
        self.faults = []
        self.addCleanup(self.afterwards)

    # ---- what must be true of every answer and after every storm

    def judge(self, what, status, kind, body):
        """Notes an answer that a client's mistake must never get."""
        if status < 400:
            return
        if kind is None or KINDS.get(kind) != status or (status >= 500 and kind not in OF_THE_SERVER):
            with self.lock:
                self.faults.append((what, status, kind, body[:300]))

    def ask(self, client, method, target, body=None, **headers):
        answer = client.send(method, target, body, **headers)
        if method != "HEAD":
            self.judge((method, target, body if not isinstance(body, bytes) else body[:200]), answer.status,
                       answer.kind, answer.body)
        return answer

    def judge_raw(self, sent, got):
        try:
            responses = parse_responses(got)
        except ValueError as error:
            self.faults.append((sent[:300], str(error), got[:300]))
            return
        for status, headers, body in responses:
            kind = None
            if headers.get("content-type") == "application/problem+json" and body:
                kind = json.loads(body)["type"].rsplit("/", 1)[1]
            if status >= 500:
                self.judge(sent[:300], status, kind, body)

    def afterwards(self):
        self.assertIsNone(self.server.process.poll(), self.server.errors()[-4000:])
        client = Client(self.server)

        def idle():
            device = [d for d in client.get("/v1/devices").json()["devices"] if d["id"] == "cpu"][0]
            return device["queue"] == {"length": 0, "running": 0}
        self.assertTrue(wait_until(idle, 20), client.get("/v1/devices").body)

        def balanced():
            held = holdings(client)
            return all(d["memory"]["tensors"] == held.get(d["id"], 0)
                       for d in client.get("/v1/devices").json()["devices"])
        self.assertTrue(wait_until(balanced, 10), (holdings(client), client.get("/v1/devices").body))
        client.delete("/v1/tensors?prefix=")
        self.assertTrue(wait_until(balanced, 10), (holdings(client), client.get("/v1/devices").body))
        client.close()
        self.assertTrue(wait_until(lambda: self.server.descriptors() <= self.quiet, 20),
                        (self.quiet, self.server.descriptors()))
        self.assertNotIn("runtime error", self.server.errors())
        self.assertEqual(self.faults[:10], [])

    def together(self, *workers):
        threads = [threading.Thread(target=self.guarded, args=(worker, random.Random(SEED * 100 + i)))
                   for i, worker in enumerate(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertFalse(any(thread.is_alive() for thread in threads), "a client waits for ever")

    def guarded(self, worker, choose):
        try:
            worker(choose)
        except Exception as error:  # reported in afterwards, with what the daemon said
            with self.lock:
                self.faults.append((worker.__name__, repr(error)))
