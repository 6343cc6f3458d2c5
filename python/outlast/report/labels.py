"""Labels of compared results: their names, and where these repeat, the settings that differ."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.differences import of_runs

if TYPE_CHECKING:
    from outlast.result import Result

LONGEST = 40
"""Characters of a label that is more than a name: legends and columns of tables have room for no more."""
MOST_SETTINGS = 2
"""Settings that a label names at most; where more differ, no single one identifies the run."""


def labels(results: Sequence[Result]) -> list[str]:
    """A name for each result; where names repeat: with the settings that differ, else its folder's, else a number."""
    names = [str(result.summary["name"]) for result in results]
    distinct = list(names)
    for name in dict.fromkeys(names):
        same = [index for index, each in enumerate(names) if each == name]
        if len(same) > 1:
            for index, label in zip(same, _apart(name, [results[index] for index in same]), strict=True):
                distinct[index] = label
    return numbered(distinct)


def numbered(names: Sequence[str]) -> list[str]:
    """The names, with a number added where they repeat."""
    while len(set(names)) < len(names):
        names = [
            name if names.count(name) == 1 else f"{name} #{names[:index].count(name) + 1}"
            for index, name in enumerate(names)
        ]
    return list(names)


def _apart(name: str, runs: Sequence[Result]) -> list[str]:
    """Labels of runs of one name; the name where nothing short tells them apart."""
    for found in (_by_settings(name, runs), _by_folder(runs)):
        if len(set(found)) == len(runs) and all(0 < len(label) <= LONGEST for label in found):
            return found
    return [name] * len(runs)


def _by_settings(name: str, runs: Sequence[Result]) -> list[str]:
    settings: dict[str, list[Any]] = of_runs(runs)["settings"]
    if not 0 < len(settings) <= MOST_SETTINGS:
        return []
    result_labels = []
    for index in range(len(runs)):
        values = {setting: row[index] for setting, row in settings.items()}
        # Of settings that stand for one another, such as capacity and over-provisioning, the one that is there.
        present = {setting: value for setting, value in values.items() if value is not None} or values
        result_labels.append(
            ", ".join([name, *(f"{_short(setting)} = {written(value)}" for setting, value in present.items())])
        )
    return result_labels


def _short(setting: str) -> str:
    """The end of a dotted name, with what it is of where that is one word."""
    parts = setting.split(".")
    return parts[-1] if "_" in parts[-1] else ".".join(parts[-2:])


def written(value: Any) -> str:
    """A setting's value as a scenario file has it, one that is absent as `none`."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _by_folder(runs: Sequence[Result]) -> list[str]:
    """Names of the folders from which the runs were read; empty for runs that no folder holds."""
    folders = (getattr(run, "folder", None) for run in runs)
    return [Path(folder).resolve().name if folder is not None else "" for folder in folders]
