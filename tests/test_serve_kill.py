"""Does a served drive or array that is killed with `kill -9` keep what it promised, and nothing that nobody wrote?"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from patience import PATIENCE_S
from served import SMALL, SYSTEM_PYTHON, Served, needs_libnbd, start

CLIENT = str(Path(__file__).parent / "killed_client.py")
UNITS = 400
CHECKPOINTS = ("--checkpoint-every", "128KiB")
"""Options with a distance so short that kills come while checkpoints are written."""

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
    """Report of the client, parsed."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, err
    return json.loads(out)


def kill_under_load(served: Served, seed: int, seconds: float) -> Any:
    """Kills the server under load; returns the client's account of writes and promises."""
    writer = client("write", served.uri, str(seed), str(UNITS))
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(seconds)
    served.process.send_signal(signal.SIGKILL)
    served.process.communicate(timeout=PATIENCE_S)
    return said(writer)


def look(served: Served) -> list[int]:
    """Version that each unit holds."""
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
    acknowledged, held, image = 0, [0] * UNITS, tmp_path / "image"
    for kill in range(kills):
        served = start(tmp_path, "small.toml", "--image", str(image), "--clock", clock, *CHECKPOINTS)
        assert look(served) == held, "what was there after a loss of power stays there"
        load = kill_under_load(served, kill + 1, chance.uniform(0.02, 0.5))
        acknowledged += load["acknowledged"]
        served = start(tmp_path, "--image", str(image), "--clock", clock, *CHECKPOINTS)
        before, held = held, look(served)
        for unit, version in enumerate(held):
            may = [before[unit], *load["given"][unit]][load["covered"][unit] :]
            assert version in may, f"kill {kill}: unit {unit} holds {version}, not one of {may}"
        served.process.send_signal(signal.SIGKILL)
        served.process.communicate(timeout=PATIENCE_S)
    assert acknowledged > 10 * kills
    checkpoint = max(path.stem for path in (image / "checkpoints").iterdir())
    print(
        f"{kills} kills of a served {kind}, {clock} clock: {acknowledged} acknowledged, nothing promised is missing; "
        f"the newest checkpoint is of segment {int(checkpoint)}"
    )


def by_libnbd(served: Served, command: str) -> None:
    """A command of a client `h`, which must succeed."""
    connect = "import nbd, sys; h = nbd.NBD(); h.connect_uri(sys.argv[1]); "
    served.run(SYSTEM_PYTHON, "-c", connect + command, served.uri)


def test_a_server_that_is_told_to_end_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    served = start(tmp_path, "small.toml", "--image", "image", "--clock", "virtual")
    by_libnbd(served, "h.pwrite(b'k' * 65536, 4096)")
    assert served.stop(signal.SIGTERM)[0] == 0
    served = start(tmp_path, "--image", "image", "--clock", "virtual")
    by_libnbd(served, "assert h.pread(65536, 4096) == b'k' * 65536")
    second = [sys.executable, "-m", "outlast", "serve", "--image", "image", "--listen", f"unix:{tmp_path / 'other'}"]
    refused = subprocess.run(second, cwd=tmp_path, text=True, capture_output=True, timeout=PATIENCE_S)
    assert refused.returncode == 2 and refused.stderr == "error: image: is in use by another server\n"
    served.stop()
