"""Serving drives and arrays to real clients from Python.

with outlast.serve("die-repair") as served:
    subprocess.run(["fio", "--ioengine=nbd", f"--uri={served.uri}", ...])
    served.fault(die=3, device=2)
    served.power_cut()

Everything becomes one kind of request to the server's loop, JSON in and out, which is executed between two turns at
the machine's time. `control` passes on lines from a Unix socket that only its owner can open, `web` maps paths to the
same requests on the loopback interface, and this module and `cli/ctl.py` are clients. `metrics` turns two answers
into Prometheus's text; `live` asks five times a second while a page is open, and the page computes differences.
Figures are running totals, so one reader does not change what another sees (decision 0046).
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from outlast.api import Overrides, ScenarioLike, layers, override_list
from outlast.errors import ControlError
from outlast.plain_values import plain
from outlast.serving import sockets
from outlast.serving.built_in_load import load_of, rate_of
from outlast.serving.client import value_of
from outlast.serving.control import Control
from outlast.serving.file import DriveFile

if TYPE_CHECKING:
    from outlast import _core

NVME_ANYWHERE = "tcp:127.0.0.1:0"
"""Any free port of this machine, for hosts that connect by NVMe/TCP."""
LOOK_S = 0.2
"""Interval between two checks of the server's status."""


class Served:
    """A machine that is being served; to be used in `with`, which ends it as a host that shuts its drive down.

    Everything happens at the machine's present time. What it refuses is raised as `outlast.ControlError`.
    """

    def __init__(
        self, server: _core.Server, stack: ExitStack, url: str | None, control: Path | None, file: DriveFile | None
    ) -> None:
        self._server = server
        self._stack = stack
        self._file = file
        self.url = url
        """Address of the live page, with its token; `None` unless `http` was asked for."""
        self.control = control
        """The control socket, which `outlast ctl` uses; `None` unless `name` was given."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def uri(self) -> str:
        """NBD URI for clients."""
        return self._server.uri

    @property
    def nvme_uri(self) -> str | None:
        """URI for NVMe/TCP, `nvme+tcp://ADDRESS:PORT/NQN`; `None` unless `nvme` was given."""
        return self._server.nvme_uri

    def ask(self, request: Mapping[str, Any]) -> Any:
        """Sends a request as on the control socket, such as `{"do": "state"}`; returns the answer."""
        text = json.dumps(plain({name: value for name, value in request.items() if value is not None}))
        return value_of(json.loads(self._server.request(text)))

    def state(self) -> dict[str, Any]:
        """State of the server: clock, clients, exports, events, and the device with its dies and repairs."""
        state: dict[str, Any] = self.ask({"do": "state"})
        return state

    def smart(self) -> dict[str, Any]:
        """SMART figures of the device."""
        smart: dict[str, Any] = self.ask({"do": "smart"})
        return smart

    def lba_status(self, offset: int = 0, length: int | None = None, *, device: int = 0) -> list[dict[str, Any]]:
        """Runs of bytes that a drive wants written again: `offset`, `length`, `readable` (only their place is wrong).

        Takes no simulated time. In an array, `device` is the number of the member, and addresses are the member's.
        """
        runs: list[dict[str, Any]] = self.ask(
            {"do": "lba_status", "offset": offset, "length": length, "device": device}
        )
        return runs

    def metrics(self) -> dict[str, Any]:
        """Requests, latencies and lateness."""
        metrics: dict[str, Any] = self.ask({"do": "metrics"})
        return metrics

    def fault(self, kind: str = "die", **place: Any) -> None:
        """Injects a fault, as in `[[faults]]`: `fault(die=3)`; of an array `device` says in which of its devices."""
        self.ask({"do": "fault", "fault": {"kind": kind, **place}})

    def power_cut(
        self,
        span: str | None = None,
        force: bool = False,
        *,
        shorn: str | None = None,
        torn: int | str | None = None,
    ) -> None:
        """Power fails and is back at once, or after `span` (`"2s"`); clients lose their connections unanswered.

        With `shorn` (`"3/8"`) the drive takes units for good of which only the first part has been programmed, with
        `torn` (512) units of which each run of so many bytes is new or old; never any that a flush has covered.
        """
        self.ask({"do": "power", "action": "cut", "for": span, "force": force, "shorn": shorn, "torn": torn})

    def power_off(self, *, shorn: str | None = None, torn: int | str | None = None) -> None:
        """Power fails; clients that connect wait until it is back. `shorn` and `torn` are as of `power_cut`."""
        self.ask({"do": "power", "action": "off", "shorn": shorn, "torn": torn})

    def power_on(self, force: bool = False) -> None:
        """Restores power. `force`: an array starts although parity is in doubt and a member is missing."""
        self.ask({"do": "power", "action": "on", "force": force})

    def mark(self, text: str) -> None:
        """Adds a remark to the events."""
        self.ask({"do": "mark", "text": text})

    def fork(self, export: str, cut: bool = False) -> str:
        """Serves a copy as a further export and returns its URI. `cut`: as it would be after a loss of power now."""
        return str(self.ask({"do": "fork", "export": export, "cut": cut})["uri"])

    def clock(
        self, *, speed: float | None = None, pause: bool | None = None, advance: str | None = None
    ) -> dict[str, Any]:
        """The clock, after it was changed: simulated seconds a second, standing still or not, so much further on."""
        clock: dict[str, Any] = self.ask({"do": "clock", "speed": speed, "pause": pause, "advance": advance})
        return clock

    def repair(self) -> None:
        """Starts a check and repair of an array's redundancy."""
        self.ask({"do": "repair"})

    def replace(self, member: int, force: bool = False) -> None:
        """Replaces a member of an array by a new drive, which is rebuilt."""
        self.ask({"do": "replace", "member": member, "force": force})

    def stop(self) -> None:
        """Ends the service. Raises the error that ended it before, if there was one."""
        if self._file is not None:
            self._file.close()
        self._server.stop()
        try:
            while self._server.wait(LOOK_S)[0] != "ended":
                pass
        finally:
            self._stack.close()


def serve(
    scenario: ScenarioLike | Sequence[ScenarioLike] | None = None,
    overrides: Overrides | None = None,
    *,
    listen: str | None = None,
    nvme: str | bool | None = None,
    tls_cert: str | Path | None = None,
    tls_key: str | Path | None = None,
    tls_ca: str | Path | None = None,
    tls: str = "require",
    speed: float | None = None,
    export: str | None = None,
    name: str | None = None,
    http: bool | int = False,
    image: str | Path | None = None,
    sync: bool = False,
    spin: bool = False,
    contents: str = "memory",
    file: str | Path | None = None,
    load: float | bool | None = None,
) -> Served:
    """Serves a scenario's drive or array by the NBD protocol from a thread of its own, and returns when it is ready.

    Without a scenario it is the machine that `image` holds already, or else the preset `demo` with the `overrides`.
    `listen` is `unix:PATH` or `tcp:ADDRESS:PORT`; without it a socket in a new folder that only this user can enter.
    `nvme` is `tcp:ADDRESS:PORT` for hosts that connect by NVMe/TCP, too; with `True` at any free port of this machine.
    `tls_cert`, `tls_key`, `tls_ca` and `tls` are as the options of `outlast serve`. Time leaps from one event to the
    next, so that tests are quick and nothing waits; with `speed` it goes with the clock on the wall, so many simulated
    seconds a second. `name` opens the control socket for `outlast ctl`, `http` the live page and the HTTP interface
    (`True`: at any free port), which need `outlast[serve]`. `image` is a folder in which the machine is kept, with
    `sync` safe from a crash of this computer; `spin` stays awake for the last microseconds before an answer. `file` is
    a path at which the bytes are a file meanwhile, where nbdfuse is installed. With `contents="disk"` the bytes that
    the machine holds are in a file without a name, in the image's folder or that of the system's temporary files,
    instead of in memory. `load` is a rate of random requests a simulated second (`True`: 2000), for something to do.
    """
    from outlast import _core

    with ExitStack() as stack:
        rate = rate_of(load)
        if listen is None:
            folder = tempfile.mkdtemp(prefix="outlast-")
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            listen = f"unix:{Path(folder) / 'nbd'}"
        as_file = None if file is None else stack.enter_context(DriveFile(Path(file)))
        server = _core.serve(
            *_machine_of(scenario, overrides, image),
            listen=listen,
            nvme=NVME_ANYWHERE if nvme is True else nvme or None,
            tls_cert=_text(tls_cert),
            tls_key=_text(tls_key),
            tls_ca=_text(tls_ca),
            tls=tls,
            speed=speed,
            export=export,
            image=_text(image),
            sync=sync,
            spin=spin,
            contents=contents,
        )
        stack.callback(server.stop)
        while (doing := server.wait(LOOK_S)[0]) == "preparing":
            pass
        if doing == "ended":
            raise ControlError("the server ended before it was ready")
        path = stack.enter_context(Control(server, sockets.socket_path(name))).path if name is not None else None
        url = stack.enter_context(http_for(server, http)).url if http is not False else None
        if as_file is not None:
            as_file.open(server.uri)
        stack.enter_context(load_of(server, rate, speed, None))
        return Served(server, stack.pop_all(), url, path, as_file)


def _machine_of(
    scenario: ScenarioLike | Sequence[ScenarioLike] | None, overrides: Overrides | None, image: str | Path | None
) -> tuple[list[_core.Layer], list[tuple[str, str]]]:
    """The layers and settings of the machine to be served; without any it is the image's own."""
    settings = override_list(overrides)
    is_made = image is not None and (Path(image) / "image").exists()
    if scenario is None and is_made and not settings:
        return [], []
    return layers("demo" if scenario is None else scenario), settings


def _text(path: str | Path | None) -> str | None:
    return None if path is None else str(path)


def http_for(server: _core.Server, port: bool | int) -> Any:
    """Starts HTTP for a server, at the given port or at any free one."""
    try:
        from outlast.serving.web import Web
    except ImportError as error:
        raise ControlError(f"HTTP needs {error.name}: pip install 'outlast[serve]'") from error
    return Web(server, 0 if port is True else int(port))
