# SPDX-License-Identifier: Apache-2.0
"""/v1/tensors/{name}: create, replace, read, write a part, delete."""
import io
import json

import numpy

from harness import DEVICE, TestCase, exchange, raw_status

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


class Put(TestCase):
    def test_create_then_replace(self):
        answer = self.client.put("/v1/tensors/x", [[1, 2], [3, 4]])
        self.assertOk(answer, 201)
        description = answer.json()
        self.assertEqual(description["name"], "x")
        self.assertEqual(description["dtype"], "int64")
        self.assertEqual(description["shape"], [2, 2])
        self.assertEqual(description["strides"], [2, 1])
        self.assertEqual(description["device"], "cpu")
        self.assertEqual(description["bytes"], 32)
        self.assertEqual(description["storage_bytes"], 32)
        self.assertEqual(description["shared_with"], [])
        self.assertIn("etag", description)
        self.assertOk(self.client.put("/v1/tensors/x", [1.5]), 200)
        self.assertTensor(self.client.get("/v1/tensors/x"), [1.5], "float32")

    def test_suffix_names_tensor_and_format(self):
        file = io.BytesIO()
        numpy.save(file, numpy.arange(6, dtype=numpy.int16).reshape(2, 3))
        self.assertOk(self.client.put("/v1/tensors/a.npy", file.getvalue()), 201)
        self.assertEqual(self.client.get("/v1/tensors/a/meta").json()["dtype"], "int16")
        self.assertOk(self.client.put("/v1/tensors/b.csv", "1,2\n3,4\n"), 201)
        self.assertTensor(self.client.get("/v1/tensors/b.json"), [[1, 2], [3, 4]], "int64")
        self.assertOk(self.client.put("/v1/tensors/c.raw?dtype=float32&shape=2", b"\0\0\x80?\0\0\0@"), 201)
        self.assertTensor(self.client.get("/v1/tensors/c"), [1.0, 2.0], "float32")

    def test_every_dtype_survives(self):
        generator = numpy.random.default_rng(7)
        for name in DTYPES:
            dtype = numpy.dtype(name)
            if dtype.kind == "f":
                array = generator.standard_normal((5, 7)).astype(dtype)
                array[0, 0], array[0, 1], array[0, 2] = numpy.nan, numpy.inf, -0.0
            elif dtype.kind == "b":
                array = generator.integers(0, 2, (5, 7)).astype(bool)
            else:
                info = numpy.iinfo(dtype)
                array = generator.integers(info.min, info.max, (5, 7), dtype, endpoint=True)
            self.client.put_array("t", array)
            back = self.client.array("t")
            self.assertEqual(back.dtype, dtype)
            self.assertEqual(back.tobytes(), array.tobytes(), name)
            document = self.assertOk(self.client.get("/v1/tensors/t")).json()
            self.assertEqual((document["dtype"], document["device"]), (name, DEVICE))
            number = float if dtype.kind == "f" else int
            values = numpy.array([[number(v) for v in row] for row in document["data"]]).astype(dtype)
            numpy.testing.assert_array_equal(values, array)

    def test_bfloat16(self):
        # 1.00390625 = 1 + 2^-8 lies halfway between two bfloat16 values and goes to the even one, 1. The neighbours of
        # 3.140625 are 2^-6 away, so 3.14 are the shortest digits that come back to it.
        answer = self.client.put("/v1/tensors/h", {"dtype": "bfloat16", "data": [1.00390625, 3.140625, -2.5]})
        self.assertOk(answer, 201)
        self.assertTensor(self.client.get("/v1/tensors/h"), [1.0, 3.14, -2.5], "bfloat16")
        self.assertEqual(self.client.array("h").dtype, numpy.float32)
        raw = self.client.get("/v1/tensors/h.raw")
        self.assertEqual(raw.body, b"\x80\x3f\x49\x40\x20\xc0")
        self.assertEqual(raw.headers["tensor-dtype"], "bfloat16")

    def test_shapes_from_0_to_32_dims(self):
        for shape in [(), (0,), (3, 0, 2), (1,) * 32, (2, 1, 3)]:
            array = numpy.arange(numpy.prod(shape, dtype=int), dtype=numpy.float32).reshape(shape)
            self.client.put_array("s", array)
            back = self.client.array("s")
            self.assertEqual(back.shape, shape)
            self.assertEqual(back.tobytes(), array.tobytes())
            answer = self.client.get("/v1/tensors/s")
            self.assertEqual(answer.json()["shape"], list(shape))
            expected = "(" + " ".join(map(str, shape)) + ")"
            self.assertEqual(answer.headers["tensor-shape"], expected)

    def test_fortran_order_and_byte_order(self):
        array = numpy.arange(24, dtype=">f8").reshape(2, 3, 4)
        self.client.put_array("f", numpy.asfortranarray(array))
        numpy.testing.assert_array_equal(self.client.array("f"), array)
        self.client.put_array("g", array.astype(">i4"))
        numpy.testing.assert_array_equal(self.client.array("g"), array.astype("i4"))

    def test_dtype_converts(self):
        self.assertOk(self.client.put("/v1/tensors/x?dtype=float16", [1, 2.5]), 201)
        self.assertTensor(self.client.get("/v1/tensors/x"), [1.0, 2.5], "float16")
        self.client.put_array("y", numpy.array([1.9, -1.9]), "&dtype=int32")
        self.assertTensor(self.client.get("/v1/tensors/y"), [1, -1], "int32")

    def test_names(self):
        for name in ("a", "_", "Z9_.-x", "a" * 128):
            self.assertOk(self.client.put("/v1/tensors/" + name, 1), 201)
        for name in ("9a", "-a", "a" * 129, "True", "None", "torch", "np", "nn", "F", "if", "lambda", "a%20b",
                     "%C3%A4", "x.png", "x.npz"):
            answer = self.client.put("/v1/tensors/" + name, 1)
            self.assertIn(answer.status, (400, 404, 422), (name, answer))
        self.assertProblem(self.client.put("/v1/tensors/while", 1), 422, "name")

    def test_large_integers_and_non_finite(self):
        self.client.put("/v1/tensors/i", '[9007199254740993, "9223372036854775807", -3]')
        self.assertTensor(self.client.get("/v1/tensors/i"),
                          ["9007199254740993", "9223372036854775807", -3], "int64")
        self.client.put("/v1/tensors/f", '["NaN", Infinity, "-Infinity", 1e3]')
        self.assertTensor(self.client.get("/v1/tensors/f"), ["NaN", "Infinity", "-Infinity", 1000.0], "float32")

    def test_flat_data_with_shape(self):
        self.assertOk(self.client.put("/v1/tensors/x", {"data": [1, 2, 3, 4], "shape": [2, 2]}), 201)
        self.assertTensor(self.client.get("/v1/tensors/x"), [[1, 2], [3, 4]])

    def test_a_description_can_be_put_back(self):
        self.client.put("/v1/tensors/x?device=" + DEVICE, [[1.5, 2], [3, 4]])
        document = self.client.get("/v1/tensors/x").body
        self.assertOk(self.client.put("/v1/tensors/y", document, Content_Type="application/json"), 201)
        self.assertTensor(self.client.get("/v1/tensors/y"), [[1.5, 2.0], [3.0, 4.0]], "float32")


class Part(TestCase):
    def test_read(self):
        array = numpy.arange(24).reshape(2, 3, 4)
        self.client.put_array("x", array)
        for text, index in [("0", numpy.s_[0]), ("-1,1", numpy.s_[-1, 1]), ("0:2,:,-1", numpy.s_[0:2, :, -1]),
                            ("...,::2", numpy.s_[..., ::2]), ("None,1", numpy.s_[None, 1]),
                            (":,1:9", numpy.s_[:, 1:9]), ("1,2,3", numpy.s_[1, 2, 3])]:
            numpy.testing.assert_array_equal(self.client.array("x", "?index=" + text), array[index], text)

    def test_read_converted(self):
        self.client.put_array("x", numpy.array([1.5, 2.5]))
        self.assertTensor(self.client.get("/v1/tensors/x?dtype=int64"), [1, 2], "int64")

    def test_write(self):
        array = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        self.client.put_array("x", array)
        self.assertOk(self.client.put("/v1/tensors/x?index=0:2,:", [9, 8, 7, 6]))
        array[0:2, :] = [9, 8, 7, 6]
        numpy.testing.assert_array_equal(self.client.array("x"), array)
        self.assertOk(self.client.put("/v1/tensors/x?index=-1,::2", 0.5))
        array[-1, ::2] = 0.5
        numpy.testing.assert_array_equal(self.client.array("x"), array)

    def test_write_reaches_views(self):
        self.client.put_array("x", numpy.zeros((2, 3), numpy.int32))
        self.assertOk(self.client.op("transpose", "x", 0, 1, out="t"))
        self.assertOk(self.client.put("/v1/tensors/x?index=0,2", 5))
        self.assertTensor(self.client.get("/v1/tensors/t"), [[0, 0], [0, 0], [5, 0]], "int32")
        self.assertEqual(self.client.get("/v1/tensors/t/meta").json()["shared_with"], ["x"])

    def test_rebinding_leaves_views(self):
        self.client.put_array("x", numpy.arange(4))
        self.assertOk(self.client.op("view", "x", [2, 2], out="v"))
        self.assertOk(self.client.put("/v1/tensors/x", [7]))
        self.assertTensor(self.client.get("/v1/tensors/v"), [[0, 1], [2, 3]])
        self.assertEqual(self.client.get("/v1/tensors/v/meta").json()["shared_with"], [])

    def test_refused(self):
        self.client.put_array("x", numpy.zeros((2, 3)))
        self.assertProblem(self.client.get("/v1/tensors/x?index=2"), 422, "index")
        self.assertProblem(self.client.get("/v1/tensors/x?index=0,0,0"), 422, "index")
        self.assertProblem(self.client.get("/v1/tensors/x?index=::-1"), 422, "value")
        self.assertProblem(self.client.get("/v1/tensors/x?index=zero"), 400, "malformed")
        self.assertProblem(self.client.put("/v1/tensors/x?index=0", [1, 2]), 422, "shape")
        self.assertProblem(self.client.put("/v1/tensors/nothing?index=0", [1]), 404, "not-found")


class Delete(TestCase):
    def test_one(self):
        self.client.put("/v1/tensors/x", [1.0, 2.0])
        answer = self.assertOk(self.client.delete("/v1/tensors/x"))
        self.assertEqual(answer.json(), {"deleted": 1, "bytes": 8})
        self.assertProblem(self.client.get("/v1/tensors/x"), 404, "not-found")
        self.assertProblem(self.client.delete("/v1/tensors/x"), 404, "not-found")

    def test_prefix(self):
        for name in ("a.1", "a.2", "b"):
            self.client.put("/v1/tensors/" + name, [1])
        self.assertProblem(self.client.delete("/v1/tensors"), 400, "malformed")
        self.assertEqual(self.client.delete("/v1/tensors?prefix=a.").json(), {"deleted": 2, "bytes": 16})
        names = [row["name"] for row in self.client.get("/v1/tensors").json()["tensors"]]
        self.assertEqual(names, ["b"])

    def test_storage_lives_with_its_last_view(self):
        self.client.put_array("x", numpy.arange(4, dtype=numpy.int64))
        self.client.op("slice", "x", "1:3", out="v")
        self.assertEqual(self.client.delete("/v1/tensors/x").json()["deleted"], 1)
        self.assertTensor(self.client.get("/v1/tensors/v"), [1, 2])
        self.assertEqual(self.client.delete("/v1/tensors/v").json(), {"deleted": 1, "bytes": 32})


class Read(TestCase):
    def test_formats(self):
        self.client.put_array("x", numpy.array([[1.0, 2.5]], numpy.float32))
        csv = self.client.get("/v1/tensors/x.csv")
        self.assertEqual((csv.body, csv.headers["content-type"].split(";")[0]), (b"1.0,2.5\n", "text/csv"))
        text = self.client.get("/v1/tensors/x.txt")
        place = "" if DEVICE == "cpu" else ", device='cuda:0'"
        self.assertEqual(text.body.decode(), "tensor([[1.0000, 2.5000]]%s)\n" % place)
        self.assertEqual(self.client.get("/v1/tensors/x.raw").body, numpy.array([1, 2.5], "<f4").tobytes())
        self.assertEqual(self.client.get("/v1/tensors/x?format=npy").npy().tolist(), [[1.0, 2.5]])
        self.assertEqual(self.client.get("/v1/tensors/x", Accept="application/x-npy").npy().tolist(), [[1.0, 2.5]])
        body = self.client.get("/v1/tensors/x").body.decode()
        self.assertTrue(body.endswith("\n"))

    def test_headers(self):
        self.client.put_array("x", numpy.zeros((1797, 64), numpy.float16))
        for method in ("GET", "HEAD"):
            answer = self.client.send(method, "/v1/tensors/x.npy")
            self.assertOk(answer)
            self.assertEqual(answer.headers["tensor-dtype"], "float16")
            self.assertEqual(answer.headers["tensor-shape"], "(1797 64)")
            self.assertEqual(answer.headers["tensor-device"], '"%s"' % DEVICE)
            self.assertEqual(answer.headers["vary"], "Accept")
            self.assertEqual(answer.headers["cache-control"], "private, no-cache, no-transform")
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
            self.assertEqual(answer.headers["cross-origin-resource-policy"], "same-origin")
        self.assertEqual(answer.body, b"")
        self.assertEqual(int(answer.headers["content-length"]), 128 + 1797 * 64 * 2)

    def test_head_of_a_body_without_length(self):
        """Nothing follows the headers, not even a last chunk: a client would take it for the next answer."""
        self.client.put("/v1/tensors/x", [1, 2, 3])
        for path in ("x", "x.csv", "x.txt", "x?index=0"):
            got = exchange(self.server, b"HEAD /v1/tensors/%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())
            self.assertEqual((raw_status(got), got[-4:], got.count(b"\r\n\r\n")), (200, b"\r\n\r\n", 1), got)
            self.assertOk(self.client.send("HEAD", "/v1/tensors/" + path))
            self.assertOk(self.client.get("/v1"))

    def test_not_acceptable(self):
        self.client.put_array("x", numpy.zeros((2, 2, 2)))
        self.assertProblem(self.client.get("/v1/tensors/x", Accept="image/gif"), 406, "not-acceptable")
        self.assertProblem(self.client.get("/v1/tensors/x.csv"), 406, "not-acceptable")
        self.assertProblem(self.client.get("/v1/tensors/x?format=xml"), 406, "not-acceptable")

    def test_non_contiguous(self):
        array = numpy.arange(24, dtype=numpy.int16).reshape(2, 3, 4)
        self.client.put_array("x", array)
        self.client.op("permute", "x", 2, 0, 1, out="p")
        numpy.testing.assert_array_equal(self.client.array("p"), array.transpose(2, 0, 1))
        self.assertTensor(self.client.get("/v1/tensors/p"), array.transpose(2, 0, 1).tolist())
        self.assertEqual(self.client.get("/v1/tensors/p/meta").json()["strides"], [1, 12, 4])


class Version(TestCase):
    def test_etag(self):
        self.client.put("/v1/tensors/x", [1])
        first = self.client.get("/v1/tensors/x").headers["etag"]
        self.assertOk(self.client.get("/v1/tensors/x", If_None_Match=first), 304)
        self.assertNotEqual(self.client.get("/v1/tensors/x.npy").headers["etag"], first)
        self.client.op("add_", "x", 1)
        self.assertNotEqual(self.client.get("/v1/tensors/x").headers["etag"], first)
        self.assertOk(self.client.get("/v1/tensors/x", If_None_Match=first), 200)

    def test_conditions(self):
        put = lambda value, **headers: self.client.put("/v1/tensors/x", value, **headers)
        self.assertOk(put([1], If_None_Match="*"), 201)
        self.assertProblem(put([2], If_None_Match="*"), 412, "precondition")
        etag = self.client.get("/v1/tensors/x.npy").headers["etag"]
        self.assertOk(put([3], If_Match=etag))
        self.assertProblem(put([4], If_Match=etag), 412, "precondition")
        self.assertTensor(self.client.get("/v1/tensors/x"), [3])
        etag = self.client.get("/v1/tensors/x/meta").json()["etag"]
        self.assertOk(self.client.delete("/v1/tensors/x", If_Match=etag))

    def test_if_in_body(self):
        self.client.put("/v1/tensors/x", [1])
        etag = self.client.get("/v1/tensors/x/meta").json()["etag"]
        self.assertOk(self.client.op("add", "x", 1, out="y", condition={"x": etag, "y": None}))
        self.assertProblem(self.client.op("add", "x", 1, out="y", condition={"y": None}), 412, "precondition")
        self.client.op("add_", "x", 1)
        self.assertProblem(self.client.op("add", "x", 1, out="y", condition={"x": etag}), 412, "precondition")

    def test_ranges(self):
        self.client.put_array("x", numpy.arange(10, dtype=numpy.uint8))
        whole = self.client.get("/v1/tensors/x.raw")
        self.assertEqual(whole.headers["accept-ranges"], "bytes")
        part = self.client.get("/v1/tensors/x.raw", Range="bytes=2-4")
        self.assertOk(part, 206)
        self.assertEqual((part.body, part.headers["content-range"]), (b"\2\3\4", "bytes 2-4/10"))
        self.assertEqual(self.client.get("/v1/tensors/x.raw", Range="bytes=-3").body, b"\7\x08\x09")
        self.assertEqual(self.client.get("/v1/tensors/x.raw", Range="bytes=8-").body, b"\x08\x09")
        npy = self.client.get("/v1/tensors/x.npy").body
        self.assertEqual(self.client.get("/v1/tensors/x.npy", Range="bytes=120-130").body, npy[120:131])
        answer = self.client.get("/v1/tensors/x.raw", Range="bytes=10-")
        self.assertProblem(answer, 416, "range")
        self.assertEqual(answer.headers["content-range"], "bytes */10")
        self.assertOk(self.client.get("/v1/tensors/x.raw", Range="bytes=0-1,4-5"), 200)
        self.assertOk(self.client.get("/v1/tensors/x", Range="bytes=0-1"), 200)
        etag = whole.headers["etag"]
        self.assertOk(self.client.get("/v1/tensors/x.raw", Range="bytes=0-1", If_Range=etag), 206)
        self.assertOk(self.client.get("/v1/tensors/x.raw", Range="bytes=0-1", If_Range='"other"'), 200)


class To(TestCase):
    def test_device_and_dtype(self):
        self.client.put("/v1/tensors/x", [1.5, 2.5])
        answer = self.assertOk(self.client.post("/v1/tensors/x/to", {"device": DEVICE, "dtype": "float64"}))
        self.assertEqual((answer.json()["device"], answer.json()["dtype"]), (DEVICE, "float64"))
        self.assertOk(self.client.post("/v1/tensors/x/to", {"device": "cpu"}))
        self.assertTensor(self.client.get("/v1/tensors/x"), [1.5, 2.5], "float64")

    def test_there_and_back_is_exact(self):
        array = numpy.random.default_rng(1).integers(0, 256, 1000003, dtype=numpy.uint8)
        self.client.put_array("x", array)
        for place in ("cpu", DEVICE, "cpu"):
            self.assertOk(self.client.post("/v1/tensors/x/to", {"device": place}))
        self.assertEqual(self.client.array("x").tobytes(), array.tobytes())

    def test_refused(self):
        self.client.put("/v1/tensors/x", [1])
        self.assertProblem(self.client.post("/v1/tensors/x/to", {"device": "cuda:77"}), 422, "device")
        self.assertProblem(self.client.post("/v1/tensors/x/to", {"dtype": "float8"}), 422, "dtype")
        self.assertProblem(self.client.post("/v1/tensors/x/to", {"devise": "cpu"}), 400, "malformed")
        self.assertProblem(self.client.post("/v1/tensors/nope/to", {"device": "cpu"}), 404, "not-found")


class Meta(TestCase):
    def test_patch(self):
        patch = lambda name, body: self.client.send("PATCH", "/v1/tensors/%s/meta" % name, json.dumps(body),
                                                    {"Content-Type": "application/merge-patch+json"})
        self.client.put("/v1/tensors/x", [1, 2])
        self.assertOk(patch("x", {"name": "y"}))
        self.assertProblem(self.client.get("/v1/tensors/x"), 404, "not-found")
        self.assertOk(patch("y", {"readonly": True, "pinned": True}))
        meta = self.client.get("/v1/tensors/y/meta").json()
        self.assertEqual((meta["readonly"], meta["pinned"]), (True, True))
        self.assertProblem(self.client.op("add_", "y", 1), 403, "forbidden")
        self.assertProblem(self.client.put("/v1/tensors/y", [3]), 403, "forbidden")
        self.assertProblem(self.client.put("/v1/tensors/y?index=0", 3), 403, "forbidden")
        self.client.op("slice", "y", "0:1", out="view")
        self.assertProblem(self.client.op("add_", "view", 1), 403, "forbidden")
        self.assertProblem(self.client.put("/v1/tensors/view?index=0", 3), 403, "forbidden")
        self.assertTensor(self.client.get("/v1/tensors/y"), [1, 2])
        self.assertOk(patch("y", {"readonly": False}))
        self.assertOk(self.client.op("add_", "y", 1))
        self.client.put("/v1/tensors/z", [1])
        self.assertProblem(patch("y", {"name": "z"}), 409, "conflict")
        self.assertProblem(patch("y", {"colour": 1}), 400, "malformed")

    def test_put_keeps_attributes_however_it_is_converted(self):
        for query in ("", "&dtype=float16", "&dtype=float64"):
            self.client.put_array("k", numpy.zeros(3))
            self.assertOk(self.client.send("PATCH", "/v1/tensors/k/meta", {"pinned": True, "ttl": 1000}))
            self.client.put_array("k", numpy.ones(3), query)
            meta = self.client.get("/v1/tensors/k/meta").json()
            self.assertTrue(meta["pinned"] and meta["ttl"] > 900, (query, meta))

    def test_ttl(self):
        import time
        self.client.put("/v1/tensors/x", [1])
        self.assertOk(self.client.send("PATCH", "/v1/tensors/x/meta", {"ttl": 1}))
        self.assertIsNotNone(self.client.get("/v1/tensors/x/meta").json()["ttl"])
        time.sleep(1.3)
        self.assertProblem(self.client.get("/v1/tensors/x"), 404, "not-found")


class List(TestCase):
    def test_pages(self):
        for i in range(25):
            self.client.put("/v1/tensors/t%02d" % i, [i])
        page = self.client.get("/v1/tensors?prefix=t&limit=10")
        seen = []
        while True:
            document = page.json()
            seen += [row["name"] for row in document["tensors"]]
            if document["next"] is None:
                break
            self.assertIn('rel="next"', page.headers["link"])
            page = self.client.get(document["next"])
        self.assertEqual(seen, ["t%02d" % i for i in range(25)])
        self.assertIn(b"t07", self.client.get("/v1/tensors.txt").body)
        self.assertProblem(self.client.get("/v1/tensors?limit=0"), 422, "value")
        self.assertProblem(self.client.get("/v1/tensors?limit=10001"), 422, "value")

    def test_order_is_bytewise(self):
        for name in ("b", "B", "a", "_", "a.b", "a-b", "ab"):
            self.client.put("/v1/tensors/" + name, 1)
        names = [row["name"] for row in self.client.get("/v1/tensors").json()["tensors"]]
        self.assertEqual(names, sorted(names))
        self.assertEqual(len(names), 7)
