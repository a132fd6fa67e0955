# SPDX-License-Identifier: Apache-2.0
"""Programs about names: closures, locals, globals."""
from python_programs_base import blocks

GROUPS = {
    "closure": blocks(r'''
def outer(x):
    def inner(y):
        return x + y
    return inner
outer(1)(2)
---
def counter():
    n = [0]
    def step():
        n[0] += 1
        return n[0]
    return step
c = counter()
c()
c()
c()
---
def counter():
    n = [0]
    def step():
        n[0] += 1
        return n[0]
    return step
a, b = counter(), counter()
a()
a(), b()
---
fs = []
for i in range(3):
    fs.append(lambda: i)
[f() for f in fs]
---
fs = []
for i in range(3):
    fs.append(lambda i=i: i)
[f() for f in fs]
---
def make():
    fs = []
    for i in range(3):
        fs.append(lambda: i)
    return fs
[f() for f in make()]
---
def make():
    return [lambda: i for i in range(3)]
[f() for f in make()]
---
def outer():
    x = 1
    def get():
        return x
    x = 2
    return get()
outer()
---
def outer():
    x = 'outer'
    def middle():
        def inner():
            return x
        return inner
    return middle()()
outer()
---
def outer():
    x = 'outer'
    def inner():
        x = 'inner'
        return x
    return inner(), x
outer()
---
x = 'global'
def outer():
    x = 'outer'
    def inner():
        return x
    return inner
outer()()
---
x = 'global'
def f():
    return x
def g():
    x = 'local'
    return f()
g()
---
def make(n):
    return lambda x: x ** n
square, cube = make(2), make(3)
square(3), cube(2)
---
def pair():
    d = {}
    return (lambda k, v: d.update({k: v})), (lambda k: d[k])
put, get = pair()
put('a', 1)
get('a')
---
def outer():
    def later():
        return y
    y = 5
    return later()
outer()
---
def outer():
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)
    return fact(10)
outer()
---
def outer(a):
    def f(b):
        def g(c):
            return a * 100 + b * 10 + c
        return g
    return f
outer(1)(2)(3)
---
def outer():
    x = 1
    def a():
        return x
    def b():
        x = 2
        return a()
    return b()
outer()
---
add = lambda a: lambda b: lambda c: a + b + c
add(1)(2)(3)
---
def memoize(f):
    cache = {}
    def g(n):
        if n not in cache:
            cache[n] = f(n)
        return cache[n]
    return g
calls = []
def slow(n):
    calls.append(n)
    return n * n
fast = memoize(slow)
fast(3), fast(3), calls
---
def f(x):
    return [x + n for n in range(3)] + [g(x) for g in [lambda v: v * x]]
f(10)
---
def f():
    x = 1
    del x
    def g():
        return x
    return g()
f()
---
def outer():
    def inner():
        return unset
    if False:
        unset = 1
    return inner()
outer()
---
def f(n):
    def g():
        return n
    n += 1
    return g()
f(1)
'''),
    "scope": blocks(r'''
x = 1
def f():
    return x
x = 2
f()
---
x = 1
def f():
    x = 2
f()
x
---
x = []
def f():
    x.append(1)
f()
f()
x
---
def f():
    return later_name
later_name = 3
f()
---
def f():
    return g()
def g():
    return 'g'
f()
---
def f():
    return never_defined_name
f()
---
x = 1
def f():
    y = x
    x = 2
f()
---
x = 1
def f():
    x += 1
f()
---
x = [1]
def f():
    x[0] += 1
f()
x
---
x = 1
def f():
    print(x)
    x = 2
f()
---
x = 1
def f():
    if False:
        x = 2
    return x
f()
---
x = 1
def f():
    for x in []:
        pass
    return x
f()
---
x = 1
def f():
    del x
f()
---
def f():
    x = 1
f()
x
---
if True:
    inside = 1
inside
---
for hh in range(2):
    kk = hh
hh, kk
---
def f():
    if True:
        v = 1
    return v
f()
---
def f(x):
    def g():
        x = 5
        return x
    g()
    return x
f(1)
---
n = 0
def f():
    n = 5
    return [n for n in range(2)], n
f(), n
---
x = 10
def f(y=x):
    x = 20
    return y, x
f()
---
def f():
    def len(v):
        return 'mine'
    return len([])
f(), len([])
---
len = 5
del len
len('abc')
---
f = lambda: zebra
zebra = 'late'
f()
---
def f(zebra):
    return zebra
zebra = 1
f(2), zebra
---
never_here
---
x = never_here_2 + 1
---
def f(a):
    return a
f(1)
a
---
def f():
    (a, b), c = (1, 2), 3
    return a, b, c
f()
---
def f():
    a: int
    return a
f()
---
def f():
    a: int = 2
    return a
f()
---
x = 5
def f():
    return [x for x in [x]]
f()
'''),
}
