# SPDX-License-Identifier: Apache-2.0
"""Programs that Python's own compiler refuses."""
from python_programs_base import blocks, lines

GROUPS = {
    "syntax": lines(r'''
x = = 1
x = 
= 1
1 +
1 + * 2
* 1
1 2
x y
(1
[1, 2
{1: 2
1)
]
}
(1]
[1)
{1: 2]
'abc
"abc
'abc"
"""abc
f'{'
f'{}'
f'{1'
f'}'
f'{a b}'
f'{1!}'
f'{1!z}'
f'{x!r!s}'
f'{=}'
f'{lambda x: 1}'
1 = x
'a' = 1
f() = 1
x + 1 = 2
None = 1
True = 0
False = 1
(x, 1) = 1, 2
[x, f()] = 1, 2
x = 1 = y
-x = 1
x == 1 = 2
x += y += 1
x, y += 1, 2
(x) += 
None += 1
1 += 1
*x = [1]
*a, *b = [1, 2]
x = *y
*x
del 1
del f()
del x + 1
del None
del
for 1 in x: pass
for x: pass
for x in: pass
for x in [1] pass
for in x: pass
for x + 1 in y: pass
while: pass
while 1 pass
if: pass
if 1 pass
if 1:
if 1: if 2: pass
else: pass
elif 1: pass
break
continue
return
return 5
if 1: break
if 1: return
for x in [1]: return x
def f: pass
def f( pass
def f(): 
def (): pass
def f(a, a): pass
def f(a=1, b): pass
def f(*a, *b): pass
def f(**k, a): pass
def f(**k, *a): pass
def f(*): pass
def f(1): pass
def f(a.b): pass
def f(None): pass
def f((a, b)): pass
def f(*, **k): pass
def f(*a, a): pass
def f(): break
def f(): continue
def for(): pass
lambda: 
lambda x
lambda x, x: 1
lambda x=1, y: 1
f(a=1, 2)
f(a=1, a=2)
f(**k, *a)
f(**k, 1)
f(1=2)
f(a.b=1)
f(None=1)
f(x for x in y, 1)
f(1, x for x in y)
f(,)
f(1,,2)
f(a b)
[1,,2]
[,]
(,)
{,}
{1: 2, 3}
{1, 2: 3}
{1:}
{:1}
{**a, *b}
{*a, **b}
[**a]
(**a)
[x for]
[x for x]
[x for x in]
[for x in y]
[x for x in y if]
[x in y for]
[*x for x in y]
{**x for x in y}
[x, y for x, y in z]
x[
x[]
x[1
x[1:2:3:4]
x.
x.1
x..y
.x
1.x
1..
1if
if
and
1 and
and 1
not
1 not 2
1 is
x is not
1 in
1 not in
in x
1 if 2
1 if 2 else
1 else 2
x if else y
assert
assert 1,
1 <> 2
x ? y : z
x++
x--
!x
x && y
x || y
$x
x = $
`x`
a b c
0777
01
1__0
1_
0x
0xg
0b2
0b
0o8
1e
1e+
1_e5
0_
5abc
1.5.2
'\x1'
'\xzz'
'\u12'
'\U00110000'
'\U0000'
'a' 'b
u'\u1'
x = 1; ; y
;
; x
:
x: 
x: int =
(x, y): int = 1, 2
1: int
global
pass 1
pass = 1
if = 1
lambda = 1
None.x = 
def f(x): x = return
x = pass
print 'hello'
print 1, 2
exec 'x'
import
from x import
import 1
a = b = 
a, b = 
a, = 
@
f(*)
f(**)
f(*a=1)
x =+ * 1
~
1 ** 
** 1
x[1] = = 2
\
x \ y
"abc" "def
'abc' 1
(1, 2
x = (1, 2))
for x in range(3): print(x) else: print(1)
if 1: pass else: pass
while 1: pass; for x in y: pass
with torch.no_grad()
with torch.no_grad() pass
([)]
([{
''') + blocks(r'''
 x = 1
---
x = 1
 y = 2
---
if 1:
pass
---
if 1:
    x = 1
  y = 2
---
if 1:
    x = 1
      y = 2
---
if 1:
    x = 1
	y = 2
---
def f():
return 1
---
for i in range(3):
print(i)
---
def f():
    x = 1
   y = 2
---
if 1:
    # only a comment
x = 1
---
while 1:
---
else:
    x = 1
---
if 1:
    pass
else
    pass
---
if 1:
    pass
else:
    pass
else:
    pass
---
if 1:
    pass
else:
    pass
elif 2:
    pass
---
for x in y:
    pass
elif 1:
    pass
---
x = (1,
     2
y = 3
---
x = [1, 2
y = 3
---
def f(a,
      b
    return 1
---
x = """
never closed
---
x = 'a
b'
---
f(1,
  2
---
def f():
    return 1
  return 2
---
x = 1
    # fine
  y = 2
---
if True:
        x = 1
    y = 2
---
def f():
    def g():
    return 1
---
def f():
    x = 1
    if x
        return 2
---
x = {
    'a': 1
    'b': 2
}
---
x = [
    1
    2
]
---
print(1
print(2)
---
x = 5 \ # comment
y
---
for i in range(3):
    if i:
        break
    else
        pass
''') + ["x = 1 \\", "x = (\\", "\tx = 1", "if 1:\n\tx = 1\n        y = 2\n", "if 1:\n        x = 1\n\ty = 2\n", "x = 'a\\",
        "f'{1:{2:{3}}}'", "f'{\\n}'", "f'{#}'", "x = 1 +\n2", "x = 'a'\n  'b'", "lambda x: (yield_", "a = 1 b = 2", "if x = 1: pass",
        "while x = 1: pass", "[x = 1]", "f(x == 1, y = )", "def f(x) return x", "def f(x): return x return", "'é", "é\u00a0= 1",
        "x = \u201chello\u201d", "x\u2212y", "a\u3000 b", "1\u00d72", "x = 1\u200b", "\u20ac = 1"],
}
