#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House rules that a machine can check: include arrows, banned functions, lengths, SPDX lines.

Prints one line per offence (path:line: rule) and exits with 1 if there is any. --count also prints
"N passed, N failed" with one count per file.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE_LINES, FUNCTION_LINES, COLUMNS = 500, 100, 100

# room -> rooms whose headers it may include (its own is always allowed).
ARROWS = {
    "kernels": [],
    "tensor": ["kernels"],
    "server": ["kernels/base"],
    "api": ["server", "tensor", "kernels"],
}
COMPOSITION_ROOT = "server/main.c"
# header pattern -> folders that may include it
LIBRARIES = [
    (r"microhttpd\.h", ["server/", "tests/bench/"]),
    (r"cblas\.h", ["kernels/host/", "tests/"]),
    (r"(cuda_runtime|cuda_fp16|cuda_bf16|cublas|cuda\.h)", ["kernels/cuda/", "tests/cudasim/"]),
]
BANNED = ["strcpy", "strcat", "sprintf", "vsprintf", "gets", "atoi", "atol", "atof", "strtok", "alloca",
          "tmpnam", "system", "popen", "strncpy", "strncat", "asctime", "ctime", "gmtime", "localtime",
          "setjmp", "longjmp"]
SOURCES = (".c", ".h", ".cu", ".cuh", ".cpp", ".py", ".def", ".sh")
C_SOURCES = (".c", ".h", ".cu", ".cuh", ".cpp")


def tracked():
    """The project's files: what git tracks or would; without git, all but build folders and hidden ones."""
    try:
        out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
        return [p for p in out.split("\n") if p and os.path.exists(os.path.join(ROOT, p))]
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "build", "__pycache__"))]
        found += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return found


def strip_comments(text):
    """Comments and strings blanked, line numbers kept."""
    def blank(match):
        s = match.group(0)
        return re.sub(r"[^\n]", " ", s) if s.startswith("/") else '""' + "\n" * s.count("\n")
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def include_offences(path, text):
    room = path.split("/")[0]
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if not match:
            continue
        header = match[2]
        for pattern, folders in LIBRARIES:
            if re.match(pattern, header) and not any(path.startswith(f) for f in folders):
                yield number, "%s may not be included here" % header
        target = header.split("/")[0]
        if room not in ARROWS or path == COMPOSITION_ROOT or target not in ARROWS or target == room:
            continue
        if not any(header.startswith(allowed + "/") for allowed in ARROWS[room]):
            yield number, "%s may not include %s" % (room, header)


def function_offences(code):
    """Functions longer than FUNCTION_LINES, by the brace in column 0 that closes them."""
    start = None
    for number, line in enumerate(code.split("\n"), 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}") and start:
            if number - start > FUNCTION_LINES:
                yield start, "function of %d lines (at most %d)" % (number - start, FUNCTION_LINES)
            start = None


def offences(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:3]):
        yield 1, "no SPDX line"
    if len(lines) > FILE_LINES + 1:
        yield len(lines), "file of %d lines (at most %d)" % (len(lines), FILE_LINES)
    if not path.endswith(C_SOURCES):
        return
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS:
            yield number, "%d columns (at most %d)" % (len(line), COLUMNS)
    yield from include_offences(path, text)
    code = strip_comments(text)
    for name in BANNED:
        for match in re.finditer(r"(?<![\w.>])%s\s*\(" % name, code):
            yield code[:match.start()].count("\n") + 1, "%s is banned" % name
    yield from function_offences(code)


def main():
    clean = dirty = 0
    for path in tracked():
        if not path.endswith(SOURCES):
            continue
        found = list(offences(path))
        for number, rule in found:
            print("%s:%d: %s" % (path, number, rule))
        clean, dirty = clean + (not found), dirty + bool(found)
    if "--count" in sys.argv:
        print("%d passed, %d failed" % (clean, dirty))
    return 1 if dirty else 0


if __name__ == "__main__":
    sys.exit(main())
