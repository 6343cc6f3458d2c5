"""The built-in load of a served device: its rate, what has none, and the client that sends it."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from outlast.errors import ControlError

if TYPE_CHECKING:
    from outlast._core import Server
    from outlast.serving.load import Load

USUAL_IOPS = 2000.0
"""Requests per simulated second where no rate is given."""
LEAST_IOPS, MOST_IOPS = 1.0, 100_000.0
"""Limits of the rate: a client in Python sends no more."""


def rate_of(load: float | bool | None) -> float | None:
    """Requests per simulated second of `load`: a rate, or `True` for the usual one; `None` for no load."""
    if load is None or load is False:
        return None
    rate = USUAL_IOPS if load is True else load
    if not isinstance(rate, (int, float)) or not LEAST_IOPS <= rate <= MOST_IOPS:
        raise ControlError(f"load = {load}: must be a rate from {LEAST_IOPS:g} to {MOST_IOPS:g} requests a second")
    return float(rate)


def load_of(
    server: Server, rate: float | None, speed: float | None, seed: int | None
) -> AbstractContextManager[Load | None]:
    """The load of a server, `rate` requests per simulated second; `None` without a rate.

    Refuses devices that take no random writes. A virtual clock has no speed, and its rate is per second of real time.
    """
    if rate is None:
        return nullcontext()
    from outlast.serving.load import Load

    machine = json.loads(server.request('{"do":"state"}'))["ok"]["machine"]
    if machine["read_only"]:
        raise ControlError("load: the device is read-only, and the load writes")
    if any("zones" in drive for drive in machine["drives"]):
        raise ControlError("load: the drive has zones, which take no random writes")
    return Load(server.uri, rate * (speed or 1.0), seed or 1)
