#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shortest digits of floats by Python's repr and NumPy: writes printed_numbers.inc for tests/unit/api.

/usr/bin/python3 tests/cases/printed_numbers.py > tests/cases/printed_numbers.inc

Rows {dtype, bits, text}. float16 and float32 digits are NumPy's (unique=True), laid out as Python lays out floats.
"""
import random
import struct

import numpy

EDGES = [1.0, -1.0, 0.1, 0.5, 1 / 3, 2.5, 100.0, 1e-4, 9.999e-5, 1e-5, 123456.789, 1e15, 1e16, 9999999999999998.0, 1e17,
         1e22, 1e23, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740992.0, 9007199254740993.0,
         3.4028234663852886e38, 1.401298464324817e-45, 1.1754943508222875e-38, 16777216.0, 65504.0, 6.103515625e-05,
         5.960464477539063e-08, 8.5, 1e100, 1.5e300, 4.35, 0.3, 2.0 ** 60, 2.0 ** -60, 2.0 ** 100, 1e10, 123e-7]


def layout(digits, exponent):
    """Digits d.ddd * 10^exponent as repr does."""
    if -4 <= exponent < 16:
        if exponent < 0:
            return "0." + "0" * (-exponent - 1) + digits
        whole = digits[:exponent + 1].ljust(exponent + 1, "0")
        return whole + "." + (digits[exponent + 1:] or "0")
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return "%se%s%02d" % (mantissa, "-" if exponent < 0 else "+", abs(exponent))


def shortest(value):
    text = numpy.format_float_scientific(abs(value), unique=True, trim="-")
    mantissa, exponent = text.split("e")
    text = layout(mantissa.replace(".", ""), int(exponent))
    return "-" + text if numpy.signbit(value) else text


def main():
    random.seed(7)
    print("// SPDX-License-Identifier: Apache-2.0\n// Made by printed_numbers.py.")
    doubles = EDGES + [struct.unpack("<d", random.randbytes(8))[0] for _ in range(200)]
    doubles += [random.gauss(0, 1) for _ in range(60)] + [round(random.gauss(0, 1000), 3) for _ in range(60)]
    for value in doubles:
        if value == value and abs(value) != float("inf"):
            print('{DTYPE_FLOAT64, 0x%016xU, "%r"},' % (struct.unpack("<Q", struct.pack("<d", value))[0], value))
    for name, kind, code in (("FLOAT32", numpy.float32, "<I"), ("FLOAT16", numpy.float16, "<H")):
        with numpy.errstate(over="ignore", under="ignore"):
            values = [kind(v) for v in doubles]
        values += list(numpy.frombuffer(random.randbytes(800), kind))
        for value in values:
            if numpy.isfinite(value) and value != 0:
                print('{DTYPE_%s, 0x%xU, "%s"},' % (name, struct.unpack(code, value.tobytes())[0], shortest(value)))


main()
