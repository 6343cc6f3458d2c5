"""Figure 3, Equation 1 and Table 2: what the raw bit error rate of the three chips is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast import models
from outlast.report.figure import RUN_COLOURS, axis, line
from outlast.report.figure import Figure as Chart
from outlast.reproduce.check import every, percent, rising
from outlast.reproduce.hrm.common import CHIPS, TLC
from outlast.reproduce.model import CLOSED, Cell, Figure, Found, Number, Row, Setting, Statement, Table

Records = Sequence[Mapping[str, Any]]
CYCLES, READS, DAYS = 10_000.0, 10_000.0, 365.0
"""The ends of Figure 3's axes."""


def rber(chip: str, cycles: float = CYCLES, days: float = 0.0, reads: float = 0.0) -> float:
    """Equation 1 as it is printed: above 1 where it is projected beyond what can be, which `models.rber` cuts off."""
    own = models.chips()[CHIPS[chip][0]].model
    wear = own["epsilon"] + own["alpha"] * cycles ** own["k"]
    retention = own["beta"] * cycles ** own["m"] * days ** own["n"]
    return float(wear + retention + own["gamma"] * cycles ** own["p"] * reads ** own["q"])


def _rows(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    rows: list[Row] = []
    for chip in CHIPS:
        wear = rber(chip)
        rows.append(
            {"chip": chip, "wear": wear, "all": rber(chip, days=DAYS, reads=READS)}
            | {"retention": rber(chip, days=DAYS) - wear, "disturbance": rber(chip, reads=READS) - wear}
        )
    return rows


def _denser(table: Table) -> Found:
    return every(
        [
            _ordered("by wear", [(chip, table.value("wear", chip=chip)) for chip in CHIPS]),
            _ordered("with 10K reads", [(chip, rber(chip, reads=READS)) for chip in CHIPS]),
        ]
    )


def _ordered(name: str, values: list[tuple[str, float]]) -> Found:
    words = ", ".join(f"{label} {value:.1e}" for label, value in values)
    return Found(rising(name, values, slack=0.0).holds, f"{name}: {words}")


def _dominates(chip: str, which: str) -> Any:
    other = {"disturbance": "retention", "retention": "disturbance"}[which]

    def check(table: Table) -> Found:
        row = table.row(chip=chip)
        words = f"{which} {row[which]:.2g}, {other} {row[other]:.2g}, wear {row['wear']:.2g}"
        return Found(row[which] > max(row[other], row["wear"]), words)

    return check


def _why_disturbance(table: Table) -> str:
    row = table.row(chip=TLC)
    return (
        f"with Table 2's coefficients as two public implementations have them, a year adds {row['retention']:.2g} and "
        f"10K reads {row['disturbance']:.2g} at 10K cycles; the table itself is not in the text"
    )


def _hundred(_: Table) -> Found:
    value = rber("2y-nm MLC", days=DAYS)
    return Found(value >= 1, f"{value:.2f} by the equation, more than all bits", (Number("after a year", value, 1.0),))


def _charts(_: Table) -> list[Chart]:
    found = []
    steps = range(51)
    for chip, (name, _states, _ecc) in CHIPS.items():
        first = [step / 50 * CYCLES for step in steps]
        curves: dict[str, list[float | None]] = {
            "wear": [*(rber(chip, cycles) for cycles in first), *([rber(chip)] * 51)],
            "and retention": [None] * 51 + [min(rber(chip, days=step / 50 * DAYS), 1.0) for step in steps],
            "and disturbance": [None] * 51 + [min(rber(chip, reads=step / 50 * READS), 1.0) for step in steps],
        }
        x = [step / 50 for step in steps] + [1 + step / 50 for step in steps]
        data = [
            line(
                x,
                values,
                label,
                RUN_COLOURS[index],
                hovertemplate="%{y:.2g}",
            )
            for index, (label, values) in enumerate(curves.items())
        ]
        layout = {
            "xaxis": axis("10K cycles, then 10K reads or a year"),
            "yaxis": axis("raw bit error rate", type="log", exponentformat="power"),
            "hovermode": "x",
        }
        found.append(Chart(f"fig03-{name}", data, layout, chip, "Equation 1", 320))
    return found


FIGURE = Figure(
    "fig03",
    "Figure 3, Equation 1: where errors come from",
    "Raw bit error rates up to 10K cycles, then read 10K times, or left for a year.",
    lambda _: [],
    {"wear": "10K cycles", "retention": "a year adds", "disturbance": "10K reads add", "all": "all three"},
    _charts,
    [
        Statement(
            "The overall error rate increases with the newer and denser flash memories.", "3.1, Figure 3", _denser
        ),
        Statement(
            "In the 72-layer TLC disturbance dominates.",
            "3.1, Figure 3c",
            _dominates(TLC, "disturbance"),
            _why_disturbance,
        ),
        Statement("In the 2y-nm MLC retention loss dominates.", "3.1, Figure 3b", _dominates("2y-nm MLC", "retention")),
        Statement(
            "The 2y-nm MLC's projected error rate after a year at 10K cycles is 100 %.", "3.1, Figure 3b", _hundred
        ),
    ],
    (
        "Table 2's values are not in the text: those of the 72-layer TLC and the 2y-nm MLC are as two public "
        "implementations have them, those of the 3x-nm MLC recalled.",
    ),
    _rows,
    CLOSED,
)

GEOMETRY = {"channels": 4, "chips": 4, "planes": 2, "blocks": 1024, "pages": 512, "page": 16 * 1024}
"""Table 3, recalled; its product agrees with the over-provisioning that the text states."""
LOGICAL_GIB = 200


def _setup(_: Setting, __: Sequence[Cell], ___: Records) -> list[Row]:
    product = 1
    for value in GEOMETRY.values():
        product *= value
    physical = product / 2**30
    return [
        {"drive": scheme, "physical_gib": physical}
        | {"spare_percent": 100 * float(models.effective_spare(physical / LOGICAL_GIB - 1, overhead=overhead))}
        for scheme, overhead in (("no redundancy", 1.0), ("s = 15", 16 / 15), ("s = 7", 8 / 7))
    ]


def _spare(table: Table) -> Found:
    # Half a point: the text rounds to whole percent.
    paper = {"s = 15": 20.0, "s = 7": 12.0}
    return every([percent(s, table.value("spare_percent", drive=s), value, 0.5) for s, value in paper.items()])


SETUP = Figure(
    "table3",
    "Table 3 and section 4: the drive",
    "What the text says of the drive that everything runs on.",
    lambda _: [],
    {"physical_gib": "flash, GiB", "spare_percent": "over-provisioning, %"},
    lambda _: [],
    [
        Statement("Of 28 % of over-provisioning 20 % are left with s = 15 and 12 % with s = 7.", "4.2", _spare),
    ],
    ("The table's values are not in the text; 256 GiB of flash for 200 GiB of data give the three percentages.",),
    _setup,
    CLOSED,
)
