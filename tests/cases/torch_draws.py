# SPDX-License-Identifier: Apache-2.0
"""Draws into tensors of unusual layout, and operations made of draws, by torch's CPU generator (no MKL).

Prints torch_draws.inc: DRAW(name, count, values...) for each name that
tests/unit/tensor/test_generators.c knows, all from one stream after manual_seed(7).
"""
import torch

torch.manual_seed(7)
lines = []


def put(name, x):
    values = ", ".join(float(v).hex() for v in x.reshape(-1).tolist())
    lines.append("DRAW(%s, %d, %s)" % (name, x.numel(), values))


def into(name, shape, action):
    x = torch.zeros(shape)
    action(x)
    put(name, x)


into("uniform_transposed", (4, 5), lambda x: x.t().uniform_())
into("normal_transposed", (5, 4), lambda x: x.t().normal_())
into("normal_columns", (9, 6), lambda x: x[:, 1:3].normal_(1, 2))
into("normal_row", (3, 18), lambda x: x[1].normal_())
into("random_permuted", (2, 3, 4), lambda x: x.permute(2, 0, 1).random_(10))
into("bernoulli_number", (3, 4), lambda x: x.bernoulli_(0.3))
put("rand_like_transposed", torch.rand_like(torch.zeros(3, 4).t()))
put("randn_like_transposed", torch.randn_like(torch.zeros(5, 4).t()))
put("randn_like_columns", torch.randn_like(torch.zeros(9, 6)[:, 1:3]))
put("randint_like", torch.randint_like(torch.zeros(3, 4), 2, 9))
put("bernoulli_tensor", torch.bernoulli(torch.linspace(0, 1, 20)))
put("dropout", torch.nn.functional.dropout(torch.arange(1.0, 13.0), 0.25, True))
put("normal_tensors", torch.normal(torch.arange(1.0, 5.0), torch.arange(4.0, 0.0, -1)))
put("normal_std", torch.normal(2.0, torch.arange(4.0, 0.0, -1)))
put("normal_mean", torch.normal(torch.arange(1.0, 21.0), 0.5))
put("rand", torch.rand(2))
print("// SPDX-License-Identifier: Apache-2.0\n// Written by torch_draws.py with torch %s." % torch.__version__)
print("\n".join(lines))
