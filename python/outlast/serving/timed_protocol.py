"""HTTP connections with a time limit for each request: uvicorn itself waits for ever for the end of a request.

Any user of this computer may connect, without a token. So a connection with an unfinished request is closed after a
while, and when there are too many, the one that has taken longest makes room for the next.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 10.0
"""Time in which a request must arrive, head and body together, however it is divided."""


class TimedProtocol(H11Protocol):
    """A connection of uvicorn's with a time limit for each request. The event loop is its only clock."""

    _limit: asyncio.TimerHandle | None = None
    since = 0.0
    """Start of the unfinished request, by the loop's clock."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Handles a new connection."""
        super().connection_made(transport)
        self._make_room()
        self._update_limit()

    def data_received(self, data: bytes) -> None:
        """Handles a part of a request."""
        super().data_received(data)
        self._update_limit()

    def on_response_complete(self) -> None:
        """Handles the end of a response; the next request may have begun."""
        super().on_response_complete()
        self._update_limit()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handles the loss of the connection."""
        self._set_awaited(False)
        super().connection_lost(exc)

    @property
    def is_unfinished(self) -> bool:
        """True while a request is incomplete, or the first one is awaited."""
        if self.conn.their_state is h11.IDLE:
            return self.cycle is None or bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY

    def _update_limit(self) -> None:
        self._set_awaited(self.is_unfinished and not self.transport.is_closing())

    def _set_awaited(self, is_awaited: bool) -> None:
        if is_awaited and self._limit is None:
            self.since = self.loop.time()
            self._limit = self.loop.call_later(REQUEST_S, self._drop)
        elif not is_awaited and self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _drop(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        others: list[Any] = [each for each in self.connections if each is not self]
        if self.limit_concurrency is None or len(others) + 1 < self.limit_concurrency:
            return
        unfinished = [each for each in others if isinstance(each, TimedProtocol) and each.is_unfinished]
        if unfinished:
            min(unfinished, key=lambda each: each.since)._drop()
