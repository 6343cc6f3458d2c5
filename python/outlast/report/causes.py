"""Latency by cause: bars from the fastest half of requests to the slowest, stacked by cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from outlast.causes import LATENCY
from outlast.report.figure import Figure, axis, broken
from outlast.report.numbers import micros, percent, plain, text

OPS = ("read", "write")
COLOURS = {
    "queue": "var:--host",
    "link": "var:--heat1",
    "firmware": "var:--muted",
    "map": "var:--heat2",
    "buffer": "var:--write",
    "collection": "var:--gc",
    "die_read": "var:--scrub",
    "die_program": "var:--flush",
    "die_erase": "var:--bad",
    "die_collection": "var:--gc",
    "suspend": "var:--padding",
    "channel": "var:--trim",
    "sensing": "var:--read",
    "decode": "var:--heat2",
    "rereads": "var:--warn",
    "rebuild": "var:--parity",
    "program": "var:--write",
    "stripe_lock": "var:--host",
    "stripe_rebuild": "var:--parity",
    "degraded": "var:--bad",
    "record": "var:--flush",
    "mount": "var:--ink",
    "throttle": "var:--warn",
    "aborted": "var:--line",
}
"""Colour of each cause. Causes of writes alone and causes of reads alone may share one."""
DASHED = frozenset(
    {"map", "program", "die_collection", "stripe_lock", "stripe_rebuild", "degraded", "record", "throttle"}
)
"""Causes whose bars are hatched, so that they are told from those of the same colour."""
NAMED_FROM = 0.1
"""The share from which on a cause is named in a sentence."""
MOST_NAMED = 3


def band_name(band: dict[str, Any]) -> str:
    """A band of percentiles as the axis names it."""
    start, end = (f"{value:.6g}" for value in (band["from"], band["to"]))
    return f"above {start} %" if band["to"] == 100 and band["from"] else f"{start}–{end} %"


def _broken(band: dict[str, Any]) -> str:
    """The name of a band on two lines, so that neighbours have room on a small page."""
    start, end = (f"{value:.6g}" for value in (band["from"], band["to"]))
    return f"above<br>{start} %" if band["to"] == 100 and band["from"] else f"{start} to<br>{end} %"


def stacked(causes: dict[str, Any], op: str) -> Figure | None:
    """The mean time of the requests of each band, by cause."""
    figures = causes.get(op)
    if not figures:
        return None
    bands = figures["bands"]
    names = [band_name(band) for band in bands]
    data = []
    for cause in LATENCY:
        # A result of an earlier version lacks some causes, and had none of them.
        parts = [band["mean_ns"].get(cause.name, 0.0) for band in bands]
        if not any(parts):
            continue
        shares = [
            part / band["latency_ns"] if band["latency_ns"] else 0.0 for part, band in zip(parts, bands, strict=True)
        ]
        data.append(
            {
                "type": "bar",
                "x": names,
                "y": shares,
                "name": cause.label,
                "marker": _marker(cause.name),
                "customdata": [[micros(part / 1e3)] for part in parts],
                "hovertemplate": f"{cause.label}: %{{y:.1%}}, %{{customdata[0]}}<extra></extra>",
            }
        )
    if not data:
        return None
    means = [micros(band["latency_ns"] / 1e3) for band in bands]
    layout = {
        "barmode": "stack",
        "bargap": 0.25,
        "hovermode": "x unified",
        "xaxis": axis(
            "band of percentiles and its mean latency",
            type="category",
            tickvals=names,
            ticktext=[f"{_broken(band)}<br>{mean}" for band, mean in zip(bands, means, strict=True)],
            tickangle=0,
            tickfont={"size": 11},
        ),
        "yaxis": axis("share of their time", tickformat=".0%", range=[0, 1]),
    }
    title, hint = f"What {op}s spend their time on", "from the fastest to the slowest"
    return Figure(f"causes-{op}", data, layout, title, hint, 372)


def _marker(cause: str) -> dict[str, Any]:
    hatched = {"pattern": {"shape": "/"}} if cause in DASHED else {}
    return {"color": COLOURS.get(cause, "var:--muted"), **hatched}


def side_by_side(named: Sequence[tuple[str, dict[str, Any]]], op: str) -> list[Figure]:
    """Time by cause, a bar for each result: the mean over all requests, and over the slowest that all of them have."""
    known = [(name, own) for name, summary in named if (own := (summary.get("latency_causes") or {}).get(op))]
    if len(known) < 2:
        return []
    figures = [_bars(f"causes-{op}", f"All {op}s", [(name, own["mean_ns"]) for name, own in known])]
    ends = [{(band["from"], band["to"]): band["mean_ns"] for band in own["bands"]} for _, own in known]
    if (shared := set.intersection(*map(set, ends))) and (slowest := max(shared))[0] > 0:
        title = f"The slowest {op}s, {band_name({'from': slowest[0], 'to': slowest[1]})}"
        rows = [(name, bands[slowest]) for (name, _), bands in zip(known, ends, strict=True)]
        figures.append(_bars(f"causes-{op}-tail", title, rows))
    return figures


def _bars(name: str, title: str, rows: Sequence[tuple[str, dict[str, float]]]) -> Figure:
    """Mean times by cause in nanoseconds, stacked, a bar for each row."""
    data = []
    for cause in LATENCY:
        parts = [own.get(cause.name, 0.0) for _, own in rows]
        if not any(parts):
            continue
        bar = {"type": "bar", "orientation": "h", "name": cause.label, "x": plain([part / 1e3 for part in parts])}
        bar |= {"y": [broken(row) for row, _ in rows], "customdata": [[micros(part / 1e3)] for part in parts]}
        hover = f"{cause.label}: %{{customdata[0]}}<extra></extra>"
        data.append(bar | {"marker": _marker(cause.name), "hovertemplate": hover})
    layout = {
        "barmode": "stack",
        "xaxis": axis("mean latency, µs", rangemode="tozero"),
        "yaxis": {"autorange": "reversed", "automargin": True, "showgrid": False},
        "hovermode": "closest",
        "bargap": 0.35,
        "showlegend": True,
    }
    return Figure(name, data, layout, title, "by cause", 190 + 40 * len(rows))


def _named(band: dict[str, Any]) -> str:
    """The causes of most of the time of a band, the largest first."""
    labels = {cause.name: cause.label for cause in LATENCY}
    whole = band["latency_ns"]
    large = sorted(((part / whole, name) for name, part in band["mean_ns"].items()), reverse=True)
    largest = [(part, name) for part, name in large[:MOST_NAMED] if part >= NAMED_FROM] or large[:1]
    return ", ".join(f"{text(labels.get(name, name))} {percent(part, 2)}" for part, name in largest)


def finding(causes: dict[str, Any]) -> str:
    """Sentences on the causes of latency of the fast half and of the slowest requests."""
    parts = []
    for op in OPS:
        bands = [band for band in (causes.get(op) or {}).get("bands", []) if band["latency_ns"]]
        if not bands:
            continue
        first, last = bands[0], bands[-1]
        sentence = (
            f"The fastest half of the {op}s" if first["from"] == 0 and first["to"] == 50 else f"{op.capitalize()}s"
        )
        sentence += f" spend <b>{micros(first['latency_ns'] / 1e3)}</b> on {_named(first)}"
        if last is not first:
            sentence += (
                f"; those beyond {last['from']:.6g} % spend <b>{micros(last['latency_ns'] / 1e3)}</b> on {_named(last)}"
            )
        parts.append(sentence + ".")
    return " ".join(parts)
