"""The report that lays several results beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlast.differences import of_runs
from outlast.report import causes, closed, differences, errors, latency, names, repair, sheet, timeline, writes
from outlast.report.figure import RUN_COLOURS, Figure, axis, latency_axis, line
from outlast.report.labels import labels, numbered
from outlast.report.labels import written as as_set
from outlast.report.numbers import counted, plain, share, text, thinned
from outlast.report.page import Section, document
from outlast.report.tables import rows_card

if TYPE_CHECKING:
    from outlast.result import Result

__all__ = ["headline", "labels", "numbered", "page", "sections", "shown_rows"]

MOST_SETTINGS = 12
"""Differing settings shown before the reader unfolds the others: runs of two presets differ in most settings."""
ROWS = (
    "host.errors",
    "smart.read_only",
    "throughput.iops",
    "throughput.read_mib_s",
    "throughput.write_mib_s",
    *(f"latency_us.{op}.{key}" for op in ("read", "write") for key in ("mean", "p50", "p99", "p99_99")),
    "write_amplification.total",
    "closed_form.greedy_waf",
    "endurance.tbw_bytes",
    "endurance.dwpd",
    "reliability.rereads_per_read",
    "reliability.exact.after_ecc.log10_uber",
    "reliability.exact.after_rereads.log10_uber",
    "reliability.exact.after_stripe.log10_uber",
    "reliability.medium_errors",
    "reliability.scrubbed.superblocks",
    "reliability.twin.read_mean_ratio",
    "array.data_loss.per_year",
    "wear.mean_pe",
    "wear.max_pe",
    "queue.mean_in_flight",
)
"""Figures of the table, in its order; those that no result has are left out."""


def shown_rows(summaries: Sequence[dict[str, Any]]) -> list[str]:
    """The figures of the table that there are; of errors, those that any of the results has met."""
    shown = []
    anything_fails = any(errors.can_fail(summary) for summary in summaries)
    for name in ROWS:
        values = [names.figure_of(summary, name) for summary in summaries]
        of_errors = name.startswith("reliability.")
        there = any(value is not None for value in values)
        if name in ("host.errors", "smart.read_only") and not any(values):
            continue
        if there and (not of_errors or (anything_fails and any(values))):
            shown.append(name)
    return shown


def page(results: Sequence[Result]) -> str:
    """The whole page."""
    names_of_results = labels(results)
    title = differences.title(results, names_of_results)
    header = (
        f'<div class="mark">Outlast</div><h1>{text(title)}</h1>'
        f'<p class="about">{_those(names_of_results)}. '
        f"The others are compared with the first, <b>{text(names_of_results[0])}</b>.</p>"
        f"{differences.differences_list(results, names_of_results)}"
    )
    versions = sorted({str(result.summary["version"]) for result in results})
    return document(f"{title} · Outlast", header, sections(results), f"Outlast {text(', '.join(versions))}")


def _those(names_of_results: Sequence[str]) -> str:
    return f"{len(names_of_results)} results: {', '.join(text(name) for name in names_of_results)}"


Runs = list[tuple["Result", str, str]]


def _runs(results: Sequence[Result]) -> Runs:
    colours = [RUN_COLOURS[index % len(RUN_COLOURS)] for index in range(len(results))]
    return list(zip(results, labels(results), colours, strict=True))


def sections(results: Sequence[Result]) -> list[Section]:
    """The parts of the page; those that have nothing to show are empty."""
    runs = _runs(results)
    return [
        _settings(runs),
        repair.side_by_side(runs),
        Section("headline", "Side by side").add(headline(results)),
        _distributions(runs),
        _causes(runs),
        _over_time(runs),
        _amplification(runs),
        _errors(runs),
        _theory(runs),
        _scenarios(runs),
    ]


def _settings(runs: Runs) -> Section:
    """The settings that differ."""
    section = Section("settings", "What differs", columns="one")
    differing: dict[str, list[Any]] = of_runs([result for result, _, _ in runs])["settings"]
    if not differing:
        section.finding = "All settings are the same."
        return section
    section.finding = f"{counted(len(differing), 'setting')} differ{'' if len(differing) > 1 else 's'}."
    rows = [
        f'<tr><th scope="row">{names.label(text(setting), names.setting_tip(setting))}</th>'
        f"{''.join(f'<td>{text(as_set(value))}</td>' for value in values)}</tr>"
        for setting, values in differing.items()
    ]
    card = _settings_table(runs, rows[:MOST_SETTINGS])
    if folded_rows := rows[MOST_SETTINGS:]:
        more = _settings_table(runs, folded_rows)
        card += f"<details><summary>and {counted(len(folded_rows), 'more setting')}</summary>{more}</details>"
    return section.add(f'<div class="card scroll">{card}</div>')


def _settings_table(runs: Runs, rows: Sequence[str]) -> str:
    return (
        f'<table class="figures wide settings"><thead><tr><th></th>{_heads(runs)}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _heads(runs: Runs) -> str:
    """The results as headings of columns, each with the colour of its curves."""
    return "".join(
        f'<th scope="col"><i class="dot" style="background:{_css(colour)}"></i>{text(name)}</th>'
        for _, name, colour in runs
    )


def headline(results: Sequence[Result]) -> str:
    """The figures that a person compares first, each with its change against the first result's."""
    runs = _runs(results)
    body = []
    for figure in shown_rows([result.summary for result, _, _ in runs]):
        values = [names.figure_of(result.summary, figure) for result, _, _ in runs]
        cells = [names.written(figure, values[0])]
        for value, (result, _, _) in zip(values[1:], runs[1:], strict=True):
            change_text = differences.change(figure, (values[0], runs[0][0].summary), (value, result.summary))
            change = f'<span class="change">{change_text}</span>' if change_text else ""
            cells.append(f"{names.written(figure, value)}{change}")
        tip = names.tip(figure)
        body.append(
            f'<tr><th scope="row"{tip}>{names.called(figure, names.heading(figure))}</th>'
            f"{''.join(f'<td{tip}>{cell}</td>' for cell in cells)}</tr>"
        )
    states = []
    for result, _, _ in runs:
        reached = result.summary["steady_state"]["measured"]["reached"]
        words = names.JUDGED[reached]
        states.append(f"<td>{words}{', partial' if result.summary['partial'] else ''}</td>")
    body.append(f'<tr><th scope="row">steady state</th>{"".join(states)}</tr>')
    return (
        '<div class="card scroll"><table class="figures wide"><thead><tr><th></th>'
        f"{_heads(runs)}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _css(colour: str) -> str:
    return f"var({colour.removeprefix('var:')})"


def _distributions(runs: Runs) -> Section:
    section = Section("latency", "Latency")
    for op in latency.OPS:
        data, lowest, reach = [], 1.0, []
        for result, name, colour in runs:
            points = latency.curve(dict(result.tables.get("latency", {})), op)
            if points is None:
                continue
            x, y = points
            lowest = min(lowest, y[-1])
            reach += [x[0], x[-1]]
            hover = f"{text(name)}: {latency.longer(op)}"
            data.append(line(x, y, name, colour, shape="hv", width=2.2, hovertemplate=hover))
        if data:
            layout = {
                "xaxis": latency_axis(min(reach), max(reach), f"{op} latency"),
                "yaxis": latency.tail_axis(lowest),
                "hovermode": "closest",
            }
            section.add(Figure(f"distribution-{op}", data, layout, f"{op.capitalize()}s", latency.SAME_HEIGHT, 360))
    return section


def _causes(runs: Runs) -> Section:
    section = Section("causes", "Where the time goes")
    for op in causes.OPS:
        for chart in causes.side_by_side([(name, result.summary) for result, name, _ in runs], op):
            section.add(chart)
    return section


def _over_time(runs: Runs) -> Section:
    section = Section("time", "Over time")
    rates, factors = [], []
    for result, name, colour in runs:
        rows = dict(result.tables.get("timeseries", {}))
        if not rows or len(rows["start_s"]) < 2:
            continue
        series = thinned(rows, 600)
        x, span = timeline.middles(series), series["end_s"] - series["start_s"]
        rate = share(series["reads"] + series["writes"], span)
        rates.append(line(x, plain(rate), name, colour, hovertemplate="%{y:,.4~s}"))
        host = series["write_mib"]
        if host.any():
            factor, _ = timeline.rolling(series["write_amplification"], host)
            factors.append(line(x, plain(factor), name, colour, hovertemplate="%{y:.3f}"))
    if rates:
        layout = timeline.OVER_TIME | {"yaxis": axis("requests per second", rangemode="tozero", tickformat="~s")}
        section.add(Figure("throughput", rates, layout, "Throughput"))
    if factors:
        layout = timeline.OVER_TIME | {"yaxis": axis("write amplification, rolling mean", rangemode="tozero")}
        section.add(Figure("amplification-time", factors, layout, "Write amplification"))
    return section


def _amplification(runs: Runs) -> Section:
    section = Section("amplification", "Where the writes come from")
    section.add(writes.by_cause([(name, result.summary) for result, name, _ in runs], "causes"))
    curves = []
    for result, name, colour in runs:
        rounds = dict(result.tables.get("precondition", {}))
        if rounds and len(rounds["drive_writes"]):
            x, y = plain(rounds["drive_writes"]), plain(rounds["write_amplification"])
            curves.append(line(x, y, name, colour, hovertemplate="%{y:.3f}") | {"mode": "lines+markers"})
    if curves:
        layout = {"xaxis": axis("drive writes"), "yaxis": axis("write amplification of the round", rangemode="tozero")}
        section.add(Figure("preconditioning", curves, layout, "Preconditioning"))
    return section


def _errors(runs: Runs) -> Section:
    section = Section("errors", "Errors and recovery")
    if not any(errors.can_fail(result.summary) for result, _, _ in runs):
        return section
    exact = [(name, colour, names.figure_of(r.summary, "reliability.exact")) for r, name, colour in runs]
    section.add(errors.tails([each for each in exact if each[2]]))
    rates, again = [], []
    for result, name, colour in runs:
        rows = dict(result.tables.get("timeseries", {}))
        if "rereads" not in rows or len(rows["start_s"]) < 2:
            continue
        series = thinned(rows, 600)
        x, span = timeline.middles(series), series["end_s"] - series["start_s"]
        if series["rereads"].any():
            rate = plain(share(series["rereads"], span))
            again.append(line(x, rate, name, colour, hovertemplate="%{y:,.4~s}"))
        if series["rber_mean"].any():
            rates.append(line(x, plain(series["rber_mean"]), name, colour, hovertemplate="%{y:.3~e}"))
    if rates:
        layout = timeline.OVER_TIME | {"yaxis": axis("wrong bits per bit", type="log", exponentformat="power")}
        section.add(Figure("error-rates", rates, layout, "Raw bit error rate", "mean over blocks with data"))
    if again:
        layout = timeline.OVER_TIME | {"yaxis": axis("pages per second", rangemode="tozero")}
        section.add(Figure("read-again", again, layout, "Re-reads"))
    return section


def _theory(runs: Runs) -> Section:
    """Closed forms and data sheets as columns, result by result."""
    section = Section("closed", "Theory and data sheet", columns="one")
    tables = ((closed.COLUMNS, closed.beside), (sheet.COLUMNS, sheet.beside))
    for columns, beside in tables:
        known = [(name, row) for result, name, _ in runs for row in beside(result.summary)]
        rows = [(f"{name}: {row.name}", *row.shown, row.verdict) for name, row in known]
        sides = [names.tip(row.figure) for _, row in known]
        section.add(rows_card(closed.TITLES[columns[2]], columns, rows, wide=True, sides=sides))
    return section


def _scenarios(runs: Runs) -> Section:
    section = Section("scenarios", "Scenarios", columns="one")
    for result, name, _ in runs:
        toml = text(result.scenario_toml or "not kept beside this result")
        section.add(f'<details class="card"><summary>{text(name)}</summary><pre>{toml}</pre></details>')
    return section
