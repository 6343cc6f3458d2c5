"""The report of one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from outlast.report import (
    array,
    causes,
    closed,
    collection,
    conditions,
    dies,
    endurance,
    errors,
    findings,
    found,
    jobs,
    latency,
    load,
    mechanisms,
    placement,
    protection,
    queueing,
    repair,
    served,
    sheet,
    states,
    timeline,
    wear,
    writes,
)
from outlast.report.figure import Figure
from outlast.report.names import label, tips
from outlast.report.numbers import prose, short, size, text
from outlast.report.page import Section, document
from outlast.report.tiles import MOST_WINDOWS, Series, series_of, tiles

if TYPE_CHECKING:
    from outlast.result import Result


def page(results: Sequence[Result]) -> str:
    """The whole page."""
    (result,) = results
    summary = result.summary
    title = found.title(summary)
    return document(f"{title} · Outlast", _header(result, title), sections(result), _footer(summary))


def sections(result: Result) -> list[Section]:
    """The parts of the page, that which answers the scenario's question first; without anything to show, empty."""
    summary, series = result.summary, series_of(result, MOST_WINDOWS)
    parts = [
        _latency(result),
        _causes(summary),
        _why(summary),
        _jobs(summary),
        load.section(summary, series),
        _over_time(result, series),
        _amplification(result, series),
        collection.section(dict(result.tables.get("superblocks_over_time", {}))),
        placement.section(summary, dict(result.tables.get("placement_over_time", {}))),
        *mechanisms.sections(result, series),
        protection.section(summary),
        _errors(result, series),
        _array(result, series),
        repair.section(result),
        _dies(result),
        _wear(result),
        _queueing(result, series),
        _closed(summary),
        _scenario(result),
    ]
    first = found.question(summary)
    for part in parts:
        if part.name == first and first in ("latency", "errors", "array"):
            part.finding = ""  # it stands above already
    return sorted(parts, key=lambda part: part.name != first)


def badges(summary: dict[str, Any]) -> str:
    """Badges with caveats that a reader must see before the figures."""
    marks = []
    if summary["partial"]:
        marks.append('<span class="badge bad">partial: the run was stopped early</span>')
    measured = summary["steady_state"]["measured"]
    level, words = {
        True: ("good", "steady state"),
        False: ("warn", "not in steady state"),
        None: ("plain", "steady state not judged"),
    }[measured["reached"]]
    marks.append(f'<span class="badge {level}" title="{text(measured.get("why") or "")}">{words}</span>')
    if summary["steady_state"]["precondition"]["reached"] is False:
        marks.append('<span class="badge warn">not steady when preconditioning ended</span>')
    if summary["queue"].get("overload"):
        marks.append('<span class="badge bad">overload: more was asked for than was served</span>')
    if summary["host"]["errors"]:
        marks.append(f'<span class="badge bad">{short(summary["host"]["errors"])} requests not served</span>')
    if served.is_read_only(summary):
        marks.append('<span class="badge bad">read-only at the end</span>')
    return "".join(marks)


def _header(result: Result, title: str) -> str:
    summary = result.summary
    description = summary["scenario"].get("description")
    more = f'<p class="description">{text(description)}</p>' if description else ""
    return (
        f'<div class="mark">Outlast</div><h1>{text(title)}</h1><p class="about">{about(summary)}</p>{more}'
        f'{found.listed(summary)}<p class="badges">{badges(summary)}</p><div class="tiles">{tiles(result)}</div>'
    )


def about(summary: dict[str, Any]) -> str:
    """Drive model, capacity and workload, in a line."""
    device = summary["device"]
    return f"{text(device['model'])} · {size(device['capacity_bytes'])} · {text(findings.workload(summary))}"


def _why(summary: dict[str, Any]) -> Section:
    """Sentences on the drive's limit; empty for a result of an earlier version that lacks figures."""
    from outlast.why.explanation import of_summary

    section = Section("why", "What limits the drive", columns="one")
    try:
        explained = of_summary(summary)
    except KeyError:
        return section
    items = "".join(
        f"<li>{label(prose(sentence.text), tips(*sentence.figures))}</li>" for sentence in explained.sentences
    )
    return section.add(f'<div class="card notes"><ol>{items}</ol></div>')


def _latency(result: Result) -> Section:
    section = Section("latency", "Latency", findings.latency(result.summary), columns="wide-narrow")
    section.add(latency.distribution(dict(result.tables.get("latency", {}))))
    section.add(latency.percentile_table(result.summary))
    return section


def _causes(summary: dict[str, Any]) -> Section:
    by_op, section = summary.get("latency_causes"), Section("causes", "Where the time goes")
    if by_op is None:
        return section
    section.finding = causes.finding(by_op)
    for op in causes.OPS:
        section.add(causes.stacked(by_op, op))
    return section


def _jobs(summary: dict[str, Any]) -> Section:
    return Section("jobs", "Jobs", columns="one").add(jobs.job_table(summary))


def _over_time(result: Result, series: Series | None) -> Section:
    """Rates and latencies, the latter first where the load changes; an array that was degraded has them in its part."""
    section = Section("time", "Over time", columns="lead")
    if series is None or len(series["start_s"]) < 2:
        return section
    own = None if _latency_is_of_array(result) else _latency_over_time(result, series)
    rates = [timeline.throughput(series), timeline.bandwidth(series)]
    for chart in (own, *rates) if found.question(result.summary) == "time" else (*rates, own):
        section.add(chart)
    for chart in conditions.charts(result):
        section.add(chart)
    return section


def _latency_over_time(result: Result, series: Series) -> Figure | None:
    joined = len(result.tables["timeseries"]["start_s"]) > len(series["start_s"]) + 1
    if _latency_is_of_array(result):
        spans = array.unclean(dict(result.tables["array_states"]))
        return timeline.latency_over_time(series, joined=joined, spans=spans, shades=array.SHADES)
    return timeline.latency_over_time(series, joined=joined)


def _latency_is_of_array(result: Result) -> bool:
    """True if latency over time shows the cost of a degraded array; repairs have a chart of their own for it."""
    return found.question(result.summary) == "array" and bool(
        array.unclean(dict(result.tables.get("array_states", {})))
    )


def _amplification(result: Result, series: Series | None) -> Section:
    summary = result.summary
    section = Section("amplification", "Write amplification", findings.amplification(summary), columns="wide-narrow")
    if series is not None and len(series["start_s"]) > 1:
        formula = summary["closed_form"]["greedy_waf"]
        unit, coalesces = summary["device"]["mapping_unit"], "coalesced" in summary["write_amplification"]
        section.add(timeline.amplification(series, unit, formula, array="array" in summary, coalesces=coalesces))
    formula = summary["closed_form"].get("precondition_waf")
    facts = summary["steady_state"]["precondition"]
    rounds, parity = dict(result.tables.get("precondition", {})), bool(summary["scenario"]["device"].get("protection"))
    section.add(timeline.preconditioning(rounds, facts, formula, parity=parity))
    section.add(writes.by_cause([("measured", summary)], "writes")).add(writes.table(summary))
    moved = dict(result.tables.get("victims", {}))
    return section.add(states.victims(moved)).add(states.victim_table(moved))


def _errors(result: Result, series: Series | None) -> Section:
    summary, section = result.summary, Section("errors", "Errors and recovery")
    if not errors.can_fail(summary):
        return section
    section.finding = findings.errors(summary)
    strength, _ = errors.ecc(summary)
    if exact := summary["reliability"]["exact"]:
        section.add(errors.tails([(summary["name"], "var:--read", exact)]))
    section.add(errors.beside_twin(summary))
    if series is not None and len(series["start_s"]) > 1:
        section.add(errors.rates(series))
    section.add(errors.wrong_bits(dict(result.tables.get("errors", {})), strength))
    if series is not None and len(series["start_s"]) > 1:
        section.add(errors.again(series))
    moved = dict(result.tables.get("decisions", {}))
    section.add(errors.decisions(moved, "valid_units", None))
    return section.add(errors.decisions(moved, "expected_errors", strength))


def _array(result: Result, series: Series | None) -> Section:
    figures, section = result.summary.get("array"), Section("array", "Array", columns="wide-narrow")
    if figures is None:
        return section
    section.finding = array.finding(result.summary)
    if series is not None and len(series["start_s"]) > 1 and _latency_is_of_array(result):
        chart = _latency_over_time(result, series)
        section.add(None if chart is None else replace(chart, whole=True))
    section.add(array.states(dict(result.tables.get("array_states", {})))).add(array.members(figures))
    section.add(array.latencies(figures)).add(array.member_table(figures))
    return section.add(array.events(dict(result.tables.get("array_events", {}))))


def _dies(result: Result) -> Section:
    """Charts of work and wear by die, and of both over time."""
    section = Section("dies", "Dies and channels")
    over_time = dict(result.tables.get("dies_over_time", {}))
    section.add(dies.busy(over_time) or dies.busy_all_along(result.summary["queue"]))
    section.add(dies.cycles(dict(result.tables.get("wear", {})), dies.failed(result.summary)))
    section.add(queueing.utilisation(result.summary["queue"]))
    section.add(states.busy_map(dict(result.tables.get("channels_over_time", {})), "channel", "channels"))
    if (chart := states.busy_map(over_time, "die", "dies")) is not None:
        section.add(replace(chart, whole=True))
    if section.cards and not over_time:
        section.finding = "<code>run.utilisation = true</code> shows when each die was busy."
    return section


def _wear(result: Result) -> Section:
    text_of_wear = " ".join(
        part for part in (findings.wear(result.summary), endurance.sentence(result.summary)) if part
    )
    section = Section("wear", "Wear and endurance", text_of_wear, columns="wide-narrow")
    table = dict(result.tables.get("wear", {}))
    section.add(endurance.table(result.summary)).add(wear.heat_map(table)).add(wear.histogram(table))
    section.columns = "lead" if endurance.table(result.summary) else section.columns
    valid, cycles = (dict(result.tables.get(f"{name}_over_time", {})) for name in ("valid", "cycles"))
    title = "Filled superblocks by valid units"
    section.add(states.histogram_map(valid, "superblocks", "valid units", title, share=True))
    return section.add(states.histogram_map(cycles, "blocks", "cycles", "Blocks by P/E cycles", share=False))


def _queueing(result: Result, series: Series | None) -> Section:
    summary, queue = result.summary, result.summary["queue"]
    section = Section("queueing", "Queueing", columns="wide-narrow")
    if series is not None and len(series["start_s"]) > 1 and queue["mean_in_flight"]:
        section.add(queueing.in_flight(series))
    section.add(queueing.queue_table(summary))
    law = queueing.littles_law(queue)
    if section.cards and law:
        section.finding = law.removeprefix('<p class="law">').removesuffix("</p>")
    return section


def _closed(summary: dict[str, Any]) -> Section:
    section = Section("closed", "Theory and data sheet", columns="one")
    return section.add(closed.table(summary)).add(sheet.table(summary))


def _scenario(result: Result) -> Section:
    summary = result.summary
    notes = "".join(f"<li>{prose(note)}</li>" for note in [*summary["notes"], *summary.get("beyond_range", [])])
    toml = text(result.scenario_toml or "not kept beside this result")
    section = Section("scenario", "Scenario and cost of the run", columns="one")
    if notes:
        section.add(f'<div class="card notes"><h3>Notes</h3><ul>{notes}</ul></div>')
    section.add(findings.facts(summary))
    section.add(
        '<details class="card"><summary>The whole scenario: <code>outlast run scenario.toml</code> gives this result '
        f"again</summary><pre>{toml}</pre></details>"
    )
    return section


def _footer(summary: dict[str, Any]) -> str:
    version, seed = text(summary["version"]), summary["seed"]
    return f"Outlast {version} · seed {seed} · simulated, not measured on hardware"
