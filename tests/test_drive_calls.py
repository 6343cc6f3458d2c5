"""Is what a drive cannot do refused before anything is done, and does it go on after a call that was interrupted?"""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

import numpy as np
import pytest

import outlast
from drives import SMALL, UNIT

NOWHERE: Any = None


@pytest.fixture(scope="module")
def new() -> outlast.Drive:
    """A new drive, to be forked."""
    return outlast.Drive(SMALL)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda drive: drive.read(1, 512), "offset = 1: must be a multiple of 512"),
        (lambda drive: drive.read(-512, 512), "offset = -512: must not be negative"),
        (lambda drive: drive.read(0, 0), "length = 0: must be from 512"),
        (lambda drive: drive.read(drive.capacity, 512), "reaches beyond the end of the drive, 6291456 bytes"),
        (lambda drive: drive.write(0, b"abc"), "length = 3: must be from 512"),
        (lambda drive: drive.write(2**64, bytes(512)), "offset = 18446744073709551616"),
        (lambda drive: drive.write_zeroes(0, 0), "length = 0"),
        (lambda drive: drive.trim(512 << 20, 512), "reaches beyond the end"),
        (lambda drive: drive.run("erase", 0, 512), 'op = "erase": must be one of read, write, trim, flush'),
        (lambda drive: drive.run(np.array([7]), 0, 512), "op = 7: must be below 4"),
        (lambda drive: drive.run(np.array([-1, 1]), 0, 512), "op = -1: must not be negative"),
        (lambda drive: drive.run(np.zeros((2, 2), np.uint8), 0, 512), "op: must be an operation or a column of them"),
        (lambda drive: drive.run(5, 0, 512), "op = 5: must be one of read"),
        (lambda drive: drive.run([["read"]], 0, 512), "op = ['read']: must be one of read"),
        (lambda drive: drive.run("read", [[0], [0, 512]], 512), "offset: must be a whole number or a column of them"),
        (lambda drive: drive.write(0, "text"), "data: must be bytes or an array of numbers, and is of type str"),
        (lambda drive: drive.write(0, np.array([None] * 64)), "data: must be bytes or an array of numbers"),
        (lambda drive: drive.write_zeroes("here", 512), "offset = 'here': must be a whole number"),
        (lambda drive: drive.lba_status("here"), "offset = 'here': must be a whole number"),
        (lambda drive: drive.power_cut(torn=object()), "torn = <object object"),
        (lambda drive: drive.replace(-1), "member = -1: must not be negative"),
        (lambda drive: drive.replace(2**16), "member = 65536: there is no such member"),
        (lambda drive: drive.run("write", [0, 512], 512, bytes(512)), "data: 512 bytes; the writes need 1024"),
        (lambda drive: drive.run("read", 0, 512, depth=0), "depth = 0: must be from 1 to 1024"),
        (lambda drive: drive.run("read", 0, 512, depth=5000), "depth = 5000: must be from 1 to 1024"),
        (lambda drive: drive.run("read", [0.5], 512), "offset: must be a whole number"),
        (lambda drive: drive.run("read", [0, 512], [512, 512, 512]), "columns of different lengths"),
        (lambda drive: drive.advance(-1), "-1 s: a time must not be negative"),
        (lambda drive: drive.advance("soon"), '"soon" is not a time'),
        (lambda drive: drive.fault(die=99), "fault.die = 99"),
        (lambda drive: drive.fault("flood"), "unknown variant `flood`"),
        (lambda drive: drive.fault(die=1, at="2s"), "fault.at"),
        (lambda drive: drive.replace(0), "only an array can do that"),
        (lambda drive: drive.repair(), "only an array can do that"),
        (lambda _: outlast.Drive("no-such-preset"), "no preset"),
        (lambda _: outlast.Drive(SMALL, contents="tape"), 'contents = "tape": must be memory or disk'),
        (lambda _: outlast.Drive(SMALL, contents=NOWHERE), 'contents = "None": must be memory or disk'),
        (lambda _: outlast.Drive(SMALL, {"device.geometry.channels": 0}), "channels"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(new: outlast.Drive, call: object, message: str) -> None:
    drive = new.fork()
    before = drive.now_ns
    with pytest.raises(outlast.OutlastError) as caught:
        assert callable(call)
        call(drive)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert drive.now_ns == before


@pytest.mark.parametrize("length", [(1 << 20) + 100, 8 << 20])
def test_zeroes_that_are_refused_are_not_written_in_part(new: outlast.Drive, length: int) -> None:
    drive = new.fork()
    drive.write(0, b"z" * UNIT)
    with pytest.raises(outlast.DeviceError, match=f"length = {length}: "):
        drive.write_zeroes(0, length)
    assert drive.read(0, UNIT) == b"z" * UNIT


def test_a_part_of_a_buffer_is_written(new: outlast.Drive) -> None:
    drive = new.fork()
    every_other = memoryview(bytes(range(256)) * 4)[::2]
    drive.write(0, every_other)
    assert drive.read(0, 512) == bytes(every_other)


class StoppedBatchError(Exception):
    """Raised by a signal's handler, as Ctrl-C raises KeyboardInterrupt."""


def test_a_drive_goes_on_after_a_batch_that_was_interrupted(new: outlast.Drive) -> None:
    drive, stopped, done = new.fork(), threading.Event(), threading.Event()
    drive.write(UNIT, b"z" * UNIT)

    def interrupt(_: int, frame: FrameType | None) -> None:
        # In the batch, and not before it: its arguments are read by functions of Python. Only once: the test goes on.
        this = test_a_drive_goes_on_after_a_batch_that_was_interrupted.__code__
        if frame is not None and frame.f_code is this and not stopped.is_set():
            stopped.set()
            raise StoppedBatchError

    def send() -> None:
        while not done.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    class Depth:
        def __index__(self) -> int:
            threading.Thread(target=send, daemon=True).start()
            return 32

    count = 300_000
    reads = np.zeros(count, np.uint8), np.zeros(count, np.uint64), np.full(count, UNIT, np.uint64)
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(StoppedBatchError):
            drive._drive.run(*reads, np.zeros(0, np.uint8), False, False, Depth())  # type: ignore[arg-type]
    finally:
        done.set()
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    assert drive.read(UNIT, UNIT) == b"z" * UNIT
    drive.self_check()
    signal.signal(signal.SIGUSR1, before)
