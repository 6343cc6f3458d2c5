"""Outages: groups that cannot be read for a while although nothing is lost."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import nlargest
from typing import TypeAlias

from outlast.fleet.layout import YEAR_HOURS, Layout
from outlast.fleet.plan import Planned

GROUPS_MOST = 200
"""Most groups that are looked at."""
PAIRS_MOST = 200_000
"""Most pairs of states that are joined at once: of more, the least probable states are left out."""
WORK_MOST = 4_000_000
"""Pairs of states in all after which no further groups are looked at."""

States: TypeAlias = dict[tuple[int, ...] | None, float]
"""Probability of each state: pieces out in each class of alike pieces. None: data cannot be read."""


def unavailable(plan: Planned) -> float:
    """Share of groups, in the mean over time, that outages of nodes, racks and sites make unreadable for a while.

    Outages are independent of each other; a group is unreadable if its code does not survive the set of pieces that
    are out. Counted over the first groups of the fleet, up to `GROUPS_MOST`. 0 without outages.
    """
    outages = plan.settings["outages"]
    if not outages:
        return 0.0
    out = dict.fromkeys(("node", "rack", "site"), 0.0)
    for one in outages:
        busy = one["per_year"] * one["hours"] / YEAR_HOURS
        out[one["scope"]] = 1.0 - (1.0 - out[one["scope"]]) * (1.0 - busy / (1.0 + busy))
    shares = _Shares(plan, out)
    total, looked = 0.0, 0
    for group in range(min(plan.layout.count, GROUPS_MOST)):
        total += shares.of(_places(plan.layout, group, out))
        looked += 1
        if shares.work > WORK_MOST:
            break
    return total / looked


def _places(layout: Layout, group: int, out: dict[str, float]) -> tuple[tuple[int, int, int], ...]:
    """Site, rack and node of each piece of a group, numbered as they come; 0 where none of their kind is ever out."""
    found = []
    known: list[dict[int, int]] = [{}, {}, {}]
    for drive in layout.groups[group * layout.width : (group + 1) * layout.width]:
        node = layout.node[drive]
        rack = layout.rack[node]
        place = (layout.site[rack] * bool(out["site"]), rack * bool(out["rack"]), node * bool(out["node"]))
        site, rack, node = (names.setdefault(number, len(names)) for names, number in zip(known, place, strict=True))
        found.append((site, rack, node))
    return tuple(found)


def classes_of(code: dict[str, int | str], width: int) -> list[list[int]]:
    """Pieces of a group by class: which of a class are missing makes no difference, only how many."""
    if code["kind"] == "mds":
        return [list(range(width))]
    if code["kind"] == "lrc":
        data, local = int(code["data"]), int(code["local"])
        each = data // local
        groups = [[*range(group * each, (group + 1) * each), data + group] for group in range(local)]
        return [*groups, list(range(data + local, width))]
    return [[piece] for piece in range(width)]


@dataclass
class _Shares:
    """Probability that a group is unreadable, found once for all groups that are placed alike."""

    plan: Planned
    out: dict[str, float]
    work: int = 0
    """Pairs of states that were joined."""
    found: dict[tuple[tuple[int, int, int], ...], float] = field(default_factory=dict)
    lost: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.classes = classes_of(self.plan.code, self.plan.layout.width)
        self.class_of = {piece: index for index, pieces in enumerate(self.classes) for piece in pieces}

    def of(self, places: tuple[tuple[int, int, int], ...]) -> float:
        """The probability for pieces at these places, from nodes up to sites."""
        if places not in self.found:
            whole = self._under(list(enumerate(places)), 0)
            self.found[places] = whole.get(None, 0.0)
        return self.found[places]

    def _under(self, pieces: list[tuple[int, tuple[int, int, int]]], depth: int) -> States:
        """States of the pieces in the domains of one depth: sites, then the racks in one, then the nodes in one."""
        whole: States = {(0,) * len(self.classes): 1.0}
        within = defaultdict(list)
        for piece, place in pieces:
            within[place[depth]].append((piece, place))
        for inside in within.values():
            part = self._under(inside, depth + 1) if depth < 2 else {(0,) * len(self.classes): 1.0}
            p = self.out[("site", "rack", "node")[depth]]
            counts = [0] * len(self.classes)
            for piece, _ in inside:
                counts[self.class_of[piece]] += 1
            part = {state: (1.0 - p) * share for state, share in part.items()}
            if p > 0.0:
                state = self._state(tuple(counts))
                part[state] = part.get(state, 0.0) + p
            whole = self._joined(whole, part)
        return whole

    def _joined(self, a: States, b: States) -> States:
        for _ in range(2):
            if len(a) * len(b) > PAIRS_MOST:
                larger, smaller = (a, b) if len(a) > len(b) else (b, a)
                kept = max(PAIRS_MOST // len(smaller), int(PAIRS_MOST**0.5))
                a, b = dict(nlargest(kept, larger.items(), key=lambda item: item[1])), smaller
        self.work += len(a) * len(b)
        whole: States = defaultdict(float)
        for first, p in a.items():
            for second, q in b.items():
                if first is None or second is None:
                    whole[None] += p * q
                else:
                    whole[self._state(tuple(map(sum, zip(first, second, strict=True))))] += p * q
        return dict(whole)

    def _state(self, counts: tuple[int, ...]) -> tuple[int, ...] | None:
        """The state of so many pieces out in each class."""
        if counts not in self.lost:
            pieces = (piece for own, count in zip(self.classes, counts, strict=True) for piece in own[:count])
            self.lost[counts] = self.plan.plan.is_lost(sum(1 << piece for piece in pieces))
        return None if self.lost[counts] else counts
