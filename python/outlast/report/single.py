"""The report of one result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from outlast.report import array, errors, findings, jobs, latency, protection, queueing, repair, timeline, wear
from outlast.report.figure import amplification_by_cause
from outlast.report.numbers import Floats, micros, plain, seconds, share, short, size, text, thinned
from outlast.report.page import Section, Tile, document, sparkline

if TYPE_CHECKING:
    from outlast.result import Result

Series = dict[str, Floats]


def page(results: Sequence[Result]) -> str:
    """The whole page."""
    (result,) = results
    summary = result.summary
    rows = dict(result.tables.get("timeseries", {}))
    series = thinned(rows) if rows and len(rows["start_s"]) else None
    sections = [
        _latency(result),
        _jobs(summary),
        _over_time(series, len(rows.get("start_s", ()))),
        _amplification(result, series),
        protection.section(summary),
        _errors(result, series),
        _array(result),
        repair.section(result),
        _wear(result),
        _queueing(summary, series),
        _scenario(result),
    ]
    title = f"{summary['name']} · Outlast"
    return document(title, _header(summary, series), sections, _footer(summary))


def badges(summary: dict[str, Any]) -> str:
    """What a reader must know before believing a figure."""
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
        marks.append(f'<span class="badge bad">{short(summary["host"]["errors"])} requests failed</span>')
    return "".join(marks)


def _header(summary: dict[str, Any], series: Series | None) -> str:
    device = summary["device"]
    about = f"{text(device['model'])} · {size(device['capacity_bytes'])} · {text(findings.workload(summary))}"
    description = summary["scenario"].get("description")
    more = f'<p class="description">{text(description)}</p>' if description else ""
    tiles = "".join(tile.html() for tile in _tiles(summary, series))
    return (
        f'<div class="mark">Outlast</div><h1>{text(summary["name"])}</h1><p class="about">{about}</p>{more}'
        f'<p class="badges">{badges(summary)}</p><div class="tiles">{tiles}</div>'
    )


def _tiles(summary: dict[str, Any], series: Series | None) -> list[Tile]:
    rate, wa = summary["throughput"], summary["write_amplification"]
    read, write = summary["latency_us"]["read"], summary["latency_us"]["write"]
    curves: dict[str, list[float | None]] = {}
    if series is not None:
        span = series["end_s"] - series["start_s"]
        curves["iops"] = plain(share(series["reads"] + series["writes"], span))
        host = series["write_mib"]
        curves["wa"] = plain(np.where(host >= 0.02 * host.max(), series["write_amplification"], np.nan))
        for op in ("read", "write"):
            curves[op] = plain(np.where(series[f"{op}s"] > 0, series[f"{op}_p99_us"], np.nan))

    def spark(name: str) -> str:
        return sparkline(curves.get(name, []))

    note = f"{short(rate['read_iops'])} reads, {short(rate['write_iops'])} writes a second"
    tiles = [Tile("IOPS", short(rate["iops"]), note, spark("iops"))] if rate["iops"] is not None else []
    for op, figures in (("read", read), ("write", write)):
        if figures:
            note = f"median {micros(figures['p50'])}, worst {micros(figures['max'])}"
            tiles.append(Tile(f"{op} latency, 99 %", micros(figures["p99"]), note, spark(op)))
    if rate["iops"] is not None:
        mib = f"{short(rate['read_mib_s'])} + {short(rate['write_mib_s'])}"
        tiles.append(Tile("MiB/s read + write", mib, f"over {seconds(summary['time']['simulated_s'])} simulated"))
    if wa["total"] is not None:
        formula = summary["closed_form"]["greedy_waf"]
        without = " without parity" if amplification_by_cause(wa)["parity"] else ""
        collected = f"of it {wa['gc']:.3f} garbage collection"
        note = f"closed form{without} {formula:.3f}" if formula is not None else collected
        tiles.append(Tile("write amplification", f"{wa['total']:.3f}", note, spark("wa")))
    cycles = summary["wear"]
    if cycles["mean_pe"] is not None:
        note = f"{short(cycles['min_pe'])} to {short(cycles['max_pe'])} over the blocks"
        tiles.append(Tile("cycles, mean", short(cycles["mean_pe"]), note))
    return tiles


def _latency(result: Result) -> Section:
    section = Section("latency", "Latency", findings.latency(result.summary), columns="narrow-wide")
    section.add(latency.percentile_table(result.summary))
    section.add(latency.distribution(dict(result.tables.get("latency", {}))))
    return section


def _jobs(summary: dict[str, Any]) -> Section:
    section = Section("jobs", "Jobs", columns="one")
    if table := jobs.job_table(summary):
        section.add(table)
    return section


def _over_time(series: Series | None, windows: int) -> Section:
    section = Section("time", "Over time")
    if series is not None and len(series["start_s"]) > 1:
        section.add(timeline.throughput(series)).add(timeline.bandwidth(series))
        section.add(timeline.latency_over_time(series, joined=windows > len(series["start_s"]) + 1))
        section.columns = "lead"
    return section


def _amplification(result: Result, series: Series | None) -> Section:
    summary = result.summary
    section = Section("amplification", "Write amplification", findings.amplification(summary), columns="wide-narrow")
    if series is not None and len(series["start_s"]) > 1:
        formula = summary["closed_form"]["greedy_waf"]
        section.add(
            timeline.amplification(series, summary["device"]["mapping_unit"], formula, array="array" in summary)
        )
    formula = summary["closed_form"].get("precondition_waf")
    facts = summary["steady_state"]["precondition"]
    rounds, parity = dict(result.tables.get("precondition", {})), bool(summary["scenario"]["device"].get("protection"))
    return section.add(timeline.preconditioning(rounds, facts, formula, parity=parity))


def _errors(result: Result, series: Series | None) -> Section:
    summary, section = result.summary, Section("errors", "Errors and what was done about them")
    if not errors.can_fail(summary):
        return section
    section.finding = findings.errors(summary)
    strength, _ = errors.ecc(summary)
    if series is not None and len(series["start_s"]) > 1:
        section.add(errors.rates(series))
    section.add(errors.wrong_bits(dict(result.tables.get("errors", {})), strength))
    if series is not None and len(series["start_s"]) > 1:
        section.add(errors.again(series))
    if exact := summary["reliability"]["exact"]:
        section.add(errors.tails([(summary["name"], "var:--read", exact)]))
    moved = dict(result.tables.get("decisions", {}))
    section.add(errors.decisions(moved, "valid_units", None)).add(errors.decisions(moved, "expected_errors", strength))
    return section.add(errors.beside_twin(summary))


def _array(result: Result) -> Section:
    figures, section = result.summary.get("array"), Section("array", "Array", columns="wide-narrow")
    if figures is None:
        return section
    section.finding = array.finding(figures)
    section.add(array.states(dict(result.tables.get("array_states", {})))).add(array.members(figures))
    section.add(array.latencies(figures))
    return section.add(array.member_table(figures)).add(array.events(dict(result.tables.get("array_events", {}))))


def _wear(result: Result) -> Section:
    section = Section("wear", "Wear", findings.wear(result.summary), columns="wide-narrow")
    table = dict(result.tables.get("wear", {}))
    return section.add(wear.heat_map(table)).add(wear.histogram(table))


def _queueing(summary: dict[str, Any], series: Series | None) -> Section:
    queue = summary["queue"]
    section = Section("queueing", "Queueing", columns="wide-narrow")
    if series is not None and len(series["start_s"]) > 1 and queue["mean_in_flight"]:
        section.add(queueing.in_flight(series))
    section.add(queueing.utilisation(queue))
    law = queueing.littles_law(queue)
    if section.cards and law:
        section.finding = law.removeprefix('<p class="law">').removesuffix("</p>")
    return section


def _scenario(result: Result) -> Section:
    summary = result.summary
    notes = "".join(f"<li>{text(note)}</li>" for note in summary["notes"])
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
