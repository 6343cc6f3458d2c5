"""Reparo: D. Hong et al., "Reparo: A Fast RAID Recovery Scheme for Ultra-large SSDs", ACM TOS 17(3), 2021."""

from __future__ import annotations

from pathlib import Path

from outlast.reproduce import data
from outlast.reproduce.model import Figure, Mode, Paper
from outlast.reproduce.reparo import (
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    fit,
    future,
    mttdl,
    runtime,
)

SCALED = (
    "Dies, cores, channels and space utilisation are the paper's; dies hold less. Repairs run on 182 blocks of a plane "
    "in place of 2730 and count 15 times, drives after a repair have small blocks: see the figures."
)
MODES = {
    "full": Mode("full", 1, f"{SCALED} CDR* runs on 4 and 32 TB in full, too."),
    "quick": Mode("quick", 1, f"{SCALED} CDR* runs on 4 TB in full, too."),
}


def _data(name: str) -> Figure:
    return data.figure(Path(__file__).parent / f"{name}.toml")


# In the order of the paper; a figure that is simulated goes to its place here, and out of `elsewhere`.
FIGURES = [
    _data("fig01"),
    _data("section2"),
    _data("fig03"),
    _data("fig04"),
    _data("fig07"),
    _data("table1"),
    _data("fig08"),
    _data("table2"),
    _data("fig09"),
    fig10.FIGURE,
    fig11.FIGURE,
    fit.FIGURE,
    mttdl.FIGURE,
    fig12.FIGURE,
    fig13.FIGURE,
    fig14.FIGURE,
    fig15.FIG15,
    fig15.FIG16,
    runtime.FIGURE,
    _data("space"),
    _data("ratios"),
    future.FIGURE,
]

PAPER = Paper(
    "reparo",
    "Reparo: A Fast RAID Recovery Scheme for Ultra-large SSDs (ACM TOS 2021)",
    MODES,
    FIGURES,
    elsewhere={
        "Figure 2": "redrawn from a field study by others (its reference 6); its values are not in the text",
        "Figure 5": "a drawing of the controller",
        "Figure 6": "a drawing of the modules",
        "Table 3": "what the enterprise workloads of Figure 14 are",
    },
)

__all__ = ["PAPER"]
