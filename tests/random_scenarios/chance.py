"""Bound on the difference in write amplification of two runs that should write as much."""

from __future__ import annotations

import math

from random_scenarios.generate import Case
from random_scenarios.laws import codes_of
from random_scenarios.run import Summary
from random_scenarios.work import PARALLEL, kib

AGREE = 0.03
"""Relative difference of write amplification that is no fault, as in `crates/engine/tests/both_clocks.rs`."""
CHANCE = 6.0
"""Standard errors of the difference beyond that."""


def tolerance(case: Case, summary: Summary) -> float:
    """Relative difference of write amplification that two runs of the same drive may have.

    A victim that n requests fit in has a share u of valid units, with a standard deviation of at most
    sqrt(u(1 − u)/n). Write amplification is 1/(1 − u), and its relative standard error over V victims is
    sqrt(u/((1 − u) n V)); that of a difference is greater by the root of two.
    """
    victims, valid = summary["gc"]["victims"], summary["gc"]["mean_valid"]
    requests = max(_superblock_kib(case) / kib_of_request(case), 1.0)
    return AGREE + CHANCE * math.sqrt(2 * valid / ((1 - valid) * requests * victims))


def between_clocks(case: Case) -> float:
    """Relative difference that a run without time may have beyond that (decision 0099).

    In time what is in the buffer is not sealed, which is as much as that many spare superblocks less.
    """
    return _buffer_kib(case) / _superblock_kib(case) / _spare_superblocks(case)


def _superblock_kib(case: Case) -> float:
    """One superblock of a flash core."""
    shape = case.get("device.geometry")
    pages: int = math.prod(shape[part] for part in (*PARALLEL, "pages_per_block"))
    cores: int = case.get("device.controller.flash_cores", 1)
    return float(kib(shape["page_size"]) * pages / cores)


def _buffer_kib(case: Case) -> float:
    """The part of the write buffer that a flash core has."""
    cores: int = case.get("device.controller.flash_cores", 1)
    return kib(case.get("device.controller.write_buffer")) / cores


def _spare_superblocks(case: Case) -> float:
    """Superblocks of a core that the host's data, its parity and the low mark leave; one at least."""
    full = kib(case.get("device.ftl.capacity")) / case.get("device.controller.flash_cores", 1) / _superblock_kib(case)
    codes = [own for own in codes_of(case) if "data" in own]
    share = min((own["data"] / (own["data"] + own["parity"]) for own in codes), default=1.0)
    low: int = case.get("device.ftl.gc.start_free", 2)
    blocks: int = case.get("device.geometry.blocks_per_plane")
    return max(1.0, float(blocks - low - full / share))


def kib_of_request(case: Case) -> float:
    """Mean KiB of a request, of a unit at least."""
    load = case.get("workload.synthetic")
    sizes = [own["size"] for own in load.get("sizes", ())] or [load.get("size", "4KiB")]
    unit = kib(case.get("device.ftl.mapping_unit", "4KiB"))
    own: list[float] = [kib(size) if size.endswith("iB") else int(size.removesuffix("B")) / 1024 for size in sizes]
    return float(sum(max(unit, each) for each in own)) / len(own)
