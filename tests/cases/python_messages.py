#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with what CPython 3.11 makes of them: the repr of the last expression and what is printed, or the
error's kind, its text and line. Writes python_messages.inc beside this file, for tests/unit/api/test_lang_vm.c:
the texts of calls, unpacking and names are CPython's, which people know.

    python3 tests/cases/python_messages.py
"""
import ast
import builtins
import contextlib
import io
import os
import sys

from python_programs_base import blocks, lines

LINES = r'''
(lambda x: x)()
a, b = 1, 2, 3
a, b, c = 1, 2
a, *b, c = [1]
a, b = 5
1 < 2 < 3 > 0
5()
None()
"a"()
[1,2,3]()
{**{'a':1}, 'b':2, **{'a':3}}
{**5}
[*5]
[*range(3), *'ab']
{*range(3), *[1]}
print(*[1,2], sep='-')
max(3,1,2), min([4,2]), max('abc'), max([], default=9), max([1,-5], key=abs)
max([])
min()
max(1,2,default=3)
max(5)
sum(['a'], '')
sum([[1],[2]], [])
sum(5)
sum([1.5, 2, True])
list(zip([1,2,3],'ab'))
list(zip([1,2],'abc',strict=True))
list(zip([1,2,3],'ab',strict=True))
list(zip([1,2],[1,2],[1],strict=True))
list(zip([1],[1],[1,2],strict=True))
list(zip())
list(zip([1,2],[3,4],[5,6]))
zip(5)
list(map(lambda a,b: a*b,[1,2],[3,4,5]))
map(len)
list(filter(None,[0,1,'',2]))
list(filter(lambda x: x>1,[0,1,2]))
list(enumerate('ab', 5))
list(enumerate('ab', start=1))
enumerate('a', 1.5)
any([0,'',1]), all([1,0]), any([]), all([])
sorted([3,1,2]), sorted('hello', reverse=True), sorted([1,-3,2],key=abs)
sorted([1,'a'])
sorted(5)
assert 1, 'no'
assert 0, 'bad'
del y
sum(x*y for x in range(4) for y in range(x) if x != 2)
','.join(str(x) for x in range(5))
{k: v for k, v in [(1,2),(3,4)]}
{x % 2 for x in range(5)}
[[j for j in range(i)] for i in range(3)]
[lambda: (i, j) for i in range(2) for j in range(2)][0]()
-2 ** 2, 2 ** -1, -9223372036854775808
not 1 == 2, not [] and 5, 0 or '' or 'z'
1 if [] else 2
f"{5:{'>'}{4}}"
len(5)
len()
len([1],[2])
len(x=5)
abs()
int('x')
(1).foo
'a'.foo()
[1,2,3][5]
{}['a']
{[]: 1}
{1: 2}[[]]
for x in 5: pass
[] < 5
1 in 5
[print(i) for i in range(2)]
len(set(map(str, [1, 2, 2])))
dict(zip('ab', [1, 2]))
dict(a=1, **{'b': 2})
tuple(x for x in 'ab')
set(x for x in [1,1])
str(5) + str(True)
int(3.7), int('12', 16), float('1e3'), bool([])
type(1) is int, type('a') == str, isinstance(True, int)
type(sum([])).__name__
'%s-%d' % ('a', 5)
"{} {x}".format(1, x=2)
list(reversed([1,2,3]))
divmod(7,2), round(2.5), pow(2,3,5)
ord('a'), chr(98)
[1,2] == [1,2], (1,2) < (1,3), 'a' is 'a'
(1).real = 5
x = 1; y = 2; x, y
"""doc"""
...
[i for i in range(5) if i % 2 if i > 1]
any(x > 2 for x in [1,2,3])
list(map(lambda x: 1/0, [1]))
max(1, 'a')
max([1,2], key=5)
any(1)
'''
BLOCKS = r'''
def f(x): pass
f()
---
def f(x,y): pass
f()
---
def f(x,y,z): pass
f()
---
def f(x,y,z): pass
f(y=1)
---
def f(x): pass
f(1,2)
---
def f(): pass
f(1)
---
def f(x,y=1): pass
f(1,2,3)
---
def f(x,*,k): pass
f(1)
---
def f(x,*,k,l): pass
f(1)
---
def f(x,*,k=1): pass
f(1,2,k=3)
---
def f(x): pass
f(1,x=2)
---
def f(x): pass
f(z=2)
---
def f(x,/): pass
f(x=2)
---
def f(x,/,**k): return x,k
f(1,x=2)
---
def f(*a,**k): return a,k
f(*[1,2],*(3,),**{'a':1},b=2)
---
def f(**k): return k
f(**{'a':1},**{'a':2})
---
def f(**k): return k
f(a=1,**{'a':2})
---
def f(**k): return k
f(**{1:2})
---
def f(*a): return a
f(*5)
---
def f(*a): return a
f(**5)
---
def outer():
    def inner(x): pass
    inner()
outer()
---
a, *b, c = range(6)
(a,b,c)
---
*a, = 'abc'
a
---
[a, (b, *c)] = 1, 'xyz'
(a,b,c)
---
def f():
    print(x)
    x = 1
f()
---
def f():
    def g(): return x
    g()
    x = 1
f()
---
def f():
    del x
    x = 1
f()
---
fs = [lambda: i for i in range(3)]
[f() for f in fs]
---
def mk():
    n = 0
    def inc(k):
        return n + k
    n = 10
    return inc
mk()(5)
---
x = 1
def f(): return x
x = 2
f()
---
def f(a, l=[]):
    l.append(a)
    return l
f(1); f(2)
---
def t(x):
    print(x)
    return x
t(1) < t(0) < t(5)
---
x = [1,2]
x[print('i') or 0] += (print('v') or 5)
x
---
for i in range(3):
    if i == 1: continue
    print(i)
else:
    print('else')
---
for i in range(3):
    if i == 1: break
else:
    print('else')
i
---
while True:
    for j in range(3):
        if j == 2: break
    break
j
---
x=[3,1,2]
x.sort()
x
---
x=['bb','a','ccc']
x.sort(key=len, reverse=True)
x
---
f = [3,1].sort
f()
---
def g(n): return g(n+1)
g(0)
---
def g(n): return 0 if n == 0 else 1 + g(n-1)
g(900)
---
x = 5
del x
x
---
x: int = 5
x
---
def f():
    y: int
    return y
f()
---
g = list(x for x in [1,2,3] if x > 1)
g
---
def f(n):
    return [k for k in range(n) for n in [k]]
f(3)
---
y = 10
[y for x in [1,2]]
---
[x for x in range(3)]
x
---
a = b = c = []
a.append(1)
c
---
i = 0
a = [0,0]
i, a[i] = 1, 5
(i, a)
---
a, b = 1, 2
a, b = b, a
(a,b)
---
a, b, c = 1, 2, 3
a, b, c = c, a, b
(a,b,c)
---
x = 3
x **= 2
x //= 2
x <<= 3
x |= 1
x
---
x = 'a'
x += 'b'
x *= 2
x
---
x = [1]
x += 'ab'
x
---
x = [1]
x += 5
---
x = (1,)
x += (2,)
x
---
x = [5,6]
x[0], x[1] = x[1], x[0]
x
---
def f(): return 1,
f()
---
def f():
    for i in range(5):
        for j in range(5):
            if i * j == 6: return i, j
f()
---
def f(a, b=2, *args, c, d=4, **kw): return (a, b, args, c, d, kw)
f(1, c=3), f(1, 2, 3, 4, c=5, e=6)
---
def f(a=1, b=2): return a - b
f(b=5), f(5), f(*[], **{})
---
x = 1
def f():
    x = 2
    def g():
        return x
    return g
f()(), x
---
def f():
    x = [i for i in range(3)]
    g = lambda: x
    x = 5
    return g()
f()
---
def f(x):
    return [lambda: x for _ in range(2)]
f(4)[1]()
---
def f(x):
    def g():
        def h(): return x
        return h
    return g
f(7)()()
---
def f(x):
    return sum(x * i for i in range(3))
f(4)
---
def f():
    return [g() for g in [lambda: z for z in range(3)]]
f()
---
def f(n):
    if n:
        return f
f(0), f(1)(0)
---
import math
math.floor(2.5)
---
x = 5
def f():
    return x
def g():
    x = 7
    return f()
g()
---
x = []
x is x, x is not [], None is None
---
a = [1,2,3]
for x in a:
    if x < 3: a.append(x + 10)
a
---
d = {1:2}
for k in d: d[k+1] = 0
---
def f(x): return x.y
f(3)
---
f = max
f(1, 2)
---
def f(a, b): return a
f(*(1, 2, 3))
---
def f(a, b): return a
f(1, **{'c': 3})
---
def f(a, /, b, *, c): return (a,b,c)
f(1, b=2, c=3)
'''
KINDS = {"TypeError": "TYPE", "ValueError": "VALUE", "NameError": "UNDEFINED", "UnboundLocalError": "UNDEFINED",
         "ZeroDivisionError": "ZERO_DIVISION", "AssertionError": "ASSERTION", "AttributeError": "ATTRIBUTE",
         "IndexError": "INDEX", "KeyError": "KEY", "RecursionError": "LIMIT", "RuntimeError": "VALUE"}


def run(program):
    """(result or None, printed, (kind, text, line) or None)"""
    tree, printed, names = ast.parse(program), io.StringIO(), {"__builtins__": dict(vars(builtins))}
    result = None
    with contextlib.redirect_stdout(printed):
        try:
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "program", "exec"), names)
            if last:
                result = repr(eval(compile(ast.Expression(last.value), "program", "eval"), names))
        except Exception as error:
            place = error.__traceback__
            while place.tb_next:
                place = place.tb_next
            return None, printed.getvalue(), (KINDS[type(error).__name__], str(error), place.tb_lineno)
    return result, printed.getvalue(), None


def quoted(text):
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"%s"' % text


def main():
    if sys.version_info[:2] != (3, 11):
        sys.exit("the texts are those of CPython 3.11")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_messages.inc")
    with open(path, "w", encoding="utf-8") as file:
        file.write("// SPDX-License-Identifier: Apache-2.0\n"
                   "// Written by python_messages.py: program, status, answer or text of the error, printed, line.\n")
        for program in lines(LINES) + blocks(BLOCKS):
            result, printed, error = run(program)
            kind, text, line = error or ("OK", result or "", 0)
            file.write("{%s,\n STATUS_%s, %s, %s, %d},\n" %
                       (quoted(program), kind, quoted(text), quoted(printed), line))


if __name__ == "__main__":
    main()
