"""Does a drive that is imported do what MQSim says of the same files?

Needs MQSim itself (github.com/CMU-SAFARI/MQSim, built by its own make): `OUTLAST_MQSIM=path/to/MQSim`; without it, the
tests are skipped. The files that it comes with are taken from its folder. Their three scenarios and two small drives
that collect take some minutes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import Outlast
from foreign_configs import ssdconfig, workload

PROGRAM = os.environ.get("OUTLAST_MQSIM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="OUTLAST_MQSIM does not name MQSim's program")

PATIENCE_S = 3600
WRITE_AMPLIFICATION = 0.05
"""Largest relative difference of programmed bytes for each byte of the host."""


class Told(NamedTuple):
    """Figures of one scenario as MQSim reports them."""

    programs: int
    """Pages, those of collection and of the mapping table included."""
    bytes_written: float
    """Bytes that the host wrote."""
    latency_us: float
    """Mean over all flows."""


def told(file: Path) -> Told:
    """Reads MQSim's result."""
    text = file.read_text()
    flows = re.findall(r"<Host.IO_Flow>.*?</Host.IO_Flow>", text, re.DOTALL)
    counts = [int(re.findall(r"<Request_Count>(\d+)", flow)[0]) for flow in flows]
    times = [float(re.findall(r"<Device_Response_Time>(\d+)", flow)[0]) for flow in flows]
    figure = {name: int(value) for name, value in re.findall(r'(Issued_Flash_\w+)="(\d+)"', text)}
    programs = figure["Issued_Flash_Program_CMD"] + 2 * figure["Issued_Flash_Multiplane_Program_CMD"]
    written = sum(map(float, re.findall(r"<Bytes_Transferred_Write>([\d.]+)", text)))
    return Told(programs, written, sum(a * b for a, b in zip(counts, times, strict=True)) / max(sum(counts), 1))


def simulated(folder: Path, device: str, load: str) -> None:
    """Runs MQSim on two texts; it writes a file for each scenario."""
    (folder / "device.xml").write_text(device)
    (folder / "load.xml").write_text(load)
    command = [str(Path(PROGRAM or "").resolve()), "-i", "device.xml", "-w", "load.xml"]
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=PATIENCE_S)


def imported(outlast: Outlast, folder: Path, scenario: int) -> dict[str, float]:
    """Runs the same here: programmed bytes for each byte of the host, and the mean latency."""
    files = (folder / "device.xml", folder / "load.xml", "--scenario", str(scenario))
    outlast("import", "mqsim", *files, "-o", folder / "mine.toml")
    found = json.loads(outlast("run", folder / "mine.toml", "--json").stdout)
    sides = [found["latency_us"][side] for side in ("read", "write") if found["latency_us"][side]]
    count = sum(side["count"] for side in sides)
    latency = sum(side["count"] * side["mean"] for side in sides) / count
    return {"waf": found["write_amplification"]["total"], "bytes": found["host"]["bytes_written"], "us": latency}


@pytest.mark.parametrize("policy", ["GREEDY", "RGA"])
def test_write_amplification_of_a_small_drive_that_collects(outlast: Outlast, tmp_path: Path, policy: str) -> None:
    count = 600_000
    load = workload({"Stop_Time": 0, "Total_Requests_To_Generate": count})
    simulated(tmp_path, ssdconfig({"GC_Block_Selection_Policy": policy}), load)
    theirs = told(tmp_path / "load_scenario_1.xml").programs / count
    own = imported(outlast, tmp_path, 1)
    print(f"{policy}: {own['waf']:.3f} and {theirs:.3f} in MQSim")
    assert own["waf"] == pytest.approx(theirs, rel=WRITE_AMPLIFICATION)


def test_the_files_that_mqsim_comes_with(outlast: Outlast, tmp_path: Path) -> None:
    # Its mapping table is kept in memory whole, as it is here: with its cache, each miss is a read of flash there.
    folder = Path(PROGRAM or "").resolve().parent
    device = (folder / "ssdconfig.xml").read_text()
    device = re.sub(r"(<Ideal_Mapping_Table>)[^<]*", r"\g<1>true", device)
    (tmp_path / "traces").symlink_to(folder / "traces")
    load = (folder / "workload.xml").read_text()
    simulated(tmp_path, device, load)
    page = int(re.findall(r"<Page_Capacity>(\d+)", device)[0])
    for scenario in range(1, load.count("<IO_Scenario>") + 1):
        theirs, own = told(tmp_path / f"load_scenario_{scenario}.xml"), imported(outlast, tmp_path, scenario)
        print(f"scenario {scenario}: mean latency {own['us']:.0f} us, and {theirs.latency_us:.0f} us in MQSim")
        if own["bytes"]:
            ratio = theirs.programs * page / theirs.bytes_written
            print(f"scenario {scenario}: {own['waf']:.3f} programmed for each byte, and {ratio:.3f} in MQSim")
            # Half pages of the host are whole ones in the import, so that a page is a page on both sides.
            halves = 2 if scenario == 1 else 1
            assert own["waf"] == pytest.approx(ratio / halves, rel=WRITE_AMPLIFICATION)
        # No oracle: the guide to imports says where the two differ, by up to a quarter in these scenarios.
        assert 0.5 < own["us"] / theirs.latency_us < 2
