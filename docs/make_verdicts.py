"""Puts what `outlast reproduce` found into the documentation: verdicts.json, and the counts in papers/index.md.

outlast reproduce --quick --traces /nowhere && python docs/make_verdicts.py out/reproduction-quick/reproduction.json

Without traces, so that it is what a clean clone gives.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "papers"
BEGIN, END = "<!-- counts: made by docs/make_verdicts.py -->", "<!-- end of counts -->"
PAGES = {"diff-raid": "Diff-RAID", "flexible": "Flexible", "hrm": "HRM", "msapl": "mSAPL", "reparo": "Reparo"}


def trimmed(whole: dict[str, Any]) -> dict[str, Any]:
    """Without rows and assumptions: statements, numbers, verdicts and reasons."""
    papers = [
        paper
        | {"figures": [{name: figure[name] for name in ("name", "title", "statements")} for figure in paper["figures"]]}
        for paper in whole["papers"]
    ]
    return whole | {"papers": papers}


def table(whole: dict[str, Any]) -> str:
    """The counts as a table."""
    lines = ["| paper | figures | statements | agree | differ |", "|---|---|---|---|---|"]
    for paper in whole["papers"]:
        counts, name = paper["counts"], paper["paper"]
        numbers = f"{counts['statements']} | {counts['agrees']} | {counts['differs']}"
        lines.append(f"| [{PAGES[name]}]({name}.md) | {len(paper['figures'])} | {numbers} |")
    counts, figures = whole["counts"], sum(len(paper["figures"]) for paper in whole["papers"])
    lines.append(f"| all | {figures} | {counts['statements']} | {counts['agrees']} | {counts['differs']} |")
    return "\n".join(lines)


def main(source: Path) -> None:
    """Writes both."""
    whole = json.loads(source.read_text(encoding="utf-8"))
    if whole["mode"] != "quick" or [paper["paper"] for paper in whole["papers"]] != list(PAGES):
        sys.exit(f"{source}: not the quick reproduction of all papers")
    text = json.dumps(trimmed(whole), indent=1, ensure_ascii=False)
    (FOLDER / "verdicts.json").write_text(text + "\n", encoding="utf-8")
    page = FOLDER / "index.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{table(whole)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
