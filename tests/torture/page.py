"""The table of torture cases as a page and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HEAD = "| case | file system | drive | model | states | bad | what was found | states a second | seconds | backend |"
WORDS = {
    "lost": "an acknowledged commit is lost",
    "corrupt": "corrupt",
    "no start": "the array does not start",
    "no mount": "cannot be mounted",
    "fsck": "fsck complains",
}


def line(row: dict[str, Any]) -> str:
    """A row of the table."""
    case = row["case"]
    drive = ", ".join([case["drive"].removesuffix(".toml"), *(text.partition("=")[2] for text in case["set"])])
    if row["missing"] or row["error"]:
        said = f"not run: {', '.join(row['missing'])} is not installed" if row["missing"] else row["error"]
        cells = [case["name"], case["fs"], drive, ", ".join(case["models"]), "", "", said, "", "", ""]
    else:
        models = ", ".join(f"{model} {count}" for model, count in row["of_models"].items())
        found = "; ".join(f"{WORDS.get(kind, kind)}: {count}" for kind, count in row["found"].items()) or "nothing"
        bad, rate = sum(row["found"].values()), f"{row['rate']:.3g}"
        numbers = [str(row["states"]), str(bad), found + chance(row), rate, f"{row['seconds']:.0f}", row["backend"]]
        cells = [case["name"], case["fs"], drive, models, *numbers]
    return f"| {' | '.join(cells)} |"


def chance(row: dict[str, Any]) -> str:
    """Clause on the probability of loss at a random instant, for this drive."""
    risk = row["probability"].get("drive")
    if not risk or not risk["high"] or not row["found"] or risk["probability"] is None:
        return ""
    if risk["exact"]:
        return f"; at a random instant {risk['probability']:.1%}"
    return f"; at a random instant {risk['probability']:.1%} ({risk['low']:.1%}–{risk['high']:.1%})"


def quotes(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Promises in the programs' own words, once for each case."""
    said = dict.fromkeys((row["case"]["name"], row["case"]["because"], row["case"]["source"]) for row in rows)
    return [f"- **{name}**: “{because}” ([source]({source}))" for name, because, source in said]


def write(rows: Sequence[dict[str, Any]], folder: Path) -> None:
    """The rows into the page, between its comments, and into the JSON beside it."""
    must = [line(row) for row in rows if row["case"]["finds"]]
    never = [line(row) for row in rows if not row["case"]["finds"]]
    rule = "|".join(["", *["---"] * 4, *["---:"] * 2, "---", *["---:"] * 2, "---", ""])
    page = folder / "torture-table.md"
    text = page.read_text()
    parts = {"must": [HEAD, rule, *must], "never": [HEAD, rule, *never], "because": quotes(rows)}
    for name, lines in parts.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        assert begin and end, f"{page} has no place for {name}"
        text = "\n".join([f"{before}{begin}", *lines, "", f"{end}{after}"])
    page.write_text(text)
    (folder / "torture-table.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
