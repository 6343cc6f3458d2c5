"""Decisions of your own: code in the place of a built-in policy.

    def emptiest(view):
        return view.least(view.valid)

    outlast.run("peers-32g", policies={"gc": emptiest})

A decision is asked with a view of one flash core and returns what is to be done, or `None`. It must depend on
nothing but the view and what it draws with `view.below`: then the same scenario and seed give the same bytes. A class
in place of a function is called once for each flash core, and its object then decides: what it remembers is that
core's own.
In scenario files `[policies]` names the same code as `FILE:NAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from outlast import _core
from outlast.errors import ScenarioError
from outlast.plain_values import shown
from outlast.policies.loading import describe_error, load, source_of
from outlast.policies.makers import Maker
from outlast.policies.questions import Collecting, DieHealth, Failure, LostRows, Opening, Pace
from outlast.policies.view import STATES, View, sees_cells
from outlast.policies.writes import Writes

Policy: TypeAlias = Callable[[View], int | None] | Callable[[Any], Any] | type[Any]
"""A function of what its decision sees (`outlast policies` says what), or a class whose objects are such functions."""

Policies: TypeAlias = Mapping[str, str | Policy]
"""Policies by decision (see `outlast policies`): a function or class, a built-in policy's name, or `"FILE:NAME"`."""

__all__ = [
    "STATES",
    "Collecting",
    "DieHealth",
    "Failure",
    "LostRows",
    "Maker",
    "Opening",
    "Pace",
    "Policies",
    "Policy",
    "View",
    "Writes",
    "describe_error",
    "load",
    "policy_settings",
    "records",
    "sees_cells",
]


def policy_settings(policies: Policies | None) -> tuple[list[tuple[str, str]], dict[str, Maker]]:
    """Policies as settings, and what the simulator asks where they are code at hand."""
    settings, makers = [], {}
    if policies is not None and not isinstance(policies, Mapping):
        raise ScenarioError(f"policies = {shown(policies)}: must be a table of decisions")
    for decision, policy in (policies or {}).items():
        if decision not in _core.decisions():
            known = ", ".join(_core.decisions())
            raise ScenarioError(f"policies: no decision '{decision}'; there are {known}")
        if isinstance(policy, str):
            settings.append((f"policies.{decision}", policy))
            continue
        if not callable(policy):
            raise ScenarioError(f"policies.{decision} = {policy!r}: must be a function, a class or a name")
        maker = Maker(decision, policy)
        settings.append((f"policies.{decision}", maker.name))
        makers[decision] = maker
    return settings, makers


def records(named: Mapping[str, str], makers: Mapping[str, Maker]) -> dict[str, dict[str, Any]]:
    """Entry of each user's policy in a result: its name, its text and the hash of the text."""
    kept: dict[str, dict[str, Any]] = {}
    for decision, name in named.items():
        if ":" in name:
            kept[decision] = {"name": name, **source_of(name, makers.get(decision))}
    return kept
