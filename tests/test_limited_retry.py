"""Does a read with limited retry give up what others get, and lose nothing?"""

from __future__ import annotations

from pathlib import Path

import pytest

import outlast

WORN = """
extends = "demo"
[device.geometry]
channels = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 32
page_size = "4KiB"
[device.ftl]
capacity = "8MiB"
[device.controller]
write_buffer = "64KiB"
[device.reliability]
chip = "tlc-72-layer"
ecc = { strength = 30 }
rereads = { scale_factor = 1.1, max_retries = 40 }
initial = { pe_cycles = 6000, age = "60d" }
"""


@pytest.mark.parametrize("retries", [0, 1])
def test_a_read_with_limited_retry_gives_up_what_other_reads_get(tmp_path: Path, retries: int) -> None:
    (tmp_path / "worn.toml").write_text(WORN)
    drive = outlast.Drive(tmp_path / "worn.toml", {"device.reliability.limited_retries": retries})
    page = bytes(range(256)) * 16
    pages = drive.capacity // len(page)
    drive.run("write", [len(page) * i for i in range(pages)], len(page), page * pages, depth=32).check()
    drive.advance("1000h")
    offsets = [len(page) * i for i in range(0, pages, 7)]
    limited = [drive.run("read", at, len(page), limited_retry=True) for at in offsets]
    gave_up = [at for at, batch in zip(offsets, limited, strict=True) if batch.outcome[0]]
    assert len(gave_up) > 10, "few pages need more re-reads than are allowed"
    for at in gave_up[:50]:
        with pytest.raises(outlast.MediumError):
            drive.read(at, len(page), limited_retry=True)
        assert drive.read(at, len(page)) == page
