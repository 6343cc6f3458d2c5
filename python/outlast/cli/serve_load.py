"""`outlast serve --load`: refusals, and the client that loads the device."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from outlast.errors import ControlError

if TYPE_CHECKING:
    from outlast._core import Server
    from outlast.serving.load import Load


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
        raise ControlError("--load: the device is read-only, and the load writes")
    if any("zones" in drive for drive in machine["drives"]):
        raise ControlError("--load: the drive has zones, which take no random writes")
    return Load(server.uri, rate * (speed or 1.0), seed or 1)
