#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The peer: what a user would build instead, FastAPI over a dict of torch tensors. `peer.py PORT`."""
import io
import sys

import fastapi
import numpy
import torch
import ujson
import uvicorn
from pydantic import BaseModel

app = fastapi.FastAPI()
tensors = {}


class Binary(BaseModel):
    args: list
    out: str


def describe(name):
    tensor = tensors[name]
    return {"name": name, "shape": list(tensor.shape), "dtype": str(tensor.dtype).split(".")[-1]}


@app.get("/healthz")
async def healthz():
    return {"ok": True}


@app.put("/v1/tensors/{name}")
async def put(name: str, request: fastapi.Request):
    body = await request.body()
    if body[:6] == b"\x93NUMPY":
        tensors[name] = torch.from_numpy(numpy.load(io.BytesIO(body)))
    else:
        tensors[name] = torch.tensor(ujson.loads(body), dtype=torch.float32)
    return describe(name)


@app.get("/v1/tensors/{name}")
async def get(name: str, format: str = "json"):
    tensor = tensors[name]
    if format == "npy":
        file = io.BytesIO()
        numpy.save(file, tensor.numpy())
        return fastapi.Response(file.getvalue(), media_type="application/x-npy")
    return fastapi.Response(ujson.dumps({**describe(name), "data": tensor.tolist()}), media_type="application/json")


@app.post("/v1/ops/add")
async def add(body: Binary):
    tensors[body.out] = tensors[body.args[0]] + tensors[body.args[1]]
    return describe(body.out)


@app.post("/v1/ops/matmul")
def matmul(body: Binary):
    tensors[body.out] = tensors[body.args[0]] @ tensors[body.args[1]]
    return describe(body.out)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", loop="uvloop", http="httptools",
                access_log=False)
