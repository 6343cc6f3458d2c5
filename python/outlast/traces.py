"""Block traces: what is in one, and one made of another or of an image."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from outlast import _core
from outlast.errors import OutputError, WorkloadError
from outlast.plain_values import path_of, place_of, plain

WRITTEN = ("msr", "spc", "ascii", "blkparse", "fio-iolog", "fio-iolog-v2", "vscsi", "alibaba", "etw", "commands")
"""Formats in which a trace can be written; more can be read."""


def check_format(to: str) -> None:
    """Refuses a format in which no trace can be written."""
    if to not in WRITTEN:
        near = difflib.get_close_matches(str(to).lower(), WRITTEN, n=1, cutoff=0.5)
        meant = f'did you mean "{near[0]}"? One of' if near else "must be one of"
        raise WorkloadError(f'format to write = "{to}": {meant} {", ".join(WRITTEN)}')


def trace_info(file: str | Path, **settings: Any) -> dict[str, Any]:
    """Contents of a trace in figures. `settings` are those of `[workload.trace]`, such as `format="msr"`."""
    info: dict[str, Any] = json.loads(_core.trace_info(json.dumps(plain({"file": str(file), **settings}))))
    return info


def trace_convert(
    file: str | Path,
    output: str | Path,
    to: str,
    *,
    progress: Callable[[float], bool | None] | None = None,
    **settings: Any,
) -> int:
    """Writes a trace in another format and returns the number of requests. The file appears only when complete.

    `to` is one of `WRITTEN`; `settings` are those of `[workload.trace]`. The file that is read is not replaced.
    """
    from outlast.output import cannot_write, check_not_read, staged_file

    check_format(to)
    written, read = place_of(output), path_of(file, "a trace is the path of its file", WorkloadError)
    check_not_read(written, [read])
    spec = json.dumps(plain({"file": str(read), **settings}))
    with staged_file(written) as staging:
        try:
            return _core.trace_convert(spec, to, str(staging), progress)
        except OSError as error:
            raise cannot_write(written, error) from error


PACKED_ENDINGS = (".gz", ".zst", ".bz2", ".xz", ".zip")
"""Endings of compressed files, which readers of traces unpack."""


def check_trace_place(output: Path, image: Path) -> None:
    """Refuses a file in the image that is read, and a name that promises compression."""
    from outlast.output import check_not_inside

    # An entry that is no part of an image would make it one that is refused.
    check_not_inside(output, image)
    if output.suffix.lower() in PACKED_ENDINGS:
        raise OutputError(
            f"{output}: the trace is written without compression; name a file that does not end in {output.suffix}"
        )


def image_trace(image: str | Path, output: str | Path) -> tuple[int, int, bool]:
    """Writes the commands that the machine of an image was given as a trace, in blkparse's format.

    Returns how many there are, how many other inputs are remarks in it, and whether the log is there from its start.
    """
    from outlast.output import cannot_write, staged_file

    check_trace_place(Path(output), Path(image))
    with staged_file(Path(output)) as staging:
        try:
            return _core.image_trace(str(image), str(staging))
        except OSError as error:
            raise cannot_write(Path(output), error) from error
