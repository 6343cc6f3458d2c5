"""Does F2FS work over a drive with zones, and does the drive then write no more than it is given? `make test-guest`."""

from __future__ import annotations

from pathlib import Path

import pytest
from f2fs import COLD, Written, measure
from test_guest import files, folder

from outlast.products.torture.guest_image import AbsentError

__all__ = ["files", "folder"]

pytestmark = pytest.mark.timeout(1800)


def sound(written: Written) -> None:
    """The files are as they were written, and fsck.f2fs agrees."""
    guest = written.guest
    found = [guest.value(name) for name in ("cold", "fio", "again", "wrong", "fsck")]
    assert found == [str(COLD), "0", str(COLD), "0", "0"], "\n".join(guest.said[-80:])


def test_a_file_system_that_knows_zones_spares_the_drive_its_collection(folder: Path, files: Path) -> None:
    try:
        zoned, conventional = (measure(kind, folder / kind, files) for kind in ("zoned", "conventional"))
    except AbsentError as absent:
        pytest.skip(str(absent))
    sound(zoned)
    sound(conventional)
    # Zones are written as they come: nothing is moved, and no parity is added.
    assert 0.99 < zoned.drive < 1.02, zoned.drive
    assert conventional.drive > zoned.drive + 0.02, conventional.drive
    # What the drive does not collect, the file system has to.
    assert zoned.file_system > conventional.file_system + 0.2, (zoned.file_system, conventional.file_system)
