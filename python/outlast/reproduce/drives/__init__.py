"""Real drives: measured write amplification, rates and latency against load beside what Outlast makes of them."""

from __future__ import annotations

from outlast.reproduce.drives import amplification, rates
from outlast.reproduce.drives.latency import LATENCIES
from outlast.reproduce.model import Mode, Paper

MODES = {
    "full": Mode("full", 1, "Latency on whole drives, write amplification and rates on larger ones."),
    "quick": Mode(
        "quick",
        1,
        "Latency on half of a drive (a quarter of the P5520), rates on a sixteenth, write amplification on a "
        "sixty-fourth: blocks are shorter, superblocks as many.",
    ),
}

PAPER = Paper(
    "drives",
    "Real drives, measured and simulated",
    MODES,
    [amplification.FIGURE, rates.FIGURE, *LATENCIES],
    against="measurement",
)

__all__ = ["PAPER"]
