"""Writes what the reference of figures says of causes, and the figures that sweeps know, from the simulator's lists.

`make figures`. A cause that is new in crates/ftl/src/causes.rs is then documented and can be asked for.
"""

from __future__ import annotations

import re
from pathlib import Path

from outlast.causes import LATENCY, MEMBERS, PROGRAMS, READS, SHARED

ROOT = Path(__file__).parent.parent
METRICS = ROOT / "docs" / "reference" / "metrics.md"
FIGURES = ROOT / "python" / "outlast" / "sweeps" / "figures.txt"

OF_THE_RUN = ("schema", "version", "name", "seed", "partial", "notes", "policies", "scenario")
OF_THE_COMPUTER = ("time.", "memory.", "throughput.requests_per_cpu_s")


def _row(name: str, unit: str, meaning: str) -> str:
    return f"| `{name}` | {unit} | {meaning} |\n"


def _together(group: str) -> str:
    *names, last = (f"`{name}`" for name in MEMBERS[group])
    return f"{group} of full stripes, whoever wrote them: the sum of {', '.join(names)} and {last}"


def _between(text: str, first: str, last: str, new: str) -> str:
    """The text with all that stands between the end of `first` and the beginning of `last` replaced."""
    start = text.index(first) + len(first)
    return text[:start] + new + text[text.index(last, start) :]


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def metrics(text: str) -> str:
    """The reference with the rows on causes as the simulator lists them."""
    amplification = [(group, _together(group)) for group in SHARED]
    amplification += [(cause.name, cause.meaning) for cause in PROGRAMS if cause.name != "host"]
    rows = "".join(_row(f"write_amplification.{name}", "ratio", meaning) for name, meaning in amplification)
    text = _between(
        text, _row("write_amplification.total", "ratio", "all causes"), "| `write_amplification.by_core`", rows
    )
    rows = "".join(_row(f"latency_causes.OP.mean_ns.{c.name}", "ns", c.meaning) for c in LATENCY)
    before = _row("latency_causes.OP.count", "requests", "whose time was split")
    text = _between(text, before, "| `latency_causes.OP.bands`", rows)
    pages = [(name, f"read {meaning}") for name, meaning in READS.items()]
    pages += [(f"{cause.name}_programs", f"programmed: {cause.meaning}") for cause in PROGRAMS]
    pages += [(f"{group}_programs", f"programmed: {_together(group)}") for group in SHARED]
    rows = "".join(_row(f"flash.by_cause.{name}", "pages", meaning) for name, meaning in pages)
    before = _row("flash.suspends", "operations", "programs and erases suspended for a read")
    text = _between(text, before, "| `gc.victims`", rows)
    text = _between(text, "mapping units programmed by cause, ", ";\n", _listed([f"{c.name}_units" for c in PROGRAMS]))
    return _between(text, "pages read by cause, ", ";\n", _listed(list(READS)))


def _plain(text: str) -> str:
    """Markdown as plain text: of links what they say, and no marks of code."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text.strip()).replace("`", "")


def figures(text: str) -> str:
    """Name, unit and meaning of every figure that the reference lists and that does not differ from run to run."""
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]*)\| ([^|]*)\|", text.split("## Tables")[0], re.M)
    known = (row for row in rows if not row[0].startswith((*OF_THE_RUN, *OF_THE_COMPUTER)))
    return "".join(f"{name}\t{unit.strip()}\t{_plain(meaning)}\n" for name, unit, meaning in known)


def main() -> None:
    """Writes both files."""
    METRICS.write_text(metrics(METRICS.read_text(encoding="utf-8")), encoding="utf-8")
    FIGURES.write_text(figures(METRICS.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
