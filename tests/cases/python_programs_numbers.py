# SPDX-License-Identifier: Apache-2.0
"""Programs about numbers: integers, floats, booleans, conversions, comparison, math."""
from python_programs_base import blocks, each, lines

SIGNS = [(7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3), (-6, 3), (0, 5), (0, -5), (1, 100), (-1, 100)]
FLOATS = ["7.5, 2", "-7.5, 2", "7.5, -2.5", "-7.5, -2.5", "0.1, 0.2", "1e308, 10.0", "0.0, -5.0", "-0.0, 3",
          "5, 0.1", "1e16, 1.5", "float('inf'), 2.0", "3.0, float('inf')", "-3.0, float('inf')", "float('nan'), 1"]
SPECIAL = ["0.0", "-0.0", "1.0", "-1.5", "1e16", "1e15", "123456789.125", "1e22", "1e21", "0.0001", "0.00001",
           "1.5e-7", "5e-324", "1.7976931348623157e308", "2.2250738585072014e-308", "0.1 + 0.2", "1/3", "2/3",
           "100.0", "1e100", "12345678901234567.0", "9007199254740993.0", "1e-10", "3.14159", "1e5", "1_000.5",
           "float('inf')", "-float('inf')", "float('nan')", "1e309", "0.1", "1.1 * 1.1", "4.35 * 100",
           "1.005 * 1000", "2**0.5", "1e16 + 1", "99999999999999990.0", ".5", "5.", "1E3", "1e+3", "10.0 ** -5"]
ROUND = ["0.5", "1.5", "2.5", "-0.5", "-1.5", "-2.5", "2.4999", "2.675, 2", "1.005, 2", "0.125, 2", "0.375, 2",
         "1234.5678, -2", "15, -1", "25, -1", "35, -1", "-15, -1", "1234, 2", "1.23456, 4", "5.5, 0", "2.5, None",
         "True", "1e20, 2", "0.1, 20", "1e300, -299", "-0.04, 1", "149, -2", "150, -2", "250, -2", "7, -1"]

GROUPS = {
    "int-divide": each("(%s) // (%s)", *[["7", "-7", "0", "9"], ["2", "-2", "3", "-4"]])
    + each("(%s) %% (%s)", ["7", "-7", "0", "9"], ["2", "-2", "3", "-4"])
    + ["divmod(%d, %d)" % pair for pair in SIGNS] + ["(%d) / (%d)" % pair for pair in SIGNS[:7]],
    "int-arithmetic": ["[%d + %d, %d - %d, %d * %d]" % (a, b, a, b, a, b) for a, b in SIGNS]
    + ["[%d & %d, %d | %d, %d ^ %d]" % (a, b, a, b, a, b) for a, b in SIGNS]
    + ["(%d) ** %d" % pair for pair in [(2, 10), (-2, 3), (-2, 4), (0, 0), (10, 18), (3, 39), (-2, 63), (7, 1)]]
    + ["(%d) ** (%d)" % pair for pair in [(2, -1), (-2, -3), (10, -3), (1, -5), (-1, -1)]]
    + ["[%d << %d, %d >> %d]" % (a, b, a, b) for a, b in [(1, 5), (-1, 5), (5, 1), (-5, 1), (-1, 70), (0, 90)]
       if not (a == -1 and b == 70)]
    + lines(r'''
-1 >> 70
5 >> 100
-1 << 63
~5
~-1
~0
[~n for n in range(-3, 3)]
-7
--7
+-+7
-(-9223372036854775807 - 1 + 1)
- 2 ** 2
(-2) ** 2
2 ** 3 ** 2
-3 ** 2
2 ** -1
1_000_000 + 1
0x1F + 0o17 + 0b101
0xdead_beef
0XFF
[0b0, 0o0, 0x0, 00, 0_0]
1 + 2 * 3 - 4 / 2
(1 + 2) * 3
10 - 3 - 2
100 // 7 // 2
100 % 7 * 2
7 // 2 * 2 + 7 % 2
1 + 1 << 2
1 | 2 & 3 ^ 4
6 & 3 == 2
not 1 == 2
5 - -3
9007199254740991
9007199254740992
-9007199254740991
-9007199254740992
9223372036854775807
-9223372036854775807 - 1
2 ** 62 + (2 ** 62 - 1)
4611686018427387904 * -2
9223372036854775807 // 10
-9223372036854775807 // 10
9223372036854775807 % 1000
-9223372036854775807 % 1000
9223372036854775807 - 9223372036854775806
3037000499 * 3037000499
9223372036854775807 & 255
-1 & 9223372036854775807
9223372036854775807 ^ -1
abs(-5)
abs(-9223372036854775807)
pow(3, 4)
pow(3, 4, 5)
pow(2, 1000, 1000007)
pow(3, -1, 7)
pow(-3, 3, 5)
pow(3, 3, -5)
pow(7, 0, 1)
pow(2, -2)
pow(2.0, 3)
pow(4, 0.5)
pow(base=2, exp=5)
pow(123456789, 987654321, 998244353)
divmod(2 ** 40, 1000)
sum(n * n for n in range(100))
x = 17; [x // 5, x % 5, x / 5, x ** 2, -x // 5, -x % 5]
9 / 3
1 / 3
2 / 4
7 / 7
10 ** 15 / 3
9223372036854775807 / 3
9223372036854775807 / 9223372036854775806
'''),
    "overflow": each("%s", ["2 ** 63", "9223372036854775807 + 1", "-9223372036854775807 - 2", "2 ** 62 * 2",
                            "3037000500 * 3037000500", "1 << 63", "1 << 64", "10 ** 19", "(-2) ** 65",
                            "-(-9223372036854775807 - 1)", "abs(-9223372036854775807 - 1)",
                            "(-9223372036854775807 - 1) // -1", "int(1e19)", "int(-1e30)", "round(1e300)",
                            "int('9' * 19)", "int('-9223372036854775809')", "sum([2 ** 62, 2 ** 62])",
                            "2 ** 64 - 2 ** 64", "(2 ** 63) // (2 ** 62)", "7 ** 40 % 10", "int(float('inf'))",
                            "int(-float('inf'))", "round(float('inf'))", "2.0 ** 10000", "math.exp(1000)",
                            "math.factorial(21)", "math.floor(1e20)", "math.ceil(-1e25)", "math.comb(100, 50)",
                            "math.cosh(1000.0)", "math.pow(10.0, 400)", "range(3)[9223372036854775807 + 1]",
                            "1 if 2 ** 70 > 0 else 2", "[2 ** 63]", "float(2 ** 80)", "len('ab') << 62",
                            "divmod(-9223372036854775807 - 1, -1)", "pow(10, 30)", "5 * 2 ** 61 * 0",
                            "math.prod([2 ** 40, 2 ** 40])", "round(9223372036854775807, -1)", "1e200 ** 2",
                            "int('8000000000000000', 16)"])
    + blocks(r'''
x = 9223372036854775807
x += 1
x
---
x = 1
for i in range(70):
    x *= 2
x
---
def f(n):
    return 1 if n == 0 else n * f(n - 1)
f(25)
---
a, b = 0, 1
while True:
    a, b = b, a + b
---
x = 5
y = x << 62
0
---
d = {"n": 2 ** 62}
d["n"] = d["n"] + d["n"]
d["n"] * 0
'''),
    "overflow-not": lines(r'''
(-2) ** 63
-1 << 63
int('-9223372036854775808')
int('9223372036854775807')
int(9.2e18)
int(-9223372036854775808.0)
2 ** 63 - 1 if False else 1
math.factorial(20)
math.gcd(9223372036854775807, 7)
-9223372036854775808
min(9223372036854775807, -9223372036854775807)
float(9223372036854775807)
9223372036854775807 == 9223372036854775807.0
9223372036854775807 < 9223372036854775808.0
9007199254740993 == 9007199254740992.0
9007199254740993 > 9007199254740992.0
hex_digits = '%x' % 9223372036854775807; hex_digits
str(-9223372036854775807 - 1)
1e308 * 10
-1e308 * 10
9223372036854775807 * 1.0
round(-9223372036854775807, -2)
'''),
    "float-arithmetic": ["x, y = %s; [x + y, x - y, x * y]" % pair for pair in FLOATS]
    + ["x, y = %s; x / y" % pair for pair in FLOATS]
    + ["x, y = %s; [x // y, x %% y]" % pair for pair in FLOATS]
    + ["divmod(%s)" % pair for pair in FLOATS if "1e16" not in pair]
    + lines(r'''
2.0 ** 0.5
2.0 ** -1
0.0 ** 0
0 ** 0.0
(-2.0) ** 3
(-2.0) ** 2.0
float('inf') ** 0
float('nan') ** 0
1.0 ** float('nan')
1 ** float('inf')
0.0 ** 5
-1.0 ** 2
10 ** -2
1e-320
1e-400
0.1 + 0.2 == 0.3
0.1 * 3
1.1 + 2.2
-0.0
0.0 == -0.0
str(-0.0)
0.0 * -1
-0.0 + 0.0
-0.0 - 0.0
abs(-0.0)
abs(-2.5)
float('inf') - float('inf')
float('inf') * 0
float('inf') > 1e308
float('nan') == float('nan')
float('nan') != float('nan')
x = float('nan'); [x < 1, x > 1, x == x, x is x, x in [x], [x] == [x]]
5.0 // 0.3
5.0 % 0.3
-5.0 // 0.3
-5.0 % 0.3
5 % -0.3
-1e-20 % 3
3.0 % -1.5
-3.0 % 1.5
0.3 % 0.1
1e300 * 1e10
1 / 7.0
7 // 1.0
-7 // 2.0
7.5 // 1
6.0 % 4
1e16 + 1.0 - 1e16
sum([0.1] * 10)
sum([0.1, 0.2, 0.3])
sum([1, 2.5, True])
sum([1e100, 1.0, -1e100])
max(1, 1.0)
max(1.0, 1)
min(0.0, -0.0)
[1.5, 2, True][1] / 4
3 * 0.1 == 0.3
1e3 == 1000
'''),
    "float-repr": each("str(%s)", SPECIAL) + each("[%s, repr(%s)]", ["1e16"], ["1e16"])
    + lines(r'''
[1.0, 1.5, 1e16, 1e-5, -0.0]
repr([0.1, 1e300, 1e-300])
[float(n) for n in range(5)]
[10.0 ** n for n in range(-8, 0)]
[str(10.0 ** n) for n in range(12, 20)]
[1 / n for n in range(1, 12)]
[str(n / 7) for n in range(1, 8)]
[n * 0.1 for n in range(11)]
[2.0 ** n for n in (-1074, -1022, -10, 10, 52, 53, 1023)]
[1.0e23, 9.5e-3, 1e23]
[123456.789e3, 5e-5, 0.0001]
[1.0000000000000002, 0.9999999999999999]
[4.9e-324, 2.5e-324, 2.4e-324]
8.41e21
9007199254740993.0
5e-7
[7.0, -7.0, 7.25]
print(1e16, 1e15, 123456789012345678.0, 0.1 + 0.2)
print(float('nan'), float('inf'), -float('inf'))
print([float('nan'), float('inf')])
'''),
    "int-of": each("int(%s)", ["3.7", "-3.7", "3.0", "-0.5", "1e15", "'42'", "'-42'", "' 42 '", "'+7'", "'1_000'",
                               "'007'", "'0'", "True", "'101', 2", "'ff', 16", "'0xff', 16", "'0b101', 2", "'zz', 36",
                               "'0xff', 0", "'0b11', 0", "'0o17', 0", "'10', 0", "'-0x1F', 16", "'\\n12\\t'", "",
                               "'777', 8", "'12', base=3", "-1.9999", "0.9999999", "'-0'", "'٣'"])
    + each("int(%s)", ["''", "'abc'", "'1.5'", "'1__0'", "'_1'", "'0x10'", "' '", "'12a'", "'1 2'", "'2', 2",
                       "float('nan')", "None", "[]", "'1', 1", "'1', 37", "1.5, 2", "'١x'", "'--1'", "'010', 0", "()"]),
    "float-of": each("float(%s)", ["3", "'3.5'", "' 1e3 '", "'-1.5E-3'", "'inf'", "'-Infinity'", "'nan'", "'NaN'",
                                   "'+5'", "'1_0.5'", "True", "'.5'", "'5.'", "''", "'abc'", "'1e'", "'1.2.3'", "None",
                                   "[]", "'0x10'", "'1e400'", "'-1e400'", "'1e-400'", "", "'infinit'", "'1__0'", "'-0'",
                                   "9007199254740993", "'9007199254740993'", "'1\\n'", "'- 1'", "2 ** 62", "'iNf'"]),
    "str-of": each("str(%s)", ["5", "-5", "5.0", "True", "None", "'a'", "[1, 'a']", "('a',)", "{}", "{1: 'x'}",
                               "set()", "{1}", "range(3)", "range(1, 10, 2)", "", "[None, True, 1.5]", "10 ** 18",
                               "type(1)", "type('')", "type([])", "type(None)", "type(1.0)", "type(True)",
                               "type({})", "type(())", "type(set())", "type(range(1))"])
    + each("type(%s).__name__", ["1", "1.0", "True", "''", "[]", "()", "{}", "set()", "None", "range(2)"]),
    "round": each("round(%s)", ROUND) + each("type(round(%s)) is %s", ["2.5", "3", "2.5, 1", "2.5, 0", "7, 1"],
                                             ["int", "float"]),
    "number-builtins": lines(r'''
min(3, 1, 2)
max(3, 1, 2)
min([3, 1, 2])
max('hello')
min('b', 'a')
max([1, 2], [1, 3])
min([], default=5)
max((), default=None)
max([3, -5, 2], key=abs)
min([3, -5, 2], key=abs)
max(3, -5, key=abs)
max(['aa', 'b', 'cc'], key=len)
min(['aa', 'b', 'c'], key=len)
max({'a': 1, 'b': 0})
max({'a': 1, 'b': 3}.values())
max([1, True])
min([True, 1])
max(range(5))
min(x * x for x in range(-3, 3))
max((len(w), w) for w in ['aa', 'b', 'cc'])
max(1, 2.5)
max(2, 2.0)
sum([])
sum([1, 2, 3])
sum((1, 2), 10)
sum([1, 2], start=5)
sum([[1], [2, 3]], [])
sum(((1,), (2,)), ())
sum(range(101))
sum([0.5, 1])
sum({1: 'a', 2: 'b'})
sum(x for x in range(5) if x % 2)
abs(-3)
abs(-3.5)
abs(True)
abs(False)
any([])
all([])
any([0, '', None])
any([0, 1])
all([1, 'a', [0]])
all([1, 0])
any(x > 3 for x in range(5))
all(x < 3 for x in range(5))
all('')
any('a')
divmod(7, 2)
divmod(-7, 2)
divmod(7.5, 2)
divmod(True, 2)
round(3.14159, 2)
ord('a')
ord('é')
ord('日')
ord('😀')
chr(97)
chr(233)
chr(128512)
chr(0)
[chr(c) for c in range(65, 70)]
chr(ord('a') + 1)
len('日本')
len('😀')
isinstance(3, int)
isinstance(3, (str, int))
isinstance(3.0, int)
isinstance('a', str)
isinstance([], (list, tuple))
isinstance({}, dict)
isinstance(None, type(None))
isinstance(set(), set)
type(3) is int
type(3) == type(4)
type(3) is type(3.0)
type('') is str
type(range(3)) is range
type(None) is type(None)
int is int
int == float
[type(v) is t for v, t in [(1, int), (1.0, float), ('', str), ([], list)]]
list(map(int, ['1', '2']))
list(map(str, [1, 2.5, None]))
list(map(float, '123'))
list(map(abs, [-1, 2, -3]))
list(filter(None, [0, 1, '', 'a', [], [0]]))
list(map(bool, [0, 1, 'x']))
'''),
    "math": each("math.%s", [
        "pi", "e", "tau", "inf", "nan", "floor(2.7)", "floor(-2.7)", "ceil(2.1)", "ceil(-2.1)", "trunc(-2.7)", "floor(5)",
        "ceil(True)", "fabs(-3)", "sqrt(16)", "sqrt(2)", "isqrt(17)", "gcd(12, 18)", "gcd(-4, 6)", "gcd(0, 0)", "gcd()",
        "gcd(12, 18, 27)", "lcm(4, 6)", "lcm(3, 0)", "factorial(5)", "factorial(0)", "comb(5, 2)", "comb(3, 5)", "perm(5, 2)",
        "perm(4)", "copysign(3, -0.0)", "copysign(-3.0, 1)", "fmod(7, 3)", "fmod(-7, 3)", "fmod(7, -3)", "modf(3.25)",
        "modf(-3.25)", "frexp(8)", "frexp(0.1)", "frexp(0)", "ldexp(0.5, 4)", "isnan(float('nan'))", "isnan(1)",
        "isinf(float('inf'))", "isfinite(1.0)", "isfinite(float('nan'))", "isclose(0.1 + 0.2, 0.3)", "isclose(1, 1.1)",
        "isclose(1, 1.1, rel_tol=0.2)", "isclose(0, 1e-12)", "isclose(0, 1e-12, abs_tol=1e-9)", "fsum([0.1] * 10)",
        "prod([1, 2, 3, 4])", "prod([])", "prod([2, 3], start=10)", "prod([0.5, 4])", "dist((0, 0), (3, 4))", "hypot(3, 4)",
        "hypot(1, 2, 2)", "degrees(math.pi)", "radians(180)", "pow(2, 10)", "pow(2, 0.5)", "exp(0)", "exp(1)", "exp(-745.0)",
        "expm1(1e-10)", "exp2(10)", "log(1)", "log(10)", "log(8, 2)", "log(100, 10)", "log2(8)", "log2(10)", "log10(1000)",
        "log10(2)", "log1p(1e-10)", "sin(0)", "sin(1)", "cos(0)", "cos(1)", "tan(1)", "asin(1)", "acos(1)", "acos(0)", "atan(1)",
        "atan2(1, -1)", "atan2(-0.0, -1)", "atan2(0, -1)", "sinh(1)", "cosh(1)", "tanh(1)", "asinh(1)", "acosh(2)", "atanh(0.5)",
        "cbrt(27)", "erf(0.5)", "erfc(0.5)", "gamma(5)", "gamma(0.5)", "lgamma(10)", "remainder(7, 4)", "remainder(5, 2)",
        "nextafter(1.0, 2.0)", "ulp(1.0)", "sqrt(True)", "exp(-float('inf'))", "log(float('inf'))", "sqrt(0.0)", "pow(0, 0)",
        "sqrt(-1)", "log(0)", "log(-1)", "log2(0)", "asin(2)", "acos(-1.5)", "acosh(0.5)", "atanh(1)", "factorial(-1)",
        "factorial(2.5)", "isqrt(-1)", "fmod(1, 0)", "floor('a')", "sqrt('4')", "floor(float('nan'))", "floor(float('inf'))",
        "gcd(1.5, 2)", "pow(0, -1)", "pow(-8, 1 / 3)", "sin()", "sin(1, 2)", "sqrt(x=4)", "comb(-1, 2)", "cos(float('inf'))",
        "nothing", "log(2, 1)"])
    + lines(r'''
import math; math.sqrt(9)
[round(math.sin(math.pi * k / 4), 12) for k in range(9)]
sum(1 / math.factorial(n) for n in range(15))
math.floor(-0.0)
[math.floor(x) for x in (-1.5, -0.5, 0.5, 1.5)]
[math.ceil(x) for x in (-1.5, -0.5, 0.5, 1.5)]
list(map(math.sqrt, [1, 4, 9]))
math.pi == math.tau / 2
[math.gcd(a, b) for a in (6, 10) for b in (4, 15)]
f = math.sqrt; f(25)
'''),
}
