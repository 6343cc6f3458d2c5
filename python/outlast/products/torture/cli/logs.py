"""`outlast torture export`."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import click

LOG_WRITES, LIST = "log-writes", "list"


@click.command(
    "export",
    epilog="""\b
Examples:
  outlast torture export run.outlast run.log
  outlast torture export run.outlast run.blkparse --format list""",
)
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("output", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice([LOG_WRITES, LIST]),
    default=LOG_WRITES,
    show_default=True,
    help="A log as dm-log-writes and QEMU's blklogwrites make it, or blkparse's text with the bytes in FILE.data.",
)
def export_command(run: Path, output: Path, kind: str) -> None:
    """Write the recording RUN to FILE, with its marks, for other tools.

    A log of dm-log-writes is replayed by replay-log of xfstests up to any flush or mark. A list also has the
    time of each request and of its completion. `outlast torture check` reads both.
    """
    from outlast import _core
    from outlast.output import cannot_write, check_file, staged_file

    files = [output] if kind == LOG_WRITES else [output, output.with_name(f"{output.name}.data")]
    for file in files:
        check_file(file)
    recording = _core.Recording(str(run))
    with ExitStack() as stack:
        places = [stack.enter_context(staged_file(file)) for file in files]
        try:
            handles = [os.open(place, os.O_WRONLY | os.O_CLOEXEC) for place in places]
            for handle in handles:
                stack.callback(os.close, handle)
            recording.export(handles[0], handles[1] if kind == LIST else None)
        except OSError as error:
            raise cannot_write(output, error) from error
    click.echo(f"{run} written to {' and '.join(map(str, files))}", err=True)
