"""Laws that the result of every run keeps, whatever its settings. Each function is one, and yields what breaks it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from random_scenarios import layer
from random_scenarios.draw import Settings, at
from random_scenarios.generate import Case
from random_scenarios.handles import handles_add_up
from random_scenarios.run import Broken, Outcome, Ran, Summary
from random_scenarios.work import OPS, PARALLEL, bounded_work, kib

Law: TypeAlias = Callable[[Case, Summary], Iterator[str]]

SIGNED = (
    *("interval", "spare_factor", "log10", "temperature", "celsius", "trend", "difference", "relative_error"),
    "coalesced",
)
"""Parts of the names of figures that may be below zero: differences, logarithms, temperatures, and spare space beside
dead dies."""

REASONS = ("read_only", "medium_error", "aborted", "out_of_range")
PERCENTILES = ("p50", "p90", "p95", "p99", "p99_9", "p99_99", "p99_999")
HISTOGRAM_DIGITS = 3
"""Digits of the histograms of latencies."""
ROUNDING = 1e-9
"""Relative rounding error of sums of shares."""


def figures(tree: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every single figure with its dotted name."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from figures(value, f"{name}.{key}" if name else str(key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from figures(value, f"{name}[{index}]")
    else:
        yield name, tree


def numbers(summary: Summary) -> Iterator[tuple[str, float]]:
    """Every number of a result, without its settings."""
    for name, value in figures({key: value for key, value in summary.items() if key != "scenario"}):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name, value


def finite(case: Case, summary: Summary) -> Iterator[str]:
    """Every figure is a finite number, or absent."""
    yield from (f"{name} = {value}" for name, value in numbers(summary) if not math.isfinite(value))


def not_negative(case: Case, summary: Summary) -> Iterator[str]:
    """Counts, times, shares and write amplification are not below zero."""
    for name, value in numbers(summary):
        if value < 0 and not any(part in name for part in SIGNED):
            yield f"{name} = {value}"


def busy_at_most_always(case: Case, summary: Summary) -> Iterator[str]:
    """Law: no utilisation exceeds 1, nor a share of the time that dies work."""
    for name, value in numbers(summary):
        if ("utilisation" in name or "die_work" in name) and "space" not in name and value > 1 + ROUNDING:
            yield f"{name} = {value}"


def reads_by_cause(case: Case, summary: Summary) -> Iterator[str]:
    """Reads of all causes are the reads of the flash."""
    causes = summary["flash"]["by_cause"]
    total = sum(value for name, value in causes.items() if name.endswith("_reads") or name == "rereads")
    if total != summary["flash"]["reads"]:
        yield f"{total} reads by cause, {summary['flash']['reads']} in all"


def erases_by_mode(case: Case, summary: Summary) -> Iterator[str]:
    """Blocks erased that were of an SLC cache, and the others, are the erases of the flash."""
    if cache := summary.get("slc_cache"):
        total = cache["cache_erases"] + cache["native_erases"]
        if total != summary["flash"]["erases"]:
            yield f"{total} erases by mode, {summary['flash']['erases']} in all"


def programs_by_cause(case: Case, summary: Summary) -> Iterator[str]:
    """Pages programmed by all causes are those of the flash, give or take what is in buffers at both ends."""
    surplus = unprogrammed(summary)
    if case.timed and abs(surplus) > pages_in_buffers(case, summary):
        yield f"{surplus + summary['flash']['programs']} pages by cause, {summary['flash']['programs']} in all"


def unprogrammed(summary: Summary) -> float:
    """Pages that have a cause and were not programmed; below zero, those that were and have none."""
    return sum(programs(summary).values()) - float(summary["flash"]["programs"])


def programs(summary: Summary) -> dict[str, float]:
    """Pages by cause."""
    causes = summary["flash"]["by_cause"].items()
    return {name: pages for name, pages in causes if name.endswith("_programs") and name != "parity_programs"}


def codes_of(case: Case) -> list[Settings]:
    """Every code of the drive, classes and later ones included."""
    code = case.get("device.protection")
    return [own for own in (code, *code.get("codes", ()), *code.get("classes", ())) if "data" in own] if code else []


def program_unit(case: Case) -> int:
    """Pages that a lane programs at once, which hold whole mapping units (`Shape::of` in `crates/ftl/src/shape.rs`)."""
    planes: int = case.get("device.geometry.planes_per_die") if case.get("device.ftl.multi_plane", True) else 1
    unit = kib(case.get("device.ftl.mapping_unit", "4KiB")) // kib(case.get("device.geometry.page_size")) or 1
    return planes * math.lcm(unit // math.gcd(unit, planes), case.get("device.ftl.one_shot", 1))


def lanes(case: Case) -> int:
    """Dies, or planes where these are programmed one by one."""
    parts = PARALLEL[:-1] if case.get("device.ftl.multi_plane", True) else PARALLEL
    return math.prod(case.get(f"device.geometry.{part}") for part in parts)


def pages_in_buffers(case: Case, summary: Summary) -> float:
    """Pages at most that have a cause and are not programmed, or never will be.

    Data waits in the write buffer, and two program units for each lane are under way for internal tasks
    (`relocating_max` in `crates/controller/src/core/collection/tasks.rs`). Parity, lists and padding among that data
    take the share that they have in all that was programmed; more where a code that came later has more, and where the
    host's data, which fills the buffer and alone waits for time-outs, has more than collected data. They come in lumps,
    of a program unit for each lane of a superblock that is open. Program units that failed are counted, and so is what
    a loss of power took out of the buffer.
    """
    page = kib(case.get("device.geometry.page_size"))
    buffer = kib(case.get("device.controller.write_buffer", "16MiB")) / page
    unit = program_unit(case)
    row = unit * lanes(case)
    parts = programs(summary)
    data = sum(pages for name, pages in parts.items() if name.removesuffix("_programs") not in OVERHEAD)
    block = case.get("device.protection.block")
    codes = [{"block": block, **own} for own in (*case.get("changes", ()), *codes_of(case)) if "data" in own]
    later = [(1 + own["parity"] / own["data"]) * (1 + 1 / own["block"] if own["block"] else 1) for own in codes]
    host = parts["host_programs"]
    ends = parts["host_parity_programs"] + parts["padding_programs"] + parts["partial_parity_programs"]
    of_host = 1 + ends / host + parts["lists_programs"] / data if host else 1.0
    share = max(sum(parts.values()) / data if data else 1.0, of_host, *later, 1.0)
    opened = 2 * layer.streams(case.get("device")) * max(1, len(case.get("device.protection.classes", ())))
    cuts = sum(fault["kind"] == "power" for fault in case.get("faults", ()))
    members: int = case.get("array.members", 1) + case.get("array.spares", 0)
    failed: int = at(summary, "reliability.program_failures", 0)
    return float(members * ((buffer + 2 * row) * share * (1 + cuts) + opened * row) + failed * unit)


OVERHEAD = (
    *("padding", "partial_parity", "lists", "map", "map_parity"),
    *(f"{cause}_parity" for cause in ("host", "gc", "wear_leveling", "scrub")),
)


def amplification_adds_up(case: Case, summary: Summary) -> Iterator[str]:
    """Write amplification is one and what each cause adds."""
    parts = summary["write_amplification"]
    if not case.timed or parts is None or parts["total"] is None:
        return
    own = {name: value for name, value in parts.items() if name not in ("total", "parity", "by_core")}
    total = 1 + sum(value for value in own.values() if isinstance(value, (int, float)))
    if abs(total - parts["total"]) > ROUNDING * max(1.0, total):
        yield f"1 + causes = {total}, total = {parts['total']}"


def amplification_at_least_one(case: Case, summary: Summary) -> Iterator[str]:
    """No fewer bytes are programmed than the host wrote, unless some never left the buffer; arrays take none away."""
    parts = summary["write_amplification"]
    if parts is None or parts["total"] is None or case.get("device.controller.coalesce"):
        return
    if parts["total"] < 1 - ROUNDING:
        yield f"total = {parts['total']}"
    if parts.get("array", 0.0) is not None and parts.get("array", 0.0) < -ROUNDING:
        yield f"array = {parts['array']}"


def littles_law(case: Case, summary: Summary) -> Iterator[str]:
    """The mean number in flight is the rate times the mean latency."""
    law = at(summary, "queue.littles_law")
    if case.timed and law and law["relative_error"] and abs(law["relative_error"]) > 1e-6:
        yield f"{law}"


def causes_sum_to_latency(case: Case, summary: Summary) -> Iterator[str]:
    """Law: the parts of a latency sum to its mean, of which the histogram knows three digits."""
    digits = 10.0 ** (1 - HISTOGRAM_DIGITS)
    for op, own in (summary.get("latency_causes") or {}).items():
        latency = summary["latency_us"].get(op) if op in OPS else None
        if not own or not latency:
            continue
        total, mean = sum(own["mean_ns"].values()), 1000 * latency["mean"]
        if own["count"] != latency["count"]:
            yield f"{op}: causes of {own['count']} requests, latencies of {latency['count']}"
        elif abs(total - mean) > max(digits * mean, 1.0):
            yield f"{op}: causes sum to {total} ns, the mean is {mean} ns"


def requests_complete(case: Case, summary: Summary) -> Iterator[str]:
    """Law: served and failed requests add up to those submitted; every failure has an operation and a reason."""
    host = summary["host"]
    failed = {name: count for name, count in host.get("failed", {}).items() if count}
    for part in (OPS.values(), REASONS):
        if sum(failed.get(name, 0) for name in part) != host["errors"]:
            yield f"{host['errors']} requests failed, of which these are told: {failed}"
    for op, name in OPS.items():
        latency = summary["latency_us"].get(op)
        if case.timed and (latency["count"] if latency else 0) != host[name]:
            yield f"{op}: {host[name]} completed, latencies of {latency and latency['count']}"
    if case.requests is None or summary["partial"] or case.get("run.warm_up", "0s") != "0s":
        return
    completed = sum(host[name] for name in OPS.values()) + host["errors"]
    ends_early = host["errors"] > 0 and not case.timed
    cut_off = "array" in case.settings and any(fault["kind"] == "power" for fault in case.get("faults", ()))
    if completed > case.requests or (completed < case.requests and not ends_early and not cut_off):
        yield f"{completed} of {case.requests} requests completed, {host['errors']} of them failed"


def wear_in_order(case: Case, summary: Summary) -> Iterator[str]:
    """The least worn block is below the mean, and the mean below the most worn."""
    wear = summary["wear"]
    if not wear["min_pe"] <= wear["mean_pe"] * (1 + ROUNDING) <= wear["max_pe"] * (1 + 2 * ROUNDING):
        yield f"min {wear['min_pe']}, mean {wear['mean_pe']}, max {wear['max_pe']}"


def latencies_in_order(case: Case, summary: Summary) -> Iterator[str]:
    """Percentiles rise, from the least latency to the greatest, and the mean lies between these."""
    digits = 2 * 10.0**-HISTOGRAM_DIGITS
    for op in OPS:
        own = summary["latency_us"].get(op)
        if not own:
            continue
        order = [own["min"], *(own[name] for name in PERCENTILES if own.get(name) is not None), own["max"]]
        if any(later < earlier * (1 - digits) - 1e-3 for earlier, later in pairwise(order)):
            yield f"{op}: {order}"
        if not own["min"] * (1 - digits) - 1e-3 <= own["mean"] <= own["max"] * (1 + digits) + 1e-3:
            yield f"{op}: mean {own['mean']} of {own['min']} to {own['max']}"


def no_doubt_in_notes(case: Case, summary: Summary) -> Iterator[str]:
    """No note says that figures disagree."""
    for note in summary["notes"]:
        if any(word in note.lower() for word in ("little's law", "disagree", "does not add")):
            yield note


LAWS: tuple[Law, ...] = (
    *(finite, not_negative, busy_at_most_always, reads_by_cause, programs_by_cause, amplification_adds_up),
    *(amplification_at_least_one, littles_law, causes_sum_to_latency, requests_complete, wear_in_order),
    *(latencies_in_order, no_doubt_in_notes, bounded_work, handles_add_up, erases_by_mode),
)


def refusal(message: str) -> Iterator[str]:
    """A scenario that cannot run is refused in one line that names what cannot work, its value and the limit."""
    if "\n" in message.strip():
        yield f"more than one line: {message!r}"
    if not any(named in message for named in (" = ", "line ", " is missing")):
        yield f"names no setting: {message!r}"


def broken(case: Case, outcome: Outcome) -> list[str]:
    """Broken laws of an outcome, each with the figures that break it."""
    if isinstance(outcome, Broken):
        return [f"crash: {outcome.message}"]
    if not isinstance(outcome, Ran):
        return [f"refusal: {own}" for own in refusal(outcome.message)]
    return [f"{law.__name__}: {own}" for law in LAWS for own in law(case, outcome.summary)]
