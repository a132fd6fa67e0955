# SPDX-License-Identifier: Apache-2.0
"""Programs that fail while they run."""
from python_programs_base import blocks, each, lines

OPERANDS = ["1", "1.5", "'a'", "[1]", "(1,)", "{'a': 1}", "{1}", "None", "range(2)", "len"]

GROUPS = {
    "operator-type": ["[%s] + [%s %s %s]" % ("0", a, op, b) for op, pairs in [
        ("+", [(0, 2), (0, 3), (0, 7), (2, 0), (2, 3), (3, 0), (3, 4), (4, 3), (5, 5), (6, 6), (7, 7), (8, 8), (9, 0), (1, 2)]),
        ("-", [(2, 2), (3, 3), (4, 0), (5, 5), (6, 3), (7, 0), (0, 7), (8, 0)]),
        ("*", [(2, 1), (2, 2), (3, 3), (3, 1), (4, 7), (5, 0), (6, 0), (7, 0), (8, 0), (0, 5)]),
        ("/", [(2, 0), (3, 0), (0, 2), (7, 7)]), ("//", [(2, 0), (0, 3)]), ("%", [(3, 0), (0, 2), (1, 3), (7, 0)]),
        ("**", [(2, 0), (0, 2), (3, 3), (0, 7)]), ("&", [(1, 0), (2, 2), (0, 1), (3, 3), (6, 0)]),
        ("|", [(1, 1), (0, 6), (2, 0), (7, 7), (6, 3)]), ("^", [(1, 0), (5, 5), (0, 3)]),
        ("<<", [(1, 0), (0, 1), (2, 0)]), (">>", [(1, 0), (0, 2)]), ("@", [(0, 0), (3, 3), (2, 0), (1, 1)]),
        ("<", [(0, 2), (2, 0), (3, 4), (5, 5), (6, 3), (7, 0), (7, 7), (8, 8), (9, 9), (0, 3), (1, 2)]),
        (">=", [(0, 2), (4, 3), (7, 1), (5, 0)]), ("in", [(0, 0), (0, 1), (0, 7), (0, 2), (3, 6), (0, 9)]),
    ] for a, b in [(OPERANDS[i], OPERANDS[j]) for i, j in pairs]],
    "unary-type": each("%s%s", ["-", "+", "~"], ["'a'", "[1]", "(1,)", "{}", "None", "range(2)"]) + ["~1.5", "-len", "-{1}"],
    "index-type": each("(%s)[0]", ["5", "1.5", "None", "True", "{1}", "len", "(lambda: 1)"])
    + each("[1, 2]%s", ["['a']", "[1.0]", "[None]", "[[0]]", "[(0, 1)]", "[0, 1]", "['a':]", "[:1.5]", "[::'x']", "[::0]"])
    + each("{'a': 1}%s", ["[1:2]", "[{}]", "[{1}]", "[[1]]", "['a']['b']", "['a'].b"])
    + each("[1, 2][%s]", ["2", "-3", "5", "10 ** 12", "-10 ** 15"])
    + each("(1, 2)[%s]", ["2", "-3", "100"]) + each("'ab'[%s]", ["2", "-3", "99"]) + ["[][0]", "()[0]", "[[1]][0][1]"],
    "zero-division": each("%s", ["1 / 0", "1 // 0", "1 % 0", "0 / 0", "1.0 / 0", "1.0 // 0", "1.0 % 0", "1 / 0.0", "1 // 0.0",
                                 "1 % 0.0", "0.0 / 0.0", "True / False", "0 ** -1", "0.0 ** -1", "0.0 ** -0.5", "1 / -0.0", "5 % (3 - 3)",
                                 "[1 / 0]", "1 / (1 if 0 else 0)", "(1 / 0) if 1 else 2", "print(1 / 0)", "{'a': 1 % 0}",
                                 "x = 1; x /= 0", "x = 1; x //= 0", "x = 1; x %= 0", "float('inf') // 0", "float('nan') % 0",
                                 "divmod(0, 0)", "9223372036854775807 // 0"]),
    "value-error": each("%s", ["1 << -1", "1 >> -1", "[1, 2].index(3)", "[].remove(1)", "(1,).index('a')", "'a'.index('b')",
                               "int('1.0')", "float('1,5')", "chr(2 ** 40) if 0 else chr(1114112)", "list(range(1, 2, 0))",
                               "a, b = [1, 2, 3]", "a, b, c = 1, 2", "[1, 2, 3][::0]", "x = [1, 2, 3]; x[::2] = [1]",
                               "max([])", "min(())", "int('')", "dict([(1, 2, 3)])", "'x'.split('')", "'a'.partition('')",
                               "'%q' % 1", "f'{1:zz}'", "'{'.format(1)", "math.sqrt(-1)", "math.log(0)", "pow(2, 3, 0)",
                               "int('1', 99)", "del_ = [1]; del_.remove(2)", "'ab'.rindex('c')", "range(5).index(7)"]),
    "attribute": each("%s", ["[].foo", "(1).foo", "'a'.foo", "{}.foo", "().foo", "set().foo", "None.foo", "(1.5).foo", "True.foo",
                             "[].add(1)", "{}.append(1)", "().append(1)", "set().append(1)", "'a'.append('b')", "[].keys()",
                             "{}.has_key(1)", "range(3).append(1)", "len.foo", "x = 5; x.y = 1", "x = []; x.y = 1", "x = {}; x.y = 1",
                             "x = 'a'; x.y = 1", "x = None; x.y", "[1, 2].length", "'abc'.len()", "[].Append(1)", "math.squareroot(2)",
                             "(1).append", "x = [1]; x.sort().reverse()", "x = 5; del x.y", "{'a': 1}.a", "[3].pop().foo"]),
    "undefined": each("%s", ["undefined_one", "undefined_two + 1", "undefined_three()", "undefined_four.x", "undefined_five[0]",
                             "[undefined_six]", "len(undefined_seven)", "x = undefined_eight", "undefined_nine += 1", "f'{undefined_ten}'",
                             "undefined_a if True else 1", "1 if undefined_b else 2", "[n for n in undefined_c]", "for n in undefined_d: pass",
                             "del undefined_e", "print(undefined_f)", "not undefined_g", "undefined_h and 1", "0 or undefined_i",
                             "{undefined_j: 1}", "(lambda: undefined_k)()", "x = 1; X", "true", "null", "none", "nil", "x: int; x",
                             "assert undefined_l", "1 < undefined_m", "undefined_n[0] = 1", "lenn('a')", "pirnt(1)"]),
    "error-order": lines(r'''
1 / 0; undefined_x
undefined_x; 1 / 0
[1 / 0, undefined_x]
undefined_x + 1 / 0
1 / 0 + undefined_x
'a' + 1 + 1 / 0
print(1 / 0, undefined_x)
x = [1]; x[5] = 1 / 0
{1 / 0: undefined_x}
{undefined_x: 1 / 0}
(1 / 0)[undefined_x]
len(undefined_x)(1 / 0)
0 and 1 / 0 or undefined_x
[][0] if 1 / 0 else 2
assert 1 / 0, undefined_x
x = 5; x()[1 / 0]
[n / 0 for n in [undefined_x]]
'ok'; [][0]
1; 2; [][1]; 3
''') + blocks(r'''
x = 1
y = 2
x / (y - 2)
---
def f():
    return 1 / 0
x = 1
f()
---
def f(x):
    y = x + 1
    return y[0]
f(1)
---
for i in range(3):
    x = 1
    [10, 20][i]
---
if True:
    a = 1
    if True:
        b = a + 'x'
---
x = {'a': 1}

# a comment

x['b']
---
def f():
    x = 1

    return undefined_z
y = 1
f()
---
f = lambda v: v.foo
x = 1
f(x)
---
x = [1, 2]
x[0]; x[1]; x[2]
---
print('one')
print('two')
print('three' + 3)
---
while True:
    x = 1
    assert x == 2
---
def deep(n):
    if n == 0:
        return [][0]
    return deep(n - 1)
x = 5
deep(3)
'''),
    "call-error": lines(r'''
5()
'a'()
None()
[1, 2](0)
(1, 2)()
{}()
len()
len(1, 2)
len([], [])
abs()
abs('a')
abs(None)
print.foo
int(5, 5, 5)
range('a', 'b')
isinstance(1)
isinstance(1, 2)
isinstance(1, 'int')
sorted()
sorted(5)
sorted([1], 2)
sorted([1, 'a'])
sorted([None, 1])
sorted([1], key=5)
sorted([1], foo=2)
min()
min(5)
max(1, 'a')
max([])
max([], key=abs)
max(1, 2, default=3)
sum()
sum(5)
sum([1, 'a'])
sum(['a'], '')
zip(5)
list(zip([1], 5))
enumerate()
enumerate(5)
list(map(5, [1]))
list(map(abs))
list(map(lambda a: a, [1], [2]))
map(abs)
list(filter(lambda: 1, [1]))
any()
any(5)
all(1, 2)
reversed({1})
list(reversed(1.5))
divmod(1)
divmod('a', 1)
divmod(1, 0)
divmod(1.0, 0)
round()
round('a')
round(1.5, 'a')
round(None)
pow(2)
pow(2, 3, 0)
pow(2.0, 3, 5)
pow('a', 2)
pow(4, -1, 2)
ord()
chr()
chr(1.5)
repr()
type()
tuple(1, 2)
list(1, 2)
set(1, 2)
dict(1, 2)
bool(1, 2)
(lambda x: x)()
(lambda: 1)(2)
(lambda x: x)(1, 2)
(lambda x: x)(y=1)
(lambda x: x)(1, x=2)
(lambda *, k: k)(1)
(lambda *, k: k)()
len(**{'a': 1})
print(*5)
dict(**5)
dict(**{1: 2})
max(*5)
f = lambda: 1; f.attr
f = lambda: 1; f[0]
f = lambda: 1; f + 1
len + 1
len[0]
len < abs
'''),
    "arity-error": blocks(r'''
def f(a, b):
    return a
f(1)
---
def f(a, b):
    return a
f(1, 2, 3)
---
def f(a, b):
    return a
f(1, c=2)
---
def f(a, b):
    return a
f(1, a=2)
---
def f(a, b):
    return a
f(b=1)
---
def f(a, *, k):
    return a
f(1)
---
def f(a, *, k):
    return a
f(1, 2)
---
def f():
    return 1
f(1)
---
def f():
    return 1
f(x=1)
---
def f(a):
    return a
f(*[1, 2])
---
def f(a):
    return a
f(**{'b': 1})
---
def f(a):
    return a
f(1, **{'a': 1})
---
def f(a):
    return a
f(**{'a': 1}, **{'a': 2})
---
def f(a):
    return a
f(**{1: 1})
---
def f(a=1, *b):
    return a
f(2, a=3)
---
def f(**kw):
    return kw
f(1)
---
def f(a, b=2, *, c):
    return a
f(1, 2, 3, c=4)
---
def f(x):
    return g(x)
def g(x, y):
    return x
f(1)
'''),
}
