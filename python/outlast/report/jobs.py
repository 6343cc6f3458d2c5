"""What each job of the host got."""

from __future__ import annotations

from typing import Any

from outlast.report.numbers import micros, seconds, short, text

JOB_COLUMNS = ("job", "", "IOPS", "MiB/s", "mean", "99 %", "99.9 %", "requests", "ran for")


def job_rows(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each job and direction."""
    rows = []
    for job in summary["host"].get("jobs", ()):
        for op in ("read", "write", "trim", "sync"):
            if (found := job[op]) is None:
                continue
            latency = found["latency_us"]
            times = (micros(latency[key]) for key in ("mean", "p99", "p99_9"))
            rates = (short(found["iops"]), short(found["mib_s"]))
            rows.append((job["name"], op, *rates, *times, short(found["ios"]), seconds(job["runtime_s"])))
    return rows


def job_table(summary: dict[str, Any]) -> str:
    """The rows as a card; empty without jobs."""
    return rows_card("By job", JOB_COLUMNS, job_rows(summary))


def rows_card(title: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], *, wide: bool = False) -> str:
    """Rows as a card, what each is of first; empty without rows. A `wide` one scrolls where the page is narrow."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{text(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{text(name)}</th>' + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>"
        for name, *cells in rows
    )
    return (
        f'<div class="card{" scroll" if wide else ""}"><h3>{text(title)}</h3><table class="figures"><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
