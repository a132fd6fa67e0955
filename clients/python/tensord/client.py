# SPDX-License-Identifier: Apache-2.0
"""The connection: one keep-alive HTTP connection per Client. Not for use by several threads at once."""
import http.client
import io
import json
import time
import urllib.parse

import numpy

from .problems import make

RETRIES = 5  # of requests the server refused with 503 before it did anything


def connect(url="http://localhost:8080", token=None, timeout=None):
    """A Client of the server at url. token: sent as a bearer token."""
    return Client(url, token, timeout)


def _query(**parameters):
    given = {name: value for name, value in parameters.items() if value is not None}
    return "?" + urllib.parse.urlencode(given, safe=":,") if given else ""


def _plain(argument):
    """An argument as JSON: arrays become inline tensors, NumPy scalars numbers, dtypes their names; inside lists too."""
    if isinstance(argument, numpy.ndarray):
        return {"data": argument.ravel().tolist(), "shape": list(argument.shape), "dtype": str(argument.dtype)}
    if isinstance(argument, numpy.generic):
        return argument.item()
    if isinstance(argument, numpy.dtype) or isinstance(argument, type) and issubclass(argument, numpy.generic):
        return numpy.dtype(argument).name
    if isinstance(argument, (list, tuple)):
        return [_plain(item) for item in argument]
    return argument


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

    def put(self, name, array, device=None, dtype=None, index=None):
        """Creates or replaces name (or the part index of it) from anything numpy.asarray takes; its description."""
        file = io.BytesIO()
        numpy.save(file, numpy.asarray(array), allow_pickle=False)
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
        body = {"args": [_plain(a) for a in args]}
        if kwargs:
            body["kwargs"] = {key: _plain(value) for key, value in kwargs.items()}
        if out is not None:
            body["out"] = out
        answer = json.loads(self.request("POST", "/v1/ops/" + urllib.parse.quote(name, safe=""), json.dumps(body).encode(),
                                         Content_Type="application/json"))
        if out is not None:
            return answer
        return tuple(_array(v) for v in answer["values"]) if "values" in answer else _array(answer)

    def delete(self, name):
        """Frees name: {"deleted", "bytes"}."""
        return json.loads(self.request("DELETE", _tensor(name)))

    def describe(self, name):
        """The description of name."""
        return json.loads(self.request("GET", _tensor(name) + "/meta"))

    def names(self, prefix=None):
        """All tensors' names, sorted."""
        found, target = [], "/v1/tensors" + _query(prefix=prefix)
        while target:
            page = json.loads(self.request("GET", target))
            found += [row["name"] for row in page["tensors"]]
            target = page["next"]
        return found

    def devices(self):
        return json.loads(self.request("GET", "/v1/devices"))["devices"]


_SPECIAL = {"NaN": numpy.nan, "Infinity": numpy.inf, "-Infinity": -numpy.inf}


def _array(answer):
    """A JSON value as an array. Large integers and non-finite floats come as strings."""
    dtype = "float32" if answer["dtype"] == "bfloat16" else answer["dtype"]

    def number(value):
        if isinstance(value, str):
            return _SPECIAL[value] if value in _SPECIAL else int(value)
        return [number(v) for v in value] if isinstance(value, list) else value
    return numpy.array(number(answer["data"]), dtype=dtype).reshape(answer["shape"])
