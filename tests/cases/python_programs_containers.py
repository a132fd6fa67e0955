# SPDX-License-Identifier: Apache-2.0
"""Programs about lists, tuples, dicts, sets and ranges."""
from python_programs_base import blocks, each, lines
from python_programs_strings import SLICES

GROUPS = {
    "list-slice": each("[10, 11, 12, 13, 14, 15]%s", SLICES) + each("(0, 1, 2, 3)%s", SLICES[:14])
    + each("list(range(10))%s", ["[::3]", "[::-3]", "[8:2:-2]", "[-2:2:-3]", "[2:8][1:3]", "[1::2][::-1]"])
    + each("range(10)%s", ["[2]", "[-1]", "[2:5]", "[::2]", "[::-1]", "[5:]", "[20:]", "[-3:]", "[8:2:-2]", "[1:9][::3]"]),
    "list-slice-assign": ["x = list(range(6)); x%s; x" % s for s in [
        "[1:3] = [9]", "[1:3] = []", "[1:1] = [7, 8]", "[:] = [1]", "[::2] = [7, 8, 9]", "[::-1] = 'abcdef'", "[2:] = 'xy'",
        "[-2:] = (1, 2, 3)", "[10:] = [5]", "[5:2] = [0]", "[1:5:2] = [0, 0]", "[:0] = range(2)", "[:] = x", "[1:1] = x",
        "[1:3] += [4]", "[0] = 'a'", "[-1] = None", "[2] += 5", "[::2] = [1]", "[1:3] = 5", "[6] = 1", "[-7] = 1", "['a'] = 1",
        "[0:2] = {'k': 1}", "[0:2] = {5}", "[2:4] = reversed(x)", "[1:3] = [n * n for n in range(3)]"]]
    + ["x = list(range(6)); del x%s; x" % s for s in ["[0]", "[-1]", "[1:3]", "[:]", "[::2]", "[::-2]", "[4:1]", "[10:]",
                                                     "[6]", "[-7]", "[1:5:3]", "[2], x[0]", "[5:0:-2]"]],
    "list-method": ["x = [3, 1, 2, 1]; r = x.%s; (x, r)" % m for m in [
        "append(5)", "append([1])", "extend([7, 8])", "extend('ab')", "extend(x)", "extend(range(2))", "extend({'k': 1})",
        "insert(0, 9)", "insert(2, 9)", "insert(-1, 9)", "insert(100, 9)", "insert(-100, 9)", "pop()", "pop(0)", "pop(-2)", "pop(1)",
        "remove(1)", "reverse()", "sort()", "sort(reverse=True)", "sort(key=lambda v: -v)", "sort(key=str)", "clear()", "copy()",
        "index(1)", "index(1, 2)", "index(2, 0, 3)", "count(1)", "count(9)", "pop(4)", "pop('a')", "remove(9)", "index(9)",
        "index(3, 1)", "append()", "append(1, 2)", "insert(1)", "extend(5)", "sort(5)", "sort(foo=1)", "nothing()", "index(True)",
        "count(1.0)", "sort(key=None)", "sort(reverse=0)"]]
    + lines(r'''
[].pop()
[1, 'a'].sort()
x = [1, 2]; y = x; y.append(3); x
x = [1, 2]; y = x.copy(); y.append(3); x
x = [1, 2]; y = list(x); y[0] = 9; x
x = [[0] * 2] * 2; x[0][0] = 1; x
x = [[0] * 2 for _ in range(2)]; x[0][0] = 1; x
x = [1]; x += [2]; x
x = [1]; y = x; x += [2]; y
x = [1]; y = x; x = x + [2]; y
x = [1]; x += 'ab'; x
x = [1]; x += (2, 3); x
x = [1]; x *= 3; x
x = [1]; y = x; x *= 2; y
[1, 2] + [3]
[1, 2] * 2
2 * [1]
[1] * 0
[1] * -2
[] + []
[1, [2, [3]]][1][1][0]
[[1, 2], [3, 4]][1][0]
len([1, [2, 3], 'abc'])
[*[1, 2], *(3, 4), *'ab']
[*range(3), 9]
[1, 2,]
[ ]
[[]]
[None] * 3
sorted([3, 1, 2])
sorted([3, 1, 2], reverse=True)
sorted(['b', 'A', 'a'])
sorted(['bb', 'a', 'ccc'], key=len, reverse=True)
sorted([(1, 'b'), (1, 'a'), (0, 'c')])
sorted([(1, 'b'), (1, 'a'), (0, 'c')], key=lambda p: p[0])
sorted([(1, 'b'), (1, 'a'), (0, 'c')], key=lambda p: p[0], reverse=True)
sorted({'b': 1, 'a': 2})
sorted({3, 1, 2})
sorted('cab')
sorted([True, 0, 2.5, -1])
sorted([[2], [1, 5], [1]])
sorted([1.5, 1, 0.5])
sorted(range(5), key=lambda n: (n % 2, -n))
sorted(['x10', 'x9', 'x1'], key=lambda s: int(s[1:]))
x = [3, 1]; sorted(x); x
list(reversed([1, 2, 3]))
list(reversed(range(5)))
list(reversed((1, 2)))
list(reversed({'a': 1, 'b': 2}))
list(zip([1, 2], 'ab'))
list(zip([1, 2, 3], 'ab'))
list(zip())
list(zip([1]))
list(zip([1, 2], [3, 4], [5, 6]))
list(zip(*[(1, 2), (3, 4)]))
list(map(lambda a, b: a + b, [1, 2], [3, 4]))
list(map(lambda a, b: a + b, [1, 2, 3], [3]))
list(enumerate(['a', 'b']))
list(enumerate('ab', 1))
list(enumerate('ab', start=-1))
list(filter(lambda n: n % 2, range(6)))
[(i, v) for i, v in enumerate('ab')]
list(range(5))
list(range(2, 5))
list(range(5, 2))
list(range(5, 2, -1))
list(range(0, 10, 3))
list(range(-3, 3))
list()
list('')
list({'a': 1})
list((1, 2))
list([1])
list({1})
'''),
    "tuple": lines(r'''
()
(1,)
1,
(1, 2)
1, 2
(1)
((1,),)
(1, 2) + (3,)
(1,) * 3
(1, 2)[0]
(1, 2)[-1]
(1, [2])[1].append(3)
t = (1, [2]); t[1].append(3); t
t = (1, 2); t += (3,); t
len((1, 2))
(1, 2, 1).count(1)
(1, 2, 1).index(2)
(1, 2, 1).index(1, 1)
tuple([1, 2])
tuple('ab')
tuple(range(3))
tuple()
tuple({'a': 1})
tuple(n * 2 for n in range(3))
(*[1, 2], 3)
*range(2), 5
max((1, 2), (1, 3))
(1, 2) == (1, 2)
(1, 'a') < (1, 'b')
1 in (1, 2)
{(1, 2): 'a'}[(1, 2)]
{(1, 2): 'a'}[1, 2]
d = {}; d[1, 2] = 3; d
[t for t in ((1, 2), (3, 4))]
sorted(((2, 'b'), (1, 'a')))
(1, 2)[5]
(1, 2).append(3)
t = (1, 2); t[0] = 5
t = (1, 2); del t[0]
t = ([],); t[0] += [1]
(1, 2).index(5)
(1, 2) + [3]
(1, 2) * 1.5
tuple(5)
(1, 2)['a']
(1,)()
'''),
    "dict-method": ["d = {'a': 1, 'b': 2}; r = d.%s; (d, r)" % m for m in [
        "get('a')", "get('z')", "get('z', 0)", "pop('a')", "pop('z', None)", "pop('z')", "popitem()", "setdefault('a', 5)",
        "setdefault('z', 5)", "setdefault('z')", "update({'b': 3, 'c': 4})", "update(a=9)", "update([('x', 1)])", "update()",
        "update({'q': 1}, r=2)", "clear()", "copy()", "get()", "pop()", "nothing", "update(5)", "update([1])", "update(['ab'])",
        "get('a', default=1)", "update([(1, 2, 3)])", "get([])"]]
    + lines(r'''
{}
{'a': 1}
{'a': 1, 'a': 2}
{1: 'a', True: 'b'}
{1: 'a', 1.0: 'b', True: 'c'}
{0: 'a', False: 'b', 0.0: 'c', -0.0: 'd'}
{1: 'a'}[1.0]
{1: 'a'}[True]
{1.0: 'a'}[1]
{None: 1}[None]
{(1, 2): 3}[1, 2]
{'a': {'b': {'c': 5}}}['a']['b']['c']
d = {}; d['x'] = 1; d
d = {'x': 1}; d['x'] += 5; d
d = {'b': 1, 'a': 2}; d['c'] = 3; d['b'] = 9; list(d)
d = {'a': 1, 'b': 2}; del d['a']; d['a'] = 3; list(d)
d = {'a': 1}; del d['a']; d
len({'a': 1, 'b': 2})
'a' in {'a': 1}
1 in {'a': 1}
'b' not in {'a': 1}
list({'a': 1, 'b': 2})
list({'a': 1, 'b': 2}.keys())
list({'a': 1, 'b': 2}.values())
list({'a': 1, 'b': 2}.items())
[k + str(v) for k, v in {'a': 1, 'b': 2}.items()]
sum({'a': 1, 'b': 2}.values())
max({'a': 1, 'b': 2}, key={'a': 1, 'b': 2}.get)
sorted({'b': 1, 'a': 2}.items())
sorted({'b': 1, 'a': 2}.items(), key=lambda kv: kv[1])
dict()
dict(a=1, b=2)
dict([('a', 1), ('b', 2)])
dict([['a', 1]])
dict({'a': 1}, b=2)
dict(zip('ab', [1, 2]))
dict(['ab', 'cd'])
dict(enumerate('ab'))
dict({'a': 1})
dict(a=1, **{'b': 2})
dict.fromkeys('ab')
dict.fromkeys([1, 2], 0)
{**{'a': 1}, 'b': 2}
{'a': 1, **{'a': 2}}
{**{'a': 1}, **{'b': 2}}
{'a': 1} | {'b': 2}
{'a': 1, 'b': 1} | {'b': 2, 'a': 3}
d = {'a': 1}; d |= {'b': 2}; d
d = {'a': 1}; e = d; d |= {'b': 2}; e
d = {'a': 1}; e = d | {'b': 2}; d
d = {'a': 1}; e = d; e['b'] = 2; d
d = {'a': 1}; e = d.copy(); e['b'] = 2; d
d = {'a': [1]}; e = d.copy(); e['a'].append(2); d
{k: v for v, k in enumerate('abc')}
{k: k * k for k in range(4) if k % 2}
{v: k for k, v in {'a': 1, 'b': 2}.items()}
{str(k): k for k in range(3)}
d = {}; d.setdefault('a', []).append(1); d.setdefault('a', []).append(2); d
d = {'a': 1}; d.get('b') is None
d = {2: 'b', 1: 'a'}; list(d)
d = {i: i for i in range(20)}; d.pop(3); list(d)[:5]
{'a': 1}.keys() == {'a': 2}.keys()
'a' in {'a': 1}.keys()
1 in {'a': 1}.values()
('a', 1) in {'a': 1}.items()
len({'a': 1}.values())
print({'a': 1}.keys(), {'a': 1}.values(), {'a': 1}.items())
sorted({'a': 1, 'b': 2}.keys() & {'b': 1, 'c': 3}.keys())
sorted({'a': 1}.keys() | {'b'})
d = {'a': 1}; k = d.keys(); d['b'] = 2; list(k)
list(reversed({'a': 1, 'b': 2}.items()))
{'x': 1, 'y': [1, {'z': (2,)}]}
bool({}) or bool({0: 0})
{}['a']
{'a': 1}['b']
{'a': 1}[[]]
{[]: 1}
{{}: 1}
{(1, []): 1}
d = {'a': 1}; del d['b']
d = {'a': 1}; d.a
d = {'a': 1}; d.a = 2
{'a': 1} + {'b': 2}
{'a': 1} < {'b': 2}
{'a': 1} | [1]
{}.popitem()
dict([1, 2])
dict([(1, 2, 3)])
dict(5)
dict(a=1, a=2)
{**[1]}
d = {'a': 1}; [d.pop(k) for k in d]
sorted({'a': 1, 2: 3})
{'a': 1}()
''') + blocks(r'''
d = {1: 1}
for k in d:
    d[k + 1] = 1
---
d = {'a': 1, 'b': 2}
for k in list(d):
    del d[k]
d
---
d = {'a': 1, 'b': 2}
for k in d:
    d[k] *= 10
d
---
count = {}
for c in 'mississippi':
    count[c] = count.get(c, 0) + 1
count
---
groups = {}
for w in ['apple', 'bob', 'cat', 'alpha']:
    groups.setdefault(w[0], []).append(w)
groups
---
d = {'a': {'n': 1}, 'b': {'n': 2}}
for k, v in d.items():
    v['n'] += 1
d
---
memo = {}
def fib(n):
    if n < 2:
        return n
    if n not in memo:
        memo[n] = fib(n - 1) + fib(n - 2)
    return memo[n]
fib(80)
---
d = {'a': 1}
def f():
    d['b'] = 2
f()
d
'''),
    "set": lines(r'''
{1, 2, 3}
{3, 1, 2}
{1, 1, 1}
{5, 4, 3, 2, 1, 0}
{7, 0, 3}
set([3, 1, 2, 3])
set(range(6))
set(range(20))
set()
len({1, 2, 2})
{1, 2} | {2, 3}
{1, 2} & {2, 3}
{1, 2} - {2, 3}
{1, 2} ^ {2, 3}
{1, 2} <= {1, 2, 3}
{1, 2} < {1, 2}
{1, 2} <= {1, 2}
{1, 2, 3} > {1}
{1, 2, 3} >= {4}
{1} == {1}
{1} != {2}
{1, 2}.union([3])
{1, 2}.union([3], (4,))
{1, 2}.intersection([2, 3])
{1, 2}.difference([2])
{1, 2}.symmetric_difference([2, 3])
{1, 2}.issubset([1, 2, 3])
{1, 2}.issuperset([1])
{1, 2}.isdisjoint([3])
{1, 2}.isdisjoint({2})
{1, 2}.copy()
s = {1, 2}; s.add(3); s
s = {1, 2}; s.add(2); len(s)
s = {1, 2}; s.remove(1); s
s = {1, 2}; s.discard(9); s
s = {1}; s.pop()
s = {1, 2}; s.clear(); s
s = {1}; s.update([2, 3], {4}); s
s = {1, 2, 3}; s.intersection_update({2, 3, 4}); s
s = {1, 2, 3}; s.difference_update([1]); s
s = {1, 2}; s.symmetric_difference_update({2, 3}); s
s = {1, 2}; s |= {3}; s
s = {1, 2}; s &= {2}; s
s = {1, 2}; s -= {2}; s
s = {1, 2}; s ^= {2, 3}; s
s = {1}; t = s; t |= {2}; s
s = {1}; t = s.copy(); t.add(2); s
2 in {1, 2}
1.0 in {1}
True in {1}
'a' in {'a', 'b'}
(1, 2) in {(1, 2)}
{1, 1.0, True}
{True, 1}
{0, False}
{None}
{'a'}
{'a', 'b', 'a'}
{(1, 2), (1, 2)}
sorted({'b', 'a', 'c'})
sorted(set('mississippi'))
{n % 3 for n in range(10)}
{n for n in range(10) if n % 2 == 0}
{c for c in 'aab'}
[n for n in {2, 1, 0}]
list({3, 1, 2})
sum({1, 2, 3})
max({1, 5, 3})
{*[1, 2], *[2, 3]}
set('abc') == {'c', 'b', 'a'}
set({'a': 1})
set((1, 2))
bool(set())
print({3, 2, 1})
print({1}, set())
str({2, 1})
[len(s) for s in [set(), {1}, {1, 2}]]
{1, 2} == {2, 1}
{1, 2} == [1, 2]
{1, 2}.union('ab')
{n * n for n in range(-3, 4)}
{1, 2, 3} - {1} | {9}
{1, 2} & {2} == {2}
set([[1]])
{[]}
{{1}}
{{}}
set(5)
{1, 2}[0]
{1} + {2}
{1} | [2]
{1} < [1]
{1}.add([])
s = {1}; s.remove(2)
set().pop()
{1}.foo
s = {1}; s[0] = 1
{1}()
{1, 2}.union(5)
[] in {1}
''') + blocks(r'''
s = {1, 2}
for v in s:
    s.add(v + 10)
---
seen = set()
out = []
for n in [3, 1, 3, 2, 1]:
    if n not in seen:
        seen.add(n)
        out.append(n)
out
'''),
    "range": lines(r'''
range(3)
range(1, 3)
range(0, 10, 3)
range(5, 0, -2)
range(0)
len(range(10))
len(range(0, 10, 3))
len(range(10, 0))
len(range(10, 0, -3))
range(10)[3]
range(10)[-1]
range(0, 10, 2)[2]
range(1, 7).start
range(1, 7).stop
range(1, 7, 2).step
range(10).index(4)
range(10).count(4)
range(0, 10, 2).count(3)
sum(range(5))
max(range(5))
min(range(5, 1, -1))
list(reversed(range(0, 10, 4)))
tuple(range(2))
range(3) == range(0, 3, 1)
5 in range(0, 100, 5)
-1 in range(5)
[r for r in range(3)]
bool(range(3, 3))
range(True, 5)
range(10 ** 12)[10 ** 11]
len(range(-10 ** 12, 10 ** 12))
10 ** 11 in range(10 ** 12)
range(-5, -1)
range(3)[5]
range(3)[-4]
range(3)['a']
range(1.5)
range('a')
range()
range(1, 2, 0)
range(1, 2, 3, 4)
range(3)[0] = 1
range(10).index(20)
range(3).foo
range(stop=3)
range(3) + range(2)
range(3) < range(4)
r = range(3); r[0:2][1]
'''),
}
