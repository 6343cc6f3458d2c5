"""Puts what `outlast reproduce` found into the documentation: verdicts.json, and the counts in papers/index.md.

outlast reproduce --quick --traces /nowhere && python docs/make_verdicts.py out/reproduction-quick/reproduction.json

Without traces, so that it is what a clean clone gives. Of some papers only (outlast reproduce reparo --quick), theirs
take their places among those that are there.

With --check before the file nothing is written: what has another verdict, kind or number than in verdicts.json is
named, and the exit code is 1. With --turn and a number the paper is named whose turn it is: `make rejudge` takes the
number of commits, so that CI judges each paper again in turn.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

from outlast.products.reproduce import paper
from outlast.products.reproduce.model import ASSUMED, CALIBRATED, CLOSED, RUN, TEXT, incomplete

FOLDER = Path(__file__).parent / "papers"
BEGIN, END = "<!-- counts: made by docs/make_verdicts.py -->", "<!-- end of counts -->"
PAGES = {
    "diff-raid": "Diff-RAID",
    "flexible": "Flexible",
    "hrm": "HRM",
    "lfs": "LFS",
    "msapl": "mSAPL",
    "reparo": "Reparo",
}


def trimmed(whole: dict[str, Any]) -> dict[str, Any]:
    """Without rows and assumptions: statements, numbers, verdicts and reasons."""
    papers = [
        own
        | {"figures": [{name: figure[name] for name in ("name", "title", "statements")} for figure in own["figures"]]}
        for own in whole["papers"]
    ]
    return whole | {"papers": papers}


def table(whole: dict[str, Any]) -> str:
    """The counts, and as a table: numbers and orders of the five papers, then what stands apart and is not counted."""
    simulated = whole["counts"]["number"][RUN]
    head = ["paper", "figures", *COLUMNS]
    lines = [
        f"**Numbers of the five papers by simulation: {of(simulated)}.** "
        f"Orders by simulation: {of(whole['counts']['order'][RUN])}. "
        f"Closed forms: {of(whole['counts']['number'][CLOSED])} numbers, "
        f"{of(whole['counts']['order'][CLOSED])} orders.",
        "",
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
    ]
    within = [own for own in whole["papers"] if not own["apart"]]
    for own in within:
        lines.append(row(f"[{PAGES[own['paper']]}]({own['paper']}.md)", len(own["figures"]), own["counts"]))
    lines.append(row("the five papers", sum(len(own["figures"]) for own in within), whole["counts"]))
    for own in whole["papers"]:
        if own["apart"]:
            name = f"apart: [{PAGES[own['paper']]}]({own['paper']}.md)"
            lines.append(row(name, len(own["figures"]), own["counts"]))
    return "\n".join(lines)


COLUMNS: dict[str, tuple[str, ...]] = {
    "numbers, simulation": ("number", RUN),
    "orders, simulation": ("order", RUN),
    "numbers, closed form": ("number", CLOSED),
    "orders, closed form": ("order", CLOSED),
    "(calibrated)": ("aside", CALIBRATED),
    "(decided by an assumption)": ("aside", ASSUMED),
    "(consistency of the text)": ("aside", TEXT),
    "(ours)": ("ours",),
}
"""Columns of the table, and where their counts are."""


def of(tally: dict[str, int]) -> str:
    """`3 of 4`, or a dash where there are none."""
    return f"{tally['agrees']} of {tally['statements']}" if tally["statements"] else "–"


def row(name: str, figures: int, counts: dict[str, Any]) -> str:
    """A line of the table."""
    parts = []
    for path in COLUMNS.values():
        own = counts
        for step in path:
            own = own[step]
        parts.append(of(own))
    return f"| {' | '.join([name, str(figures), *parts])} |"


def added(counts: list[Any]) -> Any:
    """The sum of counts, part by part."""
    if isinstance(counts[0], dict):
        return {name: added([own[name] for own in counts]) for name in counts[0]}
    return sum(counts)


def joined(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """What is new, and of other papers what is there."""
    papers = {own["paper"]: own for own in (*old["papers"], *new["papers"])}
    whole = new | {"papers": [papers[name] for name in PAGES if name in papers]}
    return whole | {"counts": added([own["counts"] for own in whole["papers"] if not own["apart"]])}


def turn(number: int) -> str:
    """The paper whose turn it is."""
    return list(PAGES)[number % len(PAGES)]


def changes(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    """What the statements of the papers that are in `new` say now and did not say before, a line for each.

    Comparisons that are no papers (drives) have no verdicts to be compared with.
    """
    found = []
    kept = {part["paper"]: _statements(part) for part in old["papers"]}
    for own in new["papers"]:
        if own["paper"] not in PAGES:
            continue
        before, after = kept.get(own["paper"], {}), _statements(own)
        for key in before | after:
            name = f"{own['paper']}/{key[0]}: {key[1]}"
            if key not in before or key not in after:
                found.append(f"{name}: {'is new' if key in after else 'is there no more'}")
            elif said := _differs(before[key], after[key]):
                found.append(f"{name}: {said}")
    return found


def _statements(own: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(part["name"], verdict["statement"]): verdict for part in own["figures"] for verdict in part["statements"]}


def _differs(before: dict[str, Any], after: dict[str, Any]) -> str:
    """How a verdict differs from what it was, or that its reason could not be told; empty if it does not."""
    for name in ("verdict", "kind", "whose", "claims"):
        if before[name] != after[name]:
            return f"{name}: {before[name]}, now {after[name]}: {after['found']}"
    if (lacks := incomplete(after)) and not incomplete(before):
        return f"{lacks}: {after['because']}"
    pairs = zip(_numbers(before), _numbers(after), strict=False)
    same = len(_numbers(before)) == len(_numbers(after)) and all(math.isclose(a, b, rel_tol=1e-6) for a, b in pairs)
    return "" if same else f"numbers: {before['found']}, now {after['found']}"


def _numbers(verdict: dict[str, Any]) -> list[float]:
    names = ("paper", "closed_form", "simulation")
    return [number[name] for number in verdict["numbers"] for name in names if number[name] is not None]


def check(source: Path) -> None:
    """Says what has changed, and ends with 1 if anything has."""
    kept = json.loads((FOLDER / "verdicts.json").read_text(encoding="utf-8"))
    found = changes(json.loads(source.read_text(encoding="utf-8")), kept)
    for line in found:
        print(line)
    print(f"{len(found)} statements differ from docs/papers/verdicts.json")
    sys.exit(1 if found else 0)


def main(source: Path) -> None:
    """Writes both."""
    whole = json.loads(source.read_text(encoding="utf-8"))
    declared = {name: len(paper(name).figures) for name in PAGES}
    if whole["mode"] != "quick" or any(len(own["figures"]) != declared[own["paper"]] for own in whole["papers"]):
        sys.exit(f"{source}: not the quick reproduction of whole papers")
    file = FOLDER / "verdicts.json"
    whole = joined(trimmed(whole), json.loads(file.read_text(encoding="utf-8")))
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")
    page = FOLDER / "index.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{table(whole)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "--turn":
        print(turn(int(sys.argv[2])))
    elif sys.argv[1] == "--check":
        check(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]))
