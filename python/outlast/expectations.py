"""Limits that figures of a result must meet: `[expect]` of a scenario, with an outcome for each and JUnit's XML."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from outlast.errors import ScenarioError
from outlast.sweeps import figures

if TYPE_CHECKING:
    from outlast.result import Result

_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_DIGITS = "[0-9](?:_?[0-9])*"
_LIMIT = re.compile(
    rf"\s*(<=|>=|<|>)\s*([-+]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][-+]?[0-9]+)?)\s*([^0-9\s]*)\s*"
)
_TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15} | {
    f"{letter}iB": 1024**power for power, letter in enumerate("KMGTP", 1)
}
_COUNTS = {"k": 1e3, "M": 1e6, "G": 1e9}
_SCALES: dict[str, tuple[Mapping[str, float], float]] = {
    "ns": (_TIMES, 1e-9),
    "µs": (_TIMES, 1e-6),
    "ms": (_TIMES, 1e-3),
    "s": (_TIMES, 1.0),
    "seconds": (_TIMES, 1.0),
    "hours": (_TIMES, 3600.0),
    "h": (_TIMES, 3600.0),
    "bytes": (_SIZES, 1.0),
    "MiB": (_SIZES, 1024.0**2),
    "MiB/s": ({f"{name}/s": size for name, size in _SIZES.items()}, 1024.0**2),
    "share": ({"%": 0.01}, 1.0),
    "%": ({"%": 1.0}, 1.0),
    "percent": ({"%": 1.0}, 1.0),
}
"""Units that limits of a figure may have, by the figure's own unit: their size, and that of the figure's."""


@dataclass(frozen=True)
class Expectation:
    """Limits of one figure, in its unit."""

    figure: str
    said: str
    """The limits as they were written."""
    limits: tuple[tuple[str, float], ...]

    def is_met(self, value: float | None) -> bool:
        """True if a value keeps every limit; a figure that the result has not keeps none."""
        return value is not None and all(_COMPARED[sign](value, limit) for sign, limit in self.limits)


@dataclass(frozen=True)
class ExpectationOutcome:
    """A figure beside its limits."""

    figure: str
    said: str
    value: float | None
    met: bool
    why_absent: str = ""
    """Reason why the result lacks the figure, if it does."""

    @property
    def message(self) -> str:
        """The outcome in a sentence."""
        from outlast.report.names import written

        value = f"absent: {self.why_absent}" if self.value is None else written(self.figure, self.value, 6)
        return f"{self.figure} = {value}: expected {self.said}"


def expectations(scenario: Mapping[str, Any]) -> list[Expectation]:
    """The expectations of a resolved scenario.

    Raises `ScenarioError` that names the figure for one that no run has, and for a limit that is none or has a unit
    that the figure has not.
    """
    return [_expectation(name, str(said)) for name, said in (scenario.get("expect") or {}).items()]


def _expectation(name: str, said: str) -> Expectation:
    if not figures.is_figure(name):
        raise ScenarioError(f'expect."{name}": no such figure; {figures.hint(name)}')
    limits = []
    for part in said.split(" and "):
        found = _LIMIT.fullmatch(part)
        if found is None or math.isinf(float(found[2])):
            limit = 'must be <, <=, > or >= and a number, such as "< 1ms", or two of these joined by "and"'
            raise ScenarioError(f'expect."{name}" = "{said}": {limit}')
        limits.append((found[1], float(found[2].replace("_", "")) * _scale(name, said, found[3])))
    if not _can_be_met(limits):
        raise ScenarioError(f'expect."{name}" = "{said}": no number meets these limits together')
    return Expectation(name, said.strip(), tuple(limits))


def check(scenario: Mapping[str, Any], layers: Sequence[Any]) -> None:
    """Raises errors of `expectations` with the file and the line of the limit, where one of the layers has it."""
    try:
        expectations(scenario)
    except ScenarioError as error:
        raise ScenarioError(f"{_place_of(str(error), layers)}{error}") from error


def _place_of(message: str, layers: Sequence[Any]) -> str:
    """File and line of the limit that a message begins with, as `file.toml:7: `; empty elsewhere."""
    quoted = message.removeprefix("expect.").partition('"')[2].partition('"')[0]
    for source in reversed(layers):
        path = Path(source) if isinstance(source, (str, Path)) else None
        if path is None or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if line.partition("=")[0].strip().strip("\"'") == quoted:
                return f"{path}:{number}: "
    return ""


def _can_be_met(limits: list[tuple[str, float]]) -> bool:
    low = max((limit for sign, limit in limits if sign.startswith(">")), default=-math.inf)
    high = min((limit for sign, limit in limits if sign.startswith("<")), default=math.inf)
    # Of two limits that are one number, that number is left, unless either leaves it out.
    return low < high or all(_COMPARED[sign](low, limit) for sign, limit in limits)


def _scale(name: str, said: str, unit: str) -> float:
    """Size of a unit in that of the figure."""
    if not unit:
        return 1.0
    own = figures.unit(name).partition(",")[0]
    units, size = _SCALES.get(own, (_COUNTS, 1.0))
    if unit not in units:
        takes = f"in {own}" if own else "without a unit"
        raise ScenarioError(
            f'expect."{name}" = "{said}": unit "{unit}": the figure is {takes}; {", ".join(units)} are known'
        )
    return units[unit] / size


def outcomes(result: Result) -> list[ExpectationOutcome]:
    """Each figure that the result's scenario expects, beside its limits."""
    wanted = expectations(result.summary["scenario"])
    if not wanted:
        return []
    flat = figures.flat(result.summary)
    found = []
    for each in wanted:
        value = figures.number(flat, each.figure)
        why = "" if value is not None else figures.why_absent(each.figure, [flat]) or ""
        found.append(ExpectationOutcome(each.figure, each.said, value, each.is_met(value), why))
    return found


def to_junit(name: str, found: list[ExpectationOutcome]) -> str:
    """The outcomes as JUnit's XML: a suite with a case for each figure."""
    failed = [each for each in found if not each.met]
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(found)), failures=str(len(failed)), errors="0")
    for each in found:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=f"{each.figure} {each.said}")
        if not each.met:
            ElementTree.SubElement(case, "failure", message=each.message)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"
