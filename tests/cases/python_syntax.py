#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python_syntax.inc: what CPython's parser makes of the sources of python_syntax_{accepted,blocks,refused}.txt.

/usr/bin/python3 tests/cases/python_syntax.py > tests/cases/python_syntax.inc     (CPython 3.11)

ACCEPTED(source, bytes, dump): a source and its tree in the canonical form of tests/unit/api/syntax_dump.h, from the
ast module; @line:column+bytes is where a node stands. REFUSED(source, bytes, line): CPython raises SyntaxError there.
The lists have a source on a line, blocks between lines of ---; in refused, \\n and the like stand for the character,
save in strings.
"""
import ast
import os
import re
import struct
import sys
import warnings

import python_programs_base

warnings.simplefilter("ignore")
OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "MatMult": "@", "LShift": "<<",
    "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "Pow": "**", "Eq": "==", "NotEq": "!=", "Lt": "<",
    "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in", "USub": "-",
    "UAdd": "+", "Invert": "~", "Not": "not"}
LEVELS = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "//", "%", "@"]]


def operator(op):
    return OPERATORS[type(op).__name__]


def level(op):
    return next((i for i, level in enumerate(LEVELS) if operator(op) in level), None)


def text(string):
    return "".join(chr(b) if 32 < b < 127 and chr(b) not in "\"\\()[]" else "\\x%02x" % b for b in string.encode("utf-8"))


class Dump:
    def __init__(self, source):
        self.lines = re.split("(?<=\n)|(?<=\r)(?!\n)", source)
        self.source = source.encode("utf-8")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line.encode("utf-8")))
        self.formatted = 0

    def byte(self, line, offset):
        return self.starts[line - 1] + offset

    def start(self, node):
        return self.byte(node.lineno, node.col_offset)

    def place(self, node):
        if self.formatted:
            return ""
        first, end = self.start(node), self.byte(node.end_lineno, node.end_col_offset)
        column = len(self.lines[node.lineno - 1].encode("utf-8")[:node.col_offset].decode("utf-8")) + 1
        return "@%d:%d+%d" % (node.lineno, column, end - first)

    def all(self, nodes):
        return "[" + " ".join(self(n) for n in nodes) + "]"

    def __call__(self, node):
        if node is None:
            return "-"
        head, *parts = getattr(self, "do_" + type(node).__name__)(node)
        return head + self.place(node) + ("(" + " ".join(parts) + ")" if parts else "")

    def do_Expr(self, n): return "Expr", self(n.value)
    def do_Assign(self, n): return "Assign", self.all(n.targets), self(n.value)
    def do_AugAssign(self, n): return "Aug", operator(n.op), self(n.target), self(n.value)
    def do_AnnAssign(self, n): return "Ann", str(n.simple), self(n.target), self(n.annotation), self(n.value)
    def do_Delete(self, n): return "Del", self.all(n.targets)
    def do_FunctionDef(self, n): return "Def", n.name, self.parameters(n.args), self.all(n.body)
    def do_For(self, n): return "For", self(n.target), self(n.iter), self.all(n.body), self.all(n.orelse)
    def do_While(self, n): return "While", self(n.test), self.all(n.body), self.all(n.orelse)
    def do_Break(self, n): return "Break",
    def do_Continue(self, n): return "Continue",
    def do_Pass(self, n): return "Pass",
    def do_Return(self, n): return "Return", self(n.value)
    def do_Assert(self, n): return "Assert", self(n.test), self(n.msg)
    def do_Name(self, n): return "Name", text(n.id)
    def do_Tuple(self, n): return "Tuple", self.all(n.elts)
    def do_List(self, n): return "List", self.all(n.elts)
    def do_Set(self, n): return "Set", self.all(n.elts)
    def do_Attribute(self, n): return "Attr", self(n.value), n.attr
    def do_Subscript(self, n): return "Index", self(n.value), self(n.slice)
    def do_Slice(self, n): return "Slice", self(n.lower), self(n.upper), self(n.step)
    def do_UnaryOp(self, n): return "Unary", operator(n.op), self(n.operand)
    def do_IfExp(self, n): return "Cond", self(n.test), self(n.body), self(n.orelse)
    def do_Lambda(self, n): return "Lambda", self.parameters(n.args), self(n.body)
    def do_Starred(self, n): return "Starred", self(n.value)
    def do_ListComp(self, n): return ("ListComp", "-", self(n.elt)) + self.clauses(n)
    def do_SetComp(self, n): return ("SetComp", "-", self(n.elt)) + self.clauses(n)
    def do_GeneratorExp(self, n): return ("Generator", "-", self(n.elt)) + self.clauses(n)
    def do_DictComp(self, n): return ("DictComp", self(n.key), self(n.value)) + self.clauses(n)

    def clauses(self, node):
        return tuple("for %s %s %s" % (self(c.target), self(c.iter), self.all(c.ifs)) for c in node.generators)

    def do_If(self, n):
        parts = []
        while True:
            parts += [self(n.test), self.all(n.body)]
            nested = n.orelse[0] if len(n.orelse) == 1 and isinstance(n.orelse[0], ast.If) else None
            if nested is None or self.source[self.start(nested):][:4] != b"elif":
                return ("If",) + tuple(parts) + (self.all(n.orelse),)
            n = nested

    def do_With(self, n):
        items = ["%s as %s" % (self(i.context_expr), self(i.optional_vars)) for i in n.items]
        return "With", "[" + " ".join(items) + "]", self.all(n.body)

    def do_Import(self, n):
        return ("Import",) + tuple(
            "%s.-=%s" % ((a.name, a.asname) if a.asname else (a.name.split(".")[0],) * 2) for a in n.names)

    def do_ImportFrom(self, n):
        return ("Import",) + tuple("%s.%s=%s" % (n.module, a.name, a.asname or a.name) for a in n.names)

    def parameters(self, arguments):
        plain = [("/", a) for a in arguments.posonlyargs] + [("a", a) for a in arguments.args]
        defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
        rows = [kind + a.arg + "=" + self(d) for (kind, a), d in zip(plain, defaults)]
        rows += ["*" + arguments.vararg.arg + "=-"] if arguments.vararg else []
        rows += ["k" + a.arg + "=" + self(d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
        rows += ["**" + arguments.kwarg.arg + "=-"] if arguments.kwarg else []
        return "[" + " ".join(rows) + "]"

    def do_Constant(self, n):
        value = n.value
        if isinstance(value, str):
            return "Str", '"' + text(value) + '"'
        if isinstance(value, float):
            return "Float", "%016x" % struct.unpack("<Q", struct.pack("<d", value))[0]
        if value in (None, True, False, ...) and type(value) is not int:
            return {None: "None", True: "True", False: "False"}.get(value, "Ellipsis"),
        return "Int", "%d" % value

    def do_BinOp(self, n):
        links, left = [], n
        while True:
            links = [operator(left.op), self(left.right)] + links
            inner = left.left
            if not isinstance(inner, ast.BinOp) or level(inner.op) is None or level(inner.op) != level(n.op) or \
                    self.start(inner) != self.start(n) and not self.formatted:
                return ("Binary", self(inner)) + tuple(links)
            left = inner

    def do_Compare(self, n):
        links = sum(([operator(o), self(c)] for o, c in zip(n.ops, n.comparators)), [])
        return ("Compare", self(n.left)) + tuple(links)

    def do_BoolOp(self, n):
        return type(n.op).__name__, self.all(n.values)

    def do_Dict(self, n):
        return ("Dict",) + tuple("%s:%s" % (self(k), self(v)) for k, v in zip(n.keys, n.values))

    def do_Call(self, n):
        arguments = [(a.lineno, a.col_offset, "*" + self(a.value) if isinstance(a, ast.Starred) else self(a)) for a in n.args]
        arguments += [(k.lineno, k.col_offset, (k.arg + "=" if k.arg else "**") + self(k.value)) for k in n.keywords]
        if not self.formatted:
            arguments.sort()
        return ("Call", self(n.func)) + tuple(a[-1] for a in arguments)

    def do_JoinedStr(self, n):
        self.formatted += 1
        parts = self.all(n.values)
        self.formatted -= 1
        return "FString", parts

    def do_FormattedValue(self, n):
        return "Format", self(n.value), chr(n.conversion) if n.conversion > 0 else "-", self(n.format_spec)


def literal(data):
    """A C string literal of bytes; hexadecimal escapes end at the next quote."""
    out = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else "\\%03o" % b for b in data)
    return '"' + out + '"'


def listed(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_syntax_%s.txt" % name)
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read()[:-1]


def accepted():
    lines = listed("accepted").split("\n")
    joined = []  # lines that continue the one before
    for line in lines:
        unclosed = joined and (joined[-1].endswith("\\") or not compiles(joined[-1]))
        if unclosed:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
    sources = joined + python_programs_base.blocks(listed("blocks"))
    sources += ["", "\n", "\n\n", "# only a comment", "x\r\ny\r\n", "x\ry\r", "\ufeffx", "x = 1\f\n\fy", "\fif x:\n  y",
                "if a:\r\n    b\r\n", "x = '''a\r\nb\rc'''", "x = 1  ", "x # c\r\n# d\r\n", "if x:\n  y\n \n\n",
                "if x:\n  y\n  # end", "'a\\\r\nb'", "'a\\\nb'", "f'''a\r\n{b}'''", "x = 1\n" * 3, "f'{\ta\t}'", "\\\nx", "if x:\n  \\\n  y\n  z"]
    for source in sources:
        dump = Dump(source.lstrip("\ufeff"))
        shift = 3 if source.startswith("\ufeff") else 0
        if shift:
            dump.starts = [s + shift for s in dump.starts]
            dump.source = source.encode("utf-8")
        yield source, dump.all(ast.parse(source.encode("utf-8")).body)


def compiles(source):
    try:
        compile(source.encode("utf-8"), "program", "exec")
        return True
    except SyntaxError:
        return False


def refused():
    for source in listed("refused").split("\n"):
        source = re.sub(r"\\(n|t|\\|u[0-9a-f]{4})", lambda m: {"n": "\n", "t": "\t", "\\": "\\"}.get(m[1]) or chr(
            int(m[1][1:], 16)), source) if not re.search(r"^f?'.*\\", source) or source.startswith("'''") else source
        try:
            compile(source.encode("utf-8"), "program", "exec")
        except SyntaxError as error:
            yield source, error.lineno
        else:
            sys.exit("CPython accepts %r" % source)


def main():
    print("// SPDX-License-Identifier: Apache-2.0")
    print("// Written by python_syntax.py with CPython %s." % sys.version.split()[0])
    for source, dump in accepted():
        data = source.encode("utf-8")
        print("ACCEPTED(%s, %d, %s)" % (literal(data), len(data), literal(dump.encode("utf-8"))))
    for source, line in refused():
        data = source.encode("utf-8")
        print("REFUSED(%s, %d, %d)" % (literal(data), len(data), line))


main()
