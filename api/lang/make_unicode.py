#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes unicode.inc: what the methods of str know about characters, as runs of equal properties and of equal changes
of case. Asked of Python 3.11 itself (Unicode 14.0), so that both agree on every character.

/usr/bin/python3 api/lang/make_unicode.py > api/lang/unicode.inc
"""
import unicodedata

LAST = 0x10FFFF
assert unicodedata.unidata_version == "14.0.0"


def ignorable(c):
    """Skipped when a final sigma is looked for: does not end a word, and does not begin one."""
    return ("A\u03a3" + c).lower()[1] == "\u03c2" and ("A\u03a3" + c + "A").lower()[1] == "\u03c3"


def flags(code):
    c = chr(code)
    number = 3 if c.isdecimal() else 2 if c.isdigit() else 1 if c.isnumeric() else 0
    title = unicodedata.category(c) == "Lt"
    bits = [c.isalpha(), number & 1, number >> 1, c.isspace(), c.isprintable(), c.islower(), c.isupper() and not title, title,
            ignorable(c), c.isidentifier(), ("a" + c).isidentifier()]
    return sum(int(bool(bit)) << i for i, bit in enumerate(bits))


def show(name, items, form, per_line):
    print("\n#ifdef %s" % name)
    for i in range(0, len(items), per_line):
        print(" ".join(form % item for item in items[i:i + per_line]))
    print("#endif")


def property_runs():
    runs, previous, start = [], None, 0
    for code in range(LAST + 1):
        now = flags(code)
        if now != previous:
            runs.append((code, now))
            previous, start = now, code
        if chr(code).isdecimal():
            assert unicodedata.decimal(chr(code)) == (code - start) % 10, hex(code)
    return runs


def case_runs(change, unless):
    """Runs (first, last, step, delta) of characters that change into one other, and those that become several; what
    `unless` does to them already is left out."""
    runs, specials = [], []
    for code in range(LAST + 1):
        c = chr(code)
        to = change(c)
        if to == (unless(c) if unless else c):
            continue
        if len(to) > 1:
            specials.append((code,) + tuple(ord(d) for d in to.ljust(3, "\0")))
            continue
        delta = ord(to) - code
        if runs and runs[-1][3] == delta:
            first, last, step, _ = runs[-1]
            if code - last == step or (first == last and code - last == 2):
                runs[-1] = (first, code, code - last, delta)
                continue
        runs.append((code, code, 1, delta))
    return runs, specials


def main():
    print("// SPDX-License-Identifier: Apache-2.0\n// Made by make_unicode.py. R(first, flags); C(first, last, step, delta); "
          "S(code, three codes).")
    show("UNICODE_PROPERTIES", property_runs(), "R(%X, %X)", 8)
    for name, change, unless in [("LOWER", str.lower, None), ("UPPER", str.upper, None), ("TITLE", str.title, str.upper),
                                 ("FOLD", str.casefold, str.lower)]:
        runs, specials = case_runs(change, unless)
        show("UNICODE_" + name, runs, "C(%X, %X, %d, %d)", 5)
        show("UNICODE_%s_SPECIAL" % name, specials, "S(%X, %X, %X, %X)", 5)


main()
