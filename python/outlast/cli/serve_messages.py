"""The lines that `outlast serve` prints when a drive is ready."""

from __future__ import annotations

import sys
from typing import Any
from urllib.parse import urlsplit

import click

from outlast import log
from outlast.printable import printable


def _survives(dies: int, *, is_array: bool) -> str:
    """Clause on the failed dies that the data of a drive survives, or that of a member without the array's help."""
    data = "data of each member" if is_array else "data"
    return (
        f"{data} survives {dies} failed {'die' if dies == 1 else 'dies'}" if dies else f"{data} survives no failed die"
    )


def show(facts: Any, captive: str | None, quiet: bool) -> None:
    """Prints what is served, how many failures it survives, and addresses; the last not for a command of `--run`."""
    model, capacity, dies, survives, is_array, uris, found = facts
    if log.is_on():
        served = {"model": model, "capacity": capacity, "survives_dies": survives, "takes_writes_up_to_dies": dies}
        image = None if found is None else dict(zip(("made", "clean", "inputs", "torn"), found, strict=True))
        log.record("serving", uris=uris, **served, image=image)
    elif not quiet:
        if found is not None:
            click.echo(_image_message(*found), err=True)
        until = f"more than {dies} {'die has' if dies == 1 else 'dies have'} failed" if dies else "a die fails"
        safe = "" if survives is None else f"{_survives(survives, is_array=is_array)}; "
        click.echo(f"{printable(model)}: {_size(capacity)}; {safe}takes writes until {until}", err=True)
    if captive is not None:
        return
    for uri in uris:
        click.echo(uri)
    # Who reads it through a pipe waits for it.
    sys.stdout.flush()
    if not quiet and not log.is_on():
        for line in filter(None, map(connect_line, uris)):
            click.echo(line, err=True)
        click.echo("Ctrl-C stops the server.", err=True)


def connect_line(uri: str) -> str | None:
    """The command by which Linux connects to an address for NVMe/TCP; `None` for an address of another kind."""
    where = urlsplit(uri)
    if where.scheme != "nvme+tcp":
        return None
    return f"sudo nvme connect -t tcp -a {where.hostname} -s {where.port} -n {where.path.removeprefix('/')}"


def _image_message(made: bool, clean: bool, inputs: int, torn: bool) -> str:
    if made:
        return "a new image"
    end = "was shut down" if clean else "lost its power when its server ended"
    return f"the drive of the image {end}; {inputs} inputs replayed{', a torn record dropped' if torn else ''}"


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"
