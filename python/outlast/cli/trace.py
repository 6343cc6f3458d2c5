"""`outlast trace info` and `outlast trace convert`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from outlast import interrupts
from outlast.cli.options import Group, Whole, print_json, refuse_stream

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group("trace", cls=Group)
def trace_command() -> None:
    """Inspect and convert block traces.

    Formats: msr, spc, ascii (MQSim, DiskSim, SSDSim), blkparse, fio-iolog, vscsi, alibaba, etw, msr-6, fiu, tencent,
    systor-17, k5cloud, cloudphysics-csv, oracle-general (libCacheSim), biosnoop, block-rq (perf, ftrace) and commands
    (Outlast's own, also to zones); plain or packed by gzip, zstd, bzip2, xz or zip. For other tables, a scenario names
    the columns (workload.trace.columns).
    """


def trace_options(command: Command) -> Command:
    """Adds the options that say how to read a trace, named as in `[workload.trace]`."""
    for decorate in (
        click.option("--head", type=Whole(1), help="Read only this many records."),
        click.option("--skip", type=Whole(0), help="Skip this many records at the start."),
        click.option("--device", help="Only this device's records."),
        click.option("--unordered", help="error, sort or clamp: how to treat records out of order."),
        click.option("--address-unit", help="sector or byte, for ascii."),
        click.option("--time-unit", help="ns, us, ms, s or filetime, for ascii and fio-iolog."),
        click.option("--format", help="Format of the trace. Default: recognised by its content."),
    ):
        command = decorate(command)
    return command


@trace_command.command(
    "info",
    epilog="""\b
Examples:
  outlast trace info web.csv.gz
  outlast trace info old.trace --format ascii --time-unit us --json""",
)
@click.argument("file")
@trace_options
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def info_command(file: str, as_json: bool, **settings: Any) -> None:
    """Read the trace FILE once and summarise it."""
    from outlast.traces import trace_info

    refuse_stream(file)
    info = trace_info(file, **_set_options(settings))
    if as_json:
        print_json(info)
    else:
        _show(info)


@trace_command.command(
    "convert",
    epilog="""\b
Example:
  outlast trace convert vm.vscsi.zst vm.iolog --to fio-iolog""",
)
@click.argument("file")
@click.argument("output", type=click.Path(path_type=Path))
@click.option(
    "--to",
    required=True,
    help="Format to write: msr, spc, ascii, blkparse, fio-iolog, fio-iolog-v2, vscsi, alibaba, etw or commands.",
)
@trace_options
def convert_command(file: str, output: Path, to: str, **settings: Any) -> None:
    """Write the requests of trace FILE to OUTPUT in another format."""
    from outlast.cli.progress import RunProgress
    from outlast.output import check_file, check_not_read
    from outlast.traces import check_format, trace_convert

    refuse_stream(file)
    check_format(to)
    # Before a link to the trace is refused for being one.
    check_not_read(output, [Path(file)])
    check_file(output)
    interrupts.raise_on_signal()
    with RunProgress() as bar:
        progress = None if bar is None else (lambda fraction: bar("converting", fraction, 0, 0.0))
        written = trace_convert(file, output, to, progress=progress, **_set_options(settings))
    click.echo(f"{written} requests written to {output}", err=True)


def _set_options(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}


def _show(info: dict[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from outlast.cli.paper import Paper
    from outlast.report.numbers import seconds, short, size

    console = Paper(highlight=False, soft_wrap=True)
    console.print(
        f"[bold]{info['file']}[/]  {info['format']}, compression {info['compression']}, times in {info['time_unit']}, "
        f"addresses in {info['address_unit']}s"
    )
    hot = (
        "" if info["hot20_percent"] is None else f", {short(info['hot20_percent'])} % of accesses to the hottest fifth"
    )
    rate = "" if info["rate_iops"] is None else f", {short(info['rate_iops'])} a second on average"
    first, end = 512 * info["start_lba"], 512 * info["end_lba"]
    console.print(f"{short(info['records'])} requests over {seconds(info['span_s'])}{rate}")
    console.print(
        f"addresses from {size(first)} up to {size(end)}: a drive of less capacity does not hold them as recorded"
    )
    console.print(
        f"{short(info['footprint_mib'])} MiB touched"
        f"{hot}; {short(info['aligned_percent'])} % aligned to 4 KiB, {short(info['sequential_percent'])} % sequential"
    )
    if info["writes"]["bytes"]:
        console.print(
            f"writes fill a drive of {size(info['writes']['bytes'])} once: a much larger one collects next to nothing "
            "unless the trace is repeated (workload.trace.repeat)"
        )
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("", "requests", "share", "bytes", "mean size", "median", "largest", "touched"):
        # A column may not be narrower than its title, which a narrow terminal would otherwise cut.
        table.add_column(title, justify="right" if title else "left", min_width=len(title))
    for kind in ("reads", "writes", "trims", "flushes"):
        stats = info[kind]
        if stats["count"]:
            table.add_row(
                kind,
                short(stats["count"]),
                f"{short(stats['percent'])} %",
                size(stats["bytes"]),
                size(stats["mean_bytes"]),
                size(stats["median_bytes"]),
                size(stats["max_bytes"]),
                f"{short(stats['footprint_mib'])} MiB",
            )
    console.print(table)
    for note in info["notes"]:
        console.print(f"note: {note}", markup=False)
