-- SPDX-License-Identifier: Apache-2.0
-- wrk: POST the add of two tensors of three elements.
wrk.method = "POST"
wrk.body = '{"args": ["a", "b"], "out": "y"}'
wrk.headers["Content-Type"] = "application/json"
