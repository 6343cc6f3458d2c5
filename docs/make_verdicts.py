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

FOLDER = Path(__file__).parent / "papers"
BEGIN, END = "<!-- counts: made by docs/make_verdicts.py -->", "<!-- end of counts -->"
PAGES = {"diff-raid": "Diff-RAID", "flexible": "Flexible", "hrm": "HRM", "msapl": "mSAPL", "reparo": "Reparo"}


def trimmed(whole: dict[str, Any]) -> dict[str, Any]:
    """Without rows and assumptions: statements, numbers, verdicts and reasons."""
    papers = [
        own
        | {"figures": [{name: figure[name] for name in ("name", "title", "statements")} for figure in own["figures"]]}
        for own in whole["papers"]
    ]
    return whole | {"papers": papers}


def table(whole: dict[str, Any]) -> str:
    """The counts as a table."""
    lines = ["| paper | figures | statements | agree | differ |", "|---|---|---|---|---|"]
    for own in whole["papers"]:
        counts, name = own["counts"], own["paper"]
        numbers = f"{counts['statements']} | {counts['agrees']} | {counts['differs']}"
        lines.append(f"| [{PAGES[name]}]({name}.md) | {len(own['figures'])} | {numbers} |")
    counts, figures = whole["counts"], sum(len(own["figures"]) for own in whole["papers"])
    lines.append(f"| all | {figures} | {counts['statements']} | {counts['agrees']} | {counts['differs']} |")
    return "\n".join(lines)


def joined(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """What is new, and of other papers what is there."""
    papers = {own["paper"]: own for own in (*old["papers"], *new["papers"])}
    whole = new | {"papers": [papers[name] for name in PAGES]}
    sums = {count: sum(own["counts"][count] for own in whole["papers"]) for count in whole["counts"]}
    return whole | {"counts": sums}


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
