-- SPDX-License-Identifier: Apache-2.0
-- wrk: POST a program, the argument behind `--`.
function init(arguments)
  wrk.method = "POST"
  wrk.body = arguments[1]
  wrk.headers["Content-Type"] = "text/plain"
end
