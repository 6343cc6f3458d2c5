"""Causes of programmed and read pages, and of latency: the simulator's lists, with labels for charts."""

from __future__ import annotations

from typing import NamedTuple

from outlast import _core


class ProgramCause(NamedTuple):
    """A cause of programs."""

    name: str
    """Key in results."""
    group: str
    """Group under which charts show it; its own name unless several causes are shown as one."""
    label: str
    """Label in charts."""
    meaning: str
    """Meaning of the count, for the reference."""


PROGRAMS = tuple(ProgramCause(*row) for row in _core.program_causes())
READS = dict(_core.read_causes())
"""Meaning by name of every cause of reads."""


class LatencyCause(NamedTuple):
    """Part of a request's latency."""

    name: str
    """Key in results; with `_ns` appended, the column in the log of requests."""
    label: str
    """Label in charts."""
    meaning: str
    """Meaning of the time, for the reference."""


LATENCY = tuple(LatencyCause(*row) for row in _core.latency_causes())

GROUPS = {cause.group: cause.label for cause in PROGRAMS}
"""Labels of what charts show, by name, in order."""
MEMBERS = {group: tuple(cause.name for cause in PROGRAMS if cause.group == group) for group in GROUPS}
"""The causes of each group."""
SHARED = tuple(group for group, names in MEMBERS.items() if len(names) > 1)
"""Groups of several causes, which have a key of their own in results."""

AMPLIFICATION = (
    "total",
    *SHARED,
    *(cause.name for cause in PROGRAMS if cause.name != "host"),
    "partial_write",
    "array",
)
"""The keys of `write_amplification` that every result has."""
