"""Do fio's jobs with `zonemode=zbd` ask of a drive with zones what fio asks of one? `make test-guest`.

fio runs on a zoned null_blk and on QEMU's emulated NVMe drive with zones. Outlast draws the requests of the same jobs
for a device of the same zones, and runs the jobs on a drive of them. Requests, resets, and the zones that are left are
compared one by one.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from machine import Machine, command, is_newer
from test_guest import APPLETS, HERE, files, folder

import outlast
from outlast import _core
from outlast.products.torture.guest_image import AbsentError, Contents, image

__all__ = ["files", "folder"]

MIB = 1 << 20
SIZE, CAPACITY, COUNT, ACTIVE, OPEN = 4 * MIB, 3 * MIB, 256, 8, 6
"""Zones of both devices."""

JOBS = {
    # Passes over zones that are full, with requests that do not divide a zone, and reads of what they left.
    "sequential": """
[log]
rw=write
bs=64k
size=5z
loops=3
[rest]
stonewall
rw=write
bs=40k
offset=5z
size=3z
[read]
stonewall
rw=read
bs=64k
size=8z
""",
    # A queue that waits at the end of each zone, and for zones that are full to be closed.
    "queue": """
[table]
ioengine=libaio
iodepth=8
rw=randwrite
bs=48k
size=40z
io_size=60m
""",
    # More zones than may be open, in no order.
    "random": """
[table]
rw=randwrite
bs=48k
size=40z
io_size=60m
[look]
stonewall
rw=randread
bs=12k
size=40z
norandommap
io_size=4m
[mix]
stonewall
rw=randrw
rwmixread=40
bsrange=4k-64k
offset=20z
size=12z
io_size=40m
job_max_open_zones=3
""",
    # Resets where shares of the data are written, and limits below those of the device.
    "resets": """
[table]
rw=randwrite
bs=64k
size=10z
io_size=90m
zone_reset_threshold=0.5
zone_reset_frequency=0.02
job_max_open_zones=2
max_open_zones=4
""",
    # Trims are resets; what they leave is read beyond the write pointer.
    "trims": """
[fill]
rw=write
bs=128k
size=6z
[drop]
stonewall
rw=trim
bs=4m
offset=1z
size=3z
[look]
stonewall
rw=randread
bs=16k
size=8z
io_size=2m
read_beyond_wp=1
""",
}

DRIVE: dict[str, Any] = {
    "name": "zoned",
    "device": {
        "model": "zoned",
        "geometry": {
            "channels": 2,
            "chips_per_channel": 1,
            "dies_per_chip": 2,
            "planes_per_die": 2,
            "blocks_per_plane": 300,
            "pages_per_block": 24,
            "page_size": "16KiB",
        },
        "timing": {"read": "60us", "program": "700us", "erase": "3.5ms", "bus": "667MB/s"},
        "ftl": {"mapping_unit": "4KiB"},
        "controller": {"write_buffer": "1MiB"},
        "zones": {"count": COUNT, "size": "4MiB", "max_active": ACTIVE, "max_open": OPEN},
    },
    "precondition": {"fill": "none", "overwrite": "none"},
    "run": {"warm_up": "0s"},
}

pytestmark = pytest.mark.timeout(1200)

Request = tuple[str, int, int]


def job_file(text: str) -> str:
    """A job file with a log of requests for each section."""
    numbers = iter(range(100))
    logged = re.sub(r"^(\[.*\])$", lambda found: f"{found[1]}\nwrite_iolog=log.{next(numbers)}", text, flags=re.M)
    return f"[global]\nzonemode=zbd\ndirect=1\nioengine=psync\n{logged}"


def asked(text: str) -> tuple[list[list[Request]], list[Request]]:
    """Requests that Outlast makes, of each job and all in order; resets have no bytes."""
    settings = json.dumps({"job": f"[global]\nzonemode=zbd\ndirect=1\nioengine=psync\n{text}"})
    rows, lanes = _core.fio_log(settings, SIZE * COUNT, None, 1_000, 200_000, (SIZE, CAPACITY, COUNT, ACTIVE, OPEN))
    requests = [(job, (op, offset, length)) for _, job, op, offset, length in rows]
    return [[own for job, own in requests if job == number] for number in range(len(lanes))], [
        own for _, own in requests
    ]


def written(requests: list[Request]) -> dict[int, int]:
    """Bytes before the write pointer of each zone that has some."""
    pointers: dict[int, int] = {}
    for op, offset, length in requests:
        zone, at = divmod(offset, SIZE)
        if op == "write":
            assert at == pointers.get(zone, 0), f"a write to {at} of zone {zone}, written up to {pointers.get(zone, 0)}"
            pointers[zone] = at + length
        elif op == "managezone":
            pointers.pop(zone, None)
    return pointers


def guest(files: Path, folder: Path) -> Machine:
    scripts = [HERE / "start.sh"]
    for name, text in JOBS.items():
        (folder / f"{name}.fio").write_text(job_file(text))
        scripts.append(folder / f"{name}.fio")
    disk = folder / "disk"
    disk.touch()
    os.truncate(disk, SIZE * COUNT)
    zones = f"zoned.zone_size={SIZE},zoned.zone_capacity={CAPACITY},zoned.max_open={OPEN},zoned.max_active={ACTIVE}"
    drive = f"-drive file={disk},if=none,id=disk,format=raw -device nvme,serial=zoned,id=nvme -device "
    drive += f"nvme-ns,drive=disk,bus=nvme,zoned=true,logical_block_size=4096,physical_block_size=4096,{zones}"
    contents = Contents(
        (HERE / "zbd.sh").read_text(),
        (*APPLETS.split(), "basename", "rm"),
        ("null_blk", "nvme", "mq-deadline"),
        ("/usr/sbin/blkzone", "/usr/bin/fio"),
        tuple(scripts),
    )
    try:
        return Machine(command(files, image(files, contents, folder), words="no_timer_check", options=drive.split()))
    except AbsentError as absent:
        pytest.skip(str(absent))


def test_jobs_ask_of_zones_what_fio_asks_of_linux(folder: Path, files: Path) -> None:
    if is_newer(files):
        pytest.skip("Linux 6.12 tells fio that these devices have no limits of open zones, whatever they say")
    with guest(files, folder) as machine:
        assert not list(machine.questions())
        limits = f"host-managed {COUNT} {SIZE // 512} {OPEN} {ACTIVE}"
        for device in ("nullb0", "nvme0n1"):
            assert machine.value(device).strip() == limits
            for name, text in JOBS.items():
                compare(machine, f"{device}-{name}", text)


def compare(machine: Machine, name: str, text: str) -> None:
    assert machine.value(f"{name} ended") == "0", "\n".join(machine.said[-60:])

    def said(what: str) -> list[str]:
        return [line.removeprefix(f"{name} {what}| ") for line in machine.said if line.startswith(f"{name} {what}| ")]

    lanes, requests = asked(text)
    for number, lane in enumerate(lanes):
        theirs = [(op, int(offset), int(length)) for op, offset, length in map(str.split, said(f"log.{number}"))]
        # A trim is a reset, which the log of the job has; the other resets are fio's own.
        trims = bool(theirs) and theirs[0][0] == "trim"
        ours = [own for own in lane if own[0] != "managezone"]
        if trims:
            ours = [("trim", offset, SIZE) for op, offset, _ in lane if op == "managezone"]
        if "iodepth" in text and name.startswith("nvme"):
            # Which zone takes the place of a full one depends on what has completed, and null_blk completes at once.
            assert len(theirs) == len(ours), f"{name}, job {number}"
            return
        differences = [(index, a, b) for index, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b]
        assert not differences, f"{name}, job {number}: {differences[:3]} of {len(differences)}"
        assert len(theirs) == len(ours), f"{name}, job {number}"
    pointers = written(requests)
    zones = [line.split() for line in said("zone")]
    assert len(zones) == COUNT
    seen: dict[int, int] = {}
    for number, (_, pointer, condition) in enumerate(zones):
        end = CAPACITY if condition == "fu" else int(pointer, 16) * 512
        if end:
            seen[number] = end
    assert seen == pointers, name
    resets = sum(op == "managezone" for lane in lanes for op, *_ in lane if not is_trimmed(lane))
    assert sum(int(line) for line in said("resets")) == resets, f"{name}: resets"
    # A drive takes it all, and has its zones in the states that Linux reports. Its random requests are of its own seed.
    job = f"[global]\nzonemode=zbd\ndirect=1\nioengine=psync\n{text}"
    found = outlast.run(DRIVE | {"workload": {"fio": {"job": job}}}).summary["zones"]
    assert not found["refused"], found
    if "rand" not in text:
        states = {"em": "empty", "oi": "implicitly-open", "cl": "closed", "fu": "full"}
        for short, state in states.items():
            assert sum(zone[2] == short for zone in zones) == found["states"][state], f"{name}: {state}"


def is_trimmed(lane: list[Request]) -> bool:
    return not any(op in ("read", "write") for op, *_ in lane)
