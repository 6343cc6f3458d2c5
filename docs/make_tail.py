r"""Takes the picture of a tail that the README shows: what reads spend their time on, without and with suspension.

outlast run demo --set run.causes=true --out out/tail
outlast run demo --set run.causes=true --out out/suspend \
    --set 'device.timing.suspend={program=true, erase=true, overhead="20us", limit=8}'
python docs/make_tail.py out/tail out/suspend docs/tail.png
"""

from __future__ import annotations

import io
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import make_picture
from PIL import Image

import outlast
from outlast.report import causes
from outlast.report.numbers import micros
from outlast.report.page import Section, document

TITLES = ("Reads wait for programs and erases", "Reads suspend programs and erases")
HEIGHT, TOP, COLOURS = 640, 150, 96
"""Of the page, what is cut off at its top, and of the picture."""


def main(folders: list[str], picture: Path) -> None:
    """One chart for each result, side by side."""
    section = Section("tails", "What reads spend their time on, from the fastest to the slowest", columns="two")
    for title, folder in zip(TITLES, folders, strict=True):
        result = outlast.load(folder)
        chart = causes.stacked(result.summary["latency_causes"], "read")
        if chart is None:
            sys.exit(f"{folder}: made without run.causes")
        tail = micros(result.latency_us.read.p99_9)
        section.add(replace(chart, name=f"tail-{len(section.cards)}", title=title, hint=f"99.9th percentile {tail}"))
    header = '<div class="mark">Outlast</div><h1>A tail and its cause</h1>'
    with tempfile.TemporaryDirectory() as temporary:
        page = Path(temporary) / "tail.html"
        page.write_text(document("A tail and its cause", header, [section], ""), encoding="utf-8")
        make_picture.HEIGHT = HEIGHT
        image = Image.open(io.BytesIO(make_picture.screenshot(page))).convert("RGB")
    image = image.crop((0, TOP, image.width, HEIGHT))
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(picture, optimize=True)
    print(f"{picture}: {picture.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main(sys.argv[1:3], Path(sys.argv[3]))
