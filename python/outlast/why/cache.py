"""The SLC cache among the reasons of a drive's speed: what it took, and whether writes wait for folding."""

from __future__ import annotations

from typing import Any

from outlast.report.numbers import percent
from outlast.why.parts import Figures, named

WAITS = 0.1
"""Share of the time for which writes wait for space from which folding is said to limit them."""
WHOLE = 0.99
"""Share of the host's bytes from which the cache took all: the last superblock of a run is not full."""


def slc_cache(summary: dict[str, Any]) -> tuple[str, Figures] | None:
    """Share of the host's writes that the cache took, data that is folded beside them, and what would help."""
    cache = summary.get("slc_cache")
    if not cache or cache["cached_share"] is None:
        return None
    names = ["slc_cache.cached_share"]
    text = f"The SLC cache took {percent(cache['cached_share'])} of what the host wrote"
    folded, span = summary["write_amplification"]["fold"], summary["time"]["simulated_s"]
    if cache["cached_share"] < WHOLE:
        text += "; the rest was too much for it and was programmed with all bits of a cell at once"
    if folded:
        text += f"; for each byte of the host, {folded:.3f} were folded out of it"
        names.append("write_amplification.fold")
        cores = summary["scenario"]["device"]["controller"].get("flash_cores", 1)
        waited = summary["gc"]["blocked_s"] / (span * cores) if span else 0.0
        if waited >= WAITS:
            text += f", and folding limits the host, whose writes waited for space for {percent(waited)} of the time"
            names += ["gc.blocked_s", "time.simulated_s"]
    if cache["cached_share"] < WHOLE or folded:
        text += ". A larger cache, or pauses in which it is folded, would take more"
    return text + ".", named(summary, *names)
