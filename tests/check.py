#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test program and suite of a build and adds up the results.

Each suite runs as its own process with a time limit. cmocka programs and the Python suites print their own
lines; this script reads them, so that a skipped test is never counted as passed. The last line is
"N passed, N failed, N skipped"; the exit status is 0 only if nothing failed and something passed.
"""
import argparse
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Totals:
    passed = failed = skipped = 0


def cmocka_counts(output):
    """(passed, failed, skipped) of one or more cmocka groups."""
    total = lambda word: sum(int(n) for n in re.findall(r"\[  %s\s*\] (\d+) test" % word, output))
    return total("PASSED"), total("FAILED"), total("SKIPPED")


def plain_counts(output):
    """(passed, failed, skipped) of lines `N passed, N failed[, N skipped]`."""
    passed = failed = skipped = 0
    for match in re.finditer(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", output, re.M):
        passed += int(match[1])
        failed += int(match[2])
        skipped += int(match[3] or 0)
    return passed, failed, skipped


def run(label, command, environment=None, limit=900):
    """Runs one suite; prints one line, and everything it said if it failed."""
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit)
        output, code = done.stdout.decode(errors="replace"), done.returncode
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode(errors="replace") + "\ntimed out after %d s" % limit
        code = -1
    passed, failed, skipped = cmocka_counts(output)
    more = plain_counts(output)
    passed, failed, skipped = passed + more[0], failed + more[1], skipped + more[2]
    if code != 0 and failed == 0:
        failed = 1
    if code == 0 and passed == 0 and skipped == 0:
        output += "\nthe suite ran no test"
        failed = 1
    Totals.passed += passed
    Totals.failed += failed
    Totals.skipped += skipped
    verdict = "FAILED" if failed else "ok"
    note = ", %d skipped" % skipped if skipped else ""
    print("%-48s %5d passed%s  %s  %.1f s" % (label, passed, note, verdict, time.monotonic() - start),
          flush=True)
    if failed:
        print(output, flush=True)


def unit_programs(build):
    for room in sorted(os.listdir(os.path.join(build, "tests/unit"))):
        folder = os.path.join(build, "tests/unit", room)
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name.startswith("test_") and os.access(path, os.X_OK) and "." not in name:
                if os.path.exists(os.path.join(ROOT, "tests/unit", room, name + ".c")):
                    yield "unit %s/%s" % (room, name), path


def simulated(build):
    """[(label, prefix, environment)] of the ways to run with CUDA; empty without the simulator."""
    if not os.path.exists(os.path.join(build, "cudasim/libtensord_cuda.so")):
        return []
    prefix = [os.path.join(ROOT, "tests/cudasim/run")]
    ways = [("cudasim", prefix, {"CUDASIM_BUILD": build})]
    if os.path.exists(os.path.join(build, "libtensord_cuda.so")):
        ways.append(("nvcc's plugin on cudasim", prefix, {"CUDASIM_BUILD": build, "CUDASIM_PLUGIN": "nvcc"}))
    return ways


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--cuda", default="0", help="1 if nvcc built the plugin")
    parser.add_argument("--only", help="run suites whose label contains this")
    parser.add_argument("--torture", action="store_true", help="fail the n-th allocation instead")
    options = parser.parse_args()
    build = os.path.join(ROOT, options.build)
    wanted = lambda label: not options.only or options.only in label
    suites = []

    if options.torture:
        suites.append(("torture", [sys.executable, "tests/torture.py", "--build", build], None))
    else:
        suites += [(label, [path], None) for label, path in unit_programs(build)]
        suites += extra_suites(build, options)
    for label, command, environment in suites:
        if wanted(label):
            run(label, command, environment)
    print("%d passed, %d failed, %d skipped" % (Totals.passed, Totals.failed, Totals.skipped))
    return 1 if Totals.failed or not Totals.passed else 0


def extra_suites(build, options):
    python = sys.executable
    suites = [("lint", [python, "tests/lint.py", "--count"], None)]
    replay = os.path.join(build, "tests/fuzz/replay")
    if os.path.exists(replay):
        suites.append(("fuzz corpora replayed", [replay], None))
    conformance = os.path.join(build, "tests/conformance/conformance")
    if os.path.exists(conformance):
        suites.append(("conformance cpu", [conformance, "cpu"], None))
    daemon = os.path.join(build, "tensord")
    base = {"TENSORD": daemon}
    http = [python, "tests/http/run.py"]
    suites.append(("http cpu", http + ["--device", "cpu"], base))
    ways = simulated(build)
    if not ways:
        print("no simulator in this build: the rows for cuda:0 are skipped")
        Totals.skipped += 1
    elif len(ways) == 1:
        print("no nvcc: the rows for the plugin it builds are skipped")
        Totals.skipped += 1
    for label, prefix, environment in ways:
        environment = {**base, **environment}
        if os.path.exists(conformance):
            suites.append(("conformance cuda:0 (%s)" % label, prefix + [conformance, "cuda:0"], environment))
        suites.append(("http cuda:0 (%s)" % label, http + ["--device", "cuda:0"],
                       {**environment, "TENSORD_PREFIX": " ".join(prefix)}))
    clients = os.path.join(ROOT, "clients")
    for name in ("python", "shell"):
        test = os.path.join(clients, name, "test.py")
        if os.path.exists(test):
            suites.append(("client %s" % name, [python, test], base))
    return suites


if __name__ == "__main__":
    sys.exit(main())
