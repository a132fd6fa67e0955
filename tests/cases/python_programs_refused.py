# SPDX-License-Identifier: Apache-2.0
"""Programs whose kind of problem is written by hand: Python would take them, or take too long over them."""
from python_programs_base import blocks, lines

# What the subset leaves out: every one is a syntax error that names the construct.
REFUSED = lines(r'''
class A: pass
class A(B): x = 1
raise ValueError
raise ValueError('x')
raise
import os
import sys, math
import os.path
from os import path
from torch import *
import subprocess as sp
import numpy.random
from . import x
from __future__ import annotations
yield 1
x = yield
await x
async def f(): pass
async for x in y: pass
global x
x := 5
(x := 5)
print(x := 5)
[y := 1, y]
[n for n in range(3) if (m := n)]
b'bytes'
rb'bytes'
B"x"
1j
2.5J
1 + 2j
(1).__class__
''.__class__.__mro__
[].__len__()
().__class__.__bases__
x = []; x.__class__
x = 1; x.__dict__
{}.__init__
len.__self__
(lambda: 0).__globals__
(lambda: 0).__code__
print.__module__
x = 1; x.__doc__ = 3
'{0.__class__}'.__format__('')
type('').__subclasses__()
__import__('os')
__builtins__
__file__
__doc__
__debug__
__builtins__.open
math.__loader__
torch.__file__
with open('f'): pass
with open('f') as f: pass
with x, y: pass
with x as y: pass
g = (n for n in range(3))
(n for n in range(3))
''') + blocks(r'''
try:
    x = 1
except:
    pass
---
try:
    x = 1
finally:
    pass
---
try:
    1 / 0
except ZeroDivisionError as e:
    x = e
else:
    x = 2
---
try:
    pass
except* ValueError:
    pass
---
@decorator
def f():
    pass
---
@a.b(1)
def f():
    pass
---
def f():
    yield 1
---
def f():
    x = yield
---
def f():
    yield from [1]
---
def f():
    return (yield)
---
async def f():
    await g()
---
async def f():
    async with x:
        pass
---
def f():
    global x
    x = 1
---
def f():
    x = 1
    def g():
        nonlocal x
        x = 2
---
match x:
    case 1:
        pass
---
match x:
    case [a, *b]:
        y = 1
    case _:
        y = 2
---
class A:
    def f(self):
        return 1
A().f()
---
class A:
    """doc"""
---
x = 1
if x:
    class B:
        pass
---
def f():
    class C:
        pass
    return C
---
def f():
    import os
---
def f():
    raise ValueError('x')
f()
---
while (n := 3) > 5:
    pass
---
if (m := len('abc')) > 2:
    m
---
def f(x):
    return x.__class__
---
for i in range(3):
    try:
        pass
    except Exception:
        pass
---
with open('/etc/passwd') as f:
    f.read()
''')

# Where Python would first build something too large to keep: the kind is by hand.
BY_HAND = [
    ("overflow", "2 ** 10 ** 9"), ("overflow", "x = 3\nx ** 10 ** 9"), ("overflow", "1 << 10 ** 12"),
    ("overflow", "x = 1\nfor i in range(200):\n    x = x * 10\nx"), ("overflow", "9 ** 9 ** 9"), ("overflow", "10 ** 10 ** 10"),
    ("overflow", "math.factorial(10 ** 6)"), ("overflow", "def f(n):\n    return n * f(n - 1) if n else 1\nf(60)"),
    ("overflow", "7 * 10 ** 400"), ("overflow", "x = 2\nx **= 5000000\nx"),
]
