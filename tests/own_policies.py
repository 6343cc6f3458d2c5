"""The built-in policies once more, in Python."""

from __future__ import annotations

import numpy as np

from outlast.policies import STATES, View, sees_cells

GAP = 2
"""Erasures by which superblocks may differ before `level` moves something."""


def greedy(view: View) -> int | None:
    """The fewest valid units."""
    return view.least(view.valid)


def fifo(view: View) -> int | None:
    """The one filled longest ago, if anything could be gained at all."""
    return view.least(view.order, view.is_candidate) if view.gains.any() else None


def cost_benefit(view: View) -> int | None:
    """The largest (1 - u) / 2u times age."""
    valid = view.valid.astype(float)
    return view.most((view.units - valid) * (view.age + 1) / (2 * valid))


def d_choices(view: View) -> int | None:
    """The fewest valid units among some drawn at random; drawn again where nothing is gained, but not without end."""
    if not view.gains.any():
        return None
    left = 8 * len(view)
    for again in range(64):
        best, drawn = _drawn(view)
        if best is not None and view.valid[best] < view.units:
            return best
        left -= drawn if again else 0
        if left <= 0:
            break
    return greedy(view)


def _drawn(view: View) -> tuple[int | None, int]:
    """The best of one round, and how many draws it took."""
    best, candidates, drawn, size = None, 0, 0, len(view)
    most = 64 * min(view.choices, size)
    while candidates < view.choices and drawn < most:
        drawn += 1
        one = view.below(size)
        if not view.is_candidate[one]:
            continue
        if best is None or view.valid[one] < view.valid[best]:
            best = one
        candidates += 1
    return best, drawn


def level(view: View) -> int | None:
    """The least-worn sealed superblock, when a free one is ahead of it by more than the gap."""
    cold = view.least(view.erases, view.is_candidate)
    free = view.erases[view.state == STATES.index("free")]
    if cold is None or not len(free):
        return None
    return cold if int(free.max()) - int(view.erases[cold]) > GAP else None


MONTH = 30.0
"""Days after which `refresh` has data moved."""


@sees_cells
def refresh(view: View) -> int | None:
    """The first superblock whose oldest data is a month old."""
    old = view.is_candidate & (view.days >= MONTH)
    return view.least(np.arange(len(view)), old)
