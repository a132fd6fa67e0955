#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs README.md's sh blocks line by line against a real daemon and compares what `#=` says; then the screens of the
top README, whose printed answers stand beside them."""
import os
import re
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tests/http"))
import harness  # noqa: E402


def blocks(path):
    """(language, content) of each fenced block."""
    with open(path) as file:
        return re.findall(r"^```(\w*)\n(.*?)^```", file.read(), re.M | re.S)


def run(command, server, folder):
    """(status, output) of a command that means server by localhost:8080."""
    base = "127.0.0.1:%d" % server.port
    command = "set -eo pipefail; T=http://%s; %s" % (base, command.replace("localhost:8080", base))
    done = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.decode(errors="replace")


def check(command, expected, status, out, right):
    right = right and status in (0, 141) and '"detail"' not in out  # a problem that was not asked for
    if not right:
        print("%s\n  expected %r\n  got %r (status %d)" % (command, expected, out, status))
    return right


def routes(server, folder):
    numpy.save(os.path.join(folder, "x.npy"), numpy.arange(6.0).reshape(2, 3))
    with open(os.path.join(folder, "table.csv"), "w") as file:
        file.write("a,b\n1,2\n3,4\n")
    with open(os.path.join(folder, "cell.py"), "w") as file:
        file.write("for i in range(2):\n    print(i)\ni\n")
    for _, block in blocks(os.path.join(HERE, "README.md")):
        for line in block.strip().split("\n"):
            command, _, expected = line.partition("#=")
            command, expected = command.strip(), expected.strip()
            status, out = run(command, server, folder)
            yield check(command, expected, status, out, not expected or out.split("\n")[0].lower() == expected.lower())


def screens(server, folder):
    """The top README: blocks that talk to the server. What a block prints stands in the block after it, or is the digits'
    1746 of 1797."""
    all_blocks = blocks(os.path.join(harness.ROOT, "README.md"))
    for (language, block), (follows, printed) in zip(all_blocks, all_blocks[1:]):
        if language != "sh" or "localhost:8080" not in block:
            continue
        status, out = run(block, server, harness.ROOT)
        if follows == "":
            yield check(block, printed, status, out, out == printed)
        else:
            yield check(block, "1746", status, out, out.rstrip().endswith('"data": 1746}'))


def main():
    outcomes = []
    for suite in (routes, screens):
        with harness.Server(devices="cpu") as server, tempfile.TemporaryDirectory() as folder:
            found = list(suite(server, folder))
        outcomes += found or [False]
    print("%d passed, %d failed" % (sum(outcomes), len(outcomes) - sum(outcomes)))
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
