"""Does an HTTP connection that never says all of its request leave the interface to others? The clock is the test's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn")

from uvicorn.server import ServerState  # noqa: E402

from outlast.serving.timed_protocol import REQUEST_S, TimedProtocol  # noqa: E402

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"


class Timer:
    """Handle of a scheduled call, as an event loop returns it."""

    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at, self.call, self.is_off = at, call, False

    def cancel(self) -> None:
        self.is_off = True


class Task:
    """Work that never ends."""

    def add_done_callback(self, _: Any) -> None:
        """Ignores the callback: the connection of these tests never closes."""


class Loop:
    """An event loop of which only the clock goes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        """Seconds since it began."""
        return self.now

    def call_later(self, delay: float, call: Callable[..., None], *what: Any) -> Timer:
        """Schedules a call on the loop's simulated clock."""
        self.timers.append(Timer(self.now + delay, lambda: call(*what)))
        return self.timers[-1]

    def create_task(self, work: Any, **_: Any) -> Any:
        """The application is none of this test's business."""
        if hasattr(work, "close"):
            work.close()
        return Task()

    def go(self, seconds: float) -> None:
        """Lets time pass."""
        self.now += seconds
        for timer in self.timers:
            if timer.at <= self.now and not timer.is_off:
                timer.is_off = True
                timer.call()


class Transport:
    """A socket of which nobody is at the other end."""

    def __init__(self) -> None:
        self.is_over = False

    def abort(self) -> None:
        """The connection is cut."""
        self.is_over = True

    close = abort

    def is_closing(self) -> bool:
        return self.is_over

    def get_extra_info(self, _: str) -> None:
        """Knows nothing of the peer."""

    def write(self, _: bytes) -> None:
        """Goes nowhere."""

    def pause_reading(self) -> None:
        """Does nothing: no data arrives in these tests."""

    resume_reading = pause_reading


def nothing(*_: Any) -> Any:
    """An application."""


class Place:
    """A server's connections."""

    def __init__(self, most: int | None = None) -> None:
        self.loop = Loop()
        self.state = ServerState()
        how: dict[str, Any] = {"lifespan": "off", "interface": "asgi3", "log_config": None}
        self.config = uvicorn.Config(nothing, limit_concurrency=most, **how)
        self.config.load()

    def connect(self) -> tuple[TimedProtocol, Transport]:
        """A new connection."""
        made, socket = TimedProtocol(self.config, self.state, {}, _loop=self.loop), Transport()  # type: ignore[arg-type]
        made.connection_made(socket)  # type: ignore[arg-type]
        return made, socket


def test_whoever_says_nothing_is_closed_in_time() -> None:
    place = Place()
    _, socket = place.connect()
    place.loop.go(REQUEST_S - 1)
    assert not socket.is_closing()
    place.loop.go(1)
    assert socket.is_closing() and not place.state.connections


@pytest.mark.parametrize("pieces", [[HEAD], [HEAD[:1]], [HEAD + b"Content-Length: 10\r\n\r\n", b"12345"]])
def test_half_a_head_or_body_does_not_buy_time_by_coming_in_pieces(pieces: list[bytes]) -> None:
    place = Place()
    made, socket = place.connect()
    for piece in pieces:
        for byte in piece:
            made.data_received(bytes([byte]))
            place.loop.go(REQUEST_S / 1000)
    assert not socket.is_closing()
    place.loop.go(REQUEST_S)
    assert socket.is_closing()


def test_a_whole_request_has_all_the_time_that_its_answer_takes() -> None:
    for request in (HEAD + b"\r\n", HEAD + b"Content-Length: 5\r\n\r\n12345"):
        place = Place()
        made, socket = place.connect()
        made.data_received(request)
        place.loop.go(1000 * REQUEST_S)
        assert not socket.is_closing(), request


def test_the_longest_unfinished_makes_room_and_no_other() -> None:
    place = Place(most=4)
    whole, kept = place.connect()
    whole.data_received(HEAD + b"\r\n")
    sockets = []
    for _ in range(10):
        place.loop.go(0.001)
        sockets.append(place.connect()[1])
    assert [socket.is_closing() for socket in sockets] == [True] * 8 + [False] * 2
    assert not kept.is_over and len(place.state.connections) == 3
