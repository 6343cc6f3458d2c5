"""Requests measured, served and failed, which a reader must know before any rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.report.numbers import percent, seconds, short

KINDS = ("reads", "writes", "trims", "flushes")
FEW = 100
"""Requests below which a rate is that of a moment."""
ENDS = {
    "read_only": "refused because the drive takes no more writes",
    "medium_error": "ended with a medium error",
    "aborted": "cut off by a loss of power",
    "out_of_range": "beyond the capacity",
}
"""Phrases for requests that failed, by the names of `host.failed`."""
SHARE = 0.95
"""Share of the requested rate from which on it counts as served; the margin exceeds the chance of arrivals."""


def served(summary: dict[str, Any]) -> int:
    """Requests that did what they were asked for while measured."""
    return sum(int(summary["host"][kind]) for kind in KINDS)


def failed(summary: dict[str, Any]) -> int:
    """Requests that ended in an error while measured."""
    return int(summary["host"].get("errors") or 0)


def is_measured(summary: dict[str, Any]) -> bool:
    """True if any request was measured, failed ones included."""
    return served(summary) + failed(summary) > 0


def unmeasured_sentence(summary: dict[str, Any]) -> str:
    """The same as a sentence."""
    why = unmeasured(summary)
    return f"The run was {why}." if summary["partial"] else f"{why[0].upper()}{why[1:]}."


def unmeasured(summary: dict[str, Any]) -> str:
    """Reason why nothing was measured, as the end of a title."""
    if summary["partial"]:
        return "stopped before anything was measured"
    warm_up = summary["time"]["warm_up_s"]
    if warm_up:
        return f"nothing was measured: the run ended within its warm-up, after {seconds(warm_up)}"
    return "nothing was measured: no request completed"


def is_short(summary: dict[str, Any]) -> bool:
    """True if the warm-up left too few requests for a rate."""
    return bool(summary["time"]["warm_up_s"]) and served(summary) + failed(summary) < FEW


def is_read_only(summary: dict[str, Any]) -> bool:
    """True if the drive or array refused writes at the end."""
    return bool((summary.get("smart") or {}).get("read_only"))


def refused(summary: dict[str, Any]) -> tuple[int, int] | None:
    """Writes and trims that a read-only drive refused, and how many there were of them; `None` where none was."""
    failed_counts = summary["host"].get("failed")
    if not failed_counts or not failed_counts["read_only"]:
        return None
    host = summary["host"]
    return failed_counts["read_only"], sum(host[kind] + failed_counts[kind] for kind in ("writes", "trims"))


def ends(summary: dict[str, Any]) -> str:
    """Causes of failed requests, with counts."""
    failed_counts = summary["host"].get("failed") or {}
    return ", ".join(f"{short(failed_counts[name])} {words}" for name, words in ENDS.items() if failed_counts.get(name))


def sentence(summary: dict[str, Any]) -> str:
    """Sentence on failed requests; empty if all were served."""
    count = failed(summary)
    if not count:
        return ""
    every = served(summary) + count
    how = f": {causes}" if (causes := ends(summary)) else ""
    return (
        f"{short(count)} of {short(every)} requests ({percent(count / every)}) were not served{how}; rates and "
        "latencies are of those that were."
    )


def asked_iops(summary: dict[str, Any]) -> float | None:
    """The constant rate at which the host's requests arrive; `None` where it has none."""
    synthetic = ((summary["scenario"].get("workload") or {}).get("synthetic")) or {}
    if synthetic.get("phases") or not synthetic.get("rate_iops"):
        return None
    return float(synthetic["rate_iops"])


FEW_VICTIMS = 10
"""Superblocks of which fewer, if all were empty, may be no more than what preparation left behind."""


def is_as_asked(summary: dict[str, Any]) -> bool:
    """True if the requested rate was served, up to chance."""
    asked_rate, iops = asked_iops(summary), summary["throughput"]["iops"]
    if failed(summary) or served(summary) < FEW:
        return False
    if asked_rate is None or iops is None:
        return True
    # Poisson arrivals vary by the root of their number; five times that never happens.
    chance = 5 / max(served(summary), 1) ** 0.5
    return bool(iops >= asked_rate * min(SHARE, 1 - chance))


def collected_note(summary: dict[str, Any]) -> str:
    """Note on a write amplification without any collection; empty otherwise, or if nothing was written."""
    wa, flash, victims = summary["write_amplification"], summary["flash"], summary["gc"]["victims"]
    if wa["total"] is None or not flash["programs"] or not is_uncollected(victims, wa["gc"]):
        return ""
    found = "no superblock was collected" if not victims else f"only {victims} superblocks were collected, all empty"
    if victims == 1:
        found = "only one superblock was collected, an empty one"
    return f"{found}: it says nothing about spare space or policy"


def is_uncollected(victims: int | None, moved: float | None) -> bool:
    """True if a few empty superblocks at most were collected, `moved` being what collection adds to a byte written."""
    return victims == 0 or (victims is not None and victims < FEW_VICTIMS and not moved)


def is_row_uncollected(row: Mapping[str, Any]) -> bool:
    """The same of a row of a sweep, with figures by dotted name, in which the host wrote to flash."""
    victims = row.get("gc.victims") if row.get("flash.programs") else None
    return "write_amplification.total" in row and is_uncollected(victims, row.get("write_amplification.gc"))
