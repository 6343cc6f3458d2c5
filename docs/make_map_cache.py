"""Draws the picture of map caches in the guide: mean time of a random read over the range that the host reads.

python docs/make_map_cache.py docs/map-cache.svg
"""

from __future__ import annotations

import sys
from pathlib import Path

import outlast

EXAMPLE = Path(__file__).parent.parent / "scenarios" / "examples" / "map-cache.toml"
MAPPED = 0.25
"""Share of the table that is in memory."""
SHARES = (0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0)
"""Ranges that the host reads, as shares of the drive."""
LEFT, BASE, WIDTH, HEIGHT = 60, 220, 560, 190
COLOURS = {"part of the table in memory": "#4878a8", "all of it": "#5f9e6e"}


def mean_us(share: float, *, whole: bool) -> float:
    """Mean time of reads of one unit, one at a time, over a share of the drive; with the `whole` table in memory or a part of it."""
    changes = {
        "workload.synthetic": {
            **{"pattern": "uniform", "read_percent": 100, "size": "4KiB", "queue_depth": 1, "requests": 20000},
            "span": f"{100 * share:g}%",
        },
        "device.ftl.map_cache.host_lookup": "0s",
        "run": {"warm_up": "300ms"},
    }
    if whole:
        changes["device.ftl.map_cache"] = None
        del changes["device.ftl.map_cache.host_lookup"]
    return float(outlast.run(EXAMPLE, changes).summary["latency_us"]["read"]["mean"])


def picture(curves: dict[str, list[float]]) -> str:
    """The picture as SVG, with the closed form as a dashed line."""
    alone = curves["all of it"][0]
    top = 2.2 * alone

    def place(share: float, value: float) -> tuple[float, float]:
        return LEFT + WIDTH * share, BASE - HEIGHT * value / top

    parts = []
    for factor in (0, 1, 2):
        _, y = place(0, factor * alone)
        parts.append(f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="#8885"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{factor * alone:.0f}</text>')
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, _ = place(share, 0)
        parts.append(f'<text x="{x:.1f}" y="{BASE + 18}" text-anchor="middle">{share:.0%}</text>')
    parts.append(f'<text x="{LEFT + WIDTH}" y="{BASE + 36}" text-anchor="end">of the drive are read</text>')
    parts.append('<text x="8" y="14">µs</text>')
    law = [place(share, alone * (2 - min(1.0, MAPPED / share))) for share in (MAPPED, *SHARES[3:])]
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in law)
    parts.append(f'<path d="M{steps}" fill="none" stroke="#888" stroke-dasharray="4 3"/>')
    for number, (name, values) in enumerate(curves.items()):
        dots = [place(share, value) for share, value in zip(SHARES, values, strict=True)]
        steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in dots)
        parts.append(f'<path d="M{steps}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        parts.append(f'<text x="{LEFT + 10 + 210 * number}" y="{BASE + 36}" fill="{COLOURS[name]}">{name}</text>')
    body = "\n".join(parts)
    style = 'font-family="sans-serif" font-size="13" fill="#777"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 262" width="640" {style}>\n{body}\n</svg>\n'


if __name__ == "__main__":
    drawn = {name: [mean_us(share, whole=name == "all of it") for share in SHARES] for name in COLOURS}
    Path(sys.argv[1]).write_text(picture(drawn), encoding="utf-8")
