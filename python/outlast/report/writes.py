"""Write amplification by cause: bars beside the closed form, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast.report.figure import CAUSES, Figure, amplification_by_cause, axis, broken
from outlast.report.names import tip
from outlast.report.numbers import percent, plain, short, size
from outlast.report.tables import rows_card

WRITE_COLUMNS = ("cause", "bytes", "per byte of the host", "share")
LEAST_SHARE = 1e-3
"""Share of the write amplification below which a cause is in the table only."""


def factor(value: float) -> str:
    """A part of a write amplification: three decimals, or what is left of it in powers of ten."""
    return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0 else short(value)


def by_cause(named: Sequence[tuple[str, dict[str, Any]]], name: str, title: str = "By cause") -> Figure | None:
    """Write amplification by cause: a bar for each summary, and one for its closed form where it has one."""
    rows: list[tuple[str, dict[str, float]]] = []
    for run_name, summary in named:
        wa, closed = summary["write_amplification"], summary["closed_form"]["greedy_waf"]
        if wa["total"] is None:
            continue
        rows.append((broken(run_name), amplification_by_cause(wa)))
        if closed is not None:
            form = f"{broken(run_name)}<br>closed form" if len(named) > 1 else "closed form"
            rows.append((form, {"host": 1.0, "gc": closed - 1.0}))
    if not rows:
        return None
    data = []
    small = [LEAST_SHARE * sum(parts.values()) for _, parts in rows]
    for cause, (label, colour) in CAUSES.items():
        values = [parts.get(cause, 0.0) for _, parts in rows]
        if all(abs(value) < least for value, least in zip(values, small, strict=True)):
            continue
        bar = {
            "type": "bar",
            "orientation": "h",
            "name": label,
            "x": plain(values),
            "y": [run_name for run_name, _ in rows],
        }
        opacity = [0.45 if run_name.endswith("closed form") else 1.0 for run_name, _ in rows]
        hover = f"{label}: %{{x:.3f}}<extra></extra>"
        data.append(bar | {"marker": {"color": colour, "opacity": opacity}, "hovertemplate": hover})
    layout = {
        "barmode": "stack",
        "xaxis": axis("bytes programmed per byte written"),
        "yaxis": {"autorange": "reversed", "automargin": True, "showgrid": False},
        "hovermode": "closest",
        "bargap": 0.35,
    }
    return Figure(name, data, layout, title, "", 130 + 36 * len(rows))


def table(summary: dict[str, Any]) -> str:
    """Card of programmed data by cause; empty where the host wrote nothing."""
    wa, host = summary["write_amplification"], summary["host"]["bytes_written"]
    if wa["total"] is None or not host:
        return ""
    parts = {cause: value for cause, value in amplification_by_cause(wa).items() if value}
    rows: list[tuple[str, ...]] = [
        (CAUSES[cause][0], size(value * host), factor(value), percent(value / wa["total"]))
        for cause, value in parts.items()
    ]
    rows.append(("all", size(wa["total"] * host), f"{wa['total']:.3f}", "100 %"))
    sides = [tip(f"write_amplification.{cause}") for cause in [*parts, "total"]]
    return rows_card("Writes by cause", WRITE_COLUMNS, rows, wide=True, sides=sides)
