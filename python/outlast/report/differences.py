"""Title and sentences of a comparison, chosen by the largest differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from outlast.report.names import figure_of, terabytes
from outlast.report.numbers import micros, seconds, short, signed, size, text, tiny

if TYPE_CHECKING:
    from outlast.result import Result

TELLING: tuple[tuple[str, tuple[str, ...], Callable[[Any], str]], ...] = (
    ("Requests per second", ("throughput", "iops"), short),
    ("Write amplification", ("write_amplification", "total"), lambda value: short(value, 4)),
    ("The 99th percentile of reads", ("latency_us", "read", "p99"), micros),
    ("The 99th percentile of writes", ("latency_us", "write", "p99"), micros),
    ("The mean latency of reads", ("latency_us", "read", "mean"), micros),
    ("The mean latency of writes", ("latency_us", "write", "mean"), micros),
    ("Re-reads per read", ("reliability", "rereads_per_read"), short),
    ("The mean number of P/E cycles", ("wear", "mean_pe"), short),
    ("TBW", ("endurance", "tbw_bytes"), terabytes),
)
"""Figures that a title or sentence may name: in runs of usual length their differences exceed noise."""
WORTH_SAYING = 1.05
"""Ratios below this are left to the table: runs that differ by their requests alone differ by a few per cent."""
MOST = 5

LEAST = 0.0005
"""A relative change below this reads as no change at all."""


def change(name: str, first: tuple[Any, dict[str, Any]], other: tuple[Any, dict[str, Any]]) -> str:
    """Change of a figure from the first result's, each a value and its summary; empty if no change can be stated.

    A change that the confidence intervals of both runs do not tell from chance is said to be within them.
    """
    (value, summary), (further, against) = first, other
    if not isinstance(value, int | float) or not isinstance(further, int | float) or isinstance(value, bool):
        return ""
    if value == further:
        return "the same"
    if name.startswith("array.data_loss.") and _rebuild_source(summary) != _rebuild_source(against):
        # The time of a rebuild is measured in one run, and assumed in the other.
        return "not comparable"
    if name.endswith("log10_uber"):
        return f"× {tiny(None, further - value)}"
    if not value:
        return ""
    change_text = signed(further / value - 1)
    return (
        f"{change_text}, within error"
        if change_text != "the same" and _overlap(name, summary, against)
        else change_text
    )


def _rebuild_source(summary: dict[str, Any]) -> Any:
    return figure_of(summary, "array.data_loss.repair_measured")


def _overlap(name: str, *summaries: dict[str, Any]) -> bool:
    """True if both runs have a confidence interval of the figure, and these overlap."""
    if name == "write_amplification.total":
        where = "gc.write_amplification_interval"
    elif name.endswith(".mean") and name.startswith("latency_us."):
        where = f"{name}_interval"
    else:
        return False
    one, two = (figure_of(summary, where) for summary in summaries)
    return bool(one and two and one["low"] <= two["high"] and two["low"] <= one["high"])


Difference = tuple[float, str, str, str, str, str]
"""Ratio, what it is of, least value and whose, greatest value and whose."""


def _at(summary: dict[str, Any], path: tuple[str, ...]) -> float | None:
    value = figure_of(summary, ".".join(path))
    return float(value) if isinstance(value, int | float) and value > 0 and math.isfinite(value) else None


def differences(results: Sequence[Result], names: Sequence[str]) -> list[Difference]:
    """The figures that all results have, the most different first."""
    found = []
    for label, path, shown in TELLING:
        values = [_at(result.summary, path) for result in results]
        known = [(value, name) for value, name in zip(values, names, strict=True) if value is not None]
        if len(known) < len(values):
            continue
        (low, least), (high, most) = min(known), max(known)
        found.append((high / low, label, shown(low), least, shown(high), most))
    return sorted(found, key=lambda each: -each[0])


def _repairs(results: Sequence[Result], names: Sequence[str]) -> list[tuple[float, str, dict[str, Any]]]:
    """The time of repair, name and repair of each result, the quickest first; none unless all repaired one thing."""
    sizes = []
    for result, name in zip(results, names, strict=True):
        repairs = list(result.summary.get("repair") or ())
        if len(repairs) != 1 or repairs[0]["finished_s"] is None:
            return []
        sized = repairs[0].get("scaled") or repairs[0]
        sizes.append((float(sized["total_s"]), name, repairs[0] | sized))
    return sorted(sizes, key=lambda each: each[0])


def title(results: Sequence[Result], names: Sequence[str]) -> str:
    """Names of the compared results, and the greatest difference."""
    if (repairs := _repairs(results, names)) and repairs[-1][0] > WORTH_SAYING * repairs[0][0]:
        (quick, first, _), (slow, last, _) = repairs[0], repairs[-1]
        return f"{first} repairs in {seconds(quick)} what {last} repairs in {seconds(slow)}"
    compared = " against ".join(names) if len(names) == 2 else f"{len(names)} results"
    if not (found := differences(results, names)):
        return compared
    ratio, label, low, least, high, most = found[0]
    if ratio < WORTH_SAYING:
        return f"{compared}: no figure differs by more than {max(math.ceil(100 * (ratio - 1)), 1)} %"
    return f"{compared}: {_inside(label)} {low} with {least}, {high} with {most}"


def _inside(label: str) -> str:
    """A label within a sentence: "mean latency", but "TBW"."""
    return label if label[1:2].isupper() else label[0].lower() + label[1:]


def sentences(results: Sequence[Result], names: Sequence[str]) -> list[str]:
    """Three to five sentences with numbers, as HTML; fewer where less differs."""
    parts = []
    if repairs := _repairs(results, names):
        (_, first, quick), (_, last, slow) = repairs[0], repairs[-1]
        each = ", ".join(f"<b>{seconds(took)}</b> with {text(name)}" for took, name, _ in repairs)
        parts.append(f"The repair of the failed die took {each}.")
        parts.append(
            f"For that {text(first)} wrote <b>{size(quick['bytes_written'])}</b>, {text(last)} "
            f"<b>{size(slow['bytes_written'])}</b>."
        )
        if quick.get("risk") and slow.get("risk"):
            chances = (tiny(repair["risk"]["second_failure"]) for repair in (quick, slow))
            low, high = chances
            parts.append(
                f"A second failure in that time has a probability of <b>{low}</b> with {text(first)}, of "
                f"<b>{high}</b> with {text(last)}."
            )
        lost = sum(repair["lost_bytes"] for _, _, repair in repairs)
        parts.append(f"{size(lost)} were lost for good." if lost else "No byte was lost in any of them.")
    found = differences(results, names)
    for ratio, label, low, least, high, most in found:
        if ratio >= WORTH_SAYING and len(parts) < MOST:
            parts.append(
                f"{label}: <b>{low}</b> with {text(least)}, <b>{high}</b> with {text(most)} ({short(ratio)} times)."
            )
    alike = [_inside(label) for ratio, label, *_ in found if ratio < WORTH_SAYING]
    if alike and len(parts) < MOST:
        allowed = f"{100 * (WORTH_SAYING - 1):.0f} %"
        parts.append(f"Within {allowed} of each other: {', '.join(alike)}.")
    return parts


def differences_list(results: Sequence[Result], names: Sequence[str]) -> str:
    """The sentences as a list."""
    items = "".join(f"<li>{sentence}</li>" for sentence in sentences(results, names))
    return f'<ul class="found">{items}</ul>' if items else ""
