#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes powers.inc: 10^k for k in [-342, 324] as 128-bit significands, normalised (top bit set) and rounded up.

python3 api/formats/make_powers.py > api/formats/powers.inc
"""
FIRST, LAST = -342, 324
MASK = (1 << 64) - 1


def significand(k):
    """ceil(10^k * 2^-e) for the e that makes it a 128-bit number. Powers of two drop out: only 5^k counts."""
    numerator, denominator = (5 ** k, 1) if k >= 0 else (1, 5 ** -k)
    shift = 127 - (numerator.bit_length() - denominator.bit_length())
    while True:
        n = numerator << shift if shift >= 0 else numerator
        d = denominator if shift >= 0 else denominator << -shift
        value = -(-n // d)
        if value.bit_length() == 128:
            return value
        shift += 1 if value.bit_length() < 128 else -1


print("""// SPDX-License-Identifier: Apache-2.0
// Made by make_powers.py: 10^k, k from -342, as the halves of a 128-bit significand, rounded up.
// P(high, low) is defined where it is included, in number_parse.c. Exact for 0 <= k <= 55.""")
row = []
for k in range(FIRST, LAST + 1):
    value = significand(k)
    row.append("P(%016X, %016X)" % (value >> 64, value & MASK))
    if len(row) == 2 or k == LAST:
        print(", ".join(row) + ",")
        row = []
