"""`outlast serve`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from outlast import interrupts, log
from outlast.cli.image import check_keeping, image_options
from outlast.cli.options import (
    Number,
    Whole,
    layers_of,
    log_options,
    overrides_of,
    path_option,
    scenario_options,
    warn_of,
)
from outlast.cli.serve_checks import check_clock, check_doors, check_tls, warn_if_open
from outlast.cli.serve_messages import show
from outlast.serving.built_in_load import LEAST_IOPS, MOST_IOPS, USUAL_IOPS, load_of
from outlast.serving.event_log import EventLog

if TYPE_CHECKING:
    from typing import Unpack

    from outlast._core import Server
    from outlast.serving.file import DriveFile
    from outlast.serving.options import ImageCommandOptions
    from outlast.serving.shell import ServedCommand

LOOK = 0.2
"""Seconds between two looks at signals."""
SHORT_LOOK = 0.02
"""The same where a command may end at any time."""


@click.command(
    "serve",
    epilog="""\b
Examples:
  outlast serve serve-drive
  outlast serve serve-drive --run 'nbdinfo "$uri"'
  outlast serve mine.toml --listen tcp:127.0.0.1:10809 --clock virtual
  outlast serve die-repair --nvme
  outlast serve mine.toml --listen tcp:0.0.0.0:10809 --tls-cert cert.pem --tls-key key.pem
  outlast serve serve-drive --file drive.img
  outlast serve demo --http --load
  outlast serve --preset serve-drive --set device.ftl.capacity=4GiB --speed 0.1
  outlast serve serve-drive --image disk.outlast
  outlast serve --image disk.outlast --at 12.345678s""",
)
@scenario_options
@click.option(
    "--listen",
    metavar="PLACE",
    help="unix:PATH, or tcp:ADDRESS:PORT on this machine. Default: a socket in a new folder that only you can enter.",
)
@click.option(
    "--nvme",
    is_flag=False,
    flag_value="tcp:127.0.0.1:4420",
    metavar="[PLACE]",
    help="Also serve hosts over NVMe/TCP at tcp:ADDRESS:PORT, or at tcp:127.0.0.1:4420; the line for `nvme connect`, "
    "which makes it /dev/nvme0n1, is printed.",
)
@click.option("--insecure", is_flag=True, help="Allow other machines to connect, even without encryption.")
@path_option("--tls-cert", metavar="FILE", help="Use TLS, with the server's certificate in this PEM file.")
@path_option("--tls-key", metavar="FILE", help="PEM file with the private key of that certificate.")
@path_option(
    "--tls-ca", metavar="FILE", help="Accept only clients whose certificate is signed by an authority in this PEM file."
)
@click.option(
    "--tls",
    type=click.Choice(["require", "offer"]),
    help="Refuse clients that do not use TLS, or leave the choice to them. Default: require.",
)
@click.option(
    "--clock",
    type=click.Choice(["wall", "virtual"]),
    default="wall",
    show_default=True,
    help="Simulated time follows real time, or jumps from one event to the next.",
)
@click.option("--speed", type=float, help="Simulated seconds per real second, 0.001 to 1000. Default: 1.")
@click.option(
    "--spin", is_flag=True, help="Busy-wait for the last 20 us before a reply: more exact times, more CPU use."
)
@path_option("--file", metavar="PATH", help="Also show the data as a file at this path (needs nbdfuse and FUSE).")
@click.option("--export", metavar="NAME", help="Name of the export. Default: the name of the scenario.")
@image_options
@click.option(
    "--contents",
    type=click.Choice(["memory", "disk"]),
    default="memory",
    show_default=True,
    help="Hold the data of the drive in memory, or in an unnamed file in the folder of the image or in TMPDIR.",
)
@click.option(
    "--run",
    "captive",
    metavar="COMMAND",
    help="Run this in a shell, with the address in $uri, that of --nvme in $nvme and the path of --file in $file; "
    "stop serving when it ends.",
)
@click.option(
    "--name",
    metavar="NAME",
    help="Name of the control socket, for `outlast ctl NAME`. Default: the name of the export.",
)
@click.option(
    "--http",
    is_flag=False,
    flag_value=0,
    type=Whole(0, 65535),
    metavar="[PORT]",
    help="Serve the live page and the HTTP interface on this machine, at this port or at a free one.",
)
@click.option(
    "--load",
    is_flag=False,
    flag_value=USUAL_IOPS,
    type=Number(LEAST_IOPS, MOST_IOPS),
    metavar="[RATE]",
    help="Load the device with random requests of 4 KiB, 30 % reads and 70 % writes, at this rate per simulated second "
    "(1 to 100000, else 2000; by a virtual clock per real second), in an order that --seed changes. Overwrites data.",
)
@click.option("--quiet", is_flag=True, help="Print nothing but the addresses.")
@log_options
def serve_command(
    scenario: str | None,
    preset: str | None,
    settings: tuple[tuple[str, str], ...],
    seed: int | None,
    listen: str | None,
    insecure: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_ca: Path | None,
    tls: str | None,
    clock: str,
    speed: float | None,
    spin: bool,
    file: Path | None,
    export: str | None,
    captive: str | None,
    name: str | None,
    http: int | None,
    load: float | None,
    quiet: bool,
    **keeping: Unpack[ImageCommandOptions],
) -> int:
    """Serve the drive or array of SCENARIO to real clients over the NBD protocol, and over NVMe/TCP.

    The scenario describes the drive and its preconditioning; its workload is not run. The address is printed on
    standard output when the drive is ready. Ctrl-C or SIGTERM ends it cleanly, like a host that shuts down.
    """
    check_clock(clock, speed)
    check_keeping(keeping)
    check_doors(name, http, keeping["nvme"], scenario or preset)
    check_tls(tls_cert, tls_key, tls_ca, tls, file)
    is_named = keeping["image"] is None or scenario is not None or preset is not None
    layers, overrides = layers_of(scenario, preset) if is_named else [], overrides_of(settings, seed)
    if overrides and not is_named:
        raise click.UsageError("--set and --seed need a SCENARIO to change", click.get_current_context())
    at = keeping["at"]
    if is_named and at is not None:
        raise click.UsageError("--at serves the machine of an image: name no SCENARIO", click.get_current_context())
    from outlast import api
    from outlast.serving import sockets

    if insecure:
        warn_if_open(listen if tls_cert is None or tls == "offer" else None, keeping["nvme"])
    # From here on there is a socket to be removed.
    interrupts.defer_signals()
    with sockets.Place(listen) as place, _file(file) as as_file:
        server = api.start_server(
            layers,
            overrides,
            listen=place,
            insecure=insecure,
            tls_cert=_text(tls_cert),
            tls_key=_text(tls_key),
            tls_ca=_text(tls_ca),
            tls=tls or "require",
            speed=None if clock == "virtual" else speed or 1.0,
            spin=spin,
            export=export,
            **keeping,
        )
        with ExitStack() as stack:
            open_doors = partial(_open, stack, server, name, http, quiet, at, (load, speed, seed))
            try:
                return _attend(server, captive, quiet, open_doors, as_file)
            except BaseException:
                server.stop()
                while server.wait(LOOK)[0] != "ended":
                    pass
                raise


def _open(
    stack: ExitStack,
    server: Server,
    name: str | None,
    http: int | None,
    quiet: bool,
    at: str | None,
    load: tuple[float | None, float | None, int | None],
) -> None:
    """Opens the control socket, HTTP and the load (rate, speed, seed) if they are asked for; all end with the stack."""
    from outlast.serving import http_for, sockets
    from outlast.serving.control import Control

    export = json.loads(server.request('{"do":"state"}'))["ok"]["exports"][0]["name"]
    named = Control(server, sockets.socket_path(name)) if name is not None else Control.at_free_name(server, export)
    control = stack.enter_context(named)
    if not quiet:
        if at is not None:
            log.say(f"the drive as it was at {at}; the image stays as it is, and no change is kept")
        log.say(f"outlast ctl {control.path.stem}", "control socket", name=control.path.stem, path=str(control.path))
    if http is not None:
        click.echo(stack.enter_context(http_for(server, http)).url)
        sys.stdout.flush()
    stack.enter_context(load_of(server, *load))


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _file(path: Path | None) -> AbstractContextManager[DriveFile | None]:
    from outlast.serving.file import DriveFile

    return nullcontext() if path is None else DriveFile(path)


def _attend(
    server: Server, captive: str | None, quiet: bool, open_control: Callable[[], None], file: DriveFile | None
) -> int:
    """Waits until the server ends, tells what there is to tell, and passes on that it should stop."""
    shown, is_stopping, events = False, False, EventLog(server)
    command: ServedCommand | None = None
    while True:
        try:
            doing, facts = server.wait(LOOK if command is None else SHORT_LOOK)
        except BaseException:
            # Whatever the server ended of, nobody goes on using a drive that is no more.
            _end(command, file)
            raise
        warn_of(server.take_warnings())
        if doing == "ended":
            return _end(command, file)
        if doing == "serving" and not shown:
            shown = True
            known = {"uri": server.uri}
            if file is not None:
                file.open(server.uri)
                known["file"] = str(file.path)
            if nvme := server.nvme_uri:
                known["nvme"] = nvme
            show(facts, captive, quiet)
            open_control()
            events.look()
            if captive is not None:
                from outlast.serving.shell import ServedCommand

                command = ServedCommand(captive, known)
        if shown:
            events.look()
        is_over = command is not None and command.has_ended()
        if (is_over or interrupts.stop_requests()) and not is_stopping:
            is_stopping = True
            log.record("stops", reason="command" if is_over else interrupts.signal_name())
            events.look(at_once=True)
            # The command first: while it uses the file, that cannot go, and its last writes find the drive there.
            _end(command, file)
            server.stop()


def _end(command: ServedCommand | None, file: DriveFile | None) -> int:
    """Ends a command with all that it has started, then the file of the drive; the command's exit code."""
    code = 0 if command is None else command.end()
    if file is not None:
        file.close()
    return code
