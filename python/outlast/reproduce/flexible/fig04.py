"""Figure 4: uncorrectable page error rates of the codes."""

from __future__ import annotations

import math

import numpy as np

from outlast import _core, models
from outlast.report.figure import RUN_COLOURS, axis, line
from outlast.report.figure import Figure as Chart
from outlast.reproduce.flexible.common import DOUBLE, SINGLE, TWO_LEVEL
from outlast.reproduce.model import CLOSED, Cell, Figure, Found, Setting, Statement, Table

PAGE_BITS = 8 * 4096
RBERS = [10.0 ** (-9 + step / 10) for step in range(31)]
"""1e-9 to 1e-6 (section 2)."""
ONE_BIT, FOUR_BITS = "1-bit ECC", "4-bit ECC"
CURVES = (ONE_BIT, FOUR_BITS, SINGLE, DOUBLE, TWO_LEVEL)


def log10_uper(curve: str, rbers: list[float]) -> list[float]:
    """log10 of the rate of a curve of Figure 4; the codes have 1-bit ECC beneath them."""
    strength = 4 if curve == FOUR_BITS else 1
    page = models.uper(np.asarray(rbers), n=PAGE_BITS, k=strength, log=True)
    if curve == SINGLE:
        page = models.mds_uper(page, 7, 1, log=True)
    elif curve == DOUBLE:
        page = models.mds_uper(page, 6, 2, log=True)
    elif curve == TWO_LEVEL:
        page = models.product_uper(page, 8, 64, log=True)
    return [float(value) / math.log(10) for value in np.asarray(page)]


def cells(_: Setting) -> list[Cell]:
    """None: closed forms."""
    return []


def _lowest(_: Table) -> Found:
    rates = {curve: log10_uper(curve, RBERS) for curve in CURVES}
    holds = all(
        rates[TWO_LEVEL][index] <= min(rates[other][index] for other in CURVES if other != TWO_LEVEL)
        for index in range(len(RBERS))
    )
    worst = max(
        range(len(RBERS)), key=lambda index: rates[TWO_LEVEL][index] - min(rates[c][index] for c in CURVES[:-1])
    )
    words = ", ".join(f"{curve} 1e{rates[curve][worst]:.1f}" for curve in CURVES)
    return Found(holds, f"closest at an RBER of {RBERS[worst]:.1e}: {words}")


def _rectangles(_: Table) -> Found:
    # At 1e-9 practically only the smallest patterns occur.
    page = float(models.uper(1e-9, n=PAGE_BITS, k=1, log=True))
    exact = float(models.product_uper(page, 8, 64, log=True))
    smallest = math.log(models.product_rectangles(8, 64)) + 4 * page - math.log(8 * 64)
    return Found(abs(exact - smallest) < 1e-3, f"{models.product_rectangles(8, 64)} patterns of four; ln {exact:.3f}")


def _three(_: Table) -> Found:
    log = _core.model_ln_product_patterns(8, 64)
    return Found(bool(np.all(np.isneginf(log[:4]))) and bool(np.isfinite(log[4])), "none of up to 3 is lost, some of 4")


def _charts(_: Table) -> list[Chart]:
    data = [
        line(RBERS, [float(f"{value:.5g}") for value in log10_uper(curve, RBERS)], curve, RUN_COLOURS[index % 4])
        for index, curve in enumerate(CURVES)
    ]
    layout = {
        "xaxis": axis("raw bit error rate", type="log", exponentformat="power"),
        "yaxis": axis("log10 of UPER"),
        "hovermode": "x",
    }
    return [Chart("fig04-uper", data, layout, "Uncorrectable page error rate", "closed form, section 4.2", 360)]


FIGURE = Figure(
    "fig04",
    "Figure 4: uncorrectable page error rate",
    "Closed forms; the patterns of the two-level code are counted exactly, where the paper estimates them.",
    cells,
    {},
    _charts,
    [
        Statement(
            "1-bit ECC under (7,1) + (63,1) has the lowest rate across the spectrum.",
            "4.2, Figure 4",
            _lowest,
            "a card code with two parities loses a stripe to three bad pages of eight, the product code only to "
            "rectangles of four among 512, of which there are many more than stripes: where pages fail often, the "
            "larger number decides",
        ),
        Statement("A block group can tolerate the loss of at least 3 pages.", "4.2", _three),
        Statement("Its smallest patterns are the rectangles of four pages.", "4.2 (ours)", _rectangles),
    ],
    (
        "Raw bit error rates from 1e-9 to 1e-6, as section 2 says; ECC over the 32 768 bits of a page.",
        "The denominators of the text's equations are read as docs/papers/flexible.md says.",
    ),
    kind=CLOSED,
)
