"""F2FS of a virtual machine over a drive with zones and over one without: what is written, by whom.

Both drives have the same flash and the same capacity, and F2FS the same files; metadata, for which F2FS needs a device
that can be written anywhere, goes to a second drive.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import BASE, Machine, command
from test_guest import APPLETS, HERE, NETWORK, NVME_MODULES

import outlast
from outlast.products.torture.guest_image import Contents, image

FILES = BASE / "files"
PROGRAMS = ("sbin/nvme", "sbin/mkfs.f2fs", "sbin/fsck.f2fs", "/usr/bin/fio")
ZONES, ZONE_MIB = 128, 4
COLD, COLD_MIB, HOT_MIB, WRITTEN_MIB = 20, 8, 160, 768
"""Files that stay as they are, of so many MiB; the file that is written again at random, and how much of that there
is."""

GEOMETRY = {
    "channels": 2,
    "chips_per_channel": 1,
    "dies_per_chip": 2,
    "planes_per_die": 2,
    "blocks_per_plane": 152,
    "pages_per_block": 32,
    "page_size": "16KiB",
}
DRIVE: dict[str, Any] = {
    "name": "f2fs",
    "device": {
        "model": "data",
        "geometry": GEOMETRY,
        "timing": {"read": "60us", "program": "700us", "erase": "3.5ms", "bus": "667MB/s"},
        "ftl": {"mapping_unit": "4KiB"},
        "controller": {"write_buffer": "1MiB"},
    },
    "precondition": {"fill": "none", "overwrite": "none"},
}
"""152 superblocks of 4 MiB, of which the host has 128."""


def drive(kind: str) -> dict[str, Any]:
    """Scenario of the drive for `zoned` or `conventional` data, or of that for `metadata`."""
    device = DRIVE["device"]
    if kind == "zoned":
        zones = {"count": ZONES, "size": f"{ZONE_MIB}MiB", "max_active": 14, "max_open": 14}
        return {**DRIVE, "device": {**device, "zones": zones}, "workload": {"zoned": {"size": "4KiB", "requests": 1}}}
    capacity = {"conventional": ZONES * ZONE_MIB, "metadata": 48}[kind]
    geometry = GEOMETRY if kind == "conventional" else {**GEOMETRY, "blocks_per_plane": 24}
    ftl = {"mapping_unit": "4KiB", "capacity": f"{capacity}MiB"}
    workload = {"synthetic": {"pattern": "uniform", "requests": 1}}
    # F2FS wants blocks alike on all its devices, and those of zones are the mapping units.
    namespaces = [{"capacity": f"{capacity}MiB", "block_size": "4KiB"}]
    device = {**device, "geometry": geometry, "ftl": ftl}
    return {**DRIVE, "device": device, "namespace": namespaces, "workload": workload}


@dataclass(frozen=True)
class Written:
    """Bytes written while the file was written again."""

    by_programs: int
    to_drives: int
    """Commands of F2FS to both drives."""
    to_data: int
    """Commands to the drive for data."""
    programmed: int
    """Flash of both drives."""
    programmed_data: int
    guest: Machine

    @property
    def file_system(self) -> float:
        """Bytes to the drives for each byte of programs."""
        return self.to_drives / self.by_programs

    @property
    def drive(self) -> float:
        """Write amplification of the drive for data."""
        return self.programmed_data / self.to_data

    @property
    def together(self) -> float:
        """Bytes programmed for each byte of programs."""
        return self.programmed / self.by_programs


def figures(served: outlast.Served) -> dict[str, int]:
    """Bytes that the host has written to a drive, and bytes that its flash was programmed with."""
    operations = {own["op"]: own for own in served.metrics()["operations"]}
    log = served.ask({"do": "smart", "format": "ocp"})
    return {"host": operations["write"]["bytes"], "flash": log["media_bytes_written"]}


def measure(kind: str, folder: Path, files: Path = FILES) -> Written:
    """Boots the machine over drives of a kind; `AbsentError` if something for it is not here."""
    init = (HERE / "nvme_f2fs.sh").read_text()
    contents = Contents(init, (*APPLETS.split(), "cmp", "df"), (*NVME_MODULES, "f2fs"), PROGRAMS, (HERE / "start.sh",))
    initrd = image(files, contents, folder)
    with ExitStack() as stack:
        served = [
            stack.enter_context(outlast.serve(drive(own), nvme=True, speed=1.0, export=f"f{number}"))
            for number, own in enumerate(("metadata", kind))
        ]
        ports = ",".join(str(one.nvme_uri).split(":")[2].split("/")[0] for one in served)
        words = f"no_timer_check ports={ports} cold={COLD} hot={HOT_MIB} megabytes={WRITTEN_MIB}"
        guest = stack.enter_context(Machine(command(files, initrd, words=words, options=NETWORK)))
        seen: dict[str, list[dict[str, int]]] = {}
        for question in guest.questions():
            seen[question] = [figures(one) for one in served]
            guest.answer()
    if "written" not in seen:
        raise AssertionError("the machine did not come so far:\n" + "\n".join(guest.said[-60:]))

    def grown(name: str) -> list[int]:
        return [after[name] - before[name] for before, after in zip(seen["filled"], seen["written"], strict=True)]

    to, programmed = grown("host"), grown("flash")
    return Written(WRITTEN_MIB << 20, sum(to), to[1], sum(programmed), programmed[1], guest)
