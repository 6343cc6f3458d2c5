"""Does Linux's NVMe/TCP host get along with namespaces, load, and either side going away? `make test-guest`."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from test_guest import DRIVE, NVME_MODULES, NVME_PROGRAMS, files, folder, machine

import outlast

__all__ = ["files", "folder"]

SCENARIO = Path(__file__).parents[2] / "scenarios" / "examples" / "namespaces.toml"
EMPTY = {"precondition.fill": "none", "precondition.overwrite": "none"}

TOML = """
extends = "demo"
[device.geometry]
blocks_per_plane = 16
[device.ftl]
capacity = "192MiB"
[device.controller]
write_cache = "volatile"
[precondition]
fill = "none"
overwrite = "none"
"""
"""A drive whose buffer forgets what is not flushed."""

HEALTH = {
    "available_spare": "available_spare",
    "available_spare_threshold": "available_spare_threshold",
    "percentage_used": "percentage_used",
    "Data Units Read": "data_units_read",
    "Data Units Written": "data_units_written",
    "host_read_commands": "host_reads",
    "host_write_commands": "host_writes",
    "power_cycles": "power_cycles",
    "unsafe_shutdowns": "unsafe_shutdowns",
    "media_errors": "media_errors",
    "num_err_log_entries": "num_err_log_entries",
}
"""Lines of nvme-cli's health log, and fields of the control socket's."""

OCP = {
    "Physical media units written -": "media_bytes_written",
    "Physical media units read    -": "media_bytes_read",
    "Bad user nand blocks - Raw": "bad_blocks",
    "Bad user nand blocks - Normalized": "available_spare",
    "XOR recovery count": "stripe_recoveries",
    "Uncorrectable read error count": "uncorrectable_reads",
    "Soft ecc error count": "soft_errors",
    "Refresh counts": "refreshed",
    "Max User data erase counts": "most_cycles",
    "Min User data erase counts": "fewest_cycles",
    "Percent free blocks": "free_percent",
    "Capacitor health": "capacitor_health",
}
"""Lines of the extended health log, and fields of the control socket's."""

LOGS = """update configs usage status events lost endurance directives effects errors firmware changed namespace
controller smart ocp stats"""
"""Output of nvme-cli, by the names in the script."""

pytestmark = pytest.mark.timeout(1200)


def printed(said: list[str], log: str) -> str:
    """Output of nvme-cli on a log."""
    return "\n".join(line.removeprefix(f"{log}| ") for line in said if line.startswith(f"{log}| "))


def number(text: str, pattern: str) -> int:
    found = re.search(pattern, text, re.M)
    assert found is not None, f"{pattern} in\n{text}"
    return int(found[1].replace(",", ""), 0)


def test_nvme_cli_reads_the_drives_own_namespaces_and_placement(folder: Path, files: Path) -> None:
    reports: list[dict[str, Any]] = []
    with ExitStack() as stack:
        served = stack.enter_context(outlast.serve(SCENARIO, EMPTY, nvme=True, speed=1.0))
        guest = stack.enter_context(
            machine("nvme_placement.sh", folder, [served], 8, NVME_MODULES, NVME_PROGRAMS, files)
        )
        for question in guest.questions():
            assert question == "report"
            reports.append(served.ask({"do": "metrics"}))
            guest.answer()
        smart = served.ask({"do": "smart", "format": "smartctl"})["nvme_smart_health_information_log"]
        extended = served.ask({"do": "smart", "format": "ocp"})
    [metrics] = reports
    assert [guest.value(f"namespace {number}") for number in (1, 2, 3)] == [
        f"{(128 << 20) // 512} 512 0",
        f"{(96 << 20) // 512} 4096 0",
        f"{(16 << 20) // 512} 512 1",
    ]
    assert guest.value("read") == guest.value("written")
    assert (guest.value("fsck"), guest.value("write-protected")) == ("0", "yes")
    # Trims of the file system reach the drive, and the kernel had met no error until then.
    assert (guest.value("trimmed"), guest.value("kernel")) == ("0", "0")
    assert metrics["operations"][2]["bytes"] >= 32 << 20
    for log in LOGS.split():
        text = printed(guest.said, log)
        assert guest.value(f"{log} ended") == "0", text
        assert not re.search("(?im)^(warning|error|failed)\\b *:", text), text
    # Statistics of the log are those of the drive, to the byte.
    stats, own = printed(guest.said, "stats"), metrics["placement"]
    for name, field in (("HBMW", "host_bytes_written"), ("MBMW", "media_bytes_written"), ("MBE", "media_bytes_erased")):
        assert number(stats, rf"{name}\): ([\d,]+)") == own["statistics"][field], stats
    events = printed(guest.said, "events")
    assert events.count("Event[") == 2, events
    # The write with identifier 9, and the update of the first namespace's second handle, which is the drive's third.
    for line in ("\\(PID\\): 0x9$", "\\(PID\\): 0x1$", "Reclaim Group Identifier:? 0$", "Unit Handle Identifier:? 2$"):
        assert len(re.findall(line, events, re.M)) == 1, (line, events)
    assert events.count("Namespace Identifier (NSID): 1") == 2, events
    assert own["events"]["invalid_placement_identifier"] == own["events"]["reclaim_unit_not_fully_written"] == 1
    # The second namespace's file system went through its own handle, the third handle has the two writes.
    handles = [handle["host_bytes"] for handle in own["handles"]]
    assert handles[2] == 2 * 4096 and handles[1] >= 8 << 20 and handles[0] >= 2 * 4096
    written = [space["operations"][1]["bytes"] for space in metrics["namespaces"]]
    assert written[0] == 4 * 4096 and written[1] >= 8 << 20 and written[2] == 0
    status = printed(guest.said, "status")
    assert re.findall(r"Placement Identifier (\d+); Reclaim Unit Handle Identifier (\d+)", status) == [
        ("0", "0"),
        ("1", "2"),
    ]
    # The health log over the wire is that of the control socket.
    health = printed(guest.said, "smart")
    for name, field in HEALTH.items():
        assert number(health, rf"{name}\s*: ([\d,]+)") == smart[field], (name, health)
    # So is the extended one; its first two figures are printed as two words each.
    ocp = printed(guest.said, "ocp")
    for name, field in OCP.items():
        assert number(ocp, rf"{name}\s+(?:0 )?(\d+)$") == extended[field], (name, ocp)


def process(folder: Path, port: int) -> tuple[subprocess.Popen[str], int]:
    """A server with an image in the folder, which can be killed; and the port at which hosts of NVMe/TCP find it."""
    scenario = folder / "served.toml"
    scenario.write_text(TOML)
    command = [sys.executable, "-m", "outlast", "serve", str(scenario), "--image", str(folder / "image"), "--quiet"]
    command += ["--nvme", f"tcp:127.0.0.1:{port}", "--export", "killed"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    uris = [server.stdout.readline(), server.stdout.readline()]
    return server, int(uris[1].split(":")[2].split("/")[0])


def test_md_over_four_controllers_heals_what_a_die_takes(folder: Path, files: Path) -> None:
    with ExitStack() as stack:
        drives = [stack.enter_context(outlast.serve(DRIVE, nvme=True, speed=1.0, export=f"d{at}")) for at in range(4)]
        modules, programs = (*NVME_MODULES, "raid456"), (*NVME_PROGRAMS, "sbin/mdadm")
        guest = stack.enter_context(machine("nvme_md.sh", folder, drives, 48, modules, programs, files))
        for question in guest.questions():
            assert question == "die"
            drives[1].fault(die=3)
            guest.answer()
        errors = drives[1].ask({"do": "smart", "format": "smartctl"})["nvme_smart_health_information_log"][
            "media_errors"
        ]
    assert guest.value("first") == guest.value("second") == guest.value("written")
    # The kernel met the drive's errors, wrote those sectors again and kept the drive; there are none the second time.
    assert int(guest.value("errors")) > 0 and errors > 0
    assert guest.value("errors again") == guest.value("errors")
    assert guest.value("states").split() == ["in_sync"] * 4
    assert (guest.value("degraded"), guest.value("mismatches"), guest.value("fsck")) == ("0", "0", "0")
    assert [guest.value(f"warning {at}") for at in range(4)] == ["0", "0x4", "0", "0"]


class Address:
    """Addresses of a served drive, as `machine` reads them."""

    def __init__(self, port: int) -> None:
        self.nvme_uri = f"nvme+tcp://127.0.0.1:{port}/nqn.2026-11.org.outlast:killed"
        self.uri = "nbd+unix:///killed"


def test_fio_finds_what_it_wrote_whoever_goes_away_meanwhile(folder: Path, files: Path) -> None:
    with ExitStack() as stack:
        server, port = process(folder, 0)
        programs = (*NVME_PROGRAMS, "/usr/bin/fio")
        address: Any = Address(port)
        guest = stack.enter_context(machine("nvme_fio.sh", folder, [address], 24, NVME_MODULES, programs, files))
        try:
            for question in guest.questions():
                assert question == "kill"
                server.send_signal(signal.SIGKILL)
                server.communicate()
                server, again = process(folder, port)
                assert again == port
                guest.answer()
        finally:
            server.kill()
            server.communicate()
    for name in ("verify", "verify with digests", "after the disconnect"):
        assert guest.value(name) == "0", "\n".join(guest.said[-60:])
    assert guest.value("disconnected") == "yes"
    assert [guest.value(f"kill {time}") for time in range(1, 6)] == ["kept"] * 5


def test_file_systems_are_filled_and_read_again(folder: Path, files: Path) -> None:
    drive = {
        "extends": "demo",
        "device": {"geometry": {"blocks_per_plane": 64}, "ftl": {"capacity": "384MiB"}},
        "precondition": {"fill": "none", "overwrite": "none"},
    }
    modules, programs = (*NVME_MODULES, "xfs"), (*NVME_PROGRAMS, "/usr/sbin/mkfs.xfs", "/usr/sbin/xfs_repair")
    with ExitStack() as stack:
        served = stack.enter_context(outlast.serve(drive, nvme=True, speed=1.0))
        guest = stack.enter_context(machine("nvme_files.sh", folder, [served], 8, modules, programs, files))
        assert not list(guest.questions())
    # The first is full, with less than its last file.
    assert (int(guest.value("ext4 files")) < 6, guest.value("xfs files")) == (True, "6")
    for kind in ("ext4", "xfs"):
        assert guest.value(f"{kind} again") == guest.value(kind), kind
    assert guest.value("xfs check") == "0"
