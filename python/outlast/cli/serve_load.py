"""`outlast serve --load`: refusals, and the client that loads the device."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from outlast.errors import ControlError

if TYPE_CHECKING:
    from outlast._core import Server
    from outlast.serving.load import Load


def load_of(server: Server, rate: float, seed: int) -> Load:
    """The load of a server, `rate` requests per second of real time; refuses devices that take no random writes."""
    from outlast.serving.load import Load

    machine = json.loads(server.request('{"do":"state"}'))["ok"]["machine"]
    if machine["read_only"]:
        raise ControlError("--load: the device is read-only, and the load writes")
    if any("zones" in drive for drive in machine["drives"]):
        raise ControlError("--load: the drive has zones, which take no random writes")
    return Load(server.uri, rate, seed)
