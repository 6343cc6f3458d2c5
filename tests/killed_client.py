"""A client of a server that is killed, through libnbd.

`killed_client.py write URI SEED UNITS` writes, flushes and writes durably at random, eight at a time, until the
server is gone; then it prints what each unit was given, oldest first, and how many of these the last flush or durable
write covers. `killed_client.py read URI UNITS` prints what each unit holds."""

import json
import random
import struct
import sys

import nbd

UNIT = 4096
DEPTH = 8


def content(unit: int, version: int) -> bytes:
    """Content of a unit after its write of `version`: every eight bytes identify unit and version."""
    return struct.pack("<IIQ", version, unit, (version * 0x9E3779B97F4A7C15 + unit) & (1 << 64) - 1) * (UNIT // 16)


def version_of(unit: int, data: bytes) -> int:
    """The version that a unit holds; 0 before the first."""
    if data == bytes(UNIT):
        return 0
    version: int = struct.unpack_from("<I", data)[0]
    assert data == content(unit, version), f"unit {unit} holds what nobody wrote"
    return version


class Writer:
    """Client that writes until its server dies, and keeps account of writes and of promises."""

    def __init__(self, uri: str, seed: int, units: int) -> None:
        self.h = nbd.NBD()
        self.h.connect_uri(uri)
        self.random = random.Random(seed)
        self.given: list[list[int]] = [[] for _ in range(units)]
        self.done = [0] * units
        self.covered = [0] * units
        self.busy: set[int] = set()
        self.under_way = 0
        self.version = seed << 16
        self.acknowledged = 0

    def submit(self) -> None:
        """One more command."""
        self.under_way += 1
        if self.random.random() < 0.05:
            covers = list(self.done)
            self.h.aio_flush(completion=lambda error: self.flushed(error, covers))
            return
        unit = self.random.choice([unit for unit in range(len(self.given)) if unit not in self.busy])
        self.busy.add(unit)
        self.version += 1
        self.given[unit].append(self.version)
        data = nbd.Buffer.from_bytearray(bytearray(content(unit, self.version)))
        durable = self.random.random() < 0.05
        flags = nbd.CMD_FLAG_FUA if durable else 0
        self.h.aio_pwrite(data, unit * UNIT, completion=lambda error: self.written(error, unit, durable), flags=flags)

    def flushed(self, error: int, covers: list[int]) -> int:
        """A flush has ended."""
        self.under_way -= 1
        if not error:
            self.acknowledged += 1
            self.covered = [max(pair) for pair in zip(self.covered, covers, strict=True)]
        return 1

    def written(self, error: int, unit: int, durable: bool) -> int:
        """A write has ended."""
        self.under_way -= 1
        self.busy.discard(unit)
        if not error:
            self.acknowledged += 1
            self.done[unit] = len(self.given[unit])
            if durable:
                self.covered[unit] = self.done[unit]
        return 1

    def run(self) -> None:
        """Writes until the server is gone."""
        try:
            while True:
                while self.under_way < DEPTH:
                    self.submit()
                self.h.poll(-1)
        except nbd.Error:
            pass


if __name__ == "__main__":
    what, uri, *rest = sys.argv[1:]
    if what == "write":
        writer = Writer(uri, int(rest[0]), int(rest[1]))
        print("writing", flush=True)
        writer.run()
        json.dump({"given": writer.given, "covered": writer.covered, "acknowledged": writer.acknowledged}, sys.stdout)
    else:
        h = nbd.NBD()
        h.connect_uri(uri)
        json.dump([version_of(unit, bytes(h.pread(UNIT, unit * UNIT))) for unit in range(int(rest[0]))], sys.stdout)
