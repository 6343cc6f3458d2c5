"""What do clients see when a served drive breaks, loses its power, or is copied?"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from outlast.errors import OutlastError
from outlast.serving.summary import lines
from patience import PATIENCE_S, eventually
from served import SMALL, needs
from served_here import serving

MIB = 1 << 20
BARE = SMALL.replace("[device.protection]\ndata = 3\n", "").replace('name = "small"', 'name = "bare"')
"""The small drive without parity: what dies is lost."""
ROOMY = SMALL.replace("blocks_per_plane = 48", "blocks_per_plane = 96")
"""The small drive with room for all of its data without one of its four dies."""


@needs("qemu-io")
def test_without_parity_a_dead_die_takes_data_and_writing_heals(tmp_path: Path) -> None:
    with serving(tmp_path, BARE) as served:
        served.qemu_io("write -P 5 0 16M", "flush")
        served.ask("fault", fault={"kind": "die", "die": 1})
        found = json.loads(served.run("nbdinfo", "--json", "--map=x-outlast:health", served.server.uri))
        lost = [extent for extent in found if extent["type"] & 1]
        # A die of four had a quarter of it.
        assert sum(extent["length"] for extent in lost) == 4 * MIB
        at = lost[0]["offset"]
        failed = served.qemu_io(f"read -P 5 {at} 4k", code=1)
        assert "Input/output error" in failed
        served.qemu_io(f"write -P 6 {at} 4k", "flush", f"read -P 6 {at} 4k")
        assert served.ask("metrics")["operations"][0]["errors"] >= 1


@needs("qemu-io", "nbdinfo")
def test_lba_status_is_what_clients_cannot_read(tmp_path: Path) -> None:
    repair = '[device.repair]\nscheme = "isolated"\nidentifier = "p2l-block"\n'
    with serving(tmp_path, ROOMY.replace("[device.protection]\ndata = 3\n", repair)) as served:
        assert served.ask("lba_status") == []
        served.qemu_io("write -P 5 0 16M", "flush")
        served.ask("fault", fault={"kind": "die", "die": 1})
        assert served.ask("lba_status") == [], "the drive has not noticed"
        served.qemu_io("read 0 1M", code=1)
        served.ask("clock", advance="1s")
        found = json.loads(served.run("nbdinfo", "--json", "--map=x-outlast:health", served.server.uri))
        lost = [(extent["offset"], extent["length"]) for extent in found if extent["type"] & 1]
        runs = served.ask("lba_status")
        assert [(run["offset"], run["length"]) for run in runs] == lost
        assert not any(run["readable"] for run in runs)
        at, length = lost[1]
        assert served.ask("lba_status", offset=at + 512, length=length) == [
            {"offset": at + 512, "length": length - 512, "readable": False}
        ]
        served.qemu_io(f"write -P 6 {at} {length}", "flush")
        assert [(run["offset"], run["length"]) for run in served.ask("lba_status")] == [lost[0], *lost[2:]]
        assert (
            served.refusal("lba_status", offset=100) == "offset = 100: must be a multiple of 512, the bytes of a sector"
        )
        assert served.refusal("lba_status", length=1) == "length = 1: must be a multiple of 512, the bytes of a sector"
        assert served.refusal("lba_status", device=1) == "device = 1: there is no such drive"


@needs("fio")
def test_with_parity_nothing_is_lost_with_a_die_that_dies_under_load(tmp_path: Path) -> None:
    with serving(tmp_path, ROOMY) as served:
        load = ["fio", "--name=v", "--ioengine=nbd", f"--uri={served.server.uri}", "--rw=randwrite", "--bs=4k"]
        load += ["--iodepth=16", "--size=8m", "--loops=3", "--verify=crc32c", "--verify_state_save=0"]
        with subprocess.Popen(load, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as fio:
            assert eventually(lambda: served.ask("metrics")["operations"][1]["count"] > 1500)
            served.ask("fault", fault={"kind": "die", "die": 2})
            said, _ = fio.communicate(timeout=PATIENCE_S)
            assert fio.returncode == 0, said
        (drive,) = served.ask("state")["machine"]["drives"]
        assert [die["state"] for die in drive["dies"]] == ["good", "good", "given-up", "good"]


@needs("qemu-io")
def test_a_drive_that_has_rebuilt_loses_nothing_with_the_next_die(tmp_path: Path) -> None:
    two = ROOMY.replace("blocks_per_plane = 96", "blocks_per_plane = 192")
    with serving(tmp_path, two) as served:

        def own() -> dict[str, Any]:
            drive: dict[str, Any] = served.ask("state")["machine"]["drives"][0]
            return drive

        assert own()["redundancy"]["data_survives"] == 1
        served.qemu_io("write -P 5 0 8M", "write -P 6 8M 8M", "write -P 7 3M 1M", "flush")
        served.ask("fault", fault={"kind": "die", "die": 0})
        said = next(line for line in lines(served.ask("state")) if line.startswith("drive"))
        assert "data survives 0 failed dies" in said and "without full redundancy, which is being rebuilt" in said
        served.qemu_io("read -P 5 0 3M", "read -P 7 3M 1M", "read -P 6 8M 8M")
        served.ask("clock", advance="2h")
        drive = own()
        assert drive["redundancy"]["data_survives"] == 1
        assert drive["redundancy"]["degraded_superblocks"] == 0
        (loss,) = drive["redundancy_losses"]
        assert loss["die"] == 0 and loss["restored_at"] > loss["at"]
        served.ask("fault", fault={"kind": "die", "die": 3})
        served.qemu_io("read -P 5 0 3M", "read -P 7 3M 1M", "read -P 5 4M 4M", "read -P 6 8M 8M")
        assert own()["lost_units"] == 0


@needs("qemu-io")
def test_a_power_cut_keeps_what_was_flushed_and_closes_connections(tmp_path: Path) -> None:
    with serving(tmp_path, SMALL) as served:
        served.qemu_io("write -P 1 0 1M", "flush")
        load = ["fio", "--name=v", "--ioengine=nbd", f"--uri={served.server.uri}", "--rw=randwrite", "--bs=4k"]
        load += ["--iodepth=4", "--offset=32m", "--size=32m", "--time_based", "--runtime=30"]
        with subprocess.Popen(load, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as fio:
            assert eventually(lambda: served.ask("metrics")["operations"][1]["count"] > 500)
            served.ask("power", action="off")
            said, _ = fio.communicate(timeout=PATIENCE_S)
            assert fio.returncode != 0, said
        # Without power there is nothing to be opened.
        assert "export" in served.run("nbdinfo", served.server.uri, code=1)
        assert "off" in served.refusal("power", action="off")
        served.ask("power", action="on")
        served.qemu_io("read -P 1 0 1M")
        assert served.ask("state")["machine"]["powered"] is True


@needs("nbdinfo", "qemu-io")
def test_power_comes_back_when_it_was_said_to(tmp_path: Path) -> None:
    with serving(tmp_path, SMALL, speed=1.0) as served:
        served.ask("clock", pause=True)
        served.ask("power", action="cut", **{"for": "300ms"})
        assert not served.ask("state")["machine"]["powered"]
        began = time.monotonic()
        served.ask("clock", pause=False)
        assert eventually(lambda: served.ask("state")["machine"]["powered"])
        assert time.monotonic() - began >= 0.3
        served.qemu_io("write -P 2 0 64k", "read -P 2 0 64k")


@needs("qemu-io")
def test_a_drive_that_mounts_says_until_when(tmp_path: Path) -> None:
    with serving(tmp_path, SMALL + "\n[device.mount]\n") as served:
        served.qemu_io("write -P 4 0 8M", "flush")
        served.ask("power", action="cut")
        state = served.ask("state")
        (drive,) = state["machine"]["drives"]
        assert drive["ready_at_ns"] > state["clock"]["now_ns"]
        assert any(f"mounts until {drive['ready_at_ns'] / 1e9:.3f} s" in line for line in lines(state))
        served.qemu_io("read -P 4 0 8M")
        state = served.ask("state")
        assert state["clock"]["now_ns"] >= drive["ready_at_ns"], "commands wait for the mount"
        assert state["machine"]["drives"][0]["ready_at_ns"] is None


@needs("qemu-io", "nbdinfo")
def test_a_fork_goes_its_own_way(tmp_path: Path) -> None:
    with serving(tmp_path, SMALL) as served:
        served.qemu_io("write -P 1 0 64k", "flush")
        fork = served.ask("fork", export="after", cut=True)["uri"]
        served.qemu_io("write -P 2 0 64k", "flush")
        served.qemu_io("read -P 1 0 64k", "write -P 3 0 64k", "flush", uri=fork)
        served.qemu_io("read -P 2 0 64k")
        names = [
            export["export-name"] for export in json.loads(served.run("nbdinfo", "--json", "--list", fork))["exports"]
        ]
        assert names == ["small", "after"]
        assert "after" in served.refusal("fork", export="after")


def test_what_cannot_be_done_is_refused_in_one_line(tmp_path: Path) -> None:
    with serving(tmp_path, SMALL) as served:
        refused: list[tuple[dict[str, Any], str]] = [
            ({"do": "nothing"}, "nothing"),
            ({"do": "fault", "fault": {"kind": "die", "die": 99}}, "die"),
            ({"do": "fault", "fault": {"kind": "die", "die": 1, "at": "1s"}}, "at"),
            ({"do": "clock", "speed": 0}, "0.001"),
            ({"do": "clock", "mode": "virtual", "speed": 2}, "speed"),
            ({"do": "power", "action": "on"}, "on"),
            ({"do": "power", "action": "on", "for": "1s"}, "for"),
            ({"do": "replace", "member": 1}, ""),
            ({"do": "mark", "text": "x" * 5000}, "4096"),
            ({"do": "state", "more": 1}, "more"),
        ]
        for what, part in refused:
            assert part in served.refusal(**what), what
        with pytest.raises(OutlastError, match="JSON"):
            served.server.request("{")


def test_time_stands_goes_and_leaps(tmp_path: Path) -> None:
    with serving(tmp_path, SMALL) as served:

        def now() -> int:
            return int(served.ask("state")["clock"]["now_ns"])

        before = now()
        time.sleep(0.05)
        assert now() == before, "nobody waits for anything"
        assert served.ask("clock", advance="10s")["now_ns"] == before + 10_000_000_000
        served.ask("clock", speed=100)
        slow = now()
        time.sleep(0.05)
        assert now() - slow >= 4_000_000_000
        served.ask("clock", pause=True)
        stands = now()
        time.sleep(0.02)
        assert now() == stands


def test_a_command_is_served_and_its_code_is_the_servers(tmp_path: Path) -> None:
    import sys

    (tmp_path / "small.toml").write_text(SMALL)
    command = [sys.executable, "-m", "outlast", "serve", "small.toml", "--quiet"]
    done = subprocess.run([*command, "--run", 'echo "$uri"; exit 7'], cwd=tmp_path, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.startswith("nbd+unix:///small?socket=")
    for arguments, part in [
        (["--listen", "tcp:0.0.0.0:0"], "--insecure"),
        (["--listen", "10809"], "unix:PATH or tcp:ADDRESS:PORT"),
        (["--clock", "virtual", "--speed", "2"], "--speed"),
        (["--speed", "1e9"], "0.001 to 1000"),
        (["--set", "device.geometry.channels=0"], "channels"),
        (["--sync"], "--image"),
    ]:
        done = subprocess.run([*command, *arguments], cwd=tmp_path, text=True, capture_output=True)
        assert done.returncode == 2, done
        assert part in done.stderr and done.stderr.count("\n") == 1, done.stderr
