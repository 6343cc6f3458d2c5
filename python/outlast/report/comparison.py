"""The report that lays several results beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlast.report import differences, errors, latency, repair, timeline
from outlast.report.figure import CAUSES, RUN_COLOURS, Figure, amplification_by_cause, axis, latency_axis, line
from outlast.report.numbers import micros, plain, share, short, text, thinned, tiny
from outlast.report.page import Section, document

if TYPE_CHECKING:
    from outlast.result import Result


def of_log(log10: float | None) -> str:
    """A probability that is given as a common logarithm, since no float may hold it."""
    return "–" if log10 is None else tiny(None, log10)


ROWS: list[tuple[str, tuple[str, ...], Any]] = [
    ("IOPS", ("throughput", "iops"), short),
    ("MiB/s read", ("throughput", "read_mib_s"), short),
    ("MiB/s written", ("throughput", "write_mib_s"), short),
    ("read, median", ("latency_us", "read", "p50"), micros),
    ("read, 99th percentile", ("latency_us", "read", "p99"), micros),
    ("read, 99.99th percentile", ("latency_us", "read", "p99_99"), micros),
    ("write, median", ("latency_us", "write", "p50"), micros),
    ("write, 99th percentile", ("latency_us", "write", "p99"), micros),
    ("write, 99.99th percentile", ("latency_us", "write", "p99_99"), micros),
    ("write amplification", ("write_amplification", "total"), lambda value: short(value, 4)),
    ("closed form, greedy", ("closed_form", "greedy_waf"), lambda value: short(value, 4)),
    ("re-reads per read", ("reliability", "rereads_per_read"), short),
    ("UBER after ECC", ("reliability", "exact", "after_ecc", "log10_uber"), of_log),
    ("UBER after re-reads", ("reliability", "exact", "after_rereads", "log10_uber"), of_log),
    ("UBER, exact", ("reliability", "exact", "after_stripe", "log10_uber"), of_log),
    ("medium errors", ("reliability", "medium_errors"), short),
    ("superblocks scrubbed", ("reliability", "scrubbed", "superblocks"), short),
    ("mean read latency over the twin’s", ("reliability", "twin", "read_mean_ratio"), short),
    ("P/E cycles, mean", ("wear", "mean_pe"), short),
    ("P/E cycles, maximum", ("wear", "max_pe"), short),
    ("requests in flight, mean", ("queue", "mean_in_flight"), short),
]


def labels(results: Sequence[Result]) -> list[str]:
    """A name for each result; a number is added where names repeat."""
    names = [str(result.summary["name"]) for result in results]
    return [
        name if names.count(name) == 1 else f"{name} #{names[:index].count(name) + 1}"
        for index, name in enumerate(names)
    ]


def figure_at(summary: dict[str, Any], path: tuple[str, ...]) -> Any:
    """The figure at a path of keys; `None` where it or a parent is absent."""
    value: Any = summary
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def page(results: Sequence[Result]) -> str:
    """The whole page."""
    names = labels(results)
    title = differences.title(results, names)
    header = (
        f'<div class="mark">Outlast</div><h1>{text(title)}</h1>'
        f'<p class="about">{_those(names)}. '
        f"The first, <b>{text(names[0])}</b>, is what the others are compared with.</p>"
        f"{differences.found(results, names)}"
    )
    versions = sorted({str(result.summary["version"]) for result in results})
    return document(f"{title} · Outlast", header, sections(results), f"Outlast {text(', '.join(versions))}")


def _those(names: Sequence[str]) -> str:
    return f"{len(names)} results: {', '.join(text(name) for name in names)}"


Runs = list[tuple["Result", str, str]]


def _runs(results: Sequence[Result]) -> Runs:
    colours = [RUN_COLOURS[index % len(RUN_COLOURS)] for index in range(len(results))]
    return list(zip(results, labels(results), colours, strict=True))


def sections(results: Sequence[Result]) -> list[Section]:
    """The parts of the page; those that have nothing to show are empty."""
    runs = _runs(results)
    return [
        repair.side_by_side(runs),
        Section("headline", "Side by side").add(headline(results)),
        _distributions(runs),
        _over_time(runs),
        _amplification(runs),
        _errors(runs),
        _scenarios(runs),
    ]


def headline(results: Sequence[Result]) -> str:
    """The figures that a person compares first, each with its change against the first result's."""
    runs = _runs(results)
    head = "".join(
        f'<th scope="col"><i class="dot" style="background:{_css(colour)}"></i>{text(name)}</th>'
        for _, name, colour in runs
    )
    body = []
    anything_fails = any(errors.can_fail(result.summary) for result, _, _ in runs)
    for label, path, shown in ROWS:
        if path[0] == "reliability" and not anything_fails:
            continue
        values = [figure_at(result.summary, path) for result, _, _ in runs]
        if all(value is None for value in values):
            continue
        cells = [f"<td>{shown(values[0])}</td>"]
        for value in values[1:]:
            words = _change(values[0], value, logs=shown is of_log)
            change = f'<span class="change">{words}</span>' if words else ""
            cells.append(f"<td>{shown(value)}{change}</td>")
        body.append(f'<tr><th scope="row">{label}</th>{"".join(cells)}</tr>')
    states = []
    for result, _, _ in runs:
        reached = result.summary["steady_state"]["measured"]["reached"]
        words = {True: "yes", False: "no", None: "not judged"}[reached]
        states.append(f"<td>{words}{', partial' if result.summary['partial'] else ''}</td>")
    body.append(f'<tr><th scope="row">steady state</th>{"".join(states)}</tr>')
    return (
        '<div class="card scroll"><table class="figures wide"><thead><tr><th></th>'
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _change(first: float | None, value: float | None, *, logs: bool) -> str:
    if value is None or not first:
        return ""
    if logs:
        return f"× {tiny(None, value - first)}"
    ratio = value / first
    if abs(ratio - 1) < 0.0005:
        return "the same"
    return f"{ratio - 1:+.1%}".replace("-", "−") if ratio < 10 else f"× {short(ratio, 2)}"


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
            hover = f"{text(name)}: %{{x:,.3~r}} µs, %{{y:.2~e}} take longer<extra></extra>"
            data.append(line(x, y, name, colour, shape="hv", width=2.2, hovertemplate=hover))
        if data:
            layout = {
                "xaxis": latency_axis(min(reach), max(reach), f"{op} latency"),
                "yaxis": latency.tail_axis(lowest),
                "hovermode": "closest",
            }
            title, hint = f"{op.capitalize()}s", "every further nine takes the same height"
            section.add(Figure(f"distribution-{op}", data, layout, title, hint, 360))
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
    written = [(r, name) for r, name, _ in runs if r.summary["write_amplification"]["total"] is not None]
    if written:
        names = [name for _, name in written]
        bars = []
        for cause, (label, colour) in CAUSES.items():
            values = [amplification_by_cause(r.summary["write_amplification"])[cause] for r, _ in written]
            if any(values):
                hover = f"{label}: %{{x:.3f}}<extra></extra>"
                bar = {"type": "bar", "orientation": "h", "name": label, "x": plain(values), "y": names}
                bars.append(bar | {"marker": {"color": colour}, "hovertemplate": hover})
        layout = {
            "barmode": "stack",
            "xaxis": axis("bytes programmed per byte written"),
            "yaxis": {"autorange": "reversed", "automargin": True, "showgrid": False},
            "hovermode": "closest",
            "bargap": 0.35,
        }
        section.add(Figure("causes", bars, layout, "By cause", "", 150 + 44 * len(written)))
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
    section = Section("errors", "Errors and what was done about them")
    if not any(errors.can_fail(result.summary) for result, _, _ in runs):
        return section
    exact = [(name, colour, figure_at(r.summary, ("reliability", "exact"))) for r, name, colour in runs]
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
        layout = timeline.OVER_TIME | {"yaxis": axis("wrong bits a bit", type="log", exponentformat="power")}
        section.add(Figure("error-rates", rates, layout, "Raw bit error rate", "mean over blocks with data"))
    if again:
        layout = timeline.OVER_TIME | {"yaxis": axis("pages a second", rangemode="tozero")}
        section.add(Figure("read-again", again, layout, "Re-reads"))
    return section


def _scenarios(runs: Runs) -> Section:
    section = Section("scenarios", "Scenarios", columns="one")
    for result, name, _ in runs:
        toml = text(result.scenario_toml or "not kept beside this result")
        section.add(f'<details class="card"><summary>{text(name)}</summary><pre>{toml}</pre></details>')
    return section
