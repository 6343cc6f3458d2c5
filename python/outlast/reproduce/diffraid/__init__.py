"""Diff-RAID: M. Balakrishnan et al., "Differential RAID: Rethinking RAID for SSD Reliability", EuroSys 2010."""

from __future__ import annotations

from pathlib import Path

from outlast.reproduce import data
from outlast.reproduce.diffraid import ages, chips, limits, loss, playback, rates, speed, traces
from outlast.reproduce.model import Mode, Paper

MODES = {
    "full": Mode("full", 1, "Lifetimes as in the paper; what takes time on drives of 5 GB, and every stripe size."),
    "quick": Mode(
        "quick",
        1,
        "Lifetimes as in the paper, since the coarse engine takes no time; what takes time on drives of 5 GB instead "
        "of 80 GB, stripe sizes of Figure 11 by factors of four, and the first 10 000 records of Figure 13's traces.",
    ),
}

PAPER = Paper(
    "diff-raid",
    "Diff-RAID: Rethinking RAID for SSD Reliability (EuroSys 2010)",
    MODES,
    [
        rates.FIG01,
        loss.FIG02,
        ages.FIG03,
        ages.FIG04,
        ages.FIG05,
        loss.FIG06,
        loss.FIG07,
        chips.TABLE1,
        chips.FIG08,
        limits.FIG09,
        limits.FIG10,
        traces.FIG11,
        speed.FIG12,
        playback.FIG13,
        data.figure(Path(__file__).parent / "table2.toml"),
    ],
    traces.skipped,
    "diffraid",
)

__all__ = ["PAPER"]
