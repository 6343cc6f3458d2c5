"""Draws the picture of flexible data placement in the guide: which data goes where, and what it saves.

python docs/make_placement.py docs/placement.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import outlast

THREE = Path(__file__).parent.parent / "scenarios" / "examples" / "three-streams.toml"
COLOURS = ("#4878a8", "#d1873f", "#5f9e6e")
STREAMS = ("sequential", "tail", "jumper")
LAYOUTS = {
    "no handles": [[0, 1, 2, 0], [2, 0, 1, 2], [1, 2, 0, 1]],
    "a handle each": [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]],
}
"""Whose data a superblock holds as it is written, by stream."""


def amplifications() -> list[float]:
    """Write amplification under zipf 1.2: without handles, and with a handle for each stream."""
    job = outlast.resolve(THREE)["workload"]["fio"]["job"].replace(
        "norandommap", "norandommap\nrandom_distribution=zipf:1.2"
    )
    jobs = (job.replace("fdp=1", "fdp=0"), job)
    return [outlast.run(THREE, {"workload.fio.job": own}).summary["write_amplification"]["total"] for own in jobs]


def picture(factors: list[float]) -> str:
    """The picture as SVG."""
    parts = []
    for column, (title, superblocks) in enumerate(LAYOUTS.items()):
        left = 20 + 330 * column
        parts.append(f'<text x="{left}" y="24" font-weight="bold">{title}</text>')
        for row, owners in enumerate(superblocks):
            top = 40 + 44 * row
            for place, owner in enumerate(owners):
                x = left + 34 * place
                parts.append(f'<rect x="{x}" y="{top}" width="32" height="32" fill="{COLOURS[owner]}"/>')
            parts.append(f'<rect x="{left - 3}" y="{top - 3}" width="140" height="38" fill="none" stroke="#888"/>')
        height = round(120 * factors[column] / max(factors))
        base = 163
        parts.append(f'<rect x="{left + 170}" y="{base - height}" width="48" height="{height}" fill="#888"/>')
        parts.append(f'<text x="{left + 172}" y="{base - height - 6}">{factors[column]:.2f}</text>')
        parts.append(f'<text x="{left + 228}" y="{base}">bytes written</text>')
    for number, (name, colour) in enumerate(zip(STREAMS, COLOURS, strict=True)):
        x = 20 + 120 * number
        parts.append(f'<rect x="{x}" y="184" width="14" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{x + 20}" y="196">{name}</text>')
    body = "\n".join(parts)
    style = 'font-family="sans-serif" font-size="13" fill="#777"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 210" width="680" {style}>\n{body}\n</svg>\n'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(amplifications()), encoding="utf-8")
