"""One state of a recording, to be looked at: mounted for everybody, as a file, and as a drive."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast import interrupts
from outlast.errors import TortureError
from outlast.products.torture import cleanup, device, linux, loop

if TYPE_CHECKING:
    from outlast.products.torture.crash import Recording, Served, State

LOOK_S = 0.05
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s|min|h)")
_UNITS_NS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}


@dataclass
class Opened:
    """A state and where it is."""

    state: State
    env: dict[str, str] = field(default_factory=dict)
    """Environment of a command that is to look at it: as for a check."""

    def lines(self) -> Iterator[str]:
        """Text for the user."""
        state = self.state
        mark = f'"{state.mark}"' if state.mark is not None else "none"
        yield f"{state.id}: after {state.event} events, at {state.at_ns / 1e9:.9f} s, last mark {mark}"
        for entry in json.loads(state.witness()):
            yield f"lost: {entry['text']}"
        for offset, length in state.bad:
            yield f"cannot be read: {length} bytes from byte {offset}"


def state_of(recording: Recording, cut: str) -> State:
    """The state of that name, or what a loss of power at a time leaves: on its drive, else by the contract."""
    found = _TIME.fullmatch(cut)
    if found is None:
        if "@" not in cut:
            raise TortureError(f"--cut {cut}: must be a time such as 12.5ms, or a state such as contract@812")
        return recording.state(cut)
    at_ns = int(Decimal(found[1]) * _UNITS_NS[found[2]])
    facts: dict[str, Any] = json.loads(recording.facts())
    if not facts["has_times"]:
        raise TortureError(f"--cut {cut}: the recording has no times; name a state such as contract@812")
    if facts["source"] == "image":
        return recording.state(f"drive@{at_ns}")
    events = json.loads(recording.timeline())["events"]
    before = [event["event"] for event in events if event["at_ns"] <= at_ns]
    return recording.state(f"contract@{before[-1] + 1 if before else facts['window'][0]}")


@contextmanager
def opened(
    recording: Recording, state: State, run: Path, about: dict[str, Any], content: bool, tell: Callable[[str], None]
) -> Iterator[Opened]:
    """A state that is there for as long as the block lasts.

    What a simulated drive leaves is that drive, with its power back, unless its `content` alone is wanted. `about` is
    what the recording says of itself; `tell` is given lines for the user.
    """
    if state.refused is not None:
        raise TortureError(f"{state.id}: {state.refused}")
    fs = about.get("fs", "none")
    result = Opened(state)
    with ExitStack() as stack:
        place = stack.enter_context(cleanup.temporary_folder())
        marks = place / "marks"
        marks.write_text("".join(f"{mark}\n" for mark in state.marks), encoding="utf-8")
        result.env |= {"OUTLAST_STATE": state.id, "OUTLAST_MARK": state.mark or "", "OUTLAST_MARKS": str(marks)}
        if state.model == "drive" and not content:
            server = stack.enter_context(_drive_after(run, state.at_ns, place / "nbd"))
            result.env["OUTLAST_URI"] = server.uri
        elif state.bad:
            server = stack.enter_context(_ending(recording.serve(state, f"unix:{place / 'nbd'}", None)))
            result.env["OUTLAST_URI"] = server.uri
        lack = loop.missing(fs) if fs != "none" else None
        if lack is not None:
            tell(f"not mounted: {fs}: {lack}")
        if fs == "none" or lack is not None:
            if "OUTLAST_URI" not in result.env:
                with (place / "disk").open("wb") as file:
                    file.truncate(state.size)
                    state.write_to(file.fileno())
                result.env["OUTLAST_DEVICE"] = str(place / "disk")
        else:
            source = stack.enter_context(_device(result, place))
            stack.enter_context(_mounted(source, place, fs, about.get("mount_options", ""), tell))
            result.env |= {"OUTLAST_DEVICE": source.path, "OUTLAST_MOUNT": str(place / "mount")}
        yield result


@contextmanager
def _drive_after(run: Path, at_ns: int, socket: Path) -> Iterator[Served]:
    """The drive of a recording as it was at a time of its own, after power failed then and came back."""
    from outlast import api

    # Its time stands still until somebody asks, so that power fails at that very time.
    server = api.start_server([], listen=f"unix:{socket}", speed=None, image=str(run), at=f"{at_ns}ns")
    with _ending(server):
        answer = json.loads(server.request('{"do":"power","action":"cut"}'))
        if "error" in answer:
            raise TortureError(f"{run}: {answer['error']}")
        yield server


@contextmanager
def _ending(server: Served) -> Iterator[Served]:
    """A server that serves when the block begins, and has ended when it is over."""
    try:
        while (doing := server.wait(LOOK_S)[0]) != "serving":
            if doing == "ended":
                raise TortureError("the state cannot be served")
            if interrupts.stop_requests():
                raise KeyboardInterrupt
        yield server
    finally:
        server.stop()
        while server.wait(LOOK_S)[0] != "ended":
            pass


@contextmanager
def _device(result: Opened, place: Path) -> Iterator[device.Device]:
    """The state as a block device."""
    if (uri := result.env.get("OUTLAST_URI")) is not None:
        file = place / f"{place.name}.drive"
        with ThreadPoolExecutor(1) as outside, device.drive_as_device(uri, file, outside) as source:
            yield source
        return
    memory = os.memfd_create(place.name, os.MFD_CLOEXEC)
    try:
        os.truncate(memory, result.state.size)
        result.state.write_to(memory)
        with device.file_as_device(memory) as source:
            yield source
    finally:
        os.close(memory)


@contextmanager
def _mounted(source: device.Device, place: Path, fs: str, options: str, tell: Callable[[str], None]) -> Iterator[None]:
    """The device, mounted where everybody of this computer can see it."""
    mount = place / "mount"
    mount.mkdir()
    with cleanup.removed_on_exit("mount", mount):
        try:
            loop.mount(source.path, mount, fs, options, is_served=True)
        except OSError as error:
            raise TortureError(f"{fs} cannot be mounted: {error.strerror} (the kernel's log says more)") from error
        try:
            yield
        finally:
            try:
                linux.aside("unmount", mount)
            except OSError as error:
                tell(f"{mount}: {error.strerror}: still in use; it is unmounted when its last user exits")
                linux.unmount(mount, linux.MNT_DETACH)
