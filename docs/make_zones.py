"""Draws the picture of zones in the guide: what it costs to finish a zone early, and to reset it.

python docs/make_zones.py docs/zones.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import outlast

FINISH = Path(__file__).parent.parent / "scenarios" / "zn540" / "finish.toml"
BLOCKS = 275_712
SHARES = (0.25, 0.5, 0.75)
COLOURS = ("#4878a8", "#c8ccd0", "#d1873f")
PARTS = ("written by the host", "written by the finish", "reset afterwards")


def figures(share: float) -> tuple[float, float, float]:
    """Milliseconds of a finish at a share of the zone and of its reset, and write amplification."""
    changes = {"workload.zoned.finish_at": share, "workload.zoned.requests": round(3 * share * BLOCKS)}
    summary = outlast.run(FINISH, changes).summary
    times = summary["zones"]["latency_us"]
    return times["finish"]["mean"] / 1e3, times["reset"]["mean"] / 1e3, summary["write_amplification"]["total"]


def picture(found: dict[float, tuple[float, float, float]]) -> str:
    """The picture as SVG: a zone for each share, from its start at the left."""
    parts = []
    width, left = 300, 20
    for row, (share, (finish, reset, factor)) in enumerate(found.items()):
        top = 20 + 66 * row
        own = round(width * share)
        parts.append(f'<rect x="{left}" y="{top}" width="{own}" height="30" fill="{COLOURS[0]}"/>')
        parts.append(f'<rect x="{left + own}" y="{top}" width="{width - own}" height="30" fill="{COLOURS[1]}"/>')
        parts.append(f'<rect x="{left}" y="{top + 32}" width="{own}" height="8" fill="{COLOURS[2]}"/>')
        words = f"finish {finish:.0f} ms, reset {reset:.1f} ms, write amplification {factor:.2f}"
        parts.append(f'<text x="{left + width + 16}" y="{top + 20}">{words}</text>')
    for number, (name, colour) in enumerate(zip(PARTS, COLOURS, strict=True)):
        x = left + 200 * number
        parts.append(f'<rect x="{x}" y="218" width="14" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{x + 20}" y="230">{name}</text>')
    body = "\n".join(parts)
    style = 'font-family="sans-serif" font-size="13" fill="#777"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 244" width="720" {style}>\n{body}\n</svg>\n'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture({share: figures(share) for share in SHARES}), encoding="utf-8")
