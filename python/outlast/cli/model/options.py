"""Options that the closed forms share, and how numbers are written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from outlast.cli.options import path_option

Command = TypeVar("Command", bound=Callable[..., Any])
MOST = 100_000


class Numbers(click.ParamType[tuple[float, ...]]):
    """`1,2,5`, `from:to:step` (both ends included) or `from:to:xfactor`; several, separated by commas."""

    name = "NUMBERS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        found: list[float] = []
        for part in str(value).split(","):
            try:
                found += _expanded(part.strip())
            except ValueError as error:
                self.fail(f'"{part}" {error}', param, ctx)
        return tuple(found)


class Counts(Numbers):
    """`Numbers` that are whole and not negative."""

    name = "COUNTS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        numbers = super().convert(value, param, ctx)
        for number in numbers:
            if number < 0 or not number.is_integer():
                self.fail(f"{number:g} must be a whole number of at least 0", param, ctx)
        return numbers


class Shares(Numbers):
    """`Numbers` of which each may be written in percent: `7%` is 0.07."""

    name = "SHARES"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        return super().convert(_PERCENT.sub(_share, value) if isinstance(value, str) else value, param, ctx)


class Share(click.ParamType[float]):
    """`0.07` or `7%`."""

    name = "SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return float(_PERCENT.sub(_share, value) if isinstance(value, str) else value)
        except ValueError:
            self.fail(f'"{value}" is not a share, such as 0.07 or 7%', param, ctx)


class Size(click.ParamType[float]):
    """Bytes: `4e12`, `4TB`, `512GiB`."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = _SIZE.fullmatch(str(value).strip())
        try:
            number, unit = (found[1], found[2]) if found else (str(value), "")
            scale = 1.0
            if unit:
                scale = (1024.0 if unit[1:2] == "i" else 1000.0) ** (1 + "kmgtpe".index(unit[0].lower()))
            size = float(number) * scale
        except ValueError:
            size = math.nan
        if not math.isfinite(size):
            self.fail(f'"{value}" is not a size, such as 4e12, 4TB or 512GiB', param, ctx)
        return size


_PERCENT = re.compile(r"([0-9.eE+-]+)\s*%")
_SIZE = re.compile(r"([0-9.eE+-]+?)\s*(?:([kKMGTPE]i?)B|B)")


def _share(found: re.Match[str]) -> str:
    try:
        return repr(float(found[1]) / 100.0)
    except ValueError:
        return found[0]


def _expanded(text: str) -> list[float]:
    pieces = text.split(":")
    factor = len(pieces) == 3 and pieces[2][:1] in ("x", "*")
    if factor:
        pieces[2] = pieces[2][1:]
    try:
        numbers = [float(piece) for piece in pieces]
    except ValueError:
        raise ValueError("is not a number, from:to:step or from:to:xfactor") from None
    if not all(map(math.isfinite, numbers)) or len(numbers) not in (1, 3):
        raise ValueError("is not a finite number, from:to:step or from:to:xfactor")
    if len(numbers) == 1:
        return numbers
    low, high, step = numbers
    if high < low:
        raise ValueError("ends before it begins")
    if factor:
        if low <= 0 or step <= 1:
            raise ValueError("needs a start above 0 and a factor above 1")
        count = math.log(high / low) / math.log(step)
    else:
        if step <= 0:
            raise ValueError("needs a step above 0")
        count = (high - low) / step
    # The end counts if rounding alone keeps it out.
    steps = math.floor(count + 1e-9)
    if steps >= MOST:
        raise ValueError(f"has more than {MOST} numbers")
    return [low * step**i if factor else low + step * i for i in range(steps + 1)]


def output_options(command: Command) -> Command:
    """--json and --plot."""
    command = path_option("--plot", metavar="FILE", help="Write a chart as a standalone page.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Print settings and values as JSON.")(command)


def chip_options(command: Command) -> Command:
    """--chip, --days and --reads."""
    for decorate in (
        click.option(
            "--reads", type=float, default=0.0, show_default=True, help="Reads of the block since it was erased."
        ),
        click.option("--days", type=float, default=0.0, show_default=True, help="Days since the data were written."),
        click.option("--chip", default="msapl", show_default=True, help="Chip whose raw bit error rate is taken."),
    ):
        command = decorate(command)
    return command


def ecc_options(command: Command) -> Command:
    """--n, --k and --codewords."""
    for decorate in (
        click.option("--codewords", type=int, default=1, show_default=True, help="Codewords of a page."),
        click.option("--k", type=int, default=8, show_default=True, help="Bits that are corrected in a codeword."),
        click.option("--n", type=int, default=8192, show_default=True, help="Bits of a codeword."),
    ):
        command = decorate(command)
    return command


def refuse_ignored(why: str, *names: str) -> None:
    """Refuses options that were given though they change nothing; `names` are those of the parameters."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(option for option in context.command.params if option.name == name)
            raise click.UsageError(f"{option.opts[0]} changes nothing here: {why}", context)


def check_chip(chip: str, cycles: tuple[float, ...]) -> None:
    """Refuses --days and --reads where the chip's error rates do not depend on them."""
    import numpy as np

    from outlast import models

    parameters = click.get_current_context().params
    pe = np.asarray(cycles, dtype=float)
    for name in ("days", "reads"):
        if parameters[name] and np.array_equal(
            models.rber(chip, pe, **{name: parameters[name]}), models.rber(chip, pe)
        ):
            refuse_ignored(f"the error rates of chip {chip} do not depend on it", name)


def check_stripe(parities: tuple[float, ...]) -> None:
    """Refuses --stripe where no curve has parity."""
    if not any(parities):
        refuse_ignored("no curve has parity", "stripe")


def paired(name: str, values: tuple[float, ...], number: int) -> list[float]:
    """One value for each of `number` curves: as many as that, or one for all."""
    if len(values) not in (1, number):
        raise click.UsageError(
            f"{name}: {len(values)} values; give one, or one for each of {number} curves", click.get_current_context()
        )
    return list(values) if len(values) == number else list(values) * number


def parity_name(parities: float) -> str:
    """Label of the curve for a number of parities."""
    return {0: "no parity", 1: "1 parity"}.get(int(parities), f"{int(parities)} parities")
