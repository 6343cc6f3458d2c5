"""Work that a flash may do for what a run asks of it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from random_scenarios.generate import Case
from random_scenarios.run import Summary

OPS = {"read": "reads", "write": "writes", "trim": "trims", "flush": "flushes"}
PARALLEL = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
WORK_OF_EACH = 220.0
"""Flash operations for each request, mapping unit and page of flash: ten times the largest of 700 scenarios, from seed
1,000,000 on (`python -m random_scenarios measure --first 1000000 --count 700`)."""
LARGEST_REQUEST = 256 * 1024
"""Bytes of the largest request that is drawn: a request that failed is taken to be one, as nothing tells its size."""


def bounded_work(case: Case, summary: Summary) -> Iterator[str]:
    """Flash does a bounded number of operations for what was asked of it, so that none of its work feeds itself."""
    done, asked = work(case, summary)
    if done > WORK_OF_EACH * asked * rounds_for_a_block(case):
        yield f"{done} flash operations for {asked:.0f} requests, mapping units and pages of flash"


def work(case: Case, summary: Summary) -> tuple[int, float]:
    """Flash operations, and what they are for: requests, their units, and pages to be moved, anew in each patrol."""
    flash, host = summary["flash"], summary["host"]
    bytes_asked = sum(host[f"bytes_{name}"] for name in ("read", "written", "trimmed"))
    bytes_asked += host["errors"] * LARGEST_REQUEST
    unit = 1024 * kib(case.get("device.ftl.mapping_unit", "4KiB"))
    asked = sum(host[name] for name in OPS.values()) + host["errors"] + bytes_asked / unit
    shape = case.get("device.geometry")
    pages = math.prod(shape[part] for part in (*PARALLEL, "blocks_per_plane", "pages_per_block"))
    members = case.get("array.members", 1) + case.get("array.spares", 0)
    # What comes with time also comes while a warm drive keeps its host out: a patrol reads all pages, a flush writes
    # the table, which is less than an eighth of them.
    rounds = (
        rounds_of(case, summary, "device.scrub.patrol") + rounds_of(case, summary, "device.ftl.map_flush.interval") / 8
    )
    return flash["reads"] + flash["programs"] + flash["erases"], asked + (1 + rounds) * members * pages


def rounds_for_a_block(case: Case) -> int:
    """Rounds over all blocks that collection may make to gain one. FIFO takes the oldest superblock even if it is all
    valid, so that on a full drive, whose spare blocks are lent to its cache, a round gains a few units."""
    is_blind = case.get("device.ftl.gc.policy") == "fifo"
    return int(case.get("device.geometry")["blocks_per_plane"]) if is_blind else 1


def rounds_of(case: Case, summary: Summary, setting: str) -> float:
    """How often that happened for which the time between two is set."""
    every = case.get(setting)
    if every is None:
        return 0.0
    seconds: float = summary["time"]["simulated_s"]
    return (
        seconds * 1000 / float(every.removesuffix("ms"))
        if every.endswith("ms")
        else seconds / float(every.removesuffix("s"))
    )


def kib(size: str) -> int:
    """KiB of a size in these or in MiB."""
    return int(size.removesuffix("KiB")) if size.endswith("KiB") else 1024 * int(size.removesuffix("MiB"))
