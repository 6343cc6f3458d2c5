"""Where error rates cross: equations of Figures 1 and 7 that are solved for the cycles."""

from __future__ import annotations

import math

from outlast import models
from outlast.reproduce.check import near
from outlast.reproduce.model import Found, Number, Table

RAIDS = {"RAID0": 0, "RAID5": 1, "RAID6": 2}
RAID_WAF = {"RAID0": 1.0, "RAID5": 1.2, "RAID6": 1.5}
THOUSANDS = 500
"""The text gives cycles in whole thousands."""
RAID_CODE = {"n": 8192, "k": 8, "stripe": 16}
"""Section 3: 8 bits per 1-KB codeword, stripes of 16 pages."""
CODE = {"n": 65_536, "k": 8, "stripe": 8, "parities": 2}
"""Table 3."""
PAPER_WAF = 1 - 13.3 / 100
"""Of mSAPL beside eSAP under Financial."""
TARGET = 1e-15
"""Errors of hard disks, which section 6 takes as what is acceptable."""
LEAD_ENDS = 19_000


def uper(raid: str, cycles: float, waf: float) -> float:
    """Ln of the uncorrectable page error rate when RAID-0 would have made so many cycles."""
    rate = models.rber("msapl", cycles * waf)
    return float(models.uper(rate, parities=RAIDS[raid], log=True, **RAID_CODE))


def crossing(raid: str, waf: float) -> float:
    """The cycles at which a RAID's error rate exceeds that of RAID-0, for parity's price in wear."""
    # Far beyond, where every page is lost, the count of lost stripes is below that of lost pages: so the first place.
    step = 250.0
    place = next(x for x in (step * n for n in range(1, 400)) if uper(raid, x, waf) > uper("RAID0", x, 1.0))
    low, high = place - step, place
    for _ in range(30):
        middle = (low + high) / 2
        if uper(raid, middle, waf) > uper("RAID0", middle, 1.0):
            high = middle
        else:
            low = middle
    return low


def crossings(_: Table) -> Found:
    """Both RAIDs' crossings beside the paper's."""
    five, six = (crossing(raid, RAID_WAF[raid]) for raid in ("RAID5", "RAID6"))
    words = f"RAID5 at {five:,.0f} cycles (paper 16 000), RAID6 at {six:,.0f} (paper 19 000)"
    numbers = Number("RAID5", five, 16_000, "cycles"), Number("RAID6", six, 19_000, "cycles")
    return Found(abs(five - 16_000) <= THOUSANDS and abs(six - 19_000) <= THOUSANDS, words, numbers)


def log_uper(cycles: float, waf: float) -> float:
    """Ln UPER by Equation 5 when eSAP has made so many cycles, for a write amplification beside eSAP's."""
    return float(models.uper(models.rber("msapl", cycles * waf), log=True, **CODE))


def life() -> float:
    """The cycles at which Table 3's code reaches the error rate of hard disks."""
    low, high = 0.0, 40_000.0
    for _step in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if log_uper(middle, 1.0) < math.log(TARGET) else (low, middle)
    return low


def ends(_: Table) -> Found:
    """Where mSAPL reaches the error rate of hard disks, worn by as much less as the paper says."""
    esap = life()
    mine = near("mSAPL, 13.3 % less worn,", esap / PAPER_WAF, LEAD_ENDS, THOUSANDS, " cycles")
    return Found(mine.holds, f"{mine.words}; eSAP at {esap:,.0f}", mine.numbers)
