"""Law of reclaim unit handles: what they wrote is what the drive wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from random_scenarios.generate import Case


def handles_add_up(case: Case, summary: Mapping[str, Any]) -> Iterator[str]:
    """Sums of the host's bytes over handles are what it wrote; no persistently isolated handle is mixed."""
    handles = (summary.get("placement") or {}).get("handles", [])
    if not handles:
        return
    programs = summary["flash"]["by_cause"]
    page = 1024 * int(case.get("device.geometry.page_size").removesuffix("KiB"))
    host = sum(own["host_bytes"] for own in handles)
    if abs(host - programs["host_programs"] * page) > 1e-9 * host:
        yield f"{host} bytes by handle, {programs['host_programs'] * page} in all"
    moved = sum(own["moved_bytes"] for own in handles)
    causes = ("gc", "fold", "wear_leveling", "scrub", "reencode", "rewritten")
    most = sum(programs[f"{cause}_programs"] for cause in causes) * page
    if moved > most * (1 + 1e-9) + page:
        yield f"{moved} bytes moved by handle, {most} in all"
    for own in handles:
        if own["mixed_bytes"] > (own["valid_bytes"] if own["isolation"] == "initially-isolated" else 0):
            yield f"handle {own['handle']}: {own['mixed_bytes']} of {own['valid_bytes']} bytes are mixed"
