"""Exceptions of Outlast. The root of the hierarchy and the simulator's own are in `outlast._core`."""

from __future__ import annotations

from outlast._core import DeviceError, InternalError, ModelError, OutlastError, ScenarioError, WorkloadError


class OutputError(OutlastError):
    """A result cannot be written or read; the message names the place and the reason."""


class ControlError(OutlastError):
    """A served machine cannot be reached, or refuses what it was asked."""


class TortureError(OutlastError):
    """A recording cannot be made, read, mounted or checked; the message says what is missing or wrong."""


class DriveError(OutlastError, OSError):
    """An operation on a drive failed: `errno` says why, `offset` where it began."""

    def __init__(self, message: str, number: int, offset: int) -> None:
        super().__init__(number, message)
        self.message = message
        self.offset = offset

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[DriveError], tuple[str, int | None, int]]:
        return type(self), (self.message, self.errno, self.offset)


class MediumError(DriveError):
    """Data could not be read by any means that the drive has (EIO)."""


for _error in (OutputError, ControlError, DriveError, MediumError):
    # Their public place, which tracebacks show.
    _error.__module__ = "outlast"

__all__ = [
    "ControlError",
    "DeviceError",
    "DriveError",
    "InternalError",
    "MediumError",
    "ModelError",
    "OutlastError",
    "OutputError",
    "ScenarioError",
    "TortureError",
    "WorkloadError",
]
