"""Failures as field studies found them: what a fleet file may begin with. Each number has its source and its kind.

*Calibration*: the number was chosen so that a figure of the study comes out. *Prediction*: nothing was fitted to it.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlast.errors import ScenarioError


@dataclass(frozen=True)
class Preset:
    """Settings that a field study gives."""

    meaning: str
    source: str
    settings: Mapping[str, Any]
    notes: tuple[str, ...]
    """Origin of each number, and of which kind it is."""


PRESETS = {
    "netapp": Preset(
        "enterprise SSDs in RAID groups, whose failures come in pairs",
        "Maneas et al.: A Study of SSD Reliability in Large Scale Enterprise Storage Deployments, FAST 2020",
        {
            "drive": {"afr": 0.001393},
            "contagion": [{"scope": "node", "probability": 0.094, "window_hours": 168.0}],
        },
        (
            "drive.afr: calibration, so that a group (a node of 18 drives, assumed) loses a drive in 0.0504 % of weeks",
            "contagion: calibration, so that 9.39 % of groups lose another drive in the week after a loss",
        ),
    ),
    "alibaba": Preset(
        "data-centre SSDs, whose failures come together in nodes and racks",
        "Han et al.: An In-Depth Study of Correlated Failures in Production SSD-Based Data Centers, FAST 2021",
        {
            "drive": {"afr": 0.007},
            "contagion": [
                {"scope": "node", "probability": 0.0656, "window_hours": 0.5},
                {"scope": "rack", "probability": 0.0320, "window_hours": 0.5},
            ],
        },
        (
            "drive.afr: assumed",
            "contagion: calibration, so that 12.9 % of failures have another one in their node within 30 minutes, "
            "and 18.2 % in their rack (racks of 16 nodes of 12 drives, assumed)",
            "not met: 0.35 % and 2.0 % of shuffled failures, for which failures would come together across racks",
        ),
    ),
}


def beneath(content: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Content of a fleet file, over the preset that it names."""
    name = content.get("preset", "")
    if not name:
        return dict(content)
    if not isinstance(name, str) or name not in PRESETS:
        near = difflib.get_close_matches(str(name), PRESETS, n=1, cutoff=0.5)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(PRESETS)}"
        raise ScenarioError(f"{source}: preset = {str(name)[:40]}: unknown preset; {hint}")
    whole = dict(content)
    for key, value in PRESETS[name].settings.items():
        if isinstance(value, Mapping) and isinstance(content.get(key, {}), Mapping):
            whole[key] = {**value, **content.get(key, {})}
        else:
            whole.setdefault(key, value)
    return whole
