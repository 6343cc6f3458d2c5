"""Check that the processor can run this build.

Wheels have no tag for a level of x86-64, so that one for newer processors says so itself: `make wheel-v3` puts the name
of the level beside this file. Nothing of the compiled part may have been loaded before the check, since its first
instruction may be one that the processor does not know.
"""

from __future__ import annotations

from pathlib import Path

LEVEL = Path(__file__).with_name("_level.txt")
"""Names the level of a build for newer processors; absent of a build for any."""
CPUINFO = Path("/proc/cpuinfo")
"""Linux's description of the processor."""

LEVELS = {"x86-64-v3": ("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave")}
"""Flags that each level adds to plain x86-64, by Linux's names."""


def missing(level: str, cpuinfo: str) -> list[str]:
    """Flags of `level` that the processor described by `cpuinfo` lacks; empty if the text lists no flags."""
    flags = next((line.partition(":")[2].split() for line in cpuinfo.splitlines() if line.startswith("flags")), None)
    return [] if flags is None else [name for name in LEVELS[level] if name not in flags]


def refusal(level: Path = LEVEL, cpuinfo: Path = CPUINFO) -> str | None:
    """Reason why this build cannot run here, in one line; `None` if it can."""
    if not level.exists() or not cpuinfo.exists():
        return None
    name = level.read_text().strip()
    lacks = missing(name, cpuinfo.read_text())
    if not lacks:
        return None
    absent = ", ".join(lacks)
    return f"this build of outlast is for {name} processors, and this one lacks {absent}: install the plain wheel"
