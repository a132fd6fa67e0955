#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What CPython says: calls of builtins, of methods of str and of math, with their results or errors. Writes
python_text.inc for tests/unit/api/test_lang_text.c and test_lang_builtins.c.

/usr/bin/python3 tests/cases/python_text.py > tests/cases/python_text.inc     (Python 3.11)

Rows CALL(function, positional arguments, keyword arguments, result, error): Python literals in ASCII; of errors the
type's name, and in `result` their text, or "*" where the wording is our own. Integers beyond 64 bits are overflows.
"""
import contextlib
import io
import math
import sys

from python_text_calls import CALLS, OWN_WORDING

assert sys.version_info[:2] == (3, 11)


def sorted_by(items, keys, reverse):
    if keys is None:
        return sorted(items, reverse=reverse)
    order = sorted(range(len(items)), key=lambda i: keys[i], reverse=reverse)
    return [items[i] for i in order]


def printed(*values, **keywords):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        print(*values, **keywords)
    return out.getvalue()


SPECIAL = {"_sorted": sorted_by, "print": printed, "percent": lambda form, arguments: form % arguments}


def find(name):
    if name in SPECIAL:
        return SPECIAL[name]
    if name.startswith("str."):
        return getattr(str, name[4:])
    if name.startswith("math."):
        return getattr(math, name[5:])
    return eval(name[4:] if name.startswith("new.") else name)


def is_wide(value):
    if isinstance(value, (list, tuple)):
        return any(is_wide(item) for item in value)
    return type(value) is int and not -2 ** 63 <= value < 2 ** 63


def call(name, positional, keywords):
    try:
        result = find(name)(*positional, **keywords)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError, KeyError, IndexError, AttributeError) as error:
        text = "*" if (name, str(error)) in OWN_WORDING or name in OWN_WORDING else str(error)
        return text, type(error).__name__
    if is_wide(result):
        return "*", "OverflowError"
    return ascii(result), ""


def quoted(text):
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")
    return '"%s"' % "".join(c if " " <= c <= "~" else "".join("\\%03o" % b for b in c.encode()) for c in text)


def main():
    print("// SPDX-License-Identifier: Apache-2.0\n// Made by python_text.py with Python 3.11.")
    for name, positional, keywords in CALLS:
        result, error = call(name, positional, keywords)
        print("CALL(%s)" % ", ".join(map(quoted, (name, ascii(positional), ascii(keywords), result, error))))


if __name__ == "__main__":
    main()
