"""Numbers of a fit, written for people."""

from __future__ import annotations

from outlast.products.fit.engine import Found
from outlast.products.fit.parameters import BY_NAME, stage_named
from outlast.products.fit.rows import GIB

NOT_TOLD = (
    "planes against dies (only their product bounds programs)",
    "times of single page types (only their mean)",
    "wear and error rates",
    "the size of superblocks (from 128 to 512 of them write amplification moves by 2 %, which effective flash and the "
    "constant factor make up for; what a burst of collection takes is in no percentile)",
)
"""Numbers that no measurement from outside tells."""


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
    return f"{value * 1e6:.4g} us"


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


def fitted_figures(found: Found) -> str:
    """Figures that a number was fitted to."""
    return f"{stage_named(found.stage).loads} ({found.figures} figures)"


def title(name: str) -> str:
    """Name of a number."""
    return BY_NAME[name].title
