"""Puts what `outlast reproduce` found into the documentation: verdicts.json, and the counts in papers/index.md.

outlast reproduce --quick --traces /nowhere && python docs/make_verdicts.py out/reproduction-quick/reproduction.json

Without traces, so that it is what a clean clone gives. Of some papers only (outlast reproduce reparo --quick), theirs
take their places among those that are there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from outlast.reproduce import paper
from outlast.reproduce.model import COUNTED, KINDS

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
    """The counts as a table: those that could have failed, then what is shown and not counted."""
    aside = [kind for kind in KINDS if kind not in COUNTED]
    head = ["paper", "figures", "agree", *COUNTED, *(f"{kind} (not counted)" for kind in aside)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for own in whole["papers"]:
        lines.append(line(f"[{PAGES[own['paper']]}]({own['paper']}.md)", len(own["figures"]), own["counts"]))
    lines.append(line("all", sum(len(own["figures"]) for own in whole["papers"]), whole["counts"]))
    return "\n".join(lines)


def line(name: str, figures: int, counts: dict[str, Any]) -> str:
    """A line of the table."""
    each = [counts, *(counts["by_kind"][kind] for kind in KINDS)]
    parts = [f"{own['agrees']} of {own['statements']}" for own in each]
    return f"| {' | '.join([name, str(figures), *parts])} |"


def added(counts: list[dict[str, Any]]) -> dict[str, Any]:
    """The sum of counts, kind by kind."""
    names = [name for name in counts[0] if name != "by_kind"]
    sums: dict[str, Any] = {name: sum(own[name] for own in counts) for name in names}
    if "by_kind" in counts[0]:
        sums["by_kind"] = {kind: added([own["by_kind"][kind] for own in counts]) for kind in KINDS}
    return sums


def joined(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """What is new, and of other papers what is there."""
    papers = {own["paper"]: own for own in (*old["papers"], *new["papers"])}
    whole = new | {"papers": [papers[name] for name in PAGES if name in papers]}
    return whole | {"counts": added([own["counts"] for own in whole["papers"]])}


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
    main(Path(sys.argv[1]))
