# SPDX-License-Identifier: Apache-2.0
"""The server's problems as Python exceptions."""


class Problem(Exception):
    """A problem document. kind is the last part of its type, document the whole of it; line and column are the place in
    the program, nearest the right name, each None where the problem has none."""

    def __init__(self, document):
        super().__init__(document.get("detail") or document.get("title") or "unknown problem")
        self.document = document
        self.kind = document.get("type", "").rsplit("/", 1)[-1]
        self.status, self.nearest = document.get("status"), document.get("nearest")
        self.line, self.column = document.get("line"), document.get("column")
        if isinstance(self, SyntaxError):
            self.filename, self.lineno, self.offset = "<program>", self.line, self.column


# Python's own exception for each kind; kinds not listed are plain Problems.
KINDS = {
    "not-found": LookupError, "undefined": NameError, "index": IndexError, "type": TypeError,
    "syntax": SyntaxError, "attribute": AttributeError, "key": KeyError, "assertion": AssertionError,
    "overflow": OverflowError, "shape": ValueError, "dtype": TypeError, "value": ValueError, "name": ValueError, "device": ValueError,
    "malformed": ValueError, "limit": ValueError, "too-large": ValueError, "zero-division": ZeroDivisionError,
    "forbidden": PermissionError, "unauthorized": PermissionError, "conflict": FileExistsError,
    "precondition": RuntimeError, "out-of-memory": MemoryError, "device-fault": RuntimeError,
    "not-implemented": NotImplementedError, "queue-full": TimeoutError, "draining": ConnectionError,
}
_classes = {}


def make(document):
    """The exception to raise for a problem document."""
    kind = document.get("type", "").rsplit("/", 1)[-1]
    base = KINDS.get(kind)
    if base is None:
        return Problem(document)
    if kind not in _classes:
        name = "".join(word.title() for word in kind.split("-")) + "Problem"
        _classes[kind] = type(name, (Problem, base), {"__str__": Exception.__str__})
    return _classes[kind](document)
