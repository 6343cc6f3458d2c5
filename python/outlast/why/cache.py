"""The SLC cache among the reasons of a drive's speed: what it took, and whether writes wait for folding."""

from __future__ import annotations

from typing import Any

from outlast.report.numbers import percent
from outlast.why.parts import Figures, named
from outlast.why.quantity import bytes_of

WAITS = 0.1
"""Share of the time for which writes wait for space from which folding is said to limit them."""


def slc_cache(summary: dict[str, Any]) -> tuple[str, Figures] | None:
    """Share of the host's writes that the cache took, data that is folded beside them, and what would help."""
    cache = summary.get("slc_cache")
    if not cache or cache["cached_share"] is None:
        return None
    names = ["slc_cache.cached_share"]
    folded, span = summary["write_amplification"]["fold"], summary["time"]["simulated_s"]
    passed = _passes_by(summary, cache)
    least = "" if passed or cache["cached_share"] == 1 else "at least "
    text = f"The SLC cache took {least}{percent(cache['cached_share'])} of what the host wrote"
    if passed:
        text += "; the rest was too much for it and was programmed with all bits of a cell at once"
    if folded:
        text += f"; for each byte of the host, {folded:.3f} were folded out of it"
        names.append("write_amplification.fold")
        cores = summary["scenario"]["device"]["controller"].get("flash_cores", 1)
        waited = summary["gc"]["blocked_s"] / (span * cores) if span else 0.0
        if waited >= WAITS:
            text += f", and folding limits the host, whose writes waited for space for {percent(waited)} of the time"
            names += ["gc.blocked_s", "time.simulated_s"]
    if passed or folded:
        text += ". A larger cache, or pauses in which it is folded, would take more"
    return text + ".", named(summary, *names)


def _passes_by(summary: dict[str, Any], cache: dict[str, Any]) -> bool:
    """True if the host wrote more than full superblocks of the cache have taken and others of it may hold.

    `cached_bytes` are those of full superblocks. Of `used_bytes`, at the end, the others hold at most what is not of
    full ones that have not been erased.
    """
    device = summary["scenario"]["device"]
    geometry, own = device["geometry"], device["slc_cache"]
    native = own.get("native_bits_per_cell") or device["ftl"].get("one_shot", 1)
    pages = geometry["pages_per_block"] * own.get("bits_per_cell", 1) // native
    erased = cache["cache_erases"] * pages * float(bytes_of(geometry["page_size"]))
    not_full = cache["used_bytes"] - cache["cached_bytes"] + erased
    share = cache["cached_share"]
    written = cache["cached_bytes"] / share if share else summary["host"]["bytes_written"]
    return bool(written - cache["cached_bytes"] > max(not_full, 0))
