"""A fit as data, for `outlast fit --json`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.products.fit.page import rows
from outlast.products.fit.words import NOT_TOLD

if TYPE_CHECKING:
    from outlast.products.fit.engine import Fit

SCHEMA = "outlast-fit/1"


def to_dict(fit: Fit, preset: Path, page: Path) -> dict[str, Any]:
    """Numbers in bytes, seconds and bytes a second, with 90 % intervals; figures as given and as simulated."""
    return {
        "schema": SCHEMA,
        "name": fit.measured.name,
        "preset": str(preset),
        "report": str(page),
        "numbers": {
            each.name: {
                "stage": each.stage,
                "value": each.value,
                "low": each.interval.low,
                "high": each.interval.high,
                "figures": each.figures,
            }
            for each in fit.found.values()
        },
        "choices": {name: {"taken": each.taken, "errors": dict(each.misses)} for name, each in fit.choices.items()},
        "not_identified": dict(fit.missing),
        "not_identifiable": list(NOT_TOLD),
        "interval_factor": fit.scale,
        "figures": [
            {
                "load": str(seen.row.load),
                "place": seen.row.place,
                "figure": seen.name,
                "role": kind,
                "promised": seen.row.margin is not None,
                "given": given,
                "simulated": simulated,
                "error_left_out": fit.left_out.get(f"{seen.row.place} {seen.name}"),
            }
            for seen, kind, given, simulated in rows(fit)
        ],
        "runs": fit.runs,
    }
