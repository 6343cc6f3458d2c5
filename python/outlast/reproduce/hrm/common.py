"""What the figures of HRM share: chips and their states, schemes as settings, and cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.reproduce.model import Cell, Labels, Setting

CHIPS = {
    "3x-nm MLC": ("mlc-3x-nm", (10_000, 30_000, 50_000), (4, 1)),
    "2y-nm MLC": ("mlc-2y-nm", (2_000, 5_000, 10_000), (10, 3)),
    "72-layer TLC": ("tlc-72-layer", (1_000, 3_000, 5_000), (75, 25)),
}
"""Name in the simulator, wear states (section 4), strong and weak ECC by chip.

Strong is what section 4.4 uses. The text names a weak one only for the 72-layer TLC, 25 bits; for the others a third of
the strong one is assumed, as there.
"""
TLC = "72-layer TLC"
ECC, CYCLES = "device.reliability.ecc.strength", "device.reliability.initial.pe_cycles"
CHIP, AGE = "device.reliability.chip", "device.reliability.initial.age"
RETRIES, SCRUB, PROTECTION = "device.reliability.rereads.max_retries", "device.scrub", "device.protection"
IF_PROTECTED = "device.reliability.rereads_if_protected"
PERFECT: Labels = {"chip": "any", "state": "any", "scheme": "∞-bit ECC"}
"""A code that corrects everything: then chip and wear do not matter to time, and one run stands for all."""
BUDGET = "10MB/s"
"""Assumed: the paper gives none. Some four times what the host writes."""
ABLATION_SCALE = 8
"""Checks of assumptions run on an eighth of the drive, in the full reproduction too."""
ONE_CODEWORD = {"device.reliability.codewords_checked": "one"}
"""Reads for the host decode one codeword: they fail as often as it does, not as often as the worst of eight."""
UNDISTURBED = {"device.reliability.collection_disturbs": False}
"""Reads that move data do not disturb what they read."""


POINTS = 5.0
"""A percentage of the paper (shares of checks, a reduction) may be so many points off.

Latencies, geometry and half of the coefficients are not in the text; numbers of another seed lie within a point.
"""
TIE = 0.01
"""Means within a hundredth of each other are a tie: so much they differ between seeds."""
VISIBLE = 5.0
"""Percent of first checks that fail from which on a mean is asked to move: below, less than `TIE` is to be seen."""


def overhead_points(expected: float) -> float:
    """How far an average overhead of Figure 11 may be off, in points: a quarter of it, and two where that is less.

    Chosen, not derived: the traces are not those of the paper.
    """
    return max(0.25 * expected, 2.0)


def kilo(cycles: int) -> str:
    """5000 as `5K`."""
    return f"{cycles // 1000}K"


def chip_state(chip: str, cycles: int, ecc: int | None) -> dict[str, Any]:
    """The settings of a chip in a state under a code."""
    return {CHIP: CHIPS[chip][0], CYCLES: cycles, ECC: ecc}


def tlc(setting: Setting, file: str, labels: Labels, overrides: Mapping[str, Any], **more: Any) -> Cell:
    """A cell of a scenario file beside the ∞-bit baseline."""
    baseline = more.pop("baseline", PERFECT)
    return Cell(labels, [setting.scenarios / file], dict(overrides), baseline, **more)
