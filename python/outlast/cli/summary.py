"""Headline figures on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from outlast.report.errors import can_fail
from outlast.report.figure import amplification_by_cause
from outlast.report.findings import counted, workload
from outlast.report.jobs import JOB_COLUMNS, job_rows
from outlast.report.latency import FEW, FEW_NOTE, OPS, ROWS, marked, mean_interval
from outlast.report.numbers import percent, seconds, short, size, tiny
from outlast.report.queueing import EXACT

if TYPE_CHECKING:
    from outlast.result import Result


def show(result: Result) -> None:
    """Prints what a person wants to know first."""
    summary = result.summary
    console = Console(highlight=False, soft_wrap=True)
    device, rate, wa = summary["device"], summary["throughput"], summary["write_amplification"]
    console.print(
        f"[bold]{summary['name']}[/]  {device['model']}, {size(device['capacity_bytes'])}; {workload(summary)}"
    )
    if rate["iops"] is not None:
        console.print(
            f"[bold]{short(rate['iops'])}[/] IOPS   {short(rate['read_mib_s'])} MiB/s read, "
            f"{short(rate['write_mib_s'])} MiB/s written   {seconds(summary['time']['simulated_s'])} simulated"
        )
    if wa["total"] is not None:
        formula = summary["closed_form"]["greedy_waf"]
        without = " without parity" if amplification_by_cause(wa)["parity"] else ""
        beside = f"; closed form{without} {formula:.3f}" if formula is not None else ""
        console.print(
            f"[bold]{wa['total']:.3f}[/] write amplification   collection {wa['gc']:.3f}, padding {wa['padding']:.3f}, "
            f"wear levelling {wa['wear_leveling']:.3f}, partial units {wa['partial_write']:.3f}{_rarer(wa)}{beside}"
        )
    if array := summary.get("array"):
        _array(array, console)
    ops = [op for op in OPS if summary["latency_us"].get(op)]
    if ops:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("latency")
        for op in ops:
            table.add_column(op, justify="right", style="bold")
        for key, label in ROWS:
            table.add_row(label, *(marked(summary["latency_us"][op], key) for op in ops))
        table.add_row("95 % interval of the mean", *(mean_interval(summary["latency_us"][op]) for op in ops))
        console.print(table)
        if any(FEW in marked(summary["latency_us"][op], key) for op in ops for key, _ in ROWS):
            console.print(FEW_NOTE, markup=False)
    _jobs(summary, console)
    if can_fail(summary):
        _errors(summary, console)
    _state(result, console)


def _jobs(summary: dict[str, Any], console: Console) -> None:
    rows = job_rows(summary)
    if not rows:
        return
    # Narrow gaps, so that names are legible on 80 columns; a long one goes on in the next line.
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for number, column in enumerate(JOB_COLUMNS):
        table.add_column(column, justify="left" if number < 2 else "right", no_wrap=number > 0, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _rarer(wa: dict[str, Any]) -> str:
    parts = amplification_by_cause(wa)
    causes = (("scrub", "scrubbing"), ("parity", "parity"), ("rewritten", "failed programs"), ("array", "array"))
    return "".join(f", {label} {parts[cause]:.3f}" for cause, label in causes if parts[cause])


def _array(array: dict[str, Any], console: Console) -> None:
    console.print(f"array {array['state']}: {array['status']}", markup=False)
    if rebuild := array["rebuild"]:
        span = (rebuild["finished_s"] or 0.0) - rebuild["started_s"]
        took = f"took {seconds(span)}" if rebuild["finished_s"] is not None else f"{rebuild['done']:.1%} done"
        console.print(
            f"rebuild of member {rebuild['member']}: {took} from {seconds(rebuild['started_s'])} on, "
            f"{size(rebuild['bytes_written'])} at {short(rebuild['rate_mib_s'])} MiB/s; degraded for "
            f"{seconds(array['degraded_s'])}"
        )
    by = array["latency_us_by_state"]
    met = [(state, by[state]) for state in by if by[state]["read"] or by[state]["write"]]
    for state, own in met if len(met) > 1 else []:
        parts = [f"{op} mean {short(own[op]['mean'])} p99 {short(own[op]['p99'])} µs" for op in own if own[op]]
        console.print(f"{state}: {', '.join(parts)}")
    if loss := array["data_loss"]:
        years = loss["mttdl_hours"] / 8760.0
        console.print(f"data loss: {loss['per_year']:.3g} a year, mean time to it {short(years)} years")


def _errors(summary: dict[str, Any], console: Console) -> None:
    figures = summary["reliability"]
    by, exact, twin = figures["corrected_by"], figures["exact"], figures["twin"]
    console.print(
        f"[bold]{short(figures['rereads_per_read'])}[/] re-reads per read   units decoded at once {short(by['ecc'])}, "
        f"after re-reads {short(by['reread'])}, from their stripe {short(by['stripe'])}"
    )
    if exact:
        steps = (("after_ecc", "after ECC"), ("after_rereads", "after re-reads"))
        before = ", ".join(f"{label} {tiny(exact[key]['uber'], exact[key]['log10_uber'])}" for key, label in steps)
        last = exact["after_stripe"]
        console.print(f"[bold]{tiny(last['uber'], last['log10_uber'])}[/] UBER, exact   {before}")
    if figures["medium_errors"] or figures["lost_bytes"]:
        lost = f", {size(figures['lost_bytes'])} lost for good" if figures["lost_bytes"] else ""
        console.print(f"[bold red]{short(figures['medium_errors'])}[/] requests ended with a medium error{lost}")
    if figures["scrubbed"]["superblocks"] or figures["scrub_pages"]:
        moved, read = figures["scrubbed"]["superblocks"], figures["scrub_pages"]
        console.print(f"scrubbing: {counted(moved, 'superblock')} moved, {counted(read, 'page')} read")
    if twin and twin["mean_ratio"] is not None:
        ratios = [(op, twin[f"{op}_mean_ratio"]) for op in ("read", "write")]
        each = ", ".join(f"{op}s {ratio:.2f}" for op, ratio in ratios if ratio is not None)
        console.print(f"[bold]{twin['mean_ratio']:.2f}[/] times the latency of its twin without errors   {each}")


def _state(result: Result, console: Console) -> None:
    summary = result.summary
    measured, before = summary["steady_state"]["measured"], summary["steady_state"]["precondition"]
    words = {True: "[green]yes[/]", False: "[yellow]no[/]", None: "not judged"}[measured["reached"]]
    why = f" ({measured['why']})" if measured.get("why") else ""
    console.print(f"steady state: {words}{why}", markup=True)
    if before["reached"] is False:
        console.print("[yellow]the write amplification was not steady when preconditioning ended[/]")
    cost, law = summary["time"], summary["queue"]["littles_law"]
    speed = summary["throughput"]["requests_per_cpu_s"]
    line = f"cost: {seconds(cost['cpu_s'])} of CPU, {seconds(cost['precondition_cpu_s'])} to precondition"
    if speed is not None:
        line += f", {short(speed)} requests per CPU-second"
    line += f", {short(summary['memory']['peak_rss_mib'])} MiB"
    if law and law.get("relative_error") is not None:
        error = abs(law["relative_error"])
        line += "; Little's law holds" if error < EXACT else f"; Little's law is off by {percent(error, 2)}"
    console.print(line)
    for note in summary["notes"]:
        console.print(f"note: {note}", markup=False)
    if summary["partial"]:
        console.print("[bold red]partial:[/] the run did not reach its end")
