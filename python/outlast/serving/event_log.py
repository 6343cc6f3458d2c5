"""The events of a served machine in the log of `outlast serve`: those of its state, each once, and its clients."""

from __future__ import annotations

import json
import time
from typing import Any

from outlast import log
from outlast.serving.control import Server

PERIOD_S = 1.0
"""Time between two looks; a state costs a server in proportion to the blocks of its flash."""


class EventLog:
    """Asks for the state now and then and records what is new; asks nothing where there is no log."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._due = 0.0
        self._next = 0
        self._clients = 0

    def look(self, *, at_once: bool = False) -> None:
        """Records new events, if the last look was long enough ago."""
        if not log.is_on() or (time.monotonic() < self._due and not at_once):
            return
        self._due = time.monotonic() + PERIOD_S
        answer = json.loads(self._server.request('{"do":"state"}'))
        if state := answer.get("ok"):
            self._record(state)

    def _record(self, state: dict[str, Any]) -> None:
        new = [event for event in state["events"] if event["number"] >= self._next]
        if new:
            if missed := new[0]["number"] - self._next:
                log.record("events not shown", level=log.WARNING, count=missed)
            self._next = new[-1]["number"] + 1
        for event in new:
            log.record("event", **event)
        if state["clients"] != self._clients:
            self._clients = state["clients"]
            log.record("clients", count=self._clients)
