"""Errors and what was done about them: error rates, wrong bits, re-reads, exact tails, decisions, the twin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from outlast.report.figure import READ, WRITE, Figure, axis, latency_axis, line
from outlast.report.latency import tail_axis
from outlast.report.numbers import Floats, floats, micros, plain, raised, share, short, text, tiny
from outlast.report.timeline import OVER_TIME, middles

MOST_POINTS = 4000
TAILS = {"after_ecc": "after ECC", "after_rereads": "after re-reads", "after_stripe": "after stripe parity"}
REASONS = {
    "space": ("garbage collection", "var:--gc", "circle"),
    "wear": ("wear levelling", "var:--flush", "diamond"),
    "reads": ("scrubbing: reads", "var:--read", "square"),
    "age": ("scrubbing: age", "var:--trim", "triangle-up"),
    "expected-errors": ("scrubbing: expected errors", "var:--write", "cross"),
    "rereads": ("scrubbing: re-reads", "var:--scrub", "star"),
    "patrol": ("scrubbing: patrol", "var:--padding", "hexagon"),
    "exposed": ("scrubbing: stripes that lost members", "var:--bad", "x"),
    "code": ("another code", "var:--parity", "pentagon"),
    "dies": ("dies added", "var:--host", "hourglass"),
    "evacuation": ("a die expected to fail", "var:--warn", "bowtie"),
}


NOT_OF_FLASH = ("device", "power", "replace", "parity-cache")
"""Kinds of `[[faults]]` after which flash reads as well as before."""


def can_fail(summary: dict[str, Any]) -> bool:
    """True if the settings of this run allow any error or failure of flash."""
    device = summary["scenario"].get("device") or {}
    hazards = device.get("hazards") or {}
    of_flash = [fault for fault in summary["scenario"].get("faults") or () if fault.get("kind") not in NOT_OF_FLASH]
    return "reliability" in summary and bool(device.get("reliability") or of_flash or any(hazards.values()))


def ecc(summary: dict[str, Any]) -> tuple[int | None, int]:
    """Wrong bits that the code corrects (`None`: any number), and bits of a codeword."""
    code = ((summary["scenario"].get("device") or {}).get("reliability") or {}).get("ecc") or {}
    return code.get("strength"), (code.get("data_bits") or 0) + (code.get("parity_bits") or 0)


def rates(series: dict[str, Floats]) -> Figure | None:
    """The raw bit error rate over blocks with data, at the end of each window."""
    if not series.get("rber_max", np.zeros(1)).max() > 0:
        return None
    x, data = middles(series), []
    levels = (("mean", "mean", READ, "solid"), ("p50", "median", READ, "dot"))
    for key, label, colour, dash in (*levels, ("p99", "99 %", WRITE, "dash"), ("max", "worst block", WRITE, "solid")):
        values = np.where(series[f"rber_{key}"] > 0, series[f"rber_{key}"], np.nan)
        data.append(line(x, plain(values), label, colour, dash=dash, hovertemplate="%{y:.3~e}"))
    layout = OVER_TIME | {"yaxis": axis("raw bit error rate", type="log", exponentformat="power")}
    return Figure("error-rates", data, layout, "Raw bit error rate", "over blocks with data, before any correction")


def wrong_bits(table: dict[str, Any], strength: int | None) -> Figure | None:
    """The distribution of wrong bits of a codeword at its first read, with what the ECC corrects."""
    if not table or not np.sum(table["codewords"]):
        return None
    bits, codewords = floats(table["wrong_bits"]), floats(table["codewords"])
    total = codewords.sum()
    exceeding = 1.0 - np.cumsum(codewords) / total
    shown = exceeding > 0.5 / total
    x, y = np.append(-1, bits[shown]), np.append(1.0, exceeding[shown])
    hover = "%{y:.2~e} of the codewords have more than %{x} wrong bits<extra></extra>"
    data = [line(plain(x), plain(y), "codewords", READ, shape="hv", width=2.2, hovertemplate=hover)]
    lowest = float(y[-1]) if len(y) > 1 else 1.0
    if strength is not None:
        ends = [1.0, min(lowest, 1e-2)]
        name = f"the ECC corrects {strength}"
        data.append(line([strength] * 2, ends, name, "var:--ink", dash="dash", hovertemplate=f"{name}<extra></extra>"))
    y_axis = tail_axis(lowest) | {"title": {"text": "share of codewords"}}
    layout = {"xaxis": axis("wrong bits of a codeword"), "yaxis": y_axis, "hovermode": "closest"}
    return Figure("wrong-bits", data, layout, "Wrong bits", f"of {short(total)} sampled codewords at their first read")


def again(series: dict[str, Floats]) -> Figure | None:
    """Pages read again and read to rebuild others, and units that could not be read, each second."""
    x, span, data = middles(series), series["end_s"] - series["start_s"], []
    kinds = (("rereads", "re-reads", READ), ("stripe_reads", "reads of stripes", "var:--parity"))
    for name, label, colour in (*kinds, ("uncorrectable_reads", "uncorrectable units", "var:--bad")):
        if name in series and series[name].any():
            rate = plain(share(series[name], span))
            data.append(line(x, rate, label, colour, shape="hvh", hovertemplate="%{y:,.4~r}"))
    if not data:
        return None
    layout = OVER_TIME | {"yaxis": axis("per second", rangemode="tozero"), "showlegend": True}
    return Figure("read-again", data, layout, "Re-reads", "pages of flash per second")


def decades(lowest: float, highest: float) -> tuple[list[int], list[int]]:
    """Range and ticks of an axis of common logarithms: two decades of room or more, not beyond 1, and round steps."""
    room = max(2, math.ceil(0.1 * (highest - lowest)))
    low, high = math.floor(lowest) - room, min(math.ceil(highest) + room, 0)
    step = next(
        step for power in range(9) for step in (10**power, 2 * 10**power, 5 * 10**power) if high - low <= 8 * step
    )
    return [low, high], [tick for tick in range(low, high + 1) if tick % step == 0]


def tails(runs: list[tuple[str, str, dict[str, Any]]]) -> Figure | None:
    """The exact bit error rate that is left after each mechanism; `runs` are name, colour and `reliability.exact`."""
    all_logs = [[exact[key]["log10_uber"] for key in TAILS] for _, _, exact in runs]
    known = [value for logs in all_logs for value in logs if value is not None]
    if not known:
        return None
    (low, high), ticks = decades(min(known), max(known))
    # Beside the dots of several runs there is no room for values.
    steps, alone = list(TAILS.values()), len(runs) == 1
    data, notes = [], []
    for place, ((name, colour, _), logs) in enumerate(zip(runs, all_logs, strict=True)):
        at = plain([step + 0.8 * ((place + 0.5) / len(runs) - 0.5) for step in range(len(steps))])
        dots = {
            "type": "scatter",
            "mode": "markers+text" if alone else "markers",
            "name": name,
            "x": at,
            "y": plain(logs),
        }
        words = ["never" if value is None else tiny(None, value) for value in logs]
        labels: dict[str, Any] = {"text": words, "customdata": steps, "cliponaxis": False}
        # Close to the top a value stands below its dot.
        top = high - 0.1 * (high - low)
        labels["textposition"] = ["top center" if value is None or value <= top else "bottom center" for value in logs]
        hover = f"{text(name)}, %{{customdata}}: %{{text}} per bit<extra></extra>"
        data.append(dots | labels | {"marker": {"color": colour, "size": 9}, "hovertemplate": hover})
        never = [x for x, value in zip(at, logs, strict=True) if value is None and alone]
        notes += [{"x": x, "y": low, "text": "never", "showarrow": False, "yshift": 12} for x in never]
    lines = [step.replace(" ", "<br>", 1) for step in steps]
    named = {"tickvals": list(range(len(steps))), "ticktext": lines, "range": [-0.5, len(steps) - 0.5]}
    rates = {"tickvals": ticks, "ticktext": [f"10{raised(tick)}" for tick in ticks], "range": [low, high]}
    layout = {
        "xaxis": axis("", showgrid=False, tickangle=0, **named),
        "yaxis": axis("uncorrectable bit error rate", **rates),
        "annotations": notes,
        "showlegend": len(runs) > 1,
        "hovermode": "closest",
    }
    return Figure("tails", data, layout, "Exact tails", "computed for each unit read, not counted")


def decisions(table: dict[str, Any], key: str, strength: int | None) -> Figure | None:
    """Relocations over time by reason, at what they had to move or at the errors that were expected there."""
    if not table or not len(table["at_s"]):
        return None
    at, reason, values = floats(table["at_s"]), np.asarray(table["reason"]), floats(table[key])
    # Space is the everyday reason; the others are few and are what a reader looks for.
    step = -(-len(at) // MOST_POINTS)
    is_shown = np.isfinite(values) & ((reason != "space") | (np.arange(len(at)) % step == 0))
    data = []
    for name, (label, colour, symbol) in REASONS.items():
        chosen = np.flatnonzero(is_shown & (reason == name))
        chosen = chosen[:: -(-len(chosen) // MOST_POINTS)] if len(chosen) else chosen
        if not len(chosen):
            continue
        unit = "valid units" if key == "valid_units" else "wrong bits expected in the worst codeword"
        points = {
            "type": "scatter",
            "mode": "markers",
            "name": label,
            "x": plain(at[chosen]),
            "y": plain(values[chosen]),
        }
        marker = {"color": colour, "symbol": symbol, "size": 6, "opacity": 0.7}
        hover = f"{label} at %{{x:.4~r}} s: %{{y:,.4~r}} {unit}<extra></extra>"
        data.append(points | {"marker": marker, "hovertemplate": hover})
    if not data:
        return None
    title = "valid units to move" if key == "valid_units" else "expected wrong bits, worst codeword"
    layout: dict[str, Any] = {"xaxis": axis("simulated time, s"), "yaxis": axis(title), "hovermode": "closest"}
    layout |= {"showlegend": True}
    if key != "valid_units" and strength is not None:
        style = {"color": "var:--ink", "width": 1.2, "dash": "dash"}
        layout["shapes"] = [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": strength, "y1": strength, "line": style}
        ]
    hint = f"one in {step} relocations shown" if step > 1 else "each point a superblock"
    hint += "; dashed: what the ECC corrects" if "shapes" in layout else ""
    name = "decisions" if key == "valid_units" else "decisions-errors"
    caption = "Relocations by reason" if key == "valid_units" else "Errors expected at relocation"
    return Figure(name, data, layout, caption, hint)


def beside_twin(summary: dict[str, Any]) -> Figure | None:
    """Latencies of this drive and of its error-free twin."""
    twin = summary["reliability"]["twin"]
    if not twin:
        return None
    names, own, other = [], [], []
    for op in ("read", "write"):
        mine, its = summary["latency_us"][op], twin[f"{op}_us"]
        if mine and its:
            for key, label in (("mean", "mean"), ("p99", "99 %"), ("p99_9", "99.9 %"), ("max", "max")):
                names.append(f"{op}, {label}")
                own.append(mine[key])
                other.append(its[key])
    if not names:
        return None
    data = []
    for label, values, colour in (("error-free twin", other, "var:--host"), ("this drive", own, READ)):
        bar = {"type": "bar", "name": label, "x": names, "y": plain(values), "marker": {"color": colour}}
        texts = [micros(value) for value in values]
        data.append(bar | {"customdata": texts, "hovertemplate": f"{label}, %{{x}}: %{{customdata}}<extra></extra>"})
    low = min(value for value in own + other if value > 0)
    y_axis = latency_axis(low / 2, max(own + other))
    layout = {"yaxis": y_axis, "xaxis": {"showgrid": False, "type": "category"}, "bargap": 0.25, "hovermode": "closest"}
    return Figure("twin", data, layout, "Beside the error-free twin", "same seed, same requests")
