"""Repaired dies: how long it took, what was moved, what the load felt, and what the drive is like afterwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from outlast.report.figure import Figure, axis, broken
from outlast.report.names import label, tip
from outlast.report.numbers import YEAR_HOURS, micros, plain, seconds, short, size, text, tiny
from outlast.report.page import Section
from outlast.report.repair_time import during, phases

if TYPE_CHECKING:
    from outlast.result import Result

Runs = Sequence[tuple["Result", str, str]]

NAMES = {
    ("isolated", "l2p-one-core"): "IDR",
    ("cooperative", "l2p-all-cores"): "CDR",
    ("cooperative", "p2l-block"): "CDR*",
}
"""Reparo's names of its variants, by scheme and identifier."""


def repairs(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """The repairs of a run; none where no die failed."""
    return list(summary.get("repair") or ())


def scheme(repair: dict[str, Any]) -> str:
    """Short name of a repair's scheme."""
    if repair["way"] in ("assist", "rebuild"):
        return {"assist": "Rebuild Assist", "rebuild": "rebuild"}[repair["way"]]
    variant = (repair["scheme"], repair["identifier"])
    return NAMES.get(variant, f"{variant[0]}, {variant[1]}")


def sized(repair: dict[str, Any], name: str) -> Any:
    """A figure for the drive that is meant: scaled where the simulated one is smaller."""
    return (repair.get("scaled") or repair)[name]


def finding(found: Sequence[dict[str, Any]]) -> str:
    """Sentences on detection, duration and outcome of the repairs."""
    parts = []
    for repair in found:
        of = "" if repair["device"] is None else f" of member {repair['device']}"
        after = repair["detected_after_ms"]
        noticed = "" if after is None else f" and was noticed after {micros(after * 1e3)}"
        units = f"{short(repair['failed_units'])} units on it"
        parts.append(f"Die {repair['die']}{of} failed with {units}{noticed}.")
        if repair["finished_s"] is not None:
            scaled = " (at full size)" if repair.get("scaled") else ""
            parts.append(
                f"<b>{text(scheme(repair))}</b> repaired it in <b>{seconds(sized(repair, 'total_s'))}</b>{scaled}, "
                f"writing {size(sized(repair, 'bytes_written'))}."
            )
        elif repair["way"] is not None:
            parts.append("<b>It was not repaired</b> before the run ended.")
        if repair["lost_bytes"]:
            parts.append(f"<b>{size(repair['lost_bytes'])}</b> could not be recovered.")
    return " ".join(parts)


MEANINGS = {
    "IDR": "isolated die recovery, the other dies of its core take the failed die’s place, and that core gets fuller",
    "CDR": "cooperative die recovery, all cores of the drive share the loss of the die",
    "CDR*": "CDR that finds failed data by lists of addresses in the last page of every block",
    "Rebuild Assist": "the drive is copied onto a spare; only what cannot be read is rebuilt from the other members",
    "rebuild": "the whole member is rebuilt onto a spare from the other members",
}
"""Explanation of each scheme, in a line."""
FAKE = "Fake failures: intact data with a core that it no longer belongs to once all cores share the loss"


def meanings(found: Sequence[dict[str, Any]]) -> str:
    """Explanations of the schemes that occur in `found`."""
    ways = [scheme_name for scheme_name in dict.fromkeys(map(scheme, found)) if scheme_name in MEANINGS]
    parts = [f"<b>{text(scheme_name)}</b>: {text(MEANINGS[scheme_name])}." for scheme_name in ways]
    if any(repair["fake_failures"] for repair in found):
        parts.append(text(FAKE) + ".")
    return " ".join([*parts, *_why_isolated_is_faster(found)])


def _why_isolated_is_faster(found: Sequence[dict[str, Any]]) -> list[str]:
    """Sentence for results in which IDR ends before CDR*, which is the reverse of the paper's order; none otherwise."""
    finished = [repair for repair in found if repair.get("finished_s") is not None]
    isolated = next((repair for repair in finished if scheme(repair) == "IDR"), None)
    cooperative = next((repair for repair in finished if scheme(repair) == "CDR*" and repair["fake_failures"]), None)
    if isolated is None or cooperative is None or isolated["total_s"] >= cooperative["total_s"]:
        return []
    share = (cooperative["failed_units"] + cooperative["fake_failures"]) / cooperative["failed_units"]
    return [
        f"IDR ends first here, the reverse of the paper's order: CDR* writes its {short(cooperative['fake_failures'])} "
        f"fake failures, too, {short(share)} times the units of the die, and what it saves, the search, takes IDR only "
        f"{seconds(isolated['identify_s'])}. The search grows with the capacity of the drive, so that CDR* is ahead on "
        "drives of many terabytes."
    ]


def section(result: Result, colour: str = "var:--read") -> Section:
    """The section of one result."""
    found = repairs(result.summary)
    part = Section("repair", "Repair of failed dies", columns="lead")
    if not found:
        return part
    part.finding = meanings(found)
    runs = [(result, str(result.summary["name"]), colour)]
    part.add(during(runs)).add(phases(runs))
    return part.add(table([(scheme(repair), repair) for repair in found])).add(utilisation(runs))


def side_by_side(runs: Runs) -> Section:
    """The section of several results."""
    repaired = [(result, name, colour) for result, name, colour in runs if repairs(result.summary)]
    part = Section("repair", "Repair of failed dies")
    if not repaired:
        return part
    part.finding = meanings([repair for result, _, _ in repaired for repair in repairs(result.summary)])
    # First what the comparison is for.
    part.add(times(repaired)).add(traffic(repaired))
    part.add(table([(name, repair) for result, name, _ in repaired for repair in repairs(result.summary)]))
    part.add(during(repaired)).add(utilisation(repaired))
    return part.add(phases(repaired))


ROWS: tuple[tuple[str, str, Any], ...] = (
    ("detected after", "detected_after_ms", lambda value: "–" if value is None else micros(value * 1e3)),
    ("identifying", "identify_s", seconds),
    ("recovering", "recover_s", seconds),
    ("in all", "total_s", seconds),
    ("failed units", "failed_units", short),
    ("fake failures", "fake_failures", short),
    ("read from peers", "bytes_read_from_peers", size),
    ("read from the member", "bytes_read_from_member", size),
    ("written", "bytes_written", size),
    ("lost for good", "lost_bytes", size),
)
RISK = (
    ("probability of a second failure meanwhile", "second_failure"),
    ("probability of an unreadable sector meanwhile", "read_failure"),
)


def table(found: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """The figures of each repair, and the risk of its hours."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name, _ in found)
    body = []
    if any(name != scheme(repair) for name, repair in found):
        body.append(_row("way", [text(scheme(repair)) for _, repair in found]))
    body.append(_row("state", ["done" if own["finished_s"] is not None else "not done" for _, own in found]))
    for title, name, shown in ROWS:
        values = [repair.get(name) if name not in _scaled(repair) else sized(repair, name) for _, repair in found]
        body.append(_row(title, [shown(value) for value in values], tip(f"repair[0].{name}")))
    if any(repair["risk"] for _, repair in found):
        for title, name in RISK:
            chances = [tiny(repair["risk"][name]) if repair["risk"] else "–" for _, repair in found]
            body.append(_row(title, chances, tip(f"repair[0].risk.{name}")))
        hours = [repair["risk"]["mttdl_hours"] if repair["risk"] else None for _, repair in found]
        years = ["–" if h is None else f"{short(h / YEAR_HOURS)} years" for h in hours]
        body.append(_row("mean time to data loss", years, tip("repair[0].risk.mttdl_hours")))
    hint = ""
    if any(repair.get("scaled") for _, repair in found):
        factors = sorted({repair["scaled"]["factor"] for _, repair in found if repair.get("scaled")})
        words = ", ".join(short(factor) for factor in factors)
        hint = f'<span class="hint">times and amounts for dies {words} times as large as simulated</span>'
    whole = " whole" if len(found) > 2 else ""
    return (
        f'<div class="card scroll{whole}"><h3>Figures{hint}</h3><table class="figures wide">'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _scaled(repair: dict[str, Any]) -> frozenset[str]:
    return frozenset(repair.get("scaled") or ())


def _row(title: str, cells: Sequence[str], tip: str = "") -> str:
    """A line of the table; `tip` are attributes that explain it."""
    return f'<tr><th scope="row">{label(title, tip)}</th>{"".join(f"<td{tip}>{cell}</td>" for cell in cells)}</tr>'


TIMES = (
    ("identifying", "identify_s", "var:--padding"),
    ("recovering", "recover_s", "var:--scrub"),
    ("in all", "total_s", "var:--muted"),
)


def times(runs: Runs) -> Figure | None:
    """Identifying and recovering, as dots with their values in rows of each run, on a logarithmic scale."""
    data: list[dict[str, Any]] = []
    known: list[float] = []
    for place, (title, key, colour) in enumerate(TIMES):
        values = [sum(sized(repair, key) or 0 for repair in repairs(result.summary)) or None for result, _, _ in runs]
        known += [value for value in values if value is not None]
        dots = {"type": "scatter", "mode": "markers+text", "name": title, "x": values, "textposition": "middle right"}
        dots |= {"y": plain([row + 0.27 * (place - 1) for row in range(len(runs))]), "text": list(map(seconds, values))}
        hover = f"{title}: %{{x:,.4~r}} s<extra></extra>"
        data.append(dots | {"marker": {"color": colour, "size": 9}, "cliponaxis": False, "hovertemplate": hover})
    if not known:
        return None
    # To the right there is room for the longest of the values.
    low, high = math.log10(min(known)), math.log10(max(known))
    span = [low - 0.08 * (high - low) - 0.1, high + 0.25 * (high - low) + 0.3]
    names = {"tickvals": list(range(len(runs))), "ticktext": [broken(name) for _, name, _ in runs]}
    layout = {
        "xaxis": axis("seconds", type="log", dtick=1, range=span),
        "yaxis": axis("", showgrid=False, range=[len(runs) - 0.5, -0.5], **names),
        "hovermode": "closest",
    }
    return Figure("repair-times", data, layout, "How long it took", height=max(300, 100 + 66 * len(runs)))


def traffic(runs: Runs) -> Figure:
    """Bytes moved between devices."""
    names = [name for _, name, _ in runs]
    bars: list[dict[str, Any]] = []
    for title, key, colour in (
        ("read from peers", "bytes_read_from_peers", "var:--read"),
        ("read from the member", "bytes_read_from_member", "var:--flush"),
        ("written", "bytes_written", "var:--write"),
    ):
        values = [sum(sized(repair, key) for repair in repairs(result.summary)) / 2**20 for result, _, _ in runs]
        hover = f"{title}: %{{y:,.4~r}} MiB<extra></extra>"
        bars.append({"type": "bar", "name": title, "x": names, "y": plain(values), "hovertemplate": hover})
        bars[-1]["marker"] = {"color": colour}
    layout = {"barmode": "stack", "yaxis": axis("MiB"), "hovermode": "closest"}
    return Figure("repair-traffic", bars, layout, "Data moved")


def utilisation(runs: Runs) -> Figure | None:
    """Logical over physical space of each core, with what the closed forms say after the failures of one core."""
    shown = [run for run in runs if repairs(run[0].summary)[-1]["way"] not in ("assist", "rebuild")]
    if not shown:
        return None
    width, data, all_values = 0.8 / len(shown), [], list[float]()
    for place, (result, name, colour) in enumerate(shown):
        values = repairs(result.summary)[-1]["space_utilisation_by_core"]
        at = [core - 0.4 + width * (place + 0.5) for core in range(len(values))]
        hover = f"{text(name)}, core %{{customdata}}: %{{y:.4f}}<extra></extra>"
        dots: dict[str, Any] = {"type": "scatter", "mode": "markers", "name": name}
        dots |= {"x": plain(at), "y": plain(values)}
        cores = list(range(len(values)))
        marker = {"color": colour, "size": 10}
        data.append(dots | {"customdata": cores, "marker": marker, "hovertemplate": hover})
        all_values += values
        if (expected := expected_utilisation(result.summary)) is not None:
            mark = {"symbol": "line-ew-open", "size": 16, "color": "var:--ink", "line": {"width": 2.5}}
            hover = f"closed form, {text(name)}: %{{y:.4f}}<extra></extra>"
            point = {"type": "scatter", "mode": "markers", "name": "closed form", "x": plain(at), "y": plain(expected)}
            shared = {"legendgroup": "form", "showlegend": place == 0}
            data.append(point | shared | {"marker": mark, "hovertemplate": hover})
            all_values += expected
    # Whole twentieths, at least a hundredth beyond the outermost dots.
    low = max(math.floor(20 * (min(all_values) - 0.01)) / 20, 0.0)
    high = max(math.ceil(20 * (max(all_values) + 0.01)) / 20, low + 0.05)
    layout = {
        "xaxis": axis("", tickvals=cores, ticktext=[f"core {core}" for core in cores]),
        "yaxis": axis("logical over physical space", range=[low, high]),
        "hovermode": "closest",
    }
    hint = f"Reparo, Tables 1 and 2; scale from {low:.2f} to {high:.2f}"
    return Figure("repair-utilisation", data, layout, "Space utilisation by core", hint)


def expected_utilisation(summary: dict[str, Any]) -> list[float] | None:
    """Reparo's Tables 1 and 2 for one failed die; `None` for more, where Equation 4 is not exact."""
    found, device = repairs(summary), summary["scenario"]["device"]
    if len(found) != 1 or device.get("repair", {}).get("repaired_dies"):
        return None
    from outlast.models import isolated_increase, shared_increase

    (repair,) = found
    cores = len(repair["space_utilisation_by_core"])
    geometry = device["geometry"]
    dies = geometry["channels"] * geometry["chips_per_channel"] * geometry["dies_per_chip"] / cores
    before = repair["space_utilisation_before"]
    if repair["scheme"] == "isolated":
        return [before * (1 + float(isolated_increase(dies)) * (core == repair["core"])) for core in range(cores)]
    return [before * (1 + float(shared_increase(cores, dies)))] * cores
