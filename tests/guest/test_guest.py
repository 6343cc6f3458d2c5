"""Do Linux's own RAID, NBD client and NVMe/TCP host get along with served drives? `make test-guest`.

Each test boots a virtual machine with Debian's kernel, which reaches the drives through its network: half a minute,
each where nothing else runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from machine import BASE, KERNELS, Machine, command

import outlast
from outlast.products.torture.guest_image import AbsentError, Contents, image

HERE = Path(__file__).parent
FILES = BASE / "files"
APPLETS = """sh awk cat cut dd dmesg echo fstrim grep ip ls mkdir modprobe mount od ping poweroff sed sha256sum sleep
sync tail tr umount uname"""
PROGRAMS = ("sbin/mdadm", "sbin/nbd-client", "/usr/sbin/mke2fs", "/usr/sbin/e2fsck")
MODULES = ("virtio_pci", "virtio_net", "nbd", "raid456", "crc32c_generic", "ext4")
NETWORK = "-nic user,model=virtio-net-pci".split()

DRIVE = {
    "extends": "demo",
    "device": {"geometry": {"blocks_per_plane": 16}, "ftl": {"capacity": "192MiB"}},
    "precondition": {"fill": "none", "overwrite": "none"},
}
"""Sixteen dies, so that one of them holds a sixteenth of the data; room for the loss of one."""

NVME_DRIVE = {
    "extends": "demo",
    "device": {
        "geometry": {"blocks_per_plane": 16},
        "ftl": {"capacity": "192MiB"},
        "repair": {"scheme": "isolated", "bad_blocks": 2},
    },
    "precondition": {"fill": "none", "overwrite": "none"},
}
"""The same drive, which asks its host to write again what a die took with it."""
NVME_MODULES = ("virtio_pci", "virtio_net", "nvme_tcp", "crc32c_generic", "ext4")
NVME_PROGRAMS = ("sbin/nvme", "/usr/sbin/mke2fs", "/usr/sbin/e2fsck")

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(params=KERNELS)
def files(request: pytest.FixtureRequest) -> Path:
    """The folder of a kernel."""
    folder: Path = BASE / request.param
    if not folder.exists():
        pytest.skip(f"{folder} is absent")
    return folder


def machine(
    script: str,
    folder: Path,
    served: list[outlast.Served],
    megabytes: int,
    modules: tuple[str, ...] = MODULES,
    programs: tuple[str, ...] = PROGRAMS,
    files: Path = FILES,
    *,
    applets: tuple[str, ...] = (),
    scripts: tuple[Path, ...] = (),
) -> Machine:
    """A machine that runs the script; `ports` and `export` are in its environment."""
    init, start = (HERE / script).read_text(), HERE / "start.sh"
    contents = Contents(init, (*APPLETS.split(), *applets), modules, programs, (start, *scripts))
    ports = ",".join((one.nvme_uri or one.uri).split(":")[2].split("/")[0] for one in served)
    export = served[0].uri.rpartition("/")[2]
    words = f"no_timer_check ports={ports} export={export} megabytes={megabytes}"
    try:
        return Machine(command(files, image(files, contents, folder), words=words, options=NETWORK))
    except AbsentError as absent:
        pytest.skip(str(absent))


def serve(stack: ExitStack) -> outlast.Served:
    return stack.enter_context(outlast.serve(DRIVE, listen="tcp:127.0.0.1:0", speed=1.0))


def test_md_heals_what_a_die_takes_with_it(folder: Path) -> None:
    with ExitStack() as stack:
        served = [serve(stack) for _ in range(4)]
        guest = stack.enter_context(machine("md.sh", folder, served, megabytes=48))
        for question in guest.questions():
            assert question == "die"
            served[1].fault(die=3)
            guest.answer()
    # The data is whole, though md met errors; it wrote the sectors again and kept the drive.
    assert guest.value("first") == guest.value("written")
    assert int(guest.value("errors")) > 0
    assert guest.value("states").split() == ["in_sync"] * 4
    assert guest.value("degraded") == "0"
    # The drive has put those sectors elsewhere: nothing is met the second time.
    assert guest.value("second") == guest.value("written")
    assert guest.value("errors again") == guest.value("errors")
    assert guest.value("mismatches") == "0"
    assert guest.value("fsck") == "0"


def test_a_file_system_comes_back_after_a_power_cut(folder: Path) -> None:
    with ExitStack() as stack:
        served = serve(stack)
        guest = stack.enter_context(machine("cut.sh", folder, [served], megabytes=16))
        for question in guest.questions():
            assert question == "cut"
            served.power_cut("1s")
            guest.answer()
        log = served.ask({"do": "smart", "format": "smartctl"})["nvme_smart_health_information_log"]
    assert log["unsafe_shutdowns"] == 1
    for when in ("after", "mounted"):
        assert guest.value(when) == guest.value("written"), when
    assert guest.value("later")
    assert guest.value("fsck") == "0"


def test_the_kernels_nvme_host_has_a_drive_of_its_own(folder: Path, files: Path) -> None:
    with ExitStack() as stack:
        served = stack.enter_context(outlast.serve(NVME_DRIVE, nvme="tcp:127.0.0.1:0", speed=1.0))
        guest = stack.enter_context(machine("nvme.sh", folder, [served], 24, NVME_MODULES, NVME_PROGRAMS, files))
        for question in guest.questions():
            if question == "cut":
                served.power_cut("1s")
            else:
                served.fault(die=3)
            guest.answer()
        wanted = {
            sector for run in served.lba_status() for sector in sectors(run["offset"] // 512, run["length"] // 512)
        }
        cuts = served.ask({"do": "smart", "format": "smartctl"})["nvme_smart_health_information_log"]
    assert guest.value("discovered").startswith("nqn.") and str(served.nvme_uri).endswith(guest.value("discovered"))
    for name in ("read", "read with digests"):
        assert guest.value(name) == guest.value("written"), name
    assert guest.value("more after the cut") == guest.value("more")
    assert guest.value("fsck") == guest.value("fsck after the cut") == "0"
    assert guest.value("commands") == "done"
    assert int(guest.value("cuts")) == cuts["unsafe_shutdowns"] == 1
    # The host and the drive agree on what the die took with it, sector by sector.
    assert int(guest.value("critical"), 0) & 4
    listed = [line.split() for line in guest.said if line.startswith("lost ") and len(line.split()) == 3]
    runs = [(int(first), int(count)) for _, first, count in listed if first.isdigit()]
    assert len(runs) == int(guest.value("lost runs")) > 0
    assert {sector for run in runs for sector in sectors(*run)} == wanted


def sectors(first: int, count: int) -> range:
    return range(first, first + count)
