# SPDX-License-Identifier: Apache-2.0
"""Random programs of views, writes and reads, run by torch: what a variable holds after each.

Prints torch_cells.inc (run it where torch is). One program a line, statements
separated by ";", their words by " ". Variables are numbers; x, y stand for them:

  n x dtype shape values    a literal          b x dtype shape values   an existing tensor
  v x y op arguments        a view operation   o x op y z               an operation (z: a variable, or #n)
  i op y z                  in place           w y z                    y[...] = z
  r x dtype shape values    x must hold these  d x                      x is dropped
  f                         flush              ! kind                   the statement before fails so

What torch refuses because source and target overlap is written as tensord does it: the source is read
as it was before. Results of operations are contiguous, as tensord's are.
"""
import random

import torch

OPERATIONS = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum,
              "remainder": torch.remainder}
KINDS = {"shape": ("shape", "size", "expand", "broadcast"), "value": ("single memory location",),
         "dtype": ("can't be cast",)}


def tensor_text(x):
    shape = "x".join(str(n) for n in x.shape) or "0d"
    return " ".join([str(x.dtype)[6:], shape] + [repr(v) for v in x.reshape(-1).tolist()])


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.statements = []
        self.variables = {}
        self.next = 0

    def say(self, *words):
        self.statements.append(" ".join(str(w) for w in words))

    def name(self, x):
        self.variables[self.next] = x
        self.next += 1
        return self.next - 1

    def make(self):
        shape = self.random.choice([[4], [6], [2, 3], [3, 4], [2, 3, 2], [1, 5], [3, 3], [], [2, 2, 2], [0, 3]])
        dtype = self.random.choice([torch.float32, torch.int64, torch.float32])
        count = 1
        for n in shape:
            count *= n
        values = [self.random.randint(-9, 9) for _ in range(count)]
        x = torch.tensor(values, dtype=dtype).reshape(shape)
        self.say(self.random.choice("nb"), self.name(x), tensor_text(x))

    def pick(self):
        return self.random.choice(list(self.variables))

    def pick_like(self, y):
        target = self.variables[y]
        fits = []
        for key, value in self.variables.items():
            try:
                if torch.broadcast_shapes(value.shape, target.shape) == target.shape:
                    fits.append(key)
            except RuntimeError:
                pass
        return self.random.choice(fits)

    def index(self, x):
        parts = []
        for n in x.shape:
            choice = self.random.randint(0, 4)
            if n == 0 or choice == 0:
                parts.append(":")
            elif choice == 1:
                parts.append(str(self.random.randint(-n, n - 1)))
            else:
                a = self.random.randint(0, n - 1)
                step = self.random.choice(["", "", ":2"])
                parts.append("%d:%d%s" % (a, self.random.randint(a, n), step))
        return ",".join(parts) if parts else "..."

    def view(self):
        y = self.pick()
        x = self.variables[y]
        kind = self.random.choice(["slice", "slice", "slice", "transpose", "unsqueeze", "reshape", "reshape",
                                   "flatten", "contiguous", "expand", "squeeze", "permute", "clone"])
        if kind == "slice":
            index = self.index(x)
            result, words = eval("x[%s]" % index), [index]
        elif kind == "transpose" and x.dim() > 1:
            dims = self.random.sample(range(x.dim()), 2)
            result, words = x.transpose(*dims), dims
        elif kind == "permute" and x.dim() > 1:
            dims = self.random.sample(range(x.dim()), x.dim())
            result, words = x.permute(*dims), [",".join(map(str, dims))]
        elif kind == "unsqueeze" and x.dim() < 4:
            dim = self.random.randint(0, x.dim())
            result, words = x.unsqueeze(dim), [dim]
        elif kind == "squeeze":
            result, words = x.squeeze(), []
        elif kind == "reshape" and x.numel() > 0:
            first = self.random.choice([n for n in range(1, x.numel() + 1) if x.numel() % n == 0])
            result, words = x.reshape(first, -1), ["%d,-1" % first]
        elif kind == "flatten":
            result, words = x.flatten(), []
        elif kind == "contiguous":
            result, words = x.contiguous(), []
        elif kind == "clone":
            result, words = x.clone(memory_format=torch.contiguous_format), []
        elif kind == "expand" and x.dim() < 4:
            result, words = x.expand(2, *x.shape), [",".join(map(str, [2] + list(x.shape)))]
        else:
            return
        if result.numel() <= 60:
            self.say("v", self.name(result), y, kind, *words)

    def other(self, y):
        if self.random.random() < 0.3:
            n = self.random.randint(1, 9)
            return n, "#%d" % n
        z = self.pick_like(y) if self.random.random() < 0.9 else self.pick()
        return self.variables[z], str(z)

    def attempt(self, words, action):
        self.say(*words)
        try:
            return action()  # None where nothing comes back
        except RuntimeError as error:
            text = str(error)
            kinds = [kind for kind, parts in KINDS.items() if any(p in text for p in parts)]
            assert kinds, text
            self.statements[-1] += ";! " + kinds[-1]
            return None

    def operate(self):
        y = self.pick()
        op = self.random.choice(["add", "sub", "mul", "maximum"])
        value, word = self.other(y)
        if op == "maximum" and word[0] == "#":
            op = "add"
        x = self.next
        result = self.attempt(["o", x, op, y, word],
                              lambda: OPERATIONS[op](self.variables[y], value).contiguous())
        if result is None or result.numel() > 60:
            if result is not None:
                self.statements.pop()
            return
        self.name(result)
        if result.abs().sum() > 1000:  # keeps every value exact
            small = torch.remainder(result, 13)
            self.say("o", self.name(small), "remainder", x, "#13")
            del self.variables[x]
            self.say("d", x)

    def in_place(self):
        y = self.pick()
        op = self.random.choice(["add", "sub", "mul"])
        value, word = self.other(y)
        if torch.is_tensor(value):
            value = value.clone()
        target = self.variables[y]
        if torch.is_tensor(value) and value.dtype.is_floating_point and not target.dtype.is_floating_point \
                and 0 in target.stride():
            return  # which of the two errors comes first is nobody's promise
        self.attempt(["i", op, y, word], lambda: getattr(target, op + "_")(value))
        if target.abs().sum() > 1000 and 0 not in [s for s, n in zip(target.stride(), target.shape) if n > 1]:
            target.remainder_(13)
            self.say("i", "remainder", y, "#13")

    def write(self):
        y = self.pick()
        value, word = self.other(y)
        target = self.variables[y]
        if torch.is_tensor(value):
            value = value.clone()
        self.attempt(["w", y, word], lambda: target.__setitem__(..., value))

    def read(self):
        x = self.pick()
        self.say("r", x, tensor_text(self.variables[x]))

    def drop(self):
        if len(self.variables) > 3:
            x = self.pick()
            del self.variables[x]
            self.say("d", x)

    def run(self, length):
        self.make()
        self.make()
        kinds = [self.make] * 2 + [self.view] * 6 + [self.operate] * 4 + [self.in_place] * 4 + [self.write] * 4
        kinds += [self.drop] * 2 + [self.read] * 2 + [lambda: self.say("f")]
        for _ in range(length):
            self.random.choice(kinds)()
        for x in self.variables:
            self.say("r", x, tensor_text(self.variables[x]))
        return ";".join(self.statements)


HAND = [
    # y = x + 1; x[0] = 9; y
    "b 0 float32 3 1.0 2.0 3.0;o 1 add 0 #1;v 2 0 slice 0;w 2 #9;r 1 float32 3 2.0 3.0 4.0;"
    "r 0 float32 3 9.0 2.0 3.0",
    # x[1:] = x[:-1]
    "b 0 int64 4 1 2 3 4;v 1 0 slice 1:4;v 2 0 slice 0:3;w 1 2;r 0 int64 4 1 1 2 3;r 2 int64 3 1 1 2",
    # x += x.T
    "n 0 int64 2x2 1 2 3 4;v 1 0 transpose 0 1;i add 0 1;r 0 int64 2x2 2 5 5 8;r 1 int64 2x2 2 5 5 8",
    # a reshape of what is contiguous is a view
    "n 0 int64 2x2 1 2 3 4;o 1 mul 0 #2;v 2 1 reshape 4;v 3 2 slice 3;w 3 #0;r 1 int64 2x2 2 4 6 0",
    # an expanded tensor is written only where all its elements become the same
    "n 0 int64 1x2 1 2;n 2 int64 2 3 4;v 1 0 expand 3,2;w 1 2;! value;r 0 int64 1x2 1 2;w 1 #5;r 0 int64 1x2 5 5",
]


def main():
    lines = list(HAND)
    for seed in range(360):
        lines.append(Program(seed).run(18 + seed % 20))
    print("// SPDX-License-Identifier: Apache-2.0\n// Written by torch_cells.py with torch %s." % torch.__version__)
    for line in lines:
        print('"%s",' % line)


main()
