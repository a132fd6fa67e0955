# SPDX-License-Identifier: Apache-2.0
"""Programs about strings: literals, methods, slices, operators."""
from python_programs_base import blocks, each, lines

SLICES = ["[2]", "[-1]", "[1:3]", "[:2]", "[2:]", "[:]", "[::2]", "[::-1]", "[-3:-1]", "[5:1]", "[5:1:-1]", "[-100:100]",
          "[100:]", "[1:-1:2]", "[::-2]", "[-1:-4:-1]", "[:-10]", "[3:3]", "[None:3]", "[1:None:None]", "[True:3]"]
PREDICATES = ["isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "istitle", "isnumeric", "isdecimal",
              "isidentifier", "isascii", "isprintable"]

GROUPS = {
    "str-literal": lines(r'''
'a' "b" 'c'
"it's"
'say "hi"'
'it\'s'
"tab\there"
"line\nbreak"
'\x41\u00e9\U0001F600\101'
'\\'
r'\n\t'
R"a\"b"
r'a' '\n'
'\0'
'\a\b\f\v\r'
'héllo wörld'
'日本語'
'😀!'
"""triple"""
"""with "quotes" inside"""
'' ''
""
u'old'
'\7\18'
'\x7f'
repr('it\'s')
repr("it's")
repr('"')
repr('\'"')
repr('\n\t\\')
repr('\x00\x1f\x7f')
repr('é日😀')
repr('\x80\xa0\xad')
repr('\u200b\u2028')
repr('')
['a\nb', "it's", 'say "x"', '\\']
{'k\n': 'v\t'}
('é', '\x01')
print('a\tb')
print("a\\b")
print(r'\d+')
'\q' == '\\q'
len('\n')
len(r'\n')
'a' if 'b' else 'c'
'a' 'b' * 2
''') + blocks(r'''
'a\
b'
---
len('a\
b')
---
('a' 
'b'
 'c')
---
"""first
second"""
---
"""\
a
"""
---
"""a\"""b"""
---
x = """a
  b
"""
x.splitlines()
---
x = r"""a\"b"""
x
---
s = ('one '
     'two '
     'three')
s
---
s = 'a' \
    'b'
s
---
def f():
    'the docstring'
    return 1
f()
---
'docstring of the cell'
x = 4
x
---
# a comment
x = '#not'  # another
x
---
'# no comment'  # a comment
''') + blocks(r"""
x = '''one
two'''
x
---
''''a'''
---
'''it's "fine"'''
"""),
    "str-operator": lines(r'''
'ab' + 'cd'
'ab' * 3
3 * 'ab'
'ab' * 0
'ab' * -1
'a' + 'b' * 2 + 'c'
'a' in 'cat'
'x' + str(5)
'abc' == 'ab' + 'c'
'abc' < 'abd'
x = 'a'; x += 'b'; x *= 2; x
'-' * 10
''.join(['a', 'b'])
[c for c in 'abc']
list('héy')
tuple('ab')
sorted('hello')
sorted(set('hello'))
len(set('hello'))
list(reversed('abc'))
''.join(reversed('abc'))
list(enumerate('ab'))
dict(zip('ab', 'cd'))
a, b, c = 'xyz'; [c, b, a]
a, *b = 'xyz'; b
first, *_, last = 'hello'; first + last
'a' 'b' == 'ab'
max('hello') + min('hello')
{c: 'banana'.count(c) for c in 'ban'}
[w[::-1] for w in 'ab cd'.split()]
' '.join(w.capitalize() for w in 'the quick fox'.split())
'abc'[1] + 'abc'[-1]
'aé日😀'[2:]
'aé日😀'[::-1]
'aé日😀'[-1]
'😀'[0]
[ord(c) for c in 'aé日😀']
'e\u0301'[0]
len('e\u0301')
str('abc')
'%s' % 'abc'
'abc'.upper().lower().title()
print(*'abc')
print('a', 'b', sep='')
print('a' 'b')
'a' * 3 == 'aaa'
s = 'hello'; s[0].upper() + s[1:]
s = 'x=1;y=2'; dict(p.split('=') for p in s.split(';'))
'a,b,,c'.split(',')[::2]
'level' == 'level'[::-1]
'ß'.upper()
'İ'.lower()
'ΑΣ'.lower()
'ǆ'.title()
'ﬁ'.upper()
'ÀÉ'.lower()
'àé'.upper()
'Straße'.casefold()
'ÀÉ'.swapcase()
'éa'.capitalize()
'àé îo'.title()
'ÿ'.upper()
'µ'.upper()
'Я'.lower()
'ж'.upper()
'Ω'.lower()
'日'.upper()
'''),
    "str-slice": each("'abcdef'%s", SLICES) + each("'aé日😀z'%s", SLICES[:10]),
    "str-case": each("'%s'.%s()", ["hello World", "ABC def9", "it's a dog", "", "x1y2-z3"],
                     ["upper", "lower", "title", "capitalize", "swapcase", "casefold"]),
    "str-predicate": ["[s.%s() for s in ['', 'abc', 'ABC', 'Abc Def', '123', 'a1', ' ', ' a ', '\\t\\n', '_x', '1x', "
                      "'½', '²', '٣', 'é', '日', 'ǅ', '-', 'A1', 'a b', 'class', '\\x00', '😀', '\\u3000']]" % name
                      for name in PREDICATES],
    "str-strip": each("'%s'.%s", ["  a b  ", "xxabxx"],
                      ["strip()", "lstrip()", "rstrip()", "strip('x')", "lstrip('x')", "rstrip('xb')", "strip(None)", "strip('')"])
    + lines(r'''
'\t a\n'.strip()
'\u3000a\u00a0'.strip()
'abcba'.strip('ab')
'www.example.com'.strip('cmowz.')
'aaa'.strip('a')
'éaé'.strip('é')
'\x1ca\x1f'.strip()
'prefix-x'.removeprefix('prefix-')
'x-prefix'.removeprefix('prefix')
'file.txt'.removesuffix('.txt')
'file.txt'.removesuffix('')
'aa'.removesuffix('aaa')
'''),
    "str-split": lines(r'''
'a b  c'.split()
'  a b '.split()
''.split()
'   '.split()
'a,b,c'.split(',')
'a,,c'.split(',')
',a,'.split(',')
''.split(',')
'a,b,c'.split(',', 1)
'a,b,c'.split(',', 0)
'a,b,c'.split(',', -1)
'a b c d'.split(None, 2)
'  a  b  c  '.split(None, 1)
'a b c'.split(maxsplit=1)
'a--b--c'.split('--')
'aXbXc'.split(sep='X', maxsplit=1)
'aaa'.split('a')
'aaa'.split('aa')
'abc'.split('abc')
'a\tb\nc'.split()
'é日é'.split('日')
'a\u3000b\x1cc'.split()
'a,b,c'.rsplit(',', 1)
'a b  c'.rsplit()
'a b c'.rsplit(None, 1)
'  a  b  c  '.rsplit(None, 1)
'aaa'.rsplit('aa')
'a,b'.rsplit(',', 5)
'a\nb\r\nc\rd'.splitlines()
'a\nb\n'.splitlines()
'a\n\nb'.splitlines()
''.splitlines()
'\n'.splitlines()
'a\nb\r\n'.splitlines(True)
'a\nb'.splitlines(keepends=True)
'a\x0bb\x0cc\x1cd\x85e\u2028f'.splitlines()
'a=b=c'.partition('=')
'abc'.partition('=')
'=a'.partition('=')
'a=b=c'.rpartition('=')
'abc'.rpartition('=')
'a==b'.partition('==')
','.join(['a', 'b', 'c'])
''.join([])
','.join([])
', '.join(('x',))
'-'.join('abc')
','.join(str(i) for i in range(5))
','.join({'a': 1, 'b': 2})
'é'.join(['日', '本'])
' '.join('a-b'.split('-'))
'\n'.join(['a', 'b'])
','.join(sorted({'b', 'a'}))
'''),
    "str-search": lines(r'''
'hello'.find('l')
'hello'.find('z')
'hello'.find('')
'hello'.find('l', 3)
'hello'.find('l', 4)
'hello'.find('lo', 0, 4)
'hello'.find('h', -5)
'hello'.find('', 5)
'hello'.find('', 6)
'hello'.find('o', None, None)
'hello'.rfind('l')
'hello'.rfind('l', 0, 3)
'hello'.rfind('')
'hello'.rfind('z')
'hello'.index('l')
'hello'.rindex('l')
'hello'.index('lo', 2)
'日本日'.find('本')
'日本日'.rfind('日')
'日本日'.index('日', 1)
'banana'.count('a')
'banana'.count('an')
'banana'.count('ana')
'banana'.count('')
'banana'.count('a', 2)
'banana'.count('a', 2, 4)
'banana'.count('x')
''.count('')
'aaaa'.count('aa')
'hello'.startswith('he')
'hello'.startswith('')
'hello'.startswith('el', 1)
'hello'.startswith(('x', 'he'))
'hello'.startswith('hello!')
'hello'.startswith('l', 2, 3)
'hello'.startswith(())
'hello'.endswith('lo')
'hello'.endswith(('x', 'lo'))
'hello'.endswith('l', 0, 4)
'hello'.endswith('')
'a.tar.gz'.endswith('.gz')
'banana'.replace('a', 'o')
'banana'.replace('a', 'o', 1)
'banana'.replace('a', 'o', 0)
'banana'.replace('a', 'o', -1)
'banana'.replace('', '-')
'banana'.replace('', '-', 3)
'banana'.replace('an', '')
'banana'.replace('x', 'y')
''.replace('', 'x')
'日本'.replace('日', 'ni')
'aaa'.replace('aa', 'b')
'abc'.translate({97: 'x', 98: None, 99: 122})
'abc'.translate(str.maketrans('ab', 'xy'))
'abc'.translate(str.maketrans('ab', 'xy', 'c'))
'abc'.translate(str.maketrans({'a': 'AA'}))
sorted(str.maketrans('ab', 'xy').items())
'''),
    "str-pad": each("'%s'.%s", ["ab", "-5", "日"], ["zfill(5)", "center(6)", "center(7)", "center(7, '*')", "ljust(5)",
                                                  "ljust(5, '.')", "rjust(5)", "rjust(5, '0')", "center(1)"])
    + lines(r'''
'+5'.zfill(4)
'--5'.zfill(6)
''.zfill(3)
'abc'.zfill(2)
'abc'.center(6, '-')
'ab'.center(5, '-')
'abcd'.center(7, '-')
'a\tb'.expandtabs()
'a\tb'.expandtabs(4)
'abcd\te'.expandtabs(4)
'a\tb\n\tc'.expandtabs(2)
'\t'.expandtabs(0)
'01\t012\t0123'.expandtabs(tabsize=6)
'a'.ljust(-3)
'''),
    "str-method-value": lines(r'''
f = 'abc'.upper; f()
list(map(str.upper, ['a', 'b']))
sorted(['b', 'A', 'c'], key=str.lower)
list(filter(str.isdigit, ['1', 'a', '2']))
str.join('-', ['a', 'b'])
[s.strip() for s in ' a , b '.split(',')]
'abc'.replace('a', 'b').replace('b', 'c').upper()
(lambda s: s.title())('a b')
'a b c'.split()[1].upper()
'x'.join(c for c in 'abc' if c != 'b')
s = 'abc'; t = s; s += 'd'; t
len('a b c'.split(' '))
'a' .upper()
max(['bb', 'a', 'ccc'], key=len).center(7, '*')
'{}-{}'.format('a', 1).split('-')
'Hello, World'.lower().count('l')
list(zip('abc', 'de'))
[*'ab', *'cd']
{*'a'}
'a' < 'b' < 'c'
any(c.isdigit() for c in 'abc1')
all(c.isalpha() for c in 'abc1')
{w: len(w) for w in 'one three five'.split()}
sorted('the Quick brown'.split())
sorted('the Quick brown'.split(), key=str.casefold)
' '.join(sorted('c a b'.split(), reverse=True))
'abc'.index('c') + 'abc'.find('z')
str(1) + repr('1')
str('x') + str("y")
'line1\nline2'.split('\n')
print('line1\nline2')
print('日本', 'é')
'''),
    "str-error": lines(r'''
'a' + 1
1 + 'a'
'a' - 'b'
'a' * 'b'
'a' * 1.5
'a' / 2
-'a'
'a' < 1
1 in 'abc'
'abc'[3]
'abc'[-4]
'abc'['a']
'abc'[1.0]
'abc'[None]
'abc'[::0]
'abc'['a':]
'abc'[1.5:2]
''[0]
'abc'.foo
'abc'.foo()
'abc'.index('z')
'abc'.rindex('z')
'abc'.split('')
'abc'.split(1)
'abc'.split(sep=None, foo=1)
'abc'.partition('')
'abc'.replace('a')
'abc'.replace('a', 1)
'abc'.join([1, 2])
','.join(['a', 1])
','.join(5)
'abc'.upper(1)
'abc'.center()
'abc'.center('x')
'abc'.center(5, 'xy')
'abc'.zfill('3')
'abc'.count()
'abc'.find(1)
'abc'.startswith(1)
'abc'.startswith(['a'])
'abc'.strip(1)
'abc'.ljust(5, '')
ord('ab')
ord('')
ord(5)
chr(-1)
chr(1114112)
chr('a')
len(5)
int('x')
x = 'abc'; x[0] = 'z'
x = 'abc'; del x[0]
x = 'abc'; x.y = 1
a, b = 'xyz'
a, b, c = 'xy'
'abc'()
str(1, 2, 3, 4)
str.upper()
str.upper(5)
sorted('a', 'b')
sorted(['a', 1])
max('a', 1)
max('')
sum(['a', 'b'])
sum('ab')
reversed(5)
float('x')
'''),
}
