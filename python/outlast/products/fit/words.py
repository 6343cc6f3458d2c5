"""Numbers of a fit, written for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from outlast.products.fit.parameters import BY_NAME, known_numbers, stage_named
from outlast.products.fit.rows import GIB
from outlast.report.numbers import micros, short

if TYPE_CHECKING:
    from outlast.products.fit.engine import Fit, Found
    from outlast.products.fit.observe import Observation

NOT_TOLD = (
    "planes and dies separately (only their product limits programs)",
    "times of single page types (only their mean)",
    "wear and error rates",
    "the size of superblocks (between 128 and 512 superblocks, write amplification changes by 2 %, which effective "
    "flash and the constant factor absorb; no percentile shows how long a burst of collection lasts)",
)
"""Numbers that no measurement from outside shows."""
TRUST = {
    "link": "sequential reads",
    "host": "the latency of single writes",
    "read": "the latency of single reads",
    "dies": "random reads at any queue depth",
    "program": "sequential writes",
    "waf": "write amplification at other fill levels",
    "policy": "skewed writes",
    "buffer": "bursts of writes after a pause",
    "suspend": "reads beside writes",
    "pacing": "the latency of random writes below the highest rate",
}
"""Uses of a fitted drive by the stage whose numbers they rest on."""


def percent(share: float, digits: int = 1, *, signed: bool = False) -> str:
    """A share as a percentage; zero has no sign."""
    rounded = round(100 * share, digits)
    if rounded == 0:
        return f"{0:.{digits}f} %"
    return f"{rounded:+.{digits}f} %".replace("-", "−") if signed else f"{rounded:.{digits}f} %"


def format_figure(name: str, value: float | None) -> str:
    """A measured or simulated figure in its unit."""
    if value is None:
        return "–"
    return short(value, 4) if name in ("iops", "waf") else micros(value * 1e6)


def given(seen: Observation) -> str:
    """A figure as the user gave it, and what the fit takes in its place where a data sheet promises it."""
    value = format_figure(seen.name, seen.figure.value)
    if seen.row.margin is None:
        return value
    factor = 1 + seen.row.margin
    is_latency = seen.name not in ("iops", "waf")
    promised = seen.figure.value * factor if is_latency else seen.figure.value / factor
    change = percent((1 / factor if is_latency else factor) - 1, 0, signed=True)
    if seen.name == "iops" and seen.row.load.sequential:
        # Data sheets give a bandwidth for sequential accesses.
        said = f"{promised * seen.row.load.block / 1e6:.0f} MB/s"
        return f"{said} promised, taken as {value} requests a second ({change})"
    return f"{format_figure(seen.name, promised)} promised, taken as {value} ({change})"


def trust(fit: Fit) -> str:
    """Sentences on what the fitted drive can be trusted for, and what not."""
    promised = {each.stage for each in fit.seen if each.row.margin is not None}
    measured = {each.stage for each in fit.seen if each.row.margin is None}
    found = {each.stage for each in fit.found.values()} | set(fit.choices)
    known = set(known_numbers(fit.measured.known, fit.machine.shape.channels))
    kinds = {
        "Trust it for": [words for stage, words in TRUST.items() if stage in found & measured],
        "As far as the data sheet holds, trust it for": [
            words for stage, words in TRUST.items() if stage in (found & promised) - measured
        ],
        "Do not trust it for": [
            words for stage, words in TRUST.items() if stage not in found and not known & set(stage_named(stage).finds)
        ],
    }
    return " ".join(f"{start} {_listed(words)}." for start, words in kinds.items() if words)


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def format_value(name: str, value: float) -> str:
    """A number in the unit that suits it."""
    if name == "effective":
        return f"{value / GIB:.4g} GiB" if value < 1000 * GIB else f"{value / GIB:.1f} GiB"
    if name == "buffer":
        return f"{value / (1 << 20):.4g} MiB"
    if name == "link":
        return f"{value / 1e6:.4g} MB/s"
    if name == "metadata":
        return f"{value:.4f}"
    if name == "dies":
        return f"{value:.0f}"
    return f"{value * 1e6:.4g} µs"


def interval(found: Found) -> str:
    """The interval; an end that nothing holds is open."""
    low, high = found.interval.low, found.interval.high
    if low is None and high is None:
        return "open on both sides"
    if low is None and high is not None:
        return f"up to {format_value(found.name, high)}"
    if high is None and low is not None:
        return f"from {format_value(found.name, low)}"
    assert low is not None
    assert high is not None
    return f"{format_value(found.name, low)} to {format_value(found.name, high)}"


def fitted_figures(found: Found, fit: Fit) -> str:
    """Figures that a number was fitted to, and what is assumed where a data sheet is all there is."""
    own = [each for each in fit.seen if each.stage == found.stage]
    count = f"{found.figures} figure{'' if found.figures == 1 else 's'}"
    words = f"{stage_named(found.stage).loads} ({count})"
    if own and all(each.row.margin is not None for each in own):
        words += ", promised and not measured"
        if found.stage == "dies":
            words += "; assumes that dies limit random reads, and not the controller"
    return words


def title(name: str) -> str:
    """Name of a number."""
    return BY_NAME[name].title
