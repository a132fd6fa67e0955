#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the hand-made part of the corpora: tests/fuzz/corpus/TARGET/seed-NN. What the fuzzer found is beside it.

/usr/bin/python3 tests/fuzz/seeds.py
"""
import io
import os

import numpy

import program_seeds

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def npy(array, version=(1, 0)):
    file = io.BytesIO()
    numpy.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def header(text, version=1):
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode()


JSON = ["[]", "[[],[]]", "1", "-0.0", "true", '"NaN"', "[1, 2.5, true]", "[[1,2],\n[3,4]]", "[NaN, -Infinity, Infinity]",
        '["9007199254740993", 1]', '{"data": [1.5], "dtype": "float64"}', '{"dtype": "bfloat16", "data": [1e-3, 2]}',
        '{"name": "x", "dtype": "int8", "shape": [2, 2], "device": "cpu", "data": [1, -128, 127, 0]}',
        '{"data": [], "shape": [0, 3]}', '{"data": [[], []], "shape": [2, 0, 3]}', '{"shape": [-1, 1], "data": [1,2,3]}',
        '{"etag": "\\u00e9\\ud83d\\ude00", "ttl": null, "shared_with": ["y", [{}]], "data": 1}', "[null]", "[1e400]",
        "[1" + "0" * 60 + ", 0.5]", "[1, [2]]", "[" * 34, '{"data": [1], "data": [2]}', '{"dta": 1}', "\ufeff[1]", "[01]",
        "[0.1234567890123456789012345e-20, 123456789.125E3]", "[3.4028236e38, 1e-46, 5e-324, 1.00000005960464477539]"]
CSV = ["1,2\n3,4\n", "a,b\n1,2.5\n", "1\n2\n3", "1,2\r\n3,4\r\n\r\n", '"1"," 2.5 "\n', "nan,-inf,+Infinity\n", "\ufeff1,2\n",
       "1,2\n3\n", "1,,2\n", "1;2\n", "\n\n5.,.5\n", '"x ""y"", z",b\n1,2\n', "9223372036854775808,0.5\n", "1e400\n"]
INDEX = [bytes([1]) + b"0", bytes([2]) + b"0:2,:", bytes([2]) + b"...,-1", bytes([4]) + b"None,::2,0", bytes([5]) + b"1,...,::3,None",
         bytes([2]) + b"::-1", bytes([2]) + b"99999999999999999999999:", bytes([0]) + b"...", bytes([3]) + b"0,:,1:2",
         bytes([1]) + b"-5:5:2", bytes([2]) + b"0,0,0", bytes([1]) + b" 1 : 3 ", bytes([0x82]) + b"1:3,2", bytes([1]) + b"x",
         bytes([2]) + b"None," * 31 + b":"]


def main():
    good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
    seeds = {
        "json": [text.encode() for text in JSON],
        "csv": [text.encode() for text in CSV],
        "index": INDEX,
        "program": program_seeds.programs(),
        "npy": [npy(numpy.arange(3, dtype=d).reshape(3, 1)) for d in ("<f2", "<f4", ">f8", "|u1", ">i4")] +
               [npy(numpy.array([[True, False]])), npy(numpy.asfortranarray(numpy.zeros((2, 3), "<i2")), (2, 0)),
                npy(numpy.array(1.5), (3, 0)), npy(numpy.zeros((0, 4))), header(good) + b"\0" * 8, header(good, 2) + b"\0" * 8,
                header(good.replace("(2,)", "(99999999999, 99999999999)")), header(good.replace("<f4", "|O")),
                header(good.replace("'shape'", "'descr'")), header(good.replace("(2,)", "(2L, 0)"))],
    }
    for target, bodies in seeds.items():
        os.makedirs(os.path.join(HERE, target), exist_ok=True)
        for number, body in enumerate(bodies):
            with open(os.path.join(HERE, target, "seed-%02d" % number), "wb") as file:
                file.write(body)


main()
