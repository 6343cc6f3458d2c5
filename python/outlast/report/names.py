"""Figures in words: what a heading calls each of them, in which unit, and how its value is written."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from outlast.report.numbers import micros, percent, seconds, short, size, text, tiny
from outlast.sweeps import figures

PERCENTILES = {
    "mean": "mean",
    "min": "fastest",
    "p50": "median",
    "p90": "90th percentile",
    "p95": "95th percentile",
    "p99": "99th percentile",
    "p99_9": "99.9th percentile",
    "p99_99": "99.99th percentile",
    "p99_999": "99.999th percentile",
    "p99_9999": "99.9999th percentile",
    "max": "slowest",
}
"""Labels of the percentiles of a latency distribution, in the order of tables."""
_STEPS = {"after_ecc": "UBER after ECC", "after_rereads": "UBER after re-reads", "after_stripe": "UBER, exact"}
_WORDS = {
    "host.errors": "requests not served",
    "smart.read_only": "read-only at the end",
    "throughput.iops": "IOPS",
    "throughput.read_iops": "read IOPS",
    "throughput.write_iops": "write IOPS",
    "throughput.read_mib_s": "read throughput",
    "throughput.write_mib_s": "write throughput",
    "write_amplification.total": "write amplification",
    "write_amplification.gc": "write amplification, garbage collection",
    "closed_form.greedy_waf": "write amplification, closed form",
    "reliability.uber_exact": "UBER, exact",
    "reliability.rereads_per_read": "re-reads per read",
    "reliability.medium_errors": "medium errors",
    "reliability.uncorrectable_reads": "uncorrectable reads",
    "reliability.scrubbed.superblocks": "superblocks scrubbed",
    "reliability.twin.read_mean_ratio": "mean read latency, ratio to the error-free twin’s",
    "wear.mean_pe": "P/E cycles, mean",
    "wear.max_pe": "P/E cycles, maximum",
    "wear.min_pe": "P/E cycles, minimum",
    "endurance.rated_cycles": "P/E cycles, rated",
    "endurance.tbw_bytes": "TBW",
    "endurance.dwpd": "DWPD",
    "queue.mean_in_flight": "requests in flight, mean",
    "queue.max_in_flight": "requests in flight, maximum",
    "queue.die_utilisation.mean": "dies busy, mean",
    "queue.die_utilisation.min": "dies busy, least",
    "queue.die_utilisation.max": "dies busy, most",
    "gc.mean_valid": "valid units of a victim",
    "gc.victims": "superblocks moved",
    "array.data_loss.per_year": "probability of data loss in a year",
    "array.data_loss.mttdl_hours": "mean time to data loss",
}
"""Figures whose name a person says otherwise than the key does."""
JUDGED = {True: "yes", False: "no", None: "not judged"}
"""Word for steady state reached, not reached, or not judged."""
_HYPHENED = {"over_provisioning": "over-provisioning", "warm_up": "warm-up"}
"""Ends of settings that a person writes with a hyphen."""
_UNIT = re.compile("_(?:s|ms|us|ns|bytes|mib_s|mib|hours)$")
"""Ends of keys that are units."""
_CARRIED = {"µs", "ns", "s", "seconds", "s, simulated", "bytes", "share", "probability", "1/bit", "errors/bit"}
"""Units that the written value has itself, or does not need."""


def words(name: str) -> str:
    """A figure's name in words."""
    if name in _WORDS:
        return _WORDS[name]
    parts = name.split(".")
    if len(parts) == 3 and parts[0] == "latency_us" and parts[2] in PERCENTILES:
        return f"{parts[1]} latency, {PERCENTILES[parts[2]]}"
    if name.startswith("reliability.exact.") and parts[-1] in ("uber", "log10_uber"):
        return _STEPS.get(parts[2], name)
    # The unit is written behind the value or the title.
    return " ".join(_UNIT.sub("", part) for part in parts).replace("_", " ")


def spoken(name: str) -> str:
    """A figure's name inside a sentence."""
    parts = name.split(".")
    if len(parts) == 3 and parts[0] == "latency_us" and parts[2] in PERCENTILES:
        key = PERCENTILES[parts[2]].replace("th percentile", "th-percentile")
        return f"{key} {parts[1]} latency"
    return words(name)


@cache
def unit(name: str) -> str:
    """A figure's unit as a heading has it; empty of ratios and of what has none."""
    own = figures.unit(name).partition(",")[0]
    if name.endswith("log10_uber"):
        return "log10"
    return {"ratio": "", "seconds": "s", "requests/s": "requests/s"}.get(own, own)


def titled(name: str) -> str:
    """Words and unit, for the axis of a chart."""
    unit_name = unit(name)
    return f"{words(name)} ({unit_name})" if unit_name else words(name)


def carries(name: str) -> bool:
    """True if a `written` value includes its unit or needs none."""
    return name.endswith("log10_uber") or figures.unit(name) in _CARRIED


def heading(name: str) -> str:
    """Words, and the unit unless values are `written` with it."""
    unit_name = unit(name)
    # "P/E cycles, mean (cycles)" says its unit twice.
    has_unit = unit_name in words(name) or name == "throughput.iops"
    return words(name) if has_unit or carries(name) else titled(name)


def terabytes(value: float | None) -> str:
    """Bytes in the decimal units of data sheets."""
    if value is None:
        return "–"
    for limit, unit_name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB")):
        if value >= limit:
            return f"{short(value / limit)} {unit_name}"
    return f"{short(value / 1e6)} MB"


def of_log(log10: float | None) -> str:
    """A probability that is given as a common logarithm, since no float may hold it."""
    return "–" if log10 is None else tiny(None, log10)


_BY_UNIT: dict[str, Callable[[float | None], str]] = {
    "µs": micros,
    "ns": lambda value: micros(None if value is None else value / 1e3),
    "s": seconds,
    "bytes": size,
    "share": percent,
    "probability": tiny,
    "1/bit": tiny,
    "errors/bit": tiny,
}


def written(name: str, value: float | None, digits: int | None = None) -> str:
    """A figure's value as a person reads it, with its unit unless the `heading` has it.

    With so many significant digits, by default four of write amplifications and three of all else.
    """
    digits = digits or (4 if name.startswith("write_amplification.") or name.endswith("_waf") else 3)
    if name.endswith("log10_uber"):
        return of_log(value)
    if name == "endurance.tbw_bytes":
        return terabytes(value)
    shown = _BY_UNIT.get(unit(name))
    if shown is percent:
        return percent(value, digits)
    return shown(value) if shown is not None else short(value, digits)


_NUMBER = re.compile(r"[-−]?[\d\u202f]+(?:\.\d+)?")
_SCALES = (*(10.0**power for power in range(-320, 40)), *(1024.0**power for power in range(1, 6)), 60.0, 3600.0)
"""Ratios between a figure's unit and the unit of a `written` value that are recognised."""


def spread(name: str, half: float, mean: float, digits: int | None = None) -> str:
    """A deviation in the unit in which a mean is `written`, with as many decimals, but two digits at least."""
    mean_text = written(name, mean, digits)
    shown = _NUMBER.match(mean_text)
    number = float(shown[0].replace("−", "-").replace("\u202f", "")) if shown else 0.0
    if shown is None or not number or not mean or not half:
        return written(name, half, 2)
    # What was rounded off is far less than the distance of two scales.
    near = math.log(abs(mean / number))
    scaled = half / min(_SCALES, key=lambda scale: abs(math.log(scale) - near))
    if scaled < 1e-5:
        return written(name, half, 2)
    decimals = max(len(shown[0].partition(".")[2]), 1 - math.floor(math.log10(scaled)))
    return f"{scaled:,.{decimals}f}".replace(",", "\u202f") + mean_text[shown.end() :]


def tip(name: str) -> str:
    """Attributes of an element that make it explain a figure: name, unit and meaning as the reference has them."""
    meaning = figures.meaning(name)
    if not meaning:
        return ""
    unit_name = figures.unit(name)
    first = f"{name} ({unit_name})" if unit_name else name
    return f' data-tip="{text(first)}&#10;{text(meaning)}"'


def tips(*names: str) -> str:
    """The same of several figures, one after another."""
    lines = []
    for name in names:
        if meaning := figures.meaning(name):
            lines.append(f"{text(name)}: {text(meaning)}")
    return f' data-tip="{"&#10;".join(lines)}"' if lines else ""


def label(label_text: str, attributes: str) -> str:
    """Text that explains itself under the pointer, with the keyboard and by touch; plain where nothing is known."""
    return f'<span class="told" tabindex="0"{attributes}>{label_text}</span>' if attributes else label_text


def called(name: str, said: str | None = None) -> str:
    """The words of a figure as HTML that explains itself."""
    return label(text(words(name) if said is None else said), tip(name))


def setting(name: str) -> str:
    """A setting in words: the end of its dotted name, with what it is of where that is one word."""
    parts = name.split(".")
    if parts[-1] in _HYPHENED:
        return _HYPHENED[parts[-1]]
    last = parts[-1] if "_" in parts[-1] or len(parts) < 2 else " ".join(parts[-2:])
    return last.replace("_", " ").replace(" iops", " (IOPS)")


def setting_tip(name: str) -> str:
    """Attributes that explain a setting as the reference of settings does."""
    from outlast.setting import about

    description = about(name)
    return f' data-tip="{text(name)}{"&#10;" + text(description) if description else ""}"'


def figure_of(summary: Any, name: str) -> Any:
    """The figure of a dotted name, those of endurance too; `None` where it or a parent is absent."""
    if name.startswith("endurance."):
        from outlast import endurance

        worn = endurance.endurance_of(summary)
        return None if worn is None else worn.figures().get(name.removeprefix("endurance."))
    value: Any = summary
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
