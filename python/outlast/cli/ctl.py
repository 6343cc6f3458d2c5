"""`outlast ctl`: asks a served machine, or has something happen to it."""

from __future__ import annotations

import json
from typing import Any

import click

from outlast import foreign
from outlast.cli.options import Group


class Named(Group):
    """A group whose commands may have the server's name before them: `outlast ctl NAME state`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            if len(args) == 1:
                raise click.UsageError(f'no command "{args[0]}"; there are {", ".join(self.commands)}', ctx)
            ctx.obj = args[0]
            args = args[1:]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[NAME]", *super().collect_usage_pieces(ctx)]


@click.group(
    "ctl",
    cls=Named,
    epilog="""\b
Examples:
  outlast ctl state
  outlast ctl mine fault die 3
  outlast ctl fault block die=3 plane=0 block=7 device=1
  outlast ctl power cut
  outlast ctl mark "commit 17 returned"
  outlast ctl fork --cut --export after
  outlast ctl clock --advance 30d
  outlast ctl smart --format smartctl
  outlast ctl lba-status --device 2
  outlast ctl replace 2""",
)
def ctl_command() -> None:
    """Query and control a running server: state, faults, power, clock.

    NAME is the name of the server (`outlast serve --name`), or the path of its control socket. It may
    be left out when only one server runs.
    """


def ask(request: dict[str, Any]) -> Any:
    """Sends a request to the server and returns its answer; values that are `None` are left out."""
    from outlast.serving.client import Client, path_of

    name = click.get_current_context().find_root().obj or _name()
    with Client(path_of(name)) as client:
        return client.ask({key: value for key, value in request.items() if value is not None})


def _name() -> str | None:
    context: click.Context | None = click.get_current_context()
    while context is not None:
        if isinstance(context.obj, str):
            return context.obj
        context = context.parent
    return None


def show(value: Any) -> None:
    """Prints an answer as JSON, if it says anything."""
    if value is not None:
        click.echo(json.dumps(value, indent=2))


@ctl_command.command("state")
@click.option("--json", "as_json", is_flag=True, help="Print the whole state as JSON.")
def state_command(as_json: bool) -> None:
    """Show the internal state: dies, buffer, wear, repairs."""
    state = ask({"do": "state"})
    if as_json:
        show(state)
        return
    from outlast.printable import printable
    from outlast.serving.summary import lines

    for line in lines(state, ask({"do": "metrics"})):
        click.echo(printable(line))


@ctl_command.command("smart")
@click.option(
    "--format",
    "shape",
    type=click.Choice(("json", "smartctl", "raw", "ocp")),
    default="json",
    help="Outlast's own names, the format of `smartctl -j`, the NVMe log page in hexadecimal, or OCP's extended log.",
)
@click.option("--device", type=int, default=0, help="With smartctl, raw and ocp: the drive of an array.")
def smart_command(shape: str, device: int) -> None:
    """Show the health data of the drive (SMART)."""
    answer = ask({"do": "smart", "format": shape, "device": device})
    if shape == "raw":
        click.echo(answer)
    else:
        show(answer)


@ctl_command.command("lba-status")
@click.option("--offset", type=int, default=0, help="First byte of the range.")
@click.option("--length", type=int, help="Bytes of the range. Default: to the end of the drive.")
@click.option("--device", type=int, default=0, help="The drive of an array; addresses are its own.")
def lba_status_command(offset: int, length: int | None, device: int) -> None:
    """Runs of bytes that the drive wants written again, such as those of a failed die, as JSON.

    A drive with [device.repair] goes on without a failed die, and a RAID above it writes these runs again (NVMe's Get
    LBA Status). `readable` runs are only in the wrong place. Takes no simulated time.
    """
    show(ask({"do": "lba_status", "offset": offset, "length": length, "device": device}))


@ctl_command.command("metrics")
def metrics_command() -> None:
    """Requests, latencies, lateness and clients, as JSON."""
    show(ask({"do": "metrics"}))


_OWN_NUMBER = {"die": "die", "device": "device", "power": "device", "replace": "device"}


@ctl_command.command("fault")
@click.argument("kind")
@click.argument("place", nargs=-1, metavar="[NUMBER] [FIELD=VALUE]...")
def fault_command(kind: str, place: tuple[str, ...]) -> None:
    """Inject a fault: KIND and place as in [[faults]] of a scenario.

    `fault die 3` is short for `fault die die=3`, `fault device 1` for `fault device device=1`.
    """
    show(ask({"do": "fault", "fault": fault_of(kind, place)}))


def fault_of(kind: str, place: tuple[str, ...]) -> dict[str, Any]:
    """An entry of [[faults]] without a time, as words of a command line say it."""
    fields: dict[str, Any] = {"kind": kind}
    for each in place:
        name, value = _field(kind, each)
        if name in fields:
            raise click.UsageError(f'"{each}": {name} is given twice', click.get_current_context())
        fields[name] = value
    return fields


def _field(kind: str, text: str) -> tuple[str, Any]:
    name, found, value = text.partition("=")
    if not found:
        if kind not in _OWN_NUMBER:
            raise click.UsageError(f'"{text}": must be FIELD=VALUE, such as block=7', click.get_current_context())
        name, value = _OWN_NUMBER[kind], text
    try:
        return name, foreign.json_of(value)
    except ValueError:
        return name, value


@ctl_command.command("power")
@click.argument("action", type=click.Choice(("cut", "off", "on")))
@click.option("--for", "span", metavar="TIME", help="With cut and off: how long the power is off, such as 2s.")
@click.option(
    "--force", is_flag=True, help="With cut and on: start an array although parity is in doubt and a member is missing."
)
@click.option(
    "--shorn", metavar="SHARE", help="With cut and off: share of each unit being programmed that is new, such as 3/8."
)
@click.option(
    "--torn",
    metavar="SIZE",
    help="With cut and off: each piece of this size, such as 512, in such a unit is either new or old.",
)
def power_command(action: str, span: str | None, force: bool, shorn: str | None, torn: str | None) -> None:
    """Cut the power and restore it, or switch it off or on."""
    show(ask({"do": "power", "action": action, "for": span, "force": force, "shorn": shorn, "torn": torn}))


@ctl_command.command("mark")
@click.argument("text", nargs=-1, required=True)
def mark_command(text: tuple[str, ...]) -> None:
    """Add a mark to the events and to the log."""
    show(ask({"do": "mark", "text": " ".join(text)}))


@ctl_command.command("fork")
@click.option("--export", required=True, metavar="NAME", help="Name of the new export.")
@click.option("--cut", is_flag=True, help="Copy the state that a loss of power would leave now.")
def fork_command(export: str, cut: bool) -> None:
    """Serve an independent copy of the drive or array as another export."""
    show(ask({"do": "fork", "export": export, "cut": cut}))


@ctl_command.command("clock")
@click.option("--speed", type=float, metavar="FACTOR", help="Simulated seconds per real second.")
@click.option("--pause/--resume", default=None, help="Stop or continue simulated time.")
@click.option("--advance", metavar="TIME", help="Move simulated time forward by this much, such as 30d.")
def clock_command(speed: float | None, pause: bool | None, advance: str | None) -> None:
    """Show the clock, or change it."""
    show(ask({"do": "clock", "speed": speed, "pause": pause, "advance": advance}))


@ctl_command.command("repair")
def repair_command() -> None:
    """Scrub an array: read everything and repair redundancy."""
    show(ask({"do": "repair"}))


@ctl_command.command("replace")
@click.argument("member", type=int)
@click.option("--force", is_flag=True, help="Replace the member even if it holds the only copy of some data.")
def replace_command(member: int, force: bool) -> None:
    """Replace a member of an array by a new drive, which is rebuilt."""
    show(ask({"do": "replace", "member": member, "force": force}))


@ctl_command.command("stop")
def stop_command() -> None:
    """Shut the drive down cleanly and end the server."""
    show(ask({"do": "stop"}))
