# SPDX-License-Identifier: Apache-2.0
"""Programs for seeds.py: those of the syntax tests, real ones, and hostile ones."""
import os

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases")
REAL = ["y = softmax(x @ w + b)\ny.argmax(dim=1)",
        "import torch\nimport torch.nn.functional as F\nx = torch.linspace(0, 1, 5)\nprint(f'{x.mean():.3f}')\nF.relu(x - 0.5)",
        "w = torch.zeros(10)\nfor step in range(100):\n    error = x @ w - t\n    w -= 0.1 * (x.T @ error) / len(x)\nw",
        "def fib(n, memo={}):\n    if n in memo: return memo[n]\n    return 1 if n < 2 else fib(n - 1) + fib(n - 2)\nfib(20)",
        "with torch.no_grad():\n    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))\n    out = net(x)",
        "a, (b, *c), d = 1, (2, 3, 4), 5\nx[..., ::2, None] = {**k, 'a': [*v]}",
        "'%s %d' % ('a', 1) + '{:>{}}'.format(1, 5)", "sorted({k: v for k, v in zip('abc', range(3)) if v}, key=lambda k: -len(k))"]
HOSTILE = ["(" * 250, "[" * 150 + "]" * 149, "{" * 90 + "1:" * 90, "-" * 300 + "1", "not " * 250 + "x", "lambda: " * 220 + "x",
           "x" + ".y" * 300, "x" + "()" * 300, "x" + "[0]" * 300, "a**" * 250 + "1", "a if b else " * 230 + "c", "1" + "+1" * 300,
           "a" + " and a" * 150 + " or a" * 150, "x" + "<x" * 300, "x = " * 200 + "1", "if x:\n" + "".join(" " * i + "if x:\n" for i in range(1, 120)),
           "f" + "'{x:{y}}" * 60, "f'" + "{{" * 200 + "}'", "f'{f\"{f'''{f\\\"{x}\\\"}'''}\"}'", "f'{" * 50, "f'{x!r:{y:{z}}}'", "f'{a:{b", "f'{}'",
           "'" * 200, '"""' + "x\n" * 100, "'\\N{DASH} \\ud800 \\x4 \\777'", "rb'x'", "0x" + "f" * 200, "1" * 400, "0." + "1" * 400, "1e" + "9" * 100,
           "0_" * 50, "1__0", "1_", "0b12", "1if 2else 3", "\ta\n        b\n\tc", "a\n\tb\n        c", "x = 1\r\ny = 2\rz = 3\f\n", "\\\n" * 50,
           "\\", "x\\ y", "\x00", "x = '\x00'", "class A: pass", "try: x\nexcept: y", "match x:\n case 1: y", "import os, torch", "from . import *",
           "x.__class__.__bases__", "print x", "x := 1", "@d\ndef f(): yield", "async def f(): await x", "def f(a, a, *, *b, **c, d=1, /): pass",
           "f(a=1, *b, **c, d, a=2)", "*a, *b = c", "x = (1,\n2\ny = 3\nz = [", "\u201cx\u201d = \u00a01 \u2212 2", "del f(), 1", "with (a as b, (c)), d: x",
           "for x in *a, b: break\nelse: continue", "#" * 100, " " * 100 + "x", ";;", "\n" * 50 + ")", "1.e5.e5..e", "...." * 30, "<>!=!~$?`"]
BYTES = [b"\xff", b"x = '\xc3'", b"\xef\xbb\xbfx\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\xc0\x80", b"\xf0\x9f\x98\x80", b"\xe5\x8f\x98 = 1"]


def listed(name):
    with open(os.path.join(CASES, "python_syntax_%s.txt" % name), encoding="utf-8", newline="\n") as file:
        return file.read()


def programs():
    blocks = [block.strip("\n") for block in ("\n" + listed("blocks")).split("\n---\n")]
    lines = listed("accepted").split("\n")
    joined = ["\n".join(lines[i:i + 40]) for i in range(0, len(lines), 40)]
    refused = listed("refused").split("\n")[::6]
    return [text.encode("utf-8") for text in REAL + HOSTILE + blocks[::2] + joined + refused] + BYTES
