"""Sections 5.2 and 7.2: what the spare space that a die takes with it costs under random writes, in closed form."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from outlast import models
from outlast.report.figure import axis
from outlast.reproduce.diffraid.common import lines
from outlast.reproduce.model import CLOSED, Cell, Figure, Found, Row, Setting, Statement, Table
from outlast.reproduce.reparo.common import CORES, DIES, UTILISATION, no_cells, points

Records = Sequence[Mapping[str, Any]]
DROP = 0.10
"""Of the performance: what section 7.2.3 allows."""
HELD = 0.005
"""Of the flash, held back for open and free blocks: fitted to the 166 % of section 5.2, since the text has none."""


def waf(utilisation: float, held: float = 0.0) -> float:
    """Of uniform random writes over large blocks, when a share of the flash is held back."""
    return float(models.waf((1 - held) / utilisation - 1))


def after(dies: int, failures: int, utilisation: float = UTILISATION, held: float = 0.0) -> float:
    """Write amplification of those that share `dies`, beside before, when so many have failed."""
    return waf(utilisation * dies / (dies - failures), held) / waf(utilisation, held)


def survived(dies: int, utilisation: float, held: float = 0.0) -> int:
    """Die failures until performance, taken as 1 over write amplification, has dropped by more than 10 %."""
    return next(f - 1 for f in itertools.count(1) if 1 / after(dies, f, utilisation, held) < 1 - DROP)


def _rows(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    rows: list[Row] = []
    for capacity, dies in DIES.items():
        victim, shared = after(dies // CORES, 1), after(dies, 1)
        rows.append(
            {"capacity": capacity, "victim": victim, "idr": (CORES - 1 + victim) / CORES, "cdr": shared}
            | {"faster_percent": 100 * (victim / shared - 1)}
        )
    return rows


def _victim(_: Table) -> Found:
    return points("0.9 × 16/15, % more:", 100 * (after(16, 1) - 1), 166)


def _why_victim(_: Table) -> str:
    return (
        "the formula leaves all spare space to collection. Were "
        f"{HELD:.1%} of the flash held back, for open blocks and free ones, it would give "
        f"{100 * (after(16, 1, held=HELD) - 1):.0f} % (that share is fitted; the text has none)"
    )


FIGURE = Figure(
    "space",
    "Sections 5.2 and 7.2: less spare space, in closed form",
    "Write amplification of random writes after a die failure, if the victim core makes up for it alone or all do.",
    no_cells,
    {
        "victim": "victim core alone, × before",
        "idr": "isolated, all cores, × before",
        "cdr": "cooperative, × before",
        "faster_percent": "cooperative faster by, %",
    },
    lambda _: [
        lines(
            "space-failures",
            "Random writes of a 32-TB SSD by die failures of one core",
            {
                "isolated": (range(9), [1 / after(128, failures) for failures in range(9)]),
                "cooperative": (range(9), [1 / after(512, failures) for failures in range(9)]),
                "cooperative, utilisation 0.87": (range(9), [1 / after(512, failures, 0.87) for failures in range(9)]),
            },
            "failed dies",
            axis("performance beside none"),
        )
    ],
    [
        Statement("When U rises by 6.7 %, WAF can increase by 166 %.", "5.2", _victim, _why_victim),
    ],
    (
        "Greedy collection of uniform random writes over large blocks (Xiang and Kurkoski 2011); nothing held back.",
        "A random writer waits for the core that is slowest, so that under isolated recovery the victim core decides.",
    ),
    _rows,
    CLOSED,
)
