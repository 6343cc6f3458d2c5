"""Do Linux's zoned block devices work over a served drive with zones? `make test-guest`."""

from __future__ import annotations

import struct
import zlib
from contextlib import ExitStack
from pathlib import Path

import pytest
from machine import is_newer
from test_guest import NVME_MODULES, files, folder, machine
from test_nvme import printed

import outlast

__all__ = ["files", "folder"]

ZONED = {
    "name": "zoned",
    "device": {
        "model": "zoned",
        "geometry": {
            "channels": 2,
            "chips_per_channel": 1,
            "dies_per_chip": 2,
            "planes_per_die": 2,
            "blocks_per_plane": 112,
            "pages_per_block": 24,
            "page_size": "16KiB",
        },
        "timing": {"read": "60us", "program": "700us", "erase": "3.5ms", "bus": "667MB/s"},
        "ftl": {"mapping_unit": "4KiB"},
        "controller": {"write_buffer": "1MiB"},
        "zones": {"count": 80, "size": "4MiB", "max_active": 8, "max_open": 6},
    },
    "precondition": {"fill": "none", "overwrite": "none"},
    "workload": {"zoned": {"size": "4KiB", "requests": 1}},
}
"""Eighty zones of 3 MiB, from one to the next 4 MiB."""

pytestmark = pytest.mark.timeout(1200)


def super_block() -> bytes:
    """Super block of zonefs: magic, checksum, label, identifier, and no features."""
    block = bytearray(4096)
    block[:4] = b"SFOZ"
    block[72:88] = bytes(range(1, 17))
    struct.pack_into("<I", block, 4, zlib.crc32(block) ^ 0xFFFF_FFFF)
    return bytes(block)


def test_zones_are_those_of_linux(folder: Path, files: Path) -> None:
    zonefs = folder / "zonefs_super"
    zonefs.write_bytes(super_block())
    new = is_newer(files)
    modules = (*NVME_MODULES, "zonefs", *(("btrfs",) if new else ()))
    tools = ("/usr/sbin/mkfs.btrfs", "/usr/bin/btrfs") if new else ()
    programs = ("sbin/nvme", "/usr/sbin/blkzone", "/usr/bin/fio", "/bin/dd", *tools)
    with ExitStack() as stack:
        served = stack.enter_context(outlast.serve(ZONED, nvme=True, speed=1.0))
        applets = ("sort", "uniq", "wc")
        started = machine(
            "nvme_zones.sh", folder, [served], 16, modules, programs, files, applets=applets, scripts=(zonefs,)
        )
        guest = stack.enter_context(started)
        for question in guest.questions():
            assert question == "report"
            metrics = served.ask({"do": "metrics"})
            guest.answer()
    assert metrics
    assert (guest.value("zoned"), guest.value("nr_zones"), guest.value("ro")) == ("host-managed", "80", "0")
    assert int(guest.value("zone_append_max_bytes")) == 1 << 20
    for log in ("ctrl", "ns", "report"):
        assert guest.value(f"{log} ended") == "0", printed(guest.said, log)
    assert "mar     : 8" in printed(guest.said, "ns") and "Zone Size: 0x400 LBAs" in printed(guest.said, "ns")
    assert guest.value("fio") == "0", "\n".join(guest.said[-60:])
    assert (guest.value("empty"), guest.value("written"), guest.value("reset")) == ("em=80", "em=76 fu=4", "em=80")
    assert guest.value("append").startswith("0 ") and guest.value("append").endswith(" LBA 400")
    assert (guest.value("finished"), guest.value("files")) == ("em=79 fu=1", "79")
    if new:
        for file in range(3):
            assert guest.value(f"file {file} again") == guest.value(f"file {file}"), file
        assert guest.value("btrfs again") == guest.value("btrfs") and guest.value("btrfs errors") == "0"
