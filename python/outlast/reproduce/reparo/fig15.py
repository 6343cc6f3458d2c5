"""Figures 15 and 16: several dies of one core fail one after another and are repaired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast.report.figure import Figure as Chart
from outlast.report.figure import axis
from outlast.reproduce.check import every, near
from outlast.reproduce.diffraid.common import lines
from outlast.reproduce.model import Cell, Figure, Found, Row, Setting, Statement, Table
from outlast.reproduce.reparo.common import CDR, DIES, IDR, SCATTER, SCHEME, UTILISATION, Records, repaired
from outlast.reproduce.reparo.space import DROP, survived

LOW = 0.87
FAILURES = range(7)
SCHEMES = {IDR: "isolated", CDR: "cooperative"}
LARGE = DIES["32 TB"]


def _cells_of(setting: Setting, utilisations: Sequence[float], file: str) -> list[Cell]:
    return [
        Cell(
            {"utilisation": f"{u:g}", "scheme": name, "failures": f"{failures}"},
            [setting.scenarios / file],
            {
                SCHEME: scheme,
                "device.repair.repaired_dies": repaired(LARGE, failures),
                "device.ftl.over_provisioning": 1 / u - 1,
                "device.controller.link": None,
            },
        )
        for u in utilisations
        for name, scheme in SCHEMES.items()
        for failures in FAILURES
    ]


def _rows(_: Setting, cells: Sequence[Cell], records: Records) -> list[Row]:
    found: list[Row] = []
    for each, record in zip(cells, records, strict=True):
        summary = record["summary"]
        row: Row = dict(each.labels) | {"iops": summary["throughput"]["iops"]}
        found.append(row | {"waf": summary["write_amplification"]["total"]})
    table = Table(found)
    for row in found:
        new = table.row(utilisation=row["utilisation"], scheme=row["scheme"], failures="0")
        row["speed"], row["waf_ratio"] = row["iops"] / new["iops"], row["waf"] / new["waf"]
    return found


def curve(table: Table, scheme: str, name: str = "speed", utilisation: float = UTILISATION) -> list[float]:
    """Speed or write amplification beside new, by failed dies."""
    return [
        table.value(name, scheme=scheme, failures=f"{failures}", utilisation=f"{utilisation:g}")
        for failures in FAILURES
    ]


def borne(table: Table, scheme: str, utilisation: float = UTILISATION, drop: float = DROP) -> int:
    """Failures until speed has dropped by more than 10 %."""
    return next((f - 1 for f, own in enumerate(curve(table, scheme, "speed", utilisation)) if own < 1 - drop), 6)


def _words(table: Table, scheme: str, utilisation: float = UTILISATION) -> str:
    return ", ".join(f"{100 * (own - 1):+.1f} %" for own in curve(table, scheme, "speed", utilisation)[1:])


def _bears(scheme: str, paper: int, dies: int, utilisation: float = UTILISATION) -> Any:
    def check(table: Table) -> Found:
        closed = survived(dies, utilisation)
        found = near(scheme, borne(table, scheme, utilisation), paper, 0, " failures", closed)
        words = f"{found.words}: {_words(table, scheme, utilisation)}; runs scatter by {SCATTER:g} %"
        return Found(found.holds, words, found.numbers)

    return check


def _why(utilisation: float) -> Any:
    def because(table: Table) -> str:
        lost = curve(table, CDR, "waf_ratio", utilisation)[1:]
        words = ", ".join(f"{100 * (own - 1):+.1f} %" for own in lost)
        sixth = 100 * (1 - curve(table, CDR, "speed", utilisation)[6])
        return (
            f"the sixth failure leaves it {sixth:.1f} % slower, and the limit is 10 %. WAF is {words} with 1 to 6 "
            "failures of 512 dies, and speed follows it. The paper's text has the count "
            "only, and includes what its firmware does beside collection, which we do not know"
        )

    return because


def _steeper(name: str, sign: int) -> Any:
    def check(table: Table) -> Found:
        idr, cdr = (curve(table, scheme, name) for scheme in (IDR, CDR))
        holds = all(sign * (a - b) > 0 for a, b in zip(idr[1:], cdr[1:], strict=True))
        # In WAF of the whole drive isolated recovery is steeper, but little at first.
        return Found(holds, f"six failures: IDR {100 * (idr[-1] - 1):+.1f} %, CDR {100 * (cdr[-1] - 1):+.1f} %")

    return check


def _slower_fall(table: Table) -> Found:
    parts = []
    for scheme in SCHEMES:
        high, low = (curve(table, scheme, "speed", u)[-1] for u in (UTILISATION, LOW))
        parts.append(
            Found(low > high, f"{scheme}, six failures: {100 * (high - 1):+.1f} % and {100 * (low - 1):+.1f} %")
        )
    return every(parts)


def _charts(name: str, utilisations: Sequence[float], figures: dict[str, str]) -> Any:
    def charts(table: Table) -> list[Chart]:
        found = []
        for column, title in figures.items():
            series = {
                f"{scheme}, {u:g}": (FAILURES, curve(table, scheme, column, u))
                for scheme in SCHEMES
                for u in utilisations
            }
            found.append(lines(f"{name}-{column}", title, series, "failed dies", axis("beside new")))
        return found

    return charts


ASSUMED = (
    "As Figure 12, with 32 TB: the dies failed in one core, spread over its channels, and were repaired before the "
    "drive was filled. A drop of 10 % is of requests a second.",
    "The count is strict: speeds of runs with other seeds scatter (Figure 12), so that a failure which leaves a drop "
    "near "
    "10 % may count or not.",
)
COLUMNS = {"iops": "requests/s", "speed": "beside new", "waf": "WAF", "waf_ratio": "WAF beside new"}
FIG15 = Figure(
    "fig15",
    "Figure 15: several failures in one core",
    "Random writes of a 32-TB SSD after one to six dies of one core have failed and been repaired.",
    lambda setting: _cells_of(setting, (UTILISATION,), "fig15.toml"),
    COLUMNS,
    _charts("fig15", (UTILISATION,), {"speed": "Random writes", "waf_ratio": "Write amplification"}),
    [
        Statement("IDR's speed falls quickly, CDR's slowly.", "7.2.3, Figure 15a, b", _steeper("speed", -1)),
        Statement("IDR's WAF rises quickly, CDR's slowly.", "7.2.3, Figure 15c, d", _steeper("waf_ratio", 1)),
        Statement(
            "Within a drop of 10 % CDR bears four die failures.",
            "7.2.3, Figure 15",
            _bears(CDR, 4, LARGE),
            _why(UTILISATION),
        ),
        Statement(
            "Within a drop of 10 % IDR bears a single one.",
            "7.2.3, Figure 15",
            _bears(IDR, 1, LARGE // 4),
            "the victim core alone decides",
        ),
    ],
    ASSUMED,
    _rows,
)
FIG16 = Figure(
    "fig16",
    "Figure 16: the same with more spare space",
    "As Figure 15, with space utilisations of 0.90 and 0.87.",
    lambda setting: _cells_of(setting, (UTILISATION, LOW), "fig16.toml"),
    COLUMNS,
    _charts("fig16", (UTILISATION, LOW), {"speed": "Random writes"}),
    [
        Statement("With a lower space utilisation speed falls more slowly.", "7.2.4, Figure 16", _slower_fall),
        Statement("CDR bears five failures at 0.87.", "7.2.4, Figure 16", _bears(CDR, 5, LARGE, LOW), _why(LOW)),
    ],
    ASSUMED,
    _rows,
)
