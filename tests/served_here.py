"""A server in the process of a test, by the virtual clock, and the array that it serves."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from outlast import _core, api
from patience import PATIENCE_S, eventually

ARRAY = """\
extends = "die-repair"
name = "array"
faults = []

[device]
model = "small member"

[device.geometry]
blocks_per_plane = 24
pages_per_block = 16

[device.ftl]
capacity = "224MiB"

[device.controller]
write_buffer = "2MiB"

[array]
members = 4

[array.repair]
share = 0.5

[precondition]
fill = "none"
overwrite = "none"
"""
"""Four small drives as RAID-5 that repair a die in place."""


class Server:
    """A server in this process, by the virtual clock."""

    def __init__(self, server: _core.Server, folder: Path) -> None:
        self.server, self.folder = server, folder

    def ask(self, do: str, **what: Any) -> Any:
        """Asks the server; it must agree."""
        answer = json.loads(self.server.request(json.dumps({"do": do, **what})))
        assert "ok" in answer, answer
        return answer["ok"]

    def refusal(self, do: str, **what: Any) -> str:
        """Asks the server; it must refuse, in one line."""
        answer = json.loads(self.server.request(json.dumps({"do": do, **what})))
        assert "\n" not in answer["error"]
        return str(answer["error"])

    def run(self, *command: str, code: int = 0) -> str:
        """A client's output."""
        done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=PATIENCE_S)
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def qemu_io(self, *commands: str, uri: str | None = None, code: int = 0) -> str:
        """Reads and writes."""
        words = [word for command in commands for word in ("-c", command)]
        return self.run("qemu-io", "-f", "raw", *words, uri or self.server.uri, code=code)


@contextmanager
def serving(folder: Path, scenario: str, **settings: Any) -> Iterator[Server]:
    """A server for as long as the block lasts."""
    file = folder / "scenario.toml"
    file.write_text(scenario)
    server = api.start_server(str(file), listen=f"unix:{folder / 'socket'}", **{"speed": None, **settings})
    while server.wait(0.05)[0] == "preparing":
        pass
    try:
        yield Server(server, folder)
    finally:
        server.stop()
        assert eventually(lambda: server.wait(0.05)[0] == "ended")
