#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python_programs.json: small programs and what CPython 3.11 says of them.

    python3 tests/cases/python_programs.py > tests/cases/python_programs.json

The programs stand in python_programs_*.py by group. An id is the group and the place in it, so append to a group and
do not insert. What is written down is the answer of POST /v1/eval (README, "programs"): the value of a last statement
that is an expression, the printed lines, and for a program that fails the problem's kind and line. The language has
64-bit integers: results beyond, intermediate ones too, are the kind overflow. "text" is what the interactive
interpreter would show; "ulp" allows that many units in the last place, for functions of the C library.

Every program is checked to stay within the subset, and runs again under other hash seeds: what depends on the order
of a set of strings is refused.
"""
import ast
import builtins
import contextlib
import io
import json
import math
import os
import re
import subprocess
import sys
import warnings

import python_programs_containers
import python_programs_errors
import python_programs_flow
import python_programs_format
import python_programs_functions
import python_programs_loops
import python_programs_numbers
import python_programs_refused
import python_programs_scope
import python_programs_strings
import python_programs_syntax
import python_programs_truth

MODULES = [python_programs_numbers, python_programs_truth, python_programs_strings, python_programs_format,
           python_programs_containers, python_programs_flow, python_programs_loops, python_programs_functions,
           python_programs_scope, python_programs_errors, python_programs_syntax]
TEXT_GROUPS = {"repr", "print", "float-repr", "list-slice", "layout"}
TEXT_EVERY = 7          # of the other groups, each seventh program also has its text
FILE = "<program>"
BUILTINS = ("print len range enumerate zip sum min max abs round divmod pow sorted reversed any all map filter isinstance "
            "type int float bool str list tuple dict set repr ord chr").split()
KINDS = [(RecursionError, "limit"), (NameError, "undefined"), (TypeError, "type"), (IndexError, "index"),
         (KeyError, "key"), (AttributeError, "attribute"), (ZeroDivisionError, "zero-division"),
         (OverflowError, "overflow"), (AssertionError, "assertion"), (ValueError, "value"), (RuntimeError, "value")]
ALLOWED = (
    ast.Module, ast.FunctionDef, ast.Return, ast.Delete, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While,
    ast.If, ast.Assert, ast.Import, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.BoolOp, ast.BinOp, ast.UnaryOp,
    ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Compare,
    ast.Call, ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name,
    ast.List, ast.Tuple, ast.Slice, ast.comprehension, ast.arguments, ast.arg, ast.keyword, ast.alias,
    ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
LIBRARY = re.compile(r"math\.(sin|cos|tan|a\w+|exp\w*|log\w*|erfc?|l?gamma|cbrt|sinh|cosh|pow|dist|hypot)\b")


class Overflow(OverflowError):
    """An integer beyond 64 bits."""


def check(value):
    if type(value) is int and not -2 ** 63 <= value < 2 ** 63:
        raise Overflow(value)
    return value


class Checked(ast.NodeTransformer):
    """Every operation's and call's result passes through check."""

    def wrap(self, node):
        self.generic_visit(node)
        call = ast.Call(ast.Name("__check", ast.Load()), [node], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    visit_BinOp = visit_UnaryOp = visit_Call = wrap

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        after = ast.Expr(ast.Call(ast.Name("__check", ast.Load()), [load], []))
        return [node, ast.fix_missing_locations(ast.copy_location(after, node))]


def verify_subset(source, tree):
    """Fails for a program that uses more than the language has."""
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    bound |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    arguments = [a for n in ast.walk(tree) if isinstance(n, ast.Call) for a in n.args]
    for node in ast.walk(tree):
        wrong = not isinstance(node, ALLOWED)
        if isinstance(node, ast.Name):
            wrong |= hasattr(builtins, node.id) and node.id not in BUILTINS and node.id not in bound
        elif isinstance(node, ast.Attribute):
            wrong |= node.attr in ("encode", "bit_length", "real", "imag", "hex", "is_integer", "format_map")
            wrong |= node.attr.startswith("__") and node.attr != "__name__"
        elif isinstance(node, ast.FunctionDef):
            wrong |= bool(node.decorator_list or node.returns)
        elif isinstance(node, ast.arguments):
            wrong |= bool(node.posonlyargs)
        elif isinstance(node, ast.arg):
            wrong |= node.annotation is not None
        elif isinstance(node, ast.Constant):
            wrong |= isinstance(node.value, (bytes, complex)) or node.value is ...
        elif isinstance(node, ast.GeneratorExp):
            wrong |= node not in arguments
        elif isinstance(node, ast.Import):
            wrong |= [a.name for a in node.names] != ["math"]
        assert not wrong, "outside the subset: %s in %r" % (ast.dump(node)[:80], source)


def small(values):
    """True for a set whose order Python fixes: small non-negative integers, which come out ascending."""
    return all(type(v) is int and v >= 0 for v in values) and list(values) == sorted(values)


def answer(value):
    """The answer of /v1/eval for a value."""
    kind = type(value).__name__
    if value is None:
        return {"type": "none", "value": None}
    if kind == "int":
        check(value)
        return {"type": kind, "value": value if abs(value) < 2 ** 53 else str(value)}
    if kind == "float":
        if math.isfinite(value):
            return {"type": kind, "value": value}
        return {"type": kind, "value": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if kind in ("bool", "str"):
        return {"type": kind, "value": value}
    if kind == "set" and not small(value):
        return {"type": kind, "values": [answer(v) for v in sorted(value, key=repr)], "unordered": True}
    if kind in ("list", "tuple", "set", "range"):
        return {"type": kind, "values": [answer(v) for v in value]}
    assert kind == "dict", "no answer for a %s" % kind
    items = {str(k): answer(v) for k, v in value.items()}
    assert len(items) == len(value), "keys that print alike"
    return {"type": kind, "items": items}


def line_of(error):
    """The innermost line of the program in the error's traceback, or None."""
    line, trace = None, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def failure(error, source):
    found = next((kind for exception, kind in KINDS if isinstance(error, exception)), None)
    assert found, "%r raises %r" % (source, error)
    result = {"error": found}
    if found != "limit" and "\n" in source.strip():
        result["line"] = line_of(error)
    return result


def execute(tree, names):
    """Runs the statements; the value of a last expression statement, or None, and whether there was one."""
    last = tree.body[-1] if isinstance(tree.body[-1], ast.Expr) else None
    body = tree.body[:-1] if last else tree.body
    checked = Checked()
    module = checked.visit(ast.Module([*body], []))
    exec(compile(module, FILE, "exec"), names)
    if not last:
        return None, False
    expression = ast.fix_missing_locations(ast.Expression(checked.visit(last.value)))
    return eval(compile(expression, FILE, "eval"), names), True


def outcome(source, want_text):
    try:
        compile(source.lstrip("\ufeff"), FILE, "exec")
    except (SyntaxError, OverflowError):
        return {"error": "syntax"}
    tree = ast.parse(source.lstrip("\ufeff"))
    verify_subset(source, tree)
    names = {"__builtins__": {n: getattr(builtins, n) for n in [*BUILTINS, "__import__"]}, "math": math,
             "__check": check, "__name__": "program"}
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            value, has_value = execute(tree, names)
            result = {"expected": answer(value) if has_value else {}}
    except Exception as error:
        if isinstance(error, AssertionError) and "no answer for" in str(error):
            raise
        return failure(error, source)
    out = printed.getvalue()
    if out:
        lines = out.split("\n")
        result["expected"]["printed"] = lines[:-1] if lines[-1] == "" else lines
    if want_text and (not out or out.endswith("\n")):
        shown = "" if not has_value or value is None else repr(value) + "\n"
        if '"unordered"' not in json.dumps(result):
            result["text"] = out + shown
    if LIBRARY.search(source):
        result["ulp"] = 4 if "gamma" in source or "erf" in source else 1
    return result


def programs():
    for module in MODULES:
        for group, sources in module.GROUPS.items():
            for number, source in enumerate(sources):
                wanted = group in TEXT_GROUPS or number % TEXT_EVERY == 0
                yield {"id": "%s-%03d" % (group, number), "source": source, **outcome(source, wanted)}
    for number, source in enumerate(python_programs_refused.REFUSED):
        yield {"id": "refused-%03d" % number, "source": source, "error": "syntax"}
    for number, (kind, source) in enumerate(python_programs_refused.BY_HAND):
        yield {"id": "by-hand-%03d" % number, "source": source, "error": kind}


def table():
    warnings.simplefilter("ignore")
    rows, seen = [], set()
    for row in programs():
        if row["source"] not in seen:      # groups overlap here and there
            rows.append(json.dumps(row))
        seen.add(row["source"])
    return "[\n%s\n]\n" % ",\n".join(rows)


def main():
    assert sys.version_info[:2] == (3, 11), "the table is CPython 3.11's"
    text = table()
    if "--once" not in sys.argv:
        for seed in ("1", "2"):
            again = subprocess.run([sys.executable, os.path.abspath(__file__), "--once"], check=True,
                                   stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": seed}).stdout.decode()
            for one, other in zip(text.split("\n"), again.split("\n")):
                assert one == other, "depends on the hash seed:\n%s\n%s" % (one, other)
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
