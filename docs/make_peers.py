"""Outlast beside MQSim on the same drive, in turns on one machine: `make bench-mqsim MQSIM=path/to/MQSim`.

MQSim (github.com/CMU-SAFARI/MQSim, `make` there) simulates the drive of `scenarios/presets/peers-32g.toml` with a
mapping table that is always in memory. Its processor time is that of a run less that of a shorter one, so that what it
does before the first request does not count. Each pair is one such difference and one run of Outlast, one after the
other; the table in docs/reference/speed.md has the medians over all pairs.

Random writes with collection need a smaller drive: MQSim's preconditioning does not end on this one. With 64 blocks in
a plane, 4 GiB, and no preconditioning, MQSim collects after 60 simulated seconds and is at rest, by its write
amplification, from 200 s on.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from make_speed import PEERS, number, table, write


@dataclass(frozen=True)
class Case:
    """A load that both simulate."""

    name: str
    reads: int
    """Share of reads in percent."""
    stops_s: tuple[float, float]
    """Simulated seconds of MQSim's two runs."""
    words: str
    settings: tuple[str, ...]
    """What differs from the preset."""
    blocks: int = 512
    """Blocks in a plane."""


CASES = (
    Case(
        "random-write-gc",
        0,
        (200, 600),
        "random writes, garbage collection active, 4 GiB",
        ("device.geometry.blocks_per_plane=64", "workload.synthetic.requests=4000000"),
        64,
    ),
    Case(
        "mixed-70-30",
        70,
        (0.5, 6.5),
        PEERS["mixed-70-30"],
        ("precondition.overwrite=none", "workload.synthetic.read_percent=70", "workload.synthetic.requests=3000000"),
    ),
    Case(
        "random-read",
        100,
        (0.5, 6.5),
        PEERS["random-read"],
        ("precondition.overwrite=none", "workload.synthetic.read_percent=100", "workload.synthetic.requests=10000000"),
    ),
)

SETTINGS = {
    "Enabled_Preconditioning": "false",
    "Ideal_Mapping_Table": "true",
    "Data_Cache_Capacity": "16777216",
    "Overprovisioning_Ratio": "0.15",
    "GC_Block_Selection_Policy": "GREEDY",
    "Static_Wearleveling_Enabled": "false",
    "Chip_No_Per_Channel": "2",
    "Page_Capacity": "4096",
}
"""What differs from the `ssdconfig.xml` that MQSim comes with."""

LOAD = """<?xml version="1.0" encoding="us-ascii"?>
<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Synthetic>
<Priority_Class>HIGH</Priority_Class>
<Device_Level_Data_Caching_Mode>WRITE_CACHE</Device_Level_Data_Caching_Mode>
<Channel_IDs>0,1,2,3,4,5,6,7</Channel_IDs><Chip_IDs>0,1</Chip_IDs><Die_IDs>0,1</Die_IDs><Plane_IDs>0,1</Plane_IDs>
<Initial_Occupancy_Percentage>0</Initial_Occupancy_Percentage><Working_Set_Percentage>100</Working_Set_Percentage>
<Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type><Read_Percentage>{reads}</Read_Percentage>
<Address_Distribution>RANDOM_UNIFORM</Address_Distribution><Percentage_of_Hot_Region>0</Percentage_of_Hot_Region>
<Generated_Aligned_Addresses>true</Generated_Aligned_Addresses><Address_Alignment_Unit>8</Address_Alignment_Unit>
<Request_Size_Distribution>FIXED</Request_Size_Distribution><Average_Request_Size>8</Average_Request_Size>
<Variance_Request_Size>0</Variance_Request_Size><Seed>798</Seed>
<Average_No_of_Reqs_in_Queue>32</Average_No_of_Reqs_in_Queue><Intensity>32768</Intensity>
<Stop_Time>{stop_ns}</Stop_Time><Total_Requests_To_Generate>0</Total_Requests_To_Generate>
</IO_Flow_Parameter_Set_Synthetic></IO_Scenario></MQSim_IO_Scenarios>
"""


def cpu_s(command: Sequence[str], folder: Path) -> float:
    """Processor time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mqsim(program: Path, case: Case, folder: Path) -> tuple[float, float]:
    """Requests of MQSim in a second of processor time, and its write amplification."""
    device = (program.parent / "ssdconfig.xml").read_text()
    for name, value in (SETTINGS | {"Block_No_Per_Plane": str(case.blocks)}).items():
        device = re.sub(rf"(<{name}>)[^<]*", rf"\g<1>{value}", device)
    (folder / "device.xml").write_text(device)
    spent, served, programmed = [], [], []
    for stop_s in case.stops_s:
        (folder / "load.xml").write_text(LOAD.format(reads=case.reads, stop_ns=round(stop_s * 1e9)))
        spent.append(cpu_s([str(program), "-i", "device.xml", "-w", "load.xml"], folder))
        said = (folder / "load_scenario_1.xml").read_text()
        served.append(sum(map(int, re.findall(r"<Request_Count>(\d+)<", said))))
        commands = dict(re.findall(r'Issued_Flash_(Program|Multiplane_Program)_CMD="(\d+)"', said))
        programmed.append(int(commands["Program"]) + 2 * int(commands["Multiplane_Program"]))
    requests = served[1] - served[0]
    return requests / (spent[1] - spent[0]), (programmed[1] - programmed[0]) / requests


def outlast(case: Case) -> tuple[float, float]:
    """Requests of Outlast in a second of processor time, and its write amplification."""
    sets = [word for setting in case.settings for word in ("--set", setting)]
    command = [str(Path(sys.executable).parent / "outlast"), "run", "peers-32g", *sets, "--json"]
    summary = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    amplification = summary["write_amplification"]
    return summary["throughput"]["requests_per_cpu_s"], (amplification and amplification["total"]) or 0.0


def main() -> None:
    """Measures in pairs and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mqsim", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            pairs = []
            for _ in range(arguments.pairs):
                theirs, their_waf = mqsim(arguments.mqsim.resolve(), case, Path(folder))
                ours, our_waf = outlast(case)
                pairs.append((ours, theirs))
                print(f"{case.name}: {ours:,.0f} and {theirs:,.0f} requests per CPU-second", flush=True)
            ratios = sorted(own / other for own, other in pairs)
            own, other = (statistics.median(side) for side in zip(*pairs, strict=True))
            span = f"{statistics.median(ratios):.0f} ({ratios[0]:.0f} to {ratios[-1]:.0f})"
            words = case.words
            if case.reads == 0:
                words += f" (write amplification {our_waf:.2f} and {their_waf:.2f})"
            rows.append([words, number(own), number(other), span])
    write({"mqsim": table(["case", "Outlast", "MQSim", "times, by pairs"], rows)})


if __name__ == "__main__":
    main()
