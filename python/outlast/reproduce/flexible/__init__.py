"""Flexible: K. Greenan and others, "Building Flexible, Fault-Tolerant Flash-based Storage Systems", HotDep 2009."""

from __future__ import annotations

from pathlib import Path

from outlast.reproduce import data
from outlast.reproduce.flexible import fig03, fig04
from outlast.reproduce.model import Mode, Paper

ALL = "The eight cards of section 4.1, 1 GiB."
MODES = {"full": Mode("full", 1, ALL), "quick": Mode("quick", 1, f"{ALL} There is nothing to make smaller.")}

PAPER = Paper(
    "flexible",
    "Flexible: Building Flexible, Fault-Tolerant Flash-based Storage Systems (HotDep 2009)",
    MODES,
    [
        fig03.FIGURE,
        data.figure(Path(__file__).parent / "space.toml"),
        fig04.FIGURE,
        data.figure(Path(__file__).parent / "fig05.toml"),
        data.figure(Path(__file__).parent / "stride.toml"),
        data.figure(Path(__file__).parent / "rebuild.toml"),
        data.figure(Path(__file__).parent / "recode.toml"),
        data.figure(Path(__file__).parent / "wear.toml"),
        data.figure(Path(__file__).parent / "smart.toml"),
        data.figure(Path(__file__).parent / "newcard.toml"),
    ],
    elsewhere={"Figure 1": "a drawing of a chip", "Figure 2": "a drawing of cards and host"},
)

__all__ = ["PAPER"]
