# SPDX-License-Identifier: Apache-2.0
"""Programs about statements: assignment, unpacking, branches, del, assert, layout."""
from python_programs_base import blocks, lines

GROUPS = {
    "assign": lines(r'''
x = 1; x
x = y = 2; [x, y]
x = y = []; x.append(1); y
x = 1; y = x; x = 2; y
x: int = 3; x
x: 'anything' = 4; x
x: int; x = 5; x
x = 5; x: float; x
a = b = c = 0; a += 1; (a, b, c)
x = 1; x += 2; x -= 5; x *= 3; x
x = 7; x //= 2; x
x = 7; x /= 2; x
x = 7; x %= 4; x
x = 2; x **= 10; x
x = 6; x &= 3; x
x = 6; x |= 1; x
x = 6; x ^= 3; x
x = 1; x <<= 4; x
x = 256; x >>= 3; x
x = 'a'; x *= 3; x
x = True; x += 1; x
x = [1, 2]; x[0] += 5; x
x = [[1], [2]]; x[0] += [9]; x
x = [[1, 2], [3, 4]]; x[1][0] *= 10; x
d = {'a': [1]}; d['a'] += [2]; d
x = [1, 2, 3]; i = 0; i, x[i] = 1, 9; x
x = [1, 2, 3]; i = 0; x[i], i = 9, 2; (x, i)
x = [0, 0]; x[0] = x[1] = 7; x
a = b = [0]; a[0] = 5; b
x = 1; x = x + x; x
x = (1); x
x = 1,; x
x = 1, 2; x
_ = 5; _
__ = 3; __
x1 = 1; X1 = 2; x1 + X1
x = None; x
x = x = 3; x
x = 5; x = str(x); x
x = [1]; x[0], y = 2, 3; (x, y)
x = {}; x['a'], x['b'] = 1, 2; x
x = [1, 2, 3]; x[0], x[-1] = x[-1], x[0]; x
list = [1]; list
str = 'a'; str
sum = 5; sum + 1
max = min; max(3, 1)
print = 5; print
len = 3; len
type = 'a'; type
x = len; x([1, 2])
id = 5; id
dict = {}; dict['a'] = 1; dict
'''),
    "unpack": lines(r'''
a, b = 1, 2; (a, b)
a, b = b, a = 1, 2; (a, b)
a, b = [1, 2]; a + b
a, b = {'x': 1, 'y': 2}; a + b
a, b = range(2); b
(a, b) = (1, 2); a
[a, b] = 1, 2; b
a, = [5]; a
[a] = [5]; a
(a) = 5; a
a, (b, c) = 1, (2, 3); [a, b, c]
a, [b, (c, d)] = 1, [2, (3, 4)]; [a, b, c, d]
(a, b), c = 'xy', 'z'; [a, b, c]
a, *b = [1, 2, 3]; [a, b]
*a, b = [1, 2, 3]; [a, b]
a, *b, c = [1, 2, 3, 4]; [a, b, c]
a, *b = [1]; [a, b]
a, *b, c = [1, 2]; [a, b, c]
*a, = (1, 2); a
a, (b, *c), d = 1, (2, 3, 4), 5; [a, b, c, d]
a, b = b, a = 'xy'; a + b
x = [1, 2]; a, b = x; b
a = 1; b = 2; a, b = b, a; (a, b)
a, b, c = 1, 2, 3; a, b, c = c, a, b; (a, b, c)
a, b = map(int, '12'); a + b
a, b = zip([1, 2], [3, 4]); a
a, b = divmod(7, 2); [a, b]
(k, v), = {'a': 1}.items(); (k, v)
a, b = 1, 2; a, b = a + b, a - b; (a, b)
x = [0, 0]; x[0], x[1] = 1, 2; x
x = {}; *x['a'], y = 1, 2, 3; x
a, *_ = range(10); _
[x for x, y in [(1, 2), (3, 4)]]
[x + y for x, (y, _) in [(1, (2, 3)), (4, (5, 6))]]
[rest for first, *rest in ['abc', 'de']]
{k: v for k, v in [('a', 1)]}
a, b = 1
a, b = [1]
a, b = [1, 2, 3]
a, b, *c = [1]
a, b = None
a, (b, c) = 1, 2
a, (b, c) = 1, (2,)
a, b = {}
a, b = {'x': 1}
a = *b, = [1, 2]; (a, b)
''') + blocks(r'''
for a, b in [(1, 2), (3, 4)]:
    print(a, b)
---
for i, (a, *b) in enumerate([(1, 2, 3), (4,)]):
    print(i, a, b)
---
x = [0, 1, 2]
for x[1] in range(5):
    pass
x
---
a, b = 0, 1
out = []
while a < 50:
    out.append(a)
    a, b = b, a + b
out
---
def two():
    return 1, 2
a, b = two()
a, b
---
def f():
    print('called')
    return [0, 0]
f()[0], x = 1, 2
x
---
log = []
def t(n):
    log.append(n)
    return n
d = {}
d[t(1)], d[t(2)] = t(3), t(4)
log
---
log = []
def t(n):
    log.append(n)
    return n
t(1) + t(2) * t(3) - t(4)
log
---
log = []
def t(n):
    log.append(n)
    return n
{t(1): t(2), t(3): t(4)}
[t(5), t(6)]
t(7) if t(0) else t(8)
log
---
log = []
def t(n):
    log.append(n)
    return n
t(3) < t(2) < t(1)
log
---
log = []
def t(n):
    log.append(n)
    return [0] * 9
t(1)[len(t(2)) - 1] += len(t(3))
log
'''),
    "conditional": lines(r'''
1 if True else 2
1 if [] else 2
'a' if 0 else 'b' if 0 else 'c'
x = 5; 'big' if x > 3 else 'small'
(1 if 0 else 2) + 1
1 if 0 else 2 + 1
[1 if n % 2 else 0 for n in range(4)]
1 if 1 else 1 / 0
1 / 0 if 0 else 1
(lambda x: x if x > 0 else -x)(-5)
x = 3 if True else None; x
not 1 if 0 else 2
if 1: x = 5
if 1: x = 5; y = 6
if 0: x = 1
''') + blocks(r'''
x = 7
if x > 5:
    r = 'big'
elif x > 3:
    r = 'mid'
else:
    r = 'small'
r
---
x = 4
if x > 5:
    r = 'big'
elif x > 3:
    r = 'mid'
else:
    r = 'small'
r
---
if [] or {} or '':
    r = 1
else:
    r = 2
r
---
if not None:
    if 0:
        r = 1
    else:
        r = 2
r
---
x = 3
if x == 1: r = 'one'
elif x == 3: r = 'three'
else: r = 'other'
r
---
if 1:
    pass
5
---
if False:
    y = 1
y
---
if 0.0 or -0.0:
    r = 1
elif 'x':
    r = 2
r
---
r = []
for n in range(1, 16):
    if n % 15 == 0:
        r.append('FizzBuzz')
    elif n % 5 == 0:
        r.append('Buzz')
    elif n % 3 == 0:
        r.append('Fizz')
    else:
        r.append(n)
r
'''),
    "del": lines(r'''
x = 1; del x; x
x = 1; del x; x = 2; x
x = y = 1; del x, y; y
x = [1, 2, 3]; del x[0], x[0]; x
d = {'a': 1, 'b': 2}; del d['a']; d
x = [1]; y = x; del x; y
del never_was
x = [1, 2]; del (x[0]); x
x = y = 1; del (x, y); x
x = [[1, 2], [3]]; del x[0][1]; x
x = 1; del x[0]
d = {}; del d['q']
'''),
    "assert": lines(r'''
assert True
assert 1 == 1, 'fine'; 5
assert False
assert 0, 'zero'
assert []
assert (0, 'tuple')
x = 3; assert x > 5, f'{x} too small'
assert 1 / 0
assert None is None; 'ok'
assert 1, 1 / 0; 'message not computed'
assert 0, 1 / 0
'''),
    "layout": blocks(r'''
x = (1 +
     2)
x
---
x = [
    1,
    2,
]
x
---
x = {
    'a': 1,
    # a comment
    'b': 2,
}
x
---
x = 1 + \
    2
x
---

x = 1


x
---
if 1:
  x = 1
  if x:
        y = 2
x + y
---
if 1:
    # only a comment
    x = 1
    # another

    y = 2
# at column 0
x + y
---
if 1:
	x = 1
	y = 2
x + y
---
def f(a,
      b=2,
      *args):
    return (a, b, args)
f(1,
  3,
  *[4,
    5])
---
x = 5;
x
---
x = 1; y = 2; x + y
---
def f(): return 5
f()
---
for i in range(2): print(i); print('-')
---
x = 1 # comment
# comment only
x
---
pass
---
pass; pass; 5
---
if True: pass
else: pass
7
---
x = [1,
2,
  3]
x
---
x = ("a"
"b")
x
---
def f():

    # comment first

    return 1


f()
---
x = 3
(x
 + 1)
---
def f():
    if 1:
        return 'in'
    return 'out'
f()
---
class_ = 1
import_ = 2
class_ + import_
---
x = 1 if (
    2 > 1
) else 3
x
---
print(
    'a',
    'b',
)
---
lambda_ = lambda: (
    1
)
lambda_()
''') + ["x = 1\r\ny = 2\r\nx + y\r\n", "if 1:\r\n    x = 5\r\nx\r\n", "x = 1\n\n\n", "x = 1\nx   \n", "\n\n\n5", "5\n# end",
        "x = 2\n\n    \n\t\nx", "if 1:\n    x = 4\n  # odd comment\n    y = 5\nx + y", "x = '''a\r\nb'''\nx",
        "5 # no newline at the end", "\ufeffx = 1\nx", "x = 1\n\x0cx", "1 if 1else 2", "[0x1for x in (1,)]", "1or 2"],
}
