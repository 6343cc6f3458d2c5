"""SepBIT (Wang, Li, Lee, Ouyang, Shi, Huang, "Separating data via block invalidation time inference for write amplification
reduction in log-structured storage", FAST 2022): data is placed by how long it will probably live.

A block that is written again soon after it was written is expected to live as short a time once more. Writes whose last version lived shorter than
superblocks of short-lived data do on the mean go to stream 0, all others to stream 1. The paper's three classes by age of what collection moves
are left out: a drive has one relocating stream for each class.

    [device.ftl]
    streams = 2
    [policies]
    placement = "sepbit.py:sepbit.place"
    gc = "sepbit.py:sepbit.collect"
"""

import numpy as np

UNIT = 4096
"""Bytes whose lifetime is told apart."""
WINDOW = 16
"""Superblocks of which the mean lifetime is taken (the number in the authors' public code, fallfish/sepbit)."""


class SepBIT:
    """Places the writes of one host, and collects the superblocks of one flash core."""

    def __init__(self):
        self.written = np.full(1, -1, dtype=np.int64)  # by block: when it was last written, in blocks of the host; -1 never
        self.now = 0
        self.lifetime = np.inf  # mean lifetime of a superblock of stream 0
        self.lifetimes = []

    def place(self, writes):
        """Stream 0 where the version that a write replaces has lived shorter than the mean superblock of stream 0."""
        blocks = (writes.offset // UNIT).astype(np.int64)
        if blocks.max() >= len(self.written):
            self.written = np.append(self.written, np.full(2 * int(blocks.max()), -1))
        clock = self.now + np.cumsum(writes.bytes.astype(np.int64)) // UNIT
        self.now = int(clock[-1])
        # Of several writes of a block in this batch each replaces the one before it.
        order = np.argsort(blocks, kind="stable")
        again = np.append(False, np.diff(blocks[order]) == 0)
        before = self.written[blocks]
        before[order[again]] = clock[order[np.flatnonzero(again) - 1]]
        self.written[blocks] = clock
        is_short = (before >= 0) & (clock - before < self.lifetime)
        return np.where(is_short, 0, 1)

    def collect(self, view):
        """Cost-benefit, one of the two selections of the authors' code; learns how long superblocks of stream 0 live."""
        valid = view.valid.astype(float)
        victim = view.most((view.units - valid) / (2 * valid) * (view.age + 1))
        if victim is not None and view.stream[victim] == 0:
            # From when it was begun, at the soonest so long before it was full.
            self.lifetimes.append(int(view.age[victim]) + view.units)
            if len(self.lifetimes) == WINDOW:
                self.lifetime, self.lifetimes = np.mean(self.lifetimes), []
        return victim


sepbit = SepBIT()
