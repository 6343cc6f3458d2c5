"""Draws the picture of SLC caches in the guide: bandwidth over bytes written of three client drives, filled from empty.

python docs/make_slc_cache.py docs/slc-cache.svg
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import outlast

CLIENT = Path(__file__).parent.parent / "scenarios" / "presets" / "client"
DRIVES = {
    "Samsung 980 PRO": ("samsung-980pro-1t-cache", "#4878a8"),
    "ADATA Atom 50": ("adata-atom50-1t", "#d1873f"),
    "Team MP44S (QLC)": ("team-mp44s-1t", "#5f9e6e"),
}
PART = 100
"""Points drawn of each drive, about."""
LEFT, BASE, WIDTH, HEIGHT = 60, 220, 560, 190
LOWEST, HIGHEST = 0.08, 6.0
"""Ends of the axis of bandwidth, in GB/s."""


def curve(preset: str) -> list[tuple[float, float]]:
    """GB written, of the drive in full, and GB/s from there to the next point."""
    result = outlast.run(CLIENT / f"{preset}.toml")
    series, scale = result.columns("timeseries"), outlast.resolve(CLIENT / f"{preset}.toml")["run"]["capacity_scale"]
    starts, ends = list(series["start_s"]), list(series["end_s"])
    written = list(series["host_write_bytes"])
    each = max(1, len(written) // PART)
    points, total = [], 0.0
    for first in range(0, len(written), each):
        own = float(sum(written[first : first + each])) / 1e9
        span = float(ends[min(first + each, len(ends)) - 1] - starts[first])
        points.append((total * scale, own / span))
        total += own
    return points


def place(gigabytes: float, rate: float) -> tuple[float, float]:
    """Place of a point in the picture."""
    height = math.log(max(rate, LOWEST) / LOWEST) / math.log(HIGHEST / LOWEST)
    return LEFT + WIDTH * gigabytes / 1000, BASE - HEIGHT * height


def picture(curves: dict[str, list[tuple[float, float]]]) -> str:
    """The picture as SVG."""
    parts = []
    for rate in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0):
        _, y = place(0, rate)
        parts.append(f'<path d="M{LEFT} {y:.1f}h{WIDTH}" stroke="#8885"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{rate:g}</text>')
    for gigabytes in range(0, 1001, 200):
        x, _ = place(gigabytes, 1)
        parts.append(f'<text x="{x:.1f}" y="{BASE + 18}" text-anchor="middle">{gigabytes}</text>')
    parts.append(f'<text x="{LEFT + WIDTH}" y="{BASE + 34}" text-anchor="end">GB written</text>')
    parts.append('<text x="8" y="18">GB/s</text>')
    for number, (name, points) in enumerate(curves.items()):
        colour = DRIVES[name][1]
        ends = [gigabytes for gigabytes, _ in points[1:]] + [1000.0]
        steps = "".join(
            f"L{x:.1f} {y:.1f}L{place(end, rate)[0]:.1f} {y:.1f}"
            for (gigabytes, rate), end in zip(points, ends, strict=True)
            for x, y in [place(gigabytes, rate)]
        )
        parts.append(f'<path d="M{steps[1:]}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{LEFT + 10 + 170 * number}" y="{BASE + 34}" fill="{colour}">{name}</text>')
    body = "\n".join(parts)
    style = 'font-family="sans-serif" font-size="13" fill="#777"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 262" width="640" {style}>\n{body}\n</svg>\n'


if __name__ == "__main__":
    drawn = picture({name: curve(preset) for name, (preset, _) in DRIVES.items()})
    Path(sys.argv[1]).write_text(drawn, encoding="utf-8")
