"""Puts what `outlast reproduce drives` found into the documentation: the tables of drives.md, and the picture.

outlast reproduce drives && python docs/make_drives.py out/drives-quick/reproduction.json

With --no-picture the tables alone, for which no Chromium is needed.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import make_picture
from PIL import Image

from outlast.products.reproduce.drives import charts, common, latency
from outlast.products.reproduce.drives.measured import FIGURES
from outlast.products.reproduce.model import Table
from outlast.report.page import Section, document

PAGE, PICTURE = Path(__file__).parent / "drives.md", Path(__file__).parent / "drives.png"
BEGIN, END = "<!-- {name}: made by docs/make_drives.py -->", "<!-- end of {name} -->"
SHOWN = ("50", "99")
"""Percentiles of the picture."""
HEIGHT, COLOURS = 1740, 96

Chapter = dict[str, Any]


def counts(chapter: Chapter) -> str:
    """Statements by figure."""
    lines = ["| | predicted statements | agree | differ |", "|---|---|---|---|"]
    sums = [0, 0]
    for figure in chapter["figures"]:
        verdicts = [verdict["verdict"] for verdict in figure["statements"]]
        agree = verdicts.count("agrees")
        sums = [sums[0] + len(verdicts), sums[1] + agree]
        lines.append(f"| {figure['title']} | {len(verdicts)} | {agree} | {len(verdicts) - agree} |")
    return "\n".join([*lines, f"| all | {sums[0]} | {sums[1]} | {sums[0] - sums[1]} |"])


def amplification(chapter: Chapter) -> str:
    """Write amplification and host rates, each point with its kind."""
    lines = ["| drive | space in use | workload | measured | simulated | off | kind |", "|---|---|---|---|---|---|---|"]
    for row in rows(chapter, "waf"):
        values = f"{row['measured']:.3f} | {row['simulated']:.3f} | {row['off_percent']:+.1f} %"
        lines.append(f"| {row['drive']} | {row['fill']} | {row['workload']} | {values} | {row['kind']} |")
    lines += [
        "",
        "| drive | space in use | measured, MB/s | simulated, MB/s | off | kind |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows(chapter, "rates"):
        values = f"{row['measured']:.0f} | {row['simulated']:.0f} | {row['off_percent']:+.1f} %"
        lines.append(f"| {row['drive']} | {row['fill']} | {values} | {row['kind']} |")
    return "\n".join(lines)


def latencies(chapter: Chapter) -> str:
    """The loads that are judged: measured / simulated, fitted points in parentheses."""
    lines = []
    for drive in common.DRIVES:
        own = rows(chapter, drive.key)
        most = max(row["writes simulated"] for row in own)
        lines += [
            "",
            f"**{drive.name}**: at most {max(row['writes measured'] for row in own) / 1000:.1f} k writes/s measured, "
            f"{most / 1000:.1f} k simulated.",
            "",
            f"| load | {' | '.join(FIGURES)} |",
            f"|---|{'---|' * len(FIGURES)}",
        ]
        for share, load in latency.judged(drive).items():
            (row,) = (row for row in own if row["load"] == latency.name(load))
            cells = [cell(row, figure, latency.kind(drive, load, figure)) for figure in FIGURES]
            lines.append(f"| {100 * share:.0f} %, {row['load']} | {' | '.join(cells)} |")
    return "\n".join(lines[1:])


def cell(row: dict[str, Any], figure: str, kind: str) -> str:
    """Measured / simulated."""
    words = f"{row[f'{figure} measured']:.0f} / {row[f'{figure} simulated']:.0f}"
    return f"({words})" if kind == common.FITTED else words


def misses(chapter: Chapter) -> str:
    """What differs, and why."""
    lines = []
    for figure in chapter["figures"]:
        off = [verdict for verdict in figure["statements"] if verdict["verdict"] != "agrees"]
        because = list(dict.fromkeys(verdict["because"] for verdict in off))
        if off:
            lines.append(f"- **{figure['title']}**, {len(off)} of {len(figure['statements'])}: {'; '.join(because)}.")
    return "\n".join(lines) or "Nothing."


def rows(chapter: Chapter, name: str) -> list[dict[str, Any]]:
    """The rows of a figure."""
    (figure,) = (figure for figure in chapter["figures"] if figure["name"] == name)
    found: list[dict[str, Any]] = figure["rows"]
    return found


def picture(chapter: Chapter) -> None:
    """Medians and 99th percentiles of all drives, as the page would show them."""
    section = Section("curves", "Latency against load: measured dotted, simulated solid", columns="two")
    for drive in common.DRIVES:
        for chart in charts.of_drive(drive, Table(rows(chapter, drive.key)))[: len(SHOWN)]:
            section.add(chart)
    header = '<div class="mark">Outlast</div><h1>Real drives, measured and simulated</h1>'
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "drives.html"
        page.write_text(document("Real drives", header, [section], ""), encoding="utf-8")
        make_picture.HEIGHT = HEIGHT
        image = Image.open(io.BytesIO(make_picture.screenshot(page))).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1024} KiB")


def main(source: Path, *, with_picture: bool) -> None:
    """Writes the tables into the page, and the picture."""
    (chapter,) = json.loads(source.read_text(encoding="utf-8"))["papers"]
    if chapter["paper"] != "drives" or {figure["name"] for figure in chapter["figures"]} < {"waf", "rates", "pe8110"}:
        sys.exit(f"{source}: not a whole reproduction of drives")
    text = PAGE.read_text(encoding="utf-8")
    for name, make in (
        ("counts", counts),
        ("amplification", amplification),
        ("latency", latencies),
        ("misses", misses),
    ):
        begin, end = BEGIN.format(name=name), END.format(name=name)
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{make(chapter)}\n{end}{after}"
    PAGE.write_text(text, encoding="utf-8")
    if with_picture:
        picture(chapter)


if __name__ == "__main__":
    main(Path(sys.argv[1]), with_picture="--no-picture" not in sys.argv)
