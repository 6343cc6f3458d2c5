"""Headline figures on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from outlast.report.findings import workload
from outlast.report.latency import OPS, ROWS
from outlast.report.numbers import micros, percent, seconds, short, size

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
        beside = f"; closed form {formula:.3f}" if formula is not None else ""
        console.print(
            f"[bold]{wa['total']:.3f}[/] write amplification   collection {wa['gc']:.3f}, padding {wa['padding']:.3f}, "
            f"wear levelling {wa['wear_leveling']:.3f}, partial units {wa['partial_write']:.3f}{beside}"
        )
    ops = [op for op in OPS if summary["latency_us"].get(op)]
    if ops:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("latency")
        for op in ops:
            table.add_column(op, justify="right", style="bold")
        for key, label in ROWS:
            table.add_row(label, *(micros(summary["latency_us"][op][key]) for op in ops))
        console.print(table)
    _state(result, console)


def _state(result: Result, console: Console) -> None:
    summary = result.summary
    measured, before = summary["steady_state"]["measured"], summary["steady_state"]["precondition"]
    words = {True: "[green]yes[/]", False: "[yellow]no[/]", None: "not judged"}[measured["reached"]]
    why = f" ({measured['why']})" if measured.get("why") else ""
    console.print(f"steady state: {words}{why}", markup=True)
    if before["reached"] is False:
        console.print("[yellow]preconditioning gave up before the write amplification was steady[/]")
    cost, law = summary["time"], summary["queue"]["littles_law"]
    speed = summary["throughput"]["requests_per_cpu_s"]
    line = f"cost: {seconds(cost['cpu_s'])} of CPU, {seconds(cost['precondition_cpu_s'])} to precondition"
    if speed is not None:
        line += f", {short(speed)} requests per CPU-second"
    line += f", {short(summary['memory']['peak_rss_mib'])} MiB"
    if law and law.get("relative_error") is not None:
        line += f"; Little's law within {percent(abs(law['relative_error']), 2)}"
    console.print(line)
    for note in summary["notes"]:
        console.print(f"note: {note}", markup=False)
    if summary["partial"]:
        console.print("[bold red]partial:[/] the run did not reach its end")
