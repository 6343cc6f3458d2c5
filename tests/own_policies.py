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
    """The fewest valid units among some drawn at random; drawn again where nothing is gained."""
    for _ in range(64):
        best = _drawn(view)
        if best is not None and view.valid[best] < view.units:
            return best
    return greedy(view)


def _drawn(view: View) -> int | None:
    best, drawn, size = None, 0, len(view)
    for _ in range(64 * view.choices):
        one = view.below(size)
        if not view.is_candidate[one]:
            continue
        if best is None or view.valid[one] < view.valid[best]:
            best = one
        drawn += 1
        if drawn == view.choices:
            break
    return best


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
