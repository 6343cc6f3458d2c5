"""Do Linux's zoned block devices work over a served drive with zones? `make test-guest`."""

from __future__ import annotations

import struct
import zlib
from contextlib import ExitStack
from pathlib import Path

import pytest
from machine import Machine, command
from test_guest import APPLETS, HERE, NETWORK, NVME_MODULES, folder
from test_nvme import printed

import outlast
from outlast.products.torture.guest_image import AbsentError, Contents, image, kernel

__all__ = ["folder"]

FILES = HERE.parents[1] / "target" / "guest"
NEWER = FILES / "qemu"
"""QEMU for the newer kernel, which `fetch_newer.sh` gets: that of bookworm cannot run it."""
KERNELS = {"files": (), "files-6.12": ("/usr/sbin/mkfs.btrfs", "/usr/bin/btrfs")}
"""Folders with kernels, and programs for what only the newer one can do; its files come by `fetch_newer.sh`."""

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


@pytest.mark.parametrize("files", KERNELS)
def test_zones_are_those_of_linux(files: str, folder: Path) -> None:
    (folder / "zonefs_super").write_bytes(super_block())
    modules = (*NVME_MODULES, "zonefs", *(("btrfs",) if KERNELS[files] else ()))
    programs = ("sbin/nvme", "/usr/sbin/blkzone", "/usr/bin/fio", "/bin/dd", *KERNELS[files])
    applets = (*APPLETS.split(), "sort", "uniq", "wc")
    init = (HERE / "nvme_zones.sh").read_text()
    contents = Contents(init, applets, modules, programs, (HERE / "start.sh", folder / "zonefs_super"))
    with ExitStack() as stack:
        served = stack.enter_context(outlast.serve(ZONED, nvme=True, speed=1.0))
        port = str(served.nvme_uri).split(":")[2].split("/")[0]
        try:
            initrd = image(FILES / files, contents, folder)
            new = not kernel(FILES / files).name.startswith("vmlinuz-6.1.")
        except AbsentError as absent:
            pytest.skip(str(absent))
        words = f"no_timer_check ports={port} export=zoned megabytes=16"
        options = [*NETWORK]
        if new:
            for data in (NEWER / "usr/share/qemu", "/usr/share/qemu", "/usr/share/seabios"):
                options += ["-L", str(data)]
        program = str(NEWER / "usr/bin/qemu-system-x86_64") if new else "qemu-system-x86_64"
        line = command(FILES / files, initrd, words=words, options=options, program=program)
        guest = stack.enter_context(Machine(line))
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
