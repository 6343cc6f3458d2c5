"""Block traces: what is in one, and one made of another or of an image."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from outlast import _core
from outlast.api import plain


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

    `to` is one of msr, spc, ascii, fio-iolog, fio-iolog-v2, vscsi, alibaba, etw; `settings` are those of
    `[workload.trace]`.
    """
    from outlast.output import cannot_write, staged_file

    spec = json.dumps(plain({"file": str(file), **settings}))
    with staged_file(Path(output)) as staging:
        try:
            return _core.trace_convert(spec, to, str(staging), progress)
        except OSError as error:
            raise cannot_write(Path(output), error) from error


def image_trace(image: str | Path, output: str | Path) -> tuple[int, int, bool]:
    """Writes the commands that the machine of an image was given as a trace, in blkparse's format.

    Returns how many there are, how many other inputs are remarks in it, and whether the log is there from its start.
    """
    from outlast.output import cannot_write, staged_file

    with staged_file(Path(output)) as staging:
        try:
            return _core.image_trace(str(image), str(staging))
        except OSError as error:
            raise cannot_write(Path(output), error) from error
