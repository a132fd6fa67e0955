# SPDX-License-Identifier: Apache-2.0
"""Programs about loops and comprehensions."""
from python_programs_base import blocks, lines

GROUPS = {
    "loop": lines(r'''
for i in range(3): pass
for i in []: pass
for i in range(3): x = i
while 0: pass
for c in 'abc': print(c, end='')
for i in range(3): print(i); print(i * 2)
''') + blocks(r'''
s = 0
for i in range(5):
    s += i
s
---
for i in range(3):
    pass
i
---
for i in []:
    pass
i
---
i = 'kept'
for i in range(0):
    pass
i
---
for i in range(5):
    if i == 3:
        break
i
---
for i in range(5):
    if i == 3:
        break
else:
    i = 'else'
i
---
for i in range(5):
    if i == 9:
        break
else:
    i = 'else'
i
---
out = []
for i in range(6):
    if i % 2:
        continue
    out.append(i)
else:
    out.append('end')
out
---
for i in []:
    x = 1
else:
    x = 2
x
---
n = 5
while n > 0:
    n -= 2
n
---
n = 0
while True:
    n += 1
    if n > 10:
        break
n
---
n = 0
while n < 3:
    n += 1
else:
    n = 'done'
n
---
n = 0
while n < 3:
    n += 1
    if n == 2:
        break
else:
    n = 'done'
n
---
n = 10
out = []
while n:
    n -= 1
    if n % 3:
        continue
    out.append(n)
out
---
while False:
    x = 1
else:
    x = 'else'
x
---
out = []
for i in range(3):
    for j in range(3):
        if j == 2:
            break
        if i == 1:
            continue
        out.append((i, j))
out
---
out = []
for i in range(3):
    for j in range(3):
        if i == j == 1:
            break
    else:
        out.append(i)
        continue
    out.append('broken')
out
---
for i in range(3):
    i = i * 10
    print(i)
---
x = [1, 2, 3]
for v in x:
    if v < 3:
        x.append(v + 10)
x
---
x = [1, 2, 3, 4]
for v in x:
    x.remove(v)
x
---
x = [1, 2, 3]
for i, v in enumerate(x):
    x[i] = v * v
x
---
for k in {'b': 1, 'a': 2}:
    print(k)
---
for k, v in {'b': 1, 'a': 2}.items():
    print(k, v)
---
for c in 'héy':
    print(c)
---
for a, b in zip([1, 2, 3], 'ab'):
    print(a, b)
---
for x in (1, 'a', None, [2]):
    print(x)
---
for n in range(10, 0, -3):
    print(n)
---
for v in {3, 1, 2}:
    print(v)
---
for v in map(lambda n: n * n, range(3)):
    print(v)
---
for v in filter(None, [0, 1, 2]):
    print(v)
---
for v in reversed('ab'):
    print(v)
---
x = [3, 1, 2]
for v in sorted(x):
    x.append(v)
x
---
primes = []
n = 2
while len(primes) < 10:
    for p in primes:
        if n % p == 0:
            break
    else:
        primes.append(n)
    n += 1
primes
---
x = [5, 2, 9, 1]
for i in range(len(x)):
    for j in range(len(x) - 1 - i):
        if x[j] > x[j + 1]:
            x[j], x[j + 1] = x[j + 1], x[j]
x
---
a, b = 48, 36
while b:
    a, b = b, a % b
a
---
n, steps = 27, 0
while n != 1:
    n = 3 * n + 1 if n % 2 else n // 2
    steps += 1
steps
---
total = 0
for i in range(2000):
    total += i * i % 7
total
---
m = [[1, 2], [3, 4]]
t = []
for j in range(2):
    row = []
    for i in range(2):
        row.append(m[i][j])
    t.append(row)
t
---
for i in range(3):
    for i in range(2):
        pass
i
---
r = range(3)
out = []
for a in r:
    for b in r:
        out.append(a * b)
out
---
for i in range(2):
    def f():
        return i
f()
---
e = enumerate('ab')
out = [list(e), list(e)]
out
---
z = zip([1, 2, 3], [4, 5, 6])
for a in z:
    break
list(z)
---
for i in 5:
    pass
---
for i in None:
    pass
---
for a, b in [1, 2]:
    pass
---
while undefined_here:
    pass
---
for x in [1, 0]:
    1 / x
---
d = {'a': 1}
for k, v in d:
    pass
---
while 'a' + 1:
    pass
'''),
    "comprehension": lines(r'''
[n for n in range(5)]
[n * n for n in range(5) if n % 2]
[n for n in range(20) if n % 2 if n % 3]
[(a, b) for a in range(2) for b in 'xy']
[(a, b) for a in range(3) for b in range(a)]
[a for a in range(5) if a > 1 for b in range(a) if b > 1]
[[a * b for b in range(3)] for a in range(3)]
[x for row in [[1, 2], [3]] for x in row]
[x if x > 1 else -x for x in range(4)]
[lambda: n for n in range(3)][0]()
[f() for f in [lambda: n for n in range(3)]]
[f() for f in [lambda n=n: n for n in range(3)]]
[]  + [n for n in []]
n = 'kept'; [n for n in range(3)]; n
[zz for zz in range(3)]; zz
{n for n in [1, 1, 2]}
{n: n * n for n in range(3)}
{a: b for a, b in zip('ab', [1, 2])}
{c: i for i, c in enumerate('aba')}
{n: {m: n * m for m in range(2)} for n in range(2)}
sum(n for n in range(5))
sum(n * n for n in range(5) if n)
max(len(w) for w in ['a', 'bbb'])
any(n > 3 for n in range(5))
list(n for n in range(3))
tuple(n for n in 'ab')
set(n % 2 for n in range(5))
dict((k, 1) for k in 'ab')
sorted((n for n in [3, 1, 2]), reverse=True)
''.join(str(n) for n in range(5))
' '.join(c.upper() for c in 'abc')
list(map(str, (n for n in range(2))))
all(a < b for a, b in zip([1, 2], [2, 3]))
min((abs(n - 3), n) for n in range(6))
sum(a * b for a, b in zip([1, 2, 3], [4, 5, 6]))
sum((n for n in range(3)), 10)
list(enumerate(c for c in 'ab'))
list(zip((a for a in range(2)), (b for b in 'xy')))
x = 5; [x + n for n in range(2)]
x = 5; [x for x in range(2)] + [x]
[n for n in [m for m in range(4) if m % 2]]
[a + b for a, b in [(1, 2), (3, 4)]]
[i for i in range(3) for i in range(i)]
[_ for _ in range(2)]
[print(n) for n in range(2)]
[n for n in 'a,b'.split(',')]
[d['a'] for d in [{'a': 1}, {'a': 2}]]
[*[n for n in range(2)], *{m for m in range(2)}]
[n if n else 'zero' for n in range(2)]
[n for n in range(3) if not n]
[n or 'none' for n in (0, 1)]
[(n, m) for n, m in {'a': 1}.items()]
[n for n in range(10)][::3]
[[]for n in range(2)]
[n for n in range(3) if n in [m for m in range(2)]]
[(lambda v: v * 2)(n) for n in range(3)]
[y for x in range(3) for y in [x * x]]
any([] for n in range(3))
[1 / n for n in range(2)]
[n for n in 5]
[q for n in range(2)]
[a for a, b in [1]]
{[]: n for n in range(1)}
sum(1 / n for n in (1, 0))
[n.foo for n in range(2)]
''') + blocks(r'''
def f(k):
    return [n * k for n in range(3)]
f(2)
---
k = 3
def f():
    return [n * k for n in range(3)]
k = 4
f()
---
def f():
    x = 1
    g = [x for _ in range(2)]
    x = 2
    return g + [x]
f()
---
matrix = [[1, 2, 3], [4, 5, 6]]
[[row[i] for row in matrix] for i in range(3)]
---
def f():
    return sum(n * m for n in range(3) for m in range(n))
f()
---
x = [n
     for n in range(5)
     if n > 2]
x
---
fs = [lambda x, n=n: x + n for n in range(3)]
[f(10) for f in fs]
---
def outer():
    n = 5
    inner = [n for n in range(3)]
    return inner, n
outer()
---
out = []
def note(n):
    out.append(n)
    return n < 3
any(not note(n) for n in range(10))
out
---
out = []
def note(n):
    out.append(n)
    return n
[note(a) + note(b) for a in (1, 2) for b in (10, 20)]
out
'''),
}
