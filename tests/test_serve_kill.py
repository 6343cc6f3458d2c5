"""Does a served drive or array that is killed with `kill -9` keep what it promised, and nothing that nobody wrote?"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from served import SMALL, SYSTEM_PYTHON, Served, needs_libnbd, start

CLIENT = str(Path(__file__).parent / "killed_client.py")
UNITS = 400
KILLS_OF_AN_IMAGE = 10
"""Kills after which the next image begins: every start repeats the whole log."""

SMALL_ARRAY = (
    SMALL
    + """
[array]
level = "raid5"
members = 4
"""
)

pytestmark = needs_libnbd


def client(*arguments: str) -> subprocess.Popen[str]:
    """The client of this test, in a process of its own."""
    command = [SYSTEM_PYTHON, CLIENT, *arguments]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def said(process: subprocess.Popen[str]) -> Any:
    """What the client has found."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out)


def kill_under_load(served: Served, seed: int, seconds: float) -> Any:
    """What had been written and promised when the server was killed."""
    writer = client("write", served.uri, str(seed), str(UNITS))
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(seconds)
    served.process.send_signal(signal.SIGKILL)
    served.process.communicate(timeout=30)
    return said(writer)


def look(served: Served) -> list[int]:
    """What each unit holds."""
    found: list[int] = said(client("read", served.uri, str(UNITS)))
    return found


@pytest.mark.parametrize("kind", ["drive", "array"])
@pytest.mark.parametrize("clock", ["wall", "virtual"])
def test_what_was_promised_is_there_after_kill_9(
    tmp_path: Path, kind: str, clock: str, request: pytest.FixtureRequest
) -> None:
    kills = int(request.config.getoption("--kills"))
    (tmp_path / "small.toml").write_text(SMALL if kind == "drive" else SMALL_ARRAY)
    chance = random.Random(f"{kind} {clock}")
    acknowledged = 0
    for kill in range(kills):
        image = tmp_path / f"image-{kill // KILLS_OF_AN_IMAGE}"
        if kill % KILLS_OF_AN_IMAGE == 0:
            held = [0] * UNITS
        served = start(tmp_path, "small.toml", "--image", str(image), "--clock", clock)
        assert look(served) == held, "what was there after a loss of power stays there"
        load = kill_under_load(served, kill + 1, chance.uniform(0.02, 0.5))
        acknowledged += load["acknowledged"]
        served = start(tmp_path, "--image", str(image), "--clock", clock)
        before, held = held, look(served)
        for unit, version in enumerate(held):
            may = [before[unit], *load["given"][unit]][load["covered"][unit] :]
            assert version in may, f"kill {kill}: unit {unit} holds {version}, not one of {may}"
        served.process.send_signal(signal.SIGKILL)
        served.process.communicate(timeout=30)
    assert acknowledged > 10 * kills
    print(f"{kills} kills of a served {kind}, {clock} clock: {acknowledged} acknowledged, nothing promised is missing")


def test_a_server_that_is_told_to_end_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    served = start(tmp_path, "small.toml", "--image", "image", "--clock", "virtual")
    script = "h.pwrite(b'k' * 65536, 4096)"
    served.run("nbdsh", "-u", served.uri, "-c", script)
    assert served.stop(signal.SIGTERM)[0] in (0, 143)
    served = start(tmp_path, "--image", "image", "--clock", "virtual")
    served.run("nbdsh", "-u", served.uri, "-c", "assert h.pread(65536, 4096) == b'k' * 65536")
    refused = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@"', "sh", *served.process.args],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        timeout=30,  # type: ignore[misc]
    )
    assert refused.returncode == 2 and "is in use by another server" in refused.stderr
    served.stop()
