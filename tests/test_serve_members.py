"""Do the members of a served array give the bytes that they hold, and only those?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from served import SMALL, SYSTEM_PYTHON, Served, needs, needs_libnbd, serving
from served_here import serving as serving_here

TESTS = Path(__file__).parent
SIZE = 24 << 20
"""Bytes of the array that are written."""


def array(level: str) -> str:
    """Three small drives."""
    return f'{SMALL}\n[array]\nlevel = "{level}"\nmembers = 3\nchunk = "64KiB"\n'


def member(served: Served, number: int) -> str:
    """The address of a member."""
    return served.uri.replace("/small?", f"/member-{number}?")


@needs("nbdinfo", "nbdcopy")
@pytest.mark.parametrize("level", ["raid1", "raid5"])
def test_copies_are_alike_and_parity_fits(level: str, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(array(level))
    image = tmp_path / "image"
    subprocess.run(["dd", "if=/dev/urandom", f"of={image}", "bs=1M", f"count={SIZE >> 20}"], check=True)
    with serving(tmp_path, "small.toml", "--clock", "virtual") as served:
        served.run("nbdcopy", "--flush", str(image), served.uri)
        listed = served.json("nbdinfo", "--json", "--list", served.uri)["exports"]
        assert [each["export-name"] for each in listed] == ["small", "member-0", "member-1", "member-2"]
        assert [each["is_read_only"] for each in listed] == [False, True, True, True]
        assert served.json("nbdinfo", "--json", served.uri)["exports"][0]["export-name"] == "small"
        copies = []
        for number in range(3):
            copy = tmp_path / f"copy-{number}"
            served.run("nbdcopy", member(served, number), str(copy))
            copies.append(copy.read_bytes()[: SIZE if level == "raid1" else SIZE // 2])
    if level == "raid1":
        assert copies[0] == copies[1] == copies[2] == image.read_bytes()
    else:
        total = 0
        for content in copies:
            assert any(content)
            total ^= int.from_bytes(content, "little")
        assert total == 0, "parity is the sum of the data"


@needs_libnbd
@needs("qemu-io")
def test_a_dead_member_is_an_error_and_no_member_is_written(tmp_path: Path) -> None:
    with serving_here(tmp_path, array("raid5")) as served:
        served.qemu_io("write -P 9 0 8M", "flush")
        served.ask("fault", fault={"kind": "device", "device": 1})
        alive, dead = (served.server.uri.replace("/small?", f"/member-{number}?") for number in (0, 1))
        said = served.run(SYSTEM_PYTHON, str(TESTS / "members_by_libnbd.py"), alive, dead)
        assert said == "all as specified\n"
        # The array gives what its member cannot.
        served.qemu_io("read -P 9 0 8M")
        told = {each["name"]: each for each in served.ask("state")["exports"]}
        assert told["member-1"]["read_only"] and told["member-1"]["up"] and not told["small"]["read_only"]
        served.ask("power", action="off")
        assert "export" in served.run("nbdinfo", alive, code=1), "a member has no power of its own"
        served.ask("power", action="on", force=True)
        # A new drive in its place has what has been rebuilt.
        served.ask("replace", member=1)
        served.ask("clock", advance="600s")
        assert all(each["in_sync"] for each in served.ask("state")["machine"]["array"]["members"])
        found = json.loads(served.run("nbdinfo", "--json", "--map=x-outlast:health", dead))
        assert all(extent["type"] & 1 == 0 for extent in found)
        served.run("nbdcopy", dead, str(tmp_path / "rebuilt"))
        assert served.ask("metrics")["operations"][0]["count"] <= 300, "they are no reads of the array"
