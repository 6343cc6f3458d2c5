"""What can go wrong, as exceptions. The hierarchy's root and what the simulator raises are in `outlast._core`."""

from __future__ import annotations

from outlast._core import DeviceError, InternalError, ModelError, OutlastError, ScenarioError, WorkloadError


class OutputError(OutlastError):
    """A result cannot be written or read; the message names the place and the reason."""


__all__ = [
    "DeviceError",
    "InternalError",
    "ModelError",
    "OutlastError",
    "OutputError",
    "ScenarioError",
    "WorkloadError",
]
