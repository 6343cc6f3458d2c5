"""mSAPL: J. Kim, J. K. Park, "Building Reliable Massive Capacity SSDs through a Flash Aware RAID-Like Protection"."""

from __future__ import annotations

from pathlib import Path

from outlast.reproduce import data
from outlast.reproduce.model import Mode, Paper
from outlast.reproduce.msapl import common

MODES = {
    "full": Mode("full", 1, "The whole drive of 128 GiB and all of the requests of Table 2."),
    "quick": Mode(
        "quick",
        16,
        "A sixteenth of the drive (8 GiB, 1024 superblocks) and of the requests: the same chips, stripes, arrivals and "
        "shares, so that pauses are as long and each address is written as often. Streams keep open sixteen times the "
        "share of the spare space. Preconditioning is found steady within 10 % instead of 3 %.",
    ),
}

PAPER = Paper(
    "msapl",
    "mSAPL: Flash Aware RAID-Like Protection (Electronics 2020)",
    MODES,
    [
        data.figure(Path(__file__).parent / f"{name}.toml")
        for name in ("tables", "fig01", "fig05", "fig06", "fig07", "spare", "maps")
    ],
    common.skipped,
    elsewhere={
        "Figure 2": "a drawing of the scheme",
        "Figure 3": "a drawing of the classes",
        "Figure 4": "an example of how partial parity is written, as the drive of Figure 5 does",
    },
)

__all__ = ["PAPER"]
