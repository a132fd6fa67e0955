# SPDX-License-Identifier: Apache-2.0
"""Arguments to JSON, and the server's JSON answers to Python values and NumPy arrays."""
import numpy

_SPECIAL = {"NaN": numpy.nan, "Infinity": numpy.inf, "-Infinity": -numpy.inf}


def plain(argument):
    """An argument as JSON: arrays become inline tensors, NumPy scalars numbers, dtypes their names; inside lists too."""
    if isinstance(argument, numpy.ndarray):
        return {"data": argument.ravel().tolist(), "shape": list(argument.shape), "dtype": str(argument.dtype)}
    if isinstance(argument, numpy.generic):
        return argument.item()
    if isinstance(argument, numpy.dtype) or isinstance(argument, type) and issubclass(argument, numpy.generic):
        return numpy.dtype(argument).name
    if isinstance(argument, (list, tuple)):
        return [plain(item) for item in argument]
    return argument


def array(answer):
    """A tensor's JSON value as an array. Large integers and non-finite floats come as strings."""
    dtype = "float32" if answer["dtype"] == "bfloat16" else answer["dtype"]

    def number(value):
        if isinstance(value, str):
            return _SPECIAL[value] if value in _SPECIAL else int(value)
        return [number(v) for v in value] if isinstance(value, list) else value
    return numpy.array(number(answer["data"]), dtype=dtype).reshape(answer["shape"])


def _range(items):
    if len(items) < 2:
        return range(items[0], items[0] + 1) if items else range(0)
    step = items[1] - items[0]
    return range(items[0], items[-1] + (1 if step > 0 else -1), step)


def _set(items):
    try:
        return set(items)
    except TypeError:  # a set of tensors: arrays have no hash
        return items


_CONTAINERS = {"list": list, "tuple": tuple, "range": _range, "set": _set}


def value(answer):
    """A program's value. int, float, str, bool, None, list, tuple, dict, set and range are Python's own, tensors and
    ndarrays are arrays, a torch.Size is a tuple; dtypes, devices, types, functions and modules come as text. The keys of
    a dict are strings."""
    if "data" in answer:
        return array(answer)
    kind = answer["type"]
    if kind in _CONTAINERS:
        return _CONTAINERS[kind]([value(item) for item in answer["values"]])
    if kind == "dict":
        return {key: value(item) for key, item in answer["items"].items()}
    if "text" in answer:
        return answer["text"]
    got = answer["value"]
    if kind == "int":
        return int(got)
    if kind == "float":
        return float(_SPECIAL.get(got, got))
    return tuple(got) if kind == "size" else got
