"""Energy and heat among the reasons of a drive's speed: what it drew, how warm it was, and whether heat limits it."""

from __future__ import annotations

from typing import Any

from outlast.report.numbers import percent
from outlast.why.parts import Figures, named

THROTTLED = 0.1
"""Share of the time with throttling, or of latency spent in `throttle`, from which heat or rest is said to limit."""


def heat(summary: dict[str, Any]) -> tuple[str, Figures] | None:
    """Power that the drive drew and how warm it was; first, if that is so, that heat slows the host down."""
    energy = summary.get("energy")
    if not energy:
        return None
    names = ["energy.mean_watts"]
    drew = f"The drive drew {energy['mean_watts']:.3g} W on average"
    if energy["joules_per_host_gb"] is not None:
        drew += f", {energy['joules_per_host_gb']:.3g} J for each gigabyte of the host"
        names.append("energy.joules_per_host_gb")
    warm = energy.get("heat")
    if warm:
        drew += f"; its controller was {warm['hottest_celsius']:.1f} °C warm at most"
        names.append("energy.heat.hottest_celsius")
    text = f"{drew}."
    waits = _waits(summary)
    longest = max(waits, key=waits.__getitem__, default=None)
    if warm and warm["throttled_share"] >= THROTTLED:
        text = f"Heat limits the host: it was throttled for {percent(warm['throttled_share'])} of the time. {text}"
        text += " A better heatsink, cooler air or less power would let it in faster."
        names.append("energy.heat.throttled_share")
    elif longest is not None and waits[longest] >= THROTTLED:
        which = "waking up from rest" if energy["wakes"] and not (warm and warm["throttled_share"]) else "heat or rest"
        text += f" On average {longest}s spend {percent(waits[longest])} of their time on {which}."
    if longest is not None and waits[longest] >= THROTTLED:
        names.append(f"latency_causes.{longest}.mean_ns.throttle")
    return text, named(summary, *names)


def _waits(summary: dict[str, Any]) -> dict[str, float]:
    """Shares of the latency of reads and of writes that are spent in `throttle`; none without `run.causes`."""
    causes = summary.get("latency_causes") or {}
    means = {op: own["mean_ns"] for op in ("read", "write") if (own := causes.get(op))}
    return {op: mean["throttle"] / total for op, mean in means.items() if (total := sum(mean.values()))}
