"""Fleets of drives over years: how probable it is to lose data in a cluster, in nines and in money.

    from outlast import fleet

    result = fleet.study("fleet.toml")                # or nested dictionaries, as the file would say
    result["loss_by_year"][0]["fleet"]                # probability within the first year, with its interval

Times are hours, years have 8760 of them, sizes are bytes, probabilities are from 0 to 1. Chains and closed forms are
`outlast.models.loss_by()`, `chain_loss_by()` and `sets_lost()`.
"""

from __future__ import annotations

from outlast.fleet.calculators import backblaze, ceph_rados, independent_groups
from outlast.fleet.plan import Planned, planned
from outlast.fleet.points import frame, sweep
from outlast.fleet.presets import PRESETS, Preset
from outlast.fleet.reading import FleetLike, Settings, read
from outlast.fleet.study import study

__all__ = [
    "PRESETS",
    "FleetLike",
    "Planned",
    "Preset",
    "Settings",
    "backblaze",
    "ceph_rados",
    "frame",
    "independent_groups",
    "planned",
    "read",
    "study",
    "sweep",
]


def __dir__() -> list[str]:
    """Names that editors and notebooks complete."""
    return __all__
