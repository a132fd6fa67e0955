#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests/http/test_*.py against a daemon and prints "N passed, N failed, N skipped".

TENSORD names the daemon, TENSORD_PREFIX a command it runs under (the simulator). --device chooses where tensors
are put; arguments choose modules.
"""
import argparse
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    os.environ["TENSORD_TEST_DEVICE"] = options.device
    import harness

    names = options.modules or sorted(
        f[:-3] for f in os.listdir(HERE) if f.startswith("test_") and f.endswith(".py"))
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    if harness.Shared.server:
        try:
            harness.Shared.server.stop()
        except RuntimeError as error:
            print("the shared daemon did not end well:", error)
            failed += 1
    skipped = len(result.skipped)
    print("\n%d passed, %d failed, %d skipped" % (max(0, result.testsRun - failed - skipped), failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
