"""Headline figures on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from outlast import endurance
from outlast.cli.paper import beside, console, ruled
from outlast.report import closed, found, placement, risk, served, sheet
from outlast.report.array import parity_shares, unloaded_s
from outlast.report.errors import can_fail
from outlast.report.figure import CAUSES, amplification_by_cause
from outlast.report.findings import workload
from outlast.report.jobs import JOB_COLUMNS, job_rows
from outlast.report.latency import FEW, FEW_NOTE, OPS, ROWS, marked, mean_interval
from outlast.report.names import JUDGED, terabytes
from outlast.report.numbers import YEAR_HOURS, counted, micros, percent, seconds, short, signed, size, tiny
from outlast.report.protection import code
from outlast.report.queueing import EXACT

if TYPE_CHECKING:
    from rich.console import Console

    from outlast.result import Result

Row = tuple[str, str, str]
"""A figure's name, its value, and what is to be said of it."""
LEAST_SHARE = 1e-3
"""Share of the write amplification below which a cause is not named."""


def show(result: Result) -> None:
    """Prints what a person wants to know first."""
    summary, paper = result.summary, console()
    device = summary["device"]
    paper.print(found.title(summary), style="bold", markup=False)
    load = f"{device['model']}, {size(device['capacity_bytes'])}; {workload(summary)}"
    paper.print(load, markup=False)
    paper.print()
    rows = [
        *_served(summary),
        *_rates(summary),
        *_writes(summary),
        *placement.rows(summary),
        *_wear(summary),
        *_array(summary),
    ]
    if can_fail(summary):
        rows += _errors(summary)
    _print(paper, rows)
    _latencies(summary, paper)
    _jobs(summary, paper)
    for columns, known in ((closed.COLUMNS, closed.beside(summary)), (sheet.COLUMNS, sheet.beside(summary))):
        _table(paper, columns, [(row.name, *row.shown, row.verdict) for row in known])
    _print(paper, _state(result))
    for note in summary["notes"]:
        paper.print(f"note: {note}", markup=False)
    if summary["partial"]:
        paper.print("[bold red]partial:[/] the run was stopped before its end")


def _print(paper: Console, rows: list[Row]) -> None:
    if not rows:
        return
    table = beside()
    for row in rows:
        table.add_row(*map(escape, row))
    paper.print(table)


def _table(paper: Console, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    if not rows:
        return
    table = ruled()
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=number > 0)
    for row in rows:
        table.add_row(*map(escape, row))
    paper.print(table)


def _served(summary: dict[str, Any]) -> list[Row]:
    """Rows on requests that failed, and on a drive that takes no more writes."""
    rows = []
    if count := served.failed(summary):
        every = served.served(summary) + count
        rows.append(("not served", short(count), f"of {short(every)} requests: {served.ends(summary) or 'failed'}"))
    if served.is_read_only(summary):
        rows.append(("read-only", "yes", "too few good blocks are left: the drive takes no more writes"))
    return rows


def _rates(summary: dict[str, Any]) -> list[Row]:
    rate = summary["throughput"]
    if rate["iops"] is None or found.nothing_measured(summary):
        return []
    moved = rate["read_mib_s"] + rate["write_mib_s"]
    span = seconds(summary["time"]["simulated_s"])
    return [
        (
            "IOPS",
            short(rate["iops"]),
            f"{short(rate['read_iops'])} reads, {short(rate['write_iops'])} writes served per second",
        ),
        (
            "throughput",
            f"{short(moved)} MiB/s",
            f"{short(rate['read_mib_s'])} read, {short(rate['write_mib_s'])} written, over {span} of simulated time",
        ),
    ]


def _writes(summary: dict[str, Any]) -> list[Row]:
    wa, formula = summary["write_amplification"], summary["closed_form"]["greedy_waf"]
    if wa["total"] is None:
        return []
    parts = amplification_by_cause(wa)
    named = [
        f"{CAUSES[cause][0]} {value:.3f}"
        for cause, value in parts.items()
        if cause != "host" and abs(value) >= LEAST_SHARE * wa["total"]
    ]
    note_text = ", ".join(named) or "nothing beside host data"
    if formula is not None:
        without = " without parity" if parts["parity"] else ""
        note_text += f"; closed form{without} {formula:.3f} ({signed((wa['total'] - parts['parity']) / formula - 1)})"
    if note := served.collected_note(summary):
        note_text += f"; {note}"
    return [("write amplification", f"{wa['total']:.3f}", note_text)]


def _wear(summary: dict[str, Any]) -> list[Row]:
    wear, rows = summary["wear"], []
    if wear["mean_pe"] is not None:
        spread = f"{short(wear['min_pe'])} to {short(wear['max_pe'])} over the blocks"
        rows.append(("P/E cycles, mean", short(wear["mean_pe"]), spread))
    if (worn := endurance.endurance_of(summary)) is not None:
        lifetime = f"{short(worn.rated_cycles)} rated cycles ({worn.source})"
        left = "" if worn.left_bytes is None else f"{terabytes(worn.left_bytes)} of it left; "
        rows.append(("TBW", terabytes(worn.tbw_bytes), f"{left}at this write amplification; {lifetime}"))
        rows.append(("DWPD", short(worn.dwpd), f"drive writes a day over {endurance.YEARS} years"))
    return rows


def _latencies(summary: dict[str, Any], paper: Console) -> None:
    ops = [op for op in OPS if summary["latency_us"].get(op)]
    if not ops:
        return
    table = ruled()
    table.add_column("latency")
    for op in ops:
        table.add_column(op, justify="right", style="bold")
    for key, label in ROWS:
        table.add_row(label, *(marked(summary["latency_us"][op], key) for op in ops))
    table.add_row("mean, 95 % interval", *(mean_interval(summary["latency_us"][op]) for op in ops))
    paper.print(table)
    if any(FEW in marked(summary["latency_us"][op], key) for op in ops for key, _ in ROWS):
        paper.print(FEW_NOTE, markup=False)


def _jobs(summary: dict[str, Any], paper: Console) -> None:
    rows = job_rows(summary)
    if not rows:
        return
    table = ruled()
    for number, column in enumerate(JOB_COLUMNS):
        table.add_column(column, justify="left" if number < 2 else "right", no_wrap=number > 0, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    paper.print(table)


def _array(summary: dict[str, Any]) -> list[Row]:
    array = summary.get("array")
    if not array:
        return []
    rows = [("array", array["state"], array["status"])]
    if rebuild := array["rebuild"]:
        span = (rebuild["finished_s"] or 0.0) - rebuild["started_s"]
        took = seconds(span) if rebuild["finished_s"] is not None else f"{percent(rebuild['done'])} done"
        rows.append(
            (
                "rebuild",
                took,
                f"of member {rebuild['member']} from {seconds(rebuild['started_s'])} on, "
                f"{size(rebuild['bytes_written'])} at {short(rebuild['rate_mib_s'])} MiB/s; degraded for "
                f"{seconds(array['degraded_s'])}",
            )
        )
    if array["ejected"]:
        rows.append(("replaced", short(array["ejected"]), "members that left the array at a limit"))
    if shares := parity_shares(array):
        rows.append(("uneven parity", "", f"{shares} of it on the members in their order, at the end"))
    by_state = array["latency_us_by_state"]
    met = [state for state in by_state if by_state[state]["read"] or by_state[state]["write"]]
    for state in met if len(met) > 1 else []:
        for op, figures in by_state[state].items():
            if figures:
                tail = f"mean; 99 % within {micros(figures['p99'])}"
                rows.append((f"{op}s while {state}", micros(figures["mean"]), tail))
    if loss := array["data_loss"]:
        years = loss["mttdl_hours"] / YEAR_HOURS
        about = f"probability within a year; mean time to data loss {short(years)} years"
        if took := risk.rebuild(loss, unloaded=unloaded_s(summary) > 0.0):
            about += f"; {took}"
        rows.append(("data loss", tiny(loss["per_year"]), about))
    return rows


def _errors(summary: dict[str, Any]) -> list[Row]:
    figures = summary["reliability"]
    corrected_by, exact, twin = figures["corrected_by"], figures["exact"], figures["twin"]
    units = (
        f"{short(corrected_by['reread'])} after re-reads, {short(corrected_by['stripe'])} from parity of their stripe"
    )
    rows = [
        (
            "re-reads per read",
            short(figures["rereads_per_read"]),
            f"units: {short(corrected_by['ecc'])} at once, {units}",
        )
    ]
    if exact:
        steps = (("after_ecc", "after ECC"), ("after_rereads", "after re-reads"))
        before = ", ".join(f"{label} {tiny(exact[key]['uber'], exact[key]['log10_uber'])}" for key, label in steps)
        last = exact["after_stripe"]
        rows.append(("UBER, exact", tiny(last["uber"], last["log10_uber"]), before))
    if figures["medium_errors"] or figures["lost_bytes"]:
        lost = f"; {size(figures['lost_bytes'])} lost for good" if figures["lost_bytes"] else ""
        rows.append(("medium errors", short(figures["medium_errors"]), f"requests ended with one{lost}"))
    if figures["scrubbed"]["superblocks"] or figures["scrub_pages"]:
        moved, read = figures["scrubbed"]["superblocks"], figures["scrub_pages"]
        rows.append(("scrubbing", short(moved), f"superblocks moved, {counted(read, 'page')} read"))
    rows += _parity(summary.get("protection"))
    if twin and twin["mean_ratio"] is not None:
        ratios = [(op, twin[f"{op}_mean_ratio"]) for op in ("read", "write")]
        each = ", ".join(f"{op}s {ratio:.2f}" for op, ratio in ratios if ratio is not None)
        rows.append(("mean latency", f"{twin['mean_ratio']:.2f} ×", f"that of its error-free twin: {each}"))
    return rows


def _parity(figures: dict[str, Any] | None) -> list[Row]:
    """Rows on parity in the drive: codes of the classes, codes that were changed, redundancy lost with dies."""
    if not figures:
        return []
    rows = []
    codes = [code(own) for own in figures["by_class"]]
    if len(codes) > 1:
        rows.append(("classes", short(len(codes)), f"of data, with the codes {', '.join(codes)} at the end"))
    for change in figures["changes"]:
        old = f"; {short(figures['outdated_superblocks'])} of {short(figures['superblocks'])} superblocks are to follow"
        made = f"refused: {change['refused']}" if change["refused"] else f"{change['what']}{old}"
        rows.append(("change", seconds(change["at_s"]), made))
    return rows + _redundancy(figures.get("redundancy"))


def _redundancy(figures: dict[str, Any] | None) -> list[Row]:
    """Rows on redundancy lost with failed dies, and the time until all data had it again."""
    if not figures:
        return []
    times = [loss["time_to_full_redundancy_s"] for loss in figures["losses"]]
    known = [time for time in times if time is not None]
    after = seconds(max(known)) if len(known) == len(times) else "not restored"
    why = "; too few superblocks are free" if figures["lacks_space"] else ""
    lost = f"until data that lost parity with {counted(len(times), 'failed die')} had all of it again{why}"
    survives = f"; data survives {counted(figures['data_survives'], 'failed die')} at the end"
    return [("full redundancy", after, lost + survives)]


def _state(result: Result) -> list[Row]:
    summary = result.summary
    measured, before = summary["steady_state"]["measured"], summary["steady_state"]["precondition"]
    words = JUDGED[measured["reached"]]
    rows = [("steady state", words, measured.get("why") or "")]
    if before["reached"] is False:
        rows.append(("preconditioning", "not steady", "the write amplification was still changing when it ended"))
    cost, law = summary["time"], summary["queue"]["littles_law"]
    speed = summary["throughput"]["requests_per_cpu_s"]
    costs = f"of CPU, {seconds(cost['precondition_cpu_s'])} of it to precondition"
    if speed is not None:
        costs += f"; {short(speed)} requests per CPU-second"
    costs += f"; {short(summary['memory']['peak_rss_mib'])} MiB of memory"
    if law and law.get("relative_error") is not None:
        error = abs(law["relative_error"])
        costs += "; Little's law holds" if error < EXACT else f"; Little's law is off by {percent(error, 2)}"
    rows.append(("cost of the run", seconds(cost["cpu_s"]), costs))
    return rows
