"""Table of the requests, rates and latencies of each job of the host."""

from __future__ import annotations

from typing import Any

from outlast.report.latency import FEW, FEW_NOTE, marked
from outlast.report.names import tip
from outlast.report.numbers import seconds, short
from outlast.report.tables import rows_card

JOB_COLUMNS = ("job", "", "IOPS", "MiB/s", "mean", "99 %", "99.9 %", "requests", "ran for")
_FIGURES = ("", "", "iops", "mib_s", "latency_us.mean", "latency_us.p99", "latency_us.p99_9", "ios", "")


def job_rows(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each job and direction."""
    rows = []
    for job in summary["host"].get("jobs", ()):
        for op in ("read", "write", "trim", "sync"):
            if (found := job[op]) is None:
                continue
            latency = found["latency_us"]
            times = (marked(latency, key) if latency else "–" for key in ("mean", "p99", "p99_9"))
            rates = (short(found["iops"]), short(found["mib_s"]))
            rows.append((job["name"], op, *rates, *times, short(found["ios"]), seconds(job["runtime_s"])))
    return rows


def job_table(summary: dict[str, Any]) -> str:
    """The rows as a card; empty without jobs."""
    heads = [tip(f"host.jobs[0].read.{name}") if name else "" for name in _FIGURES]
    heads[-1] = tip("host.jobs[0].runtime_s")
    rows = job_rows(summary)
    card = rows_card("Rate and latency by job", JOB_COLUMNS, rows, wide=True, heads=heads)
    if any(cell.endswith(FEW) for row in rows for cell in row[4:7]):
        card = f'{card.removesuffix("</div>")}<p class="note">{FEW_NOTE}</p></div>'
    return card
