"""Is a log of the kernel's dm-log-writes read as what it wrote? `make test-guest`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from machine import Machine, command

from outlast import _core
from outlast.products.torture.guest_image import AbsentError, Contents, image

HERE = Path(__file__).parent
FILES = HERE.parents[1] / "target" / "guest" / "files"
APPLETS = "sh cat dd dmesg echo mkdir mknod modprobe mount poweroff rm sync umount uname"
PROGRAMS = ("/usr/sbin/dmsetup", "/usr/sbin/mke2fs")
MODULES = ("virtio_pci", "virtio_blk", "dm-log-writes", "crc32c_generic", "ext4")
SIZES = {"disk": 64 << 20, "log": 256 << 20}

pytestmark = pytest.mark.timeout(900)


def test_a_log_of_the_kernel_holds_what_its_disk_holds(tmp_path: Path) -> None:
    options = []
    for name, size in SIZES.items():
        (tmp_path / name).touch()
        os.truncate(tmp_path / name, size)
        options += ["-drive", f"file={tmp_path / name},format=raw,if=virtio,discard=ignore"]
    contents = Contents(
        (HERE / "log_writes.sh").read_text(), tuple(APPLETS.split()), MODULES, PROGRAMS, (HERE / "start.sh",)
    )
    try:
        booted = command(FILES, image(FILES, contents, tmp_path), words="no_timer_check", options=options)
    except AbsentError as absent:
        pytest.skip(str(absent))
    with Machine(booted) as guest:
        assert list(guest.questions()) == []
        assert guest.value("done") == "yes"
    recording = _core.Recording(str(tmp_path / "log"))
    facts = json.loads(recording.facts())
    assert facts["source"] == "dm-log-writes" and facts["capacity"] == SIZES["disk"]
    texts = [mark["text"] for mark in facts["marks"]]
    assert [text for text in texts if text.isdigit()] == list("123456") and texts[-1] == "dm-log-writes-end"
    last = recording.state(f"contract@{facts['events']}")
    assert last.read(0, last.size) == (tmp_path / "disk").read_bytes()
    assert facts["flushes"] >= 6
