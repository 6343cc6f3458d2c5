"""The HTML report of a fleet: curves of losses, causes, what to change first, a year of the fleet, cost."""

from __future__ import annotations

from typing import Any

from outlast.fleet.words import bytes_of, interval
from outlast.report.figure import READ, RUN_COLOURS, Figure, axis, line
from outlast.report.numbers import text
from outlast.report.page import Section, document
from outlast.report.tables import rows_card
from outlast.version import named


def page(result: dict[str, Any]) -> str:
    """The whole page of a result of `study()`. It loads nothing."""
    fleet, last = result["fleet"], result["loss_by_year"][-1]
    about = f"{fleet['drives']} drives, {fleet['groups']} groups, {bytes_of(fleet['user_bytes'])} of data"
    sentence = f"Loss of data within {last['year']} years: {interval(last['fleet'])} ({last['fleet']['kind']})."
    header = (
        f'<div class="mark">Outlast</div><h1>{text(result["name"])}</h1><p class="about">{text(about)}</p>'
        f'<ul class="found"><li>{text(sentence)}</li></ul>'
    )
    return document(
        f"{result['name']} · Outlast", header, sections(result), f"Outlast {text(named())} · computed and simulated"
    )


def sections(result: dict[str, Any]) -> list[Section]:
    """The parts of the page; those that have nothing to show are empty."""
    return [_losses(result), _changes(result), _causes(result), _life(result), _cost(result)]


def _losses(result: dict[str, Any]) -> Section:
    rows = result["loss_by_year"]
    engine = result["engine"]
    section = Section("losses", "Losses", f"By {text(engine['losses'])}: {text(engine['reason'])}.")
    years = [row["year"] for row in rows]
    traces = []
    for colour, (key, name) in zip(
        RUN_COLOURS, (("fleet", "any data of the fleet"), ("group", "one group")), strict=False
    ):
        mean = [row[key]["mean"] for row in rows]
        if not all(value > 0.0 for value in mean):
            continue
        error = {
            "type": "data",
            "symmetric": False,
            "array": [row[key]["high"] - row[key]["mean"] for row in rows],
            "arrayminus": [row[key]["mean"] - row[key]["low"] for row in rows],
        }
        traces.append(line(years, mean, name, colour, error_y=error) | {"mode": "lines+markers"})
    if traces:
        layout = {
            "xaxis": axis("years"),
            "yaxis": axis("probability of loss", type="log", exponentformat="power"),
        }
        section.add(Figure("loss-by-year", traces, layout, "Probability of a loss by the end of each year"))
    kinds = sorted({row["fleet"]["kind"] for row in rows})
    cells = [
        (str(row["year"]), interval(row["fleet"]), interval(row["groups_lost"]), interval(row["group"])) for row in rows
    ]
    title = f"Losses by the end of each year; of the fleet: {', '.join(kinds)}"
    return section.add(rows_card(title, ("year", "fleet", "groups lost", "one group"), cells, wide=True))


def _bars(name: str, title: str, rows: list[tuple[str, float]], unit: str) -> Figure:
    rows = rows[::-1]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": [value for _, value in rows],
        "y": [label for label, _ in rows],
        "marker": {"color": READ},
    }
    layout = {"xaxis": axis(unit), "yaxis": {"automargin": True}, "showlegend": False}
    return Figure(name, [trace], layout, title, height=80 + 32 * len(rows))


def _changes(result: dict[str, Any]) -> Section:
    rows = [(row["setting"], row["elasticity"]) for row in result.get("change_first", [])]
    section = Section("changes", "What to change first")
    if rows:
        section.finding = (
            f"Losses depend most on <code>{text(rows[0][0])}</code>: {rows[0][1]:+.2f} % for each 1 % that it grows."
        )
        section.add(
            _bars("elasticities", "Change of losses by each setting", rows, "% of losses for each % of the setting")
        )
    return section


def _causes(result: dict[str, Any]) -> Section:
    rows = sorted(result["causes"].items(), key=lambda cause: -cause[1])
    section = Section("causes", "Cause of the last failure before a loss")
    if rows:
        section.add(
            _bars("causes-of-loss", "Share of losses", [(name, 100 * share) for name, share in rows], "per cent")
        )
    return section


def _life(result: dict[str, Any]) -> Section:
    life = result["life"]
    rows = [
        ("drives that fail", f"{life['drives_failed_a_year']:.4g}"),
        ("of these by bursts", f"{life['by_bursts_a_year']:.4g}"),
        ("of these after the failure of a neighbour", f"{life['by_neighbours_a_year']:.4g}"),
        ("dies that fail", f"{life['dies_failed_a_year']:.4g}"),
        ("dies that drives repair", f"{life['dies_repaired_a_year']:.4g}"),
        ("days with a degraded group", f"{life['days_degraded_a_year']:.4g}"),
        ("days that a group is degraded", f"{life['group_days_degraded_a_year']:.4g}"),
        ("moved by rebuilds", bytes_of(life["rebuild_bytes_a_year"])),
        ("share of groups unreadable during outages", f"{life['unavailable_groups']:.3g}"),
    ]
    return Section("year", "A year of the fleet").add(rows_card("Mean of a year", ("event", "a year"), rows))


def _cost(result: dict[str, Any]) -> Section:
    section = Section("cost", "Cost")
    if "cost" in result:
        cost = result["cost"]
        unit = f"{cost['currency']} a year"
        parts = [(name.replace("_", " "), value) for name, value in cost["by_part"].items()]
        section.finding = f"{cost['per_user_tb_year']:.4g} {text(cost['currency'])} for each TB of data and year."
        section.add(_bars("cost-by-part", "Cost by part", parts, unit))
    return section
