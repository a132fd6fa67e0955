#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What torch and NumPy answer to small programs: writes torch_programs.inc for tests/unit/api/test_lang_torch.c.

/usr/bin/python3 tests/cases/torch_programs.py > tests/cases/torch_programs.inc      (made with torch 1.13.1, numpy 1.24.2)

A row is {program, repr of its last expression, problem kind}. A program whose last line is "! kind" raises in torch
too; the kind of problem is ours to name, since torch raises RuntimeError for most.
"""
import ast
import math
import os
import warnings

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

warnings.simplefilter("ignore")
FOLDER = os.path.dirname(os.path.abspath(__file__))
KINDS = {TypeError: "type", IndexError: "index", AttributeError: "attribute", ValueError: "value",
         NameError: "undefined", ZeroDivisionError: "zero-division", OverflowError: "overflow"}


def quote(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n    ".join('"%s"' % (line + ("\\n" if i + 1 < len(lines) else "")) for i, line in enumerate(lines))


def run(source):
    names = {"torch": torch, "np": np, "nn": nn, "F": F, "math": math}
    tree = ast.parse(source)
    last = tree.body.pop()
    exec(compile(tree, "program", "exec"), names)
    if isinstance(last, ast.Expr):
        return repr(eval(compile(ast.Expression(last.value), "program", "eval"), names))
    exec(compile(ast.Module([last], []), "program", "exec"), names)
    return None


def main():
    print("// SPDX-License-Identifier: Apache-2.0\n// Made by torch_programs.py with torch %s and numpy %s." %
          (torch.__version__.split("+")[0], np.__version__))
    with open(os.path.join(FOLDER, "torch_programs.txt")) as file:
        programs = "".join(line for line in file if not line.startswith("##")).strip().split("\n\n")
    for program in programs:
        source, _, kind = program.partition("\n! ")
        try:
            text = run(source)
        except Exception as error:
            if not kind:
                raise SystemExit("%s\nraises %r" % (source, error))
            ours = KINDS.get(type(error))
            if ours and kind.strip() not in (ours, "dtype", "device") and not isinstance(error, ValueError):
                raise SystemExit("%s\nis %s, not %s" % (source, ours, kind))
            print("{%s,\n    NULL, \"%s\"}," % (quote(source), kind.strip()))
            continue
        if kind:
            raise SystemExit("%s\ndoes not raise" % source)
        print("{%s,\n    %s, NULL}," % (quote(source), "NULL" if text is None else quote(text)))


if __name__ == "__main__":
    main()
