"""`outlast torture guest-files`, and the option that says where the files of a guest are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from outlast.cli.options import path_option
from outlast.products.torture import guest_files
from outlast.products.torture.guest_image import AbsentError

Command = TypeVar("Command", bound=Callable[..., Any])


def guest_files_option(command: Command) -> Command:
    """Adds the option for the folder of guest files, which sets the environment variable that later code reads."""

    def named(_context: click.Context, _option: click.Parameter, folder: Path | None) -> None:
        if folder is None:
            return
        if (lack := guest_files.absent(folder)) is not None:
            raise click.BadParameter(lack)
        os.environ[guest_files.VARIABLE] = str(folder.absolute())

    return path_option(
        "--guest-files",
        metavar="DIR",
        expose_value=False,
        callback=named,
        help=f"The kernel and busybox of a guest. Default: ${guest_files.VARIABLE}, or ~/.cache/outlast/guest.",
    )(command)


@click.command(
    "guest-files",
    epilog="""\b
Examples:
  outlast torture guest-files
  outlast torture check run.outlast --backend guest -- ./check.sh""",
)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path, file_okay=False))
def guest_files_command(folder: Path | None) -> None:
    """Download the files of a guest (Debian's kernel and busybox, 70 MiB) to DIR or to this user's cache.

    Nothing is installed, and no root is needed. Elsewhere than on Debian, fill the folder yourself with
    boot/vmlinuz-VERSION, lib/modules/VERSION and bin/busybox (a static one); the kernel must have 9p, overlayfs, virtio
    and the file system, as modules.
    """
    place = folder or guest_files.folder()
    if guest_files.absent(place) is None:
        click.echo(f"{place}: the guest files are there already")
        return
    try:
        version = guest_files.fetch(place)
    except AbsentError as lack:
        raise click.UsageError(str(lack), click.get_current_context()) from lack
    click.echo(f"{place}: kernel {version}, busybox")
