"""Numbers that look like the other unit: a share where a percentage is meant, and the reverse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PERCENTAGES = ("read_percent", "trim_percent", "fua_percent", "random_percent")
"""Settings of a synthetic workload that are percentages."""


def notes(scenario: Mapping[str, Any]) -> list[str]:
    """A sentence for each number of a resolved scenario that is allowed and probably not meant."""
    return [*_percentages(scenario.get("workload", {}).get("synthetic") or {}), *_spare(scenario.get("device", {}))]


def _percentages(load: Mapping[str, Any], place: str = "workload.synthetic") -> Iterator[str]:
    for name in PERCENTAGES:
        value = load.get(name)
        if isinstance(value, (int, float)) and 0 < value < 1:
            yield f"{place}.{name} = {value:g} is {value:g} %; for {100 * value:g} %, write {100 * value:g}"
    for index, phase in enumerate(load.get("phases") or []):
        yield from _percentages(phase, f"{place}.phases[{index}]")


def _spare(device: Mapping[str, Any]) -> Iterator[str]:
    spare = device.get("ftl", {}).get("over_provisioning")
    if isinstance(spare, (int, float)) and spare >= 1:
        meant = f"for {spare:g} %, write {spare / 100:g}"
        yield f"device.ftl.over_provisioning = {spare:g} is {100 * spare:g} % of the user space; {meant}"
