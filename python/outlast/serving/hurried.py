"""Connections that say what they want within a time: uvicorn itself waits for ever for the rest of a request.

Anybody on this computer may connect, without a token. So a connection that has not said all of its request is closed
after a while, and when there are too many, the one that has been at it longest makes room for the next.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 10.0
"""How long a request may take to come, head and body together, however it is cut into pieces."""


class Hurried(H11Protocol):
    """A connection of uvicorn's with a time limit for each request. The event loop is its only clock."""

    _limit: asyncio.TimerHandle | None = None
    since = 0.0
    """When the request that is coming began, by the loop's clock."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected, and has said nothing yet."""
        super().connection_made(transport)
        self._make_room()
        self._look()

    def data_received(self, data: bytes) -> None:
        """More of a request has come."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """The answer has left; the next request may have begun."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._is_coming(False)
        super().connection_lost(exc)

    @property
    def is_unfinished(self) -> bool:
        """Whether a request has begun, or the first one is waited for, and has not come to its end."""
        if self.conn.their_state is h11.IDLE:
            return self.cycle is None or bool(self.conn.trailing_data[0])
        return self.conn.their_state is h11.SEND_BODY

    def _look(self) -> None:
        self._is_coming(self.is_unfinished and not self.transport.is_closing())

    def _is_coming(self, is_coming: bool) -> None:
        if is_coming and self._limit is None:
            self.since = self.loop.time()
            self._limit = self.loop.call_later(REQUEST_S, self._drop)
        elif not is_coming and self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _drop(self) -> None:
        self.connections.discard(self)
        self.transport.abort()

    def _make_room(self) -> None:
        others: list[Any] = [each for each in self.connections if each is not self]
        if self.limit_concurrency is None or len(others) + 1 < self.limit_concurrency:
            return
        unfinished = [each for each in others if isinstance(each, Hurried) and each.is_unfinished]
        if unfinished:
            min(unfinished, key=lambda each: each.since)._drop()
