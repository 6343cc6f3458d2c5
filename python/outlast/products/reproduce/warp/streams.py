"""Runs of the job of three streams: what each stream wrote, from the counters that were published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast import api
from outlast.products.reproduce.model import Cell, Setting
from outlast.why.quantity import bytes_of

ALL, BEFORE = "all", "four fifths"
RATE = 10
"""Bursts of the sequential writer a second, so few that fio's whole microseconds between requests hardly matter."""
PAGE = 4096
PAGES = "device.geometry.pages_per_block"


def three_streams(
    setting: Setting,
    *,
    scenario: str,
    runs: Sequence[Mapping[str, Any]],
    divided: Mapping[str, int],
    burst_mib: int,
) -> list[Cell]:
    """Two cells for each of `runs`: of all that the host wrote, and of its first four fifths.

    A run has labels, `bytes` of the sequential writer, of the random one over the tail and of the jumper (only their
    ratios count), and `drive_writes` of the three together after the drive was filled once. `divided` is the divisor of
    the published drive by mode; one that is `larger` is divided by less. Requests that fill the drive are divided, too,
    down to 4 KiB, and so is `burst_mib`, what the sequential writer writes at once.
    """
    file, divisor = setting.scenarios / scenario, divided[setting.mode.name]
    whole = api.resolve(str(file))
    base = whole["device"]["geometry"]["pages_per_block"]
    found = []
    for run in runs:
        scale = divisor // run.get("larger", 1)
        pages = 1024 // scale
        capacity = bytes_of(whole["device"]["ftl"]["capacity"]) * pages // base
        filling, burst = max(128 * 1024 // scale, PAGE), (burst_mib << 20) // scale
        shares = [float(own) / sum(run["bytes"]) for own in run["bytes"]]
        rates = [RATE, *(round(RATE * share / shares[0] * burst / PAGE) for share in shares[1:])]
        for span, part in ((BEFORE, 0.8), (ALL, 1.0)):
            # The filling counts among the host's bytes.
            written = capacity * (part * (1 + run["drive_writes"]) - 1)
            names = {f"RATE{at}": str(rate) for at, rate in enumerate(rates)}
            names |= {f"BYTES{at}": f"{round(written * share / PAGE) * 4}k" for at, share in enumerate(shares)}
            names |= {"FILLING": f"{filling // 1024}K", "BURST": f"{burst // 1024}K"} | run.get("vars", {})
            labels = {name: run[name] for name in ("writes", "placement", "seed") if name in run}
            labels |= {"span": span, "size": str(run.get("larger", 1))}
            changes = {PAGES: pages, "device.ftl.capacity": f"{capacity}B", "seed": int(run.get("seed", 1))}
            changes |= {f"workload.fio.vars.{name}": value for name, value in names.items()}
            found.append(Cell(labels, [file], changes))
    return found
