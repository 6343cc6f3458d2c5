"""A recording of made-up states, whose instants and losses a test chooses."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from outlast.products.torture.crash import Served, State


@dataclass(frozen=True)
class FakeState:
    """A state that holds nothing but its name."""

    id: str
    model: str
    event: int = 0
    at_ns: int = 0
    mark: str | None = None
    marks: list[str] = field(default_factory=list)
    size: int = 512
    spans_ns: list[tuple[int, int]] = field(default_factory=list)
    bad: list[tuple[int, int]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    refused: str | None = None

    def read(self, offset: int, length: int) -> bytes:
        return self.id.encode().ljust(self.size, b"\0")[offset : offset + length]

    def write_to(self, fd: int) -> int:
        raise NotImplementedError

    def witness(self) -> str:
        return json.dumps([{"write": int(each), "text": f"write {each} is lost"} for each in self.lost])

    def keep(self, pieces: list[str]) -> FakeState:
        left = [each for each in self.lost if each not in pieces]
        name = f"lost@{self.event}" + (f"-{','.join(left)}" if left else "")
        return replace(self, id=name, lost=left, spans_ns=[])


class FakePlan(list[FakeState]):
    """States in an order."""

    def facts(self) -> str:
        return "{}"


class FakeRecording:
    """A window of time, and states."""

    def __init__(self, states: list[FakeState], window: tuple[int, int] = (0, 1000)) -> None:
        self._states, self._window = FakePlan(states), window
        self._first = FakeState("contract@9", "contract", event=9)

    def facts(self) -> str:
        window = {"window": [0, 9], "window_ns": self._window, "has_times": True, "marks": []}
        return json.dumps(
            {"source": "image", "capacity": 512, "events": 9, "bytes": 0, "writes": 0, "flushes": 0, **window}
        )

    def timeline(self) -> str:
        return json.dumps({"events": []})

    def plan(self, spec: str) -> FakePlan:
        models: list[str] = json.loads(spec)["models"]
        return FakePlan([state for state in self._states if state.model in models])

    def state(self, id: str) -> FakeState:  # noqa: A002
        every: list[FakeState] = [self._first, *self._states]
        return {state.id: state for state in every}[id]

    def serve(self, state: State, listen: str, record: str | None) -> Served:
        raise NotImplementedError
