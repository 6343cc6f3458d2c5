"""The figures of a run by dotted name, as in `result.json`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from outlast import endurance

if TYPE_CHECKING:
    from outlast.points import Job, Record

USUAL = (
    "throughput.iops",
    "latency_us.read.p99",
    "latency_us.write.p99",
    "write_amplification.total",
    "reliability.exact.after_stripe.log10_uber",
)
"""Reported where a sweep does not say."""

FRONT = (
    ("latency_us.read.p99", "lowest"),
    ("write_amplification.total", "lowest"),
    ("reliability.exact.after_stripe.log10_uber", "lowest"),
)
"""Latency, lifetime and risk: the Pareto front where a sweep asks for no figures of its own."""

_LOWEST = re.compile(r"latency|amplification|data_loss|read_failure|uber|uncorrectable|repair_hours|degraded|errors")
_HIGHEST = re.compile(r"iops|mib_s|throughput|dwpd|tbw|lifetime|years")


def front_of(asked: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The Pareto front over the figures that a sweep asks for, each with its better end; none of fewer than two."""
    front = tuple((name, end) for name in asked if (end := better_end(name)))
    return front if len(front) > 1 else ()


def better_end(name: str) -> str:
    """`lowest` or `highest`, whichever is better of a figure; empty for one that is neither good nor bad."""
    return "lowest" if _LOWEST.search(name) else "highest" if _HIGHEST.search(name) else ""


_PLACES = {
    "OP": "(?:read|write|trim|flush)",
    "STEP": "(?:after_ecc|after_rereads|after_stripe)",
    "[i]": r"\[\d+\]",
    "[]": r"\[\d+\]",
    "*": r"\w+",
}
_PLACE = re.compile(r"(OP|STEP|\[i\]|\[\]|\*)")
_ENTRY = re.compile(r"(.+)\[\d+\]")
"""An entry of a list of numbers."""
_ASIDE = ("schema", "version", "name", "seed", "partial", "notes", "scenario")


@cache
def _listed() -> list[tuple[str, str, str]]:
    """Name, unit and meaning of each figure of the reference, in which `OP` stands for a kind of request."""
    listed = files("outlast.sweeps").joinpath("figures.txt").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in listed.splitlines())
    return [(name, unit, meaning) for name, unit, meaning in rows]


@cache
def units() -> Mapping[str, str]:
    """Units by name of figure; names are those of the reference."""
    return {name: unit for name, unit, _ in _listed()}


@cache
def _rows() -> list[tuple[str, str, str, str]]:
    """The rows of the reference, each with its name as far as it stands for nothing else."""
    return [(_PLACE.split(name, maxsplit=1)[0], name, unit, meaning) for name, unit, meaning in _listed()]


@cache
def _pattern(listed: str) -> re.Pattern[str]:
    return re.compile("".join(_PLACES.get(part, re.escape(part)) for part in _PLACE.split(listed)))


@cache
def _row(name: str) -> tuple[str, str] | None:
    for still, listed, unit, meaning in _rows():
        # Compiling all patterns takes longer than anything that asks for a few figures.
        if name == listed if still == listed else name.startswith(still) and _pattern(listed).fullmatch(name):
            return unit, meaning
    entry = _ENTRY.fullmatch(name)
    return _row(entry[1]) if entry else None


def called(axis: Mapping[str, Any]) -> str:
    """Name of an axis of `sweep.json`: its own, else its setting."""
    return str(axis.get("name") or axis["setting"])


def is_figure(name: str) -> bool:
    """True if some kind of run has such a figure."""
    return _row(name) is not None


def unit(name: str) -> str:
    """The unit of a figure, empty if it has none."""
    return (_row(name) or ("", ""))[0]


def meaning(name: str) -> str:
    """Description of a figure from the reference; empty for an unknown name."""
    return (_row(name) or ("", ""))[1]


def hint(name: str) -> str:
    """Suggestion for a name that is no figure's."""
    every = {
        full.replace("STEP", step)
        for figure in units()
        for op in ("read", "write", "trim", "flush")
        for step in ("after_ecc", "after_rereads", "after_stripe")
        if (full := figure.replace("OP", op))
    }
    near = difflib.get_close_matches(name, sorted(every), n=1, cutoff=0.6)
    return f'did you mean "{near[0]}"?' if near else "the reference lists every figure (docs/reference/metrics.md)"


def flat(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Figures of a summary by dotted name: numbers, texts, yes and no; of lists each entry."""
    values: dict[str, Any] = {}
    for name, value in summary.items():
        if name not in _ASIDE:
            add(values, name, value)
    if (worn := endurance.endurance_of(summary)) is not None:
        add(values, "endurance", worn.figures())
    return values


def of_run(job: Job, record: Record) -> dict[str, Any]:
    """Figures of a run. Its record leaves the scenario out of the summary, and some figures are made of both."""
    return flat(record["summary"] | {"scenario": job.scenario})


_SINGLE = frozenset((float, int, str, bool, type(None)))
"""Kinds of nearly all figures."""


class _NamesBelow(dict[str, str]):
    """Dotted names of what a table holds, by key: the same for each run of a sweep, and made once."""

    def __init__(self, table: str) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, key: str) -> str:
        name = self[key] = f"{self._table}.{key}"
        return name


@lru_cache(maxsize=4096)
def _names_below(table: str) -> _NamesBelow:
    return _NamesBelow(table)


def add(values: dict[str, Any], name: str, value: Any) -> None:
    """Adds to figures by dotted name what is below `name`."""
    if isinstance(value, (dict, Mapping)):
        names = _names_below(name)
        for key, part in value.items():
            if type(part) in _SINGLE:
                values[names[key]] = part
            else:
                add(values, names[key], part)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            if isinstance(part, (Mapping, int, float)):
                add(values, f"{name}[{index}]", part)
    else:
        values[name] = value


_NEEDS = (
    ("endurance.", "no run has both writes and a rating of its flash, device.defects.endurance or a chip"),
    ("latency_us.", "no run served such a request with time"),
    ("latency_causes.", "it needs run.causes = true, and requests of that kind"),
    ("write_amplification.", "the host wrote nothing in any run, or had no such part"),
    ("gc.write_amplification_interval", "the runs are too short for an interval"),
    ("gc.mean_valid", "no superblock was collected in any run"),
    ("array.", "no run has an array of which this is known"),
    ("repair", "no die was repaired in any run"),
    ("protection.", "no run has device.protection"),
    ("reliability.twin", "it needs run.twin = true"),
    ("reliability.exact", "no run has bit errors, which device.reliability makes"),
    ("reliability.rber", "no run has bit errors, which device.reliability makes"),
    ("queues", "no run has device.controller.queues and more than one queue in use"),
    ("queue.controller", "it needs run.utilisation = true, and a drive by itself"),
    ("queue.overload", "no run was overloaded"),
    ("host.jobs", "no run has a fio job"),
    ("host.failed", "no request failed in any run"),
    ("closed_form.", "the closed form holds for no run"),
    ("device.effective_spare_factor", "in every run, the remaining flash held less than the capacity"),
)
"""Reasons why no run may have a figure, by the beginning of its name; the first that fits counts."""


def why_absent(name: str, rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Reason why no run has a number for a figure; `None` if some run has one."""
    if any(number(row, name) is not None for row in rows):
        return None
    if all(row.get("error") for row in rows):
        return "every run failed"
    if any(isinstance(row.get(name), str) for row in rows):
        return "it is a text, not a number"
    if any(f"{name}[0]" in row for row in rows):
        return f"it is a list: {name}[0] is its first entry"
    return next((why for start, why in _NEEDS if name.startswith(start)), "it is null or missing in each of them")


def number(values: Mapping[str, Any], name: str) -> float | None:
    """A figure as a number, yes as 1; `None` where it is absent or a text."""
    value = values.get(name)
    return float(value) if isinstance(value, (int, float)) else None
