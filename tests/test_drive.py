"""Does a drive in Python keep what it was given, through losses of power, faults and forks?"""

from __future__ import annotations

import errno
import pickle
import random

import numpy as np
import pytest

import outlast
from conftest import ROOT
from drives import ARRAY, PARITY, SMALL, UNIT, VOLATILE, Model
from outlast.drive_commands import OPS
from patience import PATIENCE_S


def step(drive: outlast.Drive, model: Model, dice: random.Random) -> None:
    """One operation on both."""
    sectors = drive.capacity // 512
    length = dice.choice((1, 3, 8, 8, 8, 16, 40))
    start = dice.randrange(sectors - length)
    if dice.random() < 0.6:
        start = start // 8 * 8
    if dice.random() < 0.7:
        start %= 1024
    offset, size = start * 512, length * 512
    match dice.choices(("write", "zeroes", "trim", "read", "flush", "advance", "cut"), (40, 3, 6, 30, 4, 4, 2))[0]:
        case "write":
            data, fua = dice.randbytes(size), dice.random() < 0.1
            drive.write(offset, data, fua=fua)
            model.change(offset, data, safe=fua)
        case "zeroes":
            drive.write_zeroes(offset, size)
            model.change(offset, bytes(size))
        case "trim":
            # An array deallocates whole stripes only, which is advice elsewhere.
            offset, size = offset // drive.unit * drive.unit, -(-size // drive.unit) * drive.unit
            size = min(size, drive.capacity - offset)
            drive.trim(offset, size)
            model.change(offset, bytes(size))
        case "read":
            assert drive.read(offset, size) == model.content[offset : offset + size]
        case "flush":
            drive.flush()
            model.flush()
        case "advance":
            drive.advance(dice.choice(("1us", 0.001, "20ms")))
        case "cut":
            drive.power_cut()
            model.power_cut(drive)


@pytest.fixture(scope="module")
def drives() -> dict[str, outlast.Drive]:
    """New drives, to be forked."""
    made = {
        "protected": outlast.Drive(SMALL),
        "volatile": outlast.Drive(SMALL, VOLATILE),
        "parity": outlast.Drive(SMALL, VOLATILE | PARITY),
        "array": outlast.Drive(ARRAY, VOLATILE),
    }
    assert {name: drive.capacity for name, drive in made.items()}["array"] == 18 << 20
    return made


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["protected", "volatile", "parity", "array"])
def test_it_holds_what_was_written_through_cuts_and_forks(
    drives: dict[str, outlast.Drive], kind: str, seed: int
) -> None:
    dice = random.Random(f"{kind} {seed}")
    first = drives[kind].fork()
    grain = 512 if kind == "array" else UNIT
    pairs = [(first, Model(bytearray(first.capacity), kind == "protected", grain))]
    for index in range(3000):
        drive, model = dice.choice(pairs)
        step(drive, model, dice)
        if index % 400 == 399 and len(pairs) < 4:
            pairs.append((drive.fork(), model.fork()))
    for drive, model in pairs:
        assert drive.read(0, drive.capacity) == model.content
        drive.self_check()


def test_the_model_sees_a_byte_that_is_wrong(drives: dict[str, outlast.Drive]) -> None:
    drive = drives["volatile"].fork()
    model = Model(bytearray(drive.capacity), protected=False)
    drive.write(0, b"x" * UNIT)
    model.change(0, b"y" * UNIT)
    drive.flush()
    with pytest.raises(AssertionError, match="unit 0"):
        model.power_cut(drive)


def test_a_volatile_buffer_loses_what_was_not_flushed_and_a_protected_one_does_not(
    drives: dict[str, outlast.Drive],
) -> None:
    for kind, kept in (("volatile", False), ("protected", True)):
        drive = drives[kind].fork()
        drive.write(0, b"a" * UNIT)
        drive.flush()
        drive.write(0, b"b" * UNIT)
        drive.power_cut()
        assert drive.read(0, UNIT) == (b"b" if kept else b"a") * UNIT


def test_a_die_takes_what_no_parity_gives(drives: dict[str, outlast.Drive]) -> None:
    data = random.Random(1).randbytes(1 << 20)
    for kind, lost in (("volatile", True), ("parity", False)):
        drive = drives[kind].fork()
        drive.write(0, data)
        drive.flush()
        drive.fault(die=3)
        if not lost:
            assert drive.read(0, len(data)) == data
            continue
        failed = [offset for offset in range(0, len(data), UNIT) if reading_fails(drive, offset)]
        assert len(failed) == len(data) // UNIT // 4
        good = next(offset for offset in range(0, len(data), UNIT) if offset not in failed)
        assert drive.read(good, UNIT) == data[good : good + UNIT]
        with pytest.raises(outlast.MediumError) as caught:
            drive.read(failed[5], UNIT)
        assert (caught.value.errno, caught.value.offset) == (errno.EIO, failed[5])
        assert isinstance(caught.value, OSError) and isinstance(caught.value, outlast.OutlastError)
        again = pickle.loads(pickle.dumps(caught.value))
        assert (str(again), again.offset) == (str(caught.value), failed[5])
        # Whoever writes it again has it.
        drive.write(failed[5], data[:UNIT])
        assert drive.read(failed[5], UNIT) == data[:UNIT]


def reading_fails(drive: outlast.Drive, offset: int) -> bool:
    try:
        drive.read(offset, UNIT)
    except outlast.MediumError:
        return True
    return False


def test_a_member_of_an_array_may_fail_and_is_replaced(drives: dict[str, outlast.Drive]) -> None:
    drive = drives["array"].fork()
    data = random.Random(2).randbytes(drive.capacity)
    drive.write(0, data)
    drive.fault("device", device=1)
    assert drive.read(0, drive.capacity) == data
    drive.replace(1)
    drive.advance("10s")
    drive.fault("device", device=2)
    assert drive.read(0, drive.capacity) == data
    with pytest.raises(outlast.DeviceError):
        drive.fault("device", device=9)


def test_without_power_nothing_works(drives: dict[str, outlast.Drive]) -> None:
    drive = drives["protected"].fork()
    drive.write(0, b"a" * 512)
    drive.power_off()
    with pytest.raises(outlast.DriveError) as caught:
        drive.read(0, 512)
    assert caught.value.errno == errno.ESHUTDOWN
    assert set(drive.run("read", [0, 512], 512).outcome) == {4}
    drive.power_on()
    assert drive.read(0, 512) == b"a" * 512
    with pytest.raises(outlast.DeviceError, match="the power is on"):
        drive.power_on()


def test_a_batch_is_what_its_operations_are_one_by_one(drives: dict[str, outlast.Drive]) -> None:
    dice = np.random.default_rng(5)
    one, all_ = drives["volatile"].fork(), drives["volatile"].fork()
    count = 2000
    ops = dice.choice(len(OPS), count, p=(0.4, 0.5, 0.05, 0.05)).astype(np.uint8)
    lengths = dice.choice((512, 4096, 16384), count).astype(np.uint64)
    offsets = dice.integers(0, (one.capacity - 16384) // 512, count).astype(np.uint64) * 512
    data = dice.bytes(int(lengths[ops == 1].sum()))
    done = all_.run(ops, offsets, lengths, data).check()
    read, written = b"", 0
    for op, offset, length in zip(ops, map(int, offsets), map(int, lengths), strict=True):
        match OPS[op]:
            case "read":
                read += one.read(offset, length)
            case "write":
                one.write(offset, data[written : written + length])
                written += length
            case "trim":
                one.trim(offset, length)
            case "flush":
                one.flush()
    assert done.data.tobytes() == read
    assert one.now_ns == all_.now_ns == done.completed_ns[-1] == done.completed_ns.max()
    assert one.smart() == all_.smart()
    assert (done.latency_us[ops == 0] > 0).all()


def test_a_deeper_queue_takes_less_time(drives: dict[str, outlast.Drive]) -> None:
    spent = {}
    for depth in (1, 16):
        drive = drives["protected"].fork()
        drive.run("write", np.arange(1024) * UNIT, UNIT, bytes(1024 * UNIT), depth=depth).check()
        drive.flush()
        before = drive.now_ns
        found = drive.run("read", np.arange(1024) * UNIT, UNIT, depth=depth).check()
        spent[depth] = drive.now_ns - before
        assert len(found.data) == 1024 * UNIT
    # Four dies, each of which reads by itself.
    assert 2 < spent[1] / spent[16] <= 16


def test_failures_of_a_batch_are_told_and_can_be_raised(drives: dict[str, outlast.Drive]) -> None:
    drive = drives["volatile"].fork()
    drive.write(0, b"z" * (64 * UNIT))
    drive.flush()
    drive.fault(die=0)
    found = drive.run("read", np.arange(64) * UNIT, UNIT)
    assert len(found.failed) == 16
    for place in range(64):
        expected = b"\0" if place in found.failed else b"z"
        assert found.data[place * UNIT : (place + 1) * UNIT].tobytes() == expected * UNIT
    with pytest.raises(outlast.MediumError) as caught:
        found.check()
    assert caught.value.offset == found.offset[found.failed[0]]


def test_the_benchmark_runs() -> None:
    import subprocess
    import sys

    command = [sys.executable, str(ROOT / "tests" / "bench_drive.py"), "--operations", "2000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert "operations/s" in done.stdout
