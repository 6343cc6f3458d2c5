"""Flexible: K. Greenan and others, "Building Flexible, Fault-Tolerant Flash-based Storage Systems", HotDep 2009."""

from __future__ import annotations

from outlast.reproduce.flexible import fig04, fig05, newcard, rebuild, recode, space
from outlast.reproduce.model import Mode, Paper

ALL = "The eight cards of section 4.1, 1 GiB."
MODES = {"full": Mode("full", 1, ALL), "quick": Mode("quick", 1, f"{ALL} There is nothing to make smaller.")}

PAPER = Paper(
    "flexible",
    "Flexible: Building Flexible, Fault-Tolerant Flash-based Storage Systems (HotDep 2009)",
    MODES,
    [space.FIGURE, fig04.FIGURE, fig05.FIGURE, rebuild.FIGURE, recode.FIGURE, newcard.FIGURE],
)

__all__ = ["PAPER"]
