# SPDX-License-Identifier: Apache-2.0
"""Programs about booleans, truth, comparison, identity and membership."""
from python_programs_base import lines

GROUPS = {
    "bool": lines(r'''
True + True
True * 5
True - 2
False * 3.5
True / 2
True // 2
-True
+True
~True
True ** 2
2 ** True
True & True
True & False
True | False
True ^ True
True & 1
False | 2
True << 3
True == 1
True == 1.0
False == 0
True is True
True is not False
True > False
True + 0.5
sum([True, False, True])
[10, 20][True]
'ab' * True
'ab' * False
int(True)
float(True)
str(True)
repr(False)
bool(0)
bool(0.0)
bool(-0.0)
bool('')
bool(' ')
bool('0')
bool([])
bool([0])
bool({})
bool(())
bool(set())
bool(None)
bool(float('nan'))
bool(range(0))
bool(range(1))
bool()
not 0
not ''
not [1]
not not 3
not None
isinstance(True, int)
isinstance(1, bool)
type(True) is int
type(True) is bool
type(True + 0) is int
type(True & False) is bool
type(True & 1) is int
1 and 2
0 and 2
1 or 2
0 or 2
0 or '' or []
0 or '' or [] or None
1 and [] and 2
'a' and 'b' or 'c'
'' and 'b' or 'c'
not 1 or 2
not (1 and 0)
None or 0
1 < 2 and 2 < 3
[] or {} or 'end'
x = []; x and x[0]
x = [5]; x and x[0]
0 and 1 / 0
1 or 1 / 0
None is None
None == 0
None == False
None == None
'''),
    "compare": ["[%s < %s, %s <= %s, %s == %s, %s != %s, %s > %s, %s >= %s]" % ((a, b) * 6) for a, b in [
        ("1", "2"), ("2", "1"), ("1", "1.0"), ("1.5", "1"), ("-0.0", "0"), ("True", "1"), ("False", "0.5"),
        ("'a'", "'b'"), ("'a'", "'A'"), ("'abc'", "'abd'"), ("'ab'", "'abc'"), ("''", "'a'"), ("'Z'", "'a'"),
        ("[1, 2]", "[1, 3]"), ("[1, 2]", "[1, 2, 0]"), ("[]", "[0]"), ("(1, 'a')", "(1, 'b')"),
        ("(2,)", "(1, 5)"), ("[1, 2]", "[1.0, 2.0]"), ("{1, 2}", "{1, 2, 3}"), ("{1, 4}", "{1, 2, 3}"),
        ("{1}", "{1}"), ("float('inf')", "10 ** 18"), ("'é'", "'z'"), ("'日'", "'本'"), ("[[1], 2]", "[[1], 3]"),
        ("float('nan')", "0"), ("(1, 2, 3)", "(1, 2, 3)"), ("'10'", "'9'")]]
    + lines(r'''
1 < 2 < 3
1 < 3 < 2
3 > 2 > 1 > 0
1 == 1.0 == True
1 < 2 > 1
1 <= 1 < 2 != 3
0 < 1 == 1
(0 < 1) == 1
0 == 0 != 1
1 != 1 < 1 / 0
'a' < 'b' < 'c'
1 in [1, 2] == True
(1 in [1, 2]) == True
x = 5; 0 <= x < 10
x = 15; 0 <= x < 10
[n for n in range(10) if 2 < n <= 5]
1 == '1'
1 != '1'
[1] == (1,)
() == []
'' == None
[] is []
() == ()
{} == {}
set() == {}
{1: 2, 3: 4} == {3: 4, 1: 2}
{1: 2} == {1: 2.0}
{1: 2} == {1: 3}
{'a': [1]} == {'a': [1]}
[1, [2, 3]] == [1, [2, 3]]
(1, 2) < (1, 2, 0)
[1, 'a'] == [1, 'b']
range(3) == range(0, 3)
range(0) == range(5, 5)
range(0, 10, 2) == range(0, 9, 2)
range(3) == [0, 1, 2]
list(range(3)) == [0, 1, 2]
'a' is not None
x = [1]; y = x; x is y
x = [1]; y = x[:]; [x is y, x == y]
x = None; x is None
x = 0; x is not None
x = [1]; (x is x) and (x is not [1])
not 1 < 2
not (1 > 2)
not 1 in [2]
1 not in [2]
'b' in 'abc'
'bc' in 'abc'
'' in 'abc'
'ac' in 'abc'
'x' not in 'abc'
2 in (1, 2)
2 in {1, 2}
2 in {2: 3}
3 in {2: 3}
3 in range(5)
5 in range(5)
4 in range(0, 10, 2)
3 in range(0, 10, 2)
3.0 in range(5)
2.5 in range(5)
'a' in range(5)
1.0 in [1, 2]
True in [1, 2]
None in [None]
[1] in [[1], [2]]
1 in [[1], [2]]
'''),
}
