# SPDX-License-Identifier: Apache-2.0
"""How the lists of programs are written down: one a line, or blocks between lines of ---."""


def lines(text):
    """One program a line; blank lines are none."""
    return [line for line in text.split("\n") if line.strip()]


def blocks(text):
    """Programs of several lines, separated by a line that is ---; the first line's indent is kept as it is."""
    return [block.strip("\n") for block in ("\n" + text + "\n").split("\n---\n") if block.strip()]


def each(template, *columns):
    """The template filled with every combination of the columns' entries."""
    rows = [()]
    for column in columns:
        rows = [row + (entry,) for row in rows for entry in column]
    return [template % row for row in rows]


def zipped(template, pairs):
    return [template % pair for pair in pairs]
