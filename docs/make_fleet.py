"""Makes the table of die repair in the guide to fleets: two studies of ten thousand drives, without it and with it.

python docs/make_fleet.py docs/guide/fleet.md
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from outlast import fleet

FILE = Path(__file__).parent.parent / "scenarios" / "fleet" / "ten-thousand.toml"
HEAD = "| | off | on |\n|---|---|---|\n"


def studied() -> list[dict[str, Any]]:
    """Results without die repair and with it."""
    return fleet.sweep(FILE, {"study.elasticities": [False], "drive.die_repair": [False, True]})


def table(results: list[dict[str, Any]]) -> str:
    """Rows of the table, with its head."""

    def row(name: str, form: str, *values: float) -> str:
        return f"| {name} | " + " | ".join(format(value, form) for value in values) + " |\n"

    costs = [result["cost"] for result in results]
    lost = [result["loss_by_year"][-1]["fleet"]["mean"] for result in results]
    moved = [result["life"]["rebuild_bytes_a_year"] / 1e15 for result in results]
    work = [sum(cost["by_part"][part] for part in ("replacements", "rebuild_traffic")) for cost in costs]
    return (
        HEAD
        + row("P(loss within 5 years), at most", ".2g", *lost)
        + row("nines of an object a year", ".2f", *(result["object_nines_a_year"] for result in results))
        + row("drives replaced a year", ".1f", *(result["life"]["drives_failed_a_year"] for result in results))
        + row("moved by rebuilds a year, PB", ".3g", *moved)
        + row("USD a year", ",.0f", *(cost["a_year"] for cost in costs))
        + row("of these for replacements and rebuilds", ",.0f", *work)
        + row("USD per TB of data and year", ".2f", *(cost["per_user_tb_year"] for cost in costs))
    )


def replaced(page: str, rows: str) -> str:
    """The page with these rows in the place of the old ones."""
    begin = page.index(HEAD)
    return page[:begin] + rows + page[page.index("\n\n", begin) + 1 :]


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(replaced(target.read_text(encoding="utf-8"), table(studied())), encoding="utf-8")
