"""Aims of a search: its figures, each with which is better, and whether it gives up points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.sweeps import figures, keys
from outlast.sweeps.checks import Checks

Aims = tuple[tuple[str, str], ...]
"""Figures, each with `lowest` or `highest`."""


def read(checks: Checks, content: Any, pareto: Aims) -> Aims:
    """The aims of a search; those of the Pareto front where the file names none."""
    if content is None:
        if not pareto:
            raise checks.refuse("aim", None, f"a search ({keys.SEARCH}) needs a figure, such as latency_us.read.p99")
        return pareto
    several = content if isinstance(content, (list, tuple)) else [content]
    if not 1 <= len(several) <= keys.MOST_AIMS:
        raise checks.refuse("aim", content, f"must be 1 to {keys.MOST_AIMS} figures")
    aims: dict[str, str] = {}
    for index, each in enumerate(several):
        place = f"aim[{index}]" if several is content else "aim"
        name, best = _aim(checks, place, each)
        if name in aims:
            raise checks.refuse(place, name, "is an aim already; name each figure once")
        aims[name] = best
    return tuple(aims.items())


def _aim(checks: Checks, place: str, content: Any) -> tuple[str, str]:
    entry = {"figure": content} if isinstance(content, str) else content
    if not isinstance(entry, Mapping):
        raise checks.refuse(place, content, "must be a figure, or a table of figure and best")
    checks.known(entry, keys.FRONT, f"{place}.")
    name = entry.get("figure")
    if not isinstance(name, str):
        raise checks.refuse(f"{place}.figure", name, "must be the name of a figure")
    checks.figures(place, [name])
    best = entry.get("best", figures.better_end(name))
    if not best:
        raise checks.refuse(f"{place}.best", None, f"say which {name} is better: {' or '.join(keys.BESTS)}")
    return name, checks.choice(f"{place}.best", best, keys.BESTS)


def prunes(checks: Checks, content: Any, aims: Aims, repeats: int) -> bool:
    """True if a search gives up points after some of their repeats."""
    if not isinstance(content, bool):
        raise checks.refuse("prune", content, "must be true or false")
    if content and len(aims) > 1:
        raise checks.refuse("prune", content, f"needs one aim, and there are {len(aims)}")
    if content and repeats < 2:
        raise checks.refuse("prune", content, "gives up points after some of their repeats: repeats must be 2 or more")
    return content
