"""Reparo: D. Hong et al., "Reparo: A Fast RAID Recovery Scheme for Ultra-large SSDs", ACM TOS 17(3), 2021."""

from __future__ import annotations

from outlast.reproduce.model import Mode, Paper
from outlast.reproduce.reparo import cores, drives, entrust, fig10, fig11, fig12, fig15, ratios, risk, space

ALL = "Closed forms only so far: nothing is simulated."
MODES = {"full": Mode("full", 1, ALL), "quick": Mode("quick", 1, ALL)}
LATER = "measured on drives that repair themselves, which is not simulated yet"

# In the order of the paper; a figure that is simulated goes to its place here, and out of `elsewhere`.
FIGURES = [
    drives.FIG01,
    drives.SECTION2,
    risk.FIG03,
    risk.FIG04,
    cores.FIG07,
    cores.TABLE1,
    cores.FIG08,
    cores.TABLE2,
    entrust.FIG09,
    fig10.FIGURE,
    fig11.FIGURE,
    fig12.FIG12,
    fig12.FIG13,
    fig15.FIG15,
    fig15.FIG16,
    space.FIGURE,
    ratios.FIGURE,
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
        "Figure 14": LATER,
    },
)

__all__ = ["PAPER"]
