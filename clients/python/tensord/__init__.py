# SPDX-License-Identifier: Apache-2.0
"""Named tensors of a tensord server as NumPy arrays. NumPy and the standard library are all it needs.

    import numpy, tensord
    server = tensord.connect("http://localhost:8080")
    server.put("x", numpy.arange(6.0).reshape(2, 3), device="cuda:0")
    server.op("mul", "x", 2, out="y")
    print(server.get("y"))

Arrays travel as npy, so every dtype, NaN and 64-bit integers survive. A problem document of the server is raised as a
Problem that also is Python's own exception for that mistake: a wrong index is an IndexError, wrong shapes are
a ValueError, no memory is a MemoryError (see KINDS).
"""
from .client import Client, connect
from .problems import KINDS, Problem

__all__ = ["Client", "connect", "Problem", "KINDS"]
__version__ = "0.1.0"
