"""Puts measured beside simulated values of every real drive and published experiment into results.md.

make results runs what is simulated (outlast reproduce with the names of `CHAPTERS`), and then

    python docs/make_results.py out/results/reproduction.json

which keeps the points of that file in results.json, and those of fleets; groups of which the file has no chapter stay
as they are. Without a file the page is made of results.json and of papers/verdicts.json again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import results_fleet

from outlast.products.reproduce.drives import common, latency
from outlast.products.reproduce.drives.measured import FIGURES
from outlast.products.reproduce.model import CALIBRATED, CLOSED, RUN

FOLDER = Path(__file__).parent
PAGE, DATA, VERDICTS = FOLDER / "results.md", FOLDER / "results.json", FOLDER / "papers" / "verdicts.json"
BEGIN, END = "<!-- results: made by docs/make_results.py -->", "<!-- end of results -->"
PREDICTED, FITTED, FORMULA = "predicted", "fitted", "closed form"
KINDS = {RUN: PREDICTED, CALIBRATED: FITTED, CLOSED: FORMULA}
"""Kinds of evidence of statements, as they are called here; statements of other kinds compare a text with itself."""
SKEWED = {"two zones 90/10": 0.05, "two zones 95/5": 0.05, "zipf 1": 0.05}
RATE, UNIFORM, SKEW = 0.05, 0.025, 0.03
"""Tolerances of drives as docs/drives.md states them; those of latencies are of the percentile."""
NAMES = {"r": "reads", "w": "writes", "50": "median", "99": "99th percentile", "99.9": "99.9th percentile"}

Point = dict[str, Any]
"""A published value beside ours: `group`, `subject`, `point`, `unit`, `published`, `ours`, `kind`, `within`."""


def drives(chapter: dict[str, Any]) -> list[Point]:
    """Points of real drives: write amplification, rates, and latencies at the judged loads."""
    found = []
    for row in _rows(chapter, "waf"):
        room = UNIFORM if row["workload"] == "uniform" else SKEWED.get(row["workload"], SKEW)
        place = f"write amplification, {row['workload']}, {row['fill']}"
        found.append(_point("drives", row["drive"], place, "", row["measured"], row["simulated"], row["kind"], room))
    for row in _rows(chapter, "rates"):
        place = f"rate of random writes, {row['fill']}"
        found.append(
            _point("drives", row["drive"], place, "MB/s", row["measured"], row["simulated"], row["kind"], RATE)
        )
    for drive in common.DRIVES:
        rows = {row["load"]: row for row in _rows(chapter, drive.key)}
        for share, load in latency.judged(drive).items():
            row = rows[latency.name(load)]
            for figure in FIGURES:
                who, percentile = NAMES[figure[0]], figure[1:]
                room = latency.WITHIN.get(percentile, 1.0)
                place = f"{who}, {NAMES[percentile]}, at {100 * share:.0f} % of the load"
                pair = (row[f"{figure} measured"], row[f"{figure} simulated"])
                kind = latency.kind(drive, load, figure)
                found.append(_point("drives", drive.name, place, "µs", *pair, kind, room))
    return found


def _point(
    group: str, subject: str, place: str, unit: str, published: float, ours: float, kind: str, room: float
) -> Point:
    # A room of 1 is a factor of two either way, as for the slowest thousandth of requests.
    ratio = ours / published
    within = 0.5 <= ratio <= 2.0 if room == 1.0 else abs(ratio - 1.0) <= room
    named = FITTED if kind == common.FITTED else PREDICTED
    values = {"unit": unit, "published": published, "ours": ours, "kind": named, "within": within}
    return {"group": group, "subject": subject, "point": place} | values


def _rows(chapter: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return next(figure["rows"] for figure in chapter["figures"] if figure["name"] == name)


def statements(chapter: dict[str, Any], group: str) -> list[Point]:
    """Points of a paper or a published experiment: each of its own statements that claims one number, or more."""
    found = []
    for figure in chapter["figures"]:
        for own in figure["statements"]:
            if own["kind"] not in KINDS or own["whose"] != "paper" or own["claims"] != "number":
                continue
            for number in own["numbers"]:
                ours = number["simulation"] if number["simulation"] is not None else number["closed_form"]
                if not number["paper"] or ours is None:
                    continue
                name = f" ({number['name']})" if len(own["numbers"]) > 1 else ""
                text = f"{figure['title'].split(':')[0]}: {own['statement']}{name}"
                place = {"group": group, "subject": chapter["paper"], "point": text}
                values = {"unit": number["unit"], "published": number["paper"], "ours": ours}
                judged = {"kind": KINDS[own["kind"]], "within": own["verdict"] == "agrees"}
                found.append(place | values | judged)
    return found


def kept_points(whole: dict[str, Any], before: Sequence[Point]) -> list[Point]:
    """Points of real drives and of experiments on them: of what `outlast reproduce` wrote, else as they were before."""
    chapters = {chapter["paper"]: chapter for chapter in whole["papers"]}
    found = []
    for group, names in CHAPTERS.items():
        lacking = [name for name in names if name not in chapters]
        if lacking == list(names):
            found += [point for point in before if point["group"] == group]
            continue
        if lacking:
            sys.exit(f"not a whole reproduction of {group}: it lacks {', '.join(lacking)}")
        for name in names:
            found += drives(chapters[name]) if group == "drives" else statements(chapters[name], group)
    return found + results_fleet.points()


def error(point: Point) -> float:
    """Ours less the published value, as a share of it."""
    return float(point["ours"] / point["published"] - 1.0)


COLUMNS = "points | median error | 90 % of errors within | within tolerance"
CHAPTERS = {
    "drives": ("drives",),
    "placement": ("warp", "cachelib-fdp"),
    "zones": ("zn540",),
    "clients": ("client-drives",),
    "heat": ("heat",),
}
"""Chapters of `outlast reproduce` by group."""
GROUPS = {
    "drives": "Real drives",
    "placement": "Drives with flexible data placement (WARP, CacheLib)",
    "zones": "A drive with zones (ZN540)",
    "clients": "Client drives with SLC caches",
    "heat": "Heat of a drive (Crucial T700)",
    "fleets": "Fleets (field studies, a public calculator)",
    "papers": "Simulations and models of papers",
}


def summary(points: Sequence[Point]) -> list[str]:
    """Median error and share within tolerance, by group and kind."""
    lines = [f"| what | kind | {COLUMNS} |", "|---|---|---|---|---|---|"]
    for group, title in GROUPS.items():
        for kind in (PREDICTED, FITTED, FORMULA):
            own = [point for point in points if (point["group"], point["kind"]) == (group, kind)]
            if own:
                lines.append(f"| {title} | {_kind(kind)} | {_numbers(own)} |")
    return lines


def _kind(kind: str) -> str:
    return f"({kind})" if kind == FITTED else kind


def _numbers(points: Sequence[Point]) -> str:
    errors = sorted(abs(error(point)) for point in points)
    ninth = errors[min(len(errors) - 1, round(0.9 * (len(errors) - 1)))]
    share = sum(point["within"] for point in points)
    return f"{len(points)} | {100 * median(errors):.1f} % | {100 * ninth:.0f} % | {share} of {len(points)}"


def by_subject(points: Sequence[Point]) -> list[str]:
    """The same for each drive and each quantity, of predicted points."""
    lines = [f"| drive | quantity | {COLUMNS} |", "|---|---|---|---|---|---|"]
    predicted = [point for point in points if point["group"] == "drives" and point["kind"] == PREDICTED]
    for subject in dict.fromkeys(point["subject"] for point in predicted):
        of_drive = [point for point in predicted if point["subject"] == subject]
        for quantity in dict.fromkeys(map(_quantity, of_drive)):
            own = [point for point in of_drive if _quantity(point) == quantity]
            lines.append(f"| {subject} | {quantity} | {_numbers(own)} |")
    return lines


def _quantity(point: Point) -> str:
    if point["unit"] != "µs":
        return str(point["point"].split(",")[0])
    return f"latency of {point['point'].split(', at ')[0]}"


def table(points: Iterable[Point], *, with_subject: bool) -> list[str]:
    """Every point, with its error; what is off by more than its tolerance in bold."""
    head = ["drive"] if with_subject else ["paper"]
    lines = [f"| {' | '.join([*head, 'point', 'published', 'ours', 'error', 'kind'])} |", "|---|---|---|---|---|---|"]
    for point in points:
        off = f"{100 * error(point):+.1f} %"
        unit = f" {point['unit']}" if point["unit"] else ""
        shown = off if point["within"] else f"**{off}**"
        values = [f"{point['published']:.4g}{unit}", f"{point['ours']:.4g}{unit}", shown]
        text = point["point"].replace("|", "/").replace("\n", " ")
        lines.append(f"| {' | '.join([point['subject'], text, *values, _kind(point['kind'])])} |")
    return lines


def page(points: Sequence[Point]) -> str:
    """The page, with what is between its two marks made anew."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    parts = ["## In a table", "\n".join(summary(points)), "## Real drives, predicted points by quantity"]
    parts.append("\n".join(by_subject(points)))
    for group, title in GROUPS.items():
        own = [point for point in points if point["group"] == group]
        rows = table(own, with_subject=group == "drives")
        parts += [f"## Every point: {title[0].lower()}{title[1:]}", "\n".join(rows)]
    made = "\n\n".join(parts)
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def all_points() -> list[Point]:
    """Points that are kept, and those of the papers' verdicts."""
    verdicts = json.loads(VERDICTS.read_text(encoding="utf-8"))
    kept: list[Point] = json.loads(DATA.read_text(encoding="utf-8"))["points"]
    return kept + [point for chapter in verdicts["papers"] for point in statements(chapter, "papers")]


def main(source: str | None) -> None:
    """Keeps the points of a reproduction, where one is given, and writes the page."""
    if source is not None:
        whole = json.loads(Path(source).read_text(encoding="utf-8"))
        before = json.loads(DATA.read_text(encoding="utf-8"))["points"]
        rounded = [point | {"ours": float(f"{point['ours']:.6g}")} for point in kept_points(whole, before)]
        lines = ",\n".join(json.dumps(point, ensure_ascii=False) for point in rounded)
        DATA.write_text(f'{{"mode": "{whole["mode"]}", "points": [\n{lines}\n]}}\n', encoding="utf-8")
    PAGE.write_text(page(all_points()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
