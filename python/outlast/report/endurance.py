"""TBW and DWPD as a sentence, a tile and a table."""

from __future__ import annotations

from typing import Any

from outlast import endurance
from outlast.report.names import terabytes, tip
from outlast.report.numbers import percent, short
from outlast.report.tables import rows_card

COLUMNS = ("endurance", "", "how it is found")


def sentence(summary: dict[str, Any]) -> str:
    """Sentence on the endurance at the write amplification of the run; empty without a rating."""
    rating = endurance.endurance_of(summary)
    if rating is None:
        return ""
    amount = f"<b>{terabytes(rating.tbw_bytes)}</b>"
    if rating.left_bytes is not None:
        amount = f"over its whole life {amount}, of which <b>{terabytes(rating.left_bytes)}</b> is left,"
    return (
        f"At this write amplification{_doubt(summary)} the host can write {amount} until blocks reach the "
        f"{short(rating.rated_cycles)} cycles they are rated for: <b>{short(rating.dwpd)}</b> drive writes a day over "
        f"{endurance.YEARS} years."
    )


def _doubt(summary: dict[str, Any]) -> str:
    """A reservation where the run was not, or is not known to have been, in its steady state."""
    reached = ((summary.get("steady_state") or {}).get("measured") or {}).get("reached")
    if reached is True:
        return ""
    return f" ({'not' if reached is False else 'not known to be'} that of the steady state)"


def table(summary: dict[str, Any]) -> str:
    """Rating, wear so far, TBW and DWPD as a card; empty where no rating is known."""
    rating = endurance.endurance_of(summary)
    if rating is None:
        return ""
    factor = f"{summary['write_amplification']['total']:.3f}"
    rows = [
        ("P/E cycles, rated", short(rating.rated_cycles), rating.source),
        ("TBW", terabytes(rating.tbw_bytes), f"raw capacity × rated cycles / write amplification of {factor}"),
        ("DWPD", f"{short(rating.dwpd)} a day", f"TBW / capacity / {endurance.DAYS} days"),
    ]
    sides = [tip(f"endurance.{name}") for name in ("rated_cycles", "tbw_bytes", "dwpd")]
    worn = summary["wear"]["mean_pe"]
    if worn is not None:
        rows.insert(1, ("worn at the end", percent(worn / rating.rated_cycles), "mean P/E cycles / rated cycles"))
        sides.insert(1, tip("wear.mean_pe"))
    if rating.left_bytes is not None:
        rows.insert(3, ("left", terabytes(rating.left_bytes), "TBW × (rated cycles − mean P/E cycles) / rated cycles"))
        sides.insert(3, tip("endurance.tbw_bytes"))
    return rows_card("Endurance", COLUMNS, rows, wide=True, sides=sides)
