"""Are contents on disk as good as those in memory, and do they leave memory alone?"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import outlast
from drives import ARRAY, PARITY, SMALL, UNIT, VOLATILE
from patience import PATIENCE_S
from processes import open_files
from served import SMALL as SERVED
from served import SYSTEM_PYTHON, needs_libnbd, start

LARGE = """\
extends = "demo"
name = "large"

[device.geometry]
blocks_per_plane = 38
pages_per_block = 32

[device.ftl]
capacity = "512MiB"

[precondition]
fill = "none"
overwrite = "none"
"""
"""A drive of 512 MiB, without parity."""


def test_a_drive_with_contents_on_disk_is_the_drive_without() -> None:
    for scenario, changes in ((SMALL, VOLATILE | PARITY), (ARRAY, VOLATILE)):
        drives = [outlast.Drive(scenario, changes, contents=place) for place in ("memory", "disk")]
        found = []
        for drive in drives:
            dice = np.random.default_rng(1)
            place = dice.integers(0, drive.capacity // UNIT, 4000) * UNIT
            op = dice.choice(np.array([0, 1, 1, 1, 3], np.uint8), 4000)
            length = np.where(op == 3, 0, UNIT)
            data = dice.bytes(int((op == 1).sum()) * UNIT)
            batch = drive.run(op, place, length, data, depth=8).check()
            drive.power_cut()
            fork = drive.fork()
            fork.write(0, dice.bytes(64 * UNIT))
            drive.self_check()
            found.append((drive.read(0, drive.capacity), fork.read(0, fork.capacity), batch.completed_ns.tolist()))
        assert found[0] == found[1]


def test_where_contents_may_be_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(outlast.OutlastError, match=r'^contents = "tape": must be memory or disk$'):
        outlast.Drive(SMALL, contents="tape")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    with pytest.raises(OSError, match="nowhere"):
        outlast.Drive(SMALL, contents="disk")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small file system")
def test_a_full_disk_ends_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"no tmpfs here: {mounted.stderr.decode()}")
    try:
        monkeypatch.setenv("TMPDIR", str(small))
        drive = outlast.Drive(SMALL, contents="disk")
        message = f"^contents on disk, in {re.escape(str(small))}: No space left on device"
        with pytest.raises(outlast.DeviceError, match=message):
            for offset in range(0, drive.capacity, 1 << 18):
                drive.write(offset, random.Random(offset).randbytes(1 << 18))
        # It is said again, whatever is asked.
        with pytest.raises(outlast.DeviceError, match=message):
            drive.read(0, UNIT)
        del drive
        (tmp_path / "large.toml").write_text(LARGE)
        served = start(tmp_path, "large.toml", "--contents", "disk", "--clock", "virtual")
        (tmp_path / "more").write_bytes(random.Random(1).randbytes(4 << 20))
        served.run("nbdcopy", "--flush", "more", served.uri, check=False)
        try:
            _, said = served.process.communicate(timeout=PATIENCE_S)
        finally:
            served.process.kill()
        assert served.process.returncode == 2
        assert re.search(
            rf"^error: serving: contents on disk, in {re.escape(str(small))}: No space left.*$", said, re.M
        )
        assert "panic" not in said
    finally:
        subprocess.run(["umount", str(small)], check=True)


def resident(process: int) -> tuple[int, int]:
    """Resident memory of a process now and at most so far, in bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    return tuple(int(re.findall(rf"{name}:\s+(\d+) kB", status)[0]) << 10 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


FILL = """
    import nbd, sys
    h = nbd.NBD()
    h.connect_uri(sys.argv[1])
    size, step = h.get_size(), 1 << 20
    places = [at.to_bytes(8, "little") for at in range(step // 16)]
    for turn in range(2):
        for offset in range(0, size, step):
            word = (offset // step * 2 + turn + 1).to_bytes(8, "little")
            h.pwrite(word + word.join(places), offset)
    h.flush()
    for offset in range(0, size, step * 37):
        word = (offset // step * 2 + 2).to_bytes(8, "little")
        assert h.pread(512, offset + 4096)[:16] == word + (256).to_bytes(8, "little"), offset
"""
"""Writes every byte of a drive twice, no two units alike, and looks at some."""


@needs_libnbd
def test_memory_stays_bounded_while_a_gibibyte_is_written(tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text(LARGE)
    served = start(tmp_path, "large.toml", "--contents", "disk", "--clock", "virtual")
    before, _ = resident(served.process.pid)
    served.run(SYSTEM_PYTHON, "-c", textwrap.dedent(FILL), served.uri, timeout=PATIENCE_S)
    after, most = resident(served.process.pid)
    mib = [value >> 20 for value in (before, after, most)]
    print(f"1 GiB written to a drive of 512 MiB: {mib[0]} MiB resident before, {mib[1]} after, {mib[2]} at most")
    assert most < 300 << 20
    assert any("(deleted)" in name for name in open_files(served.process.pid)), "the file has no name"
    assert served.stop()[0] == 0


@needs_libnbd
@pytest.mark.parametrize("contents", ["memory", "disk"])
def test_a_served_image_is_killed_and_opened_again_from_python(tmp_path: Path, contents: str) -> None:
    """`outlast.serve(image=...)`, in a process that is killed, then in this one."""
    image = tmp_path / "image"
    (tmp_path / "small.toml").write_text(SERVED)
    script = f"""
        import outlast, subprocess, time
        served = outlast.serve({str(tmp_path / "small.toml")!r}, image={str(image)!r}, contents={contents!r})
        connect = "import nbd, sys; h = nbd.NBD(); h.connect_uri(sys.argv[1]); "
        write = "h.pwrite(b'a' * 65536, 0); h.flush(); h.pwrite(b'b' * 4096, 1 << 20)"
        subprocess.run([{SYSTEM_PYTHON!r}, "-c", connect + write, served.uri], check=True)
        print("written", flush=True)
        time.sleep(600)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)

    def ask(served: outlast.Served, command: str) -> None:
        connect = "import nbd, sys; h = nbd.NBD(); h.connect_uri(sys.argv[1]); "
        subprocess.run([SYSTEM_PYTHON, "-c", connect + command, served.uri], check=True, timeout=PATIENCE_S)

    with outlast.serve(tmp_path / "small.toml", image=image, contents=contents) as served:
        state = served.state()
        assert state["machine"]["drives"][0]["power_cuts"] == 1, "the kill was a loss of power"
        log = served.ask({"do": "smart", "format": "smartctl"})["nvme_smart_health_information_log"]
        assert log["unsafe_shutdowns"] == 1
        ask(served, "assert h.pread(65536, 0) == b'a' * 65536")
        ask(served, "assert h.pread(4096, 1 << 20) in (b'b' * 4096, bytes(4096))")
        ask(served, "h.pwrite(b'c' * 4096, 0)")
        with pytest.raises(outlast.OutlastError, match="is in use by another server"):
            outlast.serve(image=image, scenario=tmp_path / "small.toml")
    with outlast.serve(tmp_path / "small.toml", image=image) as served:
        assert served.state()["machine"]["drives"][0]["power_cuts"] == 1, "that end was announced"
        ask(served, "assert h.pread(4096, 0) == b'c' * 4096")
    assert {path.name for path in image.iterdir()} >= {"image", "log", "clean"}


def torn_in(content: bytes) -> bool:
    """True if a unit has sectors of more than one kind."""
    return len({content[at : at + 512] for at in range(0, len(content), 512)}) > 1


@pytest.mark.parametrize("left", [{"shorn": "3/8"}, {"torn": 512}])
def test_a_loss_of_power_may_leave_units_shorn_or_torn(left: dict[str, object]) -> None:
    drive = outlast.Drive(SMALL, VOLATILE)
    count = drive.capacity // UNIT // 2
    drive.run("write", np.arange(count) * UNIT, UNIT, b"o" * (count * UNIT), depth=32).check()
    drive.flush()
    torn = 0
    for turn in range(20):
        with_it, without = drive.fork(), drive.fork()
        for one in (with_it, without):
            one.run("write", np.arange(count) * UNIT, UNIT, b"n" * (count * UNIT), depth=8).check()
            one.flush() if turn == 0 else None
            one.advance(turn * 20e-6)
        with_it.power_cut(**left)  # type: ignore[arg-type]
        without.power_cut()
        found = with_it.read(0, count * UNIT)
        assert set(found) <= set(b"on") and set(without.read(0, count * UNIT)) <= set(b"on")
        units = [found[at : at + UNIT] for at in range(0, len(found), UNIT)]
        assert turn or set(found) == set(b"n"), "a flush has covered them"
        mixed = [unit for unit in units if torn_in(unit)]
        assert with_it.state()["drives"][0]["torn_units"] == len(mixed)
        if "shorn" in left:
            assert all(unit == b"n" * 1536 + b"o" * 2560 for unit in mixed)
        torn += len(mixed)
        with_it.self_check()
    assert torn > 0


def test_a_cut_that_cannot_shear_is_refused(tmp_path: Path) -> None:
    drive = outlast.Drive(SMALL, VOLATILE)
    for left, message in (
        ({"shorn": "9/8"}, '"9/8": must be a part of a whole such as "3/8"'),
        ({"shorn": "1/100"}, "power.shorn = 1/100: must be a sector of 512 bytes at least"),
        ({"torn": 700}, "power.torn = 700B: must be a multiple of 512 bytes, less than a mapping unit of 4KiB"),
        ({"shorn": "3/8", "torn": 512}, "power.torn = 512B: must be absent where shorn is given"),
    ):
        with pytest.raises(outlast.DeviceError, match=re.escape(message)):
            drive.power_cut(**left)
    with pytest.raises(outlast.DeviceError, match=r"power\.shorn = 3/8: must be absent: with a protected buffer"):
        outlast.Drive(SMALL).power_cut(shorn="3/8")
    fault = {"at": "1ms", "kind": "power"}
    for entry, message in (
        (fault | {"shorn": "8/8"}, "must be a part of a whole"),
        (fault | {"torn": "1KB"}, "must be a multiple of 512 bytes"),
        ({"at": "1ms", "kind": "die", "die": 1, "torn": 512}, 'kind = "die" takes none'),
    ):
        with pytest.raises(outlast.OutlastError, match=re.escape(message)):
            outlast.resolve([SMALL, {"faults": [entry]}], VOLATILE)
    outlast.resolve([SMALL, {"faults": [fault | {"shorn": "3/8"}]}], VOLATILE)


@needs_libnbd
def test_a_served_drive_is_cut_shorn(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SERVED)
    with outlast.serve(tmp_path / "small.toml", image=tmp_path / "image") as served:
        load = """
            import nbd, sys
            h = nbd.NBD()
            h.connect_uri(sys.argv[1])
            for fill in (b"o", b"n"):
                h.pwrite(fill * (8 << 20), 0)
                if fill == b"o":
                    h.flush()
        """
        subprocess.run([SYSTEM_PYTHON, "-c", textwrap.dedent(load), served.uri], check=True, timeout=PATIENCE_S)
        with pytest.raises(outlast.ControlError, match=r"power\.torn = 100B: must be a multiple"):
            served.power_cut(torn=100)
        served.power_cut(shorn="3/8")
        torn = served.state()["machine"]["drives"][0]["torn_units"]
        assert torn > 0
    # The log has it, too.
    with outlast.serve(tmp_path / "small.toml", image=tmp_path / "image") as served:
        assert served.state()["machine"]["drives"][0]["torn_units"] == torn
