"""HRM: B. S. Kim, J. Choi, S. L. Min, "Design Tradeoffs for SSD Reliability", FAST 2019."""

from __future__ import annotations

from pathlib import Path

from outlast.reproduce import data
from outlast.reproduce.hrm import fig03, fig05, fig11
from outlast.reproduce.model import Mode, Paper

MODES = {
    "full": Mode("full", 1, "The whole drive of 200 GiB and the paper's hour."),
    "quick": Mode(
        "quick",
        8,
        "An eighth of the drive (25 GiB) for an eighth of the hour: the same dies, arrivals and queues, and blocks are "
        "read and rewritten as often on average, but there are fewer blocks and requests. A single hot address is read "
        "an eighth as often, so that concentrated reads (Figure 11's read-hot ones) disturb less than on the whole "
        "drive. Preconditioning is found steady within 10 % instead of 3 %.",
    ),
}

PAPER = Paper(
    "hrm",
    "HRM: Design Tradeoffs for SSD Reliability (FAST 2019)",
    MODES,
    [
        fig03.FIGURE,
        fig03.SETUP,
        data.figure(Path(__file__).parent / "fig04.toml"),
        fig05.FIGURE,
        data.figure(Path(__file__).parent / "fig06.toml"),
        data.figure(Path(__file__).parent / "fig07.toml"),
        data.figure(Path(__file__).parent / "fig08.toml"),
        data.figure(Path(__file__).parent / "fig09.toml"),
        fig11.FIGURE,
        data.figure(Path(__file__).parent / "map.toml"),
        data.figure(Path(__file__).parent / "block.toml"),
    ],
    fig11.skipped,
    elsewhere={
        "Figure 1": "a drawing of the techniques",
        "Figure 2": "a drawing of the drive's model",
        "Figure 10": "a drawing of HRM; what it does is Figure 11",
        "Table 1": "the techniques' advantages in words",
        "Table 2": "coefficients of the chips, which Figure 3 is computed with",
        "Table 4": "characteristics of traces that are not redistributed; what the text says of two is in Figure 11",
    },
)

__all__ = ["PAPER"]
