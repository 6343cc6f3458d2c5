"""Do servers that start together have control sockets of their own?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from outlast.serving.client import is_running
from outlast.serving.control import Control

MANY = 6


class Deaf:
    """A server that gives each request back."""

    def request(self, text: str) -> str:
        return text


def test_servers_that_start_together_find_names_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    together = Barrier(MANY)

    def start(_: int) -> Control:
        together.wait()
        return Control.at_free_name(Deaf(), "same").__enter__()

    with ThreadPoolExecutor(MANY) as pool:
        started = list(pool.map(start, range(MANY)))
    assert len({each.path for each in started}) == MANY
    assert all(is_running(each.path) for each in started), "none has lost its socket to another"
    for each in started:
        each.__exit__()
    assert not any(each.path.exists() for each in started)
