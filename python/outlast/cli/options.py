"""Options that several commands share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeVar

import click

from outlast import log
from outlast.cli import SETTINGS_GIVEN, complete
from outlast.printable import printable

STANDARD_INPUT = "-"
STANDARD_OUTPUT = "-"
"""The name by which a file to write means standard output."""
MOST_DIGITS = 20
_TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min|h)?")
_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, None: 1.0}

Command = TypeVar("Command", bound=Callable[..., Any])


class Group(click.Group):
    """A group whose list of commands has the whole first sentence of each; click itself cuts it at the edge."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, each.get_short_help_str(limit=1000)) for name, each in commands if each and not each.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Whole(click.ParamType[int]):
    """A whole number, which may be written 1e6 or 1_000_000."""

    name = "integer"

    def __init__(self, least: int, most: int | None = None) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            exact = Decimal(str(value))
            number = int(exact) if exact.is_finite() and abs(exact.adjusted()) < MOST_DIGITS else None
        except InvalidOperation:
            exact, number = Decimal(0), None
        if number is None or number != exact:
            self.fail(f'"{value}" is not a whole number', param, ctx)
        if number < self._least or (self._most is not None and number > self._most):
            limit = f"at least {self._least}" if self._most is None else f"within {self._least} to {self._most}"
            self.fail(f"{value} is not {limit}", param, ctx)
        return number


class Number(click.ParamType[float]):
    """A number between two limits."""

    name = "number"

    def __init__(self, least: float, most: float) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            self.fail(f'"{value}" is not a number', param, ctx)
        if not self._least <= number <= self._most:
            self.fail(f"{value} is not within {self._least:g} to {self._most:g}", param, ctx)
        return number


class Seconds(click.ParamType[float]):
    """A time on the wall, such as 120s or 2min."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        found = _TIME.fullmatch(str(value).strip())
        if found is None:
            self.fail(f'"{value}" is not a time such as 120s or 2min', param, ctx)
        seconds = float(found[1]) * _UNITS[found[2]]
        if not 0 < seconds <= 1e7:
            self.fail(f"{value} is not above 0 and at most 1e7 seconds", param, ctx)
        return seconds


class Setting(click.ParamType[tuple[str, str]]):
    """`a.b=c`."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        name, equals, text = str(value).partition("=")
        if not equals or not name.strip():
            self.fail(f'"{value}" is not of the form name=value, such as device.ftl.gc.policy=fifo', param, ctx)
        if ctx is not None:
            ctx.meta.setdefault(SETTINGS_GIVEN, []).append(f"{name.strip()}={text.strip()}")
        return name.strip(), text.strip()


def set_option(of: str = "") -> Callable[[Command], Command]:
    """`--set`, of a scenario or a part of one."""
    return click.option(
        "--set",
        "settings",
        type=Setting(),
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=complete.settings,
        help=f"Change one setting{of} by its dotted name; repeatable.",
    )


def scenario_options(command: Command) -> Command:
    """SCENARIO, --preset, --set and --seed."""
    for decorate in (
        click.option("--seed", type=Whole(0, 2**63 - 1), help="Seed of every random choice."),
        set_option(),
        click.option(
            "--preset",
            metavar="NAME",
            shell_complete=complete.presets,
            help="Start from a built-in scenario (see outlast presets).",
        ),
        click.argument("scenario", required=False, shell_complete=complete.presets),
    ):
        command = decorate(command)
    return command


def log_options(command: Command) -> Command:
    """-v and --log-format, which turn the log on before any other option is looked at."""

    def turn_on(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if not value or context.resilient_parsing:
            return
        name = context.command_path.replace(" ", ".")
        if parameter.name == "verbose":
            log.turn_on(name, level=log.INFO if value == 1 else log.DEBUG)
        else:
            log.turn_on(name, form=value)

    shared: dict[str, Any] = {"expose_value": False, "is_eager": True, "callback": turn_on}
    for decorate in (
        click.option(
            "--log-format",
            type=click.Choice(log.FORMATS),
            help="Log as -v does, a line of text or a JSON object for each record.",
            **shared,
        ),
        click.option(
            "-v", "--verbose", count=True, help="Log to standard error instead of the bar; -vv: each step.", **shared
        ),
    ):
        command = decorate(command)
    return command


def layers_of(
    scenario: str | None, preset: str | None, trace: str | None = None, trace_format: str | None = None
) -> list[Any]:
    """The layers that the options name, the strongest last."""
    from outlast.errors import ScenarioError
    from outlast.inputs import is_stream, read_stream
    from outlast.neighbours import how_to_read

    if scenario is None and preset is None:
        wanted = "name a SCENARIO.toml, or a built-in one with --preset"
        if trace is not None:
            wanted = f"--trace {trace}: name a drive for it, such as --preset demo"
        raise click.UsageError(wanted, click.get_current_context())
    layers: list[Any] = []
    if preset is not None:
        layers.append({"extends": preset})
    from outlast.fio import is_job_file, layer

    if scenario is not None and is_job_file(scenario):
        if preset is None:
            raise click.UsageError(
                f"{scenario} is a fio job file and describes only the workload; name the drive with --preset",
                click.get_current_context(),
            )
        layers.append(layer(scenario))
    elif scenario is not None and (reason := how_to_read(scenario)) is not None:
        raise ScenarioError(f"{scenario}: {reason}")
    elif scenario is not None:
        # A pipe gives its text only once, and a scenario is asked for more than once.
        layers.append(read_stream(scenario) if is_stream(scenario) else scenario)
    if trace is not None and is_job_file(trace):
        raise click.UsageError(
            f"{trace} is a fio job, not a trace: outlast run {trace} --preset NAME", click.get_current_context()
        )
    if trace is not None:
        refuse_stream(trace)
        if not Path(trace).exists():
            raise click.UsageError(f"--trace {trace}: there is no such file", click.get_current_context())
        spec = {"file": trace} | ({"format": trace_format} if trace_format else {})
        layers.append({"workload": {"trace": spec}})
    elif trace_format is not None:
        raise click.UsageError("--format belongs to --trace", click.get_current_context())
    return layers


def refused(message: str) -> click.UsageError:
    """The error of options that do not belong together, for the command that is running."""
    return click.UsageError(message, click.get_current_context())


def refuse_stream(trace: str) -> None:
    """A trace is read in several passes."""
    if trace == STANDARD_INPUT:
        raise click.UsageError(
            "a trace cannot come from standard input, as it is read more than once; write it to a file first",
            click.get_current_context(),
        )


def overrides_of(settings: tuple[tuple[str, str], ...], seed: int | None) -> list[tuple[str, str]]:
    """The overrides that the options name, the strongest last."""
    return [*settings, *([("seed", str(seed))] if seed is not None else [])]


def print_json(value: Any) -> None:
    """JSON on standard output, without colours."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def path_option(*names: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that takes a path; whether it can be used is checked by the command."""
    return click.option(*names, type=click.Path(path_type=Path), **settings)


def warn_of(sentences: Sequence[str]) -> None:
    """Says on standard error what a scenario asks of a chip that its source does not cover."""
    for sentence in sentences:
        if log.is_on():
            log.record(sentence, level=log.WARNING)
            continue
        click.secho("warning: ", fg="yellow", bold=True, nl=False, err=True)
        click.echo(printable(sentence), err=True)
