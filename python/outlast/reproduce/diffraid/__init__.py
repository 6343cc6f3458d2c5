"""Diff-RAID: M. Balakrishnan et al., "Differential RAID: Rethinking RAID for SSD Reliability", EuroSys 2010."""

from __future__ import annotations

from pathlib import Path

from outlast.reproduce import data
from outlast.reproduce.diffraid import playback, traces
from outlast.reproduce.model import Figure, Mode, Paper

MODES = {
    "full": Mode("full", 1, "Lifetimes as in the paper; what takes time on drives of 5 GB, and every stripe size."),
    "quick": Mode(
        "quick",
        1,
        "Lifetimes as in the paper, since the coarse engine takes no time; what takes time on drives of 5 GB instead "
        "of 80 GB, stripe sizes of Figure 11 by factors of four, and the first 10 000 records of Figure 13's traces.",
    ),
}


def _figures(*names: str) -> list[Figure]:
    """Figures that are data."""
    return [data.figure(Path(__file__).parent / f"{name}.toml") for name in names]


PAPER = Paper(
    "diff-raid",
    "Diff-RAID: Rethinking RAID for SSD Reliability (EuroSys 2010)",
    MODES,
    [
        *_figures("fig01", "fig02", "fig03", "fig04", "fig05", "fig06", "fig07", "table1", "fig08", "fig09", "fig10"),
        traces.FIG11,
        *_figures("fig12"),
        playback.FIG13,
        *_figures("table2"),
    ],
    traces.skipped,
    "diffraid",
)

__all__ = ["PAPER"]
