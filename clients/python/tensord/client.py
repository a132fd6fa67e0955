# SPDX-License-Identifier: Apache-2.0
"""The connection: one keep-alive HTTP connection per Client. Not for use by several threads at once."""
import http.client
import io
import json
import time
import urllib.parse

import numpy

from .problems import make
from .values import array, plain, value

RETRIES = 5  # of requests the server refused with 503 before it did anything


def connect(url="http://localhost:8080", token=None, timeout=None):
    """A Client of the server at url. token: sent as a bearer token."""
    return Client(url, token, timeout)


def _query(**parameters):
    given = {name: value for name, value in parameters.items() if value is not None}
    return "?" + urllib.parse.urlencode(given, safe=":,") if given else ""


def _tensor(name):
    """The path of a tensor; the name is quoted, so that no character of it means something to HTTP."""
    return "/v1/tensors/" + urllib.parse.quote(name, safe=":")


class Client:
    def __init__(self, url, token=None, timeout=None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("not an http or https URL: %r" % url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._base = parts.path.rstrip("/")
        self._headers = {"Authorization": "Bearer " + token} if token else {}
        self.printed = []  # lines that the last program printed

    def close(self):
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def request(self, method, target, body=None, **headers):
        """One request; the body of its answer. 503 is tried again after Retry-After, other problems are raised."""
        for attempt in range(RETRIES + 1):
            status, got, content = self._exchange(method, target, body, headers)
            if status < 400:
                return content
            if status != 503 or attempt == RETRIES:
                break
            time.sleep(min(float(got.get("Retry-After", 1)), 30))
        try:
            document = json.loads(content)
        except ValueError:
            document = {"title": "HTTP status %d" % status, "status": status}
        raise make(document)

    def _exchange(self, method, target, body, headers):
        headers = {**self._headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        for fresh in (False, True):
            reused = self._connection.sock is not None
            try:
                self._connection.request(method, self._base + target, body, headers)
                answer = self._connection.getresponse()
                return answer.status, answer.headers, answer.read()
            except BaseException as error:
                self._connection.close()  # whatever happened, the next request starts anew
                if not isinstance(error, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)):
                    raise
                # The server closes idle connections; only what is safe to repeat is sent again.
                if fresh or not reused or method not in ("GET", "HEAD", "PUT", "DELETE"):
                    raise

    def put(self, name, data, device=None, dtype=None, index=None):
        """Creates or replaces name (or the part index of it) from anything numpy.asarray takes; its description."""
        file = io.BytesIO()
        numpy.save(file, numpy.asarray(data), allow_pickle=False)
        query = _query(device=device, dtype=dtype, index=index)
        return json.loads(self.request("PUT", _tensor(name) + query, file.getbuffer(),
                                       Content_Type="application/x-npy"))

    def get(self, name, index=None, dtype=None):
        """The tensor, or the part index of it, as an array. bfloat16 comes as float32."""
        content = self.request("GET", _tensor(name) + _query(index=index, dtype=dtype),
                               Accept="application/x-npy")
        return numpy.load(io.BytesIO(content), allow_pickle=False)

    def op(self, name, *args, out=None, **kwargs):
        """Runs an operation. Strings name tensors; arrays travel inline. With out the description(s), else the value(s)
        as array(s)."""
        body = {"args": [plain(a) for a in args]}
        if kwargs:
            body["kwargs"] = {key: plain(value) for key, value in kwargs.items()}
        if out is not None:
            body["out"] = out
        answer = json.loads(self.request("POST", "/v1/ops/" + urllib.parse.quote(name, safe=""), json.dumps(body).encode(),
                                         Content_Type="application/json"))
        if out is not None:
            return answer
        return tuple(array(v) for v in answer["values"]) if "values" in answer else array(answer)

    def eval(self, program, inputs=None, keep=None, format=None):
        """Runs a program: the value of its last line if that is an expression (see values.value), else the descriptions
        {name: {...}} of the names it leaves.

        inputs: {name: array or number} for this program alone. keep: which of the names assigned at top level stay (all
        of them unless given; [] none). format: "npy" fetches a result that is a tensor as npy, much faster for
        a large one; "text" answers what Python's prompt would show, printed lines first. The lines that the program printed
        are in self.printed afterwards (not with a format)."""
        body = {"program": program}
        if inputs:
            body["inputs"] = {name: plain(item) for name, item in inputs.items()}
        if keep is not None:
            keep = keep if isinstance(keep, str) else ",".join(keep)
        self.printed = []
        try:
            content = self.request("POST", "/v1/eval" + _query(keep=keep, format=format), json.dumps(body).encode(),
                                   Content_Type="application/json")
        except SyntaxError as error:
            lines = program.split("\n")
            if error.lineno and error.lineno <= len(lines):
                error.text = lines[error.lineno - 1]  # what a traceback shows
            raise
        if format == "npy":
            return numpy.load(io.BytesIO(content), allow_pickle=False)
        if format is not None:
            return content.decode()
        answer = json.loads(content)
        self.printed = answer.get("printed", [])
        return answer["names"] if "names" in answer else value(answer)

    def delete(self, name):
        """Frees the tensor name: {"deleted", "bytes"}."""
        return json.loads(self.request("DELETE", _tensor(name)))

    def describe(self, name):
        """The description of name."""
        return json.loads(self.request("GET", _tensor(name) + "/meta"))

    def names(self, prefix=None):
        """Everything that has a name, in order: {name: kind}, kind one of tensor, module, value, function."""
        found, target = {}, "/v1/names" + _query(prefix=prefix)
        while target:
            page = json.loads(self.request("GET", target))
            found.update((row["name"], row["kind"]) for row in page["names"])
            target = page["next"]
        return found

    def delete_name(self, name):
        """Frees a name of any kind: {"deleted", "bytes"}."""
        return json.loads(self.request("DELETE", "/v1/names/" + urllib.parse.quote(name, safe=":")))

    def devices(self):
        return json.loads(self.request("GET", "/v1/devices"))["devices"]
