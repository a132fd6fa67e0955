#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""npy files as NumPy writes them: writes npy_files.inc for tests/unit/api/test_npy.c.

/usr/bin/python3 tests/cases/npy_files.py > tests/cases/npy_files.inc

Rows {dtype, fortran_order, ndim, {shape}, file, length of file, elements, length of elements}; elements are in the
file's order, little-endian.
"""
import io
import warnings

import numpy

NAMES = {"|b1": "BOOL", "|u1": "UINT8", "|i1": "INT8", "<i2": "INT16", "<i4": "INT32", "<i8": "INT64", "<f2": "FLOAT16",
         "<f4": "FLOAT32", "<f8": "FLOAT64"}


def literal(data):
    text = "".join("\\x%02x" % byte for byte in data)
    return "\n    ".join('"%s"' % text[i:i + 80] for i in range(0, len(text), 80)) or '""'


def row(array, version=(1, 0)):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numpy.lib.format.write_array(file, array, version=version)
    native = array.astype(array.dtype.newbyteorder("<"))
    fortran = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    data = native.tobytes(order="F" if fortran else "C")
    print("{DTYPE_%s, %s, %d, {%s},\n    %s, %d,\n    %s, %d}," % (
        NAMES[native.dtype.str], str(fortran).lower(), array.ndim, ", ".join(map(str, array.shape)) or "0",
        literal(file.getvalue()), len(file.getvalue()), literal(data), len(data)))


def main():
    print("// SPDX-License-Identifier: Apache-2.0\n// Made by npy_files.py with NumPy %s." % numpy.__version__)
    for name in NAMES:
        values = numpy.array([[1, 0, 1], [1, 1, 0]] if name == "|b1" else [[1, 2, 3], [100, 5, 6]])
        row(values.astype(name))
        row(numpy.asfortranarray(values.astype(name)))
        row(values.astype(name.replace("<", ">")))
        row(numpy.asfortranarray(values.astype(name.replace("<", ">"))))
    for version in ((1, 0), (2, 0), (3, 0)):
        row(numpy.array([-1.5, 2.25], "<f4"), version)
    row(numpy.array(3.5))
    row(numpy.array(7, ">i2"))
    row(numpy.zeros((0,), "<f4"))
    row(numpy.zeros((2, 0, 3), "<i8"))
    row(numpy.asfortranarray(numpy.arange(24, dtype="<i4").reshape(2, 3, 4)))
    row(numpy.arange(6, dtype="<i2").reshape((1,) * 31 + (6,)))


main()
