#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every line of README.md's sh blocks against a real daemon and compares what `#=` says."""
import os
import re
import subprocess
import sys
import tempfile

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../tests/http"))
import harness  # noqa: E402


def lines():
    with open(os.path.join(HERE, "README.md")) as file:
        for block in re.findall(r"^```sh\n(.*?)^```", file.read(), re.M | re.S):
            for line in block.strip().split("\n"):
                command, _, expected = line.partition("#=")
                yield command.strip(), expected.strip()


def main():
    passed = failed = 0
    with harness.Server(devices="cpu") as server, tempfile.TemporaryDirectory() as folder:
        numpy.save(os.path.join(folder, "x.npy"), numpy.arange(6.0).reshape(2, 3))
        with open(os.path.join(folder, "table.csv"), "w") as file:
            file.write("a,b\n1,2\n3,4\n")
        base = "http://127.0.0.1:%d" % server.port
        for command, expected in lines():
            command = command.replace("http://localhost:8080", base)
            done = subprocess.run(["bash", "-c", "set -eo pipefail; T=%s; %s" % (base, command)], cwd=folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            out = done.stdout.decode(errors="replace")
            wrong = done.returncode not in (0, 141) or bool(expected and out.split("\n")[0].lower() != expected.lower())
            if '"detail"' in out:  # a problem that was not asked for
                wrong = True
            if wrong:
                print("%s\n  expected %r\n  got %r (status %d)" % (command, expected, out, done.returncode))
            passed, failed = passed + (not wrong), failed + wrong
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
