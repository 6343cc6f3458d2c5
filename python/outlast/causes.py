"""Why pages are programmed and read, and where time goes: the simulator's lists, and what follows from them."""

from __future__ import annotations

from typing import NamedTuple

from outlast import _core


class ProgramCause(NamedTuple):
    """A cause of programs."""

    name: str
    """In results."""
    group: str
    """Under which charts show it; its own name unless several causes are shown as one."""
    label: str
    """In charts."""
    meaning: str
    """What is counted."""


PROGRAMS = tuple(ProgramCause(*row) for row in _core.program_causes())
READS = dict(_core.read_causes())
"""Meaning by name of every cause of reads."""


class LatencyCause(NamedTuple):
    """What a request spends its time on."""

    name: str
    """In results, and, followed by `_ns`, in the log of requests."""
    label: str
    """In charts."""
    meaning: str
    """What is counted."""


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
