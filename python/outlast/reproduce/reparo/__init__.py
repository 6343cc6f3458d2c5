"""Reparo: D. Hong et al., "Reparo: A Fast RAID Recovery Scheme for Ultra-large SSDs", ACM TOS 17(3), 2021."""

from __future__ import annotations

from pathlib import Path

from outlast.reproduce import data
from outlast.reproduce.model import Mode, Paper
from outlast.reproduce.reparo import cores, drives, entrust, ratios, risk, space

HERE = Path(__file__).parent
SCALED = (
    "Dies, cores, channels and space utilisation are the paper's; dies hold less. Repairs run on 182 blocks of a plane "
    "in place of 2730 and count 15 times, drives after a repair have small blocks: see the figures."
)
MODES = {
    "full": Mode("full", 1, f"{SCALED} CDR* runs on 4 and 32 TB in full, too."),
    "quick": Mode("quick", 1, f"{SCALED} CDR* runs on 4 TB in full, too."),
}

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
    data.figure(HERE / "fig10.toml"),
    data.figure(HERE / "fig11.toml"),
    data.figure(HERE / "fit.toml"),
    data.figure(HERE / "mttdl.toml"),
    data.figure(HERE / "fig12.toml"),
    data.figure(HERE / "fig13.toml"),
    data.figure(HERE / "fig14.toml"),
    data.figure(HERE / "fig15.toml"),
    data.figure(HERE / "fig16.toml"),
    data.figure(HERE / "runtime.toml"),
    space.FIGURE,
    ratios.FIGURE,
    data.figure(HERE / "future.toml"),
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
