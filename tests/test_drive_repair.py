"""Does a drive in Python name what its host is to write again after a die has failed?"""

from __future__ import annotations

import random
from typing import Any

import pytest

import outlast
from drives import SMALL, UNIT

REPAIR: list[dict[str, Any]] = [SMALL, {"device": {"repair": {"scheme": "isolated", "identifier": "l2p-one-core"}}}]


def failed_die(drive: outlast.Drive) -> None:
    """Fails die 1 and lets the drive notice."""
    drive.fault("die", die=1)
    while not any(event["kind"] == "die-failed" for event in drive.events()):
        with pytest.raises(outlast.MediumError):
            drive.read(0, drive.capacity)
        drive.advance("10ms")


def test_lba_status_names_exactly_the_unreadable_runs() -> None:
    drive = outlast.Drive(REPAIR)
    data = random.Random(7).randbytes(drive.capacity)
    drive.write(0, data)
    drive.flush()
    assert drive.lba_status() == []
    failed_die(drive)
    lost = set()
    for offset in range(0, drive.capacity, UNIT):
        try:
            assert drive.read(offset, UNIT) == data[offset : offset + UNIT]
        except outlast.MediumError:
            lost.add(offset)
    began = drive.now_ns
    runs = drive.lba_status()
    assert drive.now_ns > began, "the search takes simulated time"
    assert lost == {start for run in runs for start in range(run.offset, run.offset + run.length, UNIT)}
    assert not any(run.readable for run in runs)
    # Parts of the range give the parts of the answer.
    half = drive.capacity // 2
    assert sum(run.length for run in drive.lba_status(0, half) + drive.lba_status(half)) == len(lost) * UNIT
    for run in runs:
        drive.write(run.offset, data[run.offset : run.offset + run.length])
    assert drive.lba_status() == []
    assert drive.read(0, drive.capacity) == data


def test_lba_status_refuses_ranges_that_are_not_of_the_drive() -> None:
    drive = outlast.Drive(REPAIR)
    with pytest.raises(outlast.DeviceError, match="offset = 1, length"):
        drive.lba_status(1, 512)
    with pytest.raises(outlast.DeviceError, match=f"reaches beyond the end of the drive, {drive.capacity} bytes"):
        drive.lba_status(512, drive.capacity)
    with pytest.raises(outlast.DeviceError, match=r"length = -512: must not be negative"):
        drive.lba_status(drive.capacity + 512)
