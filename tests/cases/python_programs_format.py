# SPDX-License-Identifier: Apache-2.0
"""Programs about text made from values: f-strings, format specifications, %, str.format, print."""
from python_programs_base import blocks, each, lines

INT_SPECS = ["", "d", "5", "05", "<5", ">5", "^5", "=5", "*^7", "x<6", "+", "-", " ", "+05", "b", "#b", "o", "#o", "x", "X",
             "#x", "#X", "08b", "#010x", ",", "_", "_b", "_x", ",d", "+,", "n", ".2f", "e", "%", "=+6d", "0<5", "c", "#06o"]
FLOAT_SPECS = ["", "f", "F", "e", "E", "g", "G", "%", ".0f", ".1f", ".2f", ".3e", ".0e", ".4g", ".0g", ".1%", "10.2f", "<10.2f",
               "^10.2f", "+.2f", " .2f", "010.2f", "*>10.1f", ",.2f", "_.1f", "#.0f", "#g", ".3", ".10", "12", "+", "=+10.1f",
               ".17g", "n", ",", "08", "z.1f", ".20f", ".1g", "#.3g"]
STR_SPECS = ["", "s", "5", "<5", ">5", "^5", "*^7", ".2", ".0", "5.1", "->6s", "05", "^6.2s", "日>5", "<", "{}>5"]
PERCENT_INT = ["%d", "%i", "%5d", "%-5d|", "%05d", "%+d", "% d", "%x", "%X", "%#x", "%o", "%#o", "%u", "%.3d", "%8.3d", "%c",
               "%e", "%.2f", "%g", "%s", "%r", "%-+6d|", "%+05d", "%#X", "%3s", "%5.1f%%"]
PERCENT_FLOAT = ["%f", "%.2f", "%8.3f", "%-8.1f|", "%+.1f", "%e", "%.3E", "%g", "%G", "%.3g", "%d", "%i", "%s", "%r", "%08.2f", "%.0f",
                 "%#.0f", "% .1f", "%5s", "%.10g"]

GROUPS = {
    "format-int": ["[f'{n:%s}' for n in (42, 7, 0, 255)]" % s for s in INT_SPECS]
    + ["[f'{n:%s}' for n in (-42, -255, 1234567, -1234567)]" % s for s in INT_SPECS if s != "c"]
    + ["[f'{n:%s}' for n in (True, False)]" % s for s in ["", "d", "5", "x", "s>5d", "05", ".1f", "<6"]],
    "format-float": ["[f'{n:%s}' for n in (3.14159, -2.5, 0.0, 100.0)]" % s for s in FLOAT_SPECS if s[:1] != "z"]
    + ["[f'{n:%s}' for n in (1234567.891, 1e-7, 1e22, -0.0)]" % s for s in FLOAT_SPECS if s[:1] != "z"]
    + ["[f'{n:%s}' for n in (float('inf'), -float('inf'), float('nan'))]" % s
       for s in ["", "f", "F", "e", "G", "10", "010.2f", "+", "%", ",.1f", "<6", ".3"]]
    + ["[f'{n:%s}' for n in (0.5, 1.5, 2.5, 0.125, 2.675, 9.995)]" % s for s in [".0f", ".1f", ".2f", ".0e", ".2g", ".0%"]]
    + ["[f'{n:%s}' for n in (123456.0, 1234567.0, 0.0001, 0.00001)]" % s for s in ["g", ".3g", "G", "", ".6", "#g", "n"]],
    "format-str": ["[f'{s:%s}' for s in ('abc', '', 'é日')]" % s for s in STR_SPECS[:15]]
    + lines(r'''
f'{"a":{">"}5}'
f"{'abc':!<6}"
f"{'abc':^^7}"
f"{'x':<3}|{'y':>3}|"
f"{'abc':.{2}}"
f"{'abc'!r:>7}"
f"{'é'!a}"
f"{'a'!s:3}|"
f"{None}"
f"{None!r:>6}"
f"{True}"
f"{[1, 'a']}"
f"{(1,)}"
f"{ {'a': 1} }"
f"{ {1, 2} }"
f"{[1, 2]!s:>10}"
f"{range(3)}"
f"{type(1)}"
f"{'a' 'b'}"
'''),
    "format-error": lines(r'''
f"{'x':d}"
f"{'x':f}"
f"{'x':+}"
f"{'x':,}"
f"{'x':=5}"
f"{3:s}"
f"{3:.2d}"
f"{3.5:d}"
f"{3.5:x}"
f"{3.5:s}"
f"{3:q}"
f"{3:5q}"
f"{3:,_}"
f"{3:,x}"
f"{[1]:5}"
f"{(1, 2):>5}"
f"{None:5}"
f"{ {}:d}"
f"{-1:c}"
f"{1114112:c}"
f"{3:+c}"
f"{3:10.}"
f"{nothing_here}"
f"{1/0}"
f"{'a' + 1}"
'{:d}'.format('x')
'{:s}'.format(3)
'{}'.format()
'{} {}'.format(1)
'{1}'.format(0)
'{a}'.format()
'{a}'.format(1)
'{'.format(1)
'}'.format(1)
'{0} {}'.format(1, 2)
'{} {0}'.format(1, 2)
'{!x}'.format(1)
'{0[5]}'.format([1])
'{0[k]}'.format({})
'{0.foo}'.format(1)
'{:{}}'.format(1)
'%d' % 'x'
'%d' % None
'%f' % 'x'
'%x' % 1.5
'%c' % 'ab'
'%c' % -1
'%c' % 1.5
'%d %d' % 1
'%d %d' % (1,)
'%d' % (1, 2)
'abc' % 1
'%z' % 1
'%' % 1
'%(a)s' % 1
'%(a)s' % {}
'%(a' % {'a': 1}
'%*d' % 1
'%d' % [1]
'''),
    "fstring": lines(r'''
f''
f'plain'
f'{1}'
f'{1}{2}'
f'a{1}b{2}c'
f'{{}}'
f'{{{1}}}'
f'{1 + 2}'
f'{"a"}'
f"{'a' + 'b'}"
x = 5; f'{x}'
x = 5; f'{x=}'
x = 5; f'{x = }'
x = 5; f'{x=:>4}'
x = 'a'; f'{x=}'
x = 'a'; f'{x=!s}'
x = 3.14159; f'{x=:.2f}'
x = 2; f'{x + 1=}'
x = 2; f'{ x }'
d = {'a': 1}; f"{d['a']}"
d = {'a': 1}; f'{d["a"]}'
x = [1, 2]; f'{x[0]}-{x[-1]}'
x = 'abc'; f'{x.upper()}'
x = 'abc'; f'{x[::-1]}'
x = 'it'; f"{x!r}"
f"{'it'}'s"
f'{3:{5}}'
w = 8; p = 2; f'{3.14159:{w}.{p}f}'
w = 6; f'{"a":>{w}}|'
f = 'x'; c = '*'; f'{f:{c}^{5}}'
f'{1 if True else 2}'
f'{(lambda v: v + 1)(2)}'
f'{[n for n in range(3)]}'
f'{sum(n for n in range(4))}'
f'{ {n: n for n in range(2)} }'
f'{3 == 3}'
f'{3 != 4}'
f'{3 >= 4}'
f'{not 1}'
f'{1, 2}'
f'{-1}'
f'{"a" if 0 else "b":>3}'
f'{1:}'
f'{"x":}'
f'a\n{1}\t'
rf'\n{1}'
fr'{1}\d'
F'{1}'
f'{1}' 'b' f'{2}'
'a' f'{1}'
f'{"{"}'
f'{chr(65)}'
f'{1_000}'
f'{0x1f}'
f'{10:#x} {10:b} {10:o}'
f'{"nested " + f"{1 + 1}"}'
f"{f'{1}'}"
f'{1!r}'
f'{"a"!r}'
f'{"a"!r:>5}'
f'{1:>{2 + 1}}'
f"{'a':<{len('abc')}}|"
f'{"日本"}'
f'日{1}本'
name, n = 'w', 3; f'{name}: {n * 2:03d} ({n / 7:.1%})'
f'{True:d} {True}'
f'{1.0} {1e20} {1e-7}'
f'{2 ** 10:,}'
''')
    + blocks(r'''
f"""{'it'}"s"""
---
x = 4
f"""{x}
{x * 2}"""
---
f"""
{
1 + 1
}"""
---
rows = [('a', 1.5), ('bb', 22.25)]
for k, v in rows:
    print(f'{k:<4}|{v:>8.3f}|')
---
def f(a, b=2):
    return f'{a}/{b}'
f(1)
---
s = ''
for i in range(3):
    s += f'{i}:{i ** 2} '
s
---
print(f"{'Name':<10}{'Age':>5}")
print('-' * 15)
print(f"{'Ann':<10}{31:>5}")
---
x = 1
f = lambda: f'{x}'
x = 2
f()
'''),
    "percent": ["['%s' %% n for n in (42, -7, 0)]" % s for s in PERCENT_INT if s != "%c"]
    + ["['%s' %% n for n in (3.14159, -2.5, 1e10, 0.00001)]" % s for s in PERCENT_FLOAT] + lines(r'''
'%c' % 65
'%c' % 'x'
'%c%c' % ('a', 98)
'%s' % 'a'
'%s' % None
'%s' % [1, 2]
'%s' % (1,)
'%s' % ((1, 2),)
'%s %s' % (1, 'a')
'%s-%s-%s' % tuple('abc')
'%r' % 'a'
'%a' % 'é'
'%5s|' % 'ab'
'%-5s|' % 'ab'
'%.1s' % 'abc'
'%5.1s|' % 'abc'
'%%'  % ()
'100%%' % ()
'%d%%' % 5
'%(a)s %(b)d' % {'a': 'x', 'b': 3}
'%(a)5.2f|' % {'a': 2.5}
'%(a)s%(a)s' % {'a': 1}
'%*d' % (5, 3)
'%-*d|' % (5, 3)
'%.*f' % (2, 3.14159)
'%d' % True
'%s' % True
'%d' % 3.9
'%d' % -3.9
'%s' % {1: 2}
'%s' % {1, 2}
'%x' % 255
'%x' % -255
'%f' % 3
'%g' % 100000
'%g' % 1000000
'%g' % float('inf')
'%f' % float('nan')
'%05.1f' % float('inf')
'%s' % 1e16
'%s' % 0.1
'%ld' % 5
'%s' % range(3)
x = 'a%s'; x % 1
x = '%s'; x %= 5; x
('%d' * 3) % (1, 2, 3)
'a' % ()
'%s and %s' % ('日', '本')
'%3d|%-3d|%03d' % (1, 2, 3)
'''),
    "str-format": lines(r'''
'{}'.format(1)
'{} {}'.format(1, 'a')
'{0}{1}{0}'.format('a', 'b')
'{a}'.format(a=1)
'{a}{b}'.format(b=1, a=2)
'{} {a}'.format(1, a=2)
'{{}}'.format()
'{{{}}}'.format(1)
'{:5}|'.format('a')
'{:>5}'.format('a')
'{0:>{1}}'.format('a', 4)
'{:{}}'.format('a', 4)
'{:{w}.{p}f}'.format(3.14159, w=8, p=2)
'{!r}'.format('a')
'{!s:>4}'.format('a')
'{0!r:>5}'.format('a')
'{0[1]}'.format([1, 2])
'{0[a]}'.format({'a': 5})
'{a[0]}'.format(a=(7, 8))
'{0[a][1]}'.format({'a': [1, 2]})
'{:,}'.format(1234567)
'{:.2%}'.format(0.1234)
'{:08.3f}'.format(3.14159)
'{:+d}'.format(5)
'{:x}'.format(255)
'{:#b}'.format(5)
'{:e}'.format(12345.678)
'{:g}'.format(0.00001)
'{:^9}'.format('mid')
'{:*^9}'.format('mid')
'{}'.format(None)
'{}'.format([1, 'a'])
'{}'.format((1,))
'{} {} {}'.format(*[1, 2, 3])
'{a} {b}'.format(**{'a': 1, 'b': 2})
'{}{}'.format('日', '本')
'{:c}'.format(65)
'{:d}'.format(True)
'{}'.format(True)
'a{}b'.format('{}')
'{:>10}|{:<10}|'.format('r', 'l')
'no fields'.format(1, 2)
f = '{}-{}'.format; f(1, 2)
', '.join('{}={}'.format(k, v) for k, v in {'a': 1, 'b': 2}.items())
'{:}'.format(3)
'{0:d} {0:x} {0:o} {0:b}'.format(42)
'''),
    "print": lines(r'''
print()
print('a')
print(1, 2)
print(1, 'a', None, [1, 'b'], 2.0)
print('a', end='')
print('a', end='!\n')
print(1, 2, sep='-')
print(1, 2, sep='')
print(1, 2, 3, sep=', ', end='.\n')
print('a\nb')
print('a', 'b', sep='\n')
print(*[1, 2, 3])
print(*range(5), sep='')
print([])
print({})
print(set())
print(())
print((1,))
print({'a': [1, (2,)]})
print({3, 1, 2})
print('日本')
print(True, False, None)
print(1e16, 1.0, 0.1)
print("it's", ["it's"])
print('a', sep=None)
print('a', end=None)
print(''), print('x')
x = print('a'); x
[print(i) for i in range(3)]
print(print('a'))
print('a') or 5
print('a', end=''); print('b'); 7
print(1); print(2); print(3)
for i in range(3): print(i, end=' ')
for i in range(3): print(i)
print('%d items' % 3)
print('a', 'b', 'c', end='')
print(type(1), type('a'), type(None))
print(str, int, list)
print(range(3), range(1, 9, 2))
print('\ttab')
print('a\n')
print('\n')
print(sep='x')
print('a', sep=1)
print('a', end=1)
print('a', foo=1)
print(1 / 0)
print('before'); 1 / 0
print('before'); undefined_name
'''),
    "repr": each("repr(%s)", ["1", "'a'", "\"it's\"", "None", "True", "1.0", "[]", "[1]", "[[]]", "()", "(1,)", "(1, 2)", "{}",
                              "{'a': 1}", "{1: {2: 3}}", "set()", "{1}", "range(5)", "range(1, 5)", "range(0, 5, 2)",
                              "['a', 1.5, None]", "('a', ['b'])", "{'k': ('v',)}", "[True, {1}]", "type(1)", "int",
                              "[int, str]", "-0.0", "10 ** 18", "'\\''", "'a' 'b'", "[float('inf')]", "[1, 2][0]", "range(3)[1:]",
                              "{(1, 2): [3]}", "[(), [], {}, set()]", "{'b': 1, 'a': 2}", "range(-1, -5, -1)"])
    + blocks(r'''
x = [1]
x.append(x)
repr(x)
---
x = [1]
x.append(x)
print(x)
---
d = {}
d['self'] = d
str(d)
---
a = []
b = [a, a]
a.append(1)
repr(b)
---
t = ([],)
t[0].append(t)
repr(t)
'''),
}
