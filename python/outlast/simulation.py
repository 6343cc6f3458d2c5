"""A scenario's drive or array with its workload, run in steps that one can look between."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from outlast import _core, foreign, memory
from outlast.api import Overrides, Progress, ScenarioLike, StoppedError, layers, result_of, whole
from outlast.drive_commands import OPS, OUTCOMES, Span, check_range, nanoseconds
from outlast.errors import DeviceError, ScenarioError
from outlast.inputs import Text
from outlast.plain_values import path_of, place_of, plain, shown
from outlast.requests import of_scenario

if TYPE_CHECKING:
    from outlast.policies import Policies
    from outlast.result import Result

Columns: TypeAlias = Mapping[str, NDArray[Any]]
"""Columns of one length, by name."""


@dataclass(frozen=True)
class State:
    """State of a drive, or an array of drives, between two steps: columns by name, a row for each thing.

    `device` is the number that faults have: 0 of a drive by itself, the column of a member of an array.
    """

    dies: Columns
    """`device`, `channel`, `die`, `state` (good, failing, failed, given-up), `busy_ns` since counts began, `pe_cycles`
    (the mean of its blocks), `bad_blocks`."""
    superblocks: Columns
    """`device`, `core`, `superblock`, `state` (free, open, sealed, collecting, retired), `cause` (what it was opened
    for; empty where it is free), `class`, `valid_units` of `units`, `erase_count`, `age_units` (units that the host has
    written since it was sealed; NaN where it is not)."""
    mapping: Columns
    """Ranges of each drive's addresses: `device`, `offset`, `bytes`, and `mapped_bytes`, of which these hold data."""
    wear: Columns
    """`core`, `die`, `channel`, `plane`, `block`, `cycles`, `bad` and, of an array, `device`, a row for each block;
    empty for more than four million blocks."""

    def die_map(self, device: int = 0) -> NDArray[Any]:
        """The state of each die of a drive, a row for each channel."""
        of_device = self.dies["device"] == _count(device, "device")
        channels = len(np.unique(self.dies["channel"][of_device]))
        if not channels:
            raise DeviceError(f"device = {device}: no such drive")
        states: NDArray[Any] = self.dies["state"][of_device].reshape(channels, -1)
        return states

    def density(self, device: int = 0) -> NDArray[np.float64]:
        """The share of each range of addresses of a drive that holds data, 0 to 1."""
        of_device = self.mapping["device"] == _count(device, "device")
        share: NDArray[np.float64] = self.mapping["mapped_bytes"][of_device] / self.mapping["bytes"][of_device]
        return share


@dataclass(frozen=True)
class Answer:
    """The outcome of a submitted request."""

    outcome: str
    """Outcome: one of `outlast.drive_commands.OUTCOMES`, `"ok"` for success."""
    submitted_ns: int
    """Submission, in simulated nanoseconds."""
    completed_ns: int
    """Completion, in simulated nanoseconds."""

    @property
    def latency_us(self) -> float:
        """Latency, in microseconds."""
        return (self.completed_ns - self.submitted_ns) / 1000.0


class Simulation:
    """A run in steps: the scenario's drive or array is prepared, and its workload waits for `advance`.

    The steps do not change the result: `run` gives the result of `outlast.run`, byte for byte. The notes of the result
    list injected faults, losses of power and submitted requests (`inject`, `power_cut`, `submit`).
    One thread at a time uses a simulation, and no function that a step calls, such as `progress`. Ctrl-C ends the run
    early; its result is then marked partial.
    """

    def __init__(
        self,
        scenario: ScenarioLike | Sequence[ScenarioLike],
        overrides: Overrides | None = None,
        *,
        progress: Progress | None = None,
        any_memory: bool = False,
        log_near: Path | None = None,
        policies: Policies | None = None,
    ) -> None:
        """Prepares a run as `outlast.run` does, up to the first request of the workload."""
        chosen, changes, self._own = whole(scenario, overrides, policies)
        self._toml = _core.resolve(chosen, changes, "toml")
        if not any_memory:
            memory.check(_core.validate(chosen, changes, self._own, runs_code=True))
        self._log = of_scenario(self._toml, log_near)
        if progress is not None and not callable(progress):
            raise ScenarioError(f"progress = {shown(progress)}: must be a function or None")
        self._progress = progress
        rows = self._log.take if self._log else None
        self._simulation = _core.Simulation(chosen, changes, progress, rows, self._own)

    @property
    def now(self) -> float:
        """Simulated seconds since the workload began."""
        return self.now_ns / 1e9

    @property
    def now_ns(self) -> int:
        """The same in nanoseconds, exactly."""
        return self._simulation.stand()[0]

    @property
    def requests(self) -> int:
        """Requests of the workload that have completed, those of the warm-up included."""
        return self._simulation.stand()[1]

    @property
    def ended(self) -> bool:
        """True if the workload has ended or was stopped, so that only `run` is left to call."""
        return self._simulation.stand()[2]

    @property
    def capacity(self) -> int:
        """Bytes that the host addresses."""
        return self._simulation.capacity

    def advance(self, seconds: Span | None = None, requests: int | None = None) -> Simulation:
        """Goes on by so much simulated time, or so many requests, whichever comes first; returns itself.

        A number of requests is kept exactly. A step of time ends with the first request that completes at that time or
        later; where requests arrive by the clock (open loop), it ends at that very time.
        """
        if seconds is None and requests is None:
            raise DeviceError("advance: give seconds, requests or both")
        by = None if seconds is None else nanoseconds(seconds)
        count = None if requests is None else _count(requests, "requests")
        self._simulation.advance(count, by, self._progress)
        return self

    def run(self) -> Result:
        """Goes on to the end of the workload and returns the result. The simulation is over then."""
        self._simulation.advance(None, None, self._progress)
        return self.finish()

    def finish(self) -> Result:
        """Ends the run where it stands and returns the result, marked partial unless the workload had ended."""
        return result_of(self._simulation.finish(self._progress), self._toml, self._log, self._own)

    def submit(self, op: str, offset: int = 0, length: int = 0) -> Answer:
        """Hands over one request beside those of the workload, which goes on until that one has completed.

        `op`: one of `outlast.drive_commands.OPS`; `offset` and `length` in bytes, in whole sectors of 512, which a
        flush does not take. Flash counts it, the host's figures do not.
        """
        if not isinstance(op, str) or op not in OPS:
            raise DeviceError(f"op = {shown(op)}: must be one of {', '.join(OPS)}")
        self._check_range(op, _count(offset, "offset"), _count(length, "length"))
        done = self._simulation.submit(OPS.index(op), offset, length)
        if done is None:
            raise DeviceError("submit: the workload has ended; nothing is asked any more")
        return Answer(OUTCOMES[done[0]], done[1], done[2])

    def _check_range(self, op: str, offset: int, length: int) -> None:
        check_range(offset, length, self.capacity)
        if (op == "flush") != (length == 0):
            raise DeviceError(f"length = {length}: must be 0 for a flush, and more for all else")

    def inject(self, fault: Mapping[str, Any]) -> None:
        """Injects a fault now: an entry of `[[faults]]` without `at`, such as `{"kind": "die", "die": 3}`."""
        self._simulation.inject(json.dumps(plain(fault)))

    def power_cut(self, **left: Any) -> None:
        """The power goes and is back at once: what is under way is aborted, what is in a volatile buffer is lost.

        `left`: what a fault of kind `power` takes, such as `torn=512`, or `force=True` for an array that would not
        start.
        """
        self.inject({"kind": "power", **left})

    @property
    def state(self) -> State:
        """State of the drive or array, at a cost proportional to its size."""
        tables = self._simulation.state()
        columns = {name: {key: np.asarray(column) for key, column in table.items()} for name, table in tables.items()}
        return State(columns["dies"], columns["superblocks"], columns["mapping"], columns.get("wear", {}))

    def snapshot(self, file: str | Path) -> Path | None:
        """Writes the drive or array as it was prepared, for other runs to start from: whole or not at all.

        To be called before the first step. `outlast.restore` opens it again, and so does a scenario with
        `[precondition] from`. `None` where Ctrl-C stopped it.
        """
        from outlast.output import cannot_write, check_file, staged_file

        path = place_of(file)
        check_file(path)
        with suppress(StoppedError), staged_file(path) as staging:
            try:
                if not self._simulation.snapshot(str(staging), self._progress):
                    raise StoppedError
            except OSError as error:
                raise cannot_write(path, error) from error
            return path
        return None

    def self_check(self) -> None:
        """Checks every invariant of the drive or array; the first broken one is an `InternalError`."""
        self._simulation.self_check()


def open(  # noqa: A001 - `outlast.open`
    scenario: ScenarioLike | Sequence[ScenarioLike], overrides: Overrides | None = None, **more: Any
) -> Simulation:
    """Prepares the drive or array of a scenario and returns its run, which waits: see `Simulation`."""
    return Simulation(scenario, overrides, **more)


def restore(
    file: str | Path,
    scenario: ScenarioLike | Sequence[ScenarioLike] | None = None,
    overrides: Overrides | None = None,
    **more: Any,
) -> Simulation:
    """Opens a run on the drive or array of a snapshot instead of preparing one.

    Without a `scenario` it is the one that the snapshot was made of. Of another, workload, faults, seed and what does
    not shape a drive's state (flash times, costs, the policy of collection) are free; all else of `[device]` and
    `[array]` must be the same.
    """
    path = os.path.realpath(path_of(file, "a snapshot is the path of its file", ScenarioError))
    if scenario is None:
        try:
            scenario = foreign.json_of(_core.snapshot_scenario(path))
        except ValueError as error:
            raise ScenarioError(f"{path}: the scenario in it: {error}") from error
    layers(scenario)  # refuses what is no scenario
    chosen = [scenario] if isinstance(scenario, (str, Path, Mapping, Text)) else list(scenario)
    start = {"precondition": {"from": path}}
    return Simulation([*chosen, start], overrides, **more)


def _count(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise DeviceError(f"{name} = {shown(value)}: must be a whole number, 0 or more")
    return min(int(value), 2**64 - 1)
