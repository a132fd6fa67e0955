# SPDX-License-Identifier: Apache-2.0
"""Programs about functions: arguments, defaults, recursion."""
from python_programs_base import blocks, lines

GROUPS = {
    "call": lines(r'''
def f(): return 1
def f(): pass
(lambda: 5)()
(lambda x: x + 1)(2)
(lambda x, y=2: x * y)(3)
(lambda *a: a)(1, 2)
(lambda **k: k)(a=1)
(lambda *a, k=1, **kw: (a, k, kw))(1, 2, k=3, z=4)
(lambda x: lambda y: x + y)(1)(2)
f = lambda x, y: x - y; f(5, 3)
f = lambda x, y: x - y; f(y=5, x=3)
f = lambda x, y: x - y; f(5, y=3)
f = lambda: (1, 2); f()
f = lambda x=1: x; [f(), f(2)]
f = lambda: None; f()
f = lambda x: x if x else 'zero'; [f(0), f(1)]
fs = {'a': lambda: 1, 'b': lambda: 2}; fs['b']()
fs = [abs, len, str]; [g(v) for g, v in zip(fs, [-1, 'ab', 5])]
f = print; f('x')
f = 'abc'.upper; f()
x = []; f = x.append; f(1); f(2); x
(print)('a')
len(*['abc'])
print(*[1, 2], *[3], sep='-')
max(*[1, 5], *(3,))
dict(**{'a': 1}, **{'b': 2})
sorted([3, 1, 2], **{'reverse': True})
list(map(lambda n: n * 2, [1, 2]))
(lambda x: x)(x=5)
''') + blocks(r'''
def f(a, b, c=3):
    return [a, b, c]
f(1, 2)
---
def f(a, b, c=3):
    return [a, b, c]
f(1, c=9, b=2)
---
def f(a, b=2, *args, c=3, **kw):
    return [a, b, args, c, kw]
f(1)
---
def f(a, b=2, *args, c=3, **kw):
    return [a, b, args, c, kw]
f(1, 5, 6, 7, c=8, d=9)
---
def f(a, b=2, *args, c=3, **kw):
    return [a, b, args, c, kw]
f(*[1, 2, 3], **{'c': 4, 'z': 5})
---
def f(a, *, k):
    return (a, k)
f(1, k=2)
---
def f(a, *, k=5, m):
    return (a, k, m)
f(1, m=2)
---
def f(*args):
    return args
f(), f(1), f(1, 2)
---
def f(**kw):
    return kw
f(b=1, a=2)
---
def f(*args, **kw):
    return len(args), sorted(kw)
f(1, *[2, 3], x=1, **{'y': 2})
---
def f(x, y):
    return x - y
f(*(5, 3))
---
def f(x, y):
    return x - y
f(**{'y': 1, 'x': 2})
---
def f(x, y=1):
    return x - y
f(*[5], **{})
---
def f(a, b):
    return a + b
f(1, *(2,))
---
def f():
    return
f()
---
def f():
    x = 1
f()
---
def f():
    return 1, 2
f()
---
def f():
    for i in range(10):
        if i == 3:
            return i
f()
---
def f():
    for i in range(3):
        while True:
            return 'deep'
f()
---
def f():
    return 1
    return 2
f()
---
def f(n):
    if n:
        return 'yes'
f(0)
---
def f(x):
    x = x + 1
    return x
x = 1
f(x), x
---
def f(x):
    x.append(1)
x = []
f(x)
x
---
def f(x):
    x += [1]
    return x
x = []
f(x)
x
---
def f(x):
    x = x + [1]
    return x
x = []
f(x)
x
---
def compose(f, g):
    return lambda x: f(g(x))
compose(str, abs)(-5)
---
def apply(f, n, x):
    for _ in range(n):
        x = f(x)
    return x
apply(lambda v: v * 2, 10, 1)
---
def f(a, b):
    'doc'
    return a * b
list(map(f, [1, 2], [3, 4]))
---
def f(): return 1
def f(): return 2
f()
---
def f(x): return x * 2
g = f
def f(x): return x * 3
g(5), f(5)
---
def f(n):
    return n
f.__name__
---
f = lambda: 0
f.__name__
---
len.__name__
---
def add(a, b):
    return a - b
add(5, 3)
---
def sum(values):
    return 'mine'
sum([1, 2])
---
def f(list):
    return list + 1
f(1)
---
def f(a, b=1, *c, d, e=2, **g):
    return a, b, c, d, e, g
f(0, d=3), f(1, 2, 3, 4, d=5, e=6, h=7)
---
def f(key=None):
    return key
f(), f('a'), f(key=0)
---
def f(self):
    return self
f(self=3)
---
def swap(a, b):
    return b, a
x, y = swap(1, 2)
[x, y]
---
def mean(*xs):
    return sum(xs) / len(xs)
mean(1, 2, 6)
---
def f(a,
      b=(1,
         2)):
    return a, b
f(0)
'''),
    "default": blocks(r'''
def f(x, acc=[]):
    acc.append(x)
    return acc
f(1)
f(2)
f(3)
---
def f(x, acc=None):
    acc = [] if acc is None else acc
    acc.append(x)
    return acc
f(1)
f(2)
---
n = 1
def f(x=n):
    return x
n = 2
f()
---
def f(a, d={}):
    d[a] = len(d)
    return d
f('x')
f('y')
---
def make():
    def f(acc=[]):
        acc.append(0)
        return len(acc)
    return f
a = make()
b = make()
a(), a(), b()
---
def f(a, b=len('abc'), c=[n for n in range(2)]):
    return a, b, c
f(0)
---
log = []
def note(n):
    log.append(n)
    return n
def f(a=note(1), b=note(2)):
    return a + b
f()
f(5, 6)
log
---
f = lambda acc=[]: acc.append(1) or acc
f()
f()
---
def f(*, k=[]):
    k.append(1)
    return k
f()
f()
'''),
    "recursion": blocks(r'''
def fact(n):
    return 1 if n <= 1 else n * fact(n - 1)
fact(15)
---
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
[fib(n) for n in range(15)]
---
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
depth(900)
---
def even(n):
    return True if n == 0 else odd(n - 1)
def odd(n):
    return False if n == 0 else even(n - 1)
even(100), even(101)
---
def flat(x):
    out = []
    for v in x:
        if isinstance(v, list):
            out += flat(v)
        else:
            out.append(v)
    return out
flat([1, [2, [3, [4]], 5], []])
---
def hanoi(n, a='A', b='B', c='C'):
    if n == 0:
        return []
    return hanoi(n - 1, a, c, b) + [a + c] + hanoi(n - 1, b, a, c)
hanoi(3)
---
def gcd(a, b):
    return a if b == 0 else gcd(b, a % b)
gcd(1071, 462)
---
def permutations(s):
    if len(s) <= 1:
        return [s]
    return [s[i] + p for i in range(len(s)) for p in permutations(s[:i] + s[i + 1:])]
permutations('abc')
---
def power(b, n):
    if n == 0:
        return 1
    h = power(b, n // 2)
    return h * h * (b if n % 2 else 1)
power(3, 20)
---
def quicksort(x):
    if len(x) < 2:
        return x
    p, *rest = x
    return quicksort([v for v in rest if v < p]) + [p] + quicksort([v for v in rest if v >= p])
quicksort([3, 6, 1, 8, 2, 9, 2])
---
def search(x, v, lo=0, hi=None):
    hi = len(x) if hi is None else hi
    if lo >= hi:
        return -1
    mid = (lo + hi) // 2
    if x[mid] == v:
        return mid
    return search(x, v, mid + 1, hi) if x[mid] < v else search(x, v, lo, mid)
search(list(range(0, 100, 3)), 42)
---
def ack(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ack(m - 1, 1)
    return ack(m - 1, ack(m, n - 1))
ack(2, 3)
---
def collatz(n, steps=0):
    return steps if n == 1 else collatz(n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1)
collatz(97)
---
f = lambda n: 1 if n == 0 else n * f(n - 1)
f(10)
---
def f(n):
    return f(n + 1)
f(0)
---
def f():
    return g()
def g():
    return f()
f()
---
f = lambda: f()
f()
---
def f(x):
    return [f(x) for _ in range(1)]
f(0)
---
def f(n):
    return sum(f(n - 1) for _ in range(2)) if n else 1
f(8)
'''),
}
